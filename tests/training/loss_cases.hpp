// Rows, maps and derivatives by complex step for the tests of the training loss.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <limits>
#include <string>

#include "dewpoint/core/matrix.hpp"
#include "dewpoint/training/histogram_pass.hpp"
#include "dewpoint/training/histograms.hpp"
#include "dewpoint/training/row_formulas.hpp"
#include "dewpoint/training/token_loss.hpp"
#include "support/matrices.hpp"
#include "support/test_seed.hpp"

namespace dewpoint::training::test {

using Complex = std::complex<double>;

inline constexpr double kDoubleEpsilon = std::numeric_limits<double>::epsilon();
inline constexpr double kSingleEpsilon = std::numeric_limits<float>::epsilon();

/// Im f(x + ih)/h is f'(x) up to h²: far below rounding.
inline constexpr double kComplexStep = 1e-30;

/// `count` contexts of `context` tokens each, as many for every last token, labels of weights 0..3.
inline HistogramRows random_rows(std::size_t d, std::size_t context, std::size_t count,
                                 const std::string& name) {
  const Stream stream = dewpoint::test::stream("rows/" + name);
  std::uint64_t draw = 0;
  const auto below = [&](std::size_t n) {
    return static_cast<std::size_t>(stream.uniform(draw++) * static_cast<double>(n));
  };
  HistogramRows rows;
  rows.vocabulary = d;
  rows.context = context;
  rows.counts = Matrix<double>(count, d);
  rows.labels = Matrix<double>(count, d);
  for (std::size_t i = 0; i < count; ++i) {
    rows.last.push_back(static_cast<std::uint8_t>(i * d / count));
    rows.counts(i, rows.last[i]) = 1.0;
    for (std::size_t t = 1; t < context; ++t) rows.counts(i, below(d)) += 1.0;
    for (double& label : rows.labels.row(i)) rows.weight += label = static_cast<double>(below(4));
  }
  return rows;
}

/// Φ and M with entries N(0, attention²) and N(0, value²).
inline TokenMaps random_maps(std::size_t d, double attention, double value,
                             const std::string& name) {
  TokenMaps maps(d);
  const Stream stream = dewpoint::test::stream("maps/" + name);
  for (std::size_t i = 0; i < d * d; ++i) {
    maps.attention.data()[i] = attention * stream.normal(i);
    maps.value.data()[i] = value * stream.normal(d * d + i);
  }
  return maps;
}

inline double largest(const Matrix<double>& a) {
  double most = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) most = std::max(most, std::abs(a.data()[i]));
  return most;
}

inline double largest_difference(const Matrix<double>& a, const Matrix<double>& b) {
  double most = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double difference = std::abs(a.data()[i] - b.data()[i]);
    most = difference <= most ? most : difference;  // NaN is kept
  }
  return most;
}

inline double spread(const Matrix<double>& attention) {
  double most = 0.0;
  for (std::size_t i = 0; i < attention.rows(); ++i) {
    const auto row = attention.row(i);
    const auto [low, high] = std::minmax_element(row.begin(), row.end());
    most = std::max(most, *high - *low);
  }
  return most;
}

/// a + i h b
inline Matrix<Complex> shifted(const Matrix<double>& a, const Matrix<double>& b) {
  Matrix<Complex> c(a.rows(), a.cols());
  for (std::size_t i = 0; i < a.size(); ++i) {
    c.data()[i] = {a.data()[i], kComplexStep * b.data()[i]};
  }
  return c;
}

/// The derivative that a complex step left in the imaginary part.
inline Matrix<double> derivative(const Matrix<Complex>& a) {
  Matrix<double> b(a.rows(), a.cols());
  for (std::size_t i = 0; i < a.size(); ++i) b.data()[i] = a.data()[i].imag() / kComplexStep;
  return b;
}

/// The two sides of a comparison in double, plain formulas on the other one: pass_error() of each,
/// and the plain one adds up all rows in a single sum, so that a mean of terms up to 2 is off by up
/// to 2 rows u more.
inline double plain_error(const HistogramRows& rows, const TokenMaps& at) {
  return pass_error(rows.vocabulary, spread(at.attention), largest(at.value), kDoubleEpsilon) +
         static_cast<double>(rows.size()) * kDoubleEpsilon;
}

/// What a change of (Φ, M) by at most (attention, value) does to the slopes, to first order: shares
/// move by 2 attention, logits by ζ = 2 attention max|M| + 2 value, probabilities relatively by 2ζ,
/// so ∂L/∂M by 2 attention + 4ζ and ∂L/∂Φ by 8 attention max|M| + 2 (4ζ max|M| + 2 value) and once
/// more the first for the mean inside.
struct SlopeMove {
  double attention;
  double value;
};
inline SlopeMove slope_move(double attention, double value, double largest_value) {
  const double logits = 2.0 * attention * largest_value + 2.0 * value;
  return {16.0 * attention * largest_value + 8.0 * logits * largest_value + 4.0 * value,
          2.0 * attention + 4.0 * logits};
}

}  // namespace dewpoint::training::test
