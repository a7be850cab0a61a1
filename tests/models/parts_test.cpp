// The parts of a layer: nonlinearity, norms, rotation, and the running sum of the losses.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "dewpoint/models/activation.hpp"
#include "dewpoint/models/norms.hpp"
#include "dewpoint/models/output_head.hpp"
#include "dewpoint/models/rotation.hpp"
#include "support/test_seed.hpp"

namespace dewpoint::models {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kUnit = 0x1p-24;  // u of float32

std::vector<float> normals(std::size_t count, const char* name) {
  std::vector<double> draws(count);
  test::stream(name).normals(0, draws);
  return {draws.begin(), draws.end()};
}

// Values by mpmath with 30 digits.
TEST(Activation, HasItsKnownValues) {
  struct Row {
    Activation activation;
    double x, value;
  };
  for (const Row& row : {
           Row{Activation::silu, 1.0, 0.73105857863000488},
           Row{Activation::silu, -3.0, -0.14227761953270035},
           Row{Activation::gelu, 1.0, 0.84134474606854295},
           Row{Activation::gelu, -3.0, -0.0040496940948902836},
           Row{Activation::gelu_tanh, 1.0, 0.84119199060827670},
           Row{Activation::gelu_tanh, -3.0, -0.0036373920817730188},
           Row{Activation::relu, 2.5, 2.5},
           Row{Activation::relu, -2.5, 0.0},
       }) {
    EXPECT_NEAR(activated(row.activation, row.x), row.value,
                kActivationError * (std::abs(row.x) + 1.0));
  }
}

// Property (1).
TEST(Activation, OddPartIsHalfTheIdentity) {
  for (const auto activation : {Activation::silu, Activation::gelu, Activation::gelu_tanh}) {
    for (const double x : {1e-3, 0.5, 2.0, 10.0, 100.0}) {
      EXPECT_NEAR(activated(activation, x) - activated(activation, -x), x,
                  2 * kActivationError * (x + 1.0));
    }
  }
}

TEST(Activation, EndsWhereItShould) {
  for (const auto activation :
       {Activation::silu, Activation::gelu, Activation::gelu_tanh, Activation::relu}) {
    EXPECT_EQ(activated(activation, -kInfinity), 0.0);
    EXPECT_EQ(activated(activation, kInfinity), kInfinity);
    EXPECT_NEAR(activated(activation, -800.0), 0.0, 1e-300);
    std::vector<float> values{-2.0F, 0.0F, 3.0F};
    activate(activation, values);
    for (std::size_t k = 0; k < 3; ++k) {
      const double x = std::vector{-2.0, 0.0, 3.0}[k];
      EXPECT_EQ(values[k], static_cast<float>(activated(activation, x)));
    }
  }
}

TEST(Activation, RefusesWhatItDoesNotKnow) {
  EXPECT_EQ(parse_activation("gelu_pytorch_tanh"), Activation::gelu_tanh);
  EXPECT_THROW((void)parse_activation("swiglu"), Error);
}

// Property (1): each y is rounded once, so y² changes by 2u at most, and their mean too.
TEST(Norms, MeanSquareBecomesOne) {
  const auto x = normals(100, "Norms/MeanSquareBecomesOne");
  for (const auto kind : {NormKind::root_mean_square, NormKind::layer}) {
    const Norm norm{kind, std::vector<float>(100, 1.0F), {}, 0.0};
    std::vector<float> y(100);
    normalise(norm, x, y);
    double sum = 0.0;
    for (const float value : y) sum += static_cast<double>(value) * static_cast<double>(value);
    EXPECT_NEAR(sum / 100.0, 1.0, 2.1 * kUnit);
  }
}

// Property (2). Adding 1000 rounds x by 1000u, and dividing by its deviation, about 1, keeps that.
TEST(Norms, LayerNormForgetsTheMean) {
  const auto x = normals(100, "Norms/LayerNormForgetsTheMean");
  auto moved = x;
  for (float& value : moved) value += 1000.0F;
  const Norm norm{NormKind::layer, normals(100, "Norms/scale"), normals(100, "Norms/shift"), 1e-5};
  std::vector<float> a(100);
  std::vector<float> b(100);
  normalise(norm, x, a);
  normalise(norm, moved, b);
  for (std::size_t k = 0; k < a.size(); ++k) {
    EXPECT_NEAR(a[k], b[k], 4.0 * 1000.0 * kUnit * (1.0 + std::abs(norm.scale[k])) * 3.0);
  }
}

// Property (3), and the formula at one position: planes (0, 2), (1, 3) or (0, 1), (2, 3).
TEST(Rotation, TurnsThePlanesOfItsLayout) {
  for (const auto planes : {RotationPlanes::halves, RotationPlanes::neighbours}) {
    const RotationTable table({{1.0, 0.1}, 2.0, planes}, 4);
    std::vector<float> x{1.0F, 2.0F, 3.0F, 4.0F, 5.0F};
    table.turn(0, x);
    EXPECT_EQ(x, (std::vector<float>{2.0F, 4.0F, 6.0F, 8.0F, 5.0F}));
    x = {1.0F, 2.0F, 3.0F, 4.0F, 5.0F};
    table.turn(3, x);
    const bool halves = planes == RotationPlanes::halves;
    const double first = 1.0;
    const double second = halves ? 3.0 : 2.0;
    const double expected = 2.0 * (first * std::cos(3.0) - second * std::sin(3.0));
    EXPECT_NEAR(x[0], expected, kRotationError * 2.0 * std::hypot(first, second));
    EXPECT_EQ(x[4], 5.0F);
  }
}

// Properties (1) and (2). A product of 8 terms of vectors turned to kRotationError.
TEST(Rotation, KeepsLengthsAndKnowsOnlyDistances) {
  const double factor = 1.2;
  const RotationTable table({{1.0, 0.3, 0.1, 0.01}, factor, RotationPlanes::halves}, 200);
  const auto q = normals(8, "Rotation/query");
  const auto k = normals(8, "Rotation/key");
  const auto product = [&](std::size_t p, std::size_t r) {
    auto a = q;
    auto b = k;
    table.turn(p, a);
    table.turn(r, b);
    double sum = 0.0;
    for (std::size_t i = 0; i < 8; ++i)
      sum += static_cast<double>(a[i]) * static_cast<double>(b[i]);
    return sum;
  };
  double lengths = 0.0;
  for (std::size_t i = 0; i < 8; ++i) {
    lengths += static_cast<double>(q[i]) * static_cast<double>(q[i]) +
               static_cast<double>(k[i]) * static_cast<double>(k[i]);
  }
  const double bound = 4.0 * kRotationError * factor * factor * lengths;
  EXPECT_NEAR(product(150, 20), product(130, 0), bound);
  EXPECT_GT(std::abs(product(150, 20) - product(150, 21)), bound);
}

// Each addition rounds twice, and the logarithm makes a relative error an absolute one.
TEST(RunningLogSum, IsTheLogarithmOfTheSumInAnyOrder) {
  const auto values = normals(1000, "RunningLogSum");
  RunningLogSum forward;
  RunningLogSum backward;
  double sum = 0.0;
  for (std::size_t k = 0; k < values.size(); ++k) {
    forward.add(5.0 * static_cast<double>(values[k]));
    backward.add(5.0 * static_cast<double>(values[values.size() - 1 - k]));
    sum += std::exp(5.0 * static_cast<double>(values[k]));
  }
  const double bound = 3 * 1001 * 0x1p-52;
  EXPECT_NEAR(forward.value(), std::log(sum), bound);
  EXPECT_NEAR(backward.value(), std::log(sum), bound);
  EXPECT_EQ(RunningLogSum().value(), -kInfinity);
  RunningLogSum large;
  for (int k = 0; k < 4; ++k) large.add(2000.0);
  EXPECT_DOUBLE_EQ(large.value(), 2000.0 + std::log(4.0));
}

}  // namespace
}  // namespace dewpoint::models
