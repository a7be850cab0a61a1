#include "dewpoint/attention/second_moment.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "dewpoint/core/blas.hpp"
#include "dewpoint/core/error.hpp"
#include "dewpoint/core/gradient_kernels.hpp"
#include "dewpoint/core/kernels.hpp"

namespace dewpoint::attention {
namespace {

// Keys whose products of coordinates are made at a time.
constexpr std::size_t kKeyBlock = 512;

std::size_t distinct_products(std::size_t d) { return d * (d + 1) / 2; }

// Distinct products of two coordinates, those of different ones times √2, so that the squared
// length of a sum of such rows is the Frobenius norm of the sum of the matrices o oᵀ.
void fill_products(std::span<const float> offset, std::span<float> row) {
  constexpr float kTwice = 1.41421356F;
  std::size_t k = 0;
  for (std::size_t u = 0; u < offset.size(); ++u) {
    row[k++] = offset[u] * offset[u];
    for (std::size_t v = u + 1; v < offset.size(); ++v) row[k++] = kTwice * offset[u] * offset[v];
  }
}

}  // namespace

std::size_t second_moment_columns(SecondMoment way, std::size_t n, std::size_t d) {
  return way == SecondMoment::pairs_of_keys ? n : distinct_products(d);
}

SecondMoment cheaper_second_moment(std::size_t n, std::size_t d) {
  return n < distinct_products(d) ? SecondMoment::pairs_of_keys : SecondMoment::khatri_rao;
}

SecondMoments::SecondMoments(const CentredCloud& cloud, SecondMoment way)
    : cloud_(cloud), way_(way) {
  if (way == SecondMoment::khatri_rao) return;
  const std::size_t n = cloud.size();
  if (n > kKeptOverlaps) {
    throw Error(Code::bad_value,
                fmt::format("eta: exact needs n <= {} or d(d+1)/2 < n, not n = {}, d = {}; mixed "
                            "has no such limit",
                            kKeptOverlaps, n, cloud.dimension()));
  }
  squared_overlaps_ = Matrix<float>(n, padded(n));
  const auto real = squared_overlaps_.view().block({0, n}, {0, n});
  multiply_abt(cloud.offsets(), cloud.offsets(), real);
  for (std::size_t k = 0; k < squared_overlaps_.size(); ++k) {
    squared_overlaps_.data()[k] *= squared_overlaps_.data()[k];
  }
}

void SecondMoments::of_strip(MatrixView<const float> weights, std::span<const std::size_t> queries,
                             std::span<double> sums) const {
  DEWPOINT_EXPECTS(weights.cols() == padded(cloud_.size()) && weights.rows() == queries.size());
  if (way_ == SecondMoment::pairs_of_keys) {
    over_pairs(weights, queries, sums);
  } else {
    over_products(weights, queries, sums);
  }
}

// With S the squared overlaps and e the query itself: (w + e)ᵀS(w + e) = wᵀSw + 2 (Sw)_e + S_ee.
void SecondMoments::over_pairs(MatrixView<const float> weights,
                               std::span<const std::size_t> queries, std::span<double> sums) const {
  const std::size_t n = cloud_.size();
  Matrix<float> product(weights.rows(), weights.cols());
  multiply_ab(weights.block({0, weights.rows()}, {0, n}), squared_overlaps_, product);
  kernels::row_products(weights, product, sums);
  for (std::size_t q = 0; q < queries.size(); ++q) {
    sums[q] += 2.0 * static_cast<double>(product(q, queries[q])) +
               static_cast<double>(squared_overlaps_(queries[q], queries[q]));
  }
}

void SecondMoments::over_products(MatrixView<const float> weights,
                                  std::span<const std::size_t> queries,
                                  std::span<double> sums) const {
  const std::size_t n = cloud_.size();
  const std::size_t columns = distinct_products(cloud_.dimension());
  Matrix<float> products(std::min(n, kKeyBlock), columns);
  Matrix<float> moments(weights.rows(), padded(columns));
  const auto real = moments.view().block({0, weights.rows()}, {0, columns});
  for (std::size_t q = 0; q < queries.size(); ++q) {
    fill_products(cloud_.offsets().row(queries[q]), real.row(q));
  }
  for (std::size_t begin = 0; begin < n; begin += kKeyBlock) {
    const Range keys{begin, std::min(n, begin + kKeyBlock)};
    for (std::size_t i = 0; i < keys.size(); ++i) {
      fill_products(cloud_.offsets().row(begin + i), products.row(i));
    }
    add_ab(weights.block({0, weights.rows()}, keys), products.view().row_range({0, keys.size()}),
           real);
  }
  kernels::row_products(moments, moments, sums);
}

}  // namespace dewpoint::attention
