#include "dewpoint/attention/jacobian_products.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <functional>
#include <string>

#include "dewpoint/attention/jacobian_reference.hpp"
#include "support/matrices.hpp"
#include "support/test_seed.hpp"

namespace dewpoint::attention {
namespace {

using test::inner;
using test::matrix_of;
using test::normal_matrix;

double length(std::span<const double> row) {
  double sum = 0.0;
  for (const double x : row) sum += x * x;
  return std::sqrt(sum);
}

double longest_row(const Matrix<double>& a) {
  double result = 0.0;
  for (std::size_t i = 0; i < a.rows(); ++i) result = std::max(result, length(a.row(i)));
  return result;
}

Matrix<double> difference(const Matrix<double>& a, const Matrix<double>& b) {
  Matrix<double> result = a;
  for (std::size_t k = 0; k < a.size(); ++k) result.data()[k] -= b.data()[k];
  return result;
}

bool same_bytes(const Matrix<double>& a, const Matrix<double>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0;
}

// ---- What roundings allow ----

// The scales on which jvp and vjp promise their accuracy, from the plain weights.
struct Scales {
  Scales(const TokenCloud& tokens, const Layer& parameters, const Matrix<double>& weights)
      : residual(std::abs(parameters.residual)),
        shortest(*std::min_element(tokens.norms.begin(), tokens.norms.end())) {
    const Matrix<double>& y = tokens.directions;
    std::vector<double> mean(y.cols(), 0.0), offset(y.cols());
    for (std::size_t k = 0; k < y.size(); ++k) {
      mean[k % y.cols()] += y.data()[k] / static_cast<double>(y.rows());
    }
    double g = 0.0;
    for (std::size_t i = 0; i < y.rows(); ++i) {
      for (std::size_t k = 0; k < y.cols(); ++k) offset[k] = y(i, k) - mean[k];
      g = std::max(g, std::pow(length(offset), 2));
      double sum = 0.0;
      for (std::size_t j = 0; j < y.rows(); ++j) sum += weights(j, i);
      column_sum = std::max(column_sum, sum);
    }
    spread = parameters.inverse_temperature * g;
  }

  [[nodiscard]] double jvp(const Matrix<double>& change) const {
    return ((1.0 + 8.0 * spread) / shortest + residual) * longest_row(change);
  }
  [[nodiscard]] double vjp(const Matrix<double>& gradient) const {
    const double terms = (1.0 + 4.0 * spread) * column_sum + 4.0 * spread;
    return (terms / shortest + residual) * longest_row(gradient);
  }

