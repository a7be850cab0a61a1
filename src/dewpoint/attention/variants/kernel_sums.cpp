#include "dewpoint/attention/variants/kernel_sums.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "dewpoint/core/blas.hpp"
#include "dewpoint/core/vectors.hpp"

namespace dewpoint::attention {
namespace {

// Rows of a chunk: m or more, so that the m x d sums of all chunks take no more room than c.
std::size_t rows_of_chunk(std::size_t m) { return std::max<std::size_t>(128, m); }

// Leaves in place of each chunk's sum that of the chunks before it, in this order; returns the sum
// of all.
Matrix<double> make_running(std::vector<Matrix<double>>& chunks) {
  Matrix<double> total(chunks.front().rows(), chunks.front().cols());
  for (Matrix<double>& chunk : chunks) {
    Matrix<double> before = total;
    add_to(total, chunk);
    chunk = std::move(before);
  }
  return total;
}

// ⟨a_j, b_i⟩ within a chunk, 0 where j does not sum over i.
Matrix<double> triangle(SummedRows rows, MatrixView<const double> a, MatrixView<const double> b) {
  Matrix<double> products(a.rows(), b.rows());
  multiply_abt(a, b, products);
  for (std::size_t j = 0; j < a.rows(); ++j) {
    const auto row = products.row(j);
    std::ranges::fill(rows == SummedRows::up_to_own ? row.subspan(j + 1) : row.first(j), 0.0);
  }
  return products;
}

}  // namespace

SummedRows transposed(SummedRows rows) {
  if (rows == SummedRows::all) return rows;
  return rows == SummedRows::up_to_own ? SummedRows::from_own : SummedRows::up_to_own;
}

Matrix<double> kernel_sums(SummedRows rows, MatrixView<const double> a, MatrixView<const double> b,
                           MatrixView<const double> c, const RunContext& context) {
  const std::size_t n = a.rows(), side = rows_of_chunk(a.cols());
  DEWPOINT_EXPECTS(b.rows() == n && c.rows() == n && b.cols() == a.cols());
  const auto chunk = [&](std::size_t s) { return Range{s * side, std::min(n, (s + 1) * side)}; };
  std::vector<Matrix<double>> sums((n + side - 1) / side);
  const RunContext quiet{context.threads, context.stop, {}};
  parallel_for(sums.size(), quiet, [&](std::size_t s) {
    sums[s] = Matrix<double>(b.cols(), c.cols());
    multiply_atb(b.row_range(chunk(s)), c.row_range(chunk(s)), sums[s]);
  });
  if (rows == SummedRows::from_own) std::ranges::reverse(sums);
  const Matrix<double> total = make_running(sums);
  if (rows == SummedRows::from_own) std::ranges::reverse(sums);

  Matrix<double> result(n, c.cols());
  parallel_for(sums.size(), quiet, [&](std::size_t s) {
    const Range own = chunk(s);
    const MatrixView<double> out = result.view().row_range(own);
    multiply_ab(a.row_range(own), rows == SummedRows::all ? total : sums[s], out);
    if (rows == SummedRows::all) return;
    add_ab(triangle(rows, a.row_range(own), b.row_range(own)), c.row_range(own), out);
  });
  return result;
}

}  // namespace dewpoint::attention
