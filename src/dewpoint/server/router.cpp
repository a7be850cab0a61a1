#include "dewpoint/server/router.hpp"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "dewpoint/server/refusal.hpp"

namespace dewpoint::server {
namespace {

std::optional<PathParts> match(const PathParts& pattern, const PathParts& path) {
  if (pattern.size() != path.size()) return {};
  PathParts wild;
  for (std::size_t k = 0; k < path.size(); ++k) {
    if (pattern[k] == "*") {
      wild.push_back(path[k]);
    } else if (pattern[k] != path[k]) {
      return {};
    }
  }
  return wild;
}

}  // namespace

PathParts path_parts(const std::string& path) {
  PathParts parts;
  for (std::size_t begin = 1; begin < path.size();) {
    const std::size_t end = std::min(path.find('/', begin), path.size());
    parts.push_back(path.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

void Router::add(const std::string& method, const std::string& pattern, RouteHandler handler) {
  routes_.push_back({method, path_parts(pattern), std::move(handler)});
}

void Router::route(const httplib::Request& request, httplib::Response& response) const {
  const PathParts path = path_parts(request.path);
  const std::string method = request.method == "HEAD" ? "GET" : request.method;
  std::string allowed;
  for (const Route& route : routes_) {
    const auto wild = match(route.parts, path);
    if (!wild) continue;
    if (route.method == method) return route.handler(*wild, request, response);
    allowed += (allowed.empty() ? "" : ", ") + route.method;
  }
  if (allowed.empty()) throw Refusal(404, "path: there is nothing here");
  response.set_header("Allow", allowed);
  throw Refusal(405, fmt::format("method: {} is not for this path; allowed: {}",
                                 request.method.substr(0, 20), allowed));
}

}  // namespace dewpoint::server
