// What one query reads from n random keys: Σ_j w_j V k_j with its mean, covariance and bias.
//
// Keys k_j come from a law around the query q = e_1 (scores/keys.hpp), weights are w_j ∝
// e^{β⟨q, k_j⟩}, and V is a value matrix, the identity unless another is given. One draw is n keys;
// the output of many draws has
//
//     mean         what attention returns on average,
//     covariance   shown n times as large, because it falls as 1/n while n Σw² is bounded,
//     bias         the distance of the mean from the limit of infinitely many keys. The output is a
//                  ratio of two sums, and to second order in 1/n_eff its bias is the mean of
//
//                      −Σ_j w_j² (V k_j − o),        o = Σ_j w_j V k_j,
//
//                  which each draw gives without knowing the law of the keys.
//
// Keys are drawn and forgotten in blocks, so n is limited by patience alone. Scores enter as gaps
// T_j = 1 − ⟨q, k_j⟩, taken as |q − k_j|²/2 for keys of unit length so that no digit is lost near
// the query, and weights are taken relative to the best key so far: no β overflows. By linearity V
// is applied to Σ w_j k_j, once per draw.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "dewpoint/core/estimate.hpp"
#include "dewpoint/core/matrix.hpp"
#include "dewpoint/core/run_context.hpp"
#include "dewpoint/scores/keys.hpp"

namespace dewpoint::experiments {

/// Most rows of a value matrix: the covariance has its square of entries.
inline constexpr std::size_t kMostOutputs = 1024;

struct KeyOutput {
  std::size_t keys = 100'000;                // n
  std::size_t draws = 100;                   // errors fall as its square root
  std::vector<double> inverse_temperatures;  // β, all on the same keys
  Matrix<double> values;                     // V, D' x D; without rows: the identity
  std::uint64_t seed = 1;
};

/// Over the draws at one β. Vectors of the output have D' entries, matrices D' x D' by rows.
struct KeyOutputMoments {
  double inverse_temperature = 0.0;
  std::vector<Estimate> mean;        // of o = Σ w_j V k_j
  std::vector<Estimate> bias;        // of −Σ w_j² (V k_j − o)
  std::vector<Estimate> covariance;  // n Cov(o)

  // Of Σ w_j k_j, before V; U_j = ⟨q, k_j⟩, and ⊥ is what is orthogonal to q.
  Estimate gap;                      // 1 − ⟨q, Σ w_j k_j⟩, accurate where it is tiny
  Estimate parallel_variance;        // n Var⟨q, Σ w_j k_j⟩
  Estimate tangential_variance;      // n times the variance of one coordinate of ⊥, their mean
  Estimate tangential_square;        // |(Σ w_j k_j)_⊥|²
  Estimate tangential_spread;        // Σ w_j(1 − w_j) |k_j⊥|²
  std::vector<Estimate> scored_key;  // Σ w_j U_j k_j, with D entries

  // Of the weights.
  Estimate participation;   // Σ w_j²
  Estimate largest_weight;  // max w_j
  Estimate entropy;         // −Σ w_j log w_j
};

/// Checks the question as key_output would. Throws Error{bad_value} naming the field: D < 2,
/// n < 2, draws < 2, no β, β < 0 or not finite, V with columns other than D
/// or with more than kMostOutputs rows.
void check(const KeyOutput& question, const scores::KeyLaw& law);

/// Draws, weighs and averages, O(draws · n · D · number of β).
///
///   Accuracy    of one draw: about (n/1024 + 1024) roundings in a sum, and β T roundings in a
///               weight.
///   Properties  (1) one draw is the plain double loop over an explicit matrix of keys and V k_j.
///               (2) the same bytes for any number of threads.
///               (3) V acts on mean and bias, and on the covariance from both sides.
///               (4) β = 0: w_j = 1/n, Σw² = 1/n, entropy log n, and no bias.
///               (5) keys with density f on S^{d−1} obey, at any n and β,
///                   (d − 1) E⟨q, Σ w_j k_j⟩ = β E Σ w_j(1 − w_j)|k_j⊥|²
///                                             + E Σ w_j⟨q − U_j k_j, ∇log f(k_j)⟩.
///               (6) uniform keys: E|⊥|² = E Σ w_j²|k_j⊥|².
///   Reference   [SL]; the bias is that of a ratio of means [Cochran 1977].
[[nodiscard]] std::vector<KeyOutputMoments> key_output(const scores::KeyLaw& law,
                                                       const KeyOutput& question,
                                                       const RunContext& context = {});

}  // namespace dewpoint::experiments
