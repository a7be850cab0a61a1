// Results of our own: which multiplier of the logits keeps a layer at its transition as the context
// grows. On a simplex it is log n, on a sphere of few dimensions n^{2/(d−1)}.
//
// On a sphere the odds of all others against the token itself, R = Σ_j e^{−β(1 − ⟨y, y_j⟩)}, have
// with Λ the average of e^{β⟨y, u⟩} over the sphere
//
//     E R = (n − 1) e^{−β} Λ(β) = m,     Var R ≤ (n − 1) e^{−2β} Λ(2β) = v,
//
// and the weight of a token on itself is 1/(1 + R). From 1/(1 + R) = 1/(1 + m) − (R − m)/(1 + m)² +
// (R − m)²/((1 + m)² (1 + R)) it is on average between 1/(1 + m) and 1/(1 + m) + v/(1 + m)².
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>
#include <string>

#include "dewpoint/claims/compare.hpp"
#include "dewpoint/claims/lists.hpp"
#include "dewpoint/experiments/phase.hpp"
#include "dewpoint/scaling/schedule.hpp"
#include "dewpoint/theory/critical_line.hpp"
#include "dewpoint/theory/critical_scales.hpp"
#include "dewpoint/theory/simplex.hpp"
#include "dewpoint/theory/sphere_average.hpp"

namespace dewpoint::claims {
namespace {

// Weights in float32: exponents up to 60, whose error they pass on.
constexpr double kWeightError = 64.0 * 0x1p-23;

// How much a law multiplies what was critical at n0.
double growth(const std::string& law, double n0, double n) {
  const scaling::Schedule schedule = scaling::named_schedule(law, n0);
  return scaling::multiplier(schedule, n) / scaling::multiplier(schedule, n0);
}

Estimate weight_on_itself(const experiments::PhasePoint& point, const Setting& setting) {
  return experiments::phase_point(point, setting.context).variable("self_mass").cells[0];
}

// ---- the simplex --------------------------------------------------------------------------------

Evidence simplex(const Setting& setting) {
  constexpr double n0 = 64.0, rho = 0.5;
  const double n = setting.effort == Effort::full ? 2048.0 : 512.0;
  const double critical = theory::simplex_annealed_beta(std::log(n0), 1.0 - rho);
  Evidence evidence;
  evidence.parameters = fmt::format("n = {}, ρ = {}, critical at {} tokens", n, rho, n0);
  for (const char* law : {"constant", "sqrt-log", "ssmax", "yarn"}) {
    experiments::PhasePoint point;
    point.cloud.law = "simplex";
    point.cloud.n = static_cast<std::size_t>(n);
    point.cloud.rho = rho;
    point.inverse_temperature = critical * growth(law, n0, n);
    point.norm.reset();
    const double predicted =
        theory::simplex_weights(std::log(n), point.inverse_temperature, rho).self;
    evidence.statement.push_back(equal(fmt::format("weight on itself, {}", law), predicted,
                                       weight_on_itself(point, setting).mean,
                                       kWeightError * predicted));
  }
  return evidence;
}

// ---- the sphere ---------------------------------------------------------------------------------

struct Bounds {
  double lower, upper;
};

Bounds bounds_of_weight(double n, int dimension, double beta) {
  const theory::SphereAverage average(dimension);  // log E e^{β(G − 1)}
  const double m = (n - 1.0) * std::exp(average.log(beta));
  const double v = (n - 1.0) * std::exp(average.log(2.0 * beta));
  return {1.0 / (1.0 + m), 1.0 / (1.0 + m) + v / ((1.0 + m) * (1.0 + m))};
}

Evidence sphere(const Setting& setting) {
  constexpr double n0 = 1024.0;
  constexpr int d = 8;
  const double n = setting.effort == Effort::full ? 262144.0 : 65536.0;
  const double critical = theory::sphere_critical_inverse_temperature(std::log(n0), d);
  Evidence evidence;
  evidence.parameters =
      fmt::format("n = {}, d = {}, critical at {} tokens, 4 clouds, 512 queries each", n, d, n0);
  for (const char* law : {"power:d=8", "ssmax", "constant"}) {
    experiments::PhasePoint point;
    point.cloud.law = "sphere";
    point.cloud.n = static_cast<std::size_t>(n);
    point.cloud.d = d;
    point.inverse_temperature = critical * growth(law, n0, n);
    point.rows = 512;
    point.norm.reset();
    point.replication.replicas = 4;
    point.seed = setting.seed;
    const auto [lower, upper] = bounds_of_weight(n, d, point.inverse_temperature);
    const Estimate weight = weight_on_itself(point, setting);
    const std::string quantity = fmt::format("weight on itself, {}", law);
    evidence.statement.push_back(
        {quantity, lower, Relation::at_least, weight, kWeightError * lower});
    evidence.statement.push_back(
        {quantity, upper, Relation::at_most, weight, kWeightError * upper});
  }
  return evidence;
}

}  // namespace

std::vector<Claim> length_claims() {
  return {
      {"length.simplex", "Dewpoint, findings",
       "On a simplex log n keeps the weight of a token on itself near 1/2, and slower laws lose "
       "it.",
       simplex},
      {"length.sphere", "Dewpoint, findings",
       "On a sphere of 8 dimensions n^{2/(d−1)} keeps the weight of a token on itself, and log n "
       "loses it.",
       sphere},
  };
}

}  // namespace dewpoint::claims
