#include "dewpoint/experiments/critical_limit.hpp"

#include <boost/math/special_functions/gamma.hpp>
#include <cmath>
#include <span>
#include <vector>

#include "dewpoint/core/error.hpp"
#include "dewpoint/core/random.hpp"

namespace dewpoint::experiments {
namespace {

constexpr std::uint64_t kRestIndex = std::uint64_t{1} << 62;

// Mean of Σ_{k>K} e^{−θΓ_k^{1/a}} given Γ_K.
double rest_mean(double theta, double a, double arrival) {
  return std::pow(theta, -a) * std::tgamma(a + 1.0) *
         boost::math::gamma_q(a, theta * std::pow(arrival, 1.0 / a));
}

void draw(const CriticalLimit& question, const Stream& stream, std::span<double> weights) {
  const double a = question.exponent;
  double arrival = 0.0, nearest = 0.0, partition = 0.0;
  for (std::size_t k = 0; k < question.top; ++k) {
    arrival += stream.exponential(k);
    const double gap = question.theta * std::pow(arrival, 1.0 / a);
    if (k == 0) nearest = gap;
    const double weight = std::exp(nearest - gap);
    partition += weight;
    if (k < weights.size()) weights[k] = weight;
  }
  const double mean = rest_mean(question.theta, a, arrival);
  const double deviation = std::sqrt(rest_mean(2.0 * question.theta, a, arrival));
  const double rest = mean + deviation * stream.normal(kRestIndex);
  if (rest > 0.0) partition += std::exp(std::log(rest) + nearest);
  for (double& weight : weights) weight /= partition;
}

}  // namespace

Matrix<double> critical_limit_weights(const CriticalLimit& question, const RunContext& context) {
  DEWPOINT_EXPECTS(question.theta > 0.0 && question.exponent >= 0.5);
  DEWPOINT_EXPECTS(question.ranks >= 1 && question.ranks <= question.top);
  Matrix<double> weights(question.draws, question.ranks);
  parallel_for(question.draws, context, [&](std::size_t i) {
    draw(question, Stream(question.seed, "critical-limit", i), weights.view().row(i));
  });
  return weights;
}

}  // namespace dewpoint::experiments
