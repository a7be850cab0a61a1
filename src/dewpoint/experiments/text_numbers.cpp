#include <algorithm>
#include <cmath>

#include "dewpoint/experiments/text_training.hpp"

namespace dewpoint::experiments {
namespace {

using Looks = std::span<const transformer::Look>;

TextNumbers nothing_seen() {
  return {kUnknown, kUnknown, kUnknown, kUnknown, kUnknown, kUnknown, kUnknown, kUnknown, {}};
}

/// The last one that was measured.
double last_known(Looks looks, double transformer::Look::*field) {
  double value = kUnknown;
  for (const transformer::Look& look : looks) {
    if (!std::isnan(look.*field)) value = look.*field;
  }
  return value;
}

/// Attention that is shared out evenly over the probe is no focus: a peak is one where it rises
/// above that by as much as a stage asks for.
bool has_risen(double peak, const transformer::Look& look) {
  const double base = 1.0 / static_cast<double>(look.attention[0].rows());
  return peak >= base + training::StageThresholds{}.rise * (1.0 - base);
}

void find_focus(Looks looks, TextNumbers& numbers) {
  std::vector<double> focus;
  for (const transformer::Look& look : looks) focus.push_back(transformer::focus_of(look));
  const auto peak = std::max_element(focus.begin(), focus.end());
  const auto step = [&](auto place) {
    return looks[static_cast<std::size_t>(place - focus.begin())].step;
  };
  numbers.focus_peak = *peak;
  numbers.final_focus = focus.back();
  if (!has_risen(*peak, looks[0])) return;
  numbers.focus_step = step(peak);
  const auto half = std::find_if(peak, focus.end(), [&](double f) { return f < 0.5 * *peak; });
  if (half != focus.end()) numbers.dilution_step = step(half);
}

}  // namespace

TextNumbers text_numbers(std::span<const transformer::Look> looks) {
  TextNumbers numbers = nothing_seen();
  if (looks.empty()) return numbers;
  numbers.final_loss = last_known(looks, &transformer::Look::loss);
  numbers.validation_loss = last_known(looks, &transformer::Look::validation_loss);
  find_focus(looks, numbers);
  numbers.final_self_share = transformer::self_share_of(looks.back());
  numbers.rank_one = looks.back().rank_one;
  for (std::size_t token = 0; token < looks[0].norms.size(); ++token) {
    const auto deepest = deepest_retraction(looks, token);
    numbers.retraction.push_back(deepest ? deepest->depth() : kUnknown);
  }
  return numbers;
}

}  // namespace dewpoint::experiments
