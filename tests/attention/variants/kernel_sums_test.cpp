#include "dewpoint/attention/variants/kernel_sums.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "dewpoint/core/vectors.hpp"
#include "support/matrices.hpp"

namespace dewpoint::attention {
namespace {

bool summed(SummedRows rows, std::size_t j, std::size_t i) {
  if (rows == SummedRows::up_to_own) return i <= j;
  return rows == SummedRows::all || i >= j;
}

// Property (1), over one chunk and several, of 128 rows or of as many as there are features.
TEST(KernelSums, EqualTheDoubleSum) {
  for (const auto& [n, m] :
       {std::pair<std::size_t, std::size_t>{1, 1}, {50, 3}, {300, 7}, {200, 130}}) {
    const Matrix<double> a = test::normal_matrix(n, m, "KernelSums/a"),
                         b = test::normal_matrix(n, m, "KernelSums/b"),
                         c = test::normal_matrix(n, 2, "KernelSums/c");
    for (const auto rows : {SummedRows::all, SummedRows::up_to_own, SummedRows::from_own}) {
      const Matrix<double> found = kernel_sums(rows, a, b, c, {});
      for (std::size_t j = 0; j < n; ++j) {
        for (std::size_t k = 0; k < 2; ++k) {
          double sum = 0.0, size = 0.0;
          for (std::size_t i = 0; i < n; ++i) {
            if (!summed(rows, j, i)) continue;
            sum += inner(a.row(j), b.row(i)) * c(i, k);
            for (std::size_t l = 0; l < m; ++l) size += std::abs(a(j, l) * b(i, l) * c(i, k));
          }
          // The sum here rounds as often as the one there; all-sums also add rows that cancel.
          const double roundings = 2.0 * static_cast<double>(n + m) * 0x1p-52;
          ASSERT_NEAR(found(j, k), sum, roundings * size);
        }
      }
    }
  }
}

TEST(KernelSums, TheTransposeOfRunningForwardRunsBackward) {
  EXPECT_EQ(transposed(SummedRows::all), SummedRows::all);
  EXPECT_EQ(transposed(SummedRows::up_to_own), SummedRows::from_own);
  EXPECT_EQ(transposed(SummedRows::from_own), SummedRows::up_to_own);
}

}  // namespace
}  // namespace dewpoint::attention
