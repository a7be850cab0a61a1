// dewpoint query harmonics: attention as the heat equation run backwards. Particles that all attend
// to each other: how fast a ripple of their density grows.
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <string>
#include <vector>

#include "cli/answer.hpp"
#include "cli/console.hpp"
#include "cli/verbs.hpp"
#include "dewpoint/core/build_info.hpp"
#include "dewpoint/experiments/replication.hpp"
#include "dewpoint/studies/harmonics_experiment.hpp"

namespace dewpoint::cli {
namespace {

using experiments::HarmonicsQuestion;

struct HarmonicsVerb {
  HarmonicsQuestion question;
  Common common;
};

template <class Visitor>
void describe(Visitor& visit, HarmonicsVerb& q) {
  describe(visit, q.question);
  describe(visit, q.common);
}

Json harmonic_record(const HarmonicsQuestion& asked, const std::vector<double>& growth) {
  const theory::HarmonicStep step = studies::harmonic_step(asked);
  const bool alone = asked.residual == 0.0;  // a residual connection has no kernel to undo
  return {{"beta", asked.beta},
          {"degree", asked.degree},
          {"growth", growth},
          {"predicted", theory::harmonic_growth(step)},
          {"heat_law", known(theory::heat_growth_law(step))},
          {"regularised_law", known(theory::regularised_growth_law(step))},
          {"deconvolution", alone ? known(theory::deconvolution_growth(step)) : Json()}};
}

std::string harmonic_table(const HarmonicsQuestion& asked, const Json& records) {
  Json shown = Json::array();
  const auto place = [](const Json& value) {
    if (value.is_null()) return value;
    const auto growth = value.get<double>();
    return Json(growth < 1e6 ? fmt::format("{:.8f}", growth) : digits(growth));
  };
  for (const Json& record : records) {
    shown.push_back({{"beta", digits(record["beta"].get<double>())},
                     {"degree", record["degree"]},
                     {"first", place(record["growth"].front())},
                     {"last", place(record["growth"].back())},
                     {"predicted", place(record["predicted"])},
                     {"heat", place(record["heat_law"])},
                     {"deconvolution", place(record["deconvolution"])}});
  }
  std::vector<Column> columns{{"beta", "β"}, {"degree", "ℓ"}, {"first", "growth"}};
  if (asked.steps > 1) columns.push_back({"last", "last step"});
  columns.insert(
      columns.end(),
      {{"predicted", "G_ℓ"}, {"heat", "backward heat"}, {"deconvolution", "undone kernel"}});
  return fmt::format(
      "{} particles on the {}, all moved at once by q' = N({:.6g} q + {:.6g} ATT(q)), {} "
      "step(s)\n\n"
      "{}\nGrowth is the factor of a ripple of degree ℓ per step, without randomness; G_ℓ is its "
      "closed form.\n",
      *asked.particles, asked.sphere ? "sphere" : "circle", asked.residual, 1.0 - asked.residual,
      asked.steps, to_text(shown, columns));
}

Answer harmonics_answer(const HarmonicsVerb& o, const question::Asked& asked, const Program&) {
  std::vector<HarmonicsQuestion> cells = asked.all<HarmonicsQuestion>();
  for (HarmonicsQuestion& question : cells) question = resolved(question);
  Json records = Json::array();
  {
    ProgressLine progress("query harmonics");
    const RunContext context{o.common.threads, stop_token(), progress.callback()};
    for (std::size_t k = 0; k < cells.size(); ++k) {
      const auto growth = experiments::harmonic_growth(
          harmonics_of(cells[k]), experiments::part_of(context, {k, k + 1}, cells.size()));
      records.push_back(harmonic_record(cells[k], growth.front().factors));
    }
  }
  return {{{"experiment", "query harmonics"},
           {"version", version()},
           {"seed", o.common.seed},
           {"parameters", parameters_json(question::fields_of<HarmonicsQuestion>(), asked,
                                          question::point_of(cells.front()))},
           {"harmonics", records}},
          harmonic_table(cells.front(), records)};
}

}  // namespace

Verb query_harmonics_verb() {
  return verb_of<HarmonicsVerb>(
      "query harmonics", "Backward heat equation: growth of ripples in the density of particles",
      "dewpoint query harmonics --degree 1,2,5 --beta 20,50 --residual 0.5", harmonics_answer);
}

}  // namespace dewpoint::cli
