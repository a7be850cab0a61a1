// Results of our own: where softmax condenses under masks, beside a sink, among the best keys and
// over random energies, and that linear attention does not.
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "dewpoint/claims/compare.hpp"
#include "dewpoint/claims/lists.hpp"
#include "dewpoint/core/distributions/depth_distribution.hpp"
#include "dewpoint/experiments/dew.hpp"
#include "dewpoint/experiments/variant_dew.hpp"
#include "dewpoint/scores/law_names.hpp"
#include "dewpoint/theory/poisson_dirichlet.hpp"
#include "dewpoint/theory/simplex_sink.hpp"
#include "dewpoint/theory/simplex_window.hpp"

namespace dewpoint::claims {
namespace {

using experiments::DewSample;
using experiments::VariantDew;

constexpr double kCorrelation = 0.5;

// A few late queries of a simplex, or of tokens on a sphere.
DewSample dew_of(const std::string& tokens, std::size_t n, const std::string& mask,
                 const std::string& attention, const Setting& setting) {
  VariantDew question;
  question.cloud.law = tokens;
  question.cloud.n = n;
  question.cloud.d = tokens == "simplex" ? n : 64;
  question.cloud.rho = kCorrelation;
  question.form = attention::parse_layer_form(mask, attention, "none", 0.0);
  question.rows = 3;
  question.seed = setting.seed;
  return experiments::sample_variant_dew(question, 0, setting.context);
}

std::size_t simplex_size(const Setting& setting) {
  return setting.effort == Effort::full ? 1024 : 256;
}

// Scores are sums of n products, each off by that many roundings, over a gap of 1/2.
double dew_rounding(std::size_t n) { return 8.0 * kEpsilon * static_cast<double>(n); }

struct View {
  const char* mask;
  const char* attention;
  double keys;  // with weight
};

Evidence keys_in_view(const Setting& setting) {
  const std::size_t n = simplex_size(setting);
  Evidence evidence;
  evidence.parameters = fmt::format("simplex, n = {}, ρ = {}", n, kCorrelation);
  const View views[] = {{"none", "softmax", static_cast<double>(n)},
                        {"causal", "softmax", static_cast<double>(n) - 1.0},
                        {"window:50", "softmax", 50.0},
                        {"dilated:50:3", "softmax", 50.0},
                        {"global:50:20", "softmax", 70.0},
                        {"none", "top:50", 50.0}};
  for (const View& view : views) {
    const double predicted = theory::row_dew_point(view.keys, kCorrelation).value();
    const double measured = dew_of("simplex", n, view.mask, view.attention, setting).dew_point;
    evidence.statement.push_back(
        equal(fmt::format("median dew point, mask {}, attention {}", view.mask, view.attention),
              predicted, measured, predicted * dew_rounding(n)));
  }
  return evidence;
}

Evidence sink(const Setting& setting) {
  const std::size_t n = simplex_size(setting);
  const double log_n = std::log(static_cast<double>(n));
  Evidence evidence;
  evidence.parameters = fmt::format("simplex, n = {}, ρ = {}, mask none", n, kCorrelation);
  for (const double logit : {-4.0, 0.0, 8.0, 12.0, 30.0}) {
    const double predicted = theory::sink_even_beta(log_n, kCorrelation, logit);
    const double measured =
        dew_of("simplex", n, "none", fmt::format("sink:{}", logit), setting).dew_point;
    evidence.statement.push_back(
        equal(fmt::format("dew point beside a sink of logit {}", logit), predicted, measured,
              predicted * dew_rounding(n) + theory::sink_error(log_n, predicted, logit)));
  }
  return evidence;
}

Evidence linear_attention(const Setting& setting) {
  Evidence evidence;
  evidence.parameters = fmt::format("sphere, d = 64, β from {} to {}",
                                    experiments::kLeastLinearBeta, experiments::kLargestLinearBeta);
  for (const std::size_t n :
       {std::size_t{256}, setting.effort == Effort::full ? std::size_t{16384} : 2048}) {
    const DewSample linear = dew_of("sphere", n, "none", "linear", setting);
    evidence.statement.push_back(
        equal(fmt::format("share of queries without a dew point, n = {}", n), 1.0,
              linear.without_dew, 0.0));
    evidence.statement.push_back(at_most(fmt::format("largest weight, n = {}", n),
                                         linear.weight_bound, linear.largest_weight, 0.0));
    evidence.statement.push_back(
        at_most(fmt::format("bound of every weight, n = {}", n), 0.5, linear.weight_bound, 0.0));
  }
  return evidence;
}

// At finite n the load is β/b_n, which leaves corrections of order 1/b_n² = 1/(2 log n) to a
// probability: with a constant of 1, 7e-4 at n = 1e300.
Evidence majority(const Setting& setting) {
  experiments::DewCurve question;
  question.n = {1e300};
  question.draws = draws_of(setting, 10000);
  question.top = 64;
  question.seed = setting.seed;
  const auto law = scores::score_law("gaussian:sigma=1");
  const auto dew =
      experiments::drawn_dew_points(*law, question.n.front(), question, setting.context);
  const double edge = -NormalDepth().quantile(-kLargestLog);  // b_n
  Evidence evidence;
  evidence.parameters = fmt::format("Gaussian scores, n = 1e300, {} queries", question.draws);
  for (const double load : {theory::kMedianDewLoad, 2.0, 4.0}) {
    const auto below = static_cast<double>(
        std::count_if(dew.begin(), dew.end(), [&](double beta) { return beta <= load * edge; }));
    const auto draws = static_cast<double>(dew.size());
    const double share = below / draws, predicted = theory::poisson_dirichlet_majority(load);
    const double error = std::sqrt(predicted * (1.0 - predicted) / draws);
    evidence.statement.push_back({fmt::format("share of β_dew below {:.4g} b_n", load),
                                  predicted,
                                  Relation::equals,
                                  {share, error, dew.size()},
                                  1.0 / (2.0 * kLargestLog)});
  }
  return evidence;
}

}  // namespace

std::vector<Claim> variant_claims() {
  return {
      {"variant.keys-in-view", "Dewpoint, findings",
       "A query of a simplex that gives weight to v keys condenses at β = log(v − 1)/(1 − ρ): a "
       "window, gaps, global tokens and top-k only change v.",
       keys_in_view},
      {"variant.sink", "Dewpoint, findings",
       "Beside a sink of logit B it condenses at (v − 1) e^{−β(1−ρ)} + e^{B−β} = 1, above both B "
       "and the dew point without it.",
       sink},
      {"variant.linear", "Dewpoint, findings",
       "Linear attention (elu + 1) has no dew point: no weight exceeds (1/n) max(1/p, m/A) at any "
       "β.",
       linear_attention},
      {"variant.majority", "Dewpoint, findings",
       "Over Gaussian scores the share of queries that have condensed at β = t β_c is "
       "sin(π/t)/(π/t); half of them at t = 1.657.",
       majority}};
}

}  // namespace dewpoint::claims
