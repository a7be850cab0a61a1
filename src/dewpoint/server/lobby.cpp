#include "dewpoint/server/lobby.hpp"

#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>
#include <utility>

#include "dewpoint/server/request_head.hpp"

namespace dewpoint::server {
namespace {

using SteadyClock = std::chrono::steady_clock;
using std::chrono::milliseconds;

// Fewer than there are places: everybody is looked at once before the place is given away.
constexpr int kMostAcceptedAtOnce = 32;
static_assert(kMostAcceptedAtOnce < static_cast<int>(kMostGuests));
constexpr std::size_t kMostDrained = std::size_t{1} << 20;
constexpr milliseconds kShortage{50};  // then somebody may have left

bool try_later() { return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR; }

}  // namespace

Lobby::Lobby(const Patience& patience, Receive receive)
    : patience_(patience),
      receive_(std::move(receive)),
      woken_(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
  looked_for_.reserve(kMostGuests + 2);
}

void Lobby::attend(int listening) {
  fcntl(listening, F_SETFL, fcntl(listening, F_GETFL, 0) | O_NONBLOCK);
  while (!is_stopped_) {
    wait(listening);
    auto found = looked_for_.begin() + 2;
    for (Guest& guest : guests_) {
      if ((found++)->revents != 0) look_at(guest);
    }
    const auto now = SteadyClock::now();
    guests_.remove_if([&](const Guest& one) { return one.is_over || one.deadline <= now; });
    take_leaving();
    accept_some(listening);
  }
  guests_.clear();
}

void Lobby::stop() {
  is_stopped_ = true;
  eventfd_write(woken_.get(), 1);
}

void Lobby::see_off(OwnedSocket socket) {
  shutdown(socket.get(), SHUT_WR);
  {
    const std::lock_guard lock(mutex_);
    leaving_.push_back(std::move(socket));
  }
  eventfd_write(woken_.get(), 1);
}

int Lobby::patience_left() const {
  if (is_short_) return static_cast<int>(kShortage.count());
  if (guests_.empty()) return -1;
  const auto first = std::min_element(
      guests_.begin(), guests_.end(),
      [](const Guest& one, const Guest& other) { return one.deadline < other.deadline; });
  const auto left = std::chrono::ceil<milliseconds>(first->deadline - SteadyClock::now());
  return static_cast<int>(std::max<std::int64_t>(0, left.count()));
}

void Lobby::wait(int listening) {
  looked_for_.clear();
  looked_for_.push_back({woken_.get(), POLLIN, 0});
  looked_for_.push_back({is_short_ ? -1 : listening, POLLIN, 0});
  for (const Guest& guest : guests_) looked_for_.push_back({guest.socket.get(), POLLIN, 0});
  poll(looked_for_.data(), looked_for_.size(), patience_left());
  is_short_ = false;
  eventfd_t ignored = 0;
  eventfd_read(woken_.get(), &ignored);
}

void Lobby::accept_some(int listening) {
  for (int k = 0; k < kMostAcceptedAtOnce; ++k) {
    OwnedSocket socket(accept4(listening, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (socket.get() < 0) {
      is_short_ = !try_later() && errno != ECONNABORTED;
      if (is_short_ && !guests_.empty()) guests_.pop_front();
      return;
    }
    add({std::move(socket), SteadyClock::now() + patience_.request});
  }
}

void Lobby::take_leaving() {
  std::vector<OwnedSocket> leaving;
  {
    const std::lock_guard lock(mutex_);
    leaving.swap(leaving_);
  }
  const auto deadline = SteadyClock::now() + patience_.leave;
  for (OwnedSocket& socket : leaving) add({std::move(socket), deadline, true});
}

void Lobby::add(Guest guest) {
  if (guests_.size() >= kMostGuests) guests_.pop_front();
  try {
    guests_.push_back(std::move(guest));
  } catch (const std::bad_alloc&) {
    is_short_ = true;  // this one is closed
  }
}

void Lobby::look_at(Guest& guest) const {
  try {
    read_from(guest);
  } catch (...) {  // of memory, or of who receives: it ends this connection, and no other
    guest.is_over = true;
  }
}

void Lobby::read_from(Guest& guest) const {
  std::array<char, 8192> buffer;
  const ssize_t count = recv(guest.socket.get(), buffer.data(), buffer.size(), 0);
  if (count < 0 && try_later()) return;
  guest.is_over = count <= 0;
  if (guest.is_over) return;
  if (guest.leaving) {
    guest.drained += static_cast<std::size_t>(count);
    guest.is_over = guest.drained > kMostDrained;
    return;
  }
  const std::size_t known = guest.bytes.size();
  guest.bytes.append(buffer.data(), static_cast<std::size_t>(count));
  const std::string_view fresh = std::string_view(guest.bytes).substr(known < 3 ? 0 : known - 3);
  if (!has_whole_head(fresh) && guest.bytes.size() < kMostHeadBytes) return;
  guest.is_over = true;
  receive_({std::move(guest.socket), guest.deadline, std::move(guest.bytes)});
}

}  // namespace dewpoint::server
