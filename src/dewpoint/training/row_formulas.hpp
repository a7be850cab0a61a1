// The loss over histogram rows and its slope, written down once and plainly.
//
// A row is a last token l, counts n_j and label weights y_k, w = Σ y. With r = w p − y:
//
//     A_j = n_j exp(Φ_lj) / Σ_i n_i exp(Φ_li)     B = A  (with residual A + e_l)
//     z = B M,   p = softmax(z),                  L += Σ_k y_k (log Σ exp z − z_k)
//     ∂L/∂M += Bᵀ r,   g = M r,                   ∂L/∂Φ_lj += A_j (g_j − Σ_i A_i g_i)
//
// and everything is divided by the total weight. Scalar is double, or std::complex<double> for
// derivatives by complex step: with h tiny, Im f(x + ih)/h is f'(x) to rounding. The fast pass
// (histogram_pass.hpp) is tested against this.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <limits>
#include <span>
#include <vector>

#include "dewpoint/core/matrix.hpp"
#include "dewpoint/training/histograms.hpp"

namespace dewpoint::training {

/// Loss and slope; or, with complex numbers, these and their derivatives.
template <class Scalar>
struct RowSums {
  Scalar loss{};
  Matrix<Scalar> attention;  // ∂L/∂Φ
  Matrix<Scalar> value;      // ∂L/∂M
};

/// Exponentials of x less the largest real part among those entries whose weight is above 0, times
/// the weights; returns that largest part.
template <class Scalar>
double weighted_exponentials(std::span<const Scalar> x, std::span<const double> weights,
                             std::span<Scalar> out) {
  double top = -std::numeric_limits<double>::infinity();
  for (std::size_t j = 0; j < x.size(); ++j) {
    if (weights[j] > 0.0) top = std::max(top, std::real(x[j]));
  }
  for (std::size_t j = 0; j < x.size(); ++j) {
    out[j] = weights[j] > 0.0 ? weights[j] * std::exp(x[j] - top) : Scalar{};
  }
  return top;
}

template <class Scalar>
Scalar normalise(std::span<Scalar> shares) {
  Scalar total{};
  for (const Scalar& share : shares) total += share;
  for (Scalar& share : shares) share /= total;
  return total;
}

/// Adds row i to the sums, not yet divided by the total weight.
template <class Scalar>
void add_row(const HistogramRows& rows, std::size_t i, bool residual,
             const Matrix<Scalar>& attention, const Matrix<Scalar>& value, RowSums<Scalar>& sums) {
  const std::size_t d = rows.vocabulary;
  const std::size_t last = rows.last[i];
  const std::span<const double> labels = rows.labels.row(i);
  const std::vector<double> ones(d, 1.0);

  std::vector<Scalar> share(d);
  weighted_exponentials<Scalar>(attention.row(last), rows.counts.row(i), share);
  normalise<Scalar>(share);
  std::vector<Scalar> mix = share;
  if (residual) mix[last] += 1.0;

  std::vector<Scalar> logits(d);
  for (std::size_t j = 0; j < d; ++j) {
    for (std::size_t k = 0; k < d; ++k) logits[k] += mix[j] * value(j, k);
  }
  std::vector<Scalar> probability(d);
  const double top = weighted_exponentials<Scalar>(logits, ones, probability);
  const Scalar log_total = top + std::log(normalise<Scalar>(probability));

  double weight = 0.0;
  for (const double label : labels) weight += label;
  std::vector<Scalar> excess(d);
  for (std::size_t k = 0; k < d; ++k) {
    sums.loss += labels[k] * (log_total - logits[k]);
    excess[k] = weight * probability[k] - labels[k];
  }

  std::vector<Scalar> pull(d);
  Scalar mean{};
  for (std::size_t j = 0; j < d; ++j) {
    for (std::size_t k = 0; k < d; ++k) {
      sums.value(j, k) += mix[j] * excess[k];
      pull[j] += value(j, k) * excess[k];
    }
    mean += share[j] * pull[j];
  }
  for (std::size_t j = 0; j < d; ++j) sums.attention(last, j) += share[j] * (pull[j] - mean);
}

/// Mean loss of the rows and its slope at (Φ, M) = (attention, value).
template <class Scalar>
[[nodiscard]] RowSums<Scalar> plain_slope(const HistogramRows& rows, bool residual,
                                          const Matrix<Scalar>& attention,
                                          const Matrix<Scalar>& value) {
  const std::size_t d = rows.vocabulary;
  RowSums<Scalar> sums{{}, Matrix<Scalar>(d, d), Matrix<Scalar>(d, d)};
  for (std::size_t i = 0; i < rows.size(); ++i) {
    add_row(rows, i, residual, attention, value, sums);
  }
  sums.loss /= rows.weight;
  for (std::size_t j = 0; j < d; ++j) {
    for (Scalar& x : sums.attention.row(j)) x /= rows.weight;
    for (Scalar& x : sums.value.row(j)) x /= rows.weight;
  }
  return sums;
}

}  // namespace dewpoint::training
