// dewpoint query heat: attention as the heat equation run backwards.
//
// Without --harmonics, a query among von Mises-Fisher keys: how far it drifts along the gradient of
// their log density, and when that drift drowns in noise. With --harmonics, particles that all
// attend to each other: how fast a ripple of their density grows.
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>
#include <memory>
#include <numbers>
#include <string>
#include <vector>

#include "cli/answer.hpp"
#include "cli/console.hpp"
#include "cli/predict_options.hpp"
#include "cli/query_keys.hpp"
#include "dewpoint/core/build_info.hpp"
#include "dewpoint/core/frame_json.hpp"
#include "dewpoint/core/grid.hpp"
#include "dewpoint/experiments/backward_heat.hpp"
#include "dewpoint/scores/keys.hpp"
#include "dewpoint/theory/backward_heat.hpp"
#include "dewpoint/theory/sphere_moments.hpp"

namespace dewpoint::cli {
namespace {

struct HeatOptions {
  CommonOptions common;
  std::string betas;
  // drift
  double d = 5.0;
  double kappa = 5.0;
  double angle = 1.0;
  double n = 2e5;
  double draws = 60.0;
  // harmonics
  std::string degrees;
  double residual = 0.0;
  bool sphere = false;
  double particles = 0.0;
  double steps = 1.0;
  const CLI::Option* degrees_option = nullptr;
  const CLI::Option* betas_option = nullptr;
  const CLI::Option* particles_option = nullptr;
};

Json opening(const HeatOptions& o, Json parameters) {
  return {{"experiment", "query heat"},
          {"version", version()},
          {"seed", o.common.seed},
          {"parameters", std::move(parameters)}};
}

// ---- drift ----------------------------------------------------------------------------------

struct DriftQuestion {
  int dimension;
  double kappa, angle;
  experiments::KeyOutput output;
  theory::DriftQuery theory;
  double heat_scale;  // β_heat
};

constexpr double kLargestBeta = 1e11;

// Multiples of β_heat that are measured when no β is given.
constexpr double kMultiples[] = {0.1, 0.3, 1.0, 3.0};

DriftQuestion drift_question(const HeatOptions& o) {
  DriftQuestion asked{};
  asked.dimension = static_cast<int>(whole_number("d", o.d, 2.0, theory::kMostSphereDimension));
  require(o.kappa > 0.0 && o.kappa <= scores::VonMisesFisherKeys::kMostConcentration, "kappa",
          o.kappa, fmt::format("in (0, {}]", scores::VonMisesFisherKeys::kMostConcentration));
  require(o.angle > 0.0 && o.angle < std::numbers::pi, "angle", o.angle, "in (0, pi)");
  asked.kappa = o.kappa;
  asked.angle = o.angle;
  asked.output.keys = whole_number("n", o.n, 2.0, 1e9);
  asked.output.draws = whole_number("draws", o.draws, 2.0, 1e6);
  asked.output.seed = o.common.seed;
  asked.theory = {asked.dimension, std::log(o.n),
                  theory::log_von_mises_fisher_density(asked.dimension, o.kappa, o.angle),
                  o.kappa * std::sin(o.angle)};
  asked.heat_scale = std::exp(theory::log_heat_scale(asked.theory));
  if (o.betas_option->count() > 0) {
    asked.output.inverse_temperatures = parse_grid("beta", o.betas);
    for (const double beta : asked.output.inverse_temperatures)
      require(beta > 0.0 && beta <= kLargestBeta, "beta", beta, "in (0, 1e11]");
  } else {
    for (const double multiple : kMultiples)
      asked.output.inverse_temperatures.push_back(multiple * asked.heat_scale);
  }
  return asked;
}

std::vector<experiments::HeatDrift> measure(const DriftQuestion& asked, int threads) {
  const scores::VonMisesFisherKeys law(asked.dimension, {{asked.kappa, asked.angle, 1.0}});
  std::vector<double> gradient(law.dimension(), 0.0);
  gradient[1] = asked.theory.gradient;
  ProgressLine progress("query heat");
  return experiments::heat_drift(law, gradient, asked.output,
                                 {threads, stop_token(), progress.callback()});
}

Json drift_records(const DriftQuestion& asked, const std::vector<experiments::HeatDrift>& drifts) {
  Json records = Json::array();
  for (const experiments::HeatDrift& drift : drifts) {
    const double beta = drift.inverse_temperature;
    const auto exact = theory::population_output({asked.dimension, beta, asked.kappa, asked.angle});
    records.push_back(
        {{"beta", beta},
         {"beta_over_beta_heat", beta / asked.heat_scale},
         {"drift", to_json(drift.along_gradient)},
         {"predicted_drift", exact.across},
         {"first_order_drift", asked.theory.gradient / beta},
         {"relative_drift", to_json(drift.relative_drift)},
         {"noise_squared", to_json(drift.noise)},
         {"noise_to_signal", to_json(drift.noise_to_signal)},
         {"predicted_noise_to_signal", theory::noise_to_signal_law(asked.theory, beta)},
         {"gap", to_json(drift.gap)},
         {"predicted_gap", 1.0 - exact.along}});
  }
  return records;
}

std::string drift_table(const DriftQuestion& asked,
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
      asked.dimension, asked.kappa, asked.angle, asked.output.keys, asked.output.draws,
      asked.output.seed, asked.heat_scale,
      to_text(shown, {{"beta", "β"},
                      {"ratio", "β/β_heat"},
                      {"drift", "drift"},
                      {"exact", "exact"},
                      {"first", "(1/β)|∇log f|"},
                      {"noise", "noise²/signal²"},
                      {"law", "(β/β_heat)^((d+1)/2)"}}));
}

Answer drift_answer(const HeatOptions& o) {
  const DriftQuestion asked = drift_question(o);
  const auto drifts = measure(asked, o.common.threads);
  Json json = opening(o, {{"d", asked.dimension},
                          {"kappa", asked.kappa},
                          {"angle", asked.angle},
                          {"n", asked.output.keys},
                          {"draws", asked.output.draws}});
  json["theory"] = {{"log_density", asked.theory.log_density},
                    {"gradient", asked.theory.gradient},
                    {"beta_heat", asked.heat_scale}};
  json["drift"] = drift_records(asked, drifts);
  return {json, drift_table(asked, drifts, json["drift"])};
}

// ---- harmonics ------------------------------------------------------------------------------

experiments::HarmonicGrowth harmonics_question(const HeatOptions& o) {
  experiments::HarmonicGrowth asked;
  asked.manifold = o.sphere ? experiments::Manifold::sphere : experiments::Manifold::circle;
  asked.particles = o.sphere ? 6000 : 3000;
  if (o.particles_option->count() > 0) {
    asked.particles = whole_number("particles", o.particles, 16.0, 1e5);
  }
  require(o.residual >= 0.0 && o.residual < 1.0, "residual", o.residual, "in [0, 1)");
  asked.attention_share = 1.0 - o.residual;
  asked.steps = whole_number("steps", o.steps, 1.0, 1000.0);
  asked.inverse_temperatures =
      o.betas_option->count() > 0 ? parse_grid("beta", o.betas) : std::vector{20.0, 50.0, 200.0};
  asked.degrees = parse_counts("harmonics", o.degrees);
  for (const std::size_t degree : asked.degrees) {
    (void)whole_number("harmonics", static_cast<double>(degree), 1.0, theory::kMostHarmonicDegree);
  }
  return asked;
}

Json harmonic_records(const experiments::HarmonicGrowth& asked,
                      const std::vector<experiments::GrowthFactors>& growth) {
  const bool alone = asked.attention_share == 1.0;  // a residual connection has no kernel to undo
  Json records = Json::array();
  for (const experiments::GrowthFactors& one : growth) {
    const theory::HarmonicStep step{asked.manifold == experiments::Manifold::circle ? 2 : 3,
                                    static_cast<int>(one.degree), one.inverse_temperature,
                                    asked.attention_share};
    records.push_back(
        {{"beta", one.inverse_temperature},
         {"degree", one.degree},
         {"growth", one.factors},
         {"predicted", theory::harmonic_growth(step)},
         {"heat_law", theory::heat_growth_law(step)},
         {"regularised_law", theory::regularised_growth_law(step)},
         {"deconvolution", alone ? Json(theory::deconvolution_growth(step)) : Json()}});
  }
  return records;
}

std::string harmonic_table(const experiments::HarmonicGrowth& asked, const Json& records) {
  const bool circle = asked.manifold == experiments::Manifold::circle;
  Json shown = Json::array();
  const auto place = [](const Json& value) {
    return value.is_null() ? value : Json(fmt::format("{:.8f}", value.get<double>()));
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
      asked.particles, circle ? "circle" : "sphere", 1.0 - asked.attention_share,
      asked.attention_share, asked.steps, to_text(shown, columns));
}

Answer harmonics_answer(const HeatOptions& o) {
  const experiments::HarmonicGrowth asked = harmonics_question(o);
  experiments::check(asked);
  std::vector<experiments::GrowthFactors> growth;
  {
    ProgressLine progress("query heat");
    growth =
        experiments::harmonic_growth(asked, {o.common.threads, stop_token(), progress.callback()});
  }
  Json json = opening(o, {{"manifold", o.sphere ? "sphere" : "circle"},
                          {"particles", asked.particles},
                          {"amplitude", asked.amplitude},
                          {"residual", o.residual},
                          {"steps", asked.steps}});
  json["harmonics"] = harmonic_records(asked, growth);
  return {json, harmonic_table(asked, json["harmonics"])};
}

// ---- options --------------------------------------------------------------------------------

std::vector<CLI::Option*> add_drift_options(CLI::App& verb, HeatOptions& o) {
  return {
      verb.add_option("--d", o.d, "Dimension")->capture_default_str(),
      verb.add_option("--kappa", o.kappa, "Concentration of the keys")->capture_default_str(),
      verb.add_option("--angle", o.angle, "Angle between query and centre of the keys")
          ->capture_default_str(),
      verb.add_option("--n", o.n, "Keys")->capture_default_str(),
      verb.add_option("--draws", o.draws, "Sets of keys to average over")->capture_default_str()};
}

std::vector<CLI::Option*> add_harmonic_options(CLI::App& verb, HeatOptions& o) {
  CLI::Option* particles =
      verb.add_option("--particles", o.particles, "Particles; default 3000, or 6000 on the sphere");
  o.particles_option = particles;
  return {particles,
          verb.add_option("--residual", o.residual,
                          "Share r of the residual in q' = N(r q + (1 - r) ATT(q))")
              ->capture_default_str(),
          verb.add_flag("--sphere", o.sphere, "Particles on S^2 instead of the circle"),
          verb.add_option("--steps", o.steps, "Attention steps")->capture_default_str()};
}

}  // namespace

