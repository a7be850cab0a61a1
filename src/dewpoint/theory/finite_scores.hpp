// Softmax over n independent scores of any continuous law: means that are exact at finite n.
//
// The law of one score is given by its depth x, the distance below an origin (core's
// depth_distribution.hpp). With
//
//     Z = Σ_j e^{−βx_j},        w_j = e^{−βx_j}/Z,
//
// 1/Z^p = ∫ e^{py} exp(−e^y Z) dy/Γ(p), and given one key the others are independent, so that with
// z = e^{y−βx}
//
//     E Σ_j w_j^p h(x_j) = n ∫ dy (1 − m(y))^{n−1} E[z^p e^{−z} h(x)]/Γ(p),
//     m(y) = E[1 − e^{−z}].
//
// The expectations on the right are over one depth. They are the smoothed density and distribution
// function E f((y + G_p)/β) and E F((y + G_1)/β), G_p = −log Gamma(p), of the reference. Nothing is
// simulated and nothing tends to a limit: n may be 2 or 1e300, β diffuse or frozen, the law
// Gaussian (random_energy.hpp has the same numbers by another quadrature), a sphere
// (critical_sphere.hpp has the limit n → ∞ at β ~ n^{2/(d−1)}) or a mixture of keys.
//
// Both integrals are Gauss-Legendre sums over panels: the inner ones of depth_panels.hpp, the outer
// ones cut until log(nm) − (n − 1) log(1 − m), whose derivative governs the integrand, grows by at
// most a given amount across each.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "dewpoint/core/distributions/depth_distribution.hpp"

namespace dewpoint::theory {

/// Bounds of the domain of this file: n from 2 to 1e300, and β|t_n| ≤ kMostScaledDepth with t_n the
/// depth of probability 1/n. Beyond, attention is the best key and nothing else.
inline constexpr double kLeastFiniteLogScores = 0.6931;
inline constexpr double kMostFiniteLogScores = 691.0;
inline constexpr double kMostScaledDepth = 1e12;

/// How many scores, and how cold. Depths are doubles, so that exponents βx are known to ε βx only:
/// to the errors of this file add ε β|t_n|, ε = 2.2e-16, which counts from β|t_n| = 1e5 on.
struct FiniteScores {
  double log_n;                // log n
  double inverse_temperature;  // β > 0
};

/// E Σ_j w_j^p h(x_j) for a function h of the depth.
///
///   Domain      as FiniteScores, 1 ≤ p ≤ 16; h smooth and of at most polynomial growth. A kink of
///               h costs the accuracy. The law as for DepthPanels.
///   Accuracy    kFiniteScoresError times the same mean of |h|.
///   Properties  (1) p = 1, h = 1: 1.
///               (2) p = 1 and 2 with h = 1, x, x²: what finite_score_means has.
///               (3) n = 2: equals the double integral over both depths.
///   Reference   derived here.
[[nodiscard]] double finite_score_average(const DepthDistribution& law,
                                          const FiniteScores& question, double power,
                                          const std::function<double(double)>& function);

struct FiniteScoreMeans {
  double normalisation;           // E Σw: its distance from 1 measures the quadrature
  double depth;                   // E Σ w x
  double square_depth;            // E Σ w x²
  double participation;           // E Σ w²
  double participating_depth;     // E Σ w² x
  double participating_square;    // E Σ w² x²
  double entropy;                 // −E Σ w log w
  double log_partition;           // E log Z
  double log_partition_variance;  // Var log Z
};

/// All of them in one pass. The entropy is minus the derivative at p = 1, and the moments of log Z
/// are those of −y less Gumbel's, as E exp(−e^y Z) = (1 − m(y))^n = P(log Z + G ≤ −y).
///
///   Domain      as FiniteScores; the law as for DepthPanels.
///   Accuracy    relative error kFiniteScoresError of normalisation and participation, and of means
///               of depths relative to those of |x|; of entropy and log_partition
///               kFiniteScoresError (1 + |E log Z|), of the variance the square of the bracket.
///   Properties  (1) the normalisation is 1.
///               (2) entropy = E log Z + β E Σ w x.
///               (3) N(0, σ²): E Σ w x = −βσ² (1 − E Σw²), and participation, entropy and free
///                   energy are those of random_energy_means.
///               (4) uniform keys: (d−1) E⟨q, ATT⟩ = β E Σ w(1 − w)(1 − U²), where U = 1 − x.
///               (5) n = 2: equal double integrals over both depths.
///               (6) n → ∞ at β = θβ*: the means of critical_sphere.hpp.
///               (7) equal the means over samples.
///               (8) β → 0: 1/n, log n and the moments of one depth.
///   Reference   derived here; (4) by the divergence theorem on the sphere of each key.
[[nodiscard]] FiniteScoreMeans finite_score_means(const DepthDistribution& law,
                                                  const FiniteScores& question);

/// What attention puts out for uniform unit keys, which are also the values, at a unit query:
/// ATT = Σ w_j k_j with a part along the query and a part across it.
struct FiniteSphereOutput {
  double bias;     // 1 − E⟨q, ATT⟩ = E Σ w x
  double scatter;  // E|ATT_⊥|² = E Σ w² (1 − U²) = E Σ w² x (2 − x)
};

/// Both from the means over the law SphereGap(d).
///
///   Accuracy    relative error 3 kFiniteScoresError.
///   Properties  (1) β → 0: bias 1, scatter (1 − 1/d)/n.
[[nodiscard]] FiniteSphereOutput finite_sphere_output(const FiniteScoreMeans& means);

inline constexpr double kFiniteScoresError = 1e-11;

/// The mean of the largest weight. Given the least depth t,
///
///     E w_1 = n ∫ dF(t) ∫ ds e^{−s} [1 − F(t) − ∫_{x>t} (1 − e^{−s e^{−β(x−t)}}) dF(x)]^{n−1}.
///
///   Domain      as FiniteScores; the law as for DepthPanels.
///   Accuracy    relative error kFiniteLargestWeightError.
///   Properties  (1) E Σw² ≤ E w_1 ≤ √(E Σw²).
///               (2) N(0, σ²): mean_largest_weight of gaussian_extremes.hpp.
///               (3) n = 2: equals the double integral over both depths.
///               (4) n → ∞ at β = θβ*: critical_sphere_largest_weight.
///               (5) equals the mean over samples.
///               (6) β → 0: 1/n.
///   Reference   derived here.
[[nodiscard]] double finite_largest_weight(const DepthDistribution& law,
                                           const FiniteScores& question);

inline constexpr double kFiniteLargestWeightError = 1e-11;

}  // namespace dewpoint::theory
