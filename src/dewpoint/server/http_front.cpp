#include "dewpoint/server/http_front.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
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

constexpr int kWaitingConnections = 256;

int milliseconds_until(SteadyClock::time_point deadline) {
  const auto left =
      std::chrono::duration_cast<std::chrono::milliseconds>(deadline - SteadyClock::now());
  return static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, 60000));
}

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

class Connection final : public httplib::Stream {
 public:
  Connection(socket_t socket, const Patience& patience)
      : socket_(socket),
        patience_(patience),
        request_deadline_(SteadyClock::now() + patience.request) {
    fcntl(socket_, F_SETFL, fcntl(socket_, F_GETFL, 0) | O_NONBLOCK);
  }

  [[nodiscard]] bool is_readable() const override {
    return first_ < last_ || wait_for(POLLIN, milliseconds_until(request_deadline_));
  }

  /// Also false where the peer has closed: it will not read.
  [[nodiscard]] bool is_writable() const override {
    pollfd one{socket_, POLLOUT | POLLRDHUP, 0};
    const int ready = poll(&one, 1, static_cast<int>(patience_.write.count()));
    return ready > 0 && (one.revents & POLLOUT) != 0 &&
           (one.revents & (POLLRDHUP | POLLHUP | POLLERR)) == 0;
  }

  ssize_t read(char* bytes, size_t size) override {
    if (first_ == last_ && !fill()) return -1;
    const std::size_t count = std::min(size, last_ - first_);
    std::copy_n(buffer_.begin() + static_cast<std::ptrdiff_t>(first_), count, bytes);
    first_ += count;
    return static_cast<ssize_t>(count);
  }

  ssize_t write(const char* bytes, size_t size) override {
    for (;;) {
      const ssize_t count = send(socket_, bytes, size, MSG_NOSIGNAL);
      if (count >= 0) return count;
      if (errno == EINTR) continue;
      if ((errno != EAGAIN && errno != EWOULDBLOCK) || !wait_to_write()) return -1;
    }
  }

  void get_remote_ip_and_port(std::string& ip, int& port) const override {
    sockaddr_storage storage{};
    socklen_t length = sizeof(storage);
    if (getpeername(socket_, reinterpret_cast<sockaddr*>(&storage), &length) == 0) {
      address_of(storage, ip, port);
    }
  }

  void get_local_ip_and_port(std::string& ip, int& port) const override {
    sockaddr_storage storage{};
    socklen_t length = sizeof(storage);
    if (getsockname(socket_, reinterpret_cast<sockaddr*>(&storage), &length) == 0) {
      address_of(storage, ip, port);
    }
  }

  [[nodiscard]] socket_t socket() const override { return socket_; }

  /// Ends politely: what the peer still sends is read for a moment, so that closing does not take
  /// the answer away from it.
  void close_politely() {
    shutdown(socket_, SHUT_WR);
    const auto deadline = SteadyClock::now() + std::chrono::milliseconds(500);
    std::size_t drained = 0;
    while (drained < kMostDrained && wait_for(POLLIN, milliseconds_until(deadline))) {
      const ssize_t count = recv(socket_, buffer_.data(), buffer_.size(), 0);
      if (count <= 0) break;
      drained += static_cast<std::size_t>(count);
    }
    ::close(socket_);
  }

 private:
  static constexpr std::size_t kMostDrained = std::size_t{1} << 20;

  [[nodiscard]] bool wait_for(short what, int milliseconds) const {
    pollfd one{socket_, what, 0};
    return poll(&one, 1, milliseconds) > 0 && (one.revents & what) != 0;
  }

  bool fill() {
    while (wait_for(POLLIN, milliseconds_until(request_deadline_))) {
      const ssize_t count = recv(socket_, buffer_.data(), buffer_.size(), 0);
      if (count < 0 && (errno == EINTR || errno == EAGAIN || errno == EWOULDBLOCK)) continue;
      if (count <= 0) return false;
      first_ = 0;
      last_ = static_cast<std::size_t>(count);
      return true;
    }
    return false;
  }

  bool wait_to_write() {
    const auto begun = SteadyClock::now();
    const bool ready = wait_for(POLLOUT, static_cast<int>(patience_.write.count()));
    blocked_ += SteadyClock::now() - begun;
    return ready && blocked_ < patience_.blocked;
  }

  socket_t socket_;
  const Patience& patience_;
  SteadyClock::time_point request_deadline_;
  SteadyClock::duration blocked_{};
  std::array<char, 8192> buffer_{};
  std::size_t first_ = 0, last_ = 0;  // what of the buffer is unread
};

void simplify(httplib::Request& request) {
  request.headers.erase("Accept-Encoding");
  request.headers.erase("Range");
  request.ranges.clear();
}

}  // namespace

void HttpFront::lengthen_line() const { ::listen(svr_sock_, kWaitingConnections); }

bool HttpFront::process_and_close_socket(socket_t socket) {
  Connection connection(socket, patience_);
  bool closed = false;
  const bool answered = process_request(connection, true, closed, simplify);
  connection.close_politely();
  return answered;
}

}  // namespace dewpoint::server
