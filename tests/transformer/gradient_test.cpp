// Loss and gradient of the network against the plain model, for every combination of the parts a
// model can have: derivatives by complex step, entry by entry; contexts as histograms against
// contexts position by position; single precision against double.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <string>
#include <vector>

#include "dewpoint/transformer/network.hpp"
#include "transformer/model_cases.hpp"

namespace dewpoint::transformer::test {
namespace {

// What losses and gradients are asked to reach, relative to the largest entry of all (slopes by
// scores are differences of numbers of that order, which makes them small but not their errors).
// With u = 2⁻⁵³: a score is a sum of m = 8 products of sums of 8, of size 20 at most, and is off by
// (2·8 + 2)·20 u = 360 u; attention weights by twice that, relatively, and so the states they make.
// Layers add their errors on the way forth and again on the way back: 2·3·720 u = 4320 u. Sums over
// at most 36 rows of 8 entries add 300 u. Together below 5000 u = 6e-13. A law of the logits makes
// scores up to 1.5 times as large, and adds two roundings: below 7000 u = 8e-13.
constexpr double kAccuracy = 1e-12;

constexpr std::size_t kWidth = 8;

struct Depth {
  std::size_t layers, heads, vocabulary;
};

// Laws that move with the query, one that steps, and one that is set once for the context.
const std::vector<std::string> kLaws = {"ssmax:n0=6", "sqrt-log:n0=5", "power:exponent=0.25,n0=5",
                                        "llama-4:slope=0.3,n0=3", "yarn:slope=0.3,n0=4"};

// The same model with a law: every one has its turn.
Shape with_law(Shape shape, std::size_t turn) {
  shape.scaling = shape.causal ? kLaws[turn % kLaws.size()] : "constant:1.25";
  return shape;
}

// All 16 combinations of parts at every depth; with residual another branch too; all of them with a
// law of the logits. With one head and more distinct tokens in a batch than the width has, WQ WK^T
// is formed first: vocabulary 14.
std::vector<Shape> all_shapes() {
  std::vector<Shape> shapes;
  for (const Depth depth :
       {Depth{1, 1, 5}, Depth{2, 1, 6}, Depth{2, 1, 14}, Depth{3, 2, 7}, Depth{2, 4, 6}}) {
    for (unsigned parts = 0; parts < 16; ++parts) {
      Shape shape{depth.vocabulary, kWidth, depth.layers, depth.heads};
      shape.residual = parts & 1U;
      shape.value_matrix = parts & 2U;
      shape.causal = parts & 4U;
      shape.pre_norm = parts & 8U;
      shapes.push_back(shape);
      shapes.push_back(with_law(shape, shapes.size()));
      if (!shape.residual || depth.heads == 4) continue;
      shape.branch = 0.375;
      shapes.push_back(shape);
    }
  }
  return shapes;
}

std::string test_name(const testing::TestParamInfo<Shape>& info) {
  std::string name = fmt::format("{} V{}", name_of(info.param), info.param.vocabulary);
  std::ranges::replace_if(
      name, [](char c) { return std::isalnum(c) == 0; }, '_');
  return name;
}

std::vector<Targets> targets_of(const Shape& shape) {
  return shape.causal ? std::vector{Targets::last, Targets::all} : std::vector{Targets::last};
}

// Four windows, the same with a law as without. The third has the histogram of the second with
// another last token, the fourth equals the first up to its label.
Windows some_windows(const Shape& shape) {
  const std::size_t s = 5 + shape.layers;
  const auto v = static_cast<std::int32_t>(shape.vocabulary);
  Shape plain = shape;
  plain.scaling.clear();
  Windows windows = random_windows(shape.vocabulary, s, 4, name_of(plain));
  const auto window = [&](std::size_t i) {
    return windows.tokens.begin() + static_cast<std::ptrdiff_t>(i * (s + 1));
  };
  *window(1) = (*(window(2) - 2) + 1) % v;
  std::copy(window(1), window(2), window(2));
  std::iter_swap(window(2), window(3) - 2);
  std::copy(window(0), window(1), window(3));
  windows.tokens.back() = (windows.tokens.back() + 1) % v;
  return windows;
}

template <class Real>
struct Result {
  double loss;
  Weights<Real> gradient;
};

// A network with room for one asked row per context has another last layer than one with room for
// all rows; `room` says for which targets.
template <class Real>
Result<Real> result_of(const Shape& shape, const Weights<Real>& weights, const Windows& windows,
                       const Batch& batch, Targets room) {
  Network<Real> network(shape, capacity_of(windows.size(), windows.context, room));
  Result<Real> result{0.0, Weights<Real>(shape)};
  result.loss = network.gradient(weights, batch, result.gradient);
  EXPECT_EQ(network.loss(weights, batch), result.loss);
  return result;
}

template <class Real>
Result<Real> explicit_result(const Shape& shape, const Weights<Real>& weights,
                             const Windows& windows, Targets targets) {
  return result_of(shape, weights, windows, explicit_batch(windows, targets), targets);
}

class NetworkOfShape : public testing::TestWithParam<Shape> {};
INSTANTIATE_TEST_SUITE_P(All, NetworkOfShape, testing::ValuesIn(all_shapes()), test_name);

TEST_P(NetworkOfShape, HasTheLossOfThePlainModel) {
  const Shape& shape = GetParam();
  for (const std::uint64_t replica : {0, 1, 2}) {
    const Weights<double> weights = some_weights(shape, replica);
    const Windows windows = some_windows(shape);
    for (const Targets targets : targets_of(shape)) {
      const double plain = reference_loss(shape, weights, windows, targets);
      EXPECT_NEAR(explicit_result(shape, weights, windows, targets).loss, plain, kAccuracy * plain);
    }
  }
}

// Property (1) of Network::gradient().
TEST_P(NetworkOfShape, HasTheGradientOfThePlainModelByComplexStep) {
  const Shape& shape = GetParam();
  const Weights<double> weights = some_weights(shape, 3);
  const Windows windows = some_windows(shape);
  for (const Targets targets : targets_of(shape)) {
    const auto found = explicit_result(shape, weights, windows, targets).gradient;
    const Weights<double> slopes = complex_step_gradient(shape, weights, windows, targets);
    const double tolerance = kAccuracy * largest(slopes);
    const std::vector<std::string> names = matrix_names(shape);
    for (std::size_t n = 0; n < names.size(); ++n) {
      const Matrix<double>& wanted = *matrices_of(slopes)[n];
      EXPECT_GT(dewpoint::test::largest(wanted), 1e6 * tolerance) << names[n];  // it is sharp
      EXPECT_LE(largest_difference(*matrices_of(found)[n], wanted), tolerance) << names[n];
    }
  }
}

void expect_equal(const Result<double>& found, const Result<double>& wanted) {
  EXPECT_NEAR(found.loss, wanted.loss, kAccuracy * wanted.loss);
  EXPECT_LE(largest_difference(found.gradient, wanted.gradient),
            kAccuracy * largest(wanted.gradient));
}

// Property (1) of fill_collapsed().
TEST_P(NetworkOfShape, DoesNotDependOnHowABatchIsCut) {
  const Shape& shape = GetParam();
  const Weights<double> weights = some_weights(shape, 4);
  const Windows windows = some_windows(shape);
  const auto wanted = explicit_result(shape, weights, windows, Targets::last);
  const Batch collapsed = collapsed_batch(windows);
  ASSERT_EQ(collapsed.contexts(), 2U);
  ASSERT_GT(collapsed.asked.size(), 2U);
  for (const Targets room : {Targets::last, Targets::all}) {
    expect_equal(result_of(shape, weights, windows, explicit_batch(windows, Targets::last), room),
                 wanted);
    if (!shape.permutation_equivariant()) continue;
    expect_equal(result_of(shape, weights, windows, collapsed, room), wanted);
  }
}

// The 5000 roundings counted at the top, now of u = 2⁻²⁴. They do not all point the same way: as
// steps of a random walk they make √5000 u, and we allow six of these. Weights are the same numbers
// in both precisions.
TEST_P(NetworkOfShape, DiffersInSinglePrecisionByItsRounding) {
  const Shape& shape = GetParam();
  const auto rounded = converted<float>(shape, some_weights(shape, 5));
  const auto weights = converted<double>(shape, rounded);
  const Windows windows = some_windows(shape);
  const Targets targets = targets_of(shape).back();
  const auto found = explicit_result(shape, rounded, windows, targets);
  const auto wanted = explicit_result(shape, weights, windows, targets);
  const double accuracy = 6.0 * std::sqrt(5000.0) * 0x1p-24;
  EXPECT_NEAR(found.loss, wanted.loss, accuracy * wanted.loss);
  EXPECT_LE(largest_difference(found.gradient, wanted.gradient),
            accuracy * largest(wanted.gradient));
}

}  // namespace
}  // namespace dewpoint::transformer::test