  double residual, shortest, spread = 0.0, column_sum = 0.0;
};

// Both programs round, in the same places: twice the error of one.
void expect_agreement(const TokenCloud& tokens, const Layer& parameters, Mask mask,
                      const std::string& name) {
  const std::size_t n = tokens.size(), d = tokens.dimension();
  const LayerJacobian jacobian(tokens, parameters, mask);
  const ReferenceJacobian reference(tokens, parameters, mask);
  const Scales scales(tokens, parameters, reference.weights());
  const double error = 2.0 * jacobian.relative_error();

  const Matrix<double> v = normal_matrix(n, d, name + "/v"), w = normal_matrix(n, d, name + "/w");
  const std::string where = "n = " + std::to_string(n) + ", " + mask.name();
  EXPECT_LE(longest_row(difference(jacobian.jvp(v), reference.jvp(v))), error * scales.jvp(v))
      << where;
  EXPECT_LE(longest_row(difference(jacobian.vjp(w), reference.vjp(w))), error * scales.vjp(w))
      << where;
}

// Tokens of random directions and of norms between 0.5 and 2.
TokenCloud random_tokens(std::size_t n, std::size_t d, const std::string& name) {
  TokenCloud tokens = split_norms(normal_matrix(n, d, name));
  const Stream draw = test::stream(name + "/norms");
  for (std::size_t i = 0; i < n; ++i) tokens.norms[i] = 0.5 + 1.5 * draw.uniform(i);
  return tokens;
}

const std::array kMasks = {Mask::none(), Mask::causal(), Mask::window(1), Mask::window(3),
                           Mask::window(150)};

// ---- One worked example, all digits ----

struct Expected {
  double residual, output_00, jvp_square, jvp_00, jvp_42, vjp_square, vjp_00, pairing;
};

constexpr std::array<Expected, 2> kWorkedExample = {
    {{0.0, 0.837919629924134, 1.34379996432898, -0.0973671154520006, 0.52780101880032,
      1.5483748173882, -0.0494873675536147, 1.57877491438623},
     {0.4, 1.69450802384729, 4.30998228036436, 0.302632884547999, 0.919827649936817,
      4.73013984832122, 0.0299803647644098, 3.73868781473878}}};

// Printed to 15 digits of numbers of order 1, computed by another program (complex step, NumPy).
constexpr double kPrinted = 1e-12;

TEST(LayerJacobian, GivesTheProductsOfTheWorkedExample) {
  const TokenCloud tokens = split_norms(matrix_of(5, 3, [](double i, double k) {
    return std::sin(1.0 + 0.7 * i + 1.3 * k) + 0.5 * std::cos(0.3 * i * k) + 0.8;
  }));
  const Matrix<double> v =
      matrix_of(5, 3, [](double i, double k) { return std::cos(0.5 * i - 0.9 * k); });
  const Matrix<double> w =
      matrix_of(5, 3, [](double i, double k) { return std::sin(0.2 + 0.4 * i + 0.6 * k); });
  for (const Expected& expected : kWorkedExample) {
    const LayerJacobian jacobian(tokens, {2.5, expected.residual});
    const TokenCloud outputs = jacobian.outputs();
    EXPECT_NEAR(outputs.norms[0] * outputs.directions(0, 0), expected.output_00, kPrinted);
    const Matrix<double> forward = jacobian.jvp(v), backward = jacobian.vjp(w);
    EXPECT_NEAR(inner(forward, forward), expected.jvp_square, kPrinted);
    EXPECT_NEAR(forward(0, 0), expected.jvp_00, kPrinted);
    EXPECT_NEAR(forward(4, 2), expected.jvp_42, kPrinted);
    EXPECT_NEAR(inner(backward, backward), expected.vjp_square, kPrinted);
    EXPECT_NEAR(backward(0, 0), expected.vjp_00, kPrinted);
    EXPECT_NEAR(inner(w, forward), expected.pairing, kPrinted);
  }
}

// ---- Properties of one layer ----

// Property (1): one token, sides of a strip of queries (128) and of a block of keys (512) reached,
// passed by one and passed by far.
TEST(LayerJacobian, AgreesWithTheReferenceAcrossStripsAndBlocks) {
  for (const std::size_t n : {1, 2, 7, 128, 129, 300, 513, 700}) {
    const std::string name = "LayerJacobian/agree" + std::to_string(n);
    const TokenCloud tokens = random_tokens(n, 5, name);
    for (const Mask& mask : kMasks) expect_agreement(tokens, {3.0, -0.7}, mask, name);
  }
}

// Property (1), from weights that are all equal to weights that see hardly more than the token
// itself.
TEST(LayerJacobian, AgreesWithTheReferenceAtAnyTemperature) {
  const TokenCloud tokens = random_tokens(40, 7, "LayerJacobian/temperature");
  for (const double beta : {0.0, 0.1, 1.0, 5.0, 20.0, 100.0, 1000.0}) {
    for (const double alpha : {0.0, 1.0}) {
      expect_agreement(tokens, {beta, alpha}, Mask::none(), "LayerJacobian/temperature");
    }
  }
}

// Property (1) in one dimension: the directions cannot change, exactly.
TEST(LayerJacobian, IsTheResidualAloneInOneDimension) {
  const TokenCloud tokens = random_tokens(5, 1, "LayerJacobian/line");
  const Matrix<double> v = normal_matrix(5, 1, "LayerJacobian/line/v");
  const LayerJacobian jacobian(tokens, {2.0, 0.25});
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(jacobian.jvp(v)(i, 0), 0.25 * v(i, 0));
    EXPECT_EQ(jacobian.vjp(v)(i, 0), 0.25 * v(i, 0));
  }
}

// Property (2): three groups of strips for 700 tokens.
TEST(LayerJacobian, GivesTheSameBytesForAnyNumberOfThreads) {
  const TokenCloud tokens = random_tokens(700, 5, "LayerJacobian/threads");
  const Matrix<double> v = normal_matrix(700, 5, "LayerJacobian/threads/v");
  for (const Mask& mask : kMasks) {
    const LayerJacobian one(tokens, {4.0, 0.5}, mask, {1, {}, {}});
    const LayerJacobian two(tokens, {4.0, 0.5}, mask, {2, {}, {}});
    EXPECT_TRUE(same_bytes(one.outputs().directions, two.outputs().directions));
    EXPECT_TRUE(same_bytes(one.jvp(v), two.jvp(v)));
    EXPECT_TRUE(same_bytes(one.vjp(v), two.vjp(v)));
  }
}

// Property (3): directions within 1e-9 of each other, and so low a temperature that their gaps
// matter. One minus a cosine would be 0 or 1e-16 here, where the gaps are 1e-18.
TEST(LayerJacobian, KeepsItsDigitsWhereTokensNearlyCoincide) {
  const Matrix<double> noise = normal_matrix(40, 6, "LayerJacobian/collapsed");
  const TokenCloud tokens = split_norms(matrix_of(40, 6, [&](double i, double k) {
    return 1.0 + 0.1 * k + 1e-9 * noise(static_cast<std::size_t>(i), static_cast<std::size_t>(k));
  }));
  for (const double beta : {1e18, 1e19, 1e20}) {
    const Layer parameters{beta, 0.3};
    const Matrix<double> weights = ReferenceJacobian(tokens, parameters).weights();
    EXPECT_GT(Scales(tokens, parameters, weights).spread, 0.1);
    expect_agreement(tokens, parameters, Mask::none(), "LayerJacobian/collapsed");
    expect_agreement(tokens, parameters, Mask::causal(), "LayerJacobian/collapsed");
  }
}

// Property (4), by low temperature and by mask; both sides round.
TEST(LayerJacobian, ForgetsTheTemperatureWhereTokensSeeOnlyThemselves) {
  const std::size_t n = 40, d = 5;
  const TokenCloud tokens = random_tokens(n, d, "LayerJacobian/alone");
  const Matrix<double> v = normal_matrix(n, d, "LayerJacobian/alone/v");
  Matrix<double> expected(n, d);
  for (std::size_t i = 0; i < n; ++i) {
    const auto y = tokens.directions.row(i);
    double along = 0.0;
    for (std::size_t k = 0; k < d; ++k) along += y[k] * v(i, k);
    for (std::size_t k = 0; k < d; ++k) {
      expected(i, k) = (v(i, k) - along * y[k]) / tokens.norms[i] + 0.3 * v(i, k);
    }
  }
  const double bound = 2.0 * (2.0 * d + 6.0) * 0x1p-53 * (1.0 / 0.5 + 0.3) * longest_row(v);
  for (const double beta : {1e8, 1e30}) {
    for (const Mask& mask : {Mask::none(), Mask::window(1)}) {
      const LayerJacobian jacobian(tokens, {beta, 0.3}, mask);
      EXPECT_LE(longest_row(difference(jacobian.jvp(v), expected)), bound) << beta;
      EXPECT_LE(longest_row(difference(jacobian.vjp(v), expected)), bound) << beta;
    }
  }
}

// Property (5). Row j of J V meets W_j, row i of Jᵀ W meets V_i; the two pairings add n d products.
TEST(LayerJacobian, HasAdjointProducts) {
  const std::size_t n = 300, d = 5;
  const TokenCloud tokens = random_tokens(n, d, "LayerJacobian/adjoint");
  const Matrix<double> v = normal_matrix(n, d, "LayerJacobian/adjoint/v");
  const Matrix<double> w = normal_matrix(n, d, "LayerJacobian/adjoint/w");
  for (const Mask& mask : kMasks) {
    const Layer parameters{6.0, 0.4};
    const LayerJacobian jacobian(tokens, parameters, mask);
    const Scales scales(tokens, parameters, ReferenceJacobian(tokens, parameters, mask).weights());
    const Matrix<double> forward = jacobian.jvp(v), backward = jacobian.vjp(w);
    double bound = 0.0;
    for (std::size_t i = 0; i < n; ++i) {
      bound += jacobian.relative_error() *
               (length(w.row(i)) * scales.jvp(v) + length(v.row(i)) * scales.vjp(w));
      bound +=
          n * d * 0x1p-53 *
          (length(w.row(i)) * length(forward.row(i)) + length(v.row(i)) * length(backward.row(i)));
    }
    EXPECT_NEAR(inner(w, forward), inner(backward, v), bound) << mask.name();
  }
}

TEST(LayerJacobian, HandsItsOutputsOnWithTheirClusters) {
  TokenCloud tokens = random_tokens(12, 4, "LayerJacobian/outputs");
  tokens.cluster_size = 3;
  const Layer parameters{3.0, 0.8};
  const TokenCloud outputs = LayerJacobian(tokens, parameters).outputs();
  const Matrix<double> expected = ReferenceJacobian(tokens, parameters).outputs();
  EXPECT_EQ(outputs.cluster_size, 3);
  const double error = 2.0 * LayerJacobian(tokens, parameters).relative_error();
  for (std::size_t k = 0; k < expected.size(); ++k) {
    EXPECT_NEAR(outputs.norms[k / 4] * outputs.directions.data()[k], expected.data()[k],
                error * (1.0 + 0.8 * 2.0));
  }
}

// A single token attends to itself: x' = y − y = 0.
TEST(LayerJacobian, RefusesToHandOnATokenWithoutDirection) {
  TokenCloud token{Matrix<double>(1, 2), {1.0}, 0};
  token.directions(0, 0) = 1.0;
  try {
    (void)LayerJacobian(token, {1.0, -1.0}).outputs();
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::bad_value);
    EXPECT_STREQ(error.what(),
                 "residual: -1 leaves token 0 with length 0, without a direction for the next "
                 "layer");
  }
}

