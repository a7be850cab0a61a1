#include "dewpoint/scores/gaussian_law.hpp"

#include <fmt/format.h>

#include <cmath>

#include "dewpoint/core/distributions/normal.hpp"
#include "dewpoint/core/error.hpp"

namespace dewpoint::scores {

namespace {

double checked_deviation(double deviation) {
  if (!(deviation > 0.0) || std::isinf(deviation)) {
    throw Error(Code::bad_value, fmt::format("sigma: {} is not a positive number", deviation));
  }
  return deviation;
}

}  // namespace

GaussianLaw::GaussianLaw(double deviation)
    : TailLaw(std::make_shared<NormalDepth>(checked_deviation(deviation))), deviation_(deviation) {}

std::string GaussianLaw::name() const { return fmt::format("gaussian:sigma={}", deviation_); }

std::vector<double> GaussianLaw::sample(std::size_t count, const Stream& stream) const {
  std::vector<double> depths(count);
  stream.normals(0, depths);
  for (double& depth : depths) depth *= -deviation_;
  return depths;
}

double GaussianLaw::log_rest_mass(double cut, double tilt) const {
  DEWPOINT_EXPECTS(tilt >= 0.0);
  const double score = -cut / deviation_, lambda = tilt * deviation_, above = lambda - score;
  const double log_mass = above > 0.0
                              ? normal::log_density(score) - std::log(normal::tail_hazard(above))
                              : lambda * (0.5 * lambda - score) + normal::log_cdf(-above);
  return log_mass - normal::log_cdf(score);
}

TiltedDepth GaussianLaw::rest(double cut, double tilt) const {
  const normal::TailExcess excess = normal::tail_excess(tilt * deviation_ + cut / deviation_);
  return {log_rest_mass(cut, tilt), deviation_ * excess.mean,
          deviation_ * std::sqrt(excess.mean_square)};
}

}  // namespace dewpoint::scores
