// Heads whose phase and law of growth are known, as the queries and keys of a dump.
//
//   law         queries and keys                                          β_dew grows as
//   simplex     every query scores 1 with its own key, ρ with the others  log n
//   gaussian    unit queries, standard normal keys in R^128               √(log n)
//   sphere3     unit queries and keys, uniform, d = 3                     n^{1/a}, a = 1
//   sphere5     the same, d = 5                                           a = 2
//   sphere9     the same, d = 9                                           a = 4
//   cluster     d = 9; 2 % of the keys, and all queries, around one       n^{1/a}, a = 4, of the
//               direction (von Mises-Fisher, κ = 60), the rest uniform    cluster's keys
//
// Normal keys make the scores of a unit query exactly Gaussian in any dimension; 128 keeps the rows
// nearly independent of each other. Queries sit at the last positions. The simplex needs a
// dimension of its own for every query: the 256 x 256 scores of queries with each other's keys have
// full rank.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "dewpoint/core/head_row.hpp"
#include "dewpoint/core/matrix.hpp"

namespace dewpoint::test {

struct SyntheticHead {
  std::string name;
  Matrix<float> queries, keys;
  std::size_t first_position = 0;  // of query 0 among the keys
  double scale = 1.0;              // s = scale ⟨q, k⟩
  std::string growth;              // as diagnosis::name_of(GrowthLaw) has it
  double exponent = 0.0;           // a of a uniform sphere, 0 for the others
  double dew_scale = 0.0;          // median of β_dew of ⟨q, k⟩ over queries, at all keys
};

[[nodiscard]] const std::vector<std::string>& synthetic_laws();

/// A head whose median phase τ is `phase`: scale = phase · dew_scale.
///
///   Domain      keys 1024, 4096 or 16384, where dew_scale is tabulated; fewer queries than keys.
[[nodiscard]] SyntheticHead synthetic_head(const std::string& law, std::size_t keys,
                                           std::size_t queries, double phase, std::uint64_t seed);

/// Every row of scores under a causal mask, in double.
[[nodiscard]] std::vector<ScoreRow> score_rows(const SyntheticHead& head);

/// The sums of one row at m = 1 and at every given multiplier, in the plainest way: dense, double,
/// no cap and no learned sink.
[[nodiscard]] HeadRow plain_head_row(const ScoreRow& row, const std::vector<double>& multipliers);

}  // namespace dewpoint::test
