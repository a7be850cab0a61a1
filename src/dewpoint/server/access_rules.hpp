// Who may ask: the checks that every request passes before anything looks at it.
//
// A page of another site can make a browser send requests to this server, and by rebinding a name
// of its own to 127.0.0.1 even read the answers. So the Host of a request must be a name of ours,
// and the Origin of whatever changes something must be this server. Other users of this machine
// reach the loopback as well; so a token is asked for, as a header or as the cookie that the
// printed link gives to a browser.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace dewpoint::server {

struct AccessRules {
  std::string host = "127.0.0.1";  // that the server listens on
  int port = 0;
  std::string token;  // empty: none is asked for

  /// Of the cookie. A browser sends cookies to every port of a host, so ours is in the name.
  [[nodiscard]] std::string cookie_name() const;
  /// Set-Cookie, for whoever came with the token.
  [[nodiscard]] std::string cookie() const;
};

/// What the checks look at; absent headers are empty.
struct RequestFacts {
  std::string method;
  std::string host;           // header
  std::string origin;         // header
  std::string authorization;  // header
  std::string cookie;         // header
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

/// Throws Error{bad_value} for a token that is too short, or that would have to be written in
/// another way in an address or a cookie. `name`: where it was given, for the message.
void require_token(std::string_view token, std::string_view name = "token");

}  // namespace dewpoint::server
