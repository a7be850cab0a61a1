// dewpoint predict variant: a simplex of tokens under a mask, a window, a sink, exactly.
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "cli/predict_options.hpp"
#include "dewpoint/core/grid.hpp"
#include "dewpoint/theory/simplex_sink.hpp"
#include "dewpoint/theory/simplex_window.hpp"

namespace dewpoint::cli {
namespace {

constexpr double kNoSink = -std::numeric_limits<double>::infinity();
constexpr double kLargestPosition = 1e15;  // whole numbers, and sums of them, are exact doubles

struct VariantTheory {
  double n = 0.0;
  double rho = 0.0;
  Temperature temperature;
  double alpha = 0.0;
  double q = 1.0;
  bool causal = false;
  std::optional<std::size_t> window;
  bool off_by_one = false;
  std::optional<double> sink;
  question::Grid position;

  [[nodiscard]] bool masked() const { return causal || window; }
  [[nodiscard]] bool has_sink() const { return off_by_one || sink; }
};

template <class Visitor>
void describe(Visitor& visit, VariantTheory& q) {
  describe_length(visit, q.n);
  describe_correlation(visit, q.rho, question::required);
  describe(visit, q.temperature);
  describe_residual(visit, q.alpha);
  describe_squared_norm(visit, q.q);
  visit("causal", q.causal, "queries see no later keys");
  visit("window", q.window, question::in(2.0, kLargestPosition),
        "queries see themselves and W - 1 before", question::instead_of("causal"));
  visit("off-by-one", q.off_by_one, "a sink of logit 0");
  visit("sink", q.sink, question::in(-1e90, 1e90), "logit of a sink: a key without value",
        question::instead_of("off-by-one"));
  visit("position", q.position, question::at_least(1.0),
        "queries to show under a mask, counted from 1, a list", question::otherwise("16, 256, .."));
}

// The question, checked.
struct Variant {
  double n, log_n, correlation, inverse_temperature, scaled_residual;
  double window;  // kNoWindow without one
  double sink;    // kNoSink without one
  bool masked;

