#include "dewpoint/experiments/longer_contexts.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "dewpoint/core/error.hpp"
#include "dewpoint/experiments/text_windows.hpp"
#include "dewpoint/transformer/network.hpp"

namespace dewpoint::experiments {
namespace {

using transformer::Windows;

// Rows of a batch, where one window does not have more: enough to keep threads busy.
constexpr std::size_t kBatchRows = 16384;

std::size_t targets_in(std::size_t s) { return std::max<std::size_t>(s / 2, 1); }

// The last `length` tokens and the label of some windows.
Windows ends_of(const Windows& windows, Range which, std::size_t length) {
  Windows ends{{}, length};
  for (std::size_t w = which.begin; w < which.end; ++w) {
    const auto end = windows.window(w).last(length + 1);
    ends.tokens.insert(ends.tokens.end(), end.begin(), end.end());
  }
  return ends;
}

}  // namespace

Windows longer_windows(std::span<const std::int32_t> text, std::size_t s) {
  const std::size_t longest = s * kLengthFactors.back(), each = targets_in(s);
  if (window_places(text.size(), longest) == 0) {
    throw Error(Code::bad_value,
                fmt::format("s: {} needs a validation part of at least {} tokens, for contexts of "
                            "{} times s, and it has {}",
                            s, longest + 1, kLengthFactors.back(), text.size()));
  }
  return even_windows(text, longest, (kLongerTargets + each - 1) / each);
}

double loss_given(const transformer::Shape& shape, const transformer::Weights<float>& weights,
                  const Windows& windows, std::size_t s, std::size_t factor,
                  const RunContext& context) {
  const std::size_t length = factor * s, asked = targets_in(s);
  DEWPOINT_EXPECTS(length <= windows.context && windows.size() > 0);
  const std::size_t step = std::clamp<std::size_t>(kBatchRows / length, 1, windows.size());
  transformer::Network<float> network(shape,
                                      {step * length, step, step * asked, step * asked, length});
  transformer::Batch batch;
  double sum = 0.0;
  for (std::size_t begin = 0; begin < windows.size(); begin += step) {
    context.throw_if_stopped();
    const Range which{begin, std::min(windows.size(), begin + step)};
    transformer::fill_ends(ends_of(windows, which, length), asked, batch);
    const RunContext within{context.threads, {}, {}};
    sum += static_cast<double>(which.size()) * network.loss(weights, batch, within);
  }
  return sum / static_cast<double>(windows.size());
}

}  // namespace dewpoint::experiments
