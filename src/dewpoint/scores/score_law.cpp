#include "dewpoint/scores/score_law.hpp"

#include <cmath>
#include <numbers>

#include "dewpoint/core/error.hpp"

namespace dewpoint::scores {
namespace {

/// log(1 − e^{−x}) from log x.
double log_one_minus_exp(double log_x) {
  const double x = std::exp(log_x);
  if (x > std::numbers::ln2) return std::log1p(-std::exp(-x));
  return x < 1e-16 ? log_x : std::log(-std::expm1(-x));
}

}  // namespace

std::vector<double> TailLaw::top_depths(double log_scores, std::size_t count,
                                        const Stream& stream) const {
  DEWPOINT_EXPECTS(count >= 1 && log_scores <= most_log_scores());
  const double inverse_count = std::exp(-log_scores);
  std::vector<double> depths(count);
  double sum = 0.0;  // N x_i
  for (std::size_t i = 0; i < count; ++i) {
    sum += stream.exponential(i) / (1.0 - static_cast<double>(i) * inverse_count);
    depths[i] = depth_at(log_one_minus_exp(std::log(sum) - log_scores));
  }
  return depths;
}

}  // namespace dewpoint::scores
