#include "dewpoint/server/access_rules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <vector>

#include "dewpoint/core/error.hpp"

namespace dewpoint::server {
namespace {

constexpr std::string_view kScheme = "http://";
constexpr std::string_view kBearer = "Bearer ";

std::string lower(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return result;
}

bool listens_everywhere(std::string_view host) { return host == "0.0.0.0" || host == "::"; }

std::string bracketed(const std::string& host) {
  return host.find(':') == std::string::npos ? host : "[" + host + "]";
}

/// "name:port" of this server; port 80 may be left out.
bool names_us(const AccessRules& rules, const std::string& authority) {
  const std::vector<std::string> names = {"localhost", "127.0.0.1", "[::1]",
                                          bracketed(lower(rules.host))};
  return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
    return authority == fmt::format("{}:{}", name, rules.port) ||
           (rules.port == 80 && authority == name);
  });
}

bool host_is_ours(const AccessRules& rules, const std::string& host) {
  return listens_everywhere(rules.host) ? !host.empty() : names_us(rules, lower(host));
}

/// The page's own origin is the host it was fetched from.
bool origin_is_ours(const RequestFacts& request) {
  return request.origin.starts_with(kScheme) &&
         lower(std::string_view(request.origin).substr(kScheme.size())) == lower(request.host);
}

/// The value of a cookie of this name; empty: there is none.
std::string_view cookie_value(std::string_view cookies, const std::string& name) {
  const std::string begin = name + "=";
  while (!cookies.empty()) {
    const auto end = std::min(cookies.find(';'), cookies.size());
    std::string_view one = cookies.substr(0, end);
    one.remove_prefix(std::min(one.find_first_not_of(' '), one.size()));
    if (one.starts_with(begin)) return one.substr(begin.size());
    cookies.remove_prefix(std::min(end + 1, cookies.size()));
  }
  return {};
}

bool token_is_right(const AccessRules& rules, const RequestFacts& request) {
  const std::string_view header = request.authorization;
  const std::string_view given = header.starts_with(kBearer)
                                     ? header.substr(kBearer.size())
                                     : cookie_value(request.cookie, rules.cookie_name());
  return equal_in_constant_time(given, rules.token);
}

bool is_json(const std::string& content_type) {
  const std::string kind = lower(content_type.substr(0, content_type.find(';')));
  return kind == "application/json" || kind == "application/json ";
}

}  // namespace

bool is_loopback(std::string_view host) {
  return host == "localhost" || host == "::1" || host.starts_with("127.");
}

bool equal_in_constant_time(std::string_view one, std::string_view other) {
  unsigned difference = one.size() == other.size() ? 0 : 1;
  for (std::size_t k = 0; k < one.size(); ++k) {
    const char against = other.empty() ? '\0' : other[k % other.size()];
    difference |= static_cast<unsigned>(one[k] ^ against);
  }
  return difference == 0;
}

void require_token(std::string_view token, std::string_view name) {
  if (token.size() < kLeastTokenLength) {
    throw Error(Code::bad_value, fmt::format("{}: a token of {} letters; at least {} are needed",
                                             name, token.size(), kLeastTokenLength));
  }
  const auto plain = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
           std::string_view("-._~").find(c) != std::string_view::npos;
  };
  if (!std::all_of(token.begin(), token.end(), plain)) {
    throw Error(Code::bad_value,
                fmt::format("{}: a token has letters, digits, '-', '.', '_' and '~' only", name));
  }
}

std::string AccessRules::cookie_name() const { return fmt::format("dewpoint-{}", port); }

std::string AccessRules::cookie() const {
  return fmt::format("{}={}; Path=/; HttpOnly; SameSite=Strict", cookie_name(), token);
}

std::optional<Denial> denial(const AccessRules& rules, const RequestFacts& request) {
  if (!host_is_ours(rules, request.host)) {
    return Denial{403, "host: this server is not called that"};
  }
  const bool reads = request.method == "GET" || request.method == "HEAD";
  if (!reads && !request.origin.empty() && !origin_is_ours(request)) {
    return Denial{403, "origin: another site may not ask this"};
  }
  if (!rules.token.empty() && !token_is_right(rules, request)) {
    return Denial{401, "token: is missing or wrong; open the link that dewpoint serve printed"};
  }
  if (request.method == "POST" && !is_json(request.content_type)) {
    return Denial{415, "content-type: application/json is needed"};
  }
  return {};
}

}  // namespace dewpoint::server
