// cpp-httplib with patience that ends: one request per connection, a deadline for the whole of it,
// and an eye on peers that are gone.
//
// The library gives every connection a thread and counts its read timeout anew with every byte; a
// peer that sends a byte now and then would keep a thread for ever. Here the whole request has one
// deadline, and blocked writing adds up. Answers are not compressed (its brotli runs at the slowest
// setting) and ranges are not served.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <httplib.h>

#include <chrono>
#include <cstddef>

namespace dewpoint::server {

struct Patience {
  std::chrono::milliseconds request{10000};  // from the connection to the last byte of the body
  std::chrono::milliseconds write{5000};     // for one piece of an answer to move
  std::chrono::milliseconds blocked{20000};  // of all writing together
};

class HttpFront final : public httplib::Server {
 public:
  explicit HttpFront(const Patience& patience = {}) : patience_(patience) {}

  /// After binding: lets more connections wait to be accepted than the library's five. One that
  /// finds the line full tries again after a second.
  void lengthen_line() const;

 private:
  bool process_and_close_socket(socket_t socket) override;

  const Patience patience_;
};

}  // namespace dewpoint::server