TEST(LayerJacobian, StopsOnRequest) {
  std::stop_source stop;
  const TokenCloud tokens = random_tokens(10, 3, "LayerJacobian/stop");
  const LayerJacobian jacobian(tokens, {1.0, 0.0}, {}, {1, stop.get_token(), {}});
  stop.request_stop();
  EXPECT_THROW((void)jacobian.jvp(Matrix<double>(10, 3)), Error);
  EXPECT_THROW((void)jacobian.vjp(Matrix<double>(10, 3)), Error);
}

// ---- Chains ----

Matrix<double> product(const Matrix<double>& a, const Matrix<double>& b) {
  Matrix<double> result(a.rows(), b.cols());
  for (std::size_t i = 0; i < a.rows(); ++i) {
    for (std::size_t k = 0; k < a.cols(); ++k) {
      for (std::size_t j = 0; j < b.cols(); ++j) result(i, j) += a(i, k) * b(k, j);
    }
  }
  return result;
}

Matrix<double> transposed(const Matrix<double>& a) {
  return matrix_of(a.cols(), a.rows(), [&](double i, double j) {
    return a(static_cast<std::size_t>(j), static_cast<std::size_t>(i));
  });
}

// a v, where v and the result are n x d matrices read row by row.
Matrix<double> times(const Matrix<double>& a, const Matrix<double>& v) {
  Matrix<double> result(v.rows(), v.cols());
  for (std::size_t i = 0; i < v.size(); ++i) {
    for (std::size_t k = 0; k < v.size(); ++k) result.data()[i] += a(i, k) * v.data()[k];
  }
  return result;
}

