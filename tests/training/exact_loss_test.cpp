// The loss of the standard experiment, exact at finite context, at points where its value is known:
// s = 19, π = (0.75, 0.19, 0.05, 0.01), λ = 0.8. The numbers were computed by an independent
// program; a tolerance is half a unit of the last digit given.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "dewpoint/training/token_loss.hpp"
#include "training/loss_cases.hpp"
#include "training/standard_chain.hpp"

namespace dewpoint::training::test {
namespace {

std::unique_ptr<TokenLoss> exact_loss() {
  return histogram_loss(exact_rows(standard_chain(), kStandardContext), {});
}

Matrix<double> from_rows(const std::vector<std::vector<double>>& rows) {
  Matrix<double> matrix(rows.size(), rows.front().size());
  for (std::size_t i = 0; i < rows.size(); ++i) std::ranges::copy(rows[i], matrix.row(i).begin());
  return matrix;
}

void expect_row(std::span<const double> row, const std::vector<double>& expected) {
  for (std::size_t k = 0; k < expected.size(); ++k) EXPECT_NEAR(row[k], expected[k], 5e-9);
}

TEST(ExactLoss, HasTheKnownValueAndSlopesAtAnArbitraryPoint) {
  TokenMaps at(4);
  at.value = from_rows({{2, -1, .5, 0}, {-.5, 1.5, 0, .2}, {.2, .4, 1.8, -.6}, {0, -.2, .6, 1.2}});
  at.attention = from_rows({{1, 0, -.5, .2}, {.3, .8, -.2, 0}, {0, .1, .5, -.4}, {-.6, .2, 0, .7}});
  TokenMaps slope(4);
  EXPECT_NEAR(exact_loss()->slope(0, at, slope), 0.812289216277, 5e-13);
  expect_row(slope.value.row(0), {-.17006816, -.03290485, .11727257, .08570044});
  expect_row(slope.value.row(3), {-.01346162, -.00268971, .01045342, .00569790});
  expect_row(slope.attention.row(0), {-.08977459, .05132544, .01682172, .02162743});
  expect_row(slope.attention.row(3), {.00081515, .00027354, .00058688, -.00167557});
}

// Singular values by rotating pairs of columns until all are orthogonal.
std::vector<double> singular_values(Matrix<double> a) {
  const std::size_t d = a.cols();
  for (int sweep = 0; sweep < 30; ++sweep) {
    for (std::size_t p = 0; p + 1 < d; ++p) {
      for (std::size_t q = p + 1; q < d; ++q) {
        double pp = 0.0;
        double qq = 0.0;
        double pq = 0.0;
        for (std::size_t i = 0; i < a.rows(); ++i) {
          pp += a(i, p) * a(i, p);
          qq += a(i, q) * a(i, q);
          pq += a(i, p) * a(i, q);
        }
        const double angle = 0.5 * std::atan2(2.0 * pq, pp - qq);
        for (std::size_t i = 0; i < a.rows(); ++i) {
          const double x = a(i, p);
          const double y = a(i, q);
          a(i, p) = std::cos(angle) * x + std::sin(angle) * y;
          a(i, q) = std::cos(angle) * y - std::sin(angle) * x;
        }
      }
    }
  }
  std::vector<double> values(d);
  for (std::size_t k = 0; k < d; ++k) {
    for (std::size_t i = 0; i < a.rows(); ++i) values[k] = std::hypot(values[k], a(i, k));
  }
  std::sort(values.begin(), values.end(), std::greater<>());
  return values;
}

TEST(ExactLoss, PullsInThreeDirectionsAtTheOrigin) {
  TokenMaps slope(4);
  EXPECT_NEAR(exact_loss()->slope(0, TokenMaps(4), slope), std::log(4.0), 1e-13);
  expect_row(slope.value.row(0), {-.34726202, .06541760, .13148413, .15036029});
  expect_row(singular_values(slope.value), {.42056549, .04018409, .01080494, 0.0});
}

// Attention on the last token alone and logits log P: the best predictor there is. Scores of 50
// leave less than 19 e⁻⁵⁰ = 4e-21 to other tokens.
TEST(ExactLoss, ReachesTheBayesLoss) {
  const Chain chain = standard_chain();
  TokenMaps at(4);
  for (std::size_t i = 0; i < 4; ++i) {
    at.attention(i, i) = 50.0;
    for (std::size_t k = 0; k < 4; ++k) at.value(i, k) = std::log(chain.transition(i, k));
  }
  TokenMaps slope(4);
  EXPECT_NEAR(exact_loss()->slope(0, at, slope), 0.3061525898, 5e-11);
  // A minimum: every row of ∂L/∂M is Σ w (p − P) of exact probabilities, within rounding.
  EXPECT_LE(largest(slope.value), pass_error(4, 50.0, largest(at.value), kDoubleEpsilon));
}

double dot(const Matrix<double>& a, const Matrix<double>& b) {
  double sum = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a.data()[i] * b.data()[i];
  return sum;
}

void add(double factor, const Matrix<double>& from, Matrix<double>& to) {
  for (std::size_t i = 0; i < to.size(); ++i) to.data()[i] += factor * from.data()[i];
}

// The Newton step over M at fixed Φ by conjugate gradients, whose products are slope_change().
Matrix<double> newton_step(const TokenLoss& loss, const TokenMaps& at,
                           const Matrix<double>& slope) {
  Matrix<double> step(4, 4);
  Matrix<double> left(4, 4);
  add(-1.0, slope, left);
  TokenMaps along(4);
  along.value = left;
  double square = dot(left, left);
  const double enough = 1e-12 * square;
  for (int i = 0; i < 40 && square > enough; ++i) {
    TokenMaps product(4);
    loss.slope_change(at, along, product);
    const double length = square / dot(along.value, product.value);
    add(length, along.value, step);
    add(-length, product.value, left);
    const double next = dot(left, left);
    Matrix<double> direction = left;
    add(next / square, along.value, direction);
    along.value = std::move(direction);
    square = next;
  }
  return step;
}

// With uniform attention the loss is convex in M. Newton's method halves its step until the loss
// falls, and stops at a slope so small that |slope| |step| is below the last digit given.
TEST(ExactLoss, HasTheKnownMinimumUnderUniformAttention) {
  const auto loss = exact_loss();
  TokenMaps at(4);
  TokenMaps slope(4);
  double value = loss->slope(0, at, slope);
  double gain = 1.0;
  for (int i = 0; i < 60 && gain > 1e-10; ++i) {
    const Matrix<double> step = newton_step(*loss, at, slope.value);
    gain = -dot(step, slope.value);
    double length = 1.0;
    TokenMaps next = at;
    add(length, step, next.value);
    double lower = loss->slope(0, next, slope);
    while (lower > value && length > 1e-6) {
      length *= 0.5;
      next = at;
      add(length, step, next.value);
      lower = loss->slope(0, next, slope);
    }
    at = std::move(next);
    value = lower;
  }
  EXPECT_LE(gain, 1e-10);
  EXPECT_NEAR(value, 0.65319340, 5e-9);
}

}  // namespace
}  // namespace dewpoint::training::test
