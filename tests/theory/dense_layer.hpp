// A softmax layer on explicit tokens of a regular simplex, written out without any formula of the
// theory: scores, exponentials, sums.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

namespace dewpoint::test {

using Tokens = std::vector<std::vector<double>>;

inline double dot(const std::vector<double>& x, const std::vector<double>& y) {
  double sum = 0.0;
  for (std::size_t k = 0; k < x.size(); ++k) sum += x[k] * y[k];
  return sum;
}

/// y_i = √(1−ρ) e_i + t 1 in R^n. ⟨y_i, y_j⟩ = ρ asks for n t² + 2t √(1−ρ) = ρ.
inline Tokens simplex_tokens(int n, double rho) {
  const double side = std::sqrt(1.0 - rho);
  const double common = (std::sqrt(1.0 - rho + n * rho) - side) / n;
  Tokens tokens(n, std::vector<double>(n, common));
  for (int i = 0; i < n; ++i) tokens[i][i] += side;
  return tokens;
}

/// What a dense layer does beside softmax over all tokens.
struct DenseLayer {
  double beta = 1.0;
  double kappa = 0.0;
  double sink = -std::numeric_limits<double>::infinity();
  std::size_t window = 0;  // keys i − window + 1 .. i; 0: all keys, later ones too
};

/// e^{β⟨y_i, y_j⟩} for the keys that query i sees, 0 for the others.
inline std::vector<double> unnormalised_row(const Tokens& tokens, std::size_t i,
                                            const DenseLayer& layer) {
  std::vector<double> row(tokens.size(), 0.0);
  for (std::size_t j = 0; j < tokens.size(); ++j) {
    const bool visible = layer.window == 0 || (j <= i && i - j < layer.window);
    if (visible) row[j] = std::exp(layer.beta * dot(tokens[i], tokens[j]));
  }
  return row;
}

/// The weights of query i on all tokens; what is missing to 1 is the sink's.
inline std::vector<double> dense_row(const Tokens& tokens, std::size_t i, const DenseLayer& layer) {
  std::vector<double> row = unnormalised_row(tokens, i, layer);
  double normaliser = std::exp(layer.sink);
  for (const double weight : row) normaliser += weight;
  for (double& weight : row) weight /= normaliser;
  return row;
}

/// x'_i = Σ_j w_ij y_j + κ y_i.
inline Tokens dense_layer(const Tokens& tokens, const DenseLayer& layer) {
  const std::size_t n = tokens.size();
  Tokens outputs(n, std::vector<double>(n, 0.0));
  for (std::size_t i = 0; i < n; ++i) {
    std::vector<double> row = dense_row(tokens, i, layer);
    row[i] += layer.kappa;
    for (std::size_t j = 0; j < n; ++j)
      for (std::size_t k = 0; k < n; ++k) outputs[i][k] += row[j] * tokens[j][k];
  }
  return outputs;
}

/// Relative rounding of its outputs' products: a score carries (n + 2) ε from its dot product,
/// magnified by β, and the products of outputs another 2n ε.
inline double dense_layer_error(std::size_t n, double beta) {
  constexpr double epsilon = std::numeric_limits<double>::epsilon();
  return 4.0 * epsilon * (static_cast<double>(n) + 2.0) * (2.0 + beta);
}

}  // namespace dewpoint::test
