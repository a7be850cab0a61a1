#include "dewpoint/attention/variants/feature_rows.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "dewpoint/core/blas.hpp"
#include "dewpoint/core/random.hpp"
#include "dewpoint/core/vectors.hpp"

namespace dewpoint::attention {
namespace {

constexpr double kNothing = -std::numeric_limits<double>::infinity();

// Derivative of elu(x) + 1.
double elu_slope(double x) { return x > 0.0 ? 1.0 : std::exp(x); }

}  // namespace

Matrix<double> feature_directions(const AttentionVariant& variant, std::size_t d) {
  Matrix<double> directions(std::get<FeatureMap>(variant.kind).features(d), d);
  Stream(variant.seed, "attention/features", variant.replica)
      .normals(0, {directions.data(), directions.size()});
  return directions;
}

double elu_weight_bound(MatrixView<const double> keys) {
  std::vector<double> counts(keys.cols()), sums(keys.cols()), largest(keys.cols());
  for (std::size_t i = 0; i < keys.rows(); ++i) {
    for (std::size_t a = 0; a < keys.cols(); ++a) {
      const double part = std::max(keys(i, a), 0.0);
      counts[a] += part > 0.0 ? 1.0 : 0.0;
      sums[a] += part;
      largest[a] = std::max(largest[a], part);
    }
  }
  double bound = 0.0;
  for (std::size_t a = 0; a < keys.cols(); ++a) {
    if (counts[a] == 0.0) return 1.0;
    bound = std::max({bound, 1.0 / counts[a], largest[a] / sums[a]});
  }
  return std::min(bound, 1.0);
}

FeatureRows::FeatureRows(MatrixView<const double> rows, double beta, Directions directions)
    : rows_(rows),
      beta_(beta),
      directions_(std::move(directions)),
      values_(rows.rows(), directions_ ? directions_->rows() : rows.cols()) {}

FeatureRows FeatureRows::elu(MatrixView<const double> rows, double beta) {
  FeatureRows features(rows, beta, nullptr);
  for (std::size_t i = 0; i < rows.rows(); ++i) {
    std::ranges::transform(rows.row(i), features.values_.row(i).begin(), [&](double entry) {
      const double x = std::sqrt(beta) * entry;
      return x > 0.0 ? 1.0 + x : std::exp(x);
    });
  }
  return features;
}

FeatureRows FeatureRows::random_keys(MatrixView<const double> rows, double beta,
                                     Matrix<double> directions) {
  FeatureRows features(rows, beta, std::make_shared<const Matrix<double>>(std::move(directions)));
  features.values_ = features.exponents();
  auto& shifts = features.feature_shifts_;
  shifts.assign(features.directions_->rows(), kNothing);
  for (std::size_t i = 0; i < rows.rows(); ++i) {
    const auto row = features.values_.row(i);
    for (std::size_t m = 0; m < row.size(); ++m) shifts[m] = std::max(shifts[m], row[m]);
  }
  for (std::size_t i = 0; i < rows.rows(); ++i) {
    const auto row = features.values_.row(i);
    for (std::size_t m = 0; m < row.size(); ++m) row[m] = std::exp(row[m] - shifts[m]);
  }
  return features;
}

FeatureRows FeatureRows::random_queries(MatrixView<const double> rows, double beta,
                                        const FeatureRows& keys) {
  FeatureRows features(rows, beta, keys.directions_);
  features.values_ = features.exponents();
  const double log_count = std::log(static_cast<double>(features.directions_->rows()));
  for (std::size_t j = 0; j < rows.rows(); ++j) {
    const auto row = features.values_.row(j);
    for (std::size_t m = 0; m < row.size(); ++m) row[m] += keys.feature_shifts_[m];
    const double largest = *std::ranges::max_element(row);
    for (double& x : row) x = std::exp(x - largest);
    features.row_shifts_.push_back(largest - log_count);
  }
  return features;
}

// √β⟨ω_m, x⟩ − β‖x‖²/2
Matrix<double> FeatureRows::exponents() const {
  Matrix<double> result(rows_.rows(), directions_->rows());
  multiply_abt(rows_, *directions_, result);
  for (std::size_t i = 0; i < result.rows(); ++i) {
    const double half_square = 0.5 * beta_ * inner(rows_.row(i), rows_.row(i));
    for (double& x : result.row(i)) x = std::sqrt(beta_) * x - half_square;
  }
  return result;
}

Matrix<double> FeatureRows::forward(MatrixView<const double> change) const {
  const double root = std::sqrt(beta_);
  Matrix<double> result(values_.rows(), values_.cols());
  if (directions_) multiply_abt(change, *directions_, result);
  for (std::size_t i = 0; i < result.rows(); ++i) {
    const auto row = result.row(i);
    const auto x = rows_.row(i), moved = change.row(i);
    const double along = directions_ ? beta_ * inner(x, moved) : 0.0;
    for (std::size_t m = 0; m < row.size(); ++m) {
      row[m] = directions_ ? values_(i, m) * (root * row[m] - along)
                           : root * elu_slope(root * x[m]) * moved[m];
    }
  }
  return result;
}

Matrix<double> FeatureRows::backward(const Matrix<double>& gradient) const {
  const double root = std::sqrt(beta_);
  Matrix<double> result(rows_.rows(), rows_.cols());
  if (!directions_) {
    for (std::size_t i = 0; i < result.rows(); ++i) {
      for (std::size_t k = 0; k < result.cols(); ++k) {
        result(i, k) = root * elu_slope(root * rows_(i, k)) * gradient(i, k);
      }
    }
    return result;
  }
  Matrix<double> on_exponents = gradient;
  for (std::size_t k = 0; k < gradient.size(); ++k) on_exponents.data()[k] *= values_.data()[k];
  multiply_ab(on_exponents, *directions_, result);
  for (std::size_t i = 0; i < result.rows(); ++i) {
    const auto row = on_exponents.row(i);
    const double total = std::reduce(row.begin(), row.end());
    for (std::size_t k = 0; k < result.cols(); ++k) {
      result(i, k) = root * result(i, k) - beta_ * total * rows_(i, k);
    }
  }
  return result;
}

}  // namespace dewpoint::attention
