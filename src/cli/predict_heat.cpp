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

struct HeatTheory {
  int d = 3;
  double kappa = 2.0;
  double angle = 0.7;
  double n = 1e5;
  question::Grid beta{"10,30,100,300"};
  question::Counts harmonics{"1,2,3,5,8"};
  double residual = 0.0;
};

template <class Visitor>
void describe(Visitor& visit, HeatTheory& q) {
  visit("d", q.d, question::in(2.0, 512.0), "dimension of query and keys");
  visit("kappa", q.kappa, question::above(0.0, 1e6), "concentration of von Mises-Fisher keys");
  visit("angle", q.angle, question::between(0.0, 3.14159265),
        "angle of the query from their centre");
  visit("n", q.n, kLengths, "keys, for the noise");
  visit("beta", q.beta, question::above(0.0, 1e11),
        "inverse temperatures: a list, or first:last:count[:log]");
  visit("harmonics", q.harmonics, question::in(1.0, 64.0), "degrees of harmonics, a list");
  visit("residual", q.residual, question::below(0.0, 1.0),
        "share r of the residual in q' = N(r q + (1 - r) ATT(q))");
}

Json drift_record(const HeatTheory& o, const theory::DriftQuery& place, double beta) {
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

Json harmonic_record(const HeatTheory& o, double beta, double degree) {
  const theory::HarmonicStep step{o.d, static_cast<int>(degree), beta, 1.0 - o.residual};
  return {{"degree", degree},
          {"beta", beta},
          {"rate", degree * (degree + o.d - 2.0) / beta},
          {"growth", theory::harmonic_growth(step)},
          {"regularised", theory::regularised_growth_law(step)},
          {"heat", theory::heat_growth_law(step)},
          {"deconvolution", theory::deconvolution_growth(step)}};
}

Answer heat_theory_answer(const HeatTheory& o) {
  const double gradient = o.kappa * std::sin(o.angle);
  const double log_density = theory::log_von_mises_fisher_density(o.d, o.kappa, o.angle);
  const theory::DriftQuery place{o.d, std::log(o.n), log_density, gradient};
  const double heat_beta = std::exp(theory::log_heat_scale(place));
  Json drift = Json::array(), harmonics = Json::array();
  for (const double beta : o.beta.values()) {
    drift.push_back(drift_record(o, place, beta));
    for (const std::size_t degree : o.harmonics.values()) {
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

Verb predict_heat_verb() {
  return verb_of<HeatTheory>(
      "predict heat", "Attention as the heat equation run backwards",
      "dewpoint predict heat --d 3 --kappa 2 --angle 0.7 --n 1e5 --beta 10,100",
      heat_theory_answer);
}

}  // namespace dewpoint::cli