std::vector<Layer> five_layers(double residual) {
  return {{2.0, residual}, {3.5, residual}, {1.0, residual}, {5.0, residual}, {2.5, residual}};
}

// The reference at the tokens of each depth of a chain.
std::vector<ReferenceJacobian> references(const TokenCloud& tokens, const JacobianChain& chain,
                                          const std::vector<Layer>& layers, Mask mask) {
  std::vector<ReferenceJacobian> result;
  for (std::size_t t = 0; t < layers.size(); ++t) {
    result.emplace_back(t == 0 ? tokens : chain.layers()[t - 1].outputs(), layers[t], mask);
  }
  return result;
}

double frobenius(const Matrix<double>& a) { return std::sqrt(inner(a, a)); }

// A vector on its way through the layers in dense form, and how far the chain may be from it. What
// was wrong before a layer grows by at most its length; new is the error of each of the n rows of
// the chain's product, that of an entry of the dense form and of a sum of n d terms.
struct Journey {
  void pass(const Matrix<double>& dense, double row_error) {
    const double rows = static_cast<double>(vector.rows());
    const double side = static_cast<double>(vector.size());
    bound = frobenius(dense) * (bound + side * (kJacobianError + 0x1p-53) * frobenius(vector)) +
            std::sqrt(rows) * row_error;
    vector = times(dense, vector);
  }

  Matrix<double> vector;
  double bound = 0.0;
};

