#include "dewpoint/scores/subsphere_law.hpp"

#include <fmt/format.h>

#include <cmath>
#include <memory>

#include "dewpoint/core/error.hpp"

namespace dewpoint::scores {
namespace {

const SubsphereKeys::Shape& without_noise(const SubsphereKeys::Shape& shape) {
  if (shape.noise != 0.0) {
    throw Error(Code::bad_value,
                fmt::format("noise: {} is not 0, the only value whose scores have a known law",
                            shape.noise));
  }
  return shape;
}

}  // namespace

SubsphereLaw::SubsphereLaw(const SubsphereKeys::Shape& shape)
    : SubsphereLaw(SubsphereKeys(without_noise(shape)), SphereLaw(shape.intrinsic + 1)) {}

SubsphereLaw::SubsphereLaw(const SubsphereKeys& keys, const SphereLaw& sphere)
    : TailLaw(std::make_shared<ScaledDepth>(sphere.distribution(), std::cos(keys.shape().angle))),
      keys_(keys),
      sphere_(sphere),
      factor_(std::cos(keys.shape().angle)) {}

std::vector<double> SubsphereLaw::sample(std::size_t count, const Stream& stream) const {
  std::vector<double> depths = sphere_.sample(count, stream);
  for (double& depth : depths) depth *= factor_;
  return depths;
}

TiltedDepth SubsphereLaw::rest(double cut, double tilt) const {
  const TiltedDepth sphere = sphere_.rest(cut / factor_, tilt * factor_);
  return {sphere.log_mass, factor_ * sphere.mean, factor_ * sphere.root_mean_square};
}

// The smallest depth shrinks by cos α: N by its power a.
double SubsphereLaw::most_log_scores() const {
  return sphere_.most_log_scores() + 0.5 * keys_.shape().intrinsic * std::log(factor_);
}

}  // namespace dewpoint::scores
