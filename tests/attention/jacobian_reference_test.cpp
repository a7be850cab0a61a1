#include "dewpoint/attention/jacobian_reference.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <functional>
#include <string>

#include "dewpoint/attention/reference.hpp"
#include "support/matrices.hpp"
#include "support/test_seed.hpp"

namespace dewpoint::attention {
namespace {

using test::inner;
using test::largest;
using test::largest_difference;
using test::matrix_of;
using test::normal_matrix;

constexpr std::array kBothWays = {SecondMoment::pairs_of_keys, SecondMoment::khatri_rao};
const std::array kMasks = {Mask::none(), Mask::causal(), Mask::window(3)};

// J v and Jᵀ v, where v and the result are n x d matrices read row by row.
Matrix<double> times(const Matrix<double>& jacobian, const Matrix<double>& v, bool transposed) {
  Matrix<double> result(v.rows(), v.cols());
  for (std::size_t a = 0; a < v.size(); ++a) {
    for (std::size_t b = 0; b < v.size(); ++b) {
      result.data()[a] += (transposed ? jacobian(b, a) : jacobian(a, b)) * v.data()[b];
    }
  }
  return result;
}

// One layer on raw tokens, written once more for complex numbers: x/√(Σx²), not x/|x|, so that it
// is analytic.
using Complex = std::complex<double>;
using ComplexTokens = std::vector<std::vector<Complex>>;

Complex product(const std::vector<Complex>& a, const std::vector<Complex>& b) {
  Complex sum = 0.0;
  for (std::size_t k = 0; k < a.size(); ++k) sum += a[k] * b[k];
  return sum;
}

ComplexTokens complex_layer(const ComplexTokens& x, const Layer& parameters, Mask mask) {
  ComplexTokens y = x;
  for (auto& row : y) {
    const Complex length = std::sqrt(product(row, row));
    for (Complex& entry : row) entry /= length;
  }
  ComplexTokens result = x;
  for (std::size_t j = 0; j < x.size(); ++j) {
    std::vector<Complex> mixed(x[j].size(), 0.0);
    Complex partition = 0.0;
    const Range keys = mask.visible(j, x.size());
    for (std::size_t i = keys.begin; i < keys.end; ++i) {
      const Complex weight = std::exp(parameters.inverse_temperature * (product(y[j], y[i]) - 1.0));
      partition += weight;
      for (std::size_t k = 0; k < mixed.size(); ++k) mixed[k] += weight * y[i][k];
    }
    for (std::size_t k = 0; k < mixed.size(); ++k) {
      result[j][k] = mixed[k] / partition + parameters.residual * x[j][k];
    }
  }
  return result;
}

// f(x + ih) = f(x) + ih f'(x) to order h²: no difference is taken, so h = 1e-30 costs no digits.
Matrix<double> complex_step_jacobian(const Matrix<double>& tokens, const Layer& parameters,
                                     Mask mask) {
  constexpr double step = 1e-30;
  const std::size_t n = tokens.rows(), d = tokens.cols();
  Matrix<double> jacobian(n * d, n * d);
  for (std::size_t input = 0; input < n * d; ++input) {
    ComplexTokens x(n, std::vector<Complex>(d));
    for (std::size_t k = 0; k < n * d; ++k) x[k / d][k % d] = tokens.data()[k];
    x[input / d][input % d] += Complex(0.0, step);
    const ComplexTokens result = complex_layer(x, parameters, mask);
    for (std::size_t k = 0; k < n * d; ++k) jacobian(k, input) = result[k / d][k % d].imag() / step;
  }
  return jacobian;
}

// Random tokens of random norms (a normal row times a uniform scale), from the whole domain in
// which dense() states its accuracy.
struct Configuration {
  Matrix<double> raw;
  Layer parameters;
  Mask mask;

