// dewpoint predict bounds: what a layer must do when correlations are only known to lie in an
// interval.
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cli/predict_options.hpp"
#include "dewpoint/theory/layer_bounds.hpp"

namespace dewpoint::cli {
namespace {

struct BoundsTheory {
  double n = 0.0;
  std::optional<double> d;
  double rho1 = 0.0;
  double rho2 = 0.0;
  Temperature temperature;
  double alpha = 0.0;
  double q1 = 1.0;
  std::optional<double> q2;
};

template <class Visitor>
void describe(Visitor& visit, BoundsTheory& q) {
  describe_length(visit, q.n);
  describe_dimension(visit, q.d);
  visit("rho1", q.rho1, kCorrelations, "smallest correlation of two tokens", question::required);
  visit("rho2", q.rho2, kCorrelations, "largest correlation of two tokens", question::required);
  describe(visit, q.temperature);
  describe_residual(visit, q.alpha);
  visit("q1", q.q1, kSquaredNorms, "smallest squared norm of a token");
  visit("q2", q.q2, kSquaredNorms, "largest squared norm of a token", question::otherwise("q1"));
}

// The checked question.
struct BoundsQuestion {
  theory::AlmostSimplex tokens;
  double n, dimension, residual, smallest_squared_norm, largest_squared_norm;

