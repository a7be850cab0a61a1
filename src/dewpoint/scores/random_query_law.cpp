#include "dewpoint/scores/random_query_law.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>

#include "dewpoint/core/distributions/sphere_gap.hpp"
#include "dewpoint/core/error.hpp"
#include "dewpoint/core/vectors.hpp"
#include "dewpoint/scores/gaussian_law.hpp"

namespace dewpoint::scores {
namespace {

constexpr std::uint64_t kFirstOfQuery = std::uint64_t{1} << 63;

}  // namespace

RandomQueryLaw::RandomQueryLaw(int dimension, bool scaled)
    : dimension_(dimension), scaled_(scaled) {
  if (dimension < 1 || dimension > SphereGap::kMostDimension) {
    throw Error(Code::bad_value,
                fmt::format("d: {} is not in [1, {}]", dimension, SphereGap::kMostDimension));
  }
}

std::string RandomQueryLaw::name() const {
  return fmt::format("gaussian-keys:d={},scaled={}", dimension_, scaled_ ? 1 : 0);
}

std::shared_ptr<const TopLaw> RandomQueryLaw::of_query(const Stream& stream) const {
  std::vector<double> query(static_cast<std::size_t>(dimension_));
  stream.normals(kFirstOfQuery, query);
  const double length = std::sqrt(inner(query, query));
  return std::make_shared<GaussianLaw>(scaled_ ? length / std::sqrt(dimension_) : length);
}

std::vector<double> RandomQueryLaw::sample(std::size_t count, const Stream& stream) const {
  return of_query(stream)->sample(count, stream);
}

std::vector<double> RandomQueryLaw::top_depths(double log_scores, std::size_t count,
                                               const Stream& stream) const {
  return of_query(stream)->top_depths(log_scores, count, stream);
}

TiltedDepth RandomQueryLaw::rest(double /*cut*/, double /*tilt*/) const {
  throw Error(
      Code::bad_value,
      fmt::format("law '{}': the scores below a cut have a law only given the query", name()));
}

}  // namespace dewpoint::scores
