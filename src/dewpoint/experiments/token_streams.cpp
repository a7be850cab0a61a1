#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <utility>

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

// k/count of the stream, or behind the window before.
std::size_t place_of(std::size_t k, std::size_t count, std::size_t tokens, std::size_t free) {
  return std::max(free, tokens / count * k + tokens % count * k / count);
}

using Windows = std::optional<std::vector<std::vector<int>>>;

// Each begins where the beginning token stands; nothing where there are too few such places.
Windows at_beginnings(std::span<const int> tokens, std::size_t length, std::size_t count,
                      int beginning) {
  std::vector<std::vector<int>> windows;
  std::size_t free = 0;
  for (std::size_t k = 0; k < count; ++k) {
    const std::size_t first = place_of(k, count, tokens.size(), free);
    const auto place =
        std::find(tokens.begin() + static_cast<std::ptrdiff_t>(std::min(first, tokens.size())),
                  tokens.end(), beginning);
    if (static_cast<std::size_t>(tokens.end() - place) < length) return std::nullopt;
    windows.emplace_back(place, place + static_cast<std::ptrdiff_t>(length));
    free = static_cast<std::size_t>(place - tokens.begin()) + length;
  }
  return windows;
}

// Each begins where it falls, behind the beginning token if there is one.
Windows anywhere(std::span<const int> tokens, std::size_t length, std::size_t count,
                 std::optional<int> beginning) {
  std::vector<std::vector<int>> windows;
  std::size_t free = 0;
  for (std::size_t k = 0; k < count; ++k) {
    const std::size_t first = place_of(k, count, tokens.size(), free);
    const bool put = beginning && first < tokens.size() && tokens[first] != *beginning;
    const std::size_t own = put ? length - 1 : length;
    if (first > tokens.size() || tokens.size() - first < own) return std::nullopt;
    std::vector<int>& window = windows.emplace_back();
    if (put) window.push_back(*beginning);
    const auto rest = tokens.subspan(first, own);
    window.insert(window.end(), rest.begin(), rest.end());
    free = first + own;
  }
  return windows;
}

}  // namespace

TokenWindows token_windows(std::span<const int> tokens, std::size_t length, std::size_t count,
                           std::optional<int> beginning) {
  DEWPOINT_EXPECTS(length >= 1);
  if (beginning) {
    if (auto windows = at_beginnings(tokens, length, count, *beginning))
      return {std::move(*windows), "at beginnings of texts"};
  }
  if (auto windows = anywhere(tokens, length, count, beginning)) {
    return {std::move(*windows),
            beginning ? fmt::format("anywhere, behind token {}", *beginning) : "anywhere"};
  }
  throw Error(Code::bad_value,
              fmt::format("text: found {} tokens, allowed: enough for {} windows of {} tokens",
                          tokens.size(), count, length));
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
