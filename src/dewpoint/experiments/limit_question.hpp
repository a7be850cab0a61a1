// What can be asked of the limit law of weights at criticality (critical_limit.hpp).
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>

#include "dewpoint/experiments/critical_limit.hpp"
#include "dewpoint/question/field.hpp"

namespace dewpoint::experiments {

struct LimitQuestion {
  CriticalLimit law{.draws = 1000};
  std::optional<std::size_t> d;
};

template <class Visitor>
void describe(Visitor& visit, LimitQuestion& q) {
  using namespace question;  // NOLINT(google-build-using-namespace): the words of a description
  visit("theta", q.law.theta, above(0.0, 1000.0), "beta/beta*, from 0.005 a");
  visit("exponent", q.law.exponent, in(0.5, 100.0), "a of P(gap <= t) ~ t^a");
  visit("d", q.d, in(2.0, 201.0), "dimension: a = (d - 1)/2", instead_of("exponent"));
  visit("draws", q.law.draws, in(2.0, 1e7), "draws; with top at most 1e8 weights", fixed);
  visit("top", q.law.top, in(1.0, 1e6), "keys drawn one by one", fixed);
  visit("ranks", q.law.ranks, in(1.0, 1e6), "ordered weights that are kept, at most top", fixed);
}

/// Complete: the exponent for d. Throws Error{bad_value} for more weights than are held in memory,
/// and more ranks than there are.
///   Properties  (1) resolved(resolved(q)) = resolved(q).
[[nodiscard]] LimitQuestion resolved(LimitQuestion question);

}  // namespace dewpoint::experiments
