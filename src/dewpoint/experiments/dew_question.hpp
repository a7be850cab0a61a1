// What can be asked of the dew point of a law of scores: one law, one number of keys. The sampler
// (dew.hpp) takes many numbers of keys at once.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "dewpoint/experiments/dew.hpp"
#include "dewpoint/question/asked.hpp"
#include "dewpoint/scores/law_names.hpp"

namespace dewpoint::experiments {

struct DewQuestion {
  std::string law = "gaussian:sigma=1";
  double n = 1e6;
  std::size_t draws = 400;
  std::size_t top = 256;
};

template <class Visitor>
void describe(Visitor& visit, DewQuestion& q) {
  using namespace question;  // NOLINT(google-build-using-namespace): the words of a description
  static const std::string laws =
      "law of the scores: " + scores::usage_of(scores::score_law_names());
  visit("law", q.law, laws, grid("gaussian:sigma=1 sphere:d=5 simplex:rho=0.5"));
  visit("n", q.n, in(3.0, 1e300), "keys, rounded to a whole number", grid("1e2:1e15:14:log"));
  visit("draws", q.draws, in(2.0, 1e8), "queries to average over", fixed, live(4000.0));
  visit("top", q.top, in(3.0, 1e8), "best keys drawn one by one", fixed, live(4096.0));
}

/// Complete: the law with all its parameters, n whole, no more of the top than there are keys.
/// Throws Error{bad_value} for an unknown law and for an n beyond it.
///   Properties  (1) resolved(resolved(q)) = resolved(q).
[[nodiscard]] DewQuestion resolved(DewQuestion question);

/// The same for the sampler, beside its law.
[[nodiscard]] DewCurve dew_of(const DewQuestion& question);

struct DewCurves {
  std::vector<std::unique_ptr<scores::TopLaw>> laws;
  DewCurve curve;  // of each
};

/// All laws and numbers of keys at once, whose fields are allowed and fit together. Throws
/// Error{bad_value} naming the field, for a law that is there twice too.
[[nodiscard]] DewCurves dew_of(const question::Asked& asked, std::uint64_t seed);

}  // namespace dewpoint::experiments
