// The page of the explorer, which web/ builds and the program carries inside.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace dewpoint::server {

/// The built page; empty where it was not built in.
[[nodiscard]] std::string_view page_template();

/// The letters that stand in the page where a nonce belongs.
inline constexpr std::string_view kNoncePlace = "DEWPOINT_NONCE";

struct ServedPage {
  std::string html;
  std::string policy;  // Content-Security-Policy
};

/// The page with a nonce of its own; a plain one that says so where none was built in.
[[nodiscard]] ServedPage explorer_page();

/// For who comes by the link with the token: goes on to the page without it. A page and not a
/// redirection, because browsers keep a strict cookie back from redirections that begin elsewhere.
[[nodiscard]] ServedPage welcome_page();

/// For who comes without: where the link is.
[[nodiscard]] ServedPage locked_page();

}  // namespace dewpoint::server
