// dewpoint phase point.
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/console.hpp"
#include "cli/phase_options.hpp"
#include "dewpoint/core/build_info.hpp"
#include "dewpoint/core/error.hpp"
#include "dewpoint/core/frame_json.hpp"
#include "dewpoint/scaling/law.hpp"
#include "dewpoint/studies/phase_theory.hpp"

namespace dewpoint::cli {
namespace {

using Json = nlohmann::ordered_json;

struct PointOptions {
  CommonOptions common;
  CloudOptions cloud;
  NormCliOptions norm;
  FormOptions form;
  std::size_t rows = 0;
  double gamma = 1.0;
  double beta = 0.0;
  scaling::Law law;
  bool has_beta = false;
  bool has_law = false;
};

double inverse_temperature(const PointOptions& o, const tokens::CloudParameters& cloud) {
  if (o.has_beta) return o.beta;
  if (o.has_law) {
    const double beta = scaling::inverse_temperature(o.law, cloud.n, cloud.d);
    if (beta <= experiments::kMostInverseTemperature) return beta;
    throw Error(Code::bad_value, fmt::format("strength: {:g} gives beta = {:g}, which is above 1e8",
                                             o.law.strength, beta));
  }
  experiments::check_gamma(o.gamma);
  return o.gamma * std::log(static_cast<double>(cloud.n));
}

Json parameters_json(const experiments::PhasePoint& p) {
  return {{"tokens", p.cloud.law},
          {"n", p.cloud.n},
          {"d", p.cloud.d},
          {"rho", p.cloud.rho},
          {"rho_inner", p.cloud.rho_inner},
          {"cluster_size", p.cloud.cluster_size},
          {"norm", tokens::name_of(p.cloud.norm)},
          {"common", tokens::name_of(p.cloud.common)},
          {"beta", p.inverse_temperature},
          {"alpha", p.residual},
          {"rows", p.rows},
          {"mask", p.form.mask.name()},
          {"attention", attention::name_of(p.form.attention)},
          {"projections", attention::projections_name(p.form)},
          {"rope", p.form.rotary_base},
          {"eta", p.norm ? attention::name_of(p.norm->method) : "none"}};
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

Answer point_answer(PointOptions& o, const Given& given) {
  o.cloud.resolve(given);
  experiments::PhasePoint p;
  p.cloud = tokens::resolved(o.cloud.cloud);
  p.inverse_temperature = inverse_temperature(o, p.cloud);
  p.residual = o.cloud.residual;
  p.rows = o.rows;
  p.form = o.form.resolved();
  p.norm = o.norm.resolved();
  p.replication = o.cloud.replication;
  p.seed = o.common.seed;

  Frame frame;
  {
    ProgressLine progress("phase point");
    frame = experiments::phase_point(p, {o.common.threads, stop_token(), progress.callback()});
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
           {"parameters", parameters_json(p)},
           {"theory", theory},
           {"observables", observables}},
          point_text(p, frame, theory),
          {frame}};
}

}  // namespace

void add_phase_point(Program& program, CLI::App& phase) {
  CLI::App* verb = phase.add_subcommand("point", "One layer on one token cloud at one temperature");
  const auto o = std::make_shared<PointOptions>();
  verb->add_option("--n", o->cloud.cloud.n, "Tokens")->capture_default_str();
  verb->add_option("--d", o->cloud.cloud.d, "Dimension; 0: 64, or the least an exact law needs")
      ->capture_default_str();
  verb->add_option("--rho", o->cloud.cloud.rho, "Correlation of two tokens")->capture_default_str();
  auto* gamma = verb->add_option("--gamma", o->gamma, "beta = gamma log n")->capture_default_str();
  auto* beta = verb->add_option("--beta", o->beta, "Inverse temperature itself");
  auto* law = verb->add_option(
      "--law", o->law.name,
      fmt::format("beta(n) by name: {}; see --strength", fmt::join(scaling::law_names(), ", ")));
  auto* strength = verb->add_option("--strength", o->law.strength, "Factor of the named law")
                       ->capture_default_str();
  beta->excludes(gamma);
  law->excludes(gamma)->excludes(beta);
  strength->needs(law);
  verb->add_option("--rows", o->rows, "Queries sampled per cloud, for large n; 0: all")
      ->capture_default_str();
  o->form.add_to(*verb);
  o->norm.add_to(*verb);
  o->cloud.add_to(*verb);
  add_common(*verb, o->common);
  add_example(*verb, "dewpoint phase point --n 512 --d 64 --rho 0.5 --gamma 2 --replicas 16");
  verb->callback([&program, o, beta, law] {
    o->has_beta = beta->count() > 0;
    o->has_law = law->count() > 0;
    set_answer(program, o->common.json, [&program, o] { return point_answer(*o, program.given); });
  });
}

}  // namespace dewpoint::cli
