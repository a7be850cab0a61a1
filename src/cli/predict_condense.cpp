// dewpoint predict condense: softmax over N Gaussian scores at one load, and a planted key.
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>

#include "cli/predict_options.hpp"
#include "dewpoint/core/error.hpp"
#include "dewpoint/studies/condense_theory.hpp"
#include "dewpoint/theory/gaussian_extremes.hpp"
#include "dewpoint/theory/poisson_dirichlet.hpp"
#include "dewpoint/theory/random_energy.hpp"

namespace dewpoint::cli {
namespace {

constexpr double kMostLoad = 1000.0;
constexpr double kMostSignal = 1e6;

struct CondenseTheory {
  double n = 0.0;
  std::optional<double> t;
  std::optional<double> beta;
  double sigma = 1.0;
  std::optional<double> signal;
  std::optional<double> planted;
};

template <class Visitor>
void describe(Visitor& visit, CondenseTheory& q) {
  visit("n", q.n, kLengths, "scores per query, a real number", question::required);
  visit("t", q.t, question::above(0.0, kMostLoad), "load beta/beta_c");
  visit("beta", q.beta, question::above(0.0), "inverse temperature itself",
        question::instead_of("t"));
  visit("sigma", q.sigma, question::in(1e-50, 1e50), "standard deviation of a score");
  visit("signal", q.signal, question::in(0.0, kMostSignal),
        "a planted key of score s sigma sqrt(2 log N): s");
  visit("planted", q.planted, question::at_least(0.0), "a planted key of this score",
        question::instead_of("signal"));
}

// The question, checked, in units of the critical point.
struct Point {
  double n, log_n, load, sigma, unit;  // unit: σ√(2L), the score of signal 1
  bool has_key;
  double signal;