  // Keys that the last query sees.
  [[nodiscard]] double visible() const { return std::min(n, window); }
  [[nodiscard]] theory::MaskedLayer layer() const {
    return {window, inverse_temperature, correlation, scaled_residual, sink};
  }
};

Variant variant_of(const VariantTheory& o) {
  const double log_n = std::log(o.n);
  if (o.masked()) {
    require(o.n <= kLargestPosition && o.n == std::floor(o.n), "n", o.n,
            "a whole number in [2, 1e15], as positions under a mask are");
  }
  return {o.n,
          log_n,
          o.rho,
          o.temperature.inverse(log_n),
          o.alpha * std::sqrt(o.q),
          o.window ? static_cast<double>(*o.window) : theory::kNoWindow,
          o.has_sink() ? o.sink.value_or(0.0) : kNoSink,
          o.masked()};
}

// ---- one row ------------------------------------------------------------------------------------

double entropy_of(const theory::SinkWeights& w) {
  const double of_sink = w.sink > 0.0 ? -w.sink * w.log_sink : 0.0;
  return of_sink - w.self * w.log_self - w.others * w.log_per_token;
}

// Softmax over all tokens in the first column, the last query of the variant in the second.
std::vector<Row> variant_weight_rows(const Variant& v) {
  const double beta = v.inverse_temperature, rho = v.correlation;
  const auto a = theory::sink_weights(v.log_n, beta, rho, kNoSink);
  const auto b = theory::sink_weights(std::log(v.visible()), beta, rho, v.sink);
  const auto overlap = [](const theory::SinkWeights& w) {
    return w.self * w.self + w.others * w.per_token;
  };
  return {{"self", "a", {a.self, b.self}, "weight of a token on itself"},
          {"others", "s", {a.others, b.others}, "weight on all other keys together"},
          {"per_token", "b", {a.per_token, b.per_token}, "weight on each other key"},
          {"sink", "1 - M", {a.sink, b.sink}, "weight on no key"},
          {"keys", "M", {a.keys, b.keys}, "weight on all keys, a + s"},
          {"entropy", "H", {entropy_of(a), entropy_of(b)}, "of the row, sink included, nats"},
          {"participation", "Σw²", {overlap(a), overlap(b)}, "over keys"}};
}

std::vector<Row> variant_scale_rows(const Variant& v) {
  const double rho = v.correlation, beta = v.inverse_temperature;
  const auto all = theory::row_dew_point(v.n, rho), seen = theory::row_dew_point(v.visible(), rho);
  const auto phase = [&](const std::optional<double>& dew) {
    return dew ? known(beta / *dew) : Json(nullptr);
  };
  const auto even = [&](double keys, double sink) {
    return keys < 3.0 ? Json(nullptr) : Json(theory::sink_even_beta(std::log(keys), rho, sink));
  };
  return {
      {"visible", "keys", {v.n, v.visible()}, "that the last query sees"},
      {"beta_dew", "β_dew", {known(all), known(seen)}, "even odds among keys: no sink moves it"},
      {"phase", "τ", {phase(all), phase(seen)}, "β/β_dew: below 1 diffuse, above condensed"},
      {"beta_even",
       "β_even",
       {even(v.n, kNoSink), even(v.visible(), v.sink)},
       "a token holds half of all mass, the sink's included"}};
}

// Under a mask what two outputs share depends on the pair: see pair_records.
std::vector<Row> variant_token_rows(const Variant& v) {
  const double beta = v.inverse_temperature, rho = v.correlation, kappa = v.scaled_residual;
  const auto a = theory::sink_output(v.log_n, beta, rho, kNoSink, kappa);
  if (v.masked) {
    const auto last = theory::masked_pair(v.n - 2.0, v.n - 1.0, v.layer());
    return {{"squared_norm",
             "q'",
             {a.squared_norm, last.second_squared_norm},
             "squared norm of the last output"}};
  }
  const auto b = theory::sink_output(v.log_n, beta, rho, v.sink, kappa);
  return {{"squared_norm", "q'", {a.squared_norm, b.squared_norm}, "squared norm of the outputs"},
          {"correlation", "ρ'", {a.correlation, b.correlation}, "their correlation"},
          {"contraction",
           "λ",
           {std::exp(a.log_contraction), std::exp(b.log_contraction)},
           "(1 - ρ')/(1 - ρ): 0 collapsed, 1 unchanged"},
          {"log_contraction",
           "log λ",
           {known(a.log_contraction), known(b.log_contraction)},
           "right where λ is below all doubles"}};
}

// ---- a mask -------------------------------------------------------------------------------------

std::vector<double> shown_positions(const VariantTheory& o) {
  std::vector<double> positions;
  if (!o.position.empty()) {
    positions = o.position.values();
    for (const double p : positions) {
      require(p >= 1.0 && p <= o.n && p == std::floor(p), "position", p,
              fmt::format("a whole number in [1, n = {:.12g}]", o.n));
    }
    return positions;
  }
  for (double p = 16.0; p < o.n; p *= 16.0) positions.push_back(p);
  positions.push_back(o.n);
  return positions;
}

// A query that sees itself alone is a row of one weight, beside the sink.
double lone_sink(const Variant& v) {
  return 1.0 / (1.0 + std::exp(v.inverse_temperature - v.sink));
}

Json position_record(const Variant& v, double position) {
  const double keys = theory::visible_keys(position - 1.0, v.window);
  const double beta = v.inverse_temperature;
  const auto dew = theory::row_dew_point(keys, v.correlation);
  Json record = {{"position", position},
                 {"visible", keys},
                 {"beta_dew", known(dew)},
                 {"phase", dew ? Json(beta / *dew) : Json(nullptr)}};
  if (keys < 2.0) {
    record.update({{"self", 1.0 - lone_sink(v)}, {"others", 0.0}, {"sink", lone_sink(v)}});
    return record;
  }
  const auto w = theory::sink_weights(std::log(keys), beta, v.correlation, v.sink);
  record.update({{"self", w.self}, {"others", w.others}, {"sink", w.sink}});
  return record;
}

// The last query beside its neighbour, and beside those half a window, a window, all text away.
Json pair_records(const Variant& v) {
  const double reach = std::isinf(v.window) ? v.n : v.window;
  std::vector<double> distances = {1.0, std::floor(reach / 2.0), reach, v.n - 1.0};
  std::sort(distances.begin(), distances.end());
  distances.erase(std::unique(distances.begin(), distances.end()), distances.end());
  Json records = Json::array();
  for (const double distance : distances) {
    if (distance < 1.0 || distance > v.n - 1.0) continue;
    const auto pair = theory::masked_pair(v.n - 1.0 - distance, v.n - 1.0, v.layer());
    records.push_back({{"distance", distance},
                       {"cosine", pair.cosine},
                       {"decorrelation", pair.decorrelation},
                       {"contraction", pair.contraction}});
  }
  return records;
}

std::string mask_text(const Json& json) {
  const std::vector<Column> rows = {
      {"position", "position"}, {"visible", "keys"}, {"beta_dew", "β_dew"},
      {"phase", "τ"},           {"self", "a"},       {"sink", "1 - M"}};
  const std::vector<Column> pairs = {{"distance", "distance"},
                                     {"cosine", "cosine"},
                                     {"decorrelation", "1 - cosine"},
                                     {"contraction", "λ"}};
  return fmt::format(
      "\nAlong the text:\n{}\nThe last output beside one so many positions before:\n{}",
      to_text(json["positions"], rows), to_text(json["pairs"], pairs));
}

// ---- a sink -------------------------------------------------------------------------------------

Json sink_record(const Variant& v) {
  const double log_keys = std::log(v.visible());
  const auto length = theory::sink_half_log_length(v.inverse_temperature, v.correlation, v.sink);
  return {{"logit", v.sink},
          {"half_beta", known(theory::sink_half_beta(log_keys, v.correlation, v.sink))},
          {"half_log_keys", known(length)},
          {"half_keys", length ? known(std::exp(*length)) : Json(nullptr)}};
}

std::string sink_text(const Variant& v, const Json& sink) {
  const std::string never = fmt::format(
      "\nThe sink never holds half of the mass over {:.12g} keys: that takes a logit of "
      "log n = {:.6g}.\n",
      v.visible(), std::log(v.visible()));
  const std::string below =
      sink["half_beta"].is_null()
          ? never
          : fmt::format(
                "\nThe sink holds half of the mass at beta = {}, more where it is warmer.\n",
                shown(sink["half_beta"]));
  if (sink["half_keys"].is_null()) {
    return below + "At this beta two keys already hold more than the sink.\n";
  }
  return below + fmt::format("At this beta it holds half over {} keys, less over more.\n",
                             shown(sink["half_keys"]));
}

// ---- the answer ---------------------------------------------------------------------------------

std::string variant_name(const Variant& v) {
  const std::string mask = !v.masked              ? "all keys"
                           : std::isinf(v.window) ? "causal mask"
                                                  : fmt::format("window of {:.12g} keys", v.window);
  return std::isinf(v.sink) ? mask : fmt::format("{}, sink of logit {:.12g}", mask, v.sink);
}

Answer variant_answer(const VariantTheory& o) {
  const Variant v = variant_of(o);
  Sheet sheet{{"softmax", "variant"}, variant_scale_rows(v)};
  sheet.append(variant_weight_rows(v));
  sheet.append(variant_token_rows(v));
  Json json = heading("variant", {{"n", v.n},
                                  {"rho", v.correlation},
                                  {"beta", v.inverse_temperature},
                                  {"gamma", v.inverse_temperature / v.log_n},
                                  {"alpha", o.alpha},
                                  {"q", o.q},
                                  {"causal", v.masked},
                                  {"window", known(v.window)},
                                  {"sink", known(v.sink)}});
  json["quantities"] = to_json(sheet);
  std::string text = fmt::format(
      "Regular simplex of {:.12g} tokens, rho = {}, alpha = {}, q = {}; beta = {:.12g}\n"
      "variant: {}; beside it softmax over all tokens\n\n{}",
      v.n, v.correlation, o.alpha, o.q, v.inverse_temperature, variant_name(v), to_text(sheet));
  if (!std::isinf(v.sink)) {
    json["sink"] = sink_record(v);
    text += sink_text(v, json["sink"]);
  }
  if (v.masked) {
    json["positions"] = Json::array();
    for (const double p : shown_positions(o)) json["positions"].push_back(position_record(v, p));
    json["pairs"] = pair_records(v);
    text += mask_text(json);
  }
  return {json, text};
}

}  // namespace

Verb predict_variant_verb() {
  return verb_of<VariantTheory>(
      "predict variant", "One layer under a causal mask, a sliding window or a sink, exactly",
      "dewpoint predict variant --n 131072 --rho 0.5 --gamma 2 --window 4096 --off-by-one",
      variant_answer);
}

}  // namespace dewpoint::cli
