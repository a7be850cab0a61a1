#include "dewpoint/server/connection.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

namespace dewpoint::server {
namespace {

using SteadyClock = std::chrono::steady_clock;
using std::chrono::milliseconds;

void address_of(const sockaddr_storage& storage, std::string& ip, int& port) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (storage.ss_family == AF_INET) {
    sockaddr_in address{};
    std::memcpy(&address, &storage, sizeof(address));
    inet_ntop(AF_INET, &address.sin_addr, text.data(), text.size());
    port = ntohs(address.sin_port);
  } else if (storage.ss_family == AF_INET6) {
    sockaddr_in6 address{};
    std::memcpy(&address, &storage, sizeof(address));
    inet_ntop(AF_INET6, &address.sin6_addr, text.data(), text.size());
    port = ntohs(address.sin6_port);
  }
  ip = text.data();
}

}  // namespace

OwnedSocket::~OwnedSocket() {
  if (socket_ >= 0) ::close(socket_);
}

bool Connection::is_readable() const {
  return taken_ < ready_.size() || (more_ > 0 && wait_for(POLLIN, time_left()));
}

bool Connection::is_writable() const {
  pollfd one{socket_, POLLOUT | POLLRDHUP, 0};
  const int ready = poll(&one, 1, static_cast<int>(patience_.write.count()));
  return ready > 0 && (one.revents & POLLOUT) != 0 &&
         (one.revents & (POLLRDHUP | POLLHUP | POLLERR)) == 0;
}

ssize_t Connection::read(char* bytes, size_t size) {
  if (taken_ < ready_.size()) {
    const std::size_t count = ready_.copy(bytes, size, taken_);
    taken_ += count;
    return static_cast<ssize_t>(count);
  }
  while (more_ > 0 && wait_for(POLLIN, time_left())) {
    const ssize_t count = recv(socket_, bytes, std::min(size, more_), 0);
    if (count < 0 && (errno == EINTR || errno == EAGAIN || errno == EWOULDBLOCK)) continue;
    if (count > 0) more_ -= static_cast<std::size_t>(count);
    return count;
  }
  return more_ == 0 ? 0 : -1;
}

ssize_t Connection::write(const char* bytes, size_t size) {
  for (;;) {
    const ssize_t count = send(socket_, bytes, size, MSG_NOSIGNAL);
    if (count >= 0) return count;
    if (errno == EINTR) continue;
    if ((errno != EAGAIN && errno != EWOULDBLOCK) || !wait_to_write()) return -1;
  }
}

void Connection::get_remote_ip_and_port(std::string& ip, int& port) const {
  sockaddr_storage storage{};
  socklen_t length = sizeof(storage);
  if (getpeername(socket_, reinterpret_cast<sockaddr*>(&storage), &length) == 0) {
    address_of(storage, ip, port);
  }
}

void Connection::get_local_ip_and_port(std::string& ip, int& port) const {
  sockaddr_storage storage{};
  socklen_t length = sizeof(storage);
  if (getsockname(socket_, reinterpret_cast<sockaddr*>(&storage), &length) == 0) {
    address_of(storage, ip, port);
  }
}

bool Connection::wait_for(short what, milliseconds time) const {
  pollfd one{socket_, what, 0};
  return poll(&one, 1, static_cast<int>(time.count())) > 0 && (one.revents & what) != 0;
}

milliseconds Connection::time_left() const {
  return std::max(milliseconds(0), std::chrono::ceil<milliseconds>(deadline_ - SteadyClock::now()));
}

bool Connection::wait_to_write() {
  const auto begun = SteadyClock::now();
  const bool ready = wait_for(POLLOUT, patience_.write);
  blocked_ += SteadyClock::now() - begun;
  return ready && blocked_ < patience_.blocked;
}

}  // namespace dewpoint::server
