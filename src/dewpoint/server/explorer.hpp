// The server of the explorer: rooms, jobs, studies and the page over HTTP
// (docs/design/0012-explorer.md is its contract).
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>

namespace dewpoint::server {

struct ExplorerOptions {
  std::filesystem::path folder = ".";  // of studies: all that is read and written
  std::string host = "127.0.0.1";
  int port = 0;       // 0: any that is free
  std::string token;  // empty: none is asked for, which is for the loopback only
  int threads = 0;    // that compute; 0: all
};

inline constexpr std::size_t kMostBodyBytes = std::size_t{256} << 10;
inline constexpr std::size_t kMostPathBytes = 512;
inline constexpr std::size_t kMostStreams = 64;
inline constexpr std::size_t kRequestThreads = 32;  // beside those of the streams
inline constexpr std::size_t kCacheBytes = std::size_t{64} << 20;

class Explorer {
 public:
  /// Throws Error{bad_value} for a host beyond the loopback without a token and for one that is
  /// not fit (require_token), and Error{unreadable_file} without the folder.
  explicit Explorer(const ExplorerOptions& options);
  Explorer(const Explorer&) = delete;
  Explorer& operator=(const Explorer&) = delete;
  ~Explorer();

  /// Returns the port. Throws Error{unwritable_file} where it is not free.
  int bind();
  /// Answers until stop(); after bind().
  void listen();
  /// From any thread. Streams end within a second, runs after what they have in hand.
  void stop();

 private:
  class Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace dewpoint::server
