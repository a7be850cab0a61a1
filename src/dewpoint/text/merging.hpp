// The loop of every byte-pair encoder: join the best pair of neighbours until none can be joined.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <vector>

namespace dewpoint::text {

/// What two neighbours become, and how soon: pairs of smaller order are joined first.
struct Merge {
  double order;
  int token;
};

using MergeOf = std::function<std::optional<Merge>(int left, int right)>;

/// Joins neighbours in place.
///
///   Properties  (1) among pairs of the smallest order the leftmost is joined first; the result is
///                   that of looking through all pairs anew after every join.
///               (2) n tokens take O(n ln n) steps, however long the chain of joins.
void join_neighbours(std::vector<int>& tokens, const MergeOf& merge_of);

}  // namespace dewpoint::text
