#include "dewpoint/scores/sphere_law.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <utility>

#include "dewpoint/core/error.hpp"

namespace dewpoint::scores {
namespace {

// Where the uniform numbers of sample() begin: far beyond the blocks of its normal ones.
constexpr std::uint64_t kFirstUniform = std::uint64_t{1} << 62;

int checked_dimension(int dimension) {
  if (dimension < 2 || dimension > SphereGap::kMostDimension) {
    throw Error(Code::bad_value,
                fmt::format("d: {} is not in [2, {}]", dimension, SphereGap::kMostDimension));
  }
  return dimension;
}

/// −2 log of a product of `count` uniform numbers: the sum of 2·count squared normal ones. A
/// uniform number is at least 2⁻⁵³, so sixteen may be multiplied before a logarithm is due.
double sum_of_squares(const Stream& stream, std::uint64_t first, std::uint64_t count) {
  double sum = 0.0, product = 1.0;
  for (std::uint64_t i = 0; i < count; ++i) {
    product *= stream.uniform(first + i);
    if (i % 16 == 15 || i + 1 == count) {
      sum -= 2.0 * std::log(product);
      product = 1.0;
    }
  }
  return sum;
}

/// 1 − z/√(z² + R).
double gap_of(double along, double across) {
  const double length = std::sqrt(along * along + across);
  return along > 0.0 ? across / (length * (length + along)) : (length - along) / length;
}

}  // namespace

SphereLaw::SphereLaw(int dimension)
    : SphereLaw(std::make_shared<SphereGap>(checked_dimension(dimension))) {}

SphereLaw::SphereLaw(std::shared_ptr<const SphereGap> gap)
    : TailLaw(gap), gap_(std::move(gap)), rest_(gap_->dimension()) {}

std::string SphereLaw::name() const { return fmt::format("sphere:d={}", gap_->dimension()); }

std::vector<double> SphereLaw::sample(std::size_t count, const Stream& stream) const {
  const auto others = static_cast<std::uint64_t>(gap_->dimension() - 1), pairs = others / 2;
  std::vector<double> depths(count);
  for (std::uint64_t j = 0; j < count; ++j) {
    std::array<double, 2> normals{};
    stream.normals(2 * j, normals);
    const double odd = others % 2 == 1 ? normals[1] * normals[1] : 0.0;
    depths[j] = gap_of(normals[0], odd + sum_of_squares(stream, kFirstUniform + j * pairs, pairs));
  }
  return depths;
}

TiltedDepth SphereLaw::rest(double cut, double tilt) const {
  const SphereTilt tilted = rest_.moments(cut, tilt);
  return {tilted.log_mass, std::exp(tilted.log_x), std::exp(0.5 * tilted.log_xx)};
}

double SphereLaw::most_log_scores() const {
  constexpr double least_log_double = -744.0, least_log_exponential = -37.0;
  return least_log_exponential - gap_->exponent() * least_log_double -
         std::log(gap_->local_constant());
}

}  // namespace dewpoint::scores
