// Softmax over independent Gaussian scores: the random energy model.
//
// N scores are independent N(0, σ²), Z = Σ_j e^{βs_j}. Only βσ matters, so σ = 1 below. With
// L = log N the model freezes at β_c = √(2L); the load is t = β/β_c.
//
//     t < 1    the weights spread over N^{1−t²} keys, and log Z is not random: L(1 + t²)
//     t > 1    a few keys hold everything (poisson_dirichlet.hpp), and log Z ≈ β max_j s_j
//
// The approach to these limits is as slow as 1/log N, so this file has three kinds of functions:
// means that are exact at finite N (random_energy_means), laws with their first finite-size
// correction, whose names end in _law, and what a paper prints where that differs (published_). The
// corrections come from the edge b_N, Φ̄(b_N) = 1/N, which is smaller than √(2L): above freezing the
// right load is t_e = β/b_N > t. The largest weight at finite N is in gaussian_extremes.hpp.
//
// Everything takes L, so that N = 1e300 costs nothing.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

namespace dewpoint::theory {

// ---- constants ------------------------------------------------------------------------------

/// b_N, the score that one of N exceeds on average, Φ̄(b_N) = 1/N.
///
///   Domain      log N > 0.
///   Accuracy    that of normal::upper_quantile, 4e-15.
///   Properties  (1) 3.090232 at N = 1e3; 37.047096 at N = 1e300.
///   Reference   [Gumbel 1958].
[[nodiscard]] double edge_score(double log_n);

/// The beginning of its expansion, √(2L) − (log L + log 4π)/(2√(2L)).
///
///   Domain      log N > 0.
///   Accuracy    as b_N, O(log² L/L^{3/2}).
///   Properties  (1) 3.116470 at N = 1e3; 37.047228 at N = 1e300.
[[nodiscard]] double edge_score_expansion(double log_n);

/// β_c = √(2L)/σ, where the model freezes.
///
///   Domain      log N ≥ 0, σ > 0.
///   Accuracy    2 units in the last place.
///   Properties  (1) the annealed free energy touches β√(2L) there and nowhere else.
///   Reference   [Derrida 1981]; [A condensation crossover in softmax attention, Eq (9)].
[[nodiscard]] double freezing_beta(double log_n, double deviation = 1.0);

/// t_e = β/b_N at β = t√(2L), the load that limits above freezing should be taken at.
///
///   Domain      log N > 0, t ≥ 0.
///   Accuracy    4e-15, relative.
///   Properties  (1) t_e > t, and t_e → t as N → ∞.
[[nodiscard]] double edge_load(double log_n, double load);

// ---- exact at finite N ----------------------------------------------------------------------

struct RandomEnergyMeans {
  double normalisation;           // E Σw: its distance from 1 measures the quadrature
  double log_partition;           // E log Z, the quenched free energy
  double log_partition_variance;  // Var log Z; rounding where it is below 1e-11, even negative
  double participation;           // E Σw²
  double entropy;                 // −E Σ w log w
};

/// Means over N Gaussian scores, by quadrature. With an independent Gumbel variable G,
///
///     P(log Z + G ≤ y) = E exp(−Z e^{−y}) = (1 − m(y))^N,      m(y) = E[1 − e^{−z}], z = e^{βs−y},
///
/// so moments of log Z are those of log Z + G less those of G, and
///
///     E Σw² = N ∫ E[z² e^{−z}] (1 − m)^{N−1} dy,      E Σ w s = β (1 − E Σw²),
///
/// the second by Gaussian integration by parts; it gives the entropy, E log Z − β E Σ w s.
///
///   Domain      0 ≤ log N ≤ 700, 0.001 ≤ β ≤ 20 max(1, √(2 log N)).
///   Accuracy    kRandomEnergyError (1 + |value|), of the participation relative, of the entropy
///               kRandomEnergyError (1 + H + β²).
///   Properties  (1) the normalisation is 1.
///               (2) N = 1: log Z = βs has mean 0 and variance β²; Σw² = 1.
///               (3) N = 2: E log Z = E log(2 cosh(βs/√2)), E Σw² = E (1 + tanh²(βs/√2))/2.
///               (4) equal the means over samples.
///               (5) E log Z ≤ annealed_free_energy.
///   Reference   derived here; the integration by parts is [Derrida 1981]'s energy.
[[nodiscard]] RandomEnergyMeans random_energy_means(double log_n, double inverse_temperature);

inline constexpr double kRandomEnergyError = 1e-11;

// ---- free energy ----------------------------------------------------------------------------

/// log E Z = L + β²/2 = L(1 + t²), exactly.
///
///   Domain      log N ≥ 0, t ≥ 0.
///   Accuracy    3 units in the last place.
///   Properties  (1) at least E log Z.
///   Reference   [A condensation crossover in softmax attention, Eq (6)].
[[nodiscard]] double annealed_free_energy(double log_n, double load);

/// E log Z to the first order in finite size,
///
///     t ≤ 1:   L(1 + t²) + log Φ((1 − t)√(2L))                 at t = 1, where Z/E Z → 1/2: −log 2
///     t > 1:   βb_N + t_e log Γ(1 − 1/t_e) + γ_E (t_e − 1)      β = t√(2L), t_e = β/b_N.
///
/// The second is the mean logarithm of a 1/t_e-stable variable. The two branches do not join: near
/// t = 1 neither is more than a guide, and random_energy_means is exact.
///
///   Domain      log N ≥ 1, t ≥ 0.
///   Accuracy    a law. t < 1: tends to E log Z as N → ∞. t > 1: misses
///               free_energy_correction(t_e)/b_N², and what then remains is O(b_N⁻⁴).
///   Properties  (1) values at N = 1e4, 1e6, 1e30, 1e300.
///               (2) the accuracy just stated.
///   Reference   [Bovier, Kurkova and Löwe 2002] for the limits; corrections derived here.
[[nodiscard]] double quenched_free_energy_law(double log_n, double load);

/// What the law above misses for t > 1, times b_N². The k-th score is b + G/b − (G + G²/2)/b³ + ...
/// with G = −log Γ_k; for a key drawn by its weight G = α log X − log E + log Γ(1−α) with α =
/// 1/t_e, X ~ Gamma(1−α) and E exponential, independent, so
///
///     −t_e [μ + (μ² + v)/2],    μ = αψ(1−α) + γ_E + log Γ(1−α),    v = α²ψ'(1−α) + π²/6.
///
///   Domain      t_e > 1.
///   Accuracy    relative error 1e-13 t_e/(t_e − 1).
///   Properties  (1) property (2) above.
///   Reference   derived here.
[[nodiscard]] double free_energy_correction(double edge_load);

/// Standard deviation of log Z for t > 1, (π/√6) √(t_e² − 1): of order 1, not β.
///
///   Domain      log N ≥ 1; 0 for t_e ≤ 1.
///   Accuracy    a law, with an error of O(b_N⁻²).
///   Properties  (1) 2.296 at N = 1e30, t = 2.
///               (2) within O(b_N⁻²) of the exact deviation.
///   Reference   the 1/t-stable law; derived here.
[[nodiscard]] double free_energy_deviation_law(double log_n, double load);

// ---- weights --------------------------------------------------------------------------------

/// log E w_max below freezing,
///
///     E w_max ≈ N^{−(1−t)²} (4πL)^{−t/2} Γ(1 − t).
///
///   Domain      log N > 0, 0 ≤ t < 1.
///   Accuracy    a law: relative error of order t log² L/L for t ≤ 1/2. Near t = 1 it converges
///               slowly, because rare rows carry Γ(1−t).
///   Properties  (1) t = 0: 1/N.
///               (2) tends to the exact mean at finite N (gaussian_extremes.hpp).
///   Reference   derived here; exponent [A condensation crossover in softmax attention, Eq (11)].
[[nodiscard]] double log_largest_weight_law(double log_n, double load);

/// The same as printed, N^{−(1−t)²} without its prefactor: too large by 1.4 to 10.
///
///   Reference   [A condensation crossover in softmax attention, below Eq (11)], errata row 21.
[[nodiscard]] double published_log_largest_weight(double log_n, double load);

/// E log w_max below freezing, the typical rather than the mean weight,
///
///     −(1 − t)² L − (t/2) log(4πL) + tγ_E.
///
///   Domain      log N > 0, 0 ≤ t < 1.
///   Accuracy    a law with an error of O(log² L/L).
///   Properties  (1) t = 0: −L.
///               (2) at most log_largest_weight_law (Jensen).
///   Reference   derived here.
[[nodiscard]] double mean_log_largest_weight_law(double log_n, double load);

/// log E Σw² well below freezing, E Σw² ≈ e^{β²}/N = N^{2t²−1}.
///
///   Domain      log N > 0, 0 ≤ t < 1/2; beyond, rare rows carry the mean.
///   Accuracy    a law: tends to the exact mean.
///   Properties  (1) the exact mean over it is 0.99999, 0.99975 and 0.98916 at N = 1e6 and
///                   t = 0.2, 0.3 and 0.4, and tends to 1.
///   Reference   the second moment of Z; derived here.
[[nodiscard]] double log_participation_law(double log_n, double load);

/// The mean entropy as N → ∞: L(1 − t²) below freezing, ψ(1) − ψ(1 − 1/t) above.
///
///   Domain      log N ≥ 0, t ≥ 0, t ≠ 1.
///   Accuracy    a law. Below, an error of o(1) at fixed t; above, take t = t_e.
///   Properties  (1) t = 0: L. t = 2: 2 log 2.
///               (2) tends to the exact mean.
///   Reference   [Derrida 1981] and [Gross and Mézard 1984].
[[nodiscard]] double entropy_law(double log_n, double load);

// ---- one planted key ------------------------------------------------------------------------

/// The weight of a key of score m among noise, w_* = 1/(1 + Z e^{−βm}).
///
///   Domain      any log Z and any product βm.
///   Accuracy    relative error of a few units in the last place of max(1, |log Z − βm|).
///   Properties  (1) 1/2 at log Z = βm; adds up to 1 with the weight of the noise.
///   Reference   [A condensation crossover in softmax attention, Eq (14)].
[[nodiscard]] double planted_weight(double log_partition, double scaled_score);

/// The same as printed for t < 1, exp(βm − L − β²/2) at β = t√(2L) and m = s√(2L): above 1 once the
/// key is retrieved.
///
///   Reference   [A condensation crossover in softmax attention, below Eq (14)], errata row 22.
[[nodiscard]] double published_planted_weight(double log_n, double load, double signal);

/// lim log w_*/log N for a planted score m = s√(2L),
///
///     min(0, 2ts − 1 − t²) for t ≤ 1,      min(0, 2t(s − 1)) for t ≥ 1.
///
///   Domain      t ≥ 0, s ≥ 0.
///   Accuracy    a few units in the last place.
///   Properties  (1) continuous at t = 1.
///               (2) 0 exactly when s ≥ retrieval_signal(t).
///               (3) for s < 1 largest at t = s, where it is −(1 − s²).
///   Reference   derived here from [A condensation crossover in softmax attention].
[[nodiscard]] double retrieval_exponent(double load, double signal);

/// s_c(t), the least signal that is retrieved: (1 + t²)/(2t) for t ≤ 1 and 1 for every t ≥ 1.
///
///   Domain      t > 0.
///   Accuracy    2 units in the last place.
///   Properties  (1) least at t ≥ 1: no temperature retrieves a score below √(2L).
///   Reference   as above: t ≤ 1 is its m = L/β + βσ²/2; t ≥ 1 holds beyond its hard limit.
[[nodiscard]] double retrieval_signal(double load);

/// The least load that retrieves a signal s ≥ 1, s − √(s² − 1); nullopt for s < 1: none does.
///
///   Domain      s ≥ 0.
///   Accuracy    4 units in the last place.
///   Properties  (1) inverts retrieval_signal on t ≤ 1.
///   Reference   derived here.
[[nodiscard]] std::optional<double> retrieval_load(double signal);

/// A load where the exponent is largest, min(s, 1). For s < 1 the only one, β = m: colder than
/// that, attention condenses on the noise. For s ≥ 1 any load above retrieval_load does; t = 1 is
/// the one that does for every such s.
///
///   Domain      s ≥ 0.
///   Properties  (1) no load has a larger exponent.
///   Reference   derived here.
[[nodiscard]] double best_load(double signal);

}  // namespace dewpoint::theory
