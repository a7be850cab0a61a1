#include "dewpoint/experiments/text_windows.hpp"

#include <algorithm>

#include "dewpoint/core/error.hpp"

namespace dewpoint::experiments {
namespace {

void append_window(std::span<const std::int32_t> text, std::size_t begin,
                   transformer::Windows& windows) {
  const auto window = text.subspan(begin, windows.context + 1);
  windows.tokens.insert(windows.tokens.end(), window.begin(), window.end());
}

}  // namespace

std::size_t window_places(std::size_t tokens, std::size_t context) {
  return tokens > context ? tokens - context : 0;
}

WindowDraws::WindowDraws(std::span<const std::int32_t> text, std::size_t context, std::size_t batch,
                         std::uint64_t seed, std::uint64_t replica)
    : text_(text),
      context_(context),
      batch_(batch),
      places_(window_places(text.size(), context)),
      stream_(seed, "training/windows", replica) {
  DEWPOINT_EXPECTS(places_ > 0);
}

void WindowDraws::draw(std::uint64_t step, transformer::Windows& windows) const {
  windows.context = context_;
  windows.tokens.clear();
  for (std::uint64_t b = 0; b < batch_; ++b) {
    const double place = stream_.uniform(step * batch_ + b) * static_cast<double>(places_);
    append_window(text_, std::min(static_cast<std::size_t>(place), places_ - 1), windows);
  }
}

transformer::Windows even_windows(std::span<const std::int32_t> text, std::size_t context,
                                  std::size_t count) {
  const std::size_t places = window_places(text.size(), context);
  count = std::min(count, places);
  transformer::Windows windows{{}, context};
  windows.tokens.reserve(count * (context + 1));
  for (std::size_t i = 0; i < count; ++i) append_window(text, i * places / count, windows);
  return windows;
}

}  // namespace dewpoint::experiments
