#include "dewpoint/core/estimate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace dewpoint {

void RunningMoments::add(double value) {
  ++samples_;
  const double before = value - mean_;
  mean_ += before / static_cast<double>(samples_);
  squared_deviations_ += before * (value - mean_);
}

void RunningMoments::merge(const RunningMoments& other) {
  if (other.samples_ == 0) return;
  const auto mine = static_cast<double>(samples_);
  const auto theirs = static_cast<double>(other.samples_);
  const double shift = other.mean_ - mean_;
  mean_ += shift * (theirs / (mine + theirs));
  squared_deviations_ +=
      other.squared_deviations_ + shift * shift * (mine * theirs / (mine + theirs));
  samples_ += other.samples_;
}

double RunningMoments::variance() const {
  if (samples_ < 2) return std::numeric_limits<double>::quiet_NaN();
  return squared_deviations_ / static_cast<double>(samples_ - 1);
}

Estimate RunningMoments::estimate() const {
  if (samples_ == 0) return {};
  return {mean_, std::sqrt(variance() / static_cast<double>(samples_)), samples_};
}

std::string to_string(const Estimate& estimate) {
  if (std::isnan(estimate.mean)) return "undefined";
  if (!std::isfinite(estimate.standard_error)) return fmt::format("{:.6g} ± ?", estimate.mean);
  if (estimate.standard_error == 0.0) return fmt::format("{:.10g} ± 0", estimate.mean);
  // Two digits of the error, and the mean to the same place.
  const int places = 1 - static_cast<int>(std::floor(std::log10(estimate.standard_error)));
  if (places > 12) return fmt::format("{:.10g} ± {:.1e}", estimate.mean, estimate.standard_error);
  return fmt::format("{:.{}f} ± {:.{}f}", estimate.mean, std::max(places, 0),
                     estimate.standard_error, std::max(places, 0));
}

}  // namespace dewpoint
