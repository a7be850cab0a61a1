#include "dewpoint/training/histogram_pass.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "dewpoint/core/error.hpp"

namespace dewpoint::training {
namespace {

bool all_finite(const Matrix<double>& matrix) {
  return std::all_of(matrix.data(), matrix.data() + matrix.size(),
                     [](double x) { return std::isfinite(x); });
}

void fill(PassSums& sums, double x) {
  std::fill(sums.losses.begin(), sums.losses.end(), x);
  std::fill_n(sums.slope.attention.data(), sums.slope.attention.size(), x);
  std::fill_n(sums.slope.value.data(), sums.slope.value.size(), x);
}

template <class Real>
void round_to(const Matrix<double>& from, Matrix<Real>& to) {
  std::transform(from.data(), from.data() + from.size(), to.data(),
                 [](double x) { return static_cast<Real>(x); });
}

// The columns less the first; returns the largest size.
template <class Real>
double take_from_first(const Matrix<double>& from, Matrix<Real>& to) {
  double most = 0.0;
  for (std::size_t j = 0; j < from.rows(); ++j) {
    for (std::size_t k = 0; k < from.cols(); ++k) {
      const double difference = from(j, k) - from(j, 0);
      most = std::max(most, std::abs(difference));
      to(j, k) = static_cast<Real>(difference);
    }
  }
  return most;
}

void divide(const Matrix<double>& sums, double weight, Matrix<double>& means) {
  DEWPOINT_EXPECTS(means.rows() == sums.rows() && means.cols() == sums.cols());
  std::transform(sums.data(), sums.data() + sums.size(), means.data(),
                 [weight](double sum) { return sum / weight; });
}

}  // namespace

double take_means(const PassSums& sums, double weight, TokenMaps& means) {
  divide(sums.slope.attention, weight, means.attention);
  divide(sums.slope.value, weight, means.value);
  return std::accumulate(sums.losses.begin(), sums.losses.end(), 0.0) / weight;
}

template <class Real>
HistogramPass<Real>::HistogramPass(std::size_t vocabulary, bool residual) {
  const std::size_t d = vocabulary;
  work_.vocabulary = d;
  work_.residual = residual;
  work_.shared.resize(d);
  work_.attention = Matrix<Real>(d, d);
  work_.attention_change = Matrix<Real>(d, d);
  work_.value = Matrix<Real>(d, d);
  work_.value_change = Matrix<Real>(d, d);
  work_.totals = Matrix<double>(d * d + d + 1, kLanePadding);
}

// False where Φ or M is not finite.
template <class Real>
bool HistogramPass<Real>::prepare(const TokenMaps& at) {
  if (!all_finite(at.attention) || !all_finite(at.value)) return false;
  for (std::size_t last = 0; last < work_.vocabulary; ++last) {
    const auto scores = at.attention.row(last);
    const auto [least, most] = std::minmax_element(scores.begin(), scores.end());
    const double top = *most;
    const bool shared = top - *least <= kWidestSpread<Real>;
    work_.shared[last] = shared;
    std::transform(scores.begin(), scores.end(), work_.attention.row(last).begin(), [&](double x) {
      return static_cast<Real>(shared ? std::exp(x - top) : x - top);
    });
  }
  const double most = take_from_first(at.value, work_.value);
  work_.bounded = (work_.residual ? 2.0 : 1.0) * most <= kLargestExponent<Real>;
  return true;
}

// d exp(Φ) = exp(Φ) dΦ where exponentials are shared.
template <class Real>
void HistogramPass<Real>::prepare_change(const TokenMaps& along) {
  round_to(along.attention, work_.attention_change);
  take_from_first(along.value, work_.value_change);
  for (std::size_t last = 0; last < work_.vocabulary; ++last) {
    if (!work_.shared[last]) continue;
    for (std::size_t j = 0; j < work_.vocabulary; ++j) {
      work_.attention_change(last, j) *= work_.attention(last, j);
    }
  }
}

template <class Real>
void HistogramPass<Real>::slope(const PackedRows<Real>& rows, const TokenMaps& at, PassSums& sums) {
  if (!prepare(at)) return fill(sums, std::numeric_limits<double>::quiet_NaN());
  kernels::slope(rows, work_, sums);
}

template <class Real>
void HistogramPass<Real>::change(const PackedRows<Real>& rows, const TokenMaps& at,
                                 const TokenMaps& along, PassSums& sums) {
  if (!prepare(at)) return fill(sums, std::numeric_limits<double>::quiet_NaN());
  prepare_change(along);
  kernels::change(rows, work_, sums);
}

template HistogramPass<float>::HistogramPass(std::size_t, bool);
template void HistogramPass<float>::slope(const PackedRows<float>&, const TokenMaps&, PassSums&);
template class HistogramPass<double>;

}  // namespace dewpoint::training
