// dewpoint predict dew: the critical inverse temperature of a law of scores, by every definition.
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>
#include <optional>

#include "cli/predict_options.hpp"
#include "cli/score_law_option.hpp"
#include "dewpoint/core/error.hpp"
#include "dewpoint/core/grid.hpp"
#include "dewpoint/scores/keys.hpp"
#include "dewpoint/scores/law_names.hpp"
#include "dewpoint/theory/critical_scales.hpp"
#include "dewpoint/theory/critical_sphere.hpp"
#include "dewpoint/theory/key_scales.hpp"

namespace dewpoint::cli {
namespace {

struct DewTheory {
  std::string law;
  question::Grid n{"1e2:1e15:14:log"};
};

template <class Visitor>
void describe(Visitor& visit, DewTheory& q) {
  describe_law(visit, q.law);
  visit("n", q.n, question::in(3.0, 1e300), "keys: a list, or first:last:count[:log]");
}

/// The power law of the gaps next to the query, for keys on a sphere or a part of it.
std::optional<theory::KeyLaw> local_law(const std::string& text) {
  const scores::LawText parsed(text, scores::score_law_names());
  if (parsed.name() == "sphere") return theory::sphere_keys(parsed.whole("d"));
  if (parsed.name() == "vmf") {
    const int d = parsed.whole("d");
    return theory::sphere_keys(d, log_density_at_query(d, scores::sphere_components(parsed)));
  }
  if (parsed.name() == "subsphere") {
    return theory::great_subsphere_keys(parsed.whole("dim"), parsed.number("angle"));
  }
  return std::nullopt;
}

Json continuous_record(const ContinuousLaw& law, const std::optional<theory::KeyLaw>& local,
                       double n) {
  const double log_n = std::log(n);
  Json record = {{"n", n},
                 {"beta_pr", theory::participation_beta(*law.depth, log_n)},
                 {"beta_edge", theory::edge_beta(*law.depth, log_n)},
                 {"beta_kl", theory::information_beta(*law.depth, log_n)},
                 {"beta_tilted_mean", known(theory::tilted_mean_beta(*law.depth, log_n))},
                 {"beta_annealed", known(theory::annealed_beta(*law.depth, log_n))},
                 {"inverse_typical_gap", known(theory::unit_beta(*law.depth, log_n))},
                 {"beta_star", nullptr}};
  if (local) record["beta_star"] = std::exp(theory::log_key_unit(*local, log_n));
  return record;
}

Json simplex_record(double gap, double n) {
  const double log_n = std::log(n);
  return {{"n", n},
          {"beta_dew", theory::simplex_annealed_beta(log_n, gap)},
          {"beta_pr", theory::simplex_participation_beta(log_n, gap)}};
}

const std::vector<Column> kColumns = {{"n", "n"},
                                      {"beta_pr", "β_PR"},
                                      {"beta_edge", "β_edge"},
                                      {"beta_kl", "KL = log n"},
                                      {"beta_tilted_mean", "tilted mean"},
                                      {"beta_annealed", "annealed"},
                                      {"inverse_typical_gap", "1/t_n"},
                                      {"beta_star", "β*"}};
const std::vector<Column> kSimplexColumns = {
    {"n", "n"}, {"beta_dew", "β_dew"}, {"beta_pr", "β_PR"}};

Answer simplex_answer(double rho, const std::vector<double>& lengths) {
  Json records = Json::array();
  for (const double n : lengths) records.push_back(simplex_record(1.0 - rho, n));
  Json json = heading("dew", {{"law", fmt::format("simplex:rho={}", rho)}, {"n", lengths}});
  json["table"] = records;
  return {json, fmt::format("One key of score 1, the others of score {}: exact at every n\n\n{}",
                            rho, to_text(records, kSimplexColumns))};
}

Answer dew_theory_answer(const DewTheory& o) {
  const std::vector<double> lengths = o.n.values();
  const scores::LawText parsed(o.law, scores::score_law_names());
  if (parsed.name() == "simplex") {
    (void)scores::score_law(o.law);  // refuses what is no law
    return simplex_answer(parsed.number("rho"), lengths);
  }
  const ContinuousLaw law = continuous_law(o.law);
  const std::optional<theory::KeyLaw> local = local_law(o.law);
  Json records = Json::array();
  for (const double n : lengths) {
    records.push_back(continuous_record(law, local, n));
  }
  Json json = heading("dew", {{"law", law.name}, {"n", lengths}});
  json["exponent"] = local ? Json(local->exponent) : Json();
  json["half_participation_theta"] = local && local->exponent <= theory::kMostExponent
                                         ? Json(theory::half_participation_theta(local->exponent))
                                         : Json();
  json["table"] = records;
  std::string note = "E Σw² is 1/2 at β_PR; keys end at β_edge, the hazard of the scores at 1/n";
  if (local) {
    note += fmt::format(";\ngaps next to the query follow t^a, a = {:.6g}, so β* grows as n^{:.6g}",
                        local->exponent, 1.0 / local->exponent);
  }
  return {json, fmt::format("Critical inverse temperatures of the law {}\n{}\n\n{}", law.name, note,
                            to_text(records, kColumns))};
}

}  // namespace

Verb predict_dew_verb() {
  return verb_of<DewTheory>(
      "predict dew", "Where a law of scores condenses, by every definition, over n",
      "dewpoint predict dew --law sphere:d=64 --n 1e3,1e6,1e9", dew_theory_answer);
}

}  // namespace dewpoint::cli
