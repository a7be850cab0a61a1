// Products where memory runs out: an exception, never a wait without end.
//
// SPDX-License-Identifier: Apache-2.0
#include "dewpoint/core/blas.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <functional>
#include <new>

#include "dewpoint/core/matrix.hpp"

namespace dewpoint {
namespace {

constexpr std::size_t kMebibyte = std::size_t{1} << 20;

std::size_t address_space() {
  std::size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

/// What the action returns in a child that may have `more` bytes beyond what it has; 128 + SIGALRM
/// where it takes longer than a minute.
int with_little_memory(std::size_t more, const std::function<int()>& action) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(60);
    const std::size_t most = address_space() + more;  // asked once: the heap may shrink meanwhile
    const rlimit limit{most, most};
    ::_exit(::setrlimit(RLIMIT_AS, &limit) == 0 ? action() : 3);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// Large enough for OpenBLAS to want its buffer of 128 MiB.
int square_a_matrix() {
  Matrix<double> a(300, 300), c(300, 300);
  for (std::size_t i = 0; i < 300; ++i) a(i, i) = 2.0;
  try {
    multiply_ab(a.view(), a.view(), c.view());
  } catch (const std::bad_alloc&) {
    return 1;
  }
  return c(299, 299) == 4.0 && c(0, 1) == 0.0 ? 0 : 2;
}

TEST(Blas, ThrowsWhereThereIsNoMemoryForAProduct) {
  EXPECT_EQ(with_little_memory(64 * kMebibyte, square_a_matrix), 1);
  EXPECT_EQ(with_little_memory(1024 * kMebibyte, square_a_matrix), 0);
}

TEST(Blas, KnowsWhetherMemoryIsLeft) {
  const auto left = [](std::size_t bytes) { return memory_is_left(bytes) ? 1 : 0; };
  EXPECT_EQ(with_little_memory(64 * kMebibyte, [&] { return left(32 * kMebibyte); }), 1);
  EXPECT_EQ(with_little_memory(64 * kMebibyte, [&] { return left(65 * kMebibyte); }), 0);
}

}  // namespace
}  // namespace dewpoint
