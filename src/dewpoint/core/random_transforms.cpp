#include "dewpoint/core/random_transforms.hpp"

#include <cmath>
#include <cstddef>
#include <utility>

namespace dewpoint::transforms {
namespace {

double polynomial(const std::array<double, 7>& terms, double z) {
  double sum = terms.back();
  for (std::size_t power = terms.size() - 1; power-- > 0;) sum = sum * z + terms[power];
  return sum;
}

// Q as the sum of its even and its odd powers, because nothing else can be done while it is waited
// for.
double log_polynomial(double z) {
  const auto& q = kLogTerms;
  const double y = z * z;
  const double even = ((q[6] * y + q[4]) * y + q[2]) * y + q[0];
  const double odd = (q[5] * y + q[3]) * y + q[1];
  return odd * z + even;
}

}  // namespace

double open_uniform(std::uint64_t bits) {
  return std::bit_cast<double>(bits >> 12 | kOneBits) - (1.0 - 0x1p-53);
}

double exponential(std::uint64_t bits) {
  // 1023 + e above, and how far u is beyond √½ 2ᵉ below.
  const std::uint64_t parts =
      std::bit_cast<std::uint64_t>(open_uniform(bits)) - (kRootHalfBits - kOneBits);
  const double minus_e = (0x1p52 + 1023.0) - std::bit_cast<double>(parts >> 52 | kTwo52Bits);
  const double m = std::bit_cast<double>((parts & kMantissa) + kRootHalfBits);
  const double s = (m - 1.0) / (m + 1.0);
  const double z = s * s;
  return minus_e * kLog2 - s * (z * log_polynomial(z) + 2.0);
}

Pair normal_pair(std::uint64_t radius_bits, std::uint64_t angle_bits) {
  const double radius = std::sqrt(2.0 * exponential(radius_bits));

  // An eighth further the quarter is the upper two bits, and the rest is w + 1/8.
  const std::uint64_t turned = angle_bits + (std::uint64_t{1} << 61);
  const double w = std::bit_cast<double>((turned >> 11 & kQuarterMask) | kHalfBits) - 0.625;
  const double z = w * w;
  double x = polynomial(kCosineTerms, z) * z + 1.0;
  double y = polynomial(kSineTerms, z) * w;
  const std::uint64_t quarter = turned >> 62;
  if (quarter % 2 == 1) std::swap(x, y);
  if (quarter == 1 || quarter == 2) x = -x;
  if (quarter >= 2) y = -y;
  return {radius * x, radius * y};
}

}  // namespace dewpoint::transforms
