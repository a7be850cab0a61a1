#include "dewpoint/core/nearest_word.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <numeric>

namespace dewpoint {
namespace {

constexpr std::size_t kMostEdits = 2;

std::string lower_case(std::string_view word) {
  std::string result(word);
  for (char& c : result) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

std::size_t edits(std::string_view from, std::string_view to) {
  std::vector<std::vector<std::size_t>> rows(from.size() + 1,
                                             std::vector<std::size_t>(to.size() + 1));
  std::iota(rows[0].begin(), rows[0].end(), std::size_t{0});
  for (std::size_t i = 1; i <= from.size(); ++i) {
    rows[i][0] = i;
    for (std::size_t j = 1; j <= to.size(); ++j) {
      const std::size_t replaced = rows[i - 1][j - 1] + (from[i - 1] == to[j - 1] ? 0 : 1);
      rows[i][j] = std::min({replaced, rows[i - 1][j] + 1, rows[i][j - 1] + 1});
      const bool swapped = i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1];
      if (swapped) rows[i][j] = std::min(rows[i][j], rows[i - 2][j - 2] + 1);
    }
  }
  return rows.back().back();
}

}  // namespace

std::optional<std::string> nearest_word(std::string_view word,
                                        const std::vector<std::string>& candidates) {
  std::optional<std::string> best;
  std::size_t fewest = kMostEdits + 1;
  for (const std::string& candidate : candidates) {
    if (word.size() > candidate.size() + kMostEdits) continue;
    const std::size_t distance = edits(lower_case(word), lower_case(candidate));
    const bool mostly_the_same = 2 * distance < std::max(word.size(), candidate.size());
    if (distance >= fewest || !mostly_the_same) continue;
    best = candidate;
    fewest = distance;
  }
  return best;
}

std::string instead_of(std::string_view word, const std::vector<std::string>& candidates) {
  const auto meant = nearest_word(word, candidates);
  if (!meant) return fmt::format("; allowed: {}", fmt::join(candidates, ", "));
  return fmt::format("; did you mean '{}'? Allowed: {}", *meant, fmt::join(candidates, ", "));
}

}  // namespace dewpoint
