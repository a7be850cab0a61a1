// The second critical point: printed values, and the gradient and Hessian of the whole population
// loss, which share no formula with it.
//
// SPDX-License-Identifier: Apache-2.0
#include "dewpoint/theory/second_critical_point.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "dewpoint/core/dense_algebra.hpp"
#include "dewpoint/theory/markov_chain.hpp"
#include "dewpoint/theory/training_times.hpp"
#include "support/dense_algebra.hpp"
#include "support/matrices.hpp"
#include "support/population_loss.hpp"

namespace dewpoint::theory {
namespace {

using test::Population;
using test::Weights;

const std::vector<double> kExperiment{0.75, 0.19, 0.05, 0.01};
const std::vector<double> kDyadic{8.0 / 15, 4.0 / 15, 2.0 / 15, 1.0 / 15};

// ---- chains with a given law -----------------------------------------------------------------

/// Puts on the diagonal what the rows lack.
Matrix<double> completed(Matrix<double> p) {
  for (std::size_t i = 0; i < p.rows(); ++i) {
    p(i, i) = 1.0;
    for (std::size_t j = 0; j < p.cols(); ++j) p(i, i) -= i == j ? 0.0 : p(i, j);
  }
  return p;
}

Matrix<double> metropolis(const std::vector<double>& law) {
  Matrix<double> p(law.size(), law.size());
  const double proposals = static_cast<double>(law.size() - 1);
  for (std::size_t i = 0; i < law.size(); ++i) {
    for (std::size_t j = 0; j < law.size(); ++j) {
      p(i, j) = 0.4 * std::min(1.0, law[j] / law[i]) / proposals;
    }
  }
  return completed(p);
}

Matrix<double> birth_death(const std::vector<double>& law) {
  Matrix<double> p(law.size(), law.size());
  for (std::size_t i = 0; i + 1 < law.size(); ++i) {
    p(i + 1, i) = 0.2;
    p(i, i + 1) = 0.2 * law[i + 1] / law[i];
  }
  return completed(p);
}

Matrix<double> cycle(const std::vector<double>& law) {
  const double flux = 0.15 * *std::min_element(law.begin(), law.end());
  Matrix<double> p = persistent_chain(law, 0.5);
  for (std::size_t i = 0; i < law.size(); ++i) {
    for (std::size_t j = 0; j < law.size(); ++j) p(i, j) *= 0.25;
    p(i, i) += 0.75 * (1.0 - flux / law[i]);
    p(i, (i + 1) % law.size()) += 0.75 * flux / law[i];
  }
  return p;
}

struct NamedChain {
  std::string name;
  Matrix<double> transition;
  double rate, entropy_rate;  // printed, for the law of the experiment
};
std::vector<NamedChain> chains(const std::vector<double>& law) {
  return {{"lambda", persistent_chain(law, 0.8), 0.127655522290, 0.302842},
          {"metropolis", metropolis(law), 0.130018306818, 0.323640},
          {"birth-death", birth_death(law), 0.135556007429, 0.320273},
          {"cycle", cycle(law), 0.138480241652, 0.230097}};
}

/// The critical point as weights, along a random unit vector.
Weights<double> critical_point(const std::vector<double>& law, std::size_t width,
                               const std::string& name) {
  std::vector<double> alpha(width);
  const Stream draw = test::stream(name);
  for (std::size_t k = 0; k < width; ++k) alpha[k] = draw.normal(k);
  alpha = ray_of(alpha).direction;
  const OuterWeights outer = critical_weights(second_critical_point(law), alpha);
  Weights<double> weights(law.size(), width);
  weights.w0 = outer.embedding;
  weights.w1 = outer.unembedding;
  return weights;
}

std::vector<double> sorted_spectrum(const std::vector<EigenvalueGroup>& groups) {
  std::vector<double> values;
  for (const auto& group : groups) values.insert(values.end(), group.multiplicity, group.value);
  std::sort(values.begin(), values.end());
  return values;
}

// ---- printed values --------------------------------------------------------------------------

struct Printed {
  std::vector<double> law;
  double amplitude, rate, published_rate, entropy, entropy_rate;
  std::vector<double> decay;
};
const std::vector<Printed> kPrinted{
    {kExperiment,
     2.030793253403,
     0.127655522290,
     0.223875241615,
     0.727138799173,
     0.302842199608,
     {-0.900952710879, -0.217676727705, -0.044300848720}},
    {kDyadic,
     1.587984027057,
     0.047108974099,
     0.057454698879,
     1.136916591833,
     0.479193237684,
     {-0.457362937917, -0.207564325559, -0.092103735445}},
    {two_group_law(0.6, 3),
     1.162883590994,
     0.022631014808,
     0.022631014808,
     0.950270539233,
     0.412390088744,
     {-0.428408084397, -0.119002245666}},
    {two_group_law(0.75, 4),
     1.578422785051,
     0.134062186165,
     0.134062186165,
     0.836988216786,
     0.336694634709,
     {-0.726663725774, -0.121110620962, -0.121110620962}},
};

// Twelve printed decimals, λ = 0.8.
TEST(SecondCriticalPoint, ReproducesThePrintedTable) {
  constexpr double kHalfDigit = 0.501e-12;
  for (const Printed& row : kPrinted) {
    const Matrix<double> chain = persistent_chain(row.law, 0.8);
    const SecondCriticalPoint point = second_critical_point(row.law);
    EXPECT_NEAR(point.amplitude, row.amplitude, kHalfDigit);
    EXPECT_NEAR(point.loss, row.entropy, kHalfDigit);
    EXPECT_NEAR(chain_entropy_rate(row.law, chain), row.entropy_rate, kHalfDigit);
    EXPECT_NEAR(attention_rate(row.law, chain), row.rate, kHalfDigit);
    EXPECT_NEAR(published_attention_rate(row.law, 0.8), row.published_rate, kHalfDigit);
    const std::vector<double> decay = outer_decay(row.law);
    ASSERT_EQ(decay.size(), row.decay.size());
    for (std::size_t k = 0; k < decay.size(); ++k) {
      EXPECT_NEAR(decay[k], row.decay[k], kHalfDigit);
    }
  }
}

TEST(AttentionRate, ReproducesThePrintedValuesOfFourChains) {
  for (const NamedChain& chain : chains(kExperiment)) {
    EXPECT_NEAR(attention_rate(kExperiment, chain.transition), chain.rate, 0.501e-12) << chain.name;
    EXPECT_NEAR(chain_entropy_rate(kExperiment, chain.transition), chain.entropy_rate, 0.501e-6);
  }
}

// ---- the point -------------------------------------------------------------------------------

// Properties (1) and (3): a sum of d products of numbers up to κ₁ ≈ 2, each rounded a few times.
TEST(SecondCriticalPoint, IsCriticalForEveryChainWithTheSameLaw) {
  for (const auto& law : {kExperiment, kDyadic, two_group_law(0.4, 6)}) {
    for (const NamedChain& chain : chains(law)) {
      const Population data(law, chain.transition);
      const Weights<double> w = critical_point(law, 5, "SecondCriticalPoint/Critical");
      EXPECT_LT(test::length(test::population_gradient(data, w).flat()), 32 * 0x1p-52)
          << chain.name;
      EXPECT_NEAR(test::population_loss(data, w), law_entropy(law), 16 * 0x1p-52) << chain.name;
    }
  }
}

// Property (2).
TEST(SecondCriticalPoint, OfTwoGroupsLiesOnTheRayOfTheOrigin) {
  for (const std::size_t d : {2, 3, 10, 100}) {
    const std::vector<double> law = two_group_law(0.55, d);
    const SecondCriticalPoint point = second_critical_point(law);
    const OriginGrowth growth = origin_growth(law);
    const double product = critical_product(0.55, d);
    EXPECT_NEAR(point.amplitude * point.amplitude, product, 16 * 0x1p-52 * product);
    for (std::size_t i = 0; i < d; ++i) {
      EXPECT_NEAR(point.output_direction[i], growth.output_direction[i], 32 * 0x1p-52);
    }
  }
}

TEST(SecondCriticalPoint, OfTheUniformLawIsTheOrigin) {
  const std::vector<double> law(7, 1.0 / 7.0);
  EXPECT_EQ(second_critical_point(law).amplitude, 0.0);
  EXPECT_EQ(attention_rate(law, persistent_chain(law, 0.8)), 0.0);
  EXPECT_EQ(published_amplitude(law), 0.0);
}

// For laws of more than two groups the ray along u holds no critical point: the gradient by W1
// keeps a part of order one at every amplitude.
TEST(SecondCriticalPoint, IsNotOnTheRayOfTheOriginForOtherLaws) {
  const Population data(kExperiment, persistent_chain(kExperiment, 0.8));
  const OriginGrowth growth = origin_growth(kExperiment);
  for (double amplitude = 0.25; amplitude < 4.0; amplitude += 0.05) {
    Weights<double> w(4, 1);
    for (std::size_t i = 0; i < 4; ++i) {
      w.w0(i, 0) = amplitude * growth.embedding_direction[i];
      w.w1(0, i) = amplitude * growth.output_direction[i];
    }
    EXPECT_GT(test::length(test::population_gradient(data, w).w1), 0.05) << amplitude;
  }
}

// Both properties of the published amplitude.
TEST(PublishedAmplitude, SolvesItsEquationAndIsNotCritical) {
  for (const auto& [top, d] : {std::pair{0.6, 3UL}, {0.75, 4UL}, {0.5, 10UL}}) {
    const std::vector<double> law = two_group_law(top, d);
    const double squares = ray_of(law).length * ray_of(law).length;
    const double closed = std::sqrt(std::log(static_cast<double>(d - 1) * top / (1.0 - top)) /
                                    (squares * (top - law[1])));
    EXPECT_NEAR(published_amplitude(law), closed, kPublishedAmplitudeError * closed);

    const Population data(law, persistent_chain(law, 0.8));
    Weights<double> w = critical_point(law, 2, "PublishedAmplitude");
    const double ratio = closed / second_critical_point(law).amplitude;
    for (Matrix<double>* outer : {&w.w0, &w.w1}) {
      for (std::size_t k = 0; k < outer->size(); ++k) outer->data()[k] *= ratio;
    }
    EXPECT_GT(test::length(test::population_gradient(data, w).flat()), 0.5);
    EXPECT_GT(test::population_state(data, w).prediction(0, 0), 0.975);
  }
}

// ---- the spectra -----------------------------------------------------------------------------

/// Blocks of −∇²L: W0 and W1, WQ and WK, and the largest entry between them.
struct Blocks {
  std::vector<double> outer, attention;
  double between;
};
Blocks blocks_of(const Population& data, const Weights<double>& w) {
  const Matrix<double> jacobian = test::flow_jacobian(data, w);
  const Range outer{0, 2 * w.w0.size()}, rest{outer.end, jacobian.rows()};
  double between = 0.0;
  for (std::size_t i = 0; i < outer.end; ++i) {
    for (std::size_t k = rest.begin; k < rest.end; ++k) {
      between = std::max(between, std::abs(jacobian(i, k)));
    }
  }
  return {symmetric_eigenvalues(jacobian.view().block(outer, outer)),
          symmetric_eigenvalues(jacobian.view().block(rest, rest)), between};
}

// Rounding of the n × n Hessian: n units in the last place of its norm, below 1, and a few for the
// entries themselves.
void expect_spectrum(const std::vector<double>& found, const std::vector<EigenvalueGroup>& groups) {
  const std::vector<double> expected = sorted_spectrum(groups);
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t k = 0; k < expected.size(); ++k) {
    EXPECT_NEAR(found[k], expected[k], 4 * 0x1p-52 * static_cast<double>(expected.size()));
  }
}

// Property (1) of attention_rate and attention_spectrum, property (3) of outer_decay.
TEST(SecondCriticalPointSpectra, AreThoseOfTheWholeHessian) {
  for (const std::size_t width : {2, 3, 4}) {
    for (const auto& law : {kExperiment, two_group_law(0.6, 3)}) {
      for (const NamedChain& chain : chains(law)) {
        const Population data(law, chain.transition);
        const Blocks found =
            blocks_of(data, critical_point(law, width, "SecondCriticalPoint/Spectra"));
        EXPECT_LT(found.between, 16 * 0x1p-52);
        expect_spectrum(found.outer, outer_spectrum(law, width));
        expect_spectrum(found.attention, attention_spectrum(law, chain.transition, width));
      }
    }
  }
}

// Properties (1) and (2) of outer_decay.
TEST(OuterDecay, HasAClosedFormForTwoGroups) {
  for (const std::size_t d : {2, 3, 8, 40}) {
    const std::vector<double> law = two_group_law(0.7, d);
    const std::vector<double> decay = outer_decay(law);
    const TwoGroupDecay closed = two_group_decay(0.7, d);
    const double tolerance = 0x1p-52 * static_cast<double>(d * d) * std::abs(closed.along);
    ASSERT_EQ(decay.size(), d - 1);
    EXPECT_NEAR(decay[0], closed.along, tolerance);
    for (std::size_t k = 1; k + 1 < d; ++k) EXPECT_NEAR(decay[k], closed.within, tolerance);
    EXPECT_LT(*std::max_element(decay.begin(), decay.end()), 0.0);
  }
}

// Properties (2) and (3) of attention_rate; the printed form is in kPrinted.
TEST(AttentionRate, OfThePersistentChainIsProportionalToPersistence) {
  for (const auto& law : {kExperiment, kDyadic}) {
    const double unit = attention_rate(law, persistent_chain(law, 0.5)) / 0.5;
    for (const double lambda : {0.1, 0.9}) {
      EXPECT_NEAR(attention_rate(law, persistent_chain(law, lambda)), lambda * unit, 1e-15);
    }
  }
}

// A chain that avoids repeats: negative λ, small enough for all entries to stay positive.
TEST(AttentionRate, IsNegativeForAChainThatAvoidsRepeats) {
  const std::vector<double> law = two_group_law(0.6, 3);
  const Matrix<double> chain = persistent_chain(law, -0.2);
  EXPECT_LT(attention_rate(law, chain), -1e-3);
  const Population data(law, chain);
  const Blocks found = blocks_of(data, critical_point(law, 2, "AttentionRate/Negative"));
  expect_spectrum(found.attention, attention_spectrum(law, chain, 2));
}

// The linear flow over a time 20/|c|, by the exponential of the whole Jacobian. What is not along
// αα̃ᵀ does not grow and ends smaller by e^{−20} = 2e-9; 1e-6 leaves room for a start that has only
// a two-hundredth of its length along αα̃ᵀ.
TEST(AttentionDirection, IsWhereTheLinearFlowGoes) {
  const std::vector<double> law = two_group_law(0.6, 3);
  for (const double lambda : {0.8, -0.2}) {
    const Matrix<double> chain = persistent_chain(law, lambda);
    const double rate = attention_rate(law, chain), time = 20.0 / std::abs(rate);
    const Weights<double> w = critical_point(law, 3, "AttentionDirection/Point");
    const std::vector<double> alpha = ray_of(test::column(w.w1, 0)).direction;
    const Weights<double> noise = test::random_weights(3, 3, 1.0, "AttentionDirection/Start");
    const auto direction = attention_direction(alpha, noise.wq, noise.wk, rate);

    const Matrix<double> jacobian = test::flow_jacobian(Population(law, chain), w);
    const std::vector<double> start = noise.flat();
    const std::vector<double> later = symmetric_exponential(
        jacobian.view().block({18, 36}, {18, 36}), time, std::span(start).last(18));
    const double size = test::length(later);
    for (std::size_t i = 0; i < 3; ++i) {
      for (std::size_t k = 0; k < 3; ++k) {
        const double expected = alpha[i] * direction[k] / std::sqrt(2.0);
        const double sign = lambda > 0.0 ? 1.0 : -1.0;
        EXPECT_NEAR(later[3 * i + k] / size, expected, 1e-6);
        EXPECT_NEAR(later[9 + 3 * i + k] / size, sign * expected, 1e-6);
      }
    }
  }
}

}  // namespace
}  // namespace dewpoint::theory