  [[nodiscard]] double largest_residual() const {
    return residual * std::sqrt(largest_squared_norm);
  }
};

BoundsQuestion checked(const BoundsTheory& o) {
  const double log_n = std::log(o.n), q2 = o.q2.value_or(o.q1);
  require(o.rho2 >= o.rho1, "rho2", o.rho2, fmt::format("at least rho1 = {}", o.rho1));
  require(q2 >= o.q1, "q2", q2, fmt::format("at least q1 = {}", o.q1));
  return {{log_n, o.temperature.inverse(log_n), o.rho1, o.rho2},
          o.n,
          o.d.value_or(o.n),
          o.alpha,
          o.q1,
          q2};
}

std::vector<Row> weight_bound_rows(const theory::WeightBounds& weights) {
  return {{"smallest_self", "A_ii ≥", {weights.smallest_self}, "weight of a token on itself"},
          {"largest_self", "A_ii ≤", {weights.largest_self}, "likewise"},
          {"largest_others", "1 - A_ii ≤", {weights.largest_others}, "weight on all others"},
          {"largest_other", "A_ij ≤", {weights.largest_other}, "weight on one other token"},
          {"largest_overlap", "Σ_j A_ij² ≤", {weights.largest_overlap}, "participation of a row"}};
}

std::vector<Row> token_bound_rows(const BoundsQuestion& b, const theory::WeightBounds& weights) {
  const double rho1 = b.tokens.smallest_correlation, rho2 = b.tokens.largest_correlation;
  const double residual = b.largest_residual();
  Json gain, published, limit, published_limit;
  if (rho2 > 0.0) {
    gain = theory::collapse_gain(rho1, rho2, residual);
    published = theory::published_collapse_gain(rho1, rho2, residual);
    limit = rho1 + gain.get<double>();
    published_limit = rho1 + published.get<double>();
  }
  const bool wrong = rho2 > 0.0 && published.get<double>() > gain.get<double>();
  return {{"correlation",
           "ρ' ≥",
           {theory::collapse_bound(b.tokens, residual)},
           "correlation of two tokens after the layer (Theorem 2.3 at this n)"},
          {"correlation_gain",
           "ε",
           {gain, published},
           wrong ? "least rise of ρ_1, c_1 < 1, n -> infinity; the published one does not follow"
                 : "least rise of ρ_1, c_1 < 1, n -> infinity"},
          {"limiting_correlation",
           "ρ_1 + ε",
           {limit, published_limit},
           "what the theorem promises for n -> infinity"},
          {"displacement",
           "|ATT(y) - y| ≤",
           {theory::displacement_bound(weights.largest_others, rho1)},
           "how far attention moves a token"}};
}

std::vector<Row> gradient_bound_rows(const BoundsQuestion& b, const theory::WeightBounds& weights) {
  const double self = weights.largest_self, beta = b.tokens.inverse_temperature;
  // Σ_{j≠i} A_ij² ≤ (1 − A_ii) max A_ij, and it is part of Σ_j A_ij².
  const double others =
      std::min(weights.largest_others * weights.largest_other, weights.largest_overlap);
  const double gain = weights.smallest_self / std::sqrt(b.largest_squared_norm) + b.residual;
  const auto upper = [&](const theory::RowMeans& means) -> std::vector<Json> {
    if (b.residual > 0.0) return {nullptr, nullptr};
    return {theory::gradient_upper_bound(b.dimension, beta, b.tokens.smallest_correlation,
                                         b.smallest_squared_norm, means),
            theory::published_gradient_bound(b.dimension, beta, b.smallest_squared_norm, means)};
  };
  const std::string only = b.residual > 0.0 ? "; only for alpha = 0" : "";
  return {{"gradient_lower",
           "η ≥",
           {theory::gradient_lower_bound(b.dimension, gain * gain)},
           "squared gradient norm |J|²/(nd)"},
          {"gradient_upper", "η ≤", upper({self, self * self, others}),
           "likewise (Theorem 2.5 at this n)" + only},
          {"gradient_upper_limit", "η ≤ (weights -> 0)", upper({0.0, 0.0, 0.0}),
           "what is left of it for c_1 < 1, n -> infinity" + only}};
}

// Which theorem speaks: c_1 and c_2 are the reduced scales of the least and most correlated pair.
std::string bounds_phase(const BoundsQuestion& b) {
  const double beta = b.tokens.inverse_temperature, log_n = b.tokens.log_n;
  if (beta * (1.0 - b.tokens.smallest_correlation) < log_n) return "subcritical";
  if (beta * (1.0 - b.tokens.largest_correlation) > log_n) return "supercritical";
  return "between the critical lines";
}

std::string bounds_text(const BoundsQuestion& b, const Sheet& sheet) {
  const double gamma = b.tokens.inverse_temperature / b.tokens.log_n;
  const double rho1 = b.tokens.smallest_correlation, rho2 = b.tokens.largest_correlation;
  return fmt::format(
             "{:.12g} tokens in dimension {:.12g}: correlations in [{}, {}], squared norms in "
             "[{}, {}], alpha = {}\nbeta = {:.12g}, gamma = beta/log n = {:.12g}\n"
             "{}: c_1 = gamma (1 - rho1) = {:.6g}, c_2 = gamma (1 - rho2) = {:.6g}; collapse for "
             "c_1 < 1, identity for c_2 > 1\n\n",
             b.n, b.dimension, rho1, rho2, b.smallest_squared_norm, b.largest_squared_norm,
             b.residual, b.tokens.inverse_temperature, gamma, bounds_phase(b), gamma * (1.0 - rho1),
             gamma * (1.0 - rho2)) +
         to_text(sheet) +
         "\nBounds hold at this n unless they say n -> infinity; published: as printed in the "
         "paper (CAS).\n";
}

Answer bounds_answer(const BoundsTheory& o) {
  const BoundsQuestion b = checked(o);
  const theory::WeightBounds weights = theory::weight_bounds(b.tokens);
  Sheet sheet{{"sharper", "published"}, weight_bound_rows(weights)};
  sheet.append(token_bound_rows(b, weights));
  sheet.append(gradient_bound_rows(b, weights));
  Json json = heading("bounds", {{"n", b.n},
                                 {"d", b.dimension},
                                 {"rho1", b.tokens.smallest_correlation},
                                 {"rho2", b.tokens.largest_correlation},
                                 {"beta", b.tokens.inverse_temperature},
                                 {"gamma", b.tokens.inverse_temperature / b.tokens.log_n},
                                 {"alpha", b.residual},
                                 {"q1", b.smallest_squared_norm},
                                 {"q2", b.largest_squared_norm}});
  json["phase"] = bounds_phase(b);
  json["quantities"] = to_json(sheet);
  return {json, bounds_text(b, sheet)};
}

}  // namespace

Verb predict_bounds_verb() {
  return verb_of<BoundsTheory>(
      "predict bounds", "Bounds from the range of correlations alone",
      "dewpoint predict bounds --n 4096 --d 128 --rho1 0.4 --rho2 0.6 --gamma 1", bounds_answer);
}

}  // namespace dewpoint::cli
