// What becomes of ever longer contexts under the schedules that models use.
//
// A schedule m(n) (schedule.hpp) multiplies every score of a model that was trained at n_0 tokens,
// so that β(n) = β(n_0) m(n) and m(n_0) = 1. Those that papers compare:
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

#include <string>
#include <vector>

#include "dewpoint/scaling/schedule.hpp"

namespace dewpoint::scaling {

/// The names and formulas of the table above, in its order.
[[nodiscard]] const std::vector<NamedSchedule>& compared_schedules();

/// One of them for a model trained at n_0. `dimension` matters to power only.
///
///   Domain      n_0 > 1, d ≥ 2 for power. Throws Error{bad_value} for an unknown name or a number
///               outside.
///   Properties  (1) m(n_0) = 1.
///               (2) does not fall with n.
///               (3) is n^{e} (log n)^{p} up to a constant as n → ∞, exponents as in growth().
///               (4) yarn is not below qwen for n ≥ n_0 exactly when log n_0 ≥ 5; for shorter n_0
///                   it overtakes at log(n/n_0) = 100/log n_0 − 20.
[[nodiscard]] Schedule compared_schedule(const std::string& name, double n0, double dimension);

/// m(n) ≈ C n^length (log n)^logarithm as n → ∞.
struct Growth {
  double length;
  double logarithm;
};

/// The exponents of a schedule.
///
///   Domain      any schedule; slopes and exponents ≥ 0.
///   Accuracy    exact.
///   Properties  (1) property (3) of compared_schedule, for every schedule.
///   Reference   the formulas in schedule.hpp.
[[nodiscard]] Growth growth(const Schedule& schedule);

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
