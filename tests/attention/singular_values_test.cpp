#include "dewpoint/attention/singular_values.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>

#include "dewpoint/attention/jacobian_reference.hpp"
#include "dewpoint/core/dense_algebra.hpp"
#include "support/dense_algebra.hpp"
#include "support/matrices.hpp"
#include "support/test_seed.hpp"

namespace dewpoint::attention {
namespace {

using test::normal_matrix;

TokenCloud random_tokens(std::size_t n, std::size_t d, const std::string& name) {
  TokenCloud tokens = split_norms(normal_matrix(n, d, name));
  const Stream draw = test::stream(name + "/norms");
  for (std::size_t i = 0; i < n; ++i) tokens.norms[i] = 0.5 + 1.5 * draw.uniform(i);
  return tokens;
}

double square(double x) { return x * x; }

double inner(const Matrix<double>& a, const Matrix<double>& b) {
  double sum = 0.0;
  for (std::size_t k = 0; k < a.size(); ++k) sum += a.data()[k] * b.data()[k];
  return sum;
}

// Squares agree to the promised part of the largest: the index too, so no multiplicity is lost.
void expect_top_of(const std::optional<SingularValues>& top, const std::vector<double>& dense) {
  ASSERT_TRUE(top.has_value());
  ASSERT_LE(top->values.size(), dense.size());
  for (std::size_t k = 0; k < top->values.size(); ++k) {
    EXPECT_NEAR(square(top->values[k]), square(dense[k]), kSingularValueError * square(dense[0]))
        << "singular value " << k + 1;
  }
}

// ‖JᵀJ v_k − σ_k² v_k‖ ≤ kSingularValueError σ_1², and v_k orthonormal. Vectors of one Lanczos run
// are orthogonal to rounding of its basis; one taken in later is orthogonal to its residual over
// the distance of the eigenvalues, which the look requires to exceed the error: hence no bound
// better than 1e-9 for vectors of nearly equal values, where a residual is 1e-12 and rounding
// 1e-15.
void expect_small_residuals(const JacobianOperator& jacobian, const SingularValues& top) {
  const double largest = square(top.values.front());
  for (std::size_t k = 0; k < top.values.size(); ++k) {
    const Matrix<double>& v = top.directions[k];
    Matrix<double> residual = jacobian.vjp(jacobian.jvp(v));
    for (std::size_t e = 0; e < v.size(); ++e) {
      residual.data()[e] -= square(top.values[k]) * v.data()[e];
    }
    EXPECT_LE(std::sqrt(inner(residual, residual)), kSingularValueError * largest);
    EXPECT_NEAR(inner(v, v), 1.0, 1e-12);
    for (std::size_t l = 0; l < k; ++l) EXPECT_NEAR(inner(v, top.directions[l]), 0.0, 1e-9);
  }
  EXPECT_TRUE(std::is_sorted(top.values.rbegin(), top.values.rend()));
}

// ---- One worked example, all digits ----

// Printed to 16 digits, computed by another program (NumPy).
TEST(TopSingularValues, AreThoseOfTheWorkedExample) {
  Matrix<double> raw(5, 3);
  for (std::size_t e = 0; e < raw.size(); ++e) {
    const double i = static_cast<double>(e / 3), k = static_cast<double>(e % 3);
    raw.data()[e] = std::sin(1.0 + 0.7 * i + 1.3 * k) + 0.5 * std::cos(0.3 * i * k) + 0.8;
  }
  const TokenCloud tokens = split_norms(raw);
  const Stream start = test::stream("TopSingularValues/worked");
  const auto plain = top_singular_values(LayerJacobian(tokens, {2.5, 0.0}), 3, start);
  const auto residual = top_singular_values(LayerJacobian(tokens, {2.5, 0.4}), 3, start);
  ASSERT_TRUE(plain && residual);
  const std::vector<double> expected = {0.7012315759901996, 0.6214270747383037, 0.4423726356816861};
  const std::vector<double> lifted = {1.094356665355948, 1.0127936973467757, 0.8375185863566807};
  for (std::size_t k = 0; k < 3; ++k) {
    EXPECT_NEAR(plain->values[k], expected[k], 1e-12);
    EXPECT_NEAR(residual->values[k], lifted[k], 1e-12);
  }
}

// ---- Properties ----

// Property (1), where no dense form is at hand: 1500 x 1500, masked.
TEST(TopSingularValues, HaveSmallResiduals) {
  const TokenCloud tokens = random_tokens(300, 5, "TopSingularValues/residuals");
  for (const Mask& mask : {Mask::none(), Mask::causal(), Mask::window(20)}) {
    const LayerJacobian jacobian(tokens, {4.0, 0.3}, mask);
    const auto top = top_singular_values(jacobian, 6, test::stream("TopSingularValues/start"));
    ASSERT_TRUE(top.has_value());
    expect_small_residuals(jacobian, *top);
  }
}

// Property (2).
TEST(TopSingularValues, AgreeWithADenseDecomposition) {
  const TokenCloud tokens = random_tokens(12, 5, "TopSingularValues/dense");
  for (const Mask& mask : {Mask::none(), Mask::causal()}) {
    for (const Layer& parameters : {Layer{1.0, 0.0}, Layer{6.0, 0.5}, Layer{30.0, -0.2}}) {
      const LayerJacobian jacobian(tokens, parameters, mask);
      const auto dense = singular_values(ReferenceJacobian(tokens, parameters, mask).dense());
      const Stream start = test::stream("TopSingularValues/dense");
      expect_top_of(top_singular_values(jacobian, 1, start), dense);
      expect_top_of(top_singular_values(jacobian, 8, start), dense);
      expect_top_of(top_singular_values(jacobian, 59, start), dense);
    }
  }
}

// Property (2) through five layers.
TEST(TopSingularValues, AgreeWithADenseDecompositionOfAChain) {
  const TokenCloud tokens = random_tokens(12, 5, "TopSingularValues/chain");
  for (const double residual : {0.0, 0.8}) {
    const std::vector<Layer> layers(5, Layer{4.0, residual});
    const JacobianChain chain(tokens, layers);
    Matrix<double> dense = ReferenceJacobian(tokens, layers[0]).dense();
    for (std::size_t t = 1; t < 5; ++t) {
      const ReferenceJacobian layer(chain.layers()[t - 1].outputs(), layers[t]);
      dense = test::times(layer.dense(), dense);
    }
    const auto top = top_singular_values(chain, 8, test::stream("TopSingularValues/chain/start"));
    expect_top_of(top, singular_values(dense));
    expect_small_residuals(chain, *top);
  }
}

// Property (2). The symmetry of a regular simplex in more dimensions than it needs repeats its
// singular values many times over.
TEST(TopSingularValues, CountMultiplicities) {
  const std::size_t n = 6, d = 9;
  TokenCloud tokens{Matrix<double>(n, d), std::vector<double>(n, 1.5), 0};
  for (std::size_t i = 0; i < n; ++i) {
    tokens.directions(i, 0) = std::sqrt(0.3);
    tokens.directions(i, i + 1) = std::sqrt(0.7);
  }
  for (const double residual : {0.0, 0.4}) {
    const LayerJacobian jacobian(tokens, {2.0, residual});
    const auto dense = singular_values(ReferenceJacobian(tokens, {2.0, residual}).dense());
    std::size_t repeated = 0;
    for (std::size_t k = 1; k < dense.size(); ++k) {
      if (dense[k - 1] - dense[k] < 1e-12) ++repeated;
    }
    EXPECT_GT(repeated, 40);
    for (const std::size_t count : {1, 3, 12, 30, 53}) {
      for (std::uint64_t s = 0; s < 4; ++s) {
        const Stream start(test::seed(), "TopSingularValues/simplex", s);
        const auto top = top_singular_values(jacobian, count, start);
        expect_top_of(top, dense);
        expect_small_residuals(jacobian, *top);
      }
    }
  }
}

// Property (2) at its extremes: J = α I, and J = 0.
TEST(TopSingularValues, OfAMultipleOfTheIdentityAreAllEqual) {
  const TokenCloud tokens = random_tokens(6, 1, "TopSingularValues/line");
  const Stream start = test::stream("TopSingularValues/line/start");
  for (const double residual : {0.25, 0.0}) {
    const auto top = top_singular_values(LayerJacobian(tokens, {2.0, residual}), 5, start);
    ASSERT_TRUE(top.has_value());
    for (const double value : top->values) EXPECT_NEAR(value, residual, 1e-12 * residual);
  }
}

// Property (3): norms 2^60 times as long make J smaller by this factor and change no digit.
TEST(TopSingularValues, ScaleWithTheJacobian) {
  const TokenCloud tokens = random_tokens(12, 5, "TopSingularValues/scale");
  TokenCloud longer = tokens;
  for (double& norm : longer.norms) norm *= 0x1p60;
  const Stream start = test::stream("TopSingularValues/scale/start");
  const auto usual = top_singular_values(LayerJacobian(tokens, {5.0, 0.0}), 5, start);
  const auto small = top_singular_values(LayerJacobian(longer, {5.0, 0.0}), 5, start);
  ASSERT_TRUE(usual && small);
  for (std::size_t k = 0; k < 5; ++k) EXPECT_EQ(small->values[k] * 0x1p60, usual->values[k]);
}

TEST(TopSingularValues, AreTheSameBytesForAnyNumberOfThreads) {
  const TokenCloud tokens = random_tokens(300, 4, "TopSingularValues/threads");
  const Stream start = test::stream("TopSingularValues/threads/start");
  const auto one =
      top_singular_values(LayerJacobian(tokens, {4.0, 0.0}, {}, {1, {}, {}}), 3, start);
  const auto two =
      top_singular_values(LayerJacobian(tokens, {4.0, 0.0}, {}, {2, {}, {}}), 3, start);
  ASSERT_TRUE(one && two);
  EXPECT_EQ(one->values, two->values);
  for (std::size_t k = 0; k < 3; ++k) {
    EXPECT_EQ(std::memcmp(one->directions[k].data(), two->directions[k].data(),
                          one->directions[k].size() * sizeof(double)),
              0);
  }
}

// ---- Refusals ----

// Six vectors and one restart cannot separate five values out of 200.
TEST(TopSingularValues, AreAbsentWhenLanczosDoesNotConverge) {
  const LayerJacobian jacobian(random_tokens(40, 5, "TopSingularValues/refuse"), {3.0, 0.5});
  const Stream start = test::stream("TopSingularValues/refuse/start");
  EXPECT_FALSE(top_singular_values(jacobian, 5, start, {6, 1}).has_value());
  EXPECT_TRUE(top_singular_values(jacobian, 5, start).has_value());
}

TEST(TopSingularValues, NeedACountBelowTheSide) {
  const LayerJacobian jacobian(random_tokens(4, 3, "TopSingularValues/count"), {3.0, 0.5});
  const Stream start = test::stream("TopSingularValues/count/start");
  for (const std::size_t count : {0, 12}) {
    try {
      (void)top_singular_values(jacobian, count, start);
      FAIL() << "accepted " << count;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Code::bad_value);
      EXPECT_EQ(error.what(),
                "count: " + std::to_string(count) + " is not between 1 and n d - 1 = 11");
    }
  }
}

}  // namespace
}  // namespace dewpoint::attention
