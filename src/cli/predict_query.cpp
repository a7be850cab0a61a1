// dewpoint predict query: attention of one query over uniform keys on a sphere, in its regimes.
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>

#include "cli/predict_options.hpp"
#include "dewpoint/core/error.hpp"
#include "dewpoint/studies/query_theory.hpp"
#include "dewpoint/theory/condensed_sphere.hpp"
#include "dewpoint/theory/sphere_moments.hpp"

namespace dewpoint::cli {
namespace {

struct QueryTheory {
  int d = 0;
  double n = 0.0;
  std::optional<double> theta, beta, edge;
};

template <class Visitor>
void describe(Visitor& visit, QueryTheory& q) {
  visit("d", q.d, question::in(2.0, 512.0), "dimension of query and keys", question::required);
  visit("n", q.n, kLengths, "keys, a real number", question::required);
  visit("theta", q.theta, question::above(0.0), "beta in units of (c_d n)^(2/(d-1))");
  visit("beta", q.beta, question::above(0.0, kLargestInverseTemperature),
        "inverse temperature itself", question::instead_of("theta"));
  visit("edge", q.edge, question::above(0.0), "beta in units of beta_edge",
        question::instead_of("theta"));
}

double inverse_temperature(const QueryTheory& q, const experiments::QueryScales& scales) {
  if (q.beta) return *q.beta;
  if (!q.theta && !q.edge) {
    throw Error(Code::bad_value, "theta: missing; allowed: --theta, --beta or --edge, above 0");
  }
  const double beta = q.edge ? *q.edge * scales.edge : *q.theta * scales.unit;
  require(beta > 0.0 && beta <= kLargestInverseTemperature, q.edge ? "edge" : "theta",
          q.edge ? *q.edge : *q.theta, "above 0, with beta up to 1e100");
  return beta;
}

// The mean resultant of the von Mises-Fisher law at β, and the beginning of its expansion.
std::vector<Row> resultant_rows(int d, double beta) {
  constexpr double kMostBeta = 1e12;  // of theory/sphere_moments.hpp
  const bool known_here = beta <= kMostBeta;
  return {{"mean_resultant",
           "A_d",
           {known_here ? Json(theory::mean_resultant(d, beta)) : Json()},
           "<q,ATT> for n = ∞: I_{d/2}(β)/I_{d/2-1}(β)"},
          {"mean_resultant_expansion",
           "A_d, expansion",
           {known_here ? Json(theory::mean_resultant_expansion(d, beta, 3)) : Json()},
           "1 - (d-1)/(2β) + (d-1)(d-3)/(8β²) + (d-1)(d-3)/(8β³)"}};
}

Sheet scales_sheet(const experiments::QueryScales& scales, double beta,
                   const studies::QueryPrediction& p) {
  return {{"value"},
          {{"inverse_temperature", "β", {beta}, ""},
           {"beta_star", "β*", {scales.unit}, "(c_d n)^(2/(d-1))"},
           {"theta", "θ", {beta / scales.unit}, "β/β*"},
           {"inverse_typical_gap", "1/t_n", {1.0 / scales.typical_gap}, "tends to β*"},
           {"beta_edge", "β_edge", {scales.edge}, "hazard of the scores at their 1/n quantile"},
           {"effective_keys",
            "n_eff",
            {known(p.effective_keys)},
            "keys that share the weight below criticality"}}};
}

Sheet quantities(const studies::QueryPrediction& p) {
  return {
      {"exact", "limit", "gaussian", "condensed"},
      {{"largest_weight",
        "E w_1",
        {known(p.exact_largest_weight), known(p.limit_largest_weight)},
        "weight of the nearest key"},
       {"remainder",
        "E (1 - w_1)",
        {known(p.exact_remainder), known(p.limit_remainder), nullptr, known(p.condensed_remainder)},
        "condensed: near ties decide"},
       {"participation",
        "E Σw²",
        {known(p.exact_participation), known(p.limit_participation),
         known(p.gaussian_participation)},
        ""},
       {"entropy", "E H", {known(p.exact_entropy), known(p.limit_entropy)}, "nats"},
       {"bias",
        "β* E(1 - <q,ATT>)",
        {known(p.exact_bias), known(p.limit_bias), known(p.gaussian_bias), known(p.condensed_bias)},
        "how much shorter than the query the output is"},
       {"scatter",
        "β* E|ATT_⊥|²",
        {known(p.exact_scatter), known(p.limit_scatter), known(p.gaussian_scatter),
         known(p.condensed_scatter)},
        "what points across it"},
       {"radial_variance",
        "n Var <q,ATT>",
        {nullptr, nullptr, known(p.gaussian_radial_variance)},
        ""},
       {"across_variance",
        "n Var across",
        {known(p.exact_across_variance), nullptr, known(p.gaussian_across_variance)},
        "of one coordinate"},
       {"skewness", "skewness", {nullptr, nullptr, known(p.gaussian_skewness)}, "of 1 - <q,ATT>"}}};
}

Answer query_theory_answer(const QueryTheory& o) {
  const double log_n = std::log(o.n);
  const experiments::QueryScales scales = experiments::query_scales(o.d, log_n);
  const double beta = inverse_temperature(o, scales);
  const studies::QueryPrediction p = studies::query_prediction(o.d, o.n, beta);
  const char* regime = studies::query_regime(p, beta, scales.edge);
  Sheet units = scales_sheet(scales, beta, p);
  units.append(resultant_rows(o.d, beta));
  const Sheet values = quantities(p);
  Json json = heading("query", {{"d", o.d}, {"n", o.n}, {"beta", beta}});
  json["regime"] = regime;
  json["scales"] = to_json(units);
  json["quantities"] = to_json(values);
  return {json,
          fmt::format("One query over n = {:.12g} uniform keys on the sphere in d = {} dimensions: "
                      "{}\nexact: at this n; limit: n -> ∞ at this θ; gaussian: many keys share; "
                      "condensed: one key\n\n{}\n{}",
                      o.n, o.d, regime, to_text(units), to_text(values))};
}

}  // namespace

Verb predict_query_verb() {
  return verb_of<QueryTheory>(
      "predict query", "One query over uniform keys on a sphere, in its three regimes",
      "dewpoint predict query --d 5 --n 1e6 --theta 1", query_theory_answer);
}

}  // namespace dewpoint::cli
