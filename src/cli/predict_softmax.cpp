// dewpoint predict softmax: exact means of softmax over n independent scores of any continuous law.
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>

#include "cli/predict_options.hpp"
#include "cli/score_law_option.hpp"
#include "dewpoint/core/grid.hpp"
#include "dewpoint/theory/finite_scores.hpp"

namespace dewpoint::cli {
namespace {

struct SoftmaxTheory {
  std::string law;
  double n = 0.0;
  question::Grid beta;
};

template <class Visitor>
void describe(Visitor& visit, SoftmaxTheory& q) {
  describe_law(visit, q.law);
  visit("n", q.n, kLengths, "keys, a real number", question::required);
  visit("beta", q.beta, question::above(0.0, kLargestInverseTemperature),
        "inverse temperatures: a list, or first:last:count[:log]", question::required);
}

Json record(const ContinuousLaw& law, double log_n, double beta) {
  const theory::FiniteScores place{log_n, beta};
  const theory::FiniteScoreMeans means = theory::finite_score_means(*law.depth, place);
  return {{"beta", beta},
          {"largest_weight", theory::finite_largest_weight(*law.depth, place)},
          {"participation", means.participation},
          {"entropy", means.entropy},
          {"mean_score", law.origin - means.depth},
          {"log_partition", means.log_partition + beta * law.origin},
          {"log_partition_deviation", std::sqrt(std::max(0.0, means.log_partition_variance))},
          {"normalisation_error", means.normalisation - 1.0}};
}

Answer softmax_answer(const SoftmaxTheory& o) {
  const ContinuousLaw law = continuous_law(o.law);
  const double log_n = std::log(o.n);
  const std::vector<double> betas = o.beta.values();
  Json records = Json::array();
  for (const double beta : betas) {
    const double depth = std::abs(law.depth->quantile(-log_n));
    require(beta * depth <= theory::kMostScaledDepth, "beta", beta,
            fmt::format("small enough for this law: at most {:.3g} here",
                        theory::kMostScaledDepth / depth));
    records.push_back(record(law, log_n, beta));
  }
  Json json = heading("softmax", {{"law", law.name}, {"n", o.n}, {"beta", betas}});
  json["table"] = records;
  const std::vector<Column> columns = {{"beta", "β"},
                                       {"largest_weight", "E w_max"},
                                       {"participation", "E Σw²"},
                                       {"entropy", "E H"},
                                       {"mean_score", "E Σ w s"},
                                       {"log_partition", "E log Z"},
                                       {"log_partition_deviation", "sd log Z"}};
  return {json, fmt::format("Softmax over n = {:.12g} scores of the law {}: exact means\n\n{}", o.n,
                            law.name, to_text(records, columns))};
}

}  // namespace

Verb predict_softmax_verb() {
  return verb_of<SoftmaxTheory>(
      "predict softmax", "Exact means of softmax over n scores of any continuous law",
      "dewpoint predict softmax --law vmf:d=5,kappa=5,angle=0.5 --n 1e6 --beta 10,100",
      softmax_answer);
}

}  // namespace dewpoint::cli
