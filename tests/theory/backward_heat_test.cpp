// The backward heat equation of attention: closed forms against quadrature, expansions by their
// rates, growth factors against a layer acting on particles, noise against exact variances.
//
// SPDX-License-Identifier: Apache-2.0
#include "dewpoint/theory/backward_heat.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numbers>
#include <vector>

#include "dewpoint/theory/gauss_legendre.hpp"
#include "dewpoint/theory/sphere_moments.hpp"

namespace dewpoint::theory {
namespace {

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();

// ---- the output for von Mises-Fisher keys ---------------------------------------------------

// Property (1) on S². With q = e_3 and μ in the plane of e_1 and e_3, the integral over longitudes
// is a trapezoidal sum, over heights a Gauss rule; both are exact to rounding for these entire
// integrands, 120 · 8 ε for the weights of the rule.
TEST(PopulationOutput, IsTheMeanKeyOfASphereInSpace) {
  const QuadratureRule heights = gauss_legendre(120);
  constexpr int kLongitudes = 240;
  for (double beta : {0.0, 1.0, 12.0})
    for (double kappa : {0.0, 0.5, 9.0})
      for (double angle : {0.0, 0.7, 2.5}) {
        double partition = 0.0, along = 0.0, across = 0.0;
        for (std::size_t i = 0; i < heights.nodes.size(); ++i)
          for (int j = 0; j < kLongitudes; ++j) {
            const double u = heights.nodes[i], radius = std::sqrt(1.0 - u * u);
            const double x = radius * std::cos(2.0 * std::numbers::pi * j / kLongitudes);
            const double score = beta * u + kappa * (std::cos(angle) * u + std::sin(angle) * x);
            const double weight = heights.weights[i] * std::exp(score - beta - kappa);
            partition += weight;
            along += weight * u;
            across += weight * x;
          }
        const PopulationOutput output = population_output({3, beta, kappa, angle});
        EXPECT_NEAR(output.along, along / partition, 1e-12) << beta << ' ' << kappa << ' ' << angle;
        EXPECT_NEAR(output.across, across / partition, 1e-12)
            << beta << ' ' << kappa << ' ' << angle;
      }
}

// Property (2).
TEST(PopulationOutput, PointsAlongTheQueryForUniformKeys) {
  for (int d : {2, 5, 64}) {
    const PopulationOutput output = population_output({d, 30.0, 0.0, 1.0});
    EXPECT_NEAR(output.along, mean_resultant(d, 30.0), 4.0 * kEpsilon);
    EXPECT_EQ(output.across, 0.0);
  }
}

// ---- expansions in 1/β ----------------------------------------------------------------------

/// Coefficients of β^{−k}.
using Series = std::array<double, 7>;

Series operator*(const Series& left, const Series& right) {
  Series product{};
  for (std::size_t i = 0; i < product.size(); ++i)
    for (std::size_t k = 0; i + k < product.size(); ++k) product[i + k] += left[i] * right[k];
  return product;
}

/// A_d(β) from A' = 1 − A² − (d − 1)A/β: 2a_k = (k − d) a_{k−1} − Σ_{0<i<k} a_i a_{k−i}, a_0 = 1.
Series resultant_series(int d) {
  Series a{1.0};
  for (std::size_t k = 1; k < a.size(); ++k) {
    a[k] = (static_cast<double>(k) - d) * a[k - 1];
    for (std::size_t i = 1; i < k; ++i) a[k] -= a[i] * a[k - i];
    a[k] *= 0.5;
  }
  return a;
}

struct OutputSeries {
  Series along, across;
};

/// A_d(ρ)(βq + κμ)/ρ with β/ρ = Σ P_k(cos φ)(−κ/β)^k, P_k Legendre's polynomials.
OutputSeries output_series(const VonMisesFisherQuery& query) {
  const double kappa = query.concentration, cosine = std::cos(query.angle);
  Series inverse_length{}, power{1.0}, resultant{};
  for (std::size_t k = 0; k < inverse_length.size(); ++k)
    inverse_length[k] = std::pow(-kappa, k) * std::legendre(static_cast<unsigned>(k), cosine);
  const Series a = resultant_series(query.dimension), step = Series{0.0, 1.0} * inverse_length;
  for (std::size_t k = 0; k < a.size(); ++k) {
    for (std::size_t i = 0; i < a.size(); ++i) resultant[i] += a[k] * power[i];
    power = power * step;
  }
  return {Series{1.0, kappa * cosine} * inverse_length * resultant,
          Series{0.0, kappa * std::sin(query.angle)} * inverse_length * resultant};
}

// Property (1) of the expansion. After its own order come two terms of the exact output's series,
// and twice the two after them bounds the rest. The two numbers round by 8 ε.
TEST(PopulationOutputExpansion, ErrsByItsNextOrder) {
  constexpr double kBeta = 1000.0;
  for (int d : {2, 3, 5, 8})
    for (int order : {1, 2}) {
      const VonMisesFisherQuery query{d, kBeta, 2.0, 0.7};
      const PopulationOutput exact = population_output(query);
      const PopulationOutput law = population_output_expansion(query, order);
      const OutputSeries series = output_series(query);
      const auto expect = [&](double error, const Series& c) {
        const auto k = static_cast<std::size_t>(order);
        const double rest =
            std::abs(c[k + 3]) / std::pow(kBeta, 2) + std::abs(c[k + 4]) / std::pow(kBeta, 3);
        const double power = std::pow(kBeta, order + 1);
        EXPECT_NEAR(power * error, c[k + 1] + c[k + 2] / kBeta, 2.0 * rest + 8.0 * kEpsilon * power)
            << d << ' ' << order;
      };
      expect(exact.along - law.along, series.along);
      expect(exact.across - law.across, series.across);
    }
}

// Property (2): β²(⟨q, ATT⟩ − 1 + (d−1)/(2β)) at β = 1000, and its limit, printed with four
// decimals.
TEST(PopulationOutputExpansion, ReproducesPrintedCoefficients) {
  constexpr int kDimensions[] = {2, 3, 5, 8};
  constexpr double kMeasured[] = {-.1877, .7015, 3.2284, 8.8900};
  constexpr double kPredicted[] = {-.1902, .6997, 3.2293, 8.8989};
  for (int i = 0; i < 4; ++i) {
    const VonMisesFisherQuery query{kDimensions[i], 1000.0, 2.0, 0.7};
    const double first = population_output_expansion({query.dimension, 1000.0, 0.0, 0.0}, 1).along;
    const double exact = population_output(query).along;
    const double law = population_output_expansion(query, 2).along;
    EXPECT_NEAR(1e6 * (exact - first), kMeasured[i], 5.1e-5) << kDimensions[i];
    EXPECT_NEAR(1e6 * (law - first), kPredicted[i], 5.1e-5) << kDimensions[i];
  }
}

// ---- growth of harmonics --------------------------------------------------------------------

// Particles on the circle with the density (1 + ε cos ℓφ)/(2π), at its quantiles: sums over them
// are trapezoidal sums of periodic functions, and exact.
std::vector<double> particles(int degree, double amplitude, int count) {
  std::vector<double> angles;
  for (int i = 0; i < count; ++i) {
    const double mass = 2.0 * std::numbers::pi * (i + 0.5) / count;
    double angle = mass;
    for (int round = 0; round < 30; ++round)
      angle = mass - amplitude / degree * std::sin(degree * angle);
    angles.push_back(angle);
  }
  return angles;
}

// One layer: every particle attends to all, and is normalised.
std::vector<double> layer(const std::vector<double>& angles, const HarmonicStep& step) {
  std::vector<double> moved;
  for (double query : angles) {
    double partition = 0.0, along = 0.0, across = 0.0;
    for (double key : angles) {
      const double weight = std::exp(step.inverse_temperature * (std::cos(key - query) - 1.0));
      partition += weight;
      along += weight * std::cos(key - query);
      across += weight * std::sin(key - query);
    }
    const double forward = 1.0 - step.share + step.share * along / partition;
    moved.push_back(query + std::atan2(step.share * across / partition, forward));
  }
  return moved;
}

double amplitude_of(const std::vector<double>& angles, int degree) {
  double sum = 0.0;
  for (double angle : angles) sum += std::cos(degree * angle);
  return 2.0 * sum / static_cast<double>(angles.size());
}

// With 500 particles and β ≤ 200 the trapezoidal sums err by e^{−(500²)/(2β)}, nothing. Turning by
// π/ℓ changes the sign of ε, so the factor is even in it: a relative error of a few ε² = 1e-8, and
// rounding 500 · 2^{−53}/ε at most.
constexpr int kParticles = 500;
constexpr double kAmplitude = 1e-4;
constexpr double kGrowthError = 10.0 * kAmplitude * kAmplitude;

double particle_growth(const HarmonicStep& step) {
  const std::vector<double> before = particles(step.degree, kAmplitude, kParticles);
  return amplitude_of(layer(before, step), step.degree) / amplitude_of(before, step.degree);
}

// Property (1).
TEST(HarmonicGrowth, IsWhatALayerDoesToParticlesOnTheCircle) {
  for (double beta : {20.0, 50.0, 200.0})
    for (int degree : {1, 2, 3, 5, 8}) {
      const HarmonicStep step{2, degree, beta};
      EXPECT_NEAR(particle_growth(step) / harmonic_growth(step), 1.0, kGrowthError)
          << beta << ' ' << degree;
    }
}

// Property (1), printed: with and without a skip connection.
TEST(HarmonicGrowth, ReproducesPrintedFactors) {
  struct Printed {
    HarmonicStep step;
    double growth;
  };
  constexpr Printed kPrinted[] = {{{2, 3, 20.0, 0.5}, 1.180979},
                                  {{2, 5, 50.0, 0.1}, 1.038888},
                                  {{2, 2, 8.0, 0.7}, 1.280902},
                                  {{2, 5, 50.0, 1.0}, 1.392437}};
  for (const Printed& row : kPrinted) {
    EXPECT_NEAR(harmonic_growth(row.step), row.growth, 5.1e-7);
    EXPECT_NEAR(particle_growth(row.step), row.growth, 5.1e-7 + 2.0 * kGrowthError);
  }
}

// Three layers in a row multiply: the density stays 1 + ε' cos ℓφ to first order.
TEST(HarmonicGrowth, MultipliesOverLayers) {
  const HarmonicStep step{2, 3, 50.0};
  std::vector<double> angles = particles(3, kAmplitude, kParticles);
  double amplitude = amplitude_of(angles, 3);
  for (int round = 0; round < 3; ++round) {
    angles = layer(angles, step);
    const double next = amplitude_of(angles, 3);
    EXPECT_NEAR(next / amplitude / harmonic_growth(step), 1.0, 10.0 * kGrowthError) << round;
    amplitude = next;
  }
}

// Properties (2) and (3).
TEST(HarmonicGrowth, IsNeverBelowOne) {
  for (int d : {2, 3, 16, 512})
    for (double beta : {0.5, 10.0, 1e4}) {
      EXPECT_NEAR(harmonic_growth({d, 1, beta}), 1.0 + (d - 1.0) / beta,
                  8.0 * kMomentRatioError * (1.0 + (d - 1.0) / beta));
      for (int degree : {2, 6, 12}) EXPECT_GE(harmonic_growth({d, degree, beta, 0.3}), 1.0);
    }
}

/// G_ℓ − e^{ηx} in powers of 1/β, x = λ/β with λ = ℓ(ℓ + d − 2): r_ℓ is the product of A_d,
/// A_{d+2},
/// ..., and 1/(1 − η + ηA) a geometric series in η(1 − A).
Series growth_less_heat(int d, int degree, double share) {
  const double eigenvalue = degree * (degree + d - 2.0);
  Series multiplier{1.0}, loss = resultant_series(d), power{1.0}, inverse{};
  for (int i = 0; i < degree; ++i) multiplier = multiplier * resultant_series(d + 2 * i);
  for (double& c : loss) c *= -share;
  loss[0] = 0.0;  // η(1 − A)
  for (std::size_t k = 0; k < power.size(); ++k) {
    for (std::size_t i = 0; i < power.size(); ++i) inverse[i] += power[i];
    power = power * loss;
  }
  Series difference = Series{0.0, share * eigenvalue} * multiplier * inverse;
  double term = 1.0;
  for (std::size_t k = 1; k < power.size(); ++k)
    difference[k] -= term *= share * eigenvalue / static_cast<double>(k);
  return difference;
}

// Property (1) of the heat law: the difference starts with β^{−2}, that is x², and has the
// coefficients of the series; twice the two terms after those compared bounds the rest. e^{x/2}
// differs from it by (η − 1/2)x already, and by (η² − 1/4)x²/2 next.
TEST(GrowthLaws, OfHeatErrsBySecondOrder) {
  for (int d : {2, 3, 6})
    for (double share : {1.0, 0.4})
      for (double beta : {1e3, 1e5}) {
        const HarmonicStep step{d, 3, beta, share};
        const double growth = harmonic_growth(step), x = 3.0 * (d + 1.0) / beta;
        const Series c = growth_less_heat(d, 3, share);
        EXPECT_NEAR(c[1], 0.0, 8.0 * kEpsilon * d);
        const double rest =
            2.0 * (std::abs(c[4]) / std::pow(beta, 4) + std::abs(c[5]) / std::pow(beta, 5));
        EXPECT_NEAR(growth - heat_growth_law(step),
                    c[2] / std::pow(beta, 2) + c[3] / std::pow(beta, 3), rest + 8.0 * kEpsilon)
            << d << ' ' << beta;
        EXPECT_NEAR(growth - deconvolution_growth(step), (share - 0.5) * x,
                    2.0 * (std::abs(c[2]) / std::pow(beta, 2) + 0.5 * x * x));
      }
}

// Property (1) of the regularised law. For degrees with μ² = (ℓ + ν)² of the size of β, ν = d/2 −
// 1,
//
//     log(I_μ(β)√(2πβ)) − β = −μ²/(2β) − μ²/(4β²) + μ⁴/(24β³)
//                             − μ⁶/(80β⁵) + μ⁴/(8β⁴) − 13μ²/(48β³) + a constant + O(β^{−3}),
//
// [DLMF, 10.41.3], and μ_ℓ² − ν² = xβ, hence r_ℓ = e^{−x/2}(1 + u/β + (u²/2 + w)/β² + ...) with
// u = x²/24 − x/4 and w = −x³/80 + x²/8 − 13x/48 + ν²x/12; with a = (d − 1)/2, 1/(1 − η + ηA) is
// 1 + ηa/β + (η²a² − η a(a − 1)/2)/β². The first order is compared, the second, all its terms
// taken positive, is the tolerance.
TEST(GrowthLaws, RegularisedErrsByFirstOrder) {
  for (int d : {2, 3, 6})
    for (double share : {1.0, 0.4})
      for (int degree : {30, 60}) {
        constexpr double kX = 2.0;
        const double beta = degree * (degree + d - 2.0) / kX;
        const double a = 0.5 * (d - 1), nu = 0.5 * d - 1.0, u = kX * kX / 24.0 - kX / 4.0;
        const double factor = share * kX * std::exp(-0.5 * kX);
        const double second = 0.5 * u * u + kX * kX * kX / 80.0 + kX * kX / 8.0 + 13.0 * kX / 48.0 +
                              nu * nu * kX / 12.0 + share * a * std::abs(u) +
                              share * a * (share * a + 0.5 * std::abs(a - 1.0));
        const HarmonicStep step{d, degree, beta, share};
        EXPECT_NEAR(beta * (harmonic_growth(step) - regularised_growth_law(step)),
                    factor * (u + share * a), factor * second / beta)
            << d << ' ' << degree;
      }
}

// Property (2) of the regularised law, and (1) of the wrong one.
TEST(GrowthLaws, HaveTheirPrintedValues) {
  double largest = 0.0;
  for (int i = 1; i <= 4000; ++i)
    largest = std::max(largest, regularised_growth_law({2, 1, 1000.0 / i}));
  EXPECT_NEAR(largest, 1.0 + 2.0 / std::numbers::e, 1e-6);
  EXPECT_NEAR(deconvolution_growth({2, 5, 50.0}), 1.284, 5e-4);
  EXPECT_NEAR(heat_growth_law({2, 5, 50.0}), 1.649, 5e-4);
}

// ---- the second threshold -------------------------------------------------------------------

// Properties (1) and (2), n = 1e300 included.
TEST(HeatScale, IsAPowerOfTheNumberOfKeys) {
  EXPECT_NEAR(log_heat_scale({3, std::log(1e6), std::log(2.0), 0.5}),
              0.5 * std::log(1e6 * 2.0 * 0.25), 1e-13);
  for (int d : {2, 5, 64, 512})
    EXPECT_NEAR((log_heat_scale({d, 690.0}) - log_heat_scale({d, 90.0})) / 600.0, 2.0 / (d + 1.0),
                1e-14);
}

// noise²/signal² of n von Mises-Fisher keys, exactly to leading order in 1/n: the weights squared
// are once more a tilt of the family, ρ' = |2βq + κμ|, with E kkᵀ = (A/ρ')1 + (1 − dA/ρ')mmᵀ about
// its centre m.
double exact_noise_to_signal(const VonMisesFisherQuery& query, double log_n) {
  const int d = query.dimension;
  const double beta = query.inverse_temperature, kappa = query.concentration;
  const PopulationOutput mean = population_output(query);
  const PopulationOutput twice = population_output({d, 2.0 * beta, kappa, query.angle});
  const auto length = [&](double b) {
    return std::hypot(b + kappa * std::cos(query.angle), kappa * std::sin(query.angle));
  };
  const auto log_normaliser = [&](double k) { return log_von_mises_fisher_normaliser(d, k); };
  const double log_ratio = log_normaliser(length(2.0 * beta)) + log_normaliser(kappa) -
                           2.0 * log_normaliser(length(beta));
  const double spread = mean_resultant_over_beta(d, length(2.0 * beta));
  const double sine = kappa * std::sin(query.angle) / length(2.0 * beta);
  const double second = (d - 1.0) * spread + (1.0 - d * spread) * sine * sine;
  const double noise = second - 2.0 * mean.across * twice.across + mean.across * mean.across;
  return std::exp(log_ratio - log_n) * noise / (mean.across * mean.across);
}

// Properties (1) and (2) of the law. With a = (d − 1)/2, v = a(a − 1)/2, c = κ cos φ, s = κ sin φ,
// the exact ratio over the law is 1 + K/β with the terms
//
//     3v/2 + 3ac/2 − 3s²/4       of log(M(ρ')M(κ)/M(ρ)²), log M(ρ) = ρ − a log ρ − v/ρ + constant,
//     s²/(4a) − (a + c)/2        of the noise about (d − 1)/(2β),
//     2(a + c)                   of the drift, s/β (1 − (a + c)/β), in the denominator.
//
// The second order has the squares and products of these sizes. Rounding: logarithms that differ
// from 2β by their error, 8 ε β, and the factor β.
TEST(NoiseToSignalLaw, IsTheLimitOfTheExactRatio) {
  const DriftQuery five{5, std::log(2e5), 0.3, 0.8};
  const double scale = std::exp(log_heat_scale(five));
  EXPECT_NEAR(noise_to_signal_law(five, scale), 1.0, 1e-13);
  EXPECT_NEAR(noise_to_signal_law(five, 0.3 * scale), 0.027, 1e-14);
  EXPECT_NEAR(noise_to_signal_law(five, 3.0 * scale), 27.0, 1e-11);
  const double kappa = 2.0, angle = 0.7;
  for (int d : {2, 3, 5, 8}) {
    const double a = 0.5 * (d - 1), v = 0.5 * a * (a - 1.0);
    const double c = kappa * std::cos(angle), square = std::pow(kappa * std::sin(angle), 2);
    const double first = 1.5 * (v + a * c + a + c) + square * (0.25 / a - 0.75);
    const double size = 1.5 * (std::abs(v) + a * c) + 2.5 * (a + c) + square * (0.25 / a + 0.75);
    const DriftQuery query{d, 5.0 * (d + 1.0), log_von_mises_fisher_density(d, kappa, angle),
                           kappa * std::sin(angle)};  // log β_heat = 10 nearly
    for (double factor : {0.3, 1.0, 3.0}) {
      const double beta = factor * std::exp(log_heat_scale(query));
      const double exact = exact_noise_to_signal({d, beta, kappa, angle}, query.log_n);
      EXPECT_NEAR(beta * (exact / noise_to_signal_law(query, beta) - 1.0), first,
                  size * size / beta + 8.0 * kEpsilon * beta * beta)
          << d << ' ' << factor;
    }
  }
}

}  // namespace
}  // namespace dewpoint::theory
