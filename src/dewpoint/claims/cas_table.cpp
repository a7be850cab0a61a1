// Critical attention scaling, Table 1: what the scalings in use grow like, and where a model that
// is critical at its training length ends up when only the context grows.
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>
#include <string>

#include "dewpoint/claims/compare.hpp"
#include "dewpoint/claims/lists.hpp"
#include "dewpoint/experiments/phase.hpp"
#include "dewpoint/scaling/multiplier.hpp"
#include "dewpoint/theory/simplex.hpp"

namespace dewpoint::claims {
namespace {

constexpr double kRho = 0.5;
constexpr double kDimension = 64.0;       // of the law "power"
constexpr double kTrainingLength = 64.0;  // n_0: short, so that tokens can be written out beyond it

scaling::Schedule schedule(const std::string& name) {
  return scaling::compared_schedule(name, kTrainingLength, kDimension);
}

// β(n) of a model that is critical, β(1 − ρ) = log n, at its training length.
double inverse_temperature(const std::string& name, double log_n) {
  const double log_n0 = std::log(kTrainingLength);
  return log_n0 / (1.0 - kRho) * scaling::multiplier_at_log(schedule(name), log_n);
}

// m(n)/(n^length log^power n) at n = 1e300 against the constant it tends to. The square of
// YaRN's 1 + 0.1 log(n/n_0) = 0.1 log n (1 + e) has e = (10 − log n_0)/log n left at any n: 2e + e²
// ≤ 3e.
Comparison growth_comparison(const std::string& name) {
  const double log_n0 = std::log(kTrainingLength);
  const scaling::Growth order = scaling::growth(schedule(name));
  const double constant = name == "yarn"    ? 0.01
                          : name == "power" ? std::exp(-order.length * log_n0)
                                            : std::pow(log_n0, -order.logarithm);
  const double left = name == "yarn" ? std::abs(10.0 - log_n0) / kLargestLog : 0.0;
  const double measured =
      scaling::multiplier_at_log(schedule(name), kLargestLog) /
      (std::exp(order.length * kLargestLog) * std::pow(kLargestLog, order.logarithm));
  // e^x for x up to `length` log n magnifies the error of its exponent as schedule_error does.
  const double rounding = 2.0 * scaling::schedule_error(kLargestLog, log_n0);
  return equal(
      fmt::format("m(n)/(n^{:.3g} log^{:.3g} n), n = 1e300", order.length, order.logarithm),
      constant, measured, constant * (3.0 * left + rounding));
}

// The contraction at n = 1e300: 0, the critical 4/10 of ρ = 1/2, or 1.
Comparison fate_comparison(const std::string& name) {
  const scaling::Fate fate = scaling::fate(scaling::growth(schedule(name)));
  const double beta = inverse_temperature(name, kLargestLog);
  const double contraction =
      std::exp(theory::simplex_output(kLargestLog, beta, kRho).log_contraction);
  const std::string text =
      fmt::format("λ of a simplex, n = 1e300: the layer {}", scaling::name_of(fate));
  const double error = theory::simplex_error(kLargestLog, beta);
  if (fate == scaling::Fate::collapses) return at_most(text, 1e-30, contraction, 0.0);
  return equal(text, fate == scaling::Fate::stays ? 0.4 : 1.0, contraction, error);
}

Evidence table_row(const std::string& name, const Setting& setting) {
  const std::size_t n = setting.effort == Effort::full ? 2048 : 1024;
  const double log_n = std::log(static_cast<double>(n));
  experiments::PhasePoint point;
  point.cloud.law = "simplex";
  point.cloud.n = n;
  point.cloud.rho = kRho;
  point.inverse_temperature = inverse_temperature(name, log_n);
  point.norm.reset();
  point.seed = setting.seed;
  const Frame frame = experiments::phase_point(point, setting.context);
  const double beta = point.inverse_temperature;
  const double contraction = std::exp(theory::simplex_output(log_n, beta, kRho).log_contraction);
  const double self = theory::simplex_weights(log_n, beta, kRho).self;

  Evidence evidence;
  evidence.parameters = fmt::format("critical at n_0 = {}, ρ = {}; simplex n = {} and 1e300",
                                    kTrainingLength, kRho, n);
  const double scale = beta * (1.0 - kRho) / log_n;
  const double rounding = single_rounding(n, beta * (1.0 - kRho));  // λ is quadratic in the weights
  evidence.statement = {
      {fmt::format("λ of a simplex, n = {}, where c = {:.3f}", n, scale), contraction,
       Relation::equals, frame.variable("contraction").cells[0], 2.0 * rounding * contraction},
      {fmt::format("self weight, n = {}, where c = {:.3f}", n, scale), self, Relation::equals,
       frame.variable("self_mass").cells[0], rounding * self},
      growth_comparison(name),
      fate_comparison(name)};
  return evidence;
}

Claim table_claim(const char* name, const char* place, const char* statement) {
  return {std::string("cas.table-1.") + name, place, statement,
          [row = std::string(name)](const Setting& setting) { return table_row(row, setting); }};
}

}  // namespace

std::vector<Claim> cas_table_claims() {
  return {
      table_claim("yarn", "CAS, Table 1", "YaRN's factor grows as log²n: long contexts freeze."),
      table_claim("qwen", "CAS, Table 1", "Qwen's factor grows as log n: criticality is kept."),
      table_claim("ssmax", "CAS, Table 1", "SSMax's factor is log n: criticality is kept."),
      table_claim("constant", "CAS, Section 1", "Without a factor long contexts collapse."),
      table_claim("sqrt-log", "CAS, Section 1", "A factor √log n is too little: collapse."),
      table_claim("power", "next to CAS, Table 1",
                  "A factor n^(2/(d−1)) is too much in the end: long contexts freeze."),
  };
}

}  // namespace dewpoint::claims
