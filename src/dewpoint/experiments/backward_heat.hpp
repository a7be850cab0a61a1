// Attention run backwards: keys with a density f pull the query up the gradient of log f, and
// tokens that all attend to each other sharpen their own density.
//
// For keys with density f on the sphere, the part of Σ w_j k_j that is orthogonal to the query q
// tends, as n grows, to (1/β)∇log f(q) + O(β⁻²): a step of the heat equation with its time
// reversed. Two experiments show it.
//
//   Drift       n random keys. The mean of the tangential output is the signal, its scatter over
//               draws the noise, and only while n is large for β is the signal the larger one.
//   Harmonics   particles on the circle or the sphere, placed without randomness so that their
//               density is 1 ± ε × (a harmonic of degree ℓ), all moved at once by
//
//                   q' = N((1 − η) q + η Σ_j w_j(q) q_j),       N(x) = x/|x|,
//
//               and the amplitude of the harmonic is compared before and after.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <limits>
#include <span>
#include <vector>

#include "dewpoint/core/estimate.hpp"
#include "dewpoint/core/run_context.hpp"
#include "dewpoint/experiments/key_output.hpp"
#include "dewpoint/scores/keys.hpp"

namespace dewpoint::experiments {

// ---- drift ----------------------------------------------------------------------------------

/// At one β, with g = ∇log f(q) and o = Σ w_j k_j.
struct HeatDrift {
  double inverse_temperature = 0.0;
  Estimate along_gradient;   // ⟨o, g⟩/|g|
  Estimate relative_drift;   // β⟨o, g⟩/|g|²: 1 to first order in 1/β
  Estimate noise;            // E|o_⊥ − E o_⊥|²
  Estimate noise_to_signal;  // noise/(|g|/β)²
  Estimate gap;              // 1 − ⟨q, o⟩
};

/// The drift of a query at e_1 among keys of this law, whose ∇log f(q) is `gradient` (D entries,
/// the first of them 0). The question's value matrix must be the identity.
///
///   Domain      |g| > 0; otherwise as key_output. Throws Error{bad_value} as key_output does.
///   Properties  (1) von Mises-Fisher keys: the mean of o is A_d(ρ)(βq + κμ)/ρ, ρ = |βq + κμ|, up
///                   to the bias that key_output estimates.
///               (2) noise/signal is (β/β_heat)^{(d+1)/2} while 1 ≪ β ≪ β*.
///               (3) the same bytes for any number of threads.
///   Reference   [SL]; mean shift, [Fukunaga and Hostetler 1975].
[[nodiscard]] std::vector<HeatDrift> heat_drift(const scores::KeyLaw& law,
                                                std::span<const double> gradient,
                                                const KeyOutput& question,
                                                const RunContext& context = {});

// ---- harmonics ------------------------------------------------------------------------------

enum class Manifold { circle, sphere };  // S¹ and S²

struct HarmonicGrowth {
  Manifold manifold = Manifold::circle;
  std::size_t particles = 3000;              // more of them resolve larger β and ℓ
  double amplitude = 1e-4;                   // ε; growth is linear up to a relative error of ε²
  double attention_share = 1.0;              // η; the rest is the residual connection
  std::size_t steps = 1;                     // attention steps, one after the other
  std::vector<double> inverse_temperatures;  // β
  std::vector<std::size_t> degrees;          // ℓ
};

/// Growth factors of one harmonic at one β, step after step. Nothing is random.
struct GrowthFactors {
  double inverse_temperature = 0.0;
  std::size_t degree = 0;
  std::vector<double> factors;
};

/// Throws Error{bad_value} naming the field: particles not in [16, 100000], ε not in (0, 0.01], η
/// not in (0, 1], steps < 1, β not above 0 or 1 − η + ηβ < 0.01, ℓ < 1, or too few particles to
/// resolve β and ℓ.
void check(const HarmonicGrowth& question);

/// Every β with every ℓ, O(particles²) per step.
///
/// Particles sit at the quantiles of the density: on the circle at equal probabilities of 1 ± ε cos
/// ℓφ, on the sphere on Fibonacci's spiral with heights at equal probabilities of 1 ± ε P_ℓ(z). The
/// amplitude is the mean of cos ℓφ or P_ℓ(z), and the difference of both signs is followed: what a
/// finite number of particles and second order in ε add is the same for both.
///
///   Accuracy    circle: the square of the amplitude before the step, ε² for the first, plus
///               kGrowthRoundings/ε. Sphere: kEmpiricalSpiralError.
///   Properties  (1) one step multiplies the amplitude by
///                   G = 1 + ηℓ(ℓ + d − 2) r_ℓ/[β(1 − η + η r_1)], r_ℓ = I_{d/2−1+ℓ}/I_{d/2−1}(β).
///               (2) so does every further step.
///               (3) the same bytes for any number of threads.
///   Reference   r_ℓ by the formula of Funk and Hecke.
[[nodiscard]] std::vector<GrowthFactors> harmonic_growth(const HarmonicGrowth& question,
                                                         const RunContext& context = {});

/// Roundings of the positions of particles, which an amplitude of order ε sees 1/ε times as large.
inline constexpr double kGrowthRoundings = 64.0 * std::numeric_limits<double>::epsilon();

/// Largest error of the first growth factor on the sphere for 6000 particles, β = 20, 50, 200 and
/// ℓ ≤ 8, where 2.6e-6 was seen (November 2026): the spiral is uneven at its poles. It grows with
/// ℓ, from 1e-8 at ℓ = 1.
inline constexpr double kEmpiricalSpiralError = 3e-6;

}  // namespace dewpoint::experiments