  [[nodiscard]] double beta() const { return load * theory::freezing_beta(log_n, sigma); }
};

double load_of(const CondenseTheory& o, double freezing) {
  if (o.t) return *o.t;
  if (!o.beta) throw Error(Code::bad_value, "t: missing; allowed: --t or --beta, a number > 0");
  require(*o.beta <= kMostLoad * freezing, "beta", *o.beta,
          fmt::format("a number in (0, {:.6g}], 1000 beta_c", kMostLoad * freezing));
  return *o.beta / freezing;
}

Point point_of(const CondenseTheory& o) {
  const double log_n = std::log(o.n);
  const double unit = o.sigma * std::sqrt(2.0 * log_n);
  const double load = load_of(o, theory::freezing_beta(log_n, o.sigma));
  Point point{o.n, log_n, load, o.sigma, unit, o.signal || o.planted, o.signal.value_or(0.0)};
  if (o.planted) {
    require(*o.planted <= kMostSignal * unit, "planted", *o.planted,
            fmt::format("a number in [0, {:.6g}], a signal up to 1e6", kMostSignal * unit));
    point.signal = *o.planted / unit;
  }
  return point;
}

Sheet constants(const Point& p, const studies::CondensePrediction& c) {
  const bool tail = p.log_n >= theory::kLeastLogScores;
  return {
      {"value"},
      {{"freezing_beta", "beta_c", {theory::freezing_beta(p.log_n, p.sigma)}, "sqrt(2 log N)/σ"},
       {"inverse_temperature", "beta", {p.beta()}, "t beta_c"},
       {"edge_score", "b_N", {p.sigma * theory::edge_score(p.log_n)}, "one score in N is larger"},
       {"edge_score_expansion",
        "b_N, expansion",
        {p.sigma * theory::edge_score_expansion(p.log_n)},
        "its first two terms"},
       {"largest_score",
        "E max s",
        {tail ? known(p.sigma * theory::mean_largest_score(p.log_n)) : Json()},
        "exact; for N >= 1000"},
       {"edge_load",
        "t_e",
        {known(c.edge_load)},
        "beta/b_N: the load that limits above freezing should be taken at"}}};
}

std::vector<Row> weight_rows(const Point& p, const studies::CondensePrediction& c) {
  const bool frozen = p.load > 1.0;
  const auto above = [&](double value) { return frozen ? known(value) : Json(); };
  return {
      {"largest_weight",
       "E w_max",
       {known(c.largest_weight), known(frozen ? c.edge_largest_weight : c.largest_weight_law),
        known(c.limit_largest_weight), known(c.bare_largest_weight)},
       frozen ? "exact to 1e-6; law: Poisson-Dirichlet at t_e"
              : "exact to 1e-6; published: without its prefactor"},
      {"largest_weight_series",
       "",
       {nullptr, nullptr, nullptr, known(c.series_largest_weight)},
       "the series of CAS, Eq (118): does not hold, it has no transition"},
      {"log_largest_weight",
       "E log w_max",
       {nullptr, frozen || p.load == 1.0
                     ? Json()
                     : Json(theory::mean_log_largest_weight_law(p.log_n, p.load))},
       "the typical largest weight, below freezing"},
      {"participation",
       "E Σw²",
       {known(c.participation), known(c.participation_law),
        theory::poisson_dirichlet_participation(p.load)},
       "its inverse counts the keys that are read"},
      {"participation_deviation",
       "sd Σw²",
       {nullptr, nullptr, std::sqrt(theory::poisson_dirichlet_participation_variance(p.load))},
       "above freezing no two rows agree"},
      {"entropy",
       "E H",
       {known(c.entropy), known(c.entropy_law), above(theory::poisson_dirichlet_entropy(p.load))},
       "nats; below freezing it grows as (1 - t²) log N"}};
}

std::vector<Row> energy_rows(const Point& p, const studies::CondensePrediction& c) {
  const double leading =
      p.load <= 1.0 ? theory::annealed_free_energy(p.log_n, p.load) : 2.0 * p.load * p.log_n;
  return {{"log_partition",
           "E log Z",
           {known(c.log_partition), known(c.log_partition_law), leading},
           "quenched; limit: the leading term"},
          {"log_partition_deviation",
           "sd log Z",
           {known(c.log_partition_deviation), known(c.log_partition_spread_law)},
           "above freezing of order 1, not beta"},
          {"log_mean_partition", "log E Z", {c.log_mean_partition}, "annealed: log N + (βσ)²/2"},
          {"mean_score",
           "E Σ w s",
           {known(p.beta() * p.sigma * p.sigma * (1.0 - c.participation))},
           "βσ² (1 - E Σw²)"}};
}

std::vector<Row> key_rows(const Point& p, const studies::CondensePrediction& c) {
  const auto least = theory::retrieval_load(p.signal);
  const double scaled = 2.0 * p.load * p.signal * p.log_n;
  return {
      {"planted_score", "m", {p.signal * p.unit}, "score of the planted key"},
      {"signal", "s", {p.signal}, "m/(σ sqrt(2 log N))"},
      {"exponent",
       "log w_*/log N",
       {theory::retrieval_exponent(p.load, p.signal)},
       "N -> ∞; 0: it is found"},
      {"planted_weight",
       "w_*",
       {known(theory::planted_weight(c.log_partition, scaled))},
       "at log Z = E log Z of this N"},
      {"published_planted_weight",
       "w_* as published",
       {p.load < 1.0 ? known(theory::published_planted_weight(p.log_n, p.load, p.signal)) : Json()},
       "for t < 1; exceeds 1 once the key is found"},
      {"least_load",
       "least t",
       {least ? Json(*least) : Json()},
       least ? "every colder load finds it" : "none: no load finds a signal below 1"},
      {"best_load",
       "best t",
       {theory::best_load(p.signal)},
       p.signal < 1.0 ? "the only best one; colder, attention condenses on noise"
                      : "finds every signal above 1"}};
}

Sheet retrieval(const Point& p, const studies::CondensePrediction& c) {
  Sheet sheet{
      {"value"},
      {{"retrieval_signal", "s_c", {c.retrieval_signal}, "least signal found at this t, N -> ∞"},
       {"finite_retrieval_signal",
        "s_c at this N",
        {known(c.log_partition / (2.0 * p.load * p.log_n))},
        "E log Z/(2 t log N): a planted key then weighs about 1/2"}}};
  if (p.has_key) sheet.append(key_rows(p, c));
  return sheet;
}

Answer condense_theory_answer(const CondenseTheory& o) {
  const Point p = point_of(o);
  const studies::CondensePrediction c = studies::condense_prediction(p.log_n, p.load);
  const Sheet fixed = constants(p, c), key = retrieval(p, c);
  Sheet quantities{{"exact", "law", "limit", "published"}, weight_rows(p, c)};
  quantities.append(energy_rows(p, c));
  Json json = heading("condense", {{"n", p.n},
                                   {"t", p.load},
                                   {"beta", p.beta()},
                                   {"sigma", p.sigma},
                                   {"signal", p.has_key ? Json(p.signal) : Json()}});
  json["constants"] = to_json(fixed);
  json["quantities"] = to_json(quantities);
  json["retrieval"] = to_json(key);
  return {json, fmt::format(
                    "Softmax over N = {:.12g} Gaussian scores at t = beta/beta_c = {:.12g}, sigma "
                    "= {}\n\n{}\n{}\n{}",
                    p.n, p.load, p.sigma, to_text(fixed), to_text(quantities), to_text(key))};
}

}  // namespace

Verb predict_condense_verb() {
  return verb_of<CondenseTheory>(
      "predict condense", "Softmax over up to 1e300 Gaussian scores, and a planted key",
      "dewpoint predict condense --n 1e6 --t 1.5 --signal 0.9", condense_theory_answer);
}

}  // namespace dewpoint::cli
