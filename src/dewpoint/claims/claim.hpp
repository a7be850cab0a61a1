// A claim: a statement of a paper, what it predicts, the experiment that asks nature, and a
// verdict.
//
// Predictions come from theory, measurements from experiments; they share nothing but core. Each
// comparison carries the statistical error of its measurement and a tolerance for everything that
// is not statistics (rounding, a truncated series, a finite length), derived where it is set.
//
// Where the printed statement is wrong, the claim holds both: the corrected one, which must hold,
// and the printed one, which must not. So a row can fail in two ways, and a correction that is not
// needed is as much of a failure as one that is not enough. Where no correction saves it (a number
// in a figure that its own settings do not give), the row holds what is found instead, and its
// verdict is a finding: it does not reproduce.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "dewpoint/core/estimate.hpp"
#include "dewpoint/core/run_context.hpp"

namespace dewpoint::claims {

/// How many standard errors a measurement may be off. One comparison raises a false alarm with
/// probability 2e-8; a certificate of a thousand comparisons with 2e-5.
inline constexpr double kSigmas = 5.6;

enum class Relation { equals, at_least, at_most };

/// One number against another.
struct Comparison {
  std::string quantity;  // what was measured: "contraction λ at c = 1"
  double predicted;
  Relation relation;
  Estimate measured;  // standard error 0 for a computation without randomness
  double tolerance;   // allowed beyond kSigmas standard errors

  [[nodiscard]] bool holds() const;
};

/// What an examination found.
struct Evidence {
  std::string parameters;              // "n = 512, d = 64, ρ = 0.5, 16 clouds"
  std::vector<Comparison> statement;   // the statement, corrected where it had to be: must hold
  std::vector<Comparison> as_printed;  // the printed one, where it differs: must not hold
  bool reproduces = true;  // false: `statement` is no correction but what is found instead
};

enum class Verdict { holds, holds_as_corrected, does_not_reproduce, fails };

/// Holds when every comparison of the statement does; as corrected (or does not reproduce) when
/// there is a printed version and at least one of its comparisons does not hold; otherwise the row
/// fails: what it says is not what was measured.
[[nodiscard]] Verdict verdict(const Evidence& evidence);
[[nodiscard]] std::string name_of(Verdict verdict);

enum class Effort { quick, full };

/// What an examination is given.
struct Setting {
  Effort effort = Effort::quick;
  std::uint64_t seed = 1;
  RunContext context;
};

struct Claim {
  std::string id;         // unique, for --only: "cas.theorem-2.1"
  std::string place;      // "CAS, Theorem 2.1"
  std::string statement;  // one line
  std::function<Evidence(const Setting&)> examine;
};

/// Every claim that is checked, in the order of the papers.
[[nodiscard]] const std::vector<Claim>& all_claims();

/// Every row of docs/errata.md; ids are "erratum.1", "erratum.2", ...
[[nodiscard]] const std::vector<Claim>& all_errata();

}  // namespace dewpoint::claims
