// Scaling limits of long-context transformers: where attention becomes selective.
//
// Of this paper the abstract is examined, with the constants that it leaves open derived in
// theory/. The scale is measured as β_PR, where E Σw² = 1/2, on samplers that are exact in law at
// any n (experiments/query.hpp, dew.hpp) and on key vectors.
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "dewpoint/claims/compare.hpp"
#include "dewpoint/claims/drawn_keys.hpp"
#include "dewpoint/claims/lists.hpp"
#include "dewpoint/core/distributions/depth_distribution.hpp"
#include "dewpoint/core/distributions/sphere_gap.hpp"
#include "dewpoint/core/distributions/sphere_mixture_gap.hpp"
#include "dewpoint/experiments/dew.hpp"
#include "dewpoint/experiments/key_output.hpp"
#include "dewpoint/scores/keys.hpp"
#include "dewpoint/scores/law_names.hpp"
#include "dewpoint/theory/critical_scales.hpp"
#include "dewpoint/theory/critical_sphere.hpp"
#include "dewpoint/theory/finite_scores.hpp"
#include "dewpoint/theory/key_scales.hpp"
#include "dewpoint/theory/sphere_moments.hpp"

namespace dewpoint::claims {
namespace {

constexpr int kDimensions[] = {3, 5, 8};

/// How many draws at quick effort, and how many keys of each one by one.
struct DewEffort {
  std::size_t draws, top;
};

/// β_PR of a law by its name at several n, from the same random numbers for every law.
Frame dew_frame(const std::string& law, std::vector<double> n, DewEffort effort,
                const Setting& setting) {
  experiments::DewCurve question;
  question.n = std::move(n);
  question.draws = draws_of(setting, effort.draws);
  question.top = effort.top;
  question.seed = setting.seed;
  return experiments::dew_curve(*scores::score_law(law), question, setting.context);
}

const Estimate& last(const Frame& frame, const char* name) {
  return frame.variable(name).cells.back();
}

// ---- the critical scale ---------------------------------------------------------------------

/// Draws at n = 1e15: s.e. 0.6 % of E Σw² at quick effort.
constexpr std::size_t kDraws = 5000;

/// E Σw² at θ_½β* over draws: the sampler's bound on log Z counts twice in Σw².
Comparison half_participation(int dimension, const Setting& setting) {
  const double a = local_exponent(dimension), theta = theory::half_participation_theta(a);
  const auto question = key_query(dimension, kLongest, {theta}, kDraws, setting);
  const Frame means = experiments::query(question, setting.context).means;
  const double sampler = 2.0 * means.variable("log_partition_bound").cells[0].mean;
  const double length = length_error({theta, a}, unit_of(kLongest, dimension), kLongest);
  return {fmt::format("E Σw² at β = θ_½β*, d = {}, n = 1e15", dimension), 0.5, Relation::equals,
          means.variable("participation").cells[0], 0.5 * length + sampler};
}

/// d log β_PR/d log n between n = 1e12 and 1e15. A correction of the relative size e at the smaller
/// n shifts it by e/log 1e3 at most, and so do the roots, which are found to 1e-11.
Comparison growth_exponent(const std::string& law, double exponent, double length,
                           const Setting& setting) {
  const Frame frame = dew_frame(law, {1e12, kLongest}, {30, 128}, setting);
  return {fmt::format("d log β_PR/d log n, {}, n = 1e12 to 1e15", law), 1.0 / exponent,
          Relation::equals, last(frame, "slope_pr"), (length + 2e-11) / std::log(1e3)};
}

Evidence critical_scale(const Setting& setting) {
  Evidence evidence;
  evidence.parameters = fmt::format("uniform keys; {} draws at n = 1e15, exact means at n = 1e9",
                                    draws_of(setting, kDraws));
  for (const int d : kDimensions) {
    const double a = local_exponent(d), theta = theory::half_participation_theta(a);
    evidence.statement.push_back(half_participation(d, setting));
    evidence.statement.push_back(growth_exponent(fmt::format("sphere:d={}", d), a,
                                                 length_error({theta, a}, unit_of(1e12, d), 1e12),
                                                 setting));
    for (const double n : {1e9, kLongest}) {
      const double unit = unit_of(n, d),
                   exact = theory::participation_beta(SphereGap(d), std::log(n));
      evidence.statement.push_back(
          equal(fmt::format("β_PR/β*, d = {}, n = {:.0e}: θ_½", d, n), theta, exact / unit,
                theta * (length_error({theta, a}, unit, n) + theory::kCriticalScalesError)));
    }
  }
  return evidence;
}

// ---- densities and submanifolds -------------------------------------------------------------

constexpr double kConcentration = 5.0, kAngle = 0.8;  // of von Mises-Fisher keys, d = 5
constexpr const char* kDirected = "vmf:d=5,kappa=5,angle=0.8";

/// The density of those keys is f(1 + O(D t)) in the mean over a gap of t, where D is
/// |Δf/f| ≤ κ² + (d − 1)κ; nearest keys have t of order 1/β*, ten times that at most where it
/// matters.
double density_error(double unit) { return 10.0 * kConcentration * (kConcentration + 4.0) / unit; }

theory::KeyLaw directed_keys() {
  return theory::sphere_keys(5, theory::log_von_mises_fisher_density(5, kConcentration, kAngle));
}

/// β_PR over that of uniform keys with the same random numbers, so that chance cancels.
Comparison scale_of_density(const Setting& setting) {
  const double beta = last(dew_frame(kDirected, {kLongest}, {20, 128}, setting), "beta_pr").mean;
  const double uniform =
      last(dew_frame("sphere:d=5", {kLongest}, {20, 128}, setting), "beta_pr").mean;
  const double log_n = std::log(kLongest), log_unit = theory::log_key_unit(directed_keys(), log_n);
  const double ratio =
      std::exp(log_unit - theory::log_key_unit(theory::sphere_keys(5), log_n));  // f^{1/a}
  return equal("β_PR of keys with density f over that of uniform ones, d = 5, n = 1e15: f(q)^½",
               ratio, beta / uniform, ratio * density_error(std::exp(log_unit)));
}

Comparison exact_half() {
  const double log_n = std::log(kLongest), theta = theory::half_participation_theta(2.0);
  const double unit = std::exp(theory::log_key_unit(directed_keys(), log_n));
  const SphereMixtureGap gap(5, {{kConcentration, kAngle, 1.0}});
  return equal("E Σw² of keys with density f, d = 5, n = 1e15, β = θ_½ (f c n)^½, exact mean", 0.5,
               theory::finite_score_means(gap, {log_n, theta * unit}).participation,
               length_error({theta, 2.0}, unit, kLongest) + density_error(unit));
}

experiments::KeyOutputMoments vectors(const std::string& law, double n, double beta,
                                      const Setting& setting) {
  experiments::KeyOutput question;
  question.keys = static_cast<std::size_t>(n);
  question.draws = draws_of(setting, 4000);
  question.inverse_temperatures = {beta};
  question.seed = setting.seed;
  return experiments::key_output(*scores::key_law(law), question, setting.context)[0];
}

/// Key vectors with a density, against the exact mean at that n. β T rounds by β ε.
Comparison vectors_with_density(const Setting& setting) {
  constexpr double n = 500.0;
  const double unit = std::exp(theory::log_key_unit(directed_keys(), std::log(n)));
  const double beta = theory::half_participation_theta(2.0) * unit;
  const SphereMixtureGap gap(5, {{kConcentration, kAngle, 1.0}});
  return {"E Σw² of 500 key vectors with density f, d = 5, against its exact mean",
          theory::finite_score_means(gap, {std::log(n), beta}).participation, Relation::equals,
          vectors(kDirected, n, beta, setting).participation,
          theory::kFiniteScoresError + 16.0 * kEpsilon * (beta + n)};
}

/// Key vectors on a sphere S² in R¹⁶, seen by a query off by one radian: d = 3 at β cos α, where
/// the limit law is off by 1/n.
Comparison vectors_on_subsphere(const Setting& setting) {
  constexpr double n = 500.0, angle = 1.0;
  const double theta = theory::half_participation_theta(1.0);
  const double unit =
      std::exp(theory::log_key_unit(theory::great_subsphere_keys(2, angle), std::log(n)));
  return {"E Σw² of 500 key vectors on S² in R¹⁶, query off by 1 rad, β = θ_½ n/(2 cos 1)", 0.5,
          Relation::equals,
          vectors("subsphere:dim=2,ambient=16,angle=1", n, theta * unit, setting).participation,
          0.5 * length_error({theta, 1.0}, unit, n)};
}

Evidence local_exponent_decides(const Setting& setting) {
  Evidence evidence;
  evidence.parameters = "von Mises-Fisher keys, κ = 5, f(q) = 4.57; subspheres in R¹⁶; " +
                        fmt::format("{} draws of vectors", draws_of(setting, 4000));
  evidence.statement = {scale_of_density(setting), exact_half(), vectors_with_density(setting),
                        vectors_on_subsphere(setting)};
  for (const int intrinsic : {1, 2, 4}) {
    const double a = 0.5 * intrinsic, theta = theory::half_participation_theta(a);
    evidence.statement.push_back(
        growth_exponent(fmt::format("subsphere:dim={},ambient=16,angle=0.5", intrinsic), a,
                        length_error({theta, a}, unit_of(1e12, intrinsic + 1), 1e12), setting));
  }
  return evidence;
}

// ---- one definition -------------------------------------------------------------------------

/// The simplex, where nothing is random: roots are found to 1e-12.
void compare_simplex(Evidence& evidence, const Setting& setting) {
  constexpr double rho = 0.5;
  for (const double n : {1e3, kLongest}) {
    const Frame frame = dew_frame("simplex:rho=0.5", {n}, {2, 4}, setting);
    const double dew = theory::simplex_annealed_beta(std::log(n), 1.0 - rho);
    const double half = theory::simplex_participation_beta(std::log(n), 1.0 - rho);
    evidence.statement.push_back(equal(fmt::format("β_dew of a simplex, n = {:.0e}: log(n−1)/Δ", n),
                                       dew, last(frame, "beta_dew_median").mean, 1e-11 * dew));
    evidence.statement.push_back(
        equal(fmt::format("β_PR of a simplex, n = {:.0e}: (log(n−1) + log(1+√2))/Δ", n), half,
              last(frame, "beta_pr").mean, 1e-11 * half));
  }
}

/// β_PR over the hazard of the scores at their 1/n quantile, β_edge. Around its quantile b a
/// Gaussian law looks like the exponent a = b², up to terms of relative order 1/a².
void compare_edges(Evidence& evidence) {
  constexpr double log_n = 50.0;
  const NormalDepth gaussian;
  const double b = theory::tilted_mean_beta(gaussian, log_n).value(), a = b * b;
  evidence.statement.push_back(
      equal("β_PR/β_edge of Gaussian scores, log n = 50: θ_½(a)/a at a = b_n²",
            theory::half_participation_theta(a) / a,
            theory::participation_beta(gaussian, log_n) / theory::edge_beta(gaussian, log_n),
            4.0 / (a * a)));
  for (const int d : kDimensions) {
    const double exponent = local_exponent(d), theta = theory::half_participation_theta(exponent);
    const SphereGap gap(d);
    const double error = length_error({theta, exponent}, unit_of(kLongest, d), kLongest);
    evidence.statement.push_back(equal(
        fmt::format("β_PR/β_edge of uniform keys, d = {}, n = 1e15: θ_½(a)/a", d), theta / exponent,
        theory::participation_beta(gap, std::log(kLongest)) /
            theory::edge_beta(gap, std::log(kLongest)),
        2.0 * theta / exponent * (error + theory::kCriticalScalesError)));
  }
}

Evidence one_definition(const Setting& setting) {
  constexpr double n = 1e6;
  Evidence evidence;
  evidence.parameters = fmt::format(
      "β_PR, where E Σw² = 1/2: {} draws of Gaussian scores and {} "
      "of keys, d = 5, n = 1e6",
      draws_of(setting, 6000), draws_of(setting, kDraws));
  compare_simplex(evidence, setting);
  const Frame gaussian = dew_frame("gaussian:sigma=1", {n}, {6000, 32}, setting);
  const double scale = theory::participation_beta(NormalDepth(), std::log(n));
  evidence.statement.push_back({"β_PR of Gaussian scores, n = 1e6, against its exact value", scale,
                                Relation::equals, last(gaussian, "beta_pr"),
                                scale * 2.0 * last(gaussian, "rest_bound").mean});
  auto question =
      key_query(5, n, {theory::participation_beta(SphereGap(5), std::log(n))}, kDraws, setting);
  question.unit = experiments::TemperatureUnit::beta;
  const Frame sphere = experiments::query(question, setting.context).means;
  evidence.statement.push_back({"E Σw² of uniform keys at the exact β_PR, d = 5, n = 1e6", 0.5,
                                Relation::equals, sphere.variable("participation").cells[0],
                                2.0 * sphere.variable("log_partition_bound").cells[0].mean});
  compare_edges(evidence);
  return evidence;
}

}  // namespace

std::vector<Claim> sl_scale_claims() {
  return {
      {"sl.critical-scale", "SL, abstract",
       "Selectivity emerges at β* ≍ n^(2/(d−1)): there E Σw² is 1/2 at θ_½β*, whatever n.",
       critical_scale},
      {"sl.local-exponent", "SL, abstract",
       "The scale depends on the keys next to the query alone: density f(q), intrinsic dimension.",
       local_exponent_decides},
      {"sl.one-definition", "next to SL, abstract",
       "E Σw² = 1/2 defines one critical scale for simplex, Gaussian scores and sphere.",
       one_definition},
  };
}

}  // namespace dewpoint::claims