void add_query_heat(Program& program, CLI::App& query) {
  CLI::App* verb =
      query.add_subcommand("heat", "Backward heat equation: drift of a query, growth of harmonics");
  const auto o = std::make_shared<HeatOptions>();
  o->betas_option = verb->add_option("--beta", o->betas,
                                     "Inverse temperatures: a list, or first:last:count[:log]; "
                                     "default 0.1, 0.3, 1, 3 times beta_heat, "
                                     "with --harmonics 20,50,200");
  CLI::Option* degrees = verb->add_option(
      "--harmonics", o->degrees, "Degrees l of harmonics: a list; particles instead of a query");
  o->degrees_option = degrees;
  for (CLI::Option* option : add_drift_options(*verb, *o)) option->excludes(degrees);
  for (CLI::Option* option : add_harmonic_options(*verb, *o)) option->needs(degrees);
  add_common(*verb, o->common);
  add_example(*verb,
              "dewpoint query heat --d 5 --kappa 5 --angle 1 --n 2e4 --draws 30\n"
              "  dewpoint query heat --harmonics 1,2,5 --beta 20,50 --residual 0.5");
  verb->callback([&program, o] {
    set_answer(program, o->common.json, [o] {
      return o->degrees_option->count() > 0 ? harmonics_answer(*o) : drift_answer(*o);
    });
  });
}

}  // namespace dewpoint::cli
