// What every implementation of the layer must do, written once.
//
// An implementation brings its contraction, its row moments and its stated accuracy. The reference
// is held to rounding in double, the fast paths to rounding in float32.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <string>

#include "dewpoint/attention/layer.hpp"
#include "dewpoint/attention/reference.hpp"
#include "dewpoint/attention/rowwise_layer.hpp"
#include "dewpoint/attention/sweep.hpp"
#include "dewpoint/observables/contraction.hpp"
#include "dewpoint/theory/simplex.hpp"
#include "dewpoint/tokens/cloud.hpp"
#include "support/test_seed.hpp"

namespace dewpoint {
namespace {

struct Outcome {
  double contraction;
  std::vector<RowMoments> moments;
};

struct Implementation {
  std::string name;
  double simplex_error;  // relative error of the contraction of a regular simplex, n ≤ 512
  double unit;           // rounding unit of a weight's exponent and of a sum
  double exponents;      // roundings of a weight that no exponent explains (the ladder)
  std::function<Outcome(const TokenCloud&, const attention::Layer&)> run;
};

std::ostream& operator<<(std::ostream& out, const Implementation& i) { return out << i.name; }

std::vector<std::size_t> everyone(std::size_t n) {
  std::vector<std::size_t> rows(n);
  std::iota(rows.begin(), rows.end(), std::size_t{0});
  return rows;
}

Outcome run_reference(const TokenCloud& tokens, const attention::Layer& layer) {
  const auto result = attention::reference_layer(tokens, layer);
  const auto outputs = observables::reference_offsets(result.base, result.deviations);
  return {observables::reference_contraction(tokens.directions, outputs), result.moments};
}

Outcome run_layer(const TokenCloud& tokens, const attention::Layer& layer) {
  const auto result = attention::layer(tokens, layer);
  const auto inputs = CentredCloud::of_unit_vectors(tokens.directions);
  return {observables::contraction(inputs, result.directions()).contraction, result.moments};
}

Outcome run_on_rows(const TokenCloud& tokens, const attention::Layer& layer) {
  const auto result = attention::layer_on_rows(tokens, layer, everyone(tokens.size()));
  const auto inputs = CentredCloud::of_unit_vectors(tokens.directions);
  const auto pairs = observables::contraction_of_sample(inputs, result.directions(), tokens.size());
  EXPECT_EQ(pairs.sampling_error, 0.0);  // nothing was left out
  return {pairs.contraction, result.moments};
}

Outcome run_rowwise(const TokenCloud& tokens, const attention::Layer& layer) {
  const auto result =
      attention::rowwise_layer(tokens, layer, {}, everyone(tokens.size()), std::nullopt);
  const auto inputs = CentredCloud::of_unit_vectors(tokens.directions);
  return {observables::contraction(inputs, result.layer.directions()).contraction,
          result.layer.moments};
}

Outcome run_sweep(const TokenCloud& tokens, const attention::Layer& layer) {
  const double gamma = layer.inverse_temperature / std::log(static_cast<double>(tokens.size()));
  const auto inputs = CentredCloud::of_unit_vectors(tokens.directions);
  const auto cells = attention::sweep(tokens, inputs, {&gamma, 1}, {layer.residual, {}});
  return {observables::contraction(inputs, cells[0].directions).contraction, cells[0].moments};
}

constexpr double kEps64 = std::numeric_limits<double>::epsilon();
constexpr double kEps32 = std::numeric_limits<float>::epsilon();

class LayerConformance : public testing::TestWithParam<Implementation> {
 protected:
  static Outcome run(const TokenCloud& tokens, double beta, double alpha = 0.0) {
    return GetParam().run(tokens, {beta, alpha});
  }
};

INSTANTIATE_TEST_SUITE_P(
    EveryPath, LayerConformance,
    testing::Values(
        Implementation{"reference", attention::kReferenceError, kEps64, 0, run_reference},
        Implementation{"layer", attention::kLayerError, kEps32, 0, run_layer},
        Implementation{"layer_on_rows", attention::kLayerError, kEps32, 0, run_on_rows},
        Implementation{"rowwise_layer", attention::kRowwiseError, kEps32, 0, run_rowwise},
        Implementation{"sweep", attention::kLayerError + 2 * attention::kLadderUlp* kEps32, kEps32,
                       attention::kLadderUlp, run_sweep}),
    [](const auto& path) { return path.param.name; });

TokenCloud cloud_of(const std::string& law, std::size_t n, std::size_t d, double rho) {
  tokens::CloudParameters p;
  p.law = law;
  p.n = n;
  p.d = d;
  p.rho = rho;
  return tokens::make_cloud(tokens::resolved(p), test::seed(), 0);
}

// The contraction of the exact simplex, from far below to far above the transition, with and
// without a residual. λ falls like (1 − w)², w = exp(−β(1−ρ)) the weight of another token: a
// rounding of w comes out larger by w/(1 − w) in the few cases where that exceeds 1.
TEST_P(LayerConformance, ContractsTheSimplexAsTheClosedFormSays) {
  for (const std::size_t n : {3U, 64U, 300U, 512U}) {
    const double log_n = std::log(static_cast<double>(n));
    for (const double rho : {0.1, 0.5, 0.9}) {
      const TokenCloud tokens = cloud_of("simplex", n, n, rho);
      for (const double c : {0.1, 0.5, 0.9, 1.0, 1.1, 2.0, 3.0}) {
        const double beta = c * log_n / (1.0 - rho);
        const double weight = std::exp(-c * log_n);
        for (const double alpha : {0.0, 0.7}) {
          const auto truth = theory::simplex_output(log_n, beta, rho, alpha);
          const double expected = std::exp(truth.log_contraction);
          const double amplified = std::max(1.0, weight / (1.0 - weight));
          EXPECT_NEAR(run(tokens, beta, alpha).contraction, expected,
                      GetParam().simplex_error * amplified * expected)
              << "n=" << n << " rho=" << rho << " c=" << c << " alpha=" << alpha;
        }
      }
    }
  }
}

// A small cloud without any symmetry, values to 15 digits from a complex-step-checked NumPy
// implementation: X_ik = sin(1 + 0.7i + 1.3k) + 0.5 cos(0.3ik) + 0.8, β = 2.5.
TEST_P(LayerConformance, ReproducesTheWorkedExample) {
  Matrix<double> x(5, 3);
  for (std::size_t i = 0; i < 5; ++i) {
    for (std::size_t k = 0; k < 3; ++k) {
      const auto a = static_cast<double>(i);
      const auto b = static_cast<double>(k);
      x(i, k) = std::sin(1.0 + 0.7 * a + 1.3 * b) + 0.5 * std::cos(0.3 * a * b) + 0.8;
    }
  }
  const TokenCloud tokens = split_norms(std::move(x));
  EXPECT_NEAR(tokens.norms[0], 3.08319298521328, 1e-14 * 10);
  // A gap is rounded a few times (3 products, 4 sums) relative to the largest gap; the smallest
  // ones enter λ twice, before and after.
  double least = 2.0, most = 0.0;
  for (std::size_t i = 0; i < 5; ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      double gap = 0.0;
      for (std::size_t k = 0; k < 3; ++k) {
        gap += 0.5 * std::pow(tokens.directions(i, k) - tokens.directions(j, k), 2);
      }
      least = std::min(least, gap);
      most = std::max(most, gap);
    }
  }
  const double relative = (2.0 * 7.0 * most / least + GetParam().exponents) * GetParam().unit;
  // The printed numbers come from 1 − cos in double: 4 roundings of 1, over an input gap.
  const double printed = 4.0 * kEps64 / least;
  EXPECT_NEAR(run(tokens, 2.5).contraction, 0.0220792638138816, relative * 0.022 + printed);
  EXPECT_NEAR(run(tokens, 2.5, 0.4).contraction, 0.269530166352032, relative * 0.27 + printed);
}

// Row sums against plain loops in long double. Every weight carries the rounding of its exponent
// (three roundings of Δ and one of βΔ, the gaps of float32 paths relative to the cloud, at most 2)
// and each sum one rounding per term at worst.
TEST_P(LayerConformance, GivesTheMomentsOfEveryRow) {
  const std::size_t n = 700;  // more than one block, and a remainder
  for (const std::string law : {"equicorrelated", "sphere"}) {
    const TokenCloud tokens = cloud_of(law, n, 19, 0.4);
    const double beta = 1.5 * std::log(static_cast<double>(n));
    const Outcome outcome = run(tokens, beta);
    const double tolerance =
        GetParam().unit * (static_cast<double>(n) + 4.0 * beta * 2.0 * 19 + GetParam().exponents);
    for (std::size_t i = 0; i < n; i += 61) {
      long double z = 0, gap = 0, gap2 = 0, w2 = 0;
      for (std::size_t j = 0; j < n; ++j) {
        long double distance = 0;
        for (std::size_t k = 0; k < 19; ++k) {
          const long double difference =
              static_cast<long double>(tokens.directions(i, k)) - tokens.directions(j, k);
          distance += difference * difference / 2;
        }
        const long double w = std::exp(-beta * distance);
        z += w;
        gap += distance * w;
        gap2 += distance * distance * w;
        w2 += w * w;
      }
      const RowMoments& row = outcome.moments[i];
      EXPECT_NEAR(row.partition, static_cast<double>(z), tolerance * static_cast<double>(z));
      EXPECT_NEAR(row.gap, static_cast<double>(gap), tolerance * static_cast<double>(gap));
      EXPECT_NEAR(row.squared_gap, static_cast<double>(gap2),
                  tolerance * static_cast<double>(gap2));
      EXPECT_NEAR(row.weight_squared, static_cast<double>(w2),
                  2 * tolerance * static_cast<double>(w2));
    }
  }
}

// Without temperature every output is the same mean: all angles are gone, to rounding squared.
TEST_P(LayerConformance, CollapsesEverythingAtInfiniteTemperature) {
  const TokenCloud tokens = cloud_of("equicorrelated", 100, 16, 0.5);
  const double rounding = 100.0 * GetParam().unit;
  EXPECT_LE(run(tokens, 0.0).contraction, rounding * rounding);
}

// At β(1 − ρ_max) ≫ log n only the token itself is left: exactly the identity.
TEST_P(LayerConformance, KeepsEveryAngleAtZeroTemperature) {
  const TokenCloud tokens = cloud_of("simplex", 100, 100, 0.3);
  EXPECT_NEAR(run(tokens, 300.0).contraction, 1.0, 10.0 * GetParam().unit);
}

// A residual so large that attention is a perturbation keeps every angle.
TEST_P(LayerConformance, KeepsEveryAngleUnderALargeResidual) {
  const TokenCloud tokens = cloud_of("equicorrelated", 60, 32, 0.2);
  EXPECT_NEAR(run(tokens, 1.0, 1e4).contraction, 1.0, 1e-3);
}

// The fast paths see the same layer as the reference on clouds of every kind, several blocks large.
TEST_P(LayerConformance, AgreesWithTheReferenceOnEveryCloud) {
  for (const std::string law : {"equicorrelated", "clustered", "sphere", "half-sphere"}) {
    tokens::CloudParameters p;
    p.law = law;
    p.n = 560;
    p.d = 24;
    p.rho = 0.3;
    p.rho_inner = 0.6;
    p.norm = tokens::Norm::gauss_per_d;
    const TokenCloud tokens = tokens::make_cloud(tokens::resolved(p), test::seed(), 0);
    for (const double gamma : {0.5, 1.375, 2.1}) {
      const double beta = gamma * std::log(560.0);
      const double expected = run_reference(tokens, {beta, 0.3}).contraction;
      // λ goes like a weight squared: twice the error of a weight, which is that of the exponential
      // and of three roundings of an exponent up to β (½ unit each per unit of exponent). Gaps are
      // inner products of length 24, rounded at most that often.
      const double weight = kernels::kExpUlp + 1.5 * beta + GetParam().exponents;
      EXPECT_NEAR(run(tokens, beta, 0.3).contraction, expected,
                  (2.0 * weight + 24.0) * GetParam().unit * expected)
          << law << " gamma=" << gamma;
    }
  }
}

}  // namespace
}  // namespace dewpoint
