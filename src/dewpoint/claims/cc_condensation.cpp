// A condensation crossover in softmax attention (CC), Eq (5)-(12): free energies, the freezing
// point and the largest weight on either side of it.
//
// Limits in N are approached as 1/log N. Scores are therefore drawn at N up to 1e300 by the sampler
// that is exact in law, compared with means that are exact at the same N, and with the limit up to
// the difference between the two. What the paper prints imprecisely has rows of its own in
// docs/errata.md (19 to 22).
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <boost/math/special_functions/digamma.hpp>
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "dewpoint/claims/compare.hpp"
#include "dewpoint/claims/drawn_noise.hpp"
#include "dewpoint/claims/lists.hpp"
#include "dewpoint/experiments/condense.hpp"
#include "dewpoint/experiments/gaussian_scores.hpp"
#include "dewpoint/theory/gaussian_extremes.hpp"
#include "dewpoint/theory/poisson_dirichlet.hpp"
#include "dewpoint/theory/random_energy.hpp"

namespace dewpoint::claims {
namespace {

double squared(double x) { return x * x; }

// ---- free energies --------------------------------------------------------------------------

// True of every draw, so of their means, up to the rounding of sums over N scores and over draws.
Evidence partition_bounds(const Setting& setting) {
  const double loads[] = {0.1, 0.5, 1.0, 2.0, 10.0};
  experiments::GaussianScores question;
  question.scores = 4000;
  question.draws = draws_of(setting, 200);
  question.seed = setting.seed;
  const double log_n = std::log(4000.0);
  for (const double t : loads) question.softmaxes.push_back({t * theory::freezing_beta(log_n)});
  const auto means = experiments::gaussian_scores(question, setting.context);

  Evidence evidence;
  evidence.parameters = fmt::format("{} draws of N = 4000 scores, all of them", question.draws);
  for (std::size_t k = 0; k < question.softmaxes.size(); ++k) {
    const double lower = question.softmaxes[k].inverse_temperature * means.largest.mean;
    const double measured = means.softmaxes[k].log_partition.mean;
    const double rounding =
        kEpsilon * static_cast<double>(question.scores + question.draws) * (lower + log_n);
    evidence.statement.push_back(
        at_least(fmt::format("E log Z, t = {}: at least βM", loads[k]), lower, measured, rounding));
    evidence.statement.push_back(
        at_most(fmt::format("E log Z, t = {}: at most βM + log N", loads[k]), lower + log_n,
                measured, rounding));
  }
  return evidence;
}

// The sample knows its own error while the fourth moment of Z is carried by typical draws, which is
// 8t² < 1. The logarithm of a mean is biased by half the square of its relative error.
Evidence annealed(const Setting& setting) {
  experiments::Condense question = noise({1e3, 1e6, 1e30}, {0.2, 0.3}, 4000, setting);
  question.deviation = 2.5;
  const Frame frame = experiments::condense(question, setting.context);
  Evidence evidence;
  evidence.parameters = fmt::format("{} draws of scores with σ = 2.5", question.draws);
  for (std::size_t n = 0; n < question.n.size(); ++n) {
    for (std::size_t t = 0; t < question.loads.size(); ++t) {
      const double log_n = std::log(question.n[n]);
      const double beta = cell(frame, "inverse_temperature", {n, t}).mean;
      const double unit = 0.5 * squared(beta * question.deviation);
      const Estimate& measured = cell(frame, "log_mean_partition", {n, t});
      evidence.statement.push_back(
          compare(fmt::format("(log E Z − log N)/(β²σ²/2), N = {:.0e}, t = {}", question.n[n],
                              question.loads[t]),
                  1.0, Relation::equals, linear(measured, 1.0 / unit, -log_n / unit),
                  (partition_error(frame, n, t) + squared(measured.standard_error)) / unit));
    }
  }
  return evidence;
}

// A − Q is the integral of βσ² E Σw² over β: it grows with t, so its value at t = 1 bounds it below
// freezing.
Evidence quenched(const Setting& setting) {
  const auto question = noise({1e4, 1e300}, {0.5, 1.0}, 16'000, setting);
  const Frame frame = experiments::condense(question, setting.context);
  Evidence evidence;
  evidence.parameters = fmt::format("{} draws; A − Q → log 2 at t = 1", question.draws);
  for (std::size_t n = 0; n < question.n.size(); ++n) {
    const double log_n = std::log(question.n[n]);
    const double bulk = theory::annealed_free_energy(log_n, 0.5);
    const double gap = bulk - exact_means(log_n, 0.5).log_partition;
    evidence.statement.push_back(compare(
        fmt::format("E log Z over log N + β²/2, N = {:.0e}, t = 0.5", question.n[n]), 1.0,
        Relation::equals, linear(cell(frame, "log_partition", {n, 0}), 1.0 / bulk),
        (std::abs(gap) + partition_error(frame, n, 0) + theory::kRandomEnergyError * bulk) / bulk));
    const double at_freezing = 2.0 * log_n;
    const Estimate distance = linear(cell(frame, "log_partition", {n, 1}), -1.0, at_freezing);
    const double error =
        partition_error(frame, n, 1) + theory::kRandomEnergyError * (1.0 + at_freezing);
    evidence.statement.push_back(compare(
        fmt::format("A − Q at t = 1, N = {:.0e}, against its exact value", question.n[n]),
        at_freezing - exact_means(log_n, 1.0).log_partition, Relation::equals, distance, error));
    evidence.statement.push_back(
        compare(fmt::format("A − Q at t = 1, N = {:.0e}: at most log 2", question.n[n]),
                std::numbers::ln2, Relation::at_most, distance, error));
  }
  return evidence;
}

// ---- concentration --------------------------------------------------------------------------

// β Lipschitz gives β; the gradient is βw, so the Poincaré inequality gives β√(E Σw²); the truth
// above freezing is of order 1. Its law has neglected the terms of order b⁻³ in the scores: for
// large t, log Z = βM and M = b + G/b − (G + G²/2)/b³, which changes the deviation by the relative
// (1 + Cov(G, G²)/(2 Var G))/b² = (1 + γ_E + 6ζ(3)/π²)/b² = 2.31/b². Twice that covers t ≥ 2, where
// it is up to 2.52/b².
Evidence concentration(const Setting& setting) {
  const auto question = noise({1e6, 1e300}, {0.2, 2.0, 5.0}, 16'000, setting);
  const Frame frame = experiments::condense(question, setting.context);
  Evidence evidence;
  evidence.parameters = fmt::format("{} draws of N = 1e6 and of N = 1e300", question.draws);
  const double short_log = std::log(1e6), long_log = std::log(1e300);
  for (const std::size_t t : {0U, 1U, 2U}) {
    const double beta = cell(frame, "inverse_temperature", {0, t}).mean, load = question.loads[t];
    const theory::RandomEnergyMeans exact = exact_means(short_log, load);
    const Estimate& deviation = cell(frame, "log_partition_deviation", {0, t});
    const double error = partition_error(frame, 0, t);
    const std::string name = fmt::format("deviation of log Z, N = 1e6, t = {}", load);
    evidence.statement.push_back(
        compare(name + ": at most βσ", beta, Relation::at_most, deviation, error));
    evidence.statement.push_back(compare(name + ": at most βσ√(E Σw²)",
                                         beta * std::sqrt(exact.participation), Relation::at_most,
                                         deviation, error));
    evidence.statement.push_back(
        compare(name + ", exactly", std::sqrt(exact.log_partition_variance), Relation::equals,
                deviation, error + theory::kRandomEnergyError * (1.0 + short_log)));
  }
  const double missed =
      2.0 * edge_remainder(long_log) *
      (1.0 + std::numbers::egamma + 6.0 * std::riemann_zeta(3.0) / squared(std::numbers::pi));
  for (const std::size_t t : {1U, 2U}) {
    const double law = theory::free_energy_deviation_law(long_log, question.loads[t]);
    evidence.statement.push_back(compare(
        fmt::format("deviation of log Z, N = 1e300, t = {}: (π/√6)√(t_e² − 1)", question.loads[t]),
        law, Relation::equals, cell(frame, "log_partition_deviation", {1, t}),
        law * missed + partition_error(frame, 1, t)));
  }
  return evidence;
}

// ---- the freezing point ---------------------------------------------------------------------

/// b (E Σ w s − b) as N → ∞ above freezing, with α = 1/t_e: the derivative of
/// t log Γ(1 − 1/t) + γ_E (t − 1), since E Σ w s is that of E log Z by β.
double frozen_score_shift(double edge_load) {
  const double a = 1.0 / edge_load;
  return std::lgamma(1.0 - a) + a * boost::math::digamma(1.0 - a) + std::numbers::egamma;
}

// E Σ w s = dQ/dβ is βσ² (1 − E Σw²): βσ² below freezing; above, the scores that count are those at
// the edge, σ(b + shift/b). An error of log Z is one of the weights, relative.
Evidence freezing_point(const Setting& setting) {
  experiments::Condense question = noise({1e300}, {0.5, 0.8, 1.5, 2.0, 4.0}, 2000, setting);
  question.deviation = 2.5;
  const Frame frame = experiments::condense(question, setting.context);
  const double log_n = std::log(1e300), root = theory::freezing_beta(log_n);
  const double edge = theory::edge_score(log_n);
  Evidence evidence;
  evidence.parameters = fmt::format("{} draws of N = 1e300 scores with σ = 2.5", question.draws);
  for (std::size_t t = 0; t < question.loads.size(); ++t) {
    const double load = question.loads[t], edge_load = theory::edge_load(log_n, load);
    const bool frozen = load > 1.0;
    const double leading = frozen ? 2.0 * load : 1.0 + squared(load);
    const double error = partition_error(frame, 0, t);
    evidence.statement.push_back(
        compare(fmt::format("E log Z/log N, t = {}: {}", load, frozen ? "2t" : "1 + t²"), leading,
                Relation::equals, linear(cell(frame, "log_partition", {0, t}), 1.0 / log_n),
                std::abs(exact_means(log_n, load).log_partition / log_n - leading) +
                    theory::kRandomEnergyError * leading + error / log_n));
    const double missed = frozen ? (root - edge) / root +
                                       2.0 * std::abs(frozen_score_shift(edge_load)) / (edge * root)
                                 : load * (exact_means(log_n, load).participation + error);
    evidence.statement.push_back(compare(
        fmt::format("E Σ w s/(σ√(2 log N)), t = {}: {}", load, frozen ? "1, stuck" : "t"),
        frozen ? 1.0 : load, Relation::equals,
        linear(cell(frame, "mean_score", {0, t}), 1.0 / (question.deviation * root)), missed));
  }
  return evidence;
}

// ---- the largest weight ---------------------------------------------------------------------

// E log w_max = −(1−t)² L − (t/2) log(4πL) + tγ_E + o(1): between L and 2L the second term leaves
// (t/2) log 2. Next come b_N's own expansion and (G + G²/2)/b³, t(E G + E G²/2)/b² in all; that b
// is the smaller one, at L.
Evidence diffuse_exponent(const Setting& setting) {
  const auto question = noise({1e30, 1e150, 1e300}, {0.2, 0.5, 0.8}, 4000, setting);
  const Frame frame = experiments::condense(question, setting.context);
  const double near = std::log(1e150), far = std::log(1e300);
  const double second = std::numbers::egamma +
                        0.5 * (squared(std::numbers::pi) / 6.0 + squared(std::numbers::egamma));
  Evidence evidence;
  evidence.parameters = fmt::format("{} draws of N = 1e30, 1e150, 1e300", question.draws);
  for (std::size_t t = 0; t < question.loads.size(); ++t) {
    const double load = question.loads[t], log_n = std::log(question.n[0]);
    const Estimate low = cell(frame, "log_largest_weight", {1, t});
    const Estimate high = cell(frame, "log_largest_weight", {2, t});
    // The same random numbers at both N: adding the errors is more than enough.
    const Estimate slope = {(high.mean - low.mean) / (far - near),
                            (high.standard_error + low.standard_error) / (far - near),
                            high.samples};
    const double expansion =
        theory::freezing_beta(near) *
        std::abs(theory::edge_score(near) - theory::edge_score_expansion(near));
    const double missed =
        load * (0.5 * std::numbers::ln2 + 2.0 * (expansion + second * edge_remainder(near)));
    evidence.statement.push_back(
        compare(fmt::format("E log w_max over log N, from 1e150 to 1e300, t = {}: −(1−t)²", load),
                -squared(1.0 - load), Relation::equals, slope, missed / (far - near)));
    evidence.statement.push_back(
        compare(fmt::format("E log w_max, N = 1e30, t = {}, against its exact mean", load),
                exact_log_largest_weight(log_n, load), Relation::equals,
                cell(frame, "log_largest_weight", {0, t}),
                partition_error(frame, 0, t) + theory::kRandomEnergyError * (1.0 + 2.0 * log_n)));
  }
  return evidence;
}

Evidence fixed_temperature(const Setting& setting) {
  constexpr double beta = 4.0;
  Evidence evidence;
  evidence.parameters =
      fmt::format("β = {}, σ = 1; {} draws of each N", beta, draws_of(setting, 4000));
  double longest = 0.0;
  Estimate last;
  for (const double n : {1e3, 1e6, 1e12, 1e300}) {
    const double log_n = std::log(n), load = beta / theory::freezing_beta(log_n);
    const Frame frame = experiments::condense(noise({n}, {load}, 4000, setting), setting.context);
    longest = log_n;
    last = cell(frame, "log_largest_weight", {0, 0});
    evidence.statement.push_back(
        compare(fmt::format("E log w_max, N = {:.0e}, where t = {:.2f}", n, load),
                exact_log_largest_weight(log_n, load), Relation::equals, last,
                partition_error(frame, 0, 0) + theory::kRandomEnergyError * (1.0 + 2.0 * log_n)));
  }
  evidence.statement.push_back(compare("E log w_max, N = 1e300: at most −½ log N", -0.5 * longest,
                                       Relation::at_most, last, 0.0));
  return evidence;
}

/// One load above freezing: the exact mean at N = 1e4, the law at N = 1e300.
void compare_condensed(const Frame& frame, std::size_t t, Evidence& evidence) {
  const double load = frame.dimension("t").coordinates[t];
  const double short_log = std::log(1e4), long_log = std::log(1e300);
  const double edge_load = theory::edge_load(long_log, load);
  evidence.statement.push_back(
      compare(fmt::format("E w_max, N = 1e4, t = {}, against its exact mean", load),
              theory::mean_largest_weight(short_log, load * theory::freezing_beta(short_log)),
              Relation::equals, cell(frame, "largest_weight", {0, t}),
              cell(frame, "largest_weight_bound", {0, t}).mean + theory::kLargestWeightError));
  evidence.statement.push_back(
      compare(fmt::format("E w_max, N = 1e300, t = {}: Poisson-Dirichlet", load),
              theory::poisson_dirichlet_largest_weight(edge_load), Relation::equals,
              cell(frame, "largest_weight", {1, t}),
              cell(frame, "largest_weight_bound", {1, t}).mean + edge_remainder(long_log)));
  // Σw² follows from Σ w s, which is b + shift/b; w² is off by twice what w is.
  evidence.statement.push_back(
      compare(fmt::format("E Σw², N = 1e300, t = {}: 1 − 1/t_e", load),
              theory::poisson_dirichlet_participation(edge_load), Relation::equals,
              cell(frame, "participation", {1, t}),
              2.0 * std::abs(frozen_score_shift(edge_load)) / edge_load * edge_remainder(long_log) +
                  2.0 * cell(frame, "log_partition_bound", {1, t}).mean));
}

Evidence condensed_weight(const Setting& setting) {
  const auto question = noise({1e4, 1e300}, {0.8, 1.5, 2.0, 2.4}, 8000, setting);
  const Frame frame = experiments::condense(question, setting.context);
  Evidence evidence;
  evidence.parameters = fmt::format("{} draws of N = 1e4 and of N = 1e300", question.draws);
  evidence.statement.push_back(compare("E w_max, N = 1e300, t = 0.8: at most 0.001", 1e-3,
                                       Relation::at_most, cell(frame, "largest_weight", {1, 0}),
                                       0.0));
  for (std::size_t t = 1; t < question.loads.size(); ++t) compare_condensed(frame, t, evidence);
  return evidence;
}

// The error of a variance V from values in [0, 1] with mean μ: (x − μ)² ≤ max(μ, 1 − μ)² = c, so
// its own variance is at most (c − V) V. A square is off by twice what its root is.
Evidence many_winners(const Setting& setting) {
  constexpr double load = 2.0;
  const auto question = noise({1e100, 1e300}, {load}, 20'000, setting);
  const Frame frame = experiments::condense(question, setting.context);
  Evidence evidence;
  evidence.parameters = fmt::format("{} draws of N = 1e100 and of N = 1e300", question.draws);
  for (std::size_t n = 0; n < question.n.size(); ++n) {
    const Estimate& mean = cell(frame, "participation", {n, 0});
    const auto samples = static_cast<double>(mean.samples);
    const double variance = squared(mean.standard_error) * samples;
    const double farthest = squared(std::max(mean.mean, 1.0 - mean.mean));
    const double log_n = std::log(question.n[n]), edge_load = theory::edge_load(log_n, load);
    const double law = theory::poisson_dirichlet_participation_variance(edge_load);
    evidence.statement.push_back(compare(
        fmt::format("Var Σw², N = {:.0e}, t = {}: (1 − 1/t_e)/(3t_e)", question.n[n], load), law,
        Relation::equals,
        {variance, std::sqrt((farthest - variance) * variance / samples), mean.samples},
        2.0 * law * edge_remainder(log_n) + 2.0 * cell(frame, "log_partition_bound", {n, 0}).mean));
  }
  return evidence;
}

}  // namespace

std::vector<Claim> cc_claims() {
  return {
      {"cc.eq-5", "CC, Eq (5)", "βM ≤ log Z ≤ βM + log N, always.", partition_bounds},
      {"cc.eq-6", "CC, Eq (6)", "The annealed free energy is log N + β²σ²/2 at every N.", annealed},
      {"cc.eq-7", "CC, Eq (7)",
       "Up to freezing, E log Z is the annealed free energy up to o(log N): up to log 2.",
       quenched},
      {"cc.concentration", "CC, above Eq (7)",
       "log Z fluctuates by at most O(βσ): really by (π/√6)√(t²−1) above freezing.", concentration},
      {"cc.eq-9", "CC, Eq (8), (9)",
       "At β_c = √(2 log N)/σ log Z turns from log N + β²σ²/2 to βσ√(2 log N).", freezing_point},
      {"cc.eq-11", "CC, Eq (11)",
       "Below freezing w_max falls with the exponent (1−t)² (prefactor: erratum 21).",
       diffuse_exponent},
      {"cc.fixed-temperature", "CC, below Eq (11)", "At fixed β attention gets diffuse as N grows.",
       fixed_temperature},
      {"cc.eq-12", "CC, Eq (12)",
       "w_max vanishes below freezing and stays of order 1 above: Poisson-Dirichlet.",
       condensed_weight},
      {"cc.winners", "CC, above Eq (12)",
       "At fixed t > 1 there is no single winner, however many scores: weights stay random.",
       many_winners},
  };
}

}  // namespace dewpoint::claims
