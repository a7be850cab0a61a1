#include "dewpoint/training/layered_pass.hpp"

#include <algorithm>
#include <cmath>

namespace dewpoint::training {
namespace {

// Small products of dense row-major blocks: rows x inner times inner x cols.
void add_ab(std::size_t rows, std::size_t inner, std::size_t cols, const double* a, const double* b,
            double* c) {
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t k = 0; k < inner; ++k) {
      const double factor = a[i * inner + k];
      for (std::size_t j = 0; j < cols; ++j) c[i * cols + j] += factor * b[k * cols + j];
    }
  }
}

// c += aᵀ b with a of inner x rows.
void add_atb(std::size_t rows, std::size_t inner, std::size_t cols, const double* a,
             const double* b, double* c) {
  for (std::size_t k = 0; k < inner; ++k) {
    for (std::size_t i = 0; i < rows; ++i) {
      const double factor = a[k * rows + i];
      for (std::size_t j = 0; j < cols; ++j) c[i * cols + j] += factor * b[k * cols + j];
    }
  }
}

// c += a bᵀ with b of cols x inner.
void add_abt(std::size_t rows, std::size_t inner, std::size_t cols, const double* a,
             const double* b, double* c) {
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < cols; ++j) {
      double sum = 0.0;
      for (std::size_t k = 0; k < inner; ++k) sum += a[i * inner + k] * b[j * inner + k];
      c[i * cols + j] += sum;
    }
  }
}

// Scores become weights, in their place.
void take_weights(std::span<double> scores, std::span<const double> counts) {
  const double top = *std::max_element(scores.begin(), scores.end());
  double total = 0.0;
  for (std::size_t j = 0; j < scores.size(); ++j) {
    total += scores[j] = counts[j] * std::exp(scores[j] - top);
  }
  for (double& share : scores) share /= total;
}

// ∂L/∂weights become ∂L/∂scores, in their place.
void take_score_slopes(std::span<double> slopes, std::span<const double> weights) {
  double mean = 0.0;
  for (std::size_t j = 0; j < slopes.size(); ++j) mean += weights[j] * slopes[j];
  for (std::size_t j = 0; j < slopes.size(); ++j) slopes[j] = weights[j] * (slopes[j] - mean);
}

}  // namespace

LayeredPass::LayeredPass(std::size_t vocabulary, std::size_t layers, bool residual)
    : vocabulary_(vocabulary),
      layers_(layers),
      residual_(residual),
      counts_(vocabulary),
      place_(vocabulary),
      states_(layers + 1, vocabulary * vocabulary),
      weights_(layers, vocabulary * vocabulary),
      slope_(vocabulary, vocabulary),
      scores_slope_(vocabulary, vocabulary),
      scratch_(vocabulary, vocabulary) {}

void LayeredPass::gather(std::span<const double> counts) {
  DEWPOINT_EXPECTS(counts.size() == vocabulary_);
  present_ = 0;
  for (std::size_t token = 0; token < vocabulary_; ++token) {
    place_[token] = present_;
    if (!(counts[token] > 0.0)) continue;
    counts_[present_] = counts[token];
    double* row = combinations(0) + present_ * vocabulary_;
    std::fill_n(row, vocabulary_, 0.0);
    row[token] = 1.0;
    ++present_;
  }
  DEWPOINT_EXPECTS(present_ > 0);
}

void LayeredPass::attend(std::size_t layer, const Matrix<double>& attention) {
  const std::size_t k = present_, d = vocabulary_;
  const double* before = combinations(layer);
  double* weights = weights_.row(layer).data();
  std::fill_n(scratch_.data(), k * d, 0.0);
  add_ab(k, d, d, before, attention.data(), scratch_.data());
  std::fill_n(weights, k * k, 0.0);
  add_abt(k, d, k, scratch_.data(), before, weights);
  for (std::size_t i = 0; i < k; ++i) take_weights({weights + i * k, k}, {counts_.data(), k});

  double* after = combinations(layer + 1);
  if (residual_) {
    std::copy_n(before, k * d, after);
  } else {
    std::fill_n(after, k * d, 0.0);
  }
  add_ab(k, k, d, weights, before, after);
}

void LayeredPass::forward(std::span<const double> counts,
                          std::span<const Matrix<double>> attention) {
  DEWPOINT_EXPECTS(attention.size() == layers_);
  gather(counts);
  for (std::size_t layer = 0; layer < layers_; ++layer) attend(layer, attention[layer]);
  std::fill_n(slope_.data(), present_ * vocabulary_, 0.0);
}

std::span<const double> LayeredPass::state(std::size_t token) const {
  return states_.row(layers_).subspan(place_[token] * vocabulary_, vocabulary_);
}

std::span<double> LayeredPass::state_slope(std::size_t token) { return slope_.row(place_[token]); }

MatrixView<const double> LayeredPass::weights(std::size_t layer) const {
  return {weights_.row(layer).data(), present_, present_, present_};
}

void LayeredPass::retreat(std::size_t layer, const Matrix<double>& attention,
                          Matrix<double>& slope) {
  const std::size_t k = present_, d = vocabulary_;
  const double* before = combinations(layer);
  const double* weights = weights_.row(layer).data();
  double* by_scores = scores_slope_.data();
  std::fill_n(by_scores, k * k, 0.0);
  add_abt(k, d, k, slope_.data(), before, by_scores);
  for (std::size_t i = 0; i < k; ++i)
    take_score_slopes({by_scores + i * k, k}, {weights + i * k, k});

  // Aᵀ D, with residual + D
  double* result = scratch_.data();
  if (residual_) {
    std::copy_n(slope_.data(), k * d, result);
  } else {
    std::fill_n(result, k * d, 0.0);
  }
  add_atb(k, k, d, weights, slope_.data(), result);

  // U, then C Φ, in the place of D
  double* work = slope_.data();
  std::fill_n(work, k * d, 0.0);
  add_ab(k, k, d, by_scores, before, work);
  add_atb(d, k, d, before, work, slope.data());
  add_abt(k, d, d, work, attention.data(), result);
  std::fill_n(work, k * d, 0.0);
  add_ab(k, d, d, before, attention.data(), work);
  add_atb(k, k, d, by_scores, work, result);
  std::swap(slope_, scratch_);
}

void LayeredPass::backward(std::span<const Matrix<double>> attention,
                           std::span<Matrix<double>> slope) {
  DEWPOINT_EXPECTS(attention.size() == layers_ && slope.size() == layers_);
  for (std::size_t layer = layers_; layer-- > 0;) retreat(layer, attention[layer], slope[layer]);
}

}  // namespace dewpoint::training
