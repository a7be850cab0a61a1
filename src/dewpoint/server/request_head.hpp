// The head of a request: bounded and read by rules of our own before cpp-httplib sees it.
//
// The library puts no bound on a line, nor on the number of lines, takes a body of any length that
// comes in chunks, and unpacks one that is compressed, all before anybody is asked for a token. It
// is handed a head written anew, with the headers that the server uses and no others.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace dewpoint::server {

inline constexpr std::size_t kMostHeadBytes = std::size_t{32} << 10;
inline constexpr std::size_t kMostHeaders = 100;
inline constexpr std::size_t kMostAddressBytes = 8192;

struct RequestHead {
  std::string text;      // for the library, with the empty line that ends it
  std::size_t size = 0;  // of the peer's own text: the body comes behind it
  std::size_t body = 0;  // bytes
};

/// Whether the empty line is there that ends a head.
[[nodiscard]] bool has_whole_head(std::string_view bytes);

/// Throws Refusal: 431 for more than kMostHeadBytes or kMostHeaders, 414 for a long address, 413
/// for a body of more than `most_body` bytes, 411 for one in chunks, 415 for one that is
/// compressed, 400 for a line that is no header and for a header of ours that comes twice.
///   Properties  (1) every header of `text` is one that the server reads, and is there once.
[[nodiscard]] RequestHead read_head(std::string_view bytes, std::size_t most_body);

}  // namespace dewpoint::server
