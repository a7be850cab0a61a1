#include "dewpoint/server/access_rules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <vector>

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

bool token_is_right(const AccessRules& rules, const RequestFacts& request) {
  const bool bearer = request.authorization.starts_with(kBearer);
  const std::string_view given =
      bearer ? std::string_view(request.authorization).substr(kBearer.size())
             : std::string_view(request.token);
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

std::optional<Denial> denial(const AccessRules& rules, const RequestFacts& request) {
  if (!host_is_ours(rules, request.host)) {
    return Denial{403, "host: this server is not called that"};
  }
  const bool reads = request.method == "GET" || request.method == "HEAD";
  if (!reads && !request.origin.empty() && !origin_is_ours(request)) {
    return Denial{403, "origin: another site may not ask this"};
  }
  if (!rules.token.empty() && !token_is_right(rules, request)) {
    return Denial{401, "token: is missing or wrong"};
  }
  if (request.method == "POST" && !is_json(request.content_type)) {
    return Denial{415, "content-type: application/json is needed"};
  }
  return {};
}

}  // namespace dewpoint::server
