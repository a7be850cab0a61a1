// dewpoint phase point.
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "cli/console.hpp"
#include "cli/verbs.hpp"
#include "dewpoint/core/build_info.hpp"
#include "dewpoint/core/frame_json.hpp"
#include "dewpoint/experiments/phase_question.hpp"
#include "dewpoint/studies/layer_theory.hpp"
#include "dewpoint/studies/phase_theory.hpp"

namespace dewpoint::cli {
namespace {

using PointQuestion = experiments::Replicated<experiments::PhaseQuestion>;

struct PointVerb {
  PointQuestion question;
  Common common;
};

template <class Visitor>
void describe(Visitor& visit, PointVerb& q) {
  describe(visit, q.question);
  describe(visit, q.common);
}

const std::vector<question::Field>& point_fields() {
  static const std::vector<question::Field> fields =
      experiments::of_verb(question::fields_of<PointVerb>());
  return fields;
}

struct Line {
  const char* variable;
  const char* text;
};
constexpr Line kLines[] = {
    {"contraction", "contraction λ      gaps 1 − cos after / before; 0 collapsed, 1 unchanged"},
    {"jacobian_norm", "Jacobian norm η    ‖J‖²/(n d): 0 gradients vanish, 1 they pass"},
    {"mean_cosine", "mean cosine        between outputs"},
    {"smallest_cosine", "smallest cosine"},
    {"largest_cosine", "largest cosine"},
    {"entropy", "entropy            of a row of weights, nats"},
    {"participation", "participation      Σ w², 1/n diffuse, 1 condensed"},
    {"largest_weight", "largest weight     w_max"},
    {"self_mass", "self mass          weight of a token on itself"},
    {"cluster_mass", "cluster mass       on the rest of its cluster"},
    {"rest_mass", "rest mass          on all other tokens"}};

std::string point_text(const experiments::PhasePoint& p, const Frame& frame, const Json& theory) {
  std::string text = fmt::format("{} tokens, n = {}, d = {}", p.cloud.law, p.cloud.n, p.cloud.d);
  if (tokens::has_correlation(p.cloud)) text += fmt::format(", rho = {}", p.cloud.rho);
  text +=
      fmt::format("; beta = {:.6g}, alpha = {}; {} replica(s), seed {}\n", p.inverse_temperature,
                  p.residual, frame.variable("contraction").cells[0].samples, p.seed);
  if (p.form != attention::LayerForm{}) {
    text += fmt::format("Layer: {}.\n", attention::name_of(p.form));
  }
  for (const Line& line : kLines) {
    if (!tokens::has_clusters(p.cloud) && line.variable == std::string_view("cluster_mass"))
      continue;
    const Variable* variable = frame.find_variable(line.variable);
    if (variable != nullptr) {
      text += fmt::format("  {:<24} {}\n", to_string(variable->cells[0]), line.text);
    }
  }
  if (const auto why = experiments::why_undefined(frame)) {
    text += fmt::format("undefined: {}.\n", *why);
  }
  const Variable* error_of_rows = frame.find_variable("row_sampling_error");
  if (error_of_rows != nullptr && !std::isnan(error_of_rows->cells[0].mean)) {
    text +=
        fmt::format("{} of {} rows sampled: this alone leaves λ uncertain by {:.2g} per cloud.\n",
                    p.rows, p.cloud.n, error_of_rows->cells[0].mean);
  }
  if (const Variable* error = frame.find_variable("norm_sampling_error")) {
    text += fmt::format("η was sampled: this alone leaves it uncertain by {:.2g} per cloud.\n",
                        error->cells[0].mean);
  }
  if (!theory.is_null()) {
    text += fmt::format(
        "Exact simplex: λ = {:.6g}, η = {:.6g} here; critical gamma {:.4g}, this is gamma "
        "{:.4g}.\n",
        theory["simplex_contraction"].get<double>(), theory["simplex_jacobian_norm"].get<double>(),
        theory["critical_gamma"].get<double>(), theory["gamma"].get<double>());
  }
  const Estimate& contraction = frame.variable("contraction").cells[0];
  if (!std::isnan(contraction.mean) && std::isnan(contraction.standard_error)) {
    text += "One random cloud has no error bar: use --replicas 16.\n";
  }
  return text;
}

// Complete, with the temperature as it was asked for.
PointQuestion asked_point(const question::Asked& asked, const Given& given) {
  auto q = asked.first<PointQuestion>();
  q.question.layer.cloud.rows = given.tokens;
  q.question.layer = studies::with_gamma(std::move(q.question.layer));
  q.question = experiments::completed(std::move(q.question));
  return q;
}

Answer phase_point_answer(const QuestionOptions& options, const Program& program) {
  const question::Asked asked = options.asked();
  const Common common = asked.first<PointVerb>().common;
  const PointQuestion q = asked_point(asked, program.given);
  experiments::refuse_idle(options.given(), q.question.layer);
  experiments::PhasePoint p = phase_point_of(q.question, common.seed);
  p.replication = replication_of(q.replication);

  Frame frame;
  {
    ProgressLine progress("phase point");
    frame = experiments::phase_point(p, {common.threads, stop_token(), progress.callback()});
  }
  const Json theory = studies::simplex_json(p);
  Json observables = Json::object();
  for (const Variable& v : frame.variables()) {
    observables[v.name] = to_json(v.cells[0]);
    if (std::isnan(v.cells[0].mean)) {
      observables[v.name]["undefined"] = experiments::why_undefined(frame).value_or("not measured");
    }
  }
  return {{{"experiment", "phase point"},
           {"version", version()},
           {"seed", p.seed},
           {"parameters",
            parameters_json(question::fields_of<PointQuestion>(), asked, question::point_of(q))},
           {"inverse_temperature", p.inverse_temperature},
           {"theory", theory},
           {"observables", observables}},
          point_text(p, frame, theory),
          {frame}};
}

}  // namespace

Verb phase_point_verb() {
  return verb_of("phase point", "One layer on one token cloud at one temperature",
                 "dewpoint phase point --n 512 --d 64 --rho 0.5 --gamma 2 --replicas 16",
                 point_fields(), phase_point_answer);
}

}  // namespace dewpoint::cli
