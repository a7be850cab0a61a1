// Critical attention scaling, Section 2.3 and Appendix B.1: how a gradient passes through a layer.
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "dewpoint/claims/algebra.hpp"
#include "dewpoint/claims/almost_simplex.hpp"
#include "dewpoint/claims/compare.hpp"
#include "dewpoint/claims/lists.hpp"
#include "dewpoint/experiments/explicit_layer.hpp"
#include "dewpoint/experiments/explicit_tokens.hpp"
#include "dewpoint/theory/layer_bounds.hpp"
#include "dewpoint/theory/simplex_gradient.hpp"

namespace dewpoint::claims {
namespace {

using experiments::complex_step_jacobian;
using experiments::gradient_norm;

// ---- Theorem 2.4: a regular simplex -----------------------------------------------------------

struct GradientCase {
  double correlation;   // ρ
  double squared_norm;  // q
  std::size_t extra;    // d − n
};
constexpr GradientCase kGradientCases[] = {{0.5, 1.0, 0}, {0.2, 2.0, 5}, {0.8, 0.5, 2}};

// Every entry of J by complex step against the closed form of ‖J‖²/(nd).
void compare_complex_step(std::size_t n, std::vector<Comparison>& into) {
  const double log_n = std::log(static_cast<double>(n));
  for (const GradientCase& at : kGradientCases) {
    const std::size_t d = n + at.extra;
    const auto tokens = experiments::simplex_tokens(n, at.correlation, at.squared_norm, d);
    for (const double scale : {0.5, 1.0, 1.5}) {
      const double beta = scale * log_n / (1.0 - at.correlation);
      const double predicted = theory::simplex_gradient(log_n, beta, at.correlation,
                                                        {static_cast<double>(d), at.squared_norm});
      const double measured =
          experiments::mean_squared_gain(complex_step_jacobian(tokens, beta, 0.0));
      into.push_back(equal(fmt::format("η, n = {}, d = {}, ρ = {}, q = {}, c = {}", n, d,
                                       at.correlation, at.squared_norm, scale),
                           predicted, measured, predicted * jacobian_rounding(n, d, beta)));
    }
  }
}

// Many tokens: against the closed form, and at c = 1 against the printed limit itself, from which
// they differ by at most the crossover's stated bias: 4 % at n = 256, d = 2048. The norm of a block
// is a difference of numbers as large as β² (attention/jacobian_reference.hpp: 1e-12 of them).
void compare_many(std::size_t n, std::size_t d, double scale, std::vector<Comparison>& into) {
  constexpr double rho = 0.5;
  const auto dimension = static_cast<double>(d);
  const double log_n = std::log(static_cast<double>(n)), beta = scale * log_n / (1.0 - rho);
  const theory::GradientSetting setting = {dimension};
  const double measured = gradient_norm(experiments::simplex_tokens(n, rho, 1.0, d), beta, 0.0);
  const double predicted = theory::simplex_gradient(log_n, beta, rho, setting);
  const std::string text = fmt::format("η, n = {}, d = {}, ρ = {}, c = {}", n, d, rho, scale);
  into.push_back(equal(
      text, predicted, measured,
      predicted * layer_rounding(n, d, beta) + 1e-12 * (predicted + beta * beta / dimension)));
  if (scale != 1.0) return;
  into.push_back(equal(text + ", against (1 − 1/d)/(4q)", (1.0 - 1.0 / dimension) / 4.0, measured,
                       theory::simplex_gradient_crossover_bias(log_n, beta, rho, setting)));
}

// n = d = 1e300. Below the transition η is a power of n, n^{−2(1−c)}/q.
void compare_gradient_limits(std::vector<Comparison>& into) {
  const theory::GradientSetting setting = {1e300, 2.0};
  for (const double rho : {0.2, 0.5}) {
    const auto eta = [&](double scale) {
      return theory::simplex_gradient(kLargestLog, scale * kLargestLog / (1.0 - rho), rho, setting);
    };
    const double error =
        theory::simplex_gradient_error(kLargestLog, 1.5 * kLargestLog / (1.0 - rho));
    const double power = std::log(setting.squared_norm * eta(0.75)) / kLargestLog;
    into.push_back(equal(fmt::format("power of n of qη, n = 1e300, ρ = {}, c = 3/4", rho), -0.5,
                         power, error));
    into.push_back(equal(fmt::format("η, n = d = 1e300, ρ = {}, q = 2, c = 1", rho), 1.0 / 8.0,
                         eta(1.0), error));
    into.push_back(equal(fmt::format("η, n = d = 1e300, ρ = {}, q = 2, c = 3/2", rho), 1.0 / 2.0,
                         eta(1.5), error));
  }
}

Evidence theorem_2_4(const Setting& setting) {
  const bool full = setting.effort == Effort::full;
  const std::size_t few = full ? 28 : 16, many = full ? 512 : 256;
  Evidence evidence;
  evidence.parameters = fmt::format(
      "every entry of J at n = {}, its norm at n = {}, closed form n = 1e300", few, many);
  compare_complex_step(few, evidence.statement);
  compare_many(many, many, 0.5, evidence.statement);
  compare_many(many, 2048, 1.0, evidence.statement);
  compare_many(many, many, 1.5, evidence.statement);
  compare_gradient_limits(evidence.statement);
  return evidence;
}

// ---- Theorem 2.5: almost a simplex ------------------------------------------------------------

std::vector<AlmostCase> gradient_clouds(const Setting& setting) {
  CloudFamily family;
  family.tokens = setting.effort == Effort::full ? 256 : 128;
  family.dimension = 2 * family.tokens;
  family.clouds = setting.effort == Effort::full ? 8 : 3;
  return almost_simplices(family, setting.seed);
}

// The bound of Eq 22 before its limit, from the ranges of the cloud alone.
double upper_bound(const theory::AlmostSimplex& at, double dimension, double smallest_square) {
  const theory::WeightBounds weights = theory::weight_bounds(at);
  const theory::RowMeans means = {weights.largest_self, weights.largest_self * weights.largest_self,
                                  weights.largest_overlap};
  return theory::published_gradient_bound(dimension, at.inverse_temperature, smallest_square,
                                          means);
}

double lower_bound(const theory::AlmostSimplex& at, double dimension, double largest_square) {
  const double self = theory::weight_bounds(at).smallest_self;
  return theory::gradient_lower_bound(dimension, self * self / largest_square);
}

// The two bounds at n = 1e300 are the printed ones: what is dropped is below n^{−0.3}.
void compare_bound_limits(std::vector<Comparison>& into) {
  constexpr double rho = 0.5, dimension = 64.0, square = 0.8;
  const double low = 0.6 * kLargestLog / (1.0 - rho), high = 1.6 * kLargestLog / (1.0 - rho);
  const double error = theory::simplex_gradient_error(kLargestLog, high);
  const double printed = 4.0 * low * low / (square * dimension);
  into.push_back(equal("upper bound at n = 1e300 against 4γ²log²n/(q_1 d)", printed,
                       upper_bound({kLargestLog, low, rho, rho}, dimension, square),
                       error * printed));
  into.push_back(equal("lower bound at n = 1e300 against (1 − 1/d)/q_2",
                       (1.0 - 1.0 / dimension) / square,
                       lower_bound({kLargestLog, high, rho, rho}, dimension, square), error));
}

Evidence theorem_2_5(const Setting& setting) {
  const std::vector<AlmostCase> clouds = gradient_clouds(setting);
  Evidence evidence;
  evidence.parameters = text_of(clouds) + ", bounds at n = 1e300";
  for (const AlmostCase& cloud : clouds) {
    const double low = cloud.subcritical(0.6), high = cloud.supercritical(1.6);
    evidence.statement.push_back(at_most(
        "η, γ(1−ρ_1) = 0.6", upper_bound(cloud.at(low), cloud.dimension(), cloud.squares.smallest),
        gradient_norm(cloud.tokens, low, 0.0), cloud.rounding(low)));
    evidence.statement.push_back(at_least(
        "η, γ(1−ρ_2) = 1.6", lower_bound(cloud.at(high), cloud.dimension(), cloud.squares.largest),
        gradient_norm(cloud.tokens, high, 0.0), cloud.rounding(high)));
  }
  compare_bound_limits(evidence.statement);
  return evidence;
}

// ---- Lemmas B.1-B.3: the blocks ---------------------------------------------------------------

// Whether a formula is the measured Jacobian: its sum of squares is, and so is its product with it.
// Together they leave ‖J − F‖²/‖F‖² no more than four tolerances.
void compare_jacobians(const std::string& text, const Matrix<double>& formula,
                       const Matrix<double>& measured, double rounding,
                       std::vector<Comparison>& into) {
  const double squares = trace_product(formula, formula);
  into.push_back(
      equal(text + ", Σ entry²", squares, trace_product(measured, measured), squares * rounding));
  into.push_back(equal(text + ", Σ entry · formula", squares, trace_product(formula, measured),
                       squares * rounding));
}

// Eq 53. One token alone attends to itself, so that the layer without residual is N.
Evidence lemma_b_1(const Setting& setting) {
  Evidence evidence;
  evidence.parameters = "single tokens in R^2, R^7 and R^24";
  for (const std::size_t d : {2U, 7U, 24U}) {
    const auto cloud = experiments::gaussian_tokens(2, d, 0.5, setting.seed, d);
    for (const double scale : {0.4, 3.0}) {
      Matrix<double> token(1, d), formula(d, d);
      add(token.row(0), scale, cloud.row(0));
      const double square = inner(token.row(0), token.row(0)), cube = std::pow(square, 1.5);
      add_identity(formula, square / cube);
      add_outer(formula, -1.0 / cube, token.row(0), token.row(0));
      compare_jacobians(fmt::format("∂N/∂x, d = {}, ‖x‖ = {:.3g}", d, std::sqrt(square)), formula,
                        complex_step_jacobian(token, 1.0, 0.0), jacobian_rounding(1, d, 1.0),
                        evidence.statement);
    }
  }
  return evidence;
}

// What Eq 55-61 are made of, with e^{β(cos − 1)} for e^{β cos}: both sides keep their ratio.
struct Blocks {
  Matrix<double> directions;
  double beta;

