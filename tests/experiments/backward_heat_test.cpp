// Attention as a backward heat equation: growth of harmonics against closed forms, drift of a query
// among directed keys against the exact mean and against its own noise.
//
// SPDX-License-Identifier: Apache-2.0
#include "dewpoint/experiments/backward_heat.hpp"

#include <gtest/gtest.h>

#include <boost/math/special_functions/bessel.hpp>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "dewpoint/core/error.hpp"
#include "experiments/key_laws.hpp"
#include "support/test_seed.hpp"

namespace dewpoint::experiments {
namespace {

using test::VonMisesFisherKeys;

double allowed(const Estimate& estimate) { return test::kSigmas * estimate.standard_error; }

// I_{d/2−1+ℓ}(β)/I_{d/2−1}(β).
double bessel_ratio(double d, double degree, double beta) {
  return boost::math::cyl_bessel_i(0.5 * d - 1.0 + degree, beta) /
         boost::math::cyl_bessel_i(0.5 * d - 1.0, beta);
}

double expected_growth(double d, double degree, double beta, double share) {
  const double eigenvalue = degree * (degree + d - 2.0);
  return 1.0 + share * eigenvalue * bessel_ratio(d, degree, beta) /
                   (beta * (1.0 - share + share * bessel_ratio(d, 1.0, beta)));
}

// ---- harmonics ------------------------------------------------------------------------------

HarmonicGrowth growth_question(double beta, std::size_t degree, double share) {
  HarmonicGrowth asked;
  asked.attention_share = share;
  asked.inverse_temperatures = {beta};
  asked.degrees = {degree};
  return asked;
}

double one_growth(const HarmonicGrowth& asked) { return harmonic_growth(asked)[0].factors[0]; }

// Property (1), half a printed digit.
TEST(HarmonicGrowth, ReproducesPrintedValuesToSixDigits) {
  EXPECT_NEAR(one_growth(growth_question(20.0, 3, 0.5)), 1.180979, 5e-7);
  EXPECT_NEAR(one_growth(growth_question(50.0, 5, 0.1)), 1.038888, 5e-7);
  EXPECT_NEAR(one_growth(growth_question(8.0, 2, 0.7)), 1.280902, 5e-7);
  EXPECT_NEAR(one_growth(growth_question(50.0, 5, 1.0)), 1.392437, 5e-7);
}

// Properties (1) and (2).
TEST(HarmonicGrowth, OnTheCircleIsTheClosedFormAtEveryStep) {
  HarmonicGrowth asked;
  asked.particles = 1000;
  asked.steps = 3;
  asked.inverse_temperatures = {20.0, 50.0, 200.0};
  asked.degrees = {1, 2, 3, 5, 8};
  for (const GrowthFactors& growth : harmonic_growth(asked)) {
    const double expected =
        expected_growth(2.0, static_cast<double>(growth.degree), growth.inverse_temperature, 1.0);
    ASSERT_EQ(growth.factors.size(), 3U);
    double amplitude = asked.amplitude;
    for (const double factor : growth.factors) {
      EXPECT_NEAR(factor, expected, amplitude * amplitude + kGrowthRoundings / asked.amplitude)
          << growth.inverse_temperature << ' ' << growth.degree;
      amplitude *= factor;
    }
  }
}

// Attention moves twice as far as undoing its own smoothing would: that guess, e^{λ/(2β)}, is off
// by a thousand times the error, and so is the first order e^{λ/β} at these degrees.
TEST(HarmonicGrowth, IsNotTheInverseOfTheSmoothing) {
  const double measured = one_growth(growth_question(50.0, 5, 1.0));
  EXPECT_GT(std::abs(measured - std::exp(25.0 / 100.0)), 0.1);
  EXPECT_GT(std::abs(measured - std::exp(25.0 / 50.0)), 0.1);
  const double slow = one_growth(growth_question(200.0, 1, 1.0));
  EXPECT_NEAR(slow, std::exp(1.0 / 200.0), 1.0 / (200.0 * 200.0));
  EXPECT_GT(std::abs(slow - std::exp(1.0 / 400.0)), 2e-3);
}

// Property (1) on S².
TEST(HarmonicGrowth, OnTheSphereIsTheClosedForm) {
  HarmonicGrowth asked;
  asked.manifold = Manifold::sphere;
  asked.particles = 6000;
  asked.inverse_temperatures = {50.0};
  asked.degrees = {1, 3, 8};
  for (const GrowthFactors& growth : harmonic_growth(asked)) {
    const double expected =
        expected_growth(3.0, static_cast<double>(growth.degree), growth.inverse_temperature, 1.0);
    EXPECT_NEAR(growth.factors[0], expected, kEmpiricalSpiralError)
        << growth.inverse_temperature << ' ' << growth.degree;
  }
}

// Property (3).
TEST(HarmonicGrowth, IsTheSameForAnyNumberOfThreads) {
  HarmonicGrowth asked = growth_question(20.0, 2, 0.8);
  asked.particles = 500;
  asked.steps = 2;
  EXPECT_EQ(harmonic_growth(asked, {1, {}, {}})[0].factors,
            harmonic_growth(asked, {2, {}, {}})[0].factors);
}

void expect_refused(const HarmonicGrowth& asked, const std::string& words) {
  try {
    (void)harmonic_growth(asked);
    ADD_FAILURE() << "accepted: " << words;
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::bad_value);
    EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();
  }
}

TEST(HarmonicGrowth, RefusesWhatCannotBeAsked) {
  expect_refused(growth_question(-1.0, 1, 1.0), "beta: -1 is not");
  expect_refused(growth_question(1.0, 0, 1.0), "degree: 0 is not");
  expect_refused(growth_question(1.0, 1, 0.0), "share: 0 is not");
  expect_refused(growth_question(0.009, 1, 1.0), "beta: 0.009 is not at least 0.01 at residual 0");
  EXPECT_EQ(harmonic_growth(growth_question(0.009, 1, 0.9)).size(), 1U);
  HarmonicGrowth asked = growth_question(1e4, 1, 1.0);
  asked.particles = 100;
  expect_refused(asked, "particles: 100 is not at least 802, to resolve beta = 10000");
  asked.particles = 3;
  expect_refused(asked, "particles: 3 is not in [16, 100000]");
  asked.particles = 1000;
  asked.steps = 0;
  expect_refused(asked, "steps: 0 is not at least 1");
  asked.steps = 1;
  asked.amplitude = 0.5;
  expect_refused(asked, "amplitude: 0.5 is not");
}

// ---- drift ----------------------------------------------------------------------------------

constexpr double kKappa = 5.0, kAngle = 1.0, kDimension = 5.0;

// The mean direction of keys that are weighed with e^{β⟨q, k⟩}: they are again von Mises-Fisher
// keys, around βq + κμ. Along q, along the gradient, and all of it.
struct Tilted {
  double along_query, along_gradient, concentration;
};

Tilted tilted(double beta) {
  return {beta + kKappa * std::cos(kAngle), kKappa * std::sin(kAngle),
          std::hypot(beta + kKappa * std::cos(kAngle), kKappa * std::sin(kAngle))};
}

// log E e^{κ⟨μ, k⟩} over uniform keys of R⁵, log[3(κ cosh κ − sinh κ)/κ³], and its derivative A_5.
double log_normaliser(double concentration) {
  const double far = std::exp(-2.0 * concentration);
  return concentration - 3.0 * std::log(concentration) +
         std::log(1.5 * (concentration - 1.0 + (concentration + 1.0) * far));
}

double mean_length(double concentration) {
  return concentration / (concentration / std::tanh(concentration) - 1.0) - 3.0 / concentration;
}

// n E|o⊥ − E o⊥|² by the delta method: R E_{2β}|k⊥ − m⊥|² with m the mean at β, R = Z(2β)/Z(β)².
struct DeltaMethod {
  double noise, ratio;
};

DeltaMethod delta_method(double beta) {
  const Tilted one = tilted(beta), two = tilted(2.0 * beta);
  const double ratio = std::exp(log_normaliser(two.concentration) + log_normaliser(kKappa) -
                                2.0 * log_normaliser(one.concentration));
  const double mean = mean_length(one.concentration) * one.along_gradient / one.concentration;
  const double length = mean_length(two.concentration),
               direction = two.along_gradient / two.concentration;
  const double isotropic = length / two.concentration;
  const double second =
      (kDimension - 1.0) * isotropic + (1.0 - kDimension * isotropic) * direction * direction;
  return {ratio * (second - 2.0 * mean * length * direction + mean * mean), ratio};
}

// β_heat^{(d+1)/2} = 2^{a+1} c_d Γ(a + 1) n f(q)|∇log f|²/(d − 1) with a = 2, c_5 = 3/4.
double heat_threshold(double keys) {
  const double log_density = kKappa * std::cos(kAngle) - log_normaliser(kKappa);
  const double steepness = kKappa * std::sin(kAngle);
  return std::cbrt(8.0 * 0.75 * 2.0 * keys * std::exp(log_density) * steepness * steepness / 4.0);
}

std::vector<HeatDrift> measured_drift(double keys, std::size_t draws, std::vector<double> betas,
                                      int threads = 0) {
  KeyOutput asked;
  asked.keys = static_cast<std::size_t>(keys);
  asked.draws = draws;
  asked.inverse_temperatures = std::move(betas);
  asked.seed = test::seed();
  const std::vector<double> gradient{0.0, kKappa * std::sin(kAngle), 0.0, 0.0, 0.0};
  return heat_drift(VonMisesFisherKeys(kKappa, kAngle), gradient, asked, {threads, {}, {}});
}

// Property (1). The bias of second order is at most R/n of the mean itself.
TEST(HeatDrift, IsTheClosedFormOfDirectedKeys) {
  constexpr double keys = 3e4;
  for (const HeatDrift& drift : measured_drift(keys, 30, {5.0, 15.0, 40.0})) {
    const double beta = drift.inverse_temperature;
    const Tilted one = tilted(beta);
    const double length = mean_length(one.concentration);
    const double expected = length * one.along_gradient / one.concentration;
    const double bias = delta_method(beta).ratio / keys;
    EXPECT_NEAR(drift.along_gradient.mean, expected,
                allowed(drift.along_gradient) + bias * expected);
    const double gap = 1.0 - length * one.along_query / one.concentration;
    EXPECT_NEAR(drift.gap.mean, gap, allowed(drift.gap) + bias * gap);
    // First order in 1/β: a relative error of (d + κ)/β here, and towards (1/β)∇log f, not away.
    EXPECT_NEAR(drift.relative_drift.mean, 1.0,
                allowed(drift.relative_drift) + (kDimension + kKappa) / beta);
    EXPECT_GT(drift.along_gradient.mean, allowed(drift.along_gradient));
  }
}

// Property (2): by the delta method, whose first neglected term is of relative order R/n, and by
// the power of β/β_heat, which holds to first order in 1/β: (d + κ)/β = 0.07 at β_heat. The noise
// adds four variances that are nearly equal, so it is nearly χ²_k with k = 4 × 59, whose tail is
// P(χ²_k/k > 1 + 2√(x/k) + 2x/k) ≤ e^{−x} [Laurent and Massart 2000] with x = kSigmas²/2.
TEST(HeatDrift, DrownsInItsNoiseBeyondTheSecondThreshold) {
  constexpr double keys = 3e4, k = 4.0 * 59.0;
  const double tolerance = test::kSigmas * std::sqrt(2.0 / k) + test::kSigmas * test::kSigmas / k;
  const double threshold = heat_threshold(keys);
  const auto drifts = measured_drift(keys, 60, {0.3 * threshold, threshold, 3.0 * threshold});
  for (const HeatDrift& drift : drifts) {
    const DeltaMethod limit = delta_method(drift.inverse_temperature);
    const double expected = limit.noise / keys;
    EXPECT_NEAR(drift.noise.mean, expected, (tolerance + limit.ratio / keys) * expected)
        << drift.inverse_temperature;
  }
  const double balanced = drifts[1].noise_to_signal.mean;
  EXPECT_NEAR(balanced, 1.0,
              tolerance + (kDimension + kKappa) / threshold + delta_method(threshold).ratio / keys);
  EXPECT_LT(drifts[0].noise_to_signal.mean, 0.1);
  EXPECT_GT(drifts[2].noise_to_signal.mean, 10.0);
}

// Property (3).
TEST(HeatDrift, IsTheSameForAnyNumberOfThreads) {
  const HeatDrift one = measured_drift(2000.0, 5, {10.0}, 1)[0];
  const HeatDrift two = measured_drift(2000.0, 5, {10.0}, 2)[0];
  EXPECT_EQ(std::memcmp(&one, &two, sizeof one), 0);
}

TEST(HeatDrift, RefusesATemperatureWithoutDrift) {
  EXPECT_THROW((void)measured_drift(100.0, 2, {0.0}), Error);
  EXPECT_THROW((void)measured_drift(1.0, 2, {1.0}), Error);
}

}  // namespace
}  // namespace dewpoint::experiments
