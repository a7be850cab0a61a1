// dewpoint predict heat: attention as the heat equation run backwards.
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>

#include "cli/predict_options.hpp"
#include "dewpoint/core/grid.hpp"
#include "dewpoint/theory/backward_heat.hpp"
#include "dewpoint/theory/sphere_moments.hpp"

namespace dewpoint::cli {
namespace {

struct HeatQuestion {
  int d = 3;
  double kappa = 2.0;
  double angle = 0.7;
  double n = 1e5;
  double residual = 0.0;
  std::string beta = "10,30,100,300";
  std::string degrees = "1,2,3,5,8";

  void add_to(CLI::App& verb) {
    verb.add_option("--d", d, "Dimension of query and keys")->capture_default_str();
    verb.add_option("--kappa", kappa, "Concentration of von Mises-Fisher keys")
        ->capture_default_str();
    verb.add_option("--angle", angle, "Angle of the query from their centre")
        ->capture_default_str();
    verb.add_option("--n", n, "Keys, for the noise")->capture_default_str();
    verb.add_option("--beta", beta, "Inverse temperatures: a list, or first:last:count[:log]")
        ->capture_default_str();
    verb.add_option("--harmonics", degrees, "Degrees of harmonics, a list")->capture_default_str();
    verb.add_option("--residual", residual,
                    "Share r of the residual in q' = N(r q + (1 - r) ATT(q))")
        ->capture_default_str();
  }
};

void check(const HeatQuestion& o) {
  require(o.d >= 2 && o.d <= 512, "d", o.d, "a whole number in [2, 512]");
  require(o.kappa > 0.0 && o.kappa <= 1e6, "kappa", o.kappa, "a number in (0, 1e6]");
  require(o.angle > 0.0 && o.angle < 3.14159265, "angle", o.angle, "in (0, pi)");
  require(o.residual >= 0.0 && o.residual < 1.0, "residual", o.residual, "in [0, 1)");
}

Json drift_record(const HeatQuestion& o, const theory::DriftQuery& place, double beta) {
  require(beta > 0.0 && beta <= 1e11, "beta", beta, "a number in (0, 1e11]");
  const theory::VonMisesFisherQuery query{o.d, beta, o.kappa, o.angle};
  const auto exact = theory::population_output(query);
  const auto first = theory::population_output_expansion(query, 1);
  const auto second = theory::population_output_expansion(query, 2);
  return {{"beta", beta},
          {"along", exact.along},
          {"along_second_order", second.along},
          {"across", exact.across},
          {"across_first_order", first.across},
          {"across_second_order", second.across},
          {"noise_to_signal", theory::noise_to_signal_law(place, beta)}};
}

Json harmonic_record(const HeatQuestion& o, double beta, double degree) {
  require(degree >= 1.0 && degree <= 64.0, "harmonics", degree, "whole numbers in [1, 64]");
  const theory::HarmonicStep step{o.d, static_cast<int>(degree), beta, 1.0 - o.residual};
  return {{"degree", degree},
          {"beta", beta},
          {"rate", degree * (degree + o.d - 2.0) / beta},
          {"growth", theory::harmonic_growth(step)},
          {"regularised", theory::regularised_growth_law(step)},
          {"heat", theory::heat_growth_law(step)},
          {"deconvolution", theory::deconvolution_growth(step)}};
}

Answer answer(const HeatQuestion& o) {
  check(o);
  const double gradient = o.kappa * std::sin(o.angle);
  const double log_density = theory::log_von_mises_fisher_density(o.d, o.kappa, o.angle);
  const theory::DriftQuery place{o.d, log_length("n", o.n), log_density, gradient};
  const double heat_beta = std::exp(theory::log_heat_scale(place));
  Json drift = Json::array(), harmonics = Json::array();
  for (const double beta : parse_grid("beta", o.beta)) {
    drift.push_back(drift_record(o, place, beta));
    for (const std::size_t degree : parse_counts("harmonics", o.degrees)) {
      harmonics.push_back(harmonic_record(o, beta, static_cast<double>(degree)));
    }
  }
  Json json = heading(
      "heat",
      {{"d", o.d}, {"kappa", o.kappa}, {"angle", o.angle}, {"n", o.n}, {"residual", o.residual}});
  json["density"] = std::exp(log_density);
  json["gradient"] = gradient;
  json["beta_heat"] = heat_beta;
  json["drift"] = drift;
  json["harmonics"] = harmonics;
  const std::vector<Column> drift_columns = {{"beta", "β"},
                                             {"along", "along q"},
                                             {"across", "across q"},
                                             {"across_first_order", "(1/β)|∇log f|"},
                                             {"across_second_order", "to 1/β²"},
                                             {"noise_to_signal", "noise²/signal²"}};
  const std::vector<Column> harmonic_columns = {{"degree", "ℓ"},
                                                {"beta", "β"},
                                                {"rate", "x = ℓ(ℓ+d-2)/β"},
                                                {"growth", "growth"},
                                                {"regularised", "1 + x e^(-x/2)"},
                                                {"heat", "e^x"},
                                                {"deconvolution", "e^(x/2), wrong"}};
  return {json,
          fmt::format("Von Mises-Fisher keys, d = {}, kappa = {}, the query at {} from their "
                      "centre:\ndensity f = {:.6g}, |∇log f| = {:.6g}; with n = {:.12g} keys the "
                      "drift across q drowns in noise at β_heat = {:.6g}\n\n{}\nOne step of all "
                      "tokens multiplies a small harmonic of degree ℓ by\n\n{}",
                      o.d, o.kappa, o.angle, std::exp(log_density), gradient, o.n, heat_beta,
                      to_text(drift, drift_columns), to_text(harmonics, harmonic_columns))};
}

}  // namespace

void add_predict_heat(Program& program, CLI::App& predict) {
  add_question<HeatQuestion>(
      program, predict,
      {"heat", "Attention as the heat equation run backwards",
       "dewpoint predict heat --d 3 --kappa 2 --angle 0.7 --n 1e5 --beta 10,100"},
      answer);
}

}  // namespace dewpoint::cli
