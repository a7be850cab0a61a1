// The one-layer model of three tokens on the rank-one manifold, for real and complex numbers.
//
// What asymmetry.cpp differentiates by complex steps: every function is analytic in γ and β and
// takes either scalar type. Notation as in asymmetry.hpp.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstddef>

namespace dewpoint::theory::three_tokens {

template <class T>
using Triple = std::array<T, 3>;
template <class T>
using Rows = std::array<Triple<T>, 3>;
using Complex = std::complex<double>;

inline double real_part(double x) { return x; }
inline double real_part(Complex x) { return x.real(); }

template <class S, class T>
auto dot(const Triple<S>& a, const Triple<T>& b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

struct ThreeTokens {
  Triple<double> law;
  double persistence;

  [[nodiscard]] double transition(std::size_t i, std::size_t j) const {
    return (i == j ? persistence : 0.0) + (1.0 - persistence) * law[j];
  }
};

template <class T>
Triple<T> softmax(Triple<T> logits) {
  const double largest =
      std::max({real_part(logits[0]), real_part(logits[1]), real_part(logits[2])});
  for (T& x : logits) x = std::exp(x - largest);
  const T sum = logits[0] + logits[1] + logits[2];
  for (T& x : logits) x /= sum;
  return logits;
}

template <class T>
Rows<T> attention_rows(const ThreeTokens& tokens, const Triple<T>& gamma, double amplitude) {
  Rows<T> rows;
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t j = 0; j < 3; ++j) {
      rows[i][j] = std::log(tokens.law[j]) + amplitude * gamma[i] * gamma[j];
    }
    rows[i] = softmax(rows[i]);
  }
  return rows;
}

/// The limit η → ∞ for γ_1 > 0 > γ_2 = γ_3.
inline Rows<double> focused_rows(const ThreeTokens& tokens) {
  const double rest = tokens.law[1] + tokens.law[2];
  const Triple<double> others{0.0, tokens.law[1] / rest, tokens.law[2] / rest};
  return {Triple<double>{1.0, 0.0, 0.0}, others, others};
}

/// m_i and R_i.
template <class T>
struct Predictions {
  Triple<T> readings;
  Rows<T> residuals;
};

template <class Weight, class T>
Predictions<T> predictions(const ThreeTokens& tokens, const Rows<Weight>& attention,
                           const Triple<T>& gamma, const Triple<T>& beta) {
  Predictions<T> result;
  for (std::size_t i = 0; i < 3; ++i) {
    const T reading = dot(attention[i], gamma);
    const Triple<T> predicted =
        softmax<T>({reading * beta[0], reading * beta[1], reading * beta[2]});
    result.readings[i] = reading;
    for (std::size_t j = 0; j < 3; ++j) {
      result.residuals[i][j] = tokens.transition(i, j) - predicted[j];
    }
  }
  return result;
}

/// ∂L/∂M.
template <class Weight, class T>
Rows<T> readout(const ThreeTokens& tokens, const Rows<Weight>& attention,
                const Rows<T>& residuals) {
  Rows<T> gradient{};
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t j = 0; j < 3; ++j) {
      for (std::size_t k = 0; k < 3; ++k) {
        gradient[j][k] -= tokens.law[i] * attention[i][j] * residuals[i][k];
      }
    }
  }
  return gradient;
}

}  // namespace dewpoint::theory::three_tokens
