#include "dewpoint/scores/score_law.hpp"

#include <fmt/format.h>

#include <cmath>
#include <numbers>
#include <utility>

#include "dewpoint/core/error.hpp"

namespace dewpoint::scores {
namespace {

/// log(1 − e^{−x}) from x and log x, which may belong to an x that is no double. The series of
/// log((1 − e^{−x})/x) goes on with x⁶/181440.
double log_one_minus_exp(double x, double log_x) {
  if (x > std::numbers::ln2) return std::log1p(-std::exp(-x));
  if (x > 0.01) return std::log(-std::expm1(-x));
  return log_x + x * (-1.0 / 2.0 + x * (1.0 / 24.0 - x * x / 2880.0));
}

}  // namespace

std::shared_ptr<const TopLaw> ScoreLaw::of_query(const Stream& /*stream*/) const { return nullptr; }

std::shared_ptr<const TopLaw> law_of_row(const TopLaw& law, const Stream& stream) {
  std::shared_ptr<const TopLaw> given = law.of_query(stream);
  return given != nullptr ? given : std::shared_ptr<const TopLaw>(std::shared_ptr<void>(), &law);
}

void require_counts(double log_scores, std::size_t top) {
  constexpr double half = 0.5;  // whatever the rounding of a logarithm
  if (!(log_scores >= std::log(2.0 - half))) {
    throw Error(Code::bad_value, fmt::format("n: {} is not at least 2", std::exp(log_scores)));
  }
  const auto count = static_cast<double>(top);
  if (top < 1 || std::log(count - half) >= log_scores) {
    throw Error(Code::bad_value,
                fmt::format("k: {} is not in [1, n] with n = {:.6g}", top, std::exp(log_scores)));
  }
}

TailLaw::TailLaw(std::shared_ptr<const DepthDistribution> distribution)
    : distribution_(std::move(distribution)) {
  DEWPOINT_EXPECTS(distribution_ != nullptr);
}

std::vector<double> TailLaw::top_depths(double log_scores, std::size_t count,
                                        const Stream& stream) const {
  DEWPOINT_EXPECTS(count >= 1 && log_scores <= most_log_scores());
  const double inverse_count = std::exp(-log_scores);
  std::vector<double> depths(count);
  stream.exponentials(0, depths);
  double sum = 0.0;  // N x_i
  for (std::size_t i = 0; i < count; ++i) {
    sum += depths[i] / (1.0 - static_cast<double>(i) * inverse_count);
    depths[i] = depth_at(log_one_minus_exp(sum * inverse_count, std::log(sum) - log_scores));
  }
  return depths;
}

}  // namespace dewpoint::scores
