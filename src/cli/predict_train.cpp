// dewpoint predict train: where gradient flow on a Markov chain lingers, how fast it leaves, and
// what becomes of attention.
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <optional>

#include "cli/predict_options.hpp"
#include "dewpoint/experiments/train_question.hpp"
#include "dewpoint/theory/asymmetry.hpp"
#include "dewpoint/theory/degenerate_point.hpp"
#include "dewpoint/theory/markov_chain.hpp"
#include "dewpoint/theory/second_critical_point.hpp"
#include "dewpoint/theory/training_origin.hpp"
#include "dewpoint/theory/training_times.hpp"
#include "dewpoint/theory/two_group_flow.hpp"

namespace dewpoint::cli {
namespace {

struct TrainTheory {
  experiments::ChainQuestion chain;
  std::size_t m = 256;
  std::optional<double> init;
  std::optional<double> asymmetry;
};

template <class Visitor>
void describe(Visitor& visit, TrainTheory& q) {
  describe(visit, q.chain);
  visit("m", q.m, question::in(1.0, 1e9), "width of the model");
  visit("init", q.init, question::between(0.0, 1.0), "size of the initial weights, for times");
  visit("asymmetry", q.asymmetry, question::between(0.0, 1.0),
        "difference delta between the two rare tokens of three, for its eigenvalues");
}

// The rate of attention is a difference of probabilities and of the size of lambda: ten digits of
// it are left here.
constexpr double kLeastPersistence = 1e-6;

// A row with its value, what the paper prints where that differs, and half a line.
Row row(const char* key, const char* symbol, double value, const char* meaning) {
  return {key, symbol, {known(value)}, meaning};
}
Row row(const char* key, const char* symbol, double value, double printed, const char* meaning) {
  return {key, symbol, {known(value), known(printed)}, meaning};
}

std::string multiplicities(const std::vector<theory::EigenvalueGroup>& spectrum) {
  std::vector<std::string> groups;
  for (const theory::EigenvalueGroup& group : spectrum) {
    groups.push_back(fmt::format("{:.12g} ({})", group.value, group.multiplicity));
  }
  return fmt::format("{}", fmt::join(groups, ", "));
}

Json spectrum_json(const std::vector<theory::EigenvalueGroup>& spectrum) {
  Json groups = Json::array();
  for (const theory::EigenvalueGroup& group : spectrum) {
    groups.push_back({{"value", group.value}, {"multiplicity", group.multiplicity}});
  }
  return groups;
}

/// All rare tokens alike and the chain λ: the law of the theorems.
std::optional<theory::TwoGroups> two_groups(const training::Chain& chain, double persistence) {
  const std::vector<double>& law = chain.stationary;
  const bool alike = std::all_of(law.begin() + 1, law.end(),
                                 [&](double p) { return std::abs(p - law[1]) <= 1e-12 * law[1]; });
  if (!alike || chain.name != "lambda" || law[0] <= law[1]) return {};
  return theory::TwoGroups{law[0], law.size(), persistence};
}

Sheet general_sheet(const training::Chain& chain, double persistence) {
  const auto point = theory::second_critical_point(chain.stationary);
  const double rate = theory::attention_rate(chain.stationary, chain.transition);
  const bool lambda = chain.name == "lambda";
  const double printed_rate =
      lambda ? theory::published_attention_rate(chain.stationary, persistence) : std::nan("");
  const double mu = theory::origin_growth(chain.stationary).rate;
  return {{"value", "printed"},
          {row("origin_rate", "mu", mu, "growth of weights at the origin"),
           row("amplitude", "kappa_1", point.amplitude,
               theory::published_amplitude(chain.stationary), "size of the second critical point"),
           row("critical_product", "kappa_1^2", point.amplitude * point.amplitude,
               "product of its embedding and output"),
           row("plateau_loss", "H(pi)", point.loss, "loss there"),
           row("attention_rate", "c", rate, printed_rate, "growth of attention there"),
           row("amplitude_rate", "2c", 2.0 * rate, rate, "growth of eta = lambda_Q lambda_K"),
           row("best_loss", "H(P)", theory::chain_entropy_rate(chain.stationary, chain.transition),
               "loss of the best predictor")}};
}

Sheet times_sheet(const training::Chain& chain, double size,
                  const std::optional<theory::TwoGroups>& groups) {
  const double mu = theory::origin_growth(chain.stationary).rate;
  const double rate = theory::attention_rate(chain.stationary, chain.transition);
  Sheet sheet{
      {"value"},
      {row("origin_time", "log(1/eps)/mu", -std::log(size) / mu, "to leave the origin, T_p"),
       row("attention_time", "log(1/eps)/c", -std::log(size) / rate,
           "for attention to grow, T_2")}};
  if (groups) {
    sheet.rows.push_back(row("arrival_time", "T(G = 0.01)",
                             theory::arrival_time(groups->top, groups->tokens, size, 0.01),
                             "to within 0.01 of pi_1 in probability"));
  }
  return sheet;
}

Sheet excursion_sheet(const theory::TwoGroups& groups) {
  const theory::Excursion orbit = theory::excursion(groups);
  Sheet sheet{{"value"}, {}};
  const auto add = [&](const char* key, const char* symbol, double value, const char* meaning) {
    sheet.rows.push_back(row(key, symbol, value, meaning));
  };
  if (orbit.peak) {
    add("peak_attention", "A_21", orbit.peak->attention,
        "largest attention of a rare token to the frequent one");
    add("peak_amplitude", "eta", orbit.peak->amplitude, "at that peak");
    if (orbit.sign_change) {
      add("turn_after_peak", "dt", *orbit.sign_change - orbit.peak->time,
          "until rare embeddings change sign");
    }
  }
  if (!orbit.rest) return sheet;
  const theory::TwoGroupState& end = orbit.rest->state;
  add("end_amplitude", "eta", end.amplitude(), "where the flow comes to rest");
  add("end_top", "gamma_1", end.top, "embedding of the frequent token");
  add("end_low", "gamma_2", end.low, "embedding of a rare token");
  add("end_output_gap", "Delta beta", end.output_gap, "difference of outputs");
  add("end_attention_top", "A_11", orbit.rest->attention.of_top, "frequent token to itself");
  add("end_attention_low", "A_21", orbit.rest->attention.of_low, "rare token to the frequent one");
  add("end_loss", "L", orbit.rest->loss, "loss there");
  const auto start = theory::two_group_critical_point(groups.top, groups.tokens);
  const double surplus =
      theory::invariants(theory::spread_out(groups, start)).norms + 2.0 * end.amplitude();
  if (const auto point = theory::degenerate_point(groups, end.amplitude(), surplus)) {
    add("end_growth", "a_0", theory::degenerate_stability(*point).growth,
        "growth of differences between rare tokens; below 0: stable");
  }
  return sheet;
}

Sheet asymmetry_sheet(const theory::TwoGroups& groups, double delta) {
  Sheet sheet{{"value"}, {}};
  const auto point = theory::focused_degenerate_point(groups, 0.0);
  if (!point) return sheet;
  const theory::FocusedSlopes slopes = theory::focused_slopes(*point);
  sheet.rows = {
      row("output_slope", "c of Lemma C.17", slopes.output,
          "(beta_2 - beta_3)/2 per unit of delta"),
      row("mismatch", "w of Eq (230)", slopes.mismatch, "what no rank-one state can fit"),
      row("transverse_slope", "mu/delta", slopes.transverse, "growth off the rank-one states"),
      row("transverse_rate", "mu", slopes.transverse * delta, "at this delta")};
  return sheet;
}

void require_asymmetry(const theory::TwoGroups& groups, double delta) {
  const double most = (1.0 - groups.top) / static_cast<double>(groups.tokens - 1);
  require(delta < most, "asymmetry", delta, fmt::format("in (0, {:g})", most));
}

Answer train_theory_answer(const TrainTheory& o) {
  const training::Chain chain = chain_of(o.chain);
  const double persistence = *o.chain.lambda;
  const std::size_t width = o.m;
  require(chain.stationary.front() - chain.stationary.back() > 1e-9, "pi", chain.stationary.front(),
          "the most frequent: a uniform law has nothing to condense on");
  require(chain.name != "lambda" || persistence >= kLeastPersistence, "lambda", persistence,
          "in [1e-6, 1)");
  const auto groups = two_groups(chain, persistence);
  Json json = heading("train", {{"chain", chain.name}, {"pi", chain.stationary}, {"m", width}});
  std::string text = fmt::format(
      "Gradient flow in the limit of long contexts, chain {}, pi = "
      "({:.6g}), m = {}\n",
      chain.name, fmt::join(chain.stationary, ", "), width);
  const auto add = [&](const char* key, const char* title, const Sheet& sheet) {
    json[key] = to_json(sheet);
    text += fmt::format("\n{}\n{}", title, to_text(sheet));
  };
  add("critical_points", "Origin and second critical point", general_sheet(chain, persistence));
  const auto origin = theory::origin_spectrum(chain.stationary, width);
  const auto outer = theory::outer_spectrum(chain.stationary, width);
  const auto attention = theory::attention_spectrum(chain.stationary, chain.transition, width);
  json["spectra"] = {{"origin", spectrum_json(origin)},
                     {"outer", spectrum_json(outer)},
                     {"attention", spectrum_json(attention)}};
  text += fmt::format(
      "\nEigenvalues of minus the Hessian (multiplicity)\n  origin     {}\n  J_out  "
      "    {}\n  J_att      {}\n",
      multiplicities(origin), multiplicities(outer), multiplicities(attention));
  if (o.init) {
    add("times", "Times from weights of this size, plus what does not grow",
        times_sheet(chain, *o.init, groups));
  }
  if (groups) add("excursion", "From the second critical point to rest", excursion_sheet(*groups));
  if (o.asymmetry) {
    require(groups && groups->tokens == 3, "asymmetry", *o.asymmetry,
            "for three tokens, the two rare ones alike: --pi 0.6,0.2,0.2");
    require_asymmetry(*groups, *o.asymmetry);
    add("asymmetry", "Rare tokens that differ, at large eta",
        asymmetry_sheet(*groups, *o.asymmetry));
  }
  return {json, text};
}

}  // namespace

Verb predict_train_verb() {
  return verb_of<TrainTheory>(
      "predict train", "Training by gradient flow: critical points, rates, times, focus",
      "dewpoint predict train --pi 0.6,0.2,0.2 --lambda 0.8 --asymmetry 0.01", train_theory_answer);
}

}  // namespace dewpoint::cli