// Property (1) of JacobianChain.
TEST(JacobianChain, MultipliesByTheProductOfItsLayers) {
  const TokenCloud tokens = random_tokens(8, 4, "JacobianChain/dense");
  const Matrix<double> v = normal_matrix(8, 4, "JacobianChain/v");
  for (const double residual : {0.0, 0.8}) {
    for (const Mask& mask : {Mask::none(), Mask::causal()}) {
      const std::vector<Layer> layers = five_layers(residual);
      const JacobianChain chain(tokens, layers, mask);
      const auto plain = references(tokens, chain, layers, mask);
      const auto scales = [&](std::size_t t) {
        return Scales(t == 0 ? tokens : chain.layers()[t - 1].outputs(), layers[t],
                      plain[t].weights());
      };
      Journey forward{v}, backward{v};
      for (std::size_t t = 0; t < 5; ++t) {
        const double error = chain.layers()[t].relative_error();
        forward.pass(plain[t].dense(), error * scales(t).jvp(forward.vector));
      }
      for (std::size_t t = 5; t-- > 0;) {
        const double error = chain.layers()[t].relative_error();
        backward.pass(transposed(plain[t].dense()), error * scales(t).vjp(backward.vector));
      }
      EXPECT_LE(frobenius(difference(chain.jvp(v), forward.vector)), forward.bound);
      EXPECT_LE(frobenius(difference(chain.vjp(v), backward.vector)), backward.bound);
      EXPECT_LT(forward.bound + backward.bound, 1e-4 * frobenius(v));
    }
  }
}

// Property (2): the same operations in the same order.
TEST(JacobianChain, IsTheProductOfItsParts) {
  const JacobianChain chain(random_tokens(9, 3, "JacobianChain/parts"), five_layers(0.5));
  const Matrix<double> v = normal_matrix(9, 3, "JacobianChain/parts/v");
  EXPECT_TRUE(same_bytes(chain.jvp(chain.jvp(v, {0, 2}), {2, 5}), chain.jvp(v)));
  EXPECT_TRUE(same_bytes(chain.vjp(chain.vjp(v, {2, 5}), {0, 2}), chain.vjp(v)));
  EXPECT_TRUE(same_bytes(chain.jvp(v, {3, 4}), chain.layers()[3].jvp(v)));
  EXPECT_TRUE(same_bytes(chain.jvp(v, {1, 1}), v));
}

TEST(JacobianChain, NeedsALayer) {
  try {
    const JacobianChain chain(random_tokens(3, 2, "JacobianChain/empty"), {});
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::bad_value);
    EXPECT_STREQ(error.what(), "layers: 0 is below 1");
  }
}

// ---- Hutchinson's estimate ----

// The second and fourth central moment of one probe, from all 2^(n d) probes there are.
struct ProbeMoments {
  double mean = 0.0, second = 0.0, fourth = 0.0, largest = 0.0;
};

ProbeMoments all_probes(const JacobianOperator& jacobian) {
  Matrix<double> signs(jacobian.rows(), jacobian.dimension());
  const std::size_t probes = std::size_t{1} << signs.size();
  std::vector<double> norms;
  for (std::size_t p = 0; p < probes; ++p) {
    for (std::size_t k = 0; k < signs.size(); ++k) signs.data()[k] = (p >> k) % 2 == 0 ? 1.0 : -1.0;
    const Matrix<double> image = jacobian.jvp(signs);
    norms.push_back(inner(image, image) / static_cast<double>(signs.size()));
  }
  ProbeMoments moments;
  const double share = 1.0 / static_cast<double>(probes);
  moments.largest = *std::max_element(norms.begin(), norms.end());
  for (const double x : norms) moments.mean += share * x;
  for (const double x : norms) moments.second += share * std::pow(x - moments.mean, 2);
  for (const double x : norms) moments.fourth += share * std::pow(x - moments.mean, 4);
  return moments;
}

// 2 [‖JᵀJ‖_F² − Σ_k (JᵀJ)_kk²]/(n d)²
double predicted_variance(const Matrix<double>& jacobian) {
  const Matrix<double> gram = product(transposed(jacobian), jacobian);
  double sum = inner(gram, gram);
  for (std::size_t k = 0; k < gram.rows(); ++k) sum -= gram(k, k) * gram(k, k);
  return 2.0 * sum / std::pow(static_cast<double>(gram.rows()), 2);
}

