// Who may ask: the checks that every request passes before anything looks at it.
//
// A page of another site can make a browser send requests to this server, and by rebinding a name
// of its own to 127.0.0.1 even read the answers. So the Host of a request must be a name of ours,
// the Origin of whatever changes something must be this server, and beyond the loopback a token is
// asked for.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace dewpoint::server {

struct AccessRules {
  std::string host = "127.0.0.1";  // that the server listens on
  int port = 0;
  std::string token;  // empty: none is asked for
};

/// What the checks look at; absent headers are empty.
struct RequestFacts {
  std::string method;
  std::string host;           // header
  std::string origin;         // header
  std::string authorization;  // header
  std::string token;          // of the address
  std::string content_type;   // header
};

struct Denial {
  int status;
  std::string reason;
};

/// Nothing: go on.
[[nodiscard]] std::optional<Denial> denial(const AccessRules& rules, const RequestFacts& request);

/// 127.0.0.0/8, ::1 or localhost.
[[nodiscard]] bool is_loopback(std::string_view host);

/// Takes as long wherever the first difference is, so that a token cannot be guessed letter by
/// letter.
[[nodiscard]] bool equal_in_constant_time(std::string_view one, std::string_view other);

inline constexpr std::size_t kLeastTokenLength = 16;

}  // namespace dewpoint::server
