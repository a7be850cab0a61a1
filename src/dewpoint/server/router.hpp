// Which function answers which method and path.
//
// cpp-httplib matches paths with std::regex, whose recursion is as deep as the path is long; here
// they are compared part by part.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <httplib.h>

#include <functional>
#include <string>
#include <vector>

namespace dewpoint::server {

using PathParts = std::vector<std::string>;

/// Parts of the path that stood for "*", in order.
using RouteHandler =
    std::function<void(const PathParts& wild, const httplib::Request&, httplib::Response&)>;

class Router {
 public:
  /// `pattern`: "/api/jobs/*/events"; "*" stands for one part.
  void add(const std::string& method, const std::string& pattern, RouteHandler handler);

  /// Calls the handler. Throws Refusal{404}, or Refusal{405} after setting Allow. HEAD is GET.
  void route(const httplib::Request& request, httplib::Response& response) const;

 private:
  struct Route {
    std::string method;
    PathParts parts;
    RouteHandler handler;
  };
  std::vector<Route> routes_;
};

/// "/a/b" is {"a", "b"}; "/" is {}.
[[nodiscard]] PathParts path_parts(const std::string& path);

}  // namespace dewpoint::server
