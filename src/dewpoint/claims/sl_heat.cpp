// Scaling limits of long-context transformers: attention as a backward heat equation.
//
// The drift of one query is measured on key vectors with a density, the growth of harmonics on
// particles that all attend to each other (experiments/backward_heat.hpp), and the noise that hides
// the drift on the sampler of one query (experiments/query.hpp).
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "dewpoint/claims/compare.hpp"
#include "dewpoint/claims/drawn_keys.hpp"
#include "dewpoint/claims/lists.hpp"
#include "dewpoint/experiments/backward_heat.hpp"
#include "dewpoint/experiments/key_output.hpp"
#include "dewpoint/scores/keys.hpp"
#include "dewpoint/theory/backward_heat.hpp"
#include "dewpoint/theory/sphere_clt.hpp"
#include "dewpoint/theory/sphere_moments.hpp"

namespace dewpoint::claims {
namespace {

// ---- drift ----------------------------------------------------------------------------------

// Von Mises-Fisher keys on S² around a centre one radian from the query.
constexpr int kSpace = 3;
constexpr double kConcentration = 3.0, kAngle = 1.0;

double steepness() { return kConcentration * std::sin(kAngle); }  // |∇log f(q)|

double log_density() {
  return theory::log_von_mises_fisher_density(kSpace, kConcentration, kAngle);
}

theory::DriftQuery drift_query(double n) {
  return {kSpace, std::log(n), log_density(), steepness()};
}

std::vector<experiments::HeatDrift> measured_drift(double n, std::size_t quick_draws,
                                                   std::vector<double> betas,
                                                   const Setting& setting) {
  const scores::VonMisesFisherKeys law(kSpace, {{kConcentration, kAngle, 1.0}});
  experiments::KeyOutput question;
  question.keys = static_cast<std::size_t>(n);
  question.draws = draws_of(setting, quick_draws);
  question.inverse_temperatures = std::move(betas);
  question.seed = setting.seed;
  const std::vector<double> gradient{0.0, steepness(), 0.0};
  return experiments::heat_drift(law, gradient, question, setting.context);
}

/// Drawn drift against its exact mean at infinite n. The bias of a ratio of sums is of relative
/// order 1/n_eff, n_eff = n f/R.
void compare_drawn_drift(const Setting& setting, Evidence& evidence) {
  constexpr double n = 4000.0;
  for (const auto& drift : measured_drift(n, 400, {10.0, 20.0, 40.0}, setting)) {
    const double beta = drift.inverse_temperature;
    const auto exact = theory::population_output({kSpace, beta, kConcentration, kAngle});
    const auto fluctuations =
        theory::sphere_fluctuations({kSpace, beta, std::log(n), log_density()});
    const double order = std::exp(-fluctuations.log_keys);
    evidence.statement.push_back(
        {fmt::format("β⟨ATT, ∇log f⟩/|∇log f|², n = 4000, β = {}, against n = ∞", beta),
         beta * exact.across / steepness(), Relation::equals, drift.relative_drift, 2.0 * order});
  }
}

Evidence drift(const Setting& setting) {
  Evidence evidence;
  evidence.parameters = fmt::format("von Mises-Fisher keys, d = 3, κ = 3, query at 1 rad; {} draws",
                                    draws_of(setting, 400));
  compare_drawn_drift(setting, evidence);
  // Relative to the first one, the coefficient of the k-th order is (κ + a)^{k−1} at most: the
  // second is κ cos φ + a.
  const double order = kConcentration + local_exponent(kSpace);
  for (const double beta : {1e3, 1e5}) {
    const theory::VonMisesFisherQuery query{kSpace, beta, kConcentration, kAngle};
    const double exact = theory::population_output(query).across;
    const double second = theory::population_output_expansion(query, 2).across;
    evidence.statement.push_back(
        equal(fmt::format("β ATT_⊥/|∇log f| at n = ∞, β = {:.0e}: 1", beta), 1.0,
              beta * exact / steepness(), order / beta));
    evidence.statement.push_back(
        equal(fmt::format("β²(ATT_⊥ − ∇log f/β) at n = ∞, β = {:.0e}: ∇(Δf/f)/2", beta),
              beta * (beta * second - steepness()), beta * (beta * exact - steepness()),
              steepness() * (order * order / beta + 64.0 * kEpsilon * beta)));
  }
  return evidence;
}

// ---- harmonics ------------------------------------------------------------------------------

/// The growth of one harmonic over one step, all particles at once.
double measured_growth(experiments::Manifold manifold, double beta, std::size_t degree,
                       const Setting& setting) {
  experiments::HarmonicGrowth question;
  question.manifold = manifold;
  question.particles = manifold == experiments::Manifold::circle ? 1500 : 6000;
  question.inverse_temperatures = {beta};
  question.degrees = {degree};
  return experiments::harmonic_growth(question, setting.context)[0].factors[0];
}

/// ε² of the amplitude 1e-4 and its roundings.
constexpr double kCircleError = 1e-8 + 1e4 * experiments::kGrowthRoundings;

Comparison exact_growth(experiments::Manifold manifold, double beta, int degree,
                        const Setting& setting) {
  const bool circle = manifold == experiments::Manifold::circle;
  const theory::HarmonicStep step{circle ? 2 : 3, degree, beta};
  return equal(fmt::format("growth of harmonic {} on the {}, β = {}", degree,
                           circle ? "circle" : "sphere", beta),
               theory::harmonic_growth(step),
               measured_growth(manifold, beta, static_cast<std::size_t>(degree), setting),
               circle ? kCircleError : experiments::kEmpiricalSpiralError);
}

/// log G/x on the circle, x = ℓ²/β: G = 1 + x e^{−x/2}(1 + O(1/β)), so that log G is
/// x − x² + O(x³) + O(x/β). Each remainder is allowed twice.
struct Logarithm {
  double over_x, x, error;
};

Logarithm growth_logarithm(std::size_t degree, const Setting& setting) {
  constexpr double beta = 1000.0;
  const double x = static_cast<double>(degree * degree) / beta;
  const double growth = measured_growth(experiments::Manifold::circle, beta, degree, setting);
  return {std::log(growth) / x, x, 2.0 * x + 2.0 / beta + kCircleError / x};
}

Comparison first_order(std::size_t degree, const Setting& setting) {
  const Logarithm measured = growth_logarithm(degree, setting);
  return equal(
      fmt::format("log G over x = ℓ(ℓ+d−2)/β = {}: heat backwards for a time 1/β", measured.x), 1.0,
      measured.over_x, measured.error);
}

/// e^{x/2} would undo the smoothing of the kernel.
Comparison twice_the_guess(std::size_t degree, const Setting& setting) {
  const Logarithm measured = growth_logarithm(degree, setting);
  return equal(
      fmt::format("log G over x/2, x = {}: twice what undoing the kernel would need", measured.x),
      2.0, 2.0 * measured.over_x, 2.0 * measured.error);
}

Evidence harmonics(const Setting& setting) {
  using experiments::Manifold;
  Evidence evidence;
  evidence.parameters = "1500 particles on the circle, 6000 on the sphere, amplitude 1e-4";
  evidence.statement = {exact_growth(Manifold::circle, 20.0, 1, setting),
                        exact_growth(Manifold::circle, 50.0, 5, setting),
                        exact_growth(Manifold::circle, 200.0, 8, setting),
                        exact_growth(Manifold::sphere, 50.0, 3, setting)};
  evidence.statement.push_back(first_order(2, setting));
  evidence.statement.push_back(twice_the_guess(3, setting));
  // At x = 2, where 1 + x e^{−x/2} is largest; O(d²/β).
  evidence.statement.push_back(
      equal("G at x = 2, β = 200: its largest value, 1 + 2/e", 1.0 + 2.0 / std::numbers::e,
            measured_growth(Manifold::circle, 200.0, 20, setting), 4.0 / 200.0));
  return evidence;
}

// ---- the second threshold -------------------------------------------------------------------

/// E|ATT_⊥|²/(|∇log f|/β)² at a multiple of β_heat, over draws of uniform keys, of which there are
/// n f as many. The law is one of large β, with an error of O(d²/β).
Comparison noise_at_threshold(int dimension, double multiple, const Setting& setting) {
  constexpr double n = 1e15;
  const theory::DriftQuery query{dimension, std::log(n), 0.0, steepness()};
  const double beta = multiple * std::exp(theory::log_heat_scale(query));
  auto question = key_query(dimension, n, {beta}, 1500, setting);
  question.unit = experiments::TemperatureUnit::beta;
  const Frame means = experiments::query(question, setting.context).means;
  const double signal = steepness() / beta;
  const double law = std::pow(multiple, local_exponent(dimension) + 1.0);
  return {fmt::format("noise²/signal² at {} β_heat, d = {}, n f = 1e15", multiple, dimension), law,
          Relation::equals,
          linear(means.variable("expected_scatter").cells[0], 1.0 / (signal * signal)),
          law * dimension * dimension / beta};
}

/// Vectors with the density itself: below the threshold the drift is seen, above it is not.
void compare_drawn_threshold(const Setting& setting, Evidence& evidence) {
  constexpr double n = 3000.0;
  const double heat = std::exp(theory::log_heat_scale(drift_query(n)));
  const auto drifts = measured_drift(n, 400, {heat / 3.0, 3.0 * heat}, setting);
  const Estimate& below = drifts[0].noise_to_signal;
  const Estimate& above = drifts[1].noise_to_signal;
  evidence.statement.push_back(
      {"noise²/signal² at β_heat/3 by 3000 key vectors", 0.5, Relation::at_most, below, 0.0});
  evidence.statement.push_back(
      {"signal²/noise² at 3 β_heat by 3000 key vectors",
       0.5,
       Relation::at_most,
       {1.0 / above.mean, above.standard_error / (above.mean * above.mean), above.samples},
       0.0});
}

Evidence heat_threshold(const Setting& setting) {
  Evidence evidence;
  evidence.parameters = fmt::format("|∇log f| = 2.5; {} draws at n f = 1e15, {} of vectors, d = 3",
                                    draws_of(setting, 1500), draws_of(setting, 400));
  for (const int dimension : {3, 5}) {
    for (const double multiple : {0.3, 1.0, 3.0}) {
      evidence.statement.push_back(noise_at_threshold(dimension, multiple, setting));
    }
  }
  compare_drawn_threshold(setting, evidence);
  return evidence;
}

}  // namespace

std::vector<Claim> sl_heat_claims() {
  return {
      {"sl.backward-heat", "SL, abstract",
       "Keys of density f pull the query by (1/β)∇log f: a step of the backward heat equation.",
       drift},
      {"sl.harmonics", "SL, abstract",
       "A harmonic grows by 1 + x r_ℓ/r_1, e^x to first order in x = ℓ(ℓ+d−2)/β, not e^(x/2).",
       harmonics},
      {"sl.heat-threshold", "next to SL, abstract",
       "The drift is seen below β_heat ∝ n^(2/(d+1)) only, far below β*.", heat_threshold},
  };
}

}  // namespace dewpoint::claims
