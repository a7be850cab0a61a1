// What can be asked of one layer at a context of some length, under a multiplier that models use.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "dewpoint/experiments/layer_question.hpp"
#include "dewpoint/experiments/streamed_rows.hpp"

namespace dewpoint::experiments {

/// Up to so many tokens every query is measured.
inline constexpr std::size_t kAllRowsTokens = 16384;

/// The law that follows the transition.
inline constexpr const char* kCriticalLaw = "critical";

struct LengthsQuestion {
  CloudQuestion cloud = {.n = 4096, .common = tokens::Common::fixed};
  double alpha = 0.0;
  std::string law = "constant";
  std::size_t n0 = 4096;
  std::optional<double> strength = 1.0;
  std::size_t rows = 1024;
  NormQuestion norm;
  std::optional<std::size_t> eta_most = kAllRowsTokens;
};

/// The names of the laws, for the description.
[[nodiscard]] std::string length_law_names();

template <class Visitor>
void describe(Visitor& visit, LengthsQuestion& q) {
  using namespace question;  // NOLINT(google-build-using-namespace): the words of a description
  describe_known(visit, q.cloud, in(3.0, 0x1p32));
  describe_residual(visit, q.alpha);
  visit("law", q.law, "multiplier of the scores: " + length_law_names());
  visit("n0", q.n0, in(3.0, 0x1p32), "tokens at which every law is critical");
  visit("strength", q.strength, above(0.0), "factor of beta at every length; 1: critical at n0");
  visit("rows", q.rows, in(3.0, 1e6),
        "queries sampled beyond " + std::to_string(kAllRowsTokens) +
            " tokens, and outputs of an effective rank",
        fixed);
  describe(visit, q.norm);
  visit("eta-most", q.eta_most, in(0.0, kStreamedTokens - 1),
        "most tokens at which the Jacobian norm is measured", fixed);
}

/// Complete: the dimension of the tokens in `power`; no strength where it is 1. Throws
/// Error{bad_value}.
///   Properties  (1) resolved(resolved(q)) = resolved(q).
[[nodiscard]] LengthsQuestion resolved(LengthsQuestion question);

}  // namespace dewpoint::experiments
