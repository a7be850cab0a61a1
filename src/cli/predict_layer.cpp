// dewpoint predict layer: one layer on a regular simplex, exact, beside its limits.
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "cli/predict_options.hpp"
#include "dewpoint/theory/simplex.hpp"
#include "dewpoint/theory/simplex_gradient.hpp"

namespace dewpoint::cli {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct LayerTheory {
  double n = 0.0;
  std::optional<double> d;
  double rho = 0.0;
  Temperature temperature;
  double alpha = 0.0;
  double q = 1.0;
};

template <class Visitor>
void describe(Visitor& visit, LayerTheory& q) {
  describe_length(visit, q.n);
  describe_dimension(visit, q.d);
  describe_correlation(visit, q.rho, question::required);
  describe(visit, q.temperature);
  describe_residual(visit, q.alpha);
  describe_squared_norm(visit, q.q);
}

SimplexLayer layer_of(const LayerTheory& q) {
  const double log_n = std::log(q.n);
  return {q.n, log_n, q.d.value_or(q.n), q.rho, q.temperature.inverse(log_n), q.alpha, q.q};
}

double scaled_residual(const SimplexLayer& layer) {
  return layer.residual * std::sqrt(layer.squared_norm);
}

// Where x goes when n → ∞ at this c; c = 1 is meant when x is within its rounding.
double limiting_variable(const SimplexLayer& layer) {
  const double x = layer.scaling_variable();
  if (std::abs(x) <= theory::simplex_error(layer.log_n, layer.inverse_temperature)) return 0.0;
  return x < 0.0 ? -kInfinity : kInfinity;
}

std::vector<Row> weight_rows(const SimplexLayer& layer) {
  const auto w = theory::simplex_weights(layer.log_n, layer.inverse_temperature, layer.correlation);
  const double entropy = -w.self * w.log_self - w.others * w.log_per_token;
  return {
      {"self", "a", {w.self}, "weight of a token on itself"},
      {"others", "s", {w.others}, "weight on all others together, 1 - a"},
      {"per_token", "b", {w.per_token}, "weight on each other token, s/(n - 1)"},
      {"log_normaliser", "log Z", {w.log_normaliser}, "of the weights, Z = e^β + (n - 1) e^(βρ)"},
      {"entropy", "H", {entropy}, "of a row of weights, nats; log n when diffuse"},
      {"participation",
       "Σw²",
       {w.self * w.self + w.others * w.per_token},
       "1/n diffuse, 1 condensed"}};
}

std::vector<Row> token_rows(const SimplexLayer& layer) {
  const auto y = theory::simplex_output(layer.log_n, layer.inverse_temperature, layer.correlation,
                                        scaled_residual(layer));
  return {{"squared_norm", "q'", {y.squared_norm}, "squared norm of the tokens after the layer"},
          {"correlation", "ρ'", {y.correlation}, "their correlation"},
          {"decorrelation", "1 - ρ'", {y.decorrelation}, "its distance from collapse"},
          {"contraction",
           "λ",
           {std::exp(y.log_contraction)},
           "(1 - ρ')/(1 - ρ): 0 collapsed, 1 unchanged"},
          {"log_contraction", "log λ", {y.log_contraction}, "right where λ is below all doubles"}};
}

// Adds the limit n → ∞ at this c, the crossover function at this x, and how far that can be off.
// The limits of tokens need ρ > 0: orthogonal tokens that are averaged over have no direction left.
void add_limits(const SimplexLayer& layer, std::vector<Row>& rows) {
  if (layer.correlation <= 0.0) return;
  const auto at = [&](double x) {
    return theory::simplex_crossover(x, layer.correlation, scaled_residual(layer));
  };
  const auto limit = at(limiting_variable(layer)), near = at(layer.scaling_variable());
  const double spread = 1.0 - layer.correlation;
  const auto add = [&](const char* key, std::vector<Json> values) {
    for (Row& row : rows)
      if (row.key == key) row.values.insert(row.values.end(), values.begin(), values.end());
  };
  add("self", {limit.self, near.self});
  add("squared_norm", {limit.squared_norm, near.squared_norm});
  add("correlation", {1.0 - spread * limit.contraction, 1.0 - spread * near.contraction});
  add("decorrelation", {spread * limit.contraction, spread * near.contraction});
  add("contraction", {limit.contraction, near.contraction,
                      theory::kCrossoverBias / (layer.correlation * (layer.n - 1.0))});
}

Row gradient_row(const SimplexLayer& layer) {
  const double log_n = layer.log_n, beta = layer.inverse_temperature, rho = layer.correlation;
  const theory::GradientSetting setting{layer.dimension, layer.squared_norm, layer.residual};
  return {"gradient",
          "η",
          {theory::simplex_gradient(log_n, beta, rho, setting),
           theory::simplex_gradient_crossover(limiting_variable(layer), setting),
           theory::simplex_gradient_crossover(layer.scaling_variable(), setting),
           theory::simplex_gradient_crossover_bias(log_n, beta, rho, setting)},
          "squared gradient norm |J|²/(nd); 1 for the identity"};
}

Sheet layer_sheet(const SimplexLayer& layer) {
  Sheet sheet{{"exact", "limit", "crossover", "crossover_error"}, weight_rows(layer)};
  sheet.append(token_rows(layer));
  add_limits(layer, sheet.rows);
  sheet.rows.push_back(gradient_row(layer));
  return sheet;
}

std::string layer_text(const SimplexLayer& layer, const Sheet& sheet) {
  std::string text = fmt::format(
      "Regular simplex of {:.12g} tokens in dimension {:.12g}: rho = {}, q = {}, alpha = {}\n"
      "beta = {:.12g}, gamma = beta/log n = {:.12g}\n"
      "{}: c = gamma (1 - rho) = {:.12g}, x = (c - 1) log n = {:.6g}; the critical "
      "window is |x| <= {}, 0.12 <= a <= 0.88\n\n",
      layer.n, layer.dimension, layer.correlation, layer.squared_norm, layer.residual,
      layer.inverse_temperature, layer.gamma(), phase_name(layer.scaling_variable()),
      layer.reduced_scale(), layer.scaling_variable(), kWindow);
  text += to_text(sheet);
  text +=
      "\nlimit: n -> infinity at this c. crossover: n -> infinity at this x, off by at most its "
      "error.\n";
  if (layer.correlation <= 0.0) text += "The limits of the tokens need rho > 0.\n";
  if (layer.dimension < layer.n) {
    text += "A simplex of n tokens needs d >= n: here only the formula of the gradient knows d.\n";
  }
  return text;
}

Answer layer_answer(const LayerTheory& q) {
  const SimplexLayer layer = layer_of(q);
  const Sheet sheet = layer_sheet(layer);
  Json json = heading("layer", parameters_of(layer));
  json["phase"] = {{"name", phase_name(layer.scaling_variable())},
                   {"reduced_scale", layer.reduced_scale()},
                   {"scaling_variable", layer.scaling_variable()},
                   {"window", kWindow}};
  json["realisable"] = layer.dimension >= layer.n;
  json["quantities"] = to_json(sheet);
  return {json, layer_text(layer, sheet)};
}

}  // namespace

Verb predict_layer_verb() {
  return verb_of<LayerTheory>("predict layer", "One layer on a regular simplex of tokens, exactly",
                              "dewpoint predict layer --n 1e6 --rho 0.5 --gamma 2.2", layer_answer);
}

}  // namespace dewpoint::cli
