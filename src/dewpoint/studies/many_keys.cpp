#include "dewpoint/studies/many_keys.hpp"

#include <cmath>

namespace dewpoint::studies {

std::optional<ManyKeys> many_keys(const theory::SphereQuery& query) {
  if (query.inverse_temperature > kMostMomentBeta) return {};
  const theory::SphereFluctuations law = theory::sphere_fluctuations(query);
  if (law.log_keys < std::log(kLeastGaussianKeys)) return {};
  const double skewness = law.skewness_coefficient / std::exp(0.5 * law.log_keys);
  if (std::abs(skewness) > kMostGaussianSkewness) return {};
  return ManyKeys{std::exp(law.log_variance_along), skewness};
}

}  // namespace dewpoint::studies
