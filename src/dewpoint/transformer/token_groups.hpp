// Which of some items hold the same token: what depends on the token alone is computed once per
// group, and sums over a group go through its members in order.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace dewpoint::transformer {

/// Groups of items 0, 1, ...; nothing is allocated after construction.
class TokenGroups {
 public:
  TokenGroups() = default;
  /// For tokens below `vocabulary` and at most so many items.
  TokenGroups(std::size_t vocabulary, std::size_t most_items);

  /// Items with equal tokens are a group; groups in order of token, members in order.
  void group(std::span<const std::int32_t> tokens);
  /// Every item is a group of its own. Groups have no token then.
  void separate(std::size_t items);

  [[nodiscard]] std::size_t size() const { return begins_.size() - 1; }
  /// The group of every item.
  [[nodiscard]] std::span<const std::uint32_t> group_of() const { return group_of_; }
  [[nodiscard]] std::span<const std::uint32_t> members(std::size_t group) const {
    return std::span(members_).subspan(begins_[group], begins_[group + 1] - begins_[group]);
  }
  /// The token of every group.
  [[nodiscard]] std::span<const std::int32_t> tokens() const { return tokens_; }

 private:
  std::vector<std::uint32_t> group_of_, members_, begins_;
  std::vector<std::int32_t> tokens_;
  std::vector<std::uint32_t> counts_;  // of every token, then its group
};

}  // namespace dewpoint::transformer
