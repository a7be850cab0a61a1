#include "dewpoint/scores/clustered_law.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "dewpoint/core/error.hpp"

namespace dewpoint::scores {

ClusteredLaw::ClusteredLaw(const Shape& shape) : shape_(shape) {
  if (!(-1.0 <= shape.inner && shape.inner < 1.0)) {
    throw Error(Code::bad_value, fmt::format("inner: {} is not in [-1, 1)", shape.inner));
  }
  if (!(-1.0 <= shape.outer && shape.outer <= shape.inner)) {
    throw Error(Code::bad_value,
                fmt::format("outer: {} is not in [-1, inner = {}]", shape.outer, shape.inner));
  }
  if (shape.size < 1 || shape.size > kMostSize) {
    throw Error(Code::bad_value, fmt::format("size: {} is not in [1, {}]", shape.size, kMostSize));
  }
}

std::string ClusteredLaw::name() const {
  return fmt::format("clustered:inner={},outer={},size={}", shape_.inner, shape_.outer,
                     shape_.size);
}

std::vector<double> ClusteredLaw::sample(std::size_t count, const Stream& /*stream*/) const {
  std::vector<double> depths(count, 1.0 - shape_.outer);
  const auto mates = static_cast<std::ptrdiff_t>(std::min(count, shape_.size));
  std::fill(depths.begin(), depths.begin() + mates, 1.0 - shape_.inner);
  if (count > 0) depths.front() = 0.0;
  return depths;
}

std::vector<double> ClusteredLaw::top_depths(double log_scores, std::size_t count,
                                             const Stream& stream) const {
  const double all = std::round(std::exp(std::min(log_scores, 40.0)));
  const double cluster = std::min(all, static_cast<double>(shape_.size));
  return sample(std::max(count, static_cast<std::size_t>(cluster)), stream);
}

TiltedDepth ClusteredLaw::rest(double cut, double tilt) const {
  const double distance = 1.0 - shape_.outer - cut;
  return {-tilt * distance, distance, distance};
}

}  // namespace dewpoint::scores
