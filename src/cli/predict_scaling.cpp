// dewpoint predict scaling: what becomes of longer contexts under the multipliers that models use.
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>

#include "cli/predict_options.hpp"
#include "dewpoint/core/grid.hpp"
#include "dewpoint/scaling/multiplier.hpp"
#include "dewpoint/theory/simplex.hpp"

namespace dewpoint::cli {
namespace {

struct ScalingTheory {
  question::Grid n{"256,65536,1048576,1e9"};
  double n0 = 4096.0;
  double rho = 0.5;
  double d = 64.0;
};

template <class Visitor>
void describe(Visitor& visit, ScalingTheory& q) {
  visit("n", q.n, kLengths, "tokens, a list");
  visit("n0", q.n0, kLengths, "length at which the model is critical");
  describe_correlation(visit, q.rho);
  visit("d", q.d, question::in(2.0, 1e9), "dimension of a head, for the scaling power");
}

Json scaling_record(const ScalingTheory& o, const std::string& name, double n) {
  const double log_n = std::log(n), log_n0 = std::log(o.n0);
  const double multiplier =
      scaling::multiplier_at_log(scaling::compared_schedule(name, o.n0, o.d), log_n);
  const double beta = log_n0 / (1.0 - o.rho) * multiplier;
  require(
      beta <= kLargestInverseTemperature, "d", o.d,
      fmt::format("large enough for the scaling {} at n = {}: beta would exceed 1e100", name, n));
  const auto weights = theory::simplex_weights(log_n, beta, o.rho);
  const auto output = theory::simplex_output(log_n, beta, o.rho);
  return {{"scaling", name},
          {"n", n},
          {"multiplier", multiplier},
          {"beta", beta},
          {"reduced_scale", beta * (1.0 - o.rho) / log_n},
          {"self", weights.self},
          {"contraction", std::exp(output.log_contraction)},
          {"phase", phase_name(beta * (1.0 - o.rho) - log_n)}};
}

std::string reason_of(const scaling::Growth& growth) {
  if (growth.length > 0.0) {
    const double turn = 1.0 / growth.length;  // in log n
    return fmt::format(
        "m grows as n^{:.4g}, faster than log n; c falls until n = {} first, and the sphere it is "
        "made for stays critical",
        growth.length,
        turn < 700.0 ? fmt::format("{:.2g}", std::exp(turn))
                     : fmt::format("10^{:.2g}", turn / std::log(10.0)));
  }
  if (growth.logarithm == 0.0) return "m does not grow, log n does";
  if (growth.logarithm == 1.0) return "m grows as log n";
  return fmt::format("m grows as (log n)^{:g}, {} than log n", growth.logarithm,
                     growth.logarithm < 1.0 ? "slower" : "faster");
}

std::string limiting_phase(scaling::Fate fate) {
  if (fate == scaling::Fate::stays) return "critical";
  return fate == scaling::Fate::collapses ? "subcritical" : "supercritical";
}

Json fate_records(const ScalingTheory& o) {
  Json records = Json::array();
  for (const scaling::NamedSchedule& known : scaling::compared_schedules()) {
    const scaling::Growth growth =
        scaling::growth(scaling::compared_schedule(known.name, o.n0, o.d));
    const scaling::Fate fate = scaling::fate(growth);
    records.push_back({{"scaling", known.name},
                       {"formula", known.formula},
                       {"fate", scaling::name_of(fate)},
                       {"limiting_phase", limiting_phase(fate)},
                       {"reason", reason_of(growth)}});
  }
  return records;
}

Answer scaling_answer(const ScalingTheory& o) {
  const std::vector<double> lengths = o.n.values();
  Json records = Json::array();
  for (const scaling::NamedSchedule& known : scaling::compared_schedules())
    for (const double n : lengths) records.push_back(scaling_record(o, known.name, n));
  Json json = heading("scaling", {{"n", lengths}, {"n0", o.n0}, {"rho", o.rho}, {"d", o.d}});
  json["scalings"] = fate_records(o);
  json["table"] = records;
  const std::vector<Column> values = {
      {"scaling", "scaling", true}, {"n", "n"},    {"multiplier", "m(n)"},
      {"reduced_scale", "c"},       {"self", "a"}, {"contraction", "λ"},
      {"phase", "phase", true}};
  const std::vector<Column> fates = {{"scaling", "scaling", true},
                                     {"formula", "m(n)", true},
                                     {"limiting_phase", "n -> infinity", true},
                                     {"reason", "because", true}};
  return {json,
          fmt::format(
              "beta(n) = m(n) log n0/(1 - rho): a simplex of correlation {} is critical at n0 = "
              "{:.12g}\nc = beta (1 - rho)/log n, a: weight of a token on itself, λ: 0 collapsed, "
              "1 unchanged;\nthe critical window is |c - 1| log n <= {}\n\n{}\n{}",
              o.rho, o.n0, kWindow, to_text(records, values), to_text(json["scalings"], fates))};
}

}  // namespace

Verb predict_scaling_verb() {
  return verb_of<ScalingTheory>(
      "predict scaling", "Longer contexts under the multipliers that models use",
      "dewpoint predict scaling --n 65536,1048576 --n0 4096 --rho 0.5", scaling_answer);
}

}  // namespace dewpoint::cli
