// One request and its answer on a socket, as a stream of cpp-httplib: the head as it was read
// already, then as much body as that promised, then nothing.
//
// The library counts its read timeout anew with every byte. Here the whole request has one
// deadline, blocked writing adds up, and a peer that is gone is seen.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <httplib.h>

#include <chrono>
#include <cstddef>
#include <string>
#include <utility>

namespace dewpoint::server {

struct Patience {
  std::chrono::milliseconds request{10000};  // from the connection to the last byte of the body
  std::chrono::milliseconds write{5000};     // for one piece of an answer to move
  std::chrono::milliseconds blocked{20000};  // of all writing together
  std::chrono::milliseconds leave{500};      // for a peer to close when it has its answer
};

/// Closes what it holds.
class OwnedSocket {
 public:
  explicit OwnedSocket(int socket = -1) : socket_(socket) {}
  OwnedSocket(OwnedSocket&& other) noexcept : socket_(std::exchange(other.socket_, -1)) {}
  OwnedSocket& operator=(OwnedSocket&& other) noexcept {
    std::swap(socket_, other.socket_);
    return *this;
  }
  ~OwnedSocket();
  [[nodiscard]] int get() const { return socket_; }

 private:
  int socket_;
};

class Connection final : public httplib::Stream {
 public:
  using Time = std::chrono::steady_clock::time_point;

  /// `ready`: bytes to be read first. `more`: how many of the socket follow them, until `deadline`.
  Connection(int socket, std::string ready, std::size_t more, Time deadline,
             const Patience& patience)
      : socket_(socket),
        ready_(std::move(ready)),
        more_(more),
        deadline_(deadline),
        patience_(patience) {}

  [[nodiscard]] bool is_readable() const override;
  /// Also false where the peer has closed: it will not read.
  [[nodiscard]] bool is_writable() const override;
  ssize_t read(char* bytes, size_t size) override;
  ssize_t write(const char* bytes, size_t size) override;
  void get_remote_ip_and_port(std::string& ip, int& port) const override;
  void get_local_ip_and_port(std::string& ip, int& port) const override;
  [[nodiscard]] socket_t socket() const override { return socket_; }

 private:
  [[nodiscard]] bool wait_for(short what, std::chrono::milliseconds time) const;
  [[nodiscard]] std::chrono::milliseconds time_left() const;
  bool wait_to_write();

  const int socket_;
  const std::string ready_;
  std::size_t taken_ = 0;  // of `ready_`
  std::size_t more_;
  const Time deadline_;
  const Patience& patience_;
  std::chrono::steady_clock::duration blocked_{};
};

}  // namespace dewpoint::server
