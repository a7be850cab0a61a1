#include "dewpoint/scores/simplex_law.hpp"

#include <fmt/format.h>

#include "dewpoint/core/error.hpp"

namespace dewpoint::scores {

SimplexLaw::SimplexLaw(double correlation) : correlation_(correlation) {
  if (!(0.0 <= correlation && correlation < 1.0)) {
    throw Error(Code::bad_value, fmt::format("rho: {} is not in [0, 1)", correlation));
  }
}

std::string SimplexLaw::name() const { return fmt::format("simplex:rho={}", correlation_); }

std::vector<double> SimplexLaw::sample(std::size_t count, const Stream& /*stream*/) const {
  std::vector<double> depths(count, 1.0 - correlation_);
  if (count > 0) depths.front() = 0.0;
  return depths;
}

std::vector<double> SimplexLaw::top_depths(double /*log_scores*/, std::size_t count,
                                           const Stream& stream) const {
  return sample(count, stream);
}

TiltedDepth SimplexLaw::rest(double cut, double tilt) const {
  const double distance = 1.0 - correlation_ - cut;
  return {-tilt * distance, distance, distance};
}

}  // namespace dewpoint::scores
