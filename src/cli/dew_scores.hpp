// dewpoint dew on the scores of a head: every estimator of the dew point and of its growth, with
// error bars, from one matrix of scores.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "cli/answer.hpp"
#include "cli/verb.hpp"
#include "dewpoint/core/run_context.hpp"
#include "dewpoint/diagnosis/verdict_json.hpp"

namespace dewpoint::cli {

/// Where scores come from, and how they are taken apart.
struct DewScoresQuestion {
  std::optional<std::string> scores, queries, keys;
  std::optional<double> scale;      // of queries and keys
  std::optional<std::string> keep;  // a column, or "self"
  std::optional<double> endpoint;
  std::size_t tail = 50;
  std::size_t halvings = 6;
  std::size_t least_keys = 100;
  std::size_t replicates = 400;

  /// Whether a file is named or an array handed over.
  [[nodiscard]] bool given(const Given& arrays) const {
    return arrays.scores != nullptr || scores || queries;
  }
};

template <class Visitor>
void describe(Visitor& visit, DewScoresQuestion& q) {
  using namespace question;  // NOLINT(google-build-using-namespace): the words of a description
  const Group head = group("Scores of a head");
  visit("scores", q.scores, file("scores"), "scores of a head, text or .npy: a row per query",
        not_with("queries"), head);
  visit("queries", q.queries, file("npy"), "queries of a head, .npy", only_with("keys"), head);
  visit("keys", q.keys, file("npy"), "keys of a head, .npy", only_with("queries"), head);
  visit("scale", q.scale, any_number(), "factor of <q,k>, such as 1/sqrt(d)", otherwise("1"),
        only_with("queries"), head);
  visit("keep-column", q.keep, "key that stays in every hand: a column, or self", head);
  visit("endpoint", q.endpoint, any_number(), "supremum of the scores, if known", head);
  visit("tail", q.tail, in(4.0, 1e6), "best keys of a query that show the edge", head);
  visit("halvings", q.halvings, in(0.0, 30.0), "shorter lengths: n/2, n/4, ..", head);
  visit("least-keys", q.least_keys, in(4.0, 1e9), "shortest length", head);
  visit("replicates", q.replicates, in(20.0, 1e5), "redrawn heads for the errors", head);
}

/// Reads, measures and reports.
[[nodiscard]] Answer dew_of_scores(DewScoresQuestion question, const Given& arrays,
                                   const Common& common, const RunContext& context);

/// A verdict as a sentence that begins with the name of the scale.
[[nodiscard]] std::string verdict_text(const std::string& scale,
                                       const diagnosis::GrowthVerdict& verdict);

/// "8.21 ± 0.31": four digits of the value, two of its error, nothing for an error that is unknown;
/// "never" for a scale that is infinite, "-" for a number that is not known.
[[nodiscard]] std::string short_text(const Estimate& estimate);

}  // namespace dewpoint::cli
