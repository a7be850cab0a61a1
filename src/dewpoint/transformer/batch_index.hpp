// What a network has to know about a batch besides the batch: who shares a token, which context a
// row is in, which questions are about which row, and where weights of a context are kept.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "dewpoint/transformer/network.hpp"
#include "dewpoint/transformer/row_kernels.hpp"
#include "dewpoint/transformer/token_groups.hpp"

namespace dewpoint::transformer {

/// Nothing is allocated after construction.
class BatchIndex {
 public:
  /// Contexts of up to `kept_context` rows keep their weights.
  BatchIndex(const Shape& shape, const Capacity& capacity, std::size_t kept_context);

  void build(const Batch& batch);

  /// Rows with the same token.
  [[nodiscard]] const TokenGroups& tokens() const { return tokens_; }
  /// Asked rows (as numbered in Batch::asked) with the same state: with one layer, those with the
  /// same token.
  [[nodiscard]] const TokenGroups& asked_groups() const { return asked_groups_; }
  /// The state of every row as layer number `layer` sees it: one per token before the first layer,
  /// one per row before all others.
  [[nodiscard]] RowNumbers state_of_row(std::size_t layer) const {
    return layer == 0 ? tokens_.group_of() : std::span(own_number_).first(context_of_row_.size());
  }
  [[nodiscard]] std::size_t states(std::size_t layer) const {
    return layer == 0 ? tokens_.size() : context_of_row_.size();
  }
  /// The rows that share a state.
  [[nodiscard]] RowNumbers rows_of_state(std::size_t layer, std::size_t state) const {
    return layer == 0 ? tokens_.members(state) : std::span(own_number_).subspan(state, 1);
  }

  [[nodiscard]] RowNumbers context_of_row() const { return context_of_row_; }
  /// The asked rows of a context.
  [[nodiscard]] Range asked_in(std::size_t context) const {
    return {asked_begins_[context], asked_begins_[context + 1]};
  }
  /// The questions about an asked row.
  [[nodiscard]] Range questions_about(std::size_t asked) const {
    return {question_begins_[asked], question_begins_[asked + 1]};
  }
  /// Where the weights of a context are, all heads, among those of all that are kept; nowhere for a
  /// long one.
  [[nodiscard]] Range kept(std::size_t context) const {
    return {kept_begins_[context], kept_begins_[context + 1]};
  }

 private:
  void index_contexts(const Batch& batch);
  void index_questions(const Batch& batch);

  std::size_t layers_, heads_, kept_context_;
  TokenGroups tokens_, asked_groups_;
  std::vector<std::int32_t> asked_tokens_;
  std::vector<std::uint32_t> own_number_;  // 0, 1, 2, ...
  std::vector<std::uint32_t> context_of_row_, asked_begins_, question_begins_;
  std::vector<std::size_t> kept_begins_;
};

}  // namespace dewpoint::transformer
