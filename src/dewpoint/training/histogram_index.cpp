#include "dewpoint/training/histogram_index.hpp"

#include <algorithm>
#include <cmath>

#include "dewpoint/core/error.hpp"

namespace dewpoint::training {
namespace {

// The next of the sequences r_1 ≤ r_2 ≤ ... ≤ r_D, read from the end: the first that may grow does,
// and those before it begin again at 0.
void advance(std::span<std::uint32_t> sums) {
  std::size_t k = 0;
  while (k + 1 < sums.size() && sums[k] == sums[k + 1]) sums[k++] = 0;
  ++sums[k];
}

}  // namespace

double binomial(double n, double k) {
  const double fewer = std::min(k, n - k);
  double result = 1.0;
  for (double i = 1.0; i <= fewer && std::isfinite(result); ++i) {
    result = std::round(result * ((n - fewer + i) / i));
  }
  return result;
}

HistogramIndex::HistogramIndex(std::size_t vocabulary, std::size_t most)
    : others_(vocabulary - 1), terms_(most + 2, vocabulary) {
  DEWPOINT_EXPECTS(vocabulary >= 2 && most >= 1);
  fill_terms();
  sums_ = Matrix<std::uint32_t>(size(most), others_);
  for (std::size_t rank = 1; rank < sums_.rows(); ++rank) {
    std::copy_n(sums_.row(rank - 1).begin(), others_, sums_.row(rank).begin());
    advance(sums_.row(rank));
  }
  next_ = Matrix<std::uint32_t>(size(most - 1), others_);
  for (std::size_t rank = 0; rank < next_.rows(); ++rank) fill_next(rank);
}

// Pascal's rule: C(r + k − 1, k) = C(r + k − 2, k) + C(r + k − 2, k − 1).
void HistogramIndex::fill_terms() {
  for (std::size_t r = 0; r < terms_.rows(); ++r) {
    terms_(r, 0) = 1;
    for (std::size_t k = 1; r > 0 && k <= others_; ++k) {
      terms_(r, k) = terms_(r - 1, k) + terms_(r, k - 1);
    }
  }
}

// One more token j adds 1 to r_k for all k ≥ d − j, so its number is had from the terms before and
// the grown terms from there on: going through j from 1 up, one more of them has grown each time.
void HistogramIndex::fill_next(std::size_t rank) {
  std::size_t number = rank;
  for (std::size_t j = 1; j <= others_; ++j) {
    const std::size_t k = others_ + 1 - j;
    const std::uint32_t sum = sums_(rank, k - 1);
    number += terms_(sum + 1, k) - terms_(sum, k);
    next_(rank, j - 1) = static_cast<std::uint32_t>(number);
  }
}

void HistogramIndex::counts(std::size_t rank, std::size_t t, std::span<double> out) const {
  DEWPOINT_EXPECTS(rank < size(t) && out.size() == others_ + 1);
  std::uint32_t before = 0;
  for (std::size_t k = 1; k <= others_; ++k) {
    const std::uint32_t sum = sums_(rank, k - 1);
    out[others_ + 1 - k] = sum - before;
    before = sum;
  }
  out[0] = static_cast<double>(t - before);
}

}  // namespace dewpoint::training
