// dewpoint query heat: attention as the heat equation run backwards. A query among von Mises-Fisher
// keys: how far it drifts along the gradient of their log density, and when that drift drowns in
// noise.
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>
#include <string>
#include <vector>

#include "cli/answer.hpp"
#include "cli/console.hpp"
#include "cli/verbs.hpp"
#include "dewpoint/core/build_info.hpp"
#include "dewpoint/core/frame_json.hpp"
#include "dewpoint/studies/heat_experiment.hpp"

namespace dewpoint::cli {
namespace {

using experiments::HeatQuestion;

struct HeatVerb {
  HeatQuestion question;
  Common common;
};

template <class Visitor>
void describe(Visitor& visit, HeatVerb& q) {
  describe(visit, q.question);
  describe(visit, q.common);
}

struct DriftTheory {
  theory::DriftQuery query;
  double heat_scale;  // β_heat
};

DriftTheory drift_theory(const HeatQuestion& question) {
  const theory::DriftQuery query = studies::drift_query(question);
  return {query, std::exp(theory::log_heat_scale(query))};
}

Json drift_records(const HeatQuestion& asked, const DriftTheory& known,
                   const std::vector<experiments::HeatDrift>& drifts) {
  Json records = Json::array();
  for (const experiments::HeatDrift& drift : drifts) {
    const double beta = drift.inverse_temperature;
    const auto exact =
        theory::population_output({known.query.dimension, beta, asked.kappa, asked.angle});
    records.push_back(
        {{"beta", beta},
         {"beta_over_beta_heat", beta / known.heat_scale},
         {"drift", to_json(drift.along_gradient)},
         {"predicted_drift", exact.across},
         {"first_order_drift", known.query.gradient / beta},
         {"relative_drift", to_json(drift.relative_drift)},
         {"noise_squared", to_json(drift.noise)},
         {"noise_to_signal", to_json(drift.noise_to_signal)},
         {"predicted_noise_to_signal", theory::noise_to_signal_law(known.query, beta)},
         {"gap", to_json(drift.gap)},
         {"predicted_gap", 1.0 - exact.along}});
  }
  return records;
}

std::string drift_table(const HeatQuestion& asked, double heat_scale, std::uint64_t seed,
                        const std::vector<experiments::HeatDrift>& drifts, const Json& records) {
  Json shown = Json::array();
  for (std::size_t k = 0; k < drifts.size(); ++k) {
    const Json& record = records[k];
    shown.push_back({{"beta", digits(drifts[k].inverse_temperature)},
                     {"ratio", fmt::format("{:.3g}", record["beta_over_beta_heat"].get<double>())},
                     {"drift", to_string(drifts[k].along_gradient)},
                     {"exact", digits(record["predicted_drift"].get<double>())},
                     {"first", digits(record["first_order_drift"].get<double>())},
                     {"noise", to_string(drifts[k].noise_to_signal)},
                     {"law", digits(record["predicted_noise_to_signal"].get<double>())}});
  }
  return fmt::format(
      "von Mises-Fisher keys, d = {}, kappa = {}, at angle {} from the query; n = {}, {} draws, "
      "seed {}\nβ_heat = {:.6g}: above it the drift drowns in noise\n\n{}\nDrift is the output "
      "along ∇log f; exact is that of infinitely many keys, (1/β)|∇log f| its first order.\n",
      asked.d, asked.kappa, asked.angle, asked.n, asked.draws, seed, heat_scale,
      to_text(shown, {{"beta", "β"},
                      {"ratio", "β/β_heat"},
                      {"drift", "drift"},
                      {"exact", "exact"},
                      {"first", "(1/β)|∇log f|"},
                      {"noise", "noise²/signal²"},
                      {"law", "(β/β_heat)^((d+1)/2)"}}));
}

Answer heat_answer(const HeatVerb& o, const question::Asked& asked, const Program&) {
  std::vector<HeatQuestion> tile = asked.all<HeatQuestion>();
  for (HeatQuestion& question : tile) question = studies::resolved(question);
  const HeatQuestion& first = tile.front();
  std::vector<experiments::HeatDrift> drifts;
  {
    ProgressLine progress("query heat");
    drifts = experiments::heat_drift(tile, o.common.seed,
                                     {o.common.threads, stop_token(), progress.callback()});
  }
  const DriftTheory known = drift_theory(first);
  const Json records = drift_records(first, known, drifts);
  return {{{"experiment", "query heat"},
           {"version", version()},
           {"seed", o.common.seed},
           {"parameters",
            parameters_json(question::fields_of<HeatQuestion>(), asked, question::point_of(first))},
           {"theory",
            {{"log_density", known.query.log_density},
             {"gradient", known.query.gradient},
             {"beta_heat", known.heat_scale}}},
           {"drift", records}},
          drift_table(first, known.heat_scale, o.common.seed, drifts, records)};
}

}  // namespace

Verb query_heat_verb() {
  return verb_of<HeatVerb>(
      "query heat", "Backward heat equation: drift of a query up the density of its keys",
      "dewpoint query heat --d 5 --kappa 5 --angle 1 --n 2e4 --draws 30", heat_answer);
}

}  // namespace dewpoint::cli
