// cpp-httplib behind a door of our own: connections wait without a thread until the head of their
// request is there (lobby.hpp), which is bounded and read by stricter rules (request_head.hpp); the
// library answers one request per connection, with patience that ends (connection.hpp). Whatever is
// thrown on the way ends that connection and no other.
//
// Answers are not compressed (the library's brotli runs at the slowest setting) and ranges are not
// served.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <httplib.h>

#include <cstddef>
#include <optional>

#include "dewpoint/server/connection.hpp"
#include "dewpoint/server/lobby.hpp"
#include "dewpoint/server/refusal.hpp"

namespace dewpoint::server {

class HttpFront final : public httplib::Server {
 public:
  /// `threads`: requests and streams that are answered at a time.
  explicit HttpFront(std::size_t threads, const Patience& patience = {});
  HttpFront(const HttpFront&) = delete;
  HttpFront& operator=(const HttpFront&) = delete;
  ~HttpFront() override;

  /// Answers until end(); after binding. (The library's own listen() and stop() are not used: they
  /// give every connection a thread, and end for any error of accepting one.)
  void answer();
  /// From any thread.
  void end() { lobby_.stop(); }

  /// Why the head of a request was refused. The handlers see such a request as GET of /, and answer
  /// with this.
  [[nodiscard]] static std::optional<Refusal> refusal_of_head(const httplib::Request& request);

 private:
  void serve(Arrival& arrival);

  const Patience patience_;
  Lobby lobby_;
  httplib::ThreadPool pool_;
};

}  // namespace dewpoint::server
