#include <fmt/format.h>

#include <algorithm>

#include "dewpoint/core/error.hpp"
#include "dewpoint/experiments/loss_study.hpp"

namespace dewpoint::experiments {
namespace {

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blanks = " \t\r\n";
  const std::size_t first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

}  // namespace

std::vector<std::span<const int>> token_windows(std::span<const int> tokens, std::size_t length,
                                                std::size_t count, std::optional<int> beginning) {
  DEWPOINT_EXPECTS(length >= 1);
  std::vector<std::span<const int>> windows;
  std::size_t free = 0;
  for (std::size_t k = 0; k < count; ++k) {
    std::size_t first =
        std::max(free, tokens.size() / count * k + tokens.size() % count * k / count);
    while (beginning && first < tokens.size() && tokens[first] != *beginning) ++first;
    if (first > tokens.size() || tokens.size() - first < length) {
      throw Error(Code::bad_value,
                  fmt::format("text: found {} tokens, allowed: enough for {} windows of {} tokens",
                              tokens.size(), count, length));
    }
    windows.push_back(tokens.subspan(first, length));
    free = first + length;
  }
  return windows;
}

std::vector<int> story_stream(const text::Tokenizer& tokenizer, std::string_view stories,
                              std::string_view separator, int beginning) {
  std::vector<int> stream;
  while (!stories.empty()) {
    const std::size_t end =
        separator.empty() ? stories.size() : std::min(stories.find(separator), stories.size());
    const std::string_view story = trimmed(stories.substr(0, end));
    if (!story.empty()) {
      const std::vector<int> ids = tokenizer.encode(story);
      stream.push_back(beginning);
      stream.insert(stream.end(), ids.begin(), ids.end());
    }
    stories.remove_prefix(std::min(end + separator.size(), stories.size()));
  }
  return stream;
}

}  // namespace dewpoint::experiments