  [[nodiscard]] std::size_t size() const { return directions.rows(); }
  [[nodiscard]] double exponential(std::size_t j, std::size_t m) const {
    return std::exp(beta * (inner(directions.row(j), directions.row(m)) - 1.0));
  }
  [[nodiscard]] double normaliser(std::size_t j) const {
    double sum = 0.0;
    for (std::size_t m = 0; m < size(); ++m) sum += exponential(j, m);
    return sum;
  }
  [[nodiscard]] Vector first_moment(std::size_t j) const {  // V_j
    Vector sum(directions.cols());
    for (std::size_t m = 0; m < size(); ++m) add(sum, exponential(j, m), directions.row(m));
    return sum;
  }
  [[nodiscard]] Matrix<double> second_moment(std::size_t j) const {  // W_j
    Matrix<double> sum(directions.cols(), directions.cols());
    for (std::size_t m = 0; m < size(); ++m) {
      add_outer(sum, exponential(j, m), directions.row(m), directions.row(m));
    }
    return sum;
  }
};

// Writes the transpose of a block, whose rows are inputs as in the paper, where J has it.
void place(const Matrix<double>& block, std::size_t output, std::size_t input, double factor,
           Matrix<double>& jacobian) {
  const std::size_t d = block.rows();
  for (std::size_t u = 0; u < d; ++u) {
    for (std::size_t v = 0; v < d; ++v) {
      jacobian(output * d + v, input * d + u) += factor * block(u, v);
    }
  }
}

// Eq 55: rows w of y_k, columns v of ATT(y_j).
Matrix<double> mixing_block(const Blocks& at, std::size_t j, std::size_t k) {
  const std::size_t d = at.directions.cols();
  const double z = at.normaliser(j), e = at.exponential(j, k);
  const auto y_j = at.directions.row(j), y_k = at.directions.row(k);
  const Vector v = at.first_moment(j);
  Matrix<double> block(d, d);
  add_outer(block, at.beta * e / z, y_j, y_k);
  add_identity(block, e / z);
  add_outer(block, -at.beta * e / (z * z), y_j, v);
  if (j != k) return block;
  const Matrix<double> w = at.second_moment(j);
  for (std::size_t u = 0; u < d; ++u) add(block.row(u), at.beta / z, w.row(u));
  add_outer(block, -at.beta / (z * z), v, v);
  return block;
}

Evidence lemma_b_2(const Setting& setting) {
  const std::size_t n = setting.effort == Effort::full ? 16 : 7, d = 5;
  Evidence evidence;
  evidence.parameters = fmt::format("all blocks of {} Gaussian directions in R^{}", n, d);
  const auto tokens = experiments::gaussian_tokens(n, d, 0.3, setting.seed, 1);
  for (const double beta : {0.5, 3.0, 9.0}) {
    const Blocks blocks = {experiments::explicit_layer(tokens, 0.0, 0.0).directions, beta};
    Matrix<double> formula(n * d, n * d);
    for (std::size_t j = 0; j < n; ++j) {
      for (std::size_t k = 0; k < n; ++k) place(mixing_block(blocks, j, k), j, k, 1.0, formula);
    }
    compare_jacobians(fmt::format("∂ATT(y)/∂y, β = {}", beta), formula,
                      experiments::complex_step_mixing(blocks.directions, beta),
                      jacobian_rounding(n, d, beta), evidence.statement);
  }
  return evidence;
}

// Eq 58 without the power of ‖x_i‖: [(R_1 + R_2) Z_j − (U_1 + U_2) ⊗ V_j]/Z_j².
Matrix<double> layer_block(const Blocks& at, std::size_t j, std::size_t i) {
  const std::size_t d = at.directions.cols();
  const double z = at.normaliser(j), e = at.exponential(j, i);
  const auto y_i = at.directions.row(i);
  const Vector v = at.first_moment(j), p = tangent(y_i, at.directions.row(j));
  Matrix<double> block(d, d);
  add_outer(block, -e / z, y_i, y_i);  // R_2
  add_outer(block, e * at.beta / z, p, y_i);
  add_identity(block, e / z);
  add_outer(block, -at.beta * e / (z * z), p, v);  // U_2 ⊗ V_j
  if (i != j) return block;
  const Matrix<double> w = at.second_moment(j);  // R_1
  for (std::size_t u = 0; u < d; ++u) add(block.row(u), at.beta / z, w.row(u));
  add_outer(block, -at.beta / z, y_i, times(w, y_i));
  add_outer(block, -at.beta / (z * z), tangent(y_i, v), v);  // U_1 ⊗ V_j
  return block;
}

Matrix<double> layer_formula(const AlmostCase& cloud, double beta, double power) {
  const std::size_t n = cloud.tokens.rows(), d = cloud.tokens.cols();
  const Blocks blocks = {experiments::explicit_layer(cloud.tokens, 0.0, 0.0).directions, beta};
  Matrix<double> formula(n * d, n * d);
  for (std::size_t j = 0; j < n; ++j) {
    for (std::size_t i = 0; i < n; ++i) {
      place(layer_block(blocks, j, i), j, i, std::pow(cloud.norm(i), power), formula);
    }
  }
  return formula;
}

Evidence lemma_b_3(const Setting& setting) {
  CloudFamily family;
  family.tokens = setting.effort == Effort::full ? 16 : 8;
  family.dimension = 6;
  family.clouds = 2;
  family.scale = 1.7;
  Evidence evidence;
  const std::vector<AlmostCase> clouds = almost_simplices(family, setting.seed);
  evidence.parameters = text_of(clouds);
  for (const AlmostCase& cloud : clouds) {
    for (const double beta : {1.0, 6.0}) {
      const Matrix<double> measured = complex_step_jacobian(cloud.tokens, beta, 0.0);
      const double rounding = jacobian_rounding(family.tokens, family.dimension, beta);
      compare_jacobians(fmt::format("J with 1/‖x_i‖, β = {}", beta),
                        layer_formula(cloud, beta, -1.0), measured, rounding, evidence.statement);
      compare_jacobians(fmt::format("J with ‖x_i‖^(−1/2), β = {}", beta),
                        layer_formula(cloud, beta, -0.5), measured, rounding, evidence.as_printed);
    }
  }
  return evidence;
}

// ---- Lemmas B.4, B.5: the size of the blocks --------------------------------------------------

std::vector<AlmostCase> block_clouds(const Setting& setting, double scale) {
  CloudFamily family;
  family.tokens = setting.effort == Effort::full ? 32 : 20;
  family.dimension = 2 * family.tokens;
  family.clouds = setting.effort == Effort::full ? 6 : 2;
  family.scale = scale;
  return almost_simplices(family, setting.seed);
}

MatrixView<const double> block_of(const Matrix<double>& jacobian, std::size_t d, std::size_t output,
                                  std::size_t input) {
  return jacobian.view().block({output * d, (output + 1) * d}, {input * d, (input + 1) * d});
}

// ‖x_j‖ times the distance of the block (j, i) from δ_ij P_i/‖x_i‖.
double distance_from_identity(const AlmostCase& cloud, const Matrix<double>& jacobian,
                              std::size_t j, std::size_t i) {
  const std::size_t d = cloud.tokens.cols();
  Matrix<double> rest(d, d);
  const auto block = block_of(jacobian, d, j, i);
  const double norm = cloud.norm(i);
  for (std::size_t v = 0; v < d; ++v) add(rest.row(v), norm, block.row(v));
  if (i == j) {
    add_identity(rest, -1.0);
    add_outer(rest, 1.0 / (norm * norm), cloud.tokens.row(i), cloud.tokens.row(i));
  }
  return std::sqrt(trace_product(rest, rest));
}

struct LargestDistances {
  double diagonal = 0.0;
  double other = 0.0;
};

LargestDistances largest_distances(const AlmostCase& cloud, const Matrix<double>& jacobian) {
  LargestDistances largest;
  for (std::size_t j = 0; j < cloud.tokens.rows(); ++j) {
    for (std::size_t i = 0; i < cloud.tokens.rows(); ++i) {
      double& kept = i == j ? largest.diagonal : largest.other;
      kept = std::max(kept, distance_from_identity(cloud, jacobian, j, i));
    }
  }
  return largest;
}

// With P = P_i and C_j the covariance of the keys, J_jj r_j − P = (A_jj − 1) P + β C_j P, and
// ‖C_j‖ ≤ tr C_j ≤ Σ_m A_jm ‖y_m − y_j‖² ≤ (1 − A_jj) 2(1 − ρ_1); off the diagonal
// J_ji r_i = A_ji [P + β (y_i − m_j)(P y_j)ᵀ] with ‖y_i − m_j‖ ≤ 2.
void compare_blocks(const AlmostCase& cloud, double scale, std::vector<Comparison>& into) {
  const double beta = cloud.supercritical(scale), root = std::sqrt(cloud.dimension() - 1.0);
  const theory::WeightBounds bounds = theory::weight_bounds(cloud.at(beta));
  const Matrix<double> jacobian = complex_step_jacobian(cloud.tokens, beta, 0.0);
  const LargestDistances largest = largest_distances(cloud, jacobian);
  const std::size_t n = cloud.tokens.rows(), d = cloud.tokens.cols();
  const double spread =
      bounds.largest_others * (root + 2.0 * beta * (1.0 - cloud.cosines.smallest));
  const double rounding = root * jacobian_rounding(n, d, beta);
  const std::string text = fmt::format(", γ(1−ρ_2) = {}", scale);
  into.push_back(
      at_most("largest ‖x_j‖·‖J_jj − P_j/‖x_j‖‖" + text, spread, largest.diagonal, rounding));
  into.push_back(at_most("largest ‖x_i‖·‖J_ji‖, i ≠ j" + text,
                         bounds.largest_other * (root + 2.0 * beta), largest.other, rounding));
  if (scale < 3.0) return;  // the bound is too wide to tell √(d−1) from its neighbours
  const auto first = block_of(jacobian, d, 0, 0);
  into.push_back(equal("‖x_0‖·‖J_00‖ against √(d−1)" + text, root,
                       cloud.norm(0) * std::sqrt(trace_product(first, first)), spread));
}

Evidence lemma_b_4(const Setting& setting) {
  const std::vector<AlmostCase> clouds = block_clouds(setting, 1.0);
  Evidence evidence;
  evidence.parameters = text_of(clouds) + ", γ(1−ρ_2) = 2 and 3";
  for (const AlmostCase& cloud : clouds) {
    for (const double scale : {2.0, 3.0}) compare_blocks(cloud, scale, evidence.statement);
  }
  return evidence;
}

// The largest ratio of a block to the bound of Eq 76 with ‖x_i‖^power in front.
double largest_ratio(const AlmostCase& cloud, double beta, double power) {
  const std::size_t n = cloud.tokens.rows(), d = cloud.tokens.cols();
  const Matrix<double> jacobian = complex_step_jacobian(cloud.tokens, beta, 0.0);
  const auto weights = experiments::explicit_layer(cloud.tokens, beta, 0.0).weights;
  double largest = 0.0;
  for (std::size_t j = 0; j < n; ++j) {
    for (std::size_t i = 0; i < n; ++i) {
      const auto block = block_of(jacobian, d, j, i);
      const double bound =
          (i == j ? 2.0 * beta : 0.0) + (2.0 * beta + std::sqrt(cloud.dimension())) * weights(j, i);
      largest = std::max(largest, std::sqrt(trace_product(block, block)) /
                                      (std::pow(cloud.norm(i), power) * bound));
    }
  }
  return largest;
}

Evidence lemma_b_5(const Setting& setting) {
  Evidence evidence;
  const std::vector<AlmostCase> clouds = block_clouds(setting, 0.05);
  evidence.parameters = text_of(clouds) + ", norms around 0.05";
  for (const AlmostCase& cloud : clouds) {
    for (const double scale : {0.2, 0.8}) {
      const double beta = cloud.subcritical(scale);
      const double rounding = jacobian_rounding(cloud.tokens.rows(), cloud.tokens.cols(), beta);
      const std::string text = fmt::format(" of Eq 76, γ(1−ρ_1) = {}", scale);
      evidence.statement.push_back(at_most("largest block/bound" + text + ", 1/‖x_i‖", 1.0,
                                           largest_ratio(cloud, beta, -1.0), rounding));
      evidence.as_printed.push_back(at_most("largest block/bound" + text + ", ‖x_i‖^(−1/2)", 1.0,
                                            largest_ratio(cloud, beta, -0.5), rounding));
    }
  }
  return evidence;
}

}  // namespace

std::vector<Claim> cas_gradient_claims() {
  return {
      {"cas.theorem-2.4", "CAS, Theorem 2.4",
       "On a simplex η = ‖J‖²/(nd) tends to 0, (1−1/d)/(4q), (1−1/d)/q across γ = 1/(1−ρ).",
       theorem_2_4},
      {"cas.theorem-2.5", "CAS, Theorem 2.5",
       "Almost a simplex: η ≤ 4γ²log²n/(q_1 d) below 1/(1−ρ_1), η ≥ (1−1/d)/q_2 above 1/(1−ρ_2).",
       theorem_2_5},
      {"cas.lemma-b.1", "CAS, Lemma B.1", "The Jacobian of normalisation, (I − yyᵀ)/‖x‖.",
       lemma_b_1},
      {"cas.lemma-b.2", "CAS, Lemma B.2", "The Jacobian of attention in its directions.",
       lemma_b_2},
      {"cas.lemma-b.3", "CAS, Lemma B.3",
       "The blocks of J from Z_j, V_j and W_j, with the prefactor 1/‖x_i‖.", lemma_b_3},
      {"cas.lemma-b.4", "CAS, Lemma B.4",
       "Above 1/(1−ρ_2) the block (j,i) is that of normalisation alone.", lemma_b_4},
      {"cas.lemma-b.5", "CAS, Lemma B.5", "Below 1/(1−ρ_1) ‖J_ji‖ ≤ (2βδ_ij + (2β+√d) A_ji)/‖x_i‖.",
       lemma_b_5},
  };
}

}  // namespace dewpoint::claims
