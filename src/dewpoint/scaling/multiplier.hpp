// What models do to the scores when the context outgrows the length they were trained for.
//
// A multiplier m(n) multiplies every score of a model that was trained at n_0 tokens, so that
// β(n) = β(n_0) m(n) and m(n_0) = 1:
//
//   name       m(n)                       who does it
//   constant   1                          a model left alone
//   sqrt-log   √(log n/log n_0)           keeps independent Gaussian scores at their transition
//   qwen       max(1, log n/log n_0)      the first Qwen models, n being the position of the query
//   ssmax      log n/log n_0              scalable softmax with the strength s = 1/log n_0
//   yarn       (1 + 0.1 log(n/n_0))²      YaRN: one factor for queries and one for keys
//   power      (n/n_0)^{2/(d−1)}          keeps keys spread over a sphere of R^d at theirs
//
// yarn is 1 up to n_0. There the extension n/n_0 is usually one number per model; the dynamic
// variant takes the running length, as here.
//
// On a simplex of tokens the transition is at β(1 − ρ) = log n, so what becomes of ever longer
// contexts is decided by how m(n) compares with log n: see fate(). Which laws of β exist without
// reference to a model is in law.hpp.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>
#include <string>
#include <vector>

namespace dewpoint::scaling {

/// A multiplier as a reader meets it.
struct Multiplier {
  std::string name;
  std::string formula;
};

/// All of them, in the order of the table above.
[[nodiscard]] const std::vector<Multiplier>& multipliers();

/// m(n) by name. `dimension` matters to power only.
///
///   Domain      log n > 0, log n_0 > 0, d ≥ 2 for power. Throws Error{bad_value} for an unknown
///               name or a number outside. +∞ beyond the range of doubles.
///   Accuracy    relative error at most multiplier_error(log n, log n_0).
///   Properties  (1) m(n_0) = 1.
///               (2) does not fall with n.
///               (3) is n^{e} (log n)^{p} up to a constant as n → ∞, exponents as in growth().
///               (4) yarn is not below qwen for n ≥ n_0 exactly when log n_0 ≥ 5; for shorter n_0
///                   it overtakes at log(n/n_0) = 100/log n_0 − 20.
///   Reference   yarn: [Peng, Quesnelle, Fan, Shippole, arXiv 2309.00071]; ssmax: [Nakanishi, arXiv
///               2501.19399]; qwen: the published code of the first Qwen models; sqrt-log and power
///               as in law.hpp.
[[nodiscard]] double multiplier(const std::string& name, double log_n, double log_n0,
                                double dimension);

/// Rounding bound of multiplier: log n − log n_0 is known to one unit of the larger, and an
/// exponential (with an exponent of at most twice that) passes it on.
[[nodiscard]] constexpr double multiplier_error(double log_n, double log_n0) {
  return 4.0 * std::numeric_limits<double>::epsilon() * (1.0 + log_n + log_n0);
}

/// m(n) ≈ C n^length (log n)^logarithm as n → ∞.
struct Growth {
  double length;
  double logarithm;
};

/// The exponents of a multiplier.
///
///   Domain      as multiplier.
///   Accuracy    rounding of one division.
///   Properties  (1) property (3) of multiplier.
///   Reference   the formulas above.
[[nodiscard]] Growth growth(const std::string& name, double dimension);

/// What happens on a simplex of tokens as n → ∞.
enum class Fate {
  collapses,  // m(n)/log n → 0: subcritical, every layer merges the tokens
  stays,      // m(n)/log n → a limit: the reduced scale c keeps a finite value
  freezes,    // m(n)/log n → ∞: supercritical, every token attends to itself
};

/// The fate of growing as n^length (log n)^logarithm, by comparison with log n.
///
///   Domain      length ≥ 0.
///   Accuracy    exact.
///   Properties  (1) constant and sqrt-log collapse, qwen and ssmax stay, yarn and power freeze.
///               (2) power passes a minimum of m(n)/log n at log n = (d − 1)/2: at d = 64 the
///                   reduced scale falls until n = 4.8e13 before it rises.
///   Reference   [Critical attention scaling in long-context transformers, Theorem 2.1].
[[nodiscard]] Fate fate(const Growth& growth);

/// "collapses", "stays", "freezes".
[[nodiscard]] std::string name_of(Fate fate);

}  // namespace dewpoint::scaling
