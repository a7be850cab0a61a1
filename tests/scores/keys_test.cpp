// Keys as vectors: their geometry, their means, their addresses, and how they are named.
//
// SPDX-License-Identifier: Apache-2.0
#include "dewpoint/scores/keys.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <boost/math/special_functions/bessel.hpp>
#include <cmath>
#include <string>
#include <vector>

#include "dewpoint/core/error.hpp"
#include "dewpoint/core/estimate.hpp"
#include "dewpoint/core/vectors.hpp"
#include "support/kolmogorov_smirnov.hpp"
#include "support/test_seed.hpp"

namespace dewpoint::scores {
namespace {

using dewpoint::test::kSigmas;

constexpr std::size_t kKeys = 20'000;

const std::vector<std::string>& all_laws() {
  static const std::vector<std::string> names = {
      "sphere:d=2",
      "sphere:d=7",
      "vmf:d=2,kappa=3,angle=0.3",
      "vmf:d=5,kappa=500,angle=0",
      "vmf:d=9,kappa=0,angle=0,share=0.98+kappa=60,angle=1.25,share=0.02",
      "subsphere:dim=2,ambient=16,angle=0.5,noise=0",
      "subsphere:dim=1,ambient=2,angle=0,noise=0",
      "subsphere:dim=3,ambient=9,angle=0,noise=0.1",
      "gaussian-keys:d=64"};
  return names;
}

Matrix<double> draw(const KeyLaw& law, std::size_t count, const Stream& stream) {
  Matrix<double> keys(count, law.dimension());
  law.draw(0, keys, stream);
  return keys;
}

// A key depends on its number, not on the block: every block, even of one key.
TEST(KeyLaw, GivesTheSameKeyInEveryBlock) {
  for (const std::string& name : all_laws()) {
    const auto law = key_law(name);
    const Stream stream = test::stream("KeyLaw/Blocks");
    const Matrix<double> keys = draw(*law, 40, stream);
    for (std::size_t rows : {1, 7, 16}) {
      for (std::size_t first = 0; first + rows <= 40; first += rows) {
        Matrix<double> block(rows, law->dimension());
        law->draw(first, block, stream);
        for (std::size_t i = 0; i < rows; ++i)
          for (std::size_t k = 0; k < law->dimension(); ++k)
            ASSERT_EQ(block(i, k), keys(first + i, k)) << name << " " << first;
      }
    }
  }
}

// Two roundings per coordinate and one of the root, and those of a rotation.
TEST(KeyLaw, GivesUnitVectors) {
  for (const std::string& name : all_laws()) {
    if (name.starts_with("gaussian")) continue;
    const Matrix<double> keys = draw(*key_law(name), 500, test::stream("KeyLaw/Unit" + name));
    for (std::size_t i = 0; i < keys.rows(); ++i)
      ASSERT_NEAR(inner(keys.row(i), keys.row(i)), 1.0, 1e-14) << name;
  }
}

/// Mean coordinates with their errors.
std::vector<Estimate> mean_key(const KeyLaw& law, const Stream& stream) {
  const Matrix<double> keys = draw(law, kKeys, stream);
  std::vector<Estimate> means;
  for (std::size_t k = 0; k < keys.cols(); ++k) {
    RunningMoments moments;
    for (std::size_t i = 0; i < keys.rows(); ++i) moments.add(keys(i, k));
    means.push_back(moments.estimate());
  }
  return means;
}

// Property (1): the mean key is A_d(κ) μ with A_d = I_{d/2}/I_{d/2−1}, tangent coordinates zero.
TEST(VonMisesFisherKeys, HaveTheMeanResultantOfBessel) {
  for (int d : {2, 3, 6, 17})
    for (double kappa : {0.0, 0.4, 5.0, 80.0, 600.0})
      for (double angle : {0.0, 1.1, 3.0}) {
        const VonMisesFisherKeys law(d, {{kappa, angle, 1.0}});
        const auto means = mean_key(law, test::stream("VonMisesFisherKeys/Mean" + law.name()));
        const double resultant = kappa == 0.0 ? 0.0
                                              : boost::math::cyl_bessel_i(0.5 * d, kappa) /
                                                    boost::math::cyl_bessel_i(0.5 * d - 1.0, kappa);
        for (int k = 0; k < d; ++k) {
          const double axis = k == 0 ? std::cos(angle) : (k == 1 ? std::sin(angle) : 0.0);
          EXPECT_NEAR(means[k].mean, resultant * axis, kSigmas * means[k].standard_error + 1e-14)
              << law.name() << " " << k;
        }
      }
}

// Property (2): no concentration, no direction: coordinates as those of uniform keys.
TEST(VonMisesFisherKeys, AreUniformWithoutConcentration) {
  std::vector<double> p_values;
  for (int d : {2, 5}) {
    const Matrix<double> uniform = draw(SphereKeys(d), kKeys, test::stream("Keys/Uniform"));
    const Matrix<double> keys =
        draw(VonMisesFisherKeys(d, {{0.0, 0.9, 1.0}}), kKeys, test::stream("Keys/None"));
    for (std::size_t k = 0; k < static_cast<std::size_t>(d); ++k) {
      std::vector<double> first, second;
      for (std::size_t i = 0; i < kKeys; ++i) {
        first.push_back(uniform(i, k));
        second.push_back(keys(i, k));
      }
      p_values.push_back(test::same_law_p(first, second));
    }
  }
  EXPECT_GT(test::smallest_holm_p(p_values), test::kFamilyLevel);
}

// The shares are the chances of the components, told apart here by their hemispheres: κ = 300
// leaves e^{−300} on the other side.
TEST(VonMisesFisherKeys, HaveTheirShares) {
  const VonMisesFisherKeys law(4, {{300.0, 0.0, 0.3}, {300.0, std::acos(-1.0), 0.7}});
  const Matrix<double> keys = draw(law, kKeys, test::stream("VonMisesFisherKeys/Shares"));
  double near = 0.0;
  for (std::size_t i = 0; i < kKeys; ++i) near += keys(i, 0) > 0.0 ? 1.0 : 0.0;
  EXPECT_NEAR(near / kKeys, 0.3, kSigmas * std::sqrt(0.3 * 0.7 / kKeys));
}

// Without noise the keys span d' + 1 directions and lie at angle α at the nearest; the second
// moment of a coordinate of S^{d'} is 1/(d' + 1).
TEST(SubsphereKeys, LieOnTheSubsphere) {
  const SubsphereKeys law({.intrinsic = 2, .ambient = 16, .angle = 0.5, .noise = 0.0});
  const Matrix<double> keys = draw(law, kKeys, test::stream("SubsphereKeys/On"));
  RunningMoments along;
  for (std::size_t i = 0; i < kKeys; ++i) {
    const double score = keys(i, 0), nearest = score / std::cos(0.5);
    EXPECT_LE(std::abs(nearest), 1.0 + 1e-15);
    EXPECT_NEAR(keys(i, 1), std::sin(0.5) * nearest, 1e-15);
    for (std::size_t k = 4; k < 16; ++k) EXPECT_EQ(keys(i, k), 0.0);
    along.add(nearest * nearest);
  }
  const Estimate found = along.estimate();
  EXPECT_NEAR(found.mean, 1.0 / 3.0, kSigmas * found.standard_error);
}

// k = (x + ε g)/|x + ε g|: off the subsphere a coordinate has, to leading order in ε, the second
// moment ε²; the next order is less than (D + 2) ε² of it, 0.2 %.
TEST(SubsphereKeys, AreThickenedByNoise) {
  constexpr double noise = 0.01;
  const SubsphereKeys law({.intrinsic = 2, .ambient = 20, .angle = 0.0, .noise = noise});
  const Matrix<double> keys = draw(law, kKeys, test::stream("SubsphereKeys/Noise"));
  RunningMoments off;
  for (std::size_t i = 0; i < kKeys; ++i) off.add(keys(i, 19) * keys(i, 19) / (noise * noise));
  const Estimate found = off.estimate();
  EXPECT_NEAR(found.mean, 1.0, kSigmas * found.standard_error + 22.0 * noise * noise);
}

TEST(GaussianKeys, AreStandardNormal) {
  const Matrix<double> keys = draw(GaussianKeys(5), kKeys, test::stream("GaussianKeys"));
  RunningMoments squares;
  for (std::size_t i = 0; i < kKeys; ++i) squares.add(inner(keys.row(i), keys.row(i)));
  EXPECT_NEAR(squares.mean(), 5.0, kSigmas * std::sqrt(10.0 / kKeys));
}

// Property (1) of key_law.
TEST(KeyLawNames, AreReadBack) {
  for (const std::string& name : all_laws()) EXPECT_EQ(key_law(name)->name(), name);
  EXPECT_EQ(key_law("vmf:d=5,kappa=5")->name(), "vmf:d=5,kappa=5,angle=0");
  EXPECT_EQ(key_law("vmf:kappa=1e+2,d=5")->name(), "vmf:d=5,kappa=100,angle=0");
  EXPECT_EQ(key_law("subsphere:dim=2,ambient=16")->name(),
            "subsphere:dim=2,ambient=16,angle=0,noise=0");
  EXPECT_EQ(key_law_names().size(), 4);
}

std::string refusal(const std::string& name) {
  try {
    (void)key_law(name);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::bad_value);
    return error.what();
  }
  return "";
}

TEST(KeyLawNames, RefuseWhatIsNotAKeyLaw) {
  EXPECT_EQ(refusal("sphere:d=1"), "law 'sphere:d=1': d: 1 is not in [2, 512]");
  EXPECT_EQ(refusal("gaussian-keys:d=0"), "law 'gaussian-keys:d=0': d: 0 is not in [1, 512]");
  EXPECT_EQ(refusal("vmf:d=3,kappa=-1"), "law 'vmf:d=3,kappa=-1': kappa: -1 is not in [0, 10000]");
  EXPECT_EQ(refusal("vmf:d=3,kappa=1,angle=4"),
            "law 'vmf:d=3,kappa=1,angle=4': angle: 4 is not in [0, pi]");
  EXPECT_EQ(refusal("vmf:d=3,kappa=1,share=0"),
            "law 'vmf:d=3,kappa=1,share=0': share: 0 is not in (0, 1]");
  EXPECT_EQ(refusal("vmf:d=3,kappa=1,share=0.5+kappa=2,share=0.4"),
            "law 'vmf:d=3,kappa=1,share=0.5+kappa=2,share=0.4': share: the sum 0.9 of the shares "
            "is not 1");
  EXPECT_EQ(refusal("subsphere:dim=2,ambient=3,angle=0.5"),
            "law 'subsphere:dim=2,ambient=3,angle=0.5': ambient: 3 is not in [4, 512]");
  EXPECT_EQ(refusal("subsphere:dim=0,ambient=3"),
            "law 'subsphere:dim=0,ambient=3': dim: 0 is not in [1, 512]");
  EXPECT_EQ(refusal("subsphere:dim=2,ambient=9,angle=1.6"),
            "law 'subsphere:dim=2,ambient=9,angle=1.6': angle: 1.6 is not in [0, pi/2)");
  EXPECT_EQ(refusal("subsphere:dim=2,ambient=9,noise=-1"),
            "law 'subsphere:dim=2,ambient=9,noise=-1': noise: -1 is not a number >= 0");
}

}  // namespace
}  // namespace dewpoint::scores
