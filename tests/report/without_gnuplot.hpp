// Tests on machines that have no gnuplot, and tests that pretend to be on one.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdlib>
#include <string>

#include "store/scratch_folder.hpp"

#define DEWPOINT_SKIP_WITHOUT_GNUPLOT()                         \
  if (std::system("command -v gnuplot >/dev/null 2>&1") != 0) { \
    GTEST_SKIP() << "gnuplot is not installed here";            \
  }                                                             \
  static_assert(true)

namespace dewpoint::test {

/// For its lifetime PATH is one empty folder.
class EmptyPath {
 public:
  EmptyPath() : before_(std::getenv("PATH")) { ::setenv("PATH", (folder_ / "").c_str(), 1); }
  EmptyPath(const EmptyPath&) = delete;
  EmptyPath& operator=(const EmptyPath&) = delete;
  ~EmptyPath() { ::setenv("PATH", before_.c_str(), 1); }

 private:
  ScratchFolder folder_;
  std::string before_;
};

}  // namespace dewpoint::test