  [[nodiscard]] ReferenceJacobian jacobian() const { return {split_norms(raw), parameters, mask}; }
};

std::vector<Configuration> configurations(const std::string& name) {
  std::vector<Configuration> result;
  const Stream draw = test::stream(name + "/parameters");
  for (std::uint64_t c = 0; c < 40; ++c) {
    const auto uniform = [&](std::uint64_t k) { return draw.uniform(8 * c + k); };
    const auto n = static_cast<std::size_t>(1.0 + 10.0 * uniform(0));
    const auto d = static_cast<std::size_t>(2.0 + 9.0 * uniform(1));
    Matrix<double> raw = normal_matrix(n, d, name + std::to_string(c));
    for (std::size_t i = 0; i < n; ++i) {
      const double scale = 0.2 + 3.0 * draw.uniform(1000 + 10 * c + i);
      for (double& x : raw.row(i)) x *= scale;
    }
    const double residual = c % 4 == 0 ? 0.0 : 3.0 * uniform(2) - 1.0;
    const Layer parameters{12.0 * uniform(3), residual};
    result.push_back({std::move(raw), parameters, kMasks.at(c % kMasks.size())});
  }
  return result;
}

// ---- One worked example, all digits ----

struct Expected {
  double residual, output_00, eta, off_diagonal, diagonal;
  double jvp_square, jvp_00, jvp_42, vjp_square, vjp_00, pairing;
  std::array<double, 3> singular_values;
};

constexpr std::array<Expected, 2> kWorkedExample = {
    {{0.0,
      0.837919629924134,
      0.0789593411449004,
      0.0267070069373207,
      0.0522523342075797,
      1.34379996432898,
      -0.0973671154520006,
      0.52780101880032,
      1.5483748173882,
      -0.0494873675536147,
      1.57877491438623,
      {0.7012315759901996, 0.6214270747383037, 0.4423726356816861}},
     {0.4,
      1.69450802384729,
      0.366470433932074,
      0.0267070069373207,
      0.339763426994753,
      4.30998228036436,
      0.302632884547999,
      0.919827649936817,
      4.73013984832122,
      0.0299803647644098,
      3.73868781473878,
      {1.094356665355948, 1.0127936973467757, 0.8375185863566807}}}};

// Printed to 15 digits of numbers of order 1, computed by another program (complex step, NumPy).
constexpr double kPrinted = 1e-12;

TokenCloud worked_tokens() {
  return split_norms(matrix_of(5, 3, [](double i, double k) {
    return std::sin(1.0 + 0.7 * i + 1.3 * k) + 0.5 * std::cos(0.3 * i * k) + 0.8;
  }));
}

ReferenceJacobian worked_jacobian(double residual) {
  return {worked_tokens(), Layer{2.5, residual}};
}

TEST(ReferenceJacobian, GivesTheWeightsAndOutputsOfTheWorkedExample) {
  EXPECT_NEAR(worked_tokens().norms[0], 3.08319298521328, kPrinted);
  for (const Expected& expected : kWorkedExample) {
    const ReferenceJacobian jacobian = worked_jacobian(expected.residual);
    EXPECT_NEAR(jacobian.weights()(0, 1), 0.241635481100184, kPrinted);
    EXPECT_NEAR(jacobian.weights()(1, 0), 0.218548972849051, kPrinted);
    EXPECT_NEAR(jacobian.outputs()(0, 0), expected.output_00, kPrinted);
  }
}

TEST(ReferenceJacobian, GivesTheProductsOfTheWorkedExample) {
  const auto change =
      matrix_of(5, 3, [](double i, double k) { return std::cos(0.5 * i - 0.9 * k); });
  const auto gradient =
      matrix_of(5, 3, [](double i, double k) { return std::sin(0.2 + 0.4 * i + 0.6 * k); });
  for (const Expected& expected : kWorkedExample) {
    const ReferenceJacobian jacobian = worked_jacobian(expected.residual);
    const Matrix<double> forward = jacobian.jvp(change);
    const Matrix<double> backward = jacobian.vjp(gradient);
    EXPECT_NEAR(inner(forward, forward), expected.jvp_square, kPrinted);
    EXPECT_NEAR(forward(0, 0), expected.jvp_00, kPrinted);
    EXPECT_NEAR(forward(4, 2), expected.jvp_42, kPrinted);
    EXPECT_NEAR(inner(backward, backward), expected.vjp_square, kPrinted);
    EXPECT_NEAR(backward(0, 0), expected.vjp_00, kPrinted);
    EXPECT_NEAR(inner(gradient, forward), expected.pairing, kPrinted);
  }
}

TEST(ReferenceJacobian, GivesTheNormOfTheWorkedExample) {
  for (const Expected& expected : kWorkedExample) {
    for (const SecondMoment way : kBothWays) {
      const ReferenceJacobian jacobian = worked_jacobian(expected.residual);
      const JacobianNorm::Parts eta = jacobian.eta(way);
      EXPECT_NEAR(eta.total(), expected.eta, kPrinted);
      EXPECT_NEAR(eta.off_diagonal, expected.off_diagonal, kPrinted);
      EXPECT_NEAR(eta.diagonal, expected.diagonal, kPrinted);
      const TangentCovariance covariance = jacobian.tangent_covariances(way)[0];
      EXPECT_NEAR(covariance.trace, 0.0926204447692711, kPrinted);
      EXPECT_NEAR(covariance.square, 0.00475521091406764, kPrinted);
    }
  }
}

// The power iteration on JᵀJ, kept orthogonal to the vectors already found. Squared singular
// values here are at least a factor 1.16 apart; after 400 rounds what is left of the next vector,
// squared, is far below rounding.
TEST(ReferenceJacobian, GivesTheSingularValuesOfTheWorkedExample) {
  for (const Expected& expected : kWorkedExample) {
    const ReferenceJacobian jacobian = worked_jacobian(expected.residual);
    std::vector<Matrix<double>> found;
    for (const double value : expected.singular_values) {
      Matrix<double> v =
          matrix_of(5, 3, [](double i, double k) { return std::sin(1 + 3 * i + k); });
      double growth = 0.0;
      for (int round = 0; round < 400; ++round) {
        for (const auto& other : found) {
          const double overlap = inner(v, other);
          for (std::size_t k = 0; k < v.size(); ++k) v.data()[k] -= overlap * other.data()[k];
        }
        const double length = std::sqrt(inner(v, v));
        for (std::size_t k = 0; k < v.size(); ++k) v.data()[k] /= length;
        if (round == 399) found.push_back(v);
        const Matrix<double> image = jacobian.jvp(v);
        growth = std::sqrt(inner(image, image));
        v = jacobian.vjp(image);
      }
      EXPECT_NEAR(growth, value, kPrinted);
    }
  }
}

// ---- The layer it belongs to ----

// Two programs for the same sums of at most ten terms of order 1 (times the residual and norms).
TEST(ReferenceJacobian, HasTheOutputsOfTheReferenceLayer) {
  for (const Configuration& c : configurations("ReferenceJacobian/outputs")) {
    if (!c.mask.hides_nothing()) continue;
    const LayerResult layer = reference_layer(split_norms(c.raw), c.parameters);
    Matrix<double> expected = layer.deviations;
    for (std::size_t k = 0; k < expected.size(); ++k) {
      expected.data()[k] += layer.base[k % expected.cols()];
    }
    EXPECT_LE(largest_difference(c.jacobian().outputs(), expected),
              kJacobianError * (1.0 + largest(expected)));
  }
}

// A causal query reads the tokens up to itself as if the others did not exist.
TEST(ReferenceJacobian, TreatsACausalQueryAsTheLastOfAShorterText) {
  const Matrix<double> raw = normal_matrix(6, 4, "ReferenceJacobian/causal");
  const ReferenceJacobian whole(split_norms(raw), {3.0, 0.3}, Mask::causal());
  for (std::size_t n = 1; n <= 6; ++n) {
    Matrix<double> head(n, 4);
    std::copy_n(raw.data(), head.size(), head.data());
    const ReferenceJacobian part(split_norms(head), {3.0, 0.3});
    for (std::size_t k = 0; k < 4; ++k) {
      EXPECT_NEAR(whole.outputs()(n - 1, k), part.outputs()(n - 1, k), kJacobianError);
    }
    for (std::size_t j = 0; j < 6; ++j) {
      EXPECT_EQ(whole.weights()(n - 1, j) == 0.0, j >= n);
    }
  }
}

// ---- Properties ----

// Property (1). Errors of the complex step itself are of the same kind: a score is off by (d + 3)
// roundings, times β ≤ 12 in a weight, 156 roundings = 2e-14.
TEST(ReferenceJacobian, IsTheDerivativeOfTheLayer) {
  for (const Configuration& c : configurations("ReferenceJacobian/derivative")) {
    const Matrix<double> derivative = complex_step_jacobian(c.raw, c.parameters, c.mask);
    EXPECT_LE(largest_difference(c.jacobian().dense(), derivative),
              kJacobianError * largest(derivative))
        << "n = " << c.raw.rows() << ", d = " << c.raw.cols();
  }
}

// Property (2).
TEST(ReferenceJacobian, DoesNotSeeTheLengthOfATokenWithoutResidual) {
  for (Configuration c : configurations("ReferenceJacobian/radial")) {
    c.parameters.residual = 0.0;
    const ReferenceJacobian jacobian = c.jacobian();
    const Matrix<double> dense = jacobian.dense();
    for (std::size_t i = 0; i < c.raw.rows(); ++i) {
      Matrix<double> radial(c.raw.rows(), c.raw.cols());
      std::copy_n(c.raw.row(i).begin(), c.raw.cols(), radial.row(i).begin());
      const double scale = (1.0 + largest(dense)) * (1.0 + largest(radial));
      EXPECT_LE(largest(times(dense, radial, false)), kJacobianError * scale);
      EXPECT_LE(largest(jacobian.jvp(radial)), kJacobianError * scale);
    }
  }
}

// Property (3). The first query sees only itself: its output is its direction, which has the
// Jacobian P_0/r_0.
TEST(ReferenceJacobian, IsBlockLowerTriangularUnderACausalMask) {
  const TokenCloud tokens = split_norms(normal_matrix(4, 3, "ReferenceJacobian/triangular"));
  const Matrix<double> dense = ReferenceJacobian(tokens, {5.0, 0.0}, Mask::causal()).dense();
  for (std::size_t a = 0; a < 12; ++a) {
    for (std::size_t b = 3 * (a / 3 + 1); b < 12; ++b) EXPECT_EQ(dense(a, b), 0.0);
  }
  for (std::size_t v = 0; v < 3; ++v) {
    for (std::size_t u = 0; u < 3; ++u) {
      const double projection =
          (v == u ? 1.0 : 0.0) - tokens.directions(0, v) * tokens.directions(0, u);
      EXPECT_NEAR(dense(v, u), projection / tokens.norms[0], kJacobianError / tokens.norms[0]);
    }
  }
}

// In one dimension a token has no direction to change: the projections vanish, exactly.
TEST(ReferenceJacobian, IsTheResidualAloneInOneDimension) {
  const TokenCloud tokens = split_norms(normal_matrix(5, 1, "ReferenceJacobian/line"));
  const Matrix<double> dense = ReferenceJacobian(tokens, {2.0, 0.25}).dense();
  for (std::size_t a = 0; a < 5; ++a) {
    for (std::size_t b = 0; b < 5; ++b) EXPECT_EQ(dense(a, b), a == b ? 0.25 : 0.0);
  }
}

// Properties (4) and (5), each for its own bound: a product adds n d ≤ 100 terms.
TEST(ReferenceJacobian, MultipliesLikeItsDenseForm) {
  for (const Configuration& c : configurations("ReferenceJacobian/products")) {
    const ReferenceJacobian jacobian = c.jacobian();
    const Matrix<double> dense = jacobian.dense();
    const Matrix<double> v = normal_matrix(c.raw.rows(), c.raw.cols(), "ReferenceJacobian/v");
    const double bound = kJacobianError * std::max(1.0, largest(dense)) * (1.0 + largest(v)) *
                         std::sqrt(static_cast<double>(v.size()));
    EXPECT_LE(largest_difference(jacobian.jvp(v), times(dense, v, false)), bound);
    EXPECT_LE(largest_difference(jacobian.vjp(v), times(dense, v, true)), bound);
  }
}

// Property (5). The right scale of ⟨W, JV⟩ is ‖W‖ ‖JV‖: the product itself may vanish by chance.
TEST(ReferenceJacobian, HasAdjointProducts) {
  for (const Configuration& c : configurations("ReferenceJacobian/adjoint")) {
    const ReferenceJacobian jacobian = c.jacobian();
    const Matrix<double> v = normal_matrix(c.raw.rows(), c.raw.cols(), "ReferenceJacobian/v");
    const Matrix<double> w = normal_matrix(c.raw.rows(), c.raw.cols(), "ReferenceJacobian/w");
    const Matrix<double> forward = jacobian.jvp(v), backward = jacobian.vjp(w);
    const double scale = std::sqrt(inner(w, w) * inner(forward, forward)) +
                         std::sqrt(inner(v, v) * inner(backward, backward));
    EXPECT_LE(std::abs(inner(w, forward) - inner(backward, v)), kJacobianError * (1.0 + scale));
  }
}

// Property (6). Fourth powers of offsets of length at most 2, in sums of weights that add to 1.
TEST(ReferenceJacobian, HasOneSecondMomentHoweverItIsSummed) {
  for (const Configuration& c : configurations("ReferenceJacobian/moments")) {
    const auto pairs = c.jacobian().tangent_covariances(SecondMoment::pairs_of_keys);
    const auto products = c.jacobian().tangent_covariances(SecondMoment::khatri_rao);
    for (std::size_t j = 0; j < pairs.size(); ++j) {
      EXPECT_EQ(pairs[j].trace, products[j].trace);
      EXPECT_NEAR(pairs[j].square, products[j].square, 16 * kJacobianNormError);
      EXPECT_GE(pairs[j].trace, -kJacobianNormError);
      EXPECT_GE(pairs[j].square, -16 * kJacobianNormError);
    }
  }
}

// η plus (β g)²/(n d) Σ_i 1/r_i², on which the error of η is promised. Here g ≤ 2.
double error_scale(const TokenCloud& tokens, double beta, double eta) {
  double sum = 0.0;
  for (const double r : tokens.norms) sum += 4.0 * beta * beta / (r * r);
  return eta + sum / static_cast<double>(tokens.directions.size());
}

// Property (7).
TEST(ReferenceJacobian, HasTheFrobeniusNormOfItsDenseForm) {
  for (const Configuration& c : configurations("ReferenceJacobian/norm")) {
    const Matrix<double> dense = c.jacobian().dense();
    const double eta = inner(dense, dense) / static_cast<double>(dense.rows());
    const double scale = error_scale(split_norms(c.raw), c.parameters.inverse_temperature, eta);
    for (const SecondMoment way : kBothWays) {
      EXPECT_NEAR(c.jacobian().eta(way).total(), eta, kJacobianNormError * scale)
          << "n = " << c.raw.rows() << ", d = " << c.raw.cols();
    }
  }
}

// Property (1) of JacobianNorm::at. A negative residual may cancel part of η: the scale is that of
// the terms.
TEST(JacobianNorm, IsKnownForAllNormsAndResidualsAtOnce) {
  const TokenCloud tokens = split_norms(normal_matrix(9, 5, "JacobianNorm/tokens"));
  TokenCloud others = tokens;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    others.norms[i] = 0.5 + test::stream("JacobianNorm/norms").uniform(i);
  }
  for (const Mask mask : kMasks) {
    const JacobianNorm once = ReferenceJacobian(tokens, {4.0, 0.7}, mask).norm(kBothWays[0]);
    for (const double residual : {-0.5, 0.0, 0.3, 2.0}) {
      const JacobianNorm::Parts known = once.at(others.norms, residual);
      const Matrix<double> dense = ReferenceJacobian(others, {4.0, residual}, mask).dense();
      const double again = inner(dense, dense) / static_cast<double>(dense.rows());
      const double terms = once.at(others.norms, std::abs(residual)).total();
      EXPECT_NEAR(known.total(), again, kJacobianNormError * error_scale(others, 4.0, terms));
    }
  }
}

// ---- The regular simplex ----

TokenCloud simplex(std::size_t n, std::size_t d, double rho, double squared_norm) {
  TokenCloud tokens{Matrix<double>(n, d), std::vector<double>(n, std::sqrt(squared_norm)), 0};
  for (std::size_t i = 0; i < n; ++i) {
    tokens.directions(i, 0) = std::sqrt(rho);
    tokens.directions(i, i + 1) = std::sqrt(1.0 - rho);
  }
  return tokens;
}

double simplex_eta(std::size_t n, std::size_t dimension, double rho, double q, Layer parameters) {
  const double beta = parameters.inverse_temperature, alpha = parameters.residual;
  const double d = static_cast<double>(dimension), others = static_cast<double>(n) - 1.0;
  const double odds = others * std::exp(-beta * (1.0 - rho));
  const double a = 1.0 / (1.0 + odds), s = odds / (1.0 + odds), b = s / others;
  const double spread = beta * (1.0 - rho);
  const double tau = (1.0 - rho) * s * (1.0 + a * rho - b);
  const double sum =
      (d - 1.0) * (a * a + s * b) +
      2.0 * spread * s * (a * (1.0 - 2.0 * b) + rho * (a * a - b * (1.0 - b))) +
      spread * spread *
          (rho * a * a * s * s +
           s * b * ((2.0 + rho) * (1.0 - 2.0 * b + s * b) + 2.0 * a * a * (1.0 + rho)));
  return sum / (q * d) + alpha * alpha +
         2.0 * alpha / (std::sqrt(q) * d) * (a * (d - 1.0) + beta * tau);
}

// Property (8): below, at and above the transition at β(1 − ρ) = log(n − 1), and for tokens so
// close that one minus a cosine would lose ten digits. The bound is the promised one without its
// second term, which a simplex does not need.
TEST(JacobianNorm, HasItsClosedFormOnTheSimplex) {
  for (const double rho : {0.0, 0.3, 0.9, 1.0 - 1e-10}) {
    for (const double spread : {0.1, 1.0, std::log(31.0), 10.0, 24.0}) {
      for (const std::size_t n : {2, 12, 32}) {
        const double beta = spread / (1.0 - rho);
        const TokenCloud tokens = simplex(n, n + 3, rho, 1.7);
        for (const SecondMoment way : kBothWays) {
          const JacobianNorm norm = ReferenceJacobian(tokens, {beta, 0.0}).norm(way);
          for (const double residual : {0.0, 0.4}) {
            const double expected = simplex_eta(n, n + 3, rho, 1.7, {beta, residual});
            const double eta = norm.at(tokens.norms, residual).total();
            EXPECT_NEAR(eta, expected, kJacobianNormError * expected)
                << "rho = " << rho << ", spread = " << spread << ", n = " << n;
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace dewpoint::attention
