// Scores on the sphere: direct draws against their law, moments below a cut against polynomials
// integrated in many digits and against Bessel functions.
//
// SPDX-License-Identifier: Apache-2.0
#include "dewpoint/scores/sphere_law.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <boost/multiprecision/cpp_bin_float.hpp>
#include <cmath>
#include <string>
#include <vector>

#include "dewpoint/core/error.hpp"
#include "dewpoint/theory/sphere_average.hpp"
#include "support/kolmogorov_smirnov.hpp"
#include "support/test_seed.hpp"

namespace dewpoint::scores {
namespace {

using Wide = boost::multiprecision::number<boost::multiprecision::cpp_bin_float<450>>;

/// ∫_0^length x^j e^{−λx} dx for j = 0..most: forwards, j m_{j−1}/λ − length^j e^{−λ length}/λ. A
/// step loses a factor j/(λ length): together at most 129!/0.07¹²⁹ = 1e366 of 450 digits below.
std::vector<Wide> powers_against_exponential(const Wide& tilt, const Wide& length, int most) {
  const Wide end = exp(-tilt * length);
  std::vector<Wide> integrals{(1 - end) / tilt};
  for (int j = 1; j <= most; ++j)
    integrals.push_back((j * integrals.back() - pow(length, j) * end) / tilt);
  return integrals;
}

/// At odd d the density is the polynomial (t(2 − t))^{a−1}: its coefficients in x = t − cut.
std::vector<Wide> density_from_cut(int dimension, const Wide& cut) {
  std::vector<Wide> polynomial{1};
  for (int k = 0; k < (dimension - 3) / 2; ++k) {
    const Wide factor[3] = {cut * (2 - cut), 2 - 2 * cut, -1};
    std::vector<Wide> product(polynomial.size() + 2);
    for (std::size_t i = 0; i < polynomial.size(); ++i)
      for (std::size_t j = 0; j < 3; ++j) product[i + j] += polynomial[i] * factor[j];
    polynomial = product;
  }
  return polynomial;
}

Wide moment(const std::vector<Wide>& density, const std::vector<Wide>& integrals, int power) {
  Wide sum = 0;
  for (std::size_t i = 0; i < density.size(); ++i) sum += density[i] * integrals[i + power];
  return sum;
}

TEST(SphereRest, AgreesWithPolynomialsInManyDigits) {
  for (int dimension : {3, 5, 9, 17, 65, 129})
    for (double cut : {1e-200, 1e-6, 0.01, 0.2, 0.6, 1.0, 1.5})
      for (double load : {0.05, 1.0, 7.0, 60.0, 3e3}) {
        const double tilt = load / std::min(cut, 0.7);
        const std::vector<Wide> density = density_from_cut(dimension, cut);
        const int degree = static_cast<int>(density.size()) + 1;
        const auto integrals = powers_against_exponential(tilt, 2 - Wide(cut), degree);
        Wide norm = 0;
        for (std::size_t i = 0; i < density.size(); ++i)
          norm += density[i] * pow(2 - Wide(cut), static_cast<int>(i) + 1) / (i + 1);
        const Wide mass = moment(density, integrals, 0),
                   mean = moment(density, integrals, 1) / mass;
        const Wide square = moment(density, integrals, 2) / mass;
        const double log_mass = static_cast<double>(log(mass / norm));
        const TiltedDepth rest = SphereLaw(dimension).rest(cut, tilt);
        EXPECT_NEAR(rest.log_mass, log_mass, kSphereRestError * (1.0 + std::abs(log_mass)))
            << dimension << " " << cut << " " << tilt;
        EXPECT_NEAR(rest.mean / static_cast<double>(mean), 1.0, kSphereRestError)
            << dimension << " " << cut << " " << tilt;
        EXPECT_NEAR(rest.root_mean_square / static_cast<double>(sqrt(square)), 1.0,
                    kSphereRestError)
            << dimension << " " << cut << " " << tilt;
      }
}

// Property (3): with no cut the moments are a Bessel function, even d included.
TEST(SphereRest, IsTheSphereAverageWhenNothingIsCut) {
  for (int dimension : {2, 3, 4, 7, 8, 64, 128, 512}) {
    const theory::SphereAverage average(dimension);
    for (double tilt : {1e-3, 0.3, 5.0, 40.0, 300.0, 1e5, 1e12, 1e140}) {
      const double exact = average.log(tilt);
      EXPECT_NEAR(SphereLaw(dimension).rest(0.0, tilt).log_mass, exact,
                  (kSphereRestError + theory::kSphereAverageRounding) * (1.0 + std::abs(exact)) +
                      theory::kSphereAverageError)
          << dimension << " " << tilt;
    }
  }
}

// Property (2), which checks every quadrature against the distribution function. The last cut is
// beyond most of the law.
TEST(SphereRest, HasMassOneWithoutTilt) {
  for (int dimension : {2, 3, 4, 8, 9, 64, 512})
    for (double cut : {1e-250, 1e-4, 0.3, 0.9, 1.1, 1.6}) {
      const double log_survival = SphereGap(dimension).log_survival(cut);
      EXPECT_NEAR(SphereLaw(dimension).rest(cut, 0.0).log_mass, 0.0,
                  kSphereRestError * (1.0 - log_survival))
          << dimension << " " << cut;
    }
}

// Property (1) by a central difference, with a step of h = 1e-4 of the tilt: it errs by h² times
// three central moments of λx/6, below 4 (1 + λ · rms)³, and by rounding over the step.
TEST(SphereRest, HasItsMeanAsDerivative) {
  for (int dimension : {2, 4, 8, 64})
    for (double cut : {1e-5, 0.1, 0.5})
      for (double tilt : {1.0, 20.0, 1e6}) {
        const SphereLaw law(dimension);
        const double step = 1e-4 * tilt;
        const double below = law.rest(cut, tilt - step).log_mass;
        const double slope = (below - law.rest(cut, tilt + step).log_mass) / (2.0 * step);
        const TiltedDepth rest = law.rest(cut, tilt);
        const double scale = 1.0 + tilt * rest.root_mean_square;
        EXPECT_NEAR(slope, rest.mean,
                    (1e-8 * 4.0 * scale * scale * scale * tilt +
                     kSphereRestError * (1.0 + std::abs(below)) * 1e4 * tilt) /
                        (tilt * tilt))
            << dimension << " " << cut << " " << tilt;
      }
}

// Direct draws become uniform under their own distribution function: Kolmogorov's distance to it,
// odd and even d, more than sixteen pairs of coordinates included.
TEST(SphereSample, FollowsTheGapLaw) {
  std::vector<double> p_values;
  for (int dimension : {2, 3, 4, 5, 9, 16, 40, 101}) {
    const SphereLaw law(dimension);
    constexpr std::size_t count = 20'000;
    std::vector<double> uniform =
        law.sample(count, test::stream("SphereSample/" + std::to_string(dimension)));
    for (double& value : uniform) value = std::exp(law.log_tail(value));
    std::sort(uniform.begin(), uniform.end());
    double distance = 0.0;
    for (std::size_t i = 0; i < count; ++i) {
      distance = std::max({distance, (static_cast<double>(i) + 1.0) / count - uniform[i],
                           uniform[i] - static_cast<double>(i) / count});
    }
    p_values.push_back(test::kolmogorov_tail(std::sqrt(count) * distance));
  }
  EXPECT_GT(test::smallest_holm_p(p_values), test::kFamilyLevel);
}

TEST(SphereLaw, KnowsItsLimits) {
  EXPECT_EQ(SphereLaw(5).name(), "sphere:d=5");
  EXPECT_EQ(SphereLaw(5).origin(), 1.0);
  EXPECT_THROW(SphereLaw(1), Error);
  EXPECT_THROW(SphereLaw(513), Error);
  for (int dimension : {2, 3, 64}) {
    const SphereLaw law(dimension);
    // The nearest possible key of the largest possible N is still at a positive gap.
    EXPECT_GT(law.depth_at(-37.0 - law.most_log_scores()), 0.0);
  }
  EXPECT_GT(SphereLaw(3).most_log_scores(), std::log(1e300));
}

}  // namespace
}  // namespace dewpoint::scores
