#include "dewpoint/transformer/token_groups.hpp"

#include <algorithm>
#include <numeric>

#include "dewpoint/core/error.hpp"

namespace dewpoint::transformer {

TokenGroups::TokenGroups(std::size_t vocabulary, std::size_t most_items) : counts_(vocabulary) {
  group_of_.reserve(most_items);
  members_.reserve(most_items);
  begins_.reserve(most_items + 1);
  tokens_.reserve(most_items);
  begins_.push_back(0);
}

void TokenGroups::group(std::span<const std::int32_t> tokens) {
  std::ranges::fill(counts_, 0U);
  for (const std::int32_t token : tokens) ++counts_[static_cast<std::size_t>(token)];

  tokens_.clear();
  begins_.assign(1, 0U);
  for (std::size_t token = 0; token < counts_.size(); ++token) {
    if (counts_[token] == 0) continue;
    tokens_.push_back(static_cast<std::int32_t>(token));
    begins_.push_back(begins_.back() + counts_[token]);
    counts_[token] = static_cast<std::uint32_t>(tokens_.size() - 1);  // now the group
  }

  group_of_.resize(tokens.size());
  members_.resize(tokens.size());
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    group_of_[i] = counts_[static_cast<std::size_t>(tokens[i])];
  }
  // Filled from the back, so that begins_ may count down to where it was.
  for (std::size_t g = 0; g < size(); ++g) begins_[g] = begins_[g + 1];
  for (std::size_t i = tokens.size(); i-- > 0;) {
    members_[--begins_[group_of_[i]]] = static_cast<std::uint32_t>(i);
  }
}

void TokenGroups::separate(std::size_t items) {
  tokens_.clear();
  group_of_.resize(items);
  members_.resize(items);
  begins_.resize(items + 1);
  std::iota(group_of_.begin(), group_of_.end(), 0U);
  std::iota(members_.begin(), members_.end(), 0U);
  std::iota(begins_.begin(), begins_.end(), 0U);
}

}  // namespace dewpoint::transformer