// Properties (1) and (2), without chance: means over all 4096 probes. With rows of J v off by r, a
// probe x = ‖J v‖²/(n d) is off by 2 √(x/d) r, and by its own sum of 12 terms; means add 4096 of
// them. Squared deviations are at most the square of the largest probe x, and off by four times x
// times its error. The references add their own errors.
TEST(HutchinsonNorm, HasItsMeanAndVarianceOverAllSigns) {
  const Matrix<double> signs = matrix_of(4, 3, [](double, double) { return 1.0; });
  for (const double residual : {0.0, 0.6}) {
    const TokenCloud tokens = random_tokens(4, 3, "HutchinsonNorm/all");
    const Layer parameters{4.0, residual};
    const LayerJacobian jacobian(tokens, parameters);
    const ReferenceJacobian reference(tokens, parameters);
    const Scales scales(tokens, parameters, reference.weights());
    const ProbeMoments moments = all_probes(jacobian);

    const double x = moments.largest;
    const double row_error = jacobian.relative_error() * scales.jvp(signs);
    const double error = 2.0 * std::sqrt(x / 3.0) * row_error + (4096 + 12) * 0x1p-53 * x;
    const double eta = reference.eta(SecondMoment::khatri_rao).total();
    const double eta_scale = eta + std::pow(scales.spread / scales.shortest, 2);
    EXPECT_NEAR(moments.mean, eta, error + kJacobianNormError * eta_scale);
    const double dense_error = 8.0 * 12 * kJacobianError * eta * eta;
    EXPECT_NEAR(moments.second, predicted_variance(reference.dense()),
                4.0 * x * error + dense_error);
    EXPECT_LT(4.0 * x * error + dense_error, 1e-6 * moments.second);
  }
}

// Properties (1) and (2), by chance. The standard error of a mean over N probes is √(variance/N),
// that of their sample variance √((fourth moment − variance²)/N), both known from all probes.
TEST(HutchinsonNorm, EstimatesTheNormWithItsError) {
  constexpr std::size_t probes = 4000;
  const TokenCloud tokens = random_tokens(4, 3, "HutchinsonNorm/sample");
  const LayerJacobian jacobian(tokens, {4.0, 0.3});
  const ProbeMoments exact = all_probes(jacobian);
  const Estimate estimate = hutchinson_norm(jacobian, probes, test::stream("HutchinsonNorm/signs"));
  EXPECT_EQ(estimate.samples, probes);
  EXPECT_NEAR(estimate.mean, exact.mean, test::kSigmas * std::sqrt(exact.second / probes));
  EXPECT_NEAR(estimate.standard_error * estimate.standard_error * probes, exact.second,
              test::kSigmas * std::sqrt((exact.fourth - exact.second * exact.second) / probes));
}

// Through five layers, with the variance of property (2).
TEST(HutchinsonNorm, ServesChainsToo) {
  const TokenCloud tokens = random_tokens(10, 4, "HutchinsonNorm/chain");
  const JacobianChain chain(tokens, five_layers(0.4));
  Matrix<double> dense = matrix_of(40, 40, [](double i, double j) { return i == j ? 1.0 : 0.0; });
  for (const ReferenceJacobian& layer : references(tokens, chain, five_layers(0.4), {})) {
    dense = product(layer.dense(), dense);
  }
  const Estimate estimate = hutchinson_norm(chain, 4000, test::stream("HutchinsonNorm/five"));
  EXPECT_NEAR(estimate.mean, inner(dense, dense) / 40.0,
              test::kSigmas * std::sqrt(predicted_variance(dense) / 4000.0));
}

// Property (2): in one dimension J = α I, here with an α whose square is exact.
TEST(HutchinsonNorm, IsExactForOrthogonalColumns) {
  const LayerJacobian jacobian(random_tokens(6, 1, "HutchinsonNorm/line"), {2.0, 0.25});
  const Estimate estimate = hutchinson_norm(jacobian, 5, test::stream("HutchinsonNorm/line"));
  EXPECT_EQ(estimate.mean, 0.0625);
  EXPECT_EQ(estimate.standard_error, 0.0);
}

TEST(HutchinsonNorm, KnowsNoErrorOfOneProbeAndRefusesNone) {
  const LayerJacobian jacobian(random_tokens(4, 3, "HutchinsonNorm/one"), {2.0, 0.0});
  const Stream signs = test::stream("HutchinsonNorm/one");
  EXPECT_TRUE(std::isnan(hutchinson_norm(jacobian, 1, signs).standard_error));
  EXPECT_THROW((void)hutchinson_norm(jacobian, 0, signs), Error);
}

}  // namespace
}  // namespace dewpoint::attention
