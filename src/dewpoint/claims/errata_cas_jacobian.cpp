// Errata 1-7: the Jacobian of a layer, Appendix B of CAS. The judge is the complex-step Jacobian of
// explicit tokens, which contains no formula of the paper; where n must be astronomical, the exact
// weights of the simplex.
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>
#include <span>
#include <string>
#include <vector>

#include "dewpoint/claims/algebra.hpp"
#include "dewpoint/claims/compare.hpp"
#include "dewpoint/claims/lists.hpp"
#include "dewpoint/core/matrix.hpp"
#include "dewpoint/core/random.hpp"
#include "dewpoint/experiments/explicit_layer.hpp"
#include "dewpoint/experiments/explicit_tokens.hpp"
#include "dewpoint/theory/simplex.hpp"
#include "dewpoint/theory/simplex_gradient.hpp"

namespace dewpoint::claims {
namespace {

double squared(double x) { return x * x; }

// ---- the matrices of the paper, written as printed ------------------------------------------

/// a + factor · b
Vector combined(std::span<const double> a, double factor, std::span<const double> b) {
  Vector sum(a.begin(), a.end());
  add(sum, factor, b);
  return sum;
}

Vector scaled(double factor, const Vector& vector) {
  return combined(Vector(vector.size(), 0.0), factor, vector);
}

/// W − y ⊗ (W y)
Matrix<double> tangent_part(Matrix<double> w, std::span<const double> y) {
  add_outer(w, -1.0, y, times(w, y));
  return w;
}

/// Σ_m weight_m y_m, and Σ_m weight_m y_m ⊗ y_m.
Vector weighted_sum(const Matrix<double>& directions, const Vector& weights) {
  Vector sum(directions.cols(), 0.0);
  for (std::size_t m = 0; m < weights.size(); ++m) add(sum, weights[m], directions.row(m));
  return sum;
}

Matrix<double> weighted_squares(const Matrix<double>& directions, const Vector& weights) {
  Matrix<double> sum(directions.cols(), directions.cols());
  for (std::size_t m = 0; m < weights.size(); ++m) {
    add_outer(sum, weights[m], directions.row(m), directions.row(m));
  }
  return sum;
}

/// R_2 = e^{β⟨y_j, y_i⟩} ((−y_i + β P_{y_i} y_j) ⊗ y_i + I).
Matrix<double> second_r(std::span<const double> yi, std::span<const double> yj, double beta) {
  const double factor = std::exp(beta * inner(yi, yj));
  Matrix<double> r(yi.size(), yi.size());
  add_identity(r, factor);
  add_outer(r, factor, combined(scaled(beta, tangent(yi, yj)), -1.0, yi), yi);
  return r;
}

/// What may be printed differently in Lemma B.3.
struct LemmaB3 {
  double power = -1.0;       // of ‖x_i‖ in front; printed −1/2
  double r1_exponent = 0.0;  // R_1 carries e^{β r1_exponent}; Eq (67) prints ρ
};

/// The block of Eq (58): rows are the input coordinate u, columns the output coordinate v.
Matrix<double> block_b3(const Matrix<double>& y, std::size_t i, std::size_t j, double norm,
                        double beta, const LemmaB3& form) {
  Vector weights(y.rows());
  double z = 0.0;
  for (std::size_t m = 0; m < y.rows(); ++m) {
    z += weights[m] = std::exp(beta * inner(y.row(j), y.row(m)));
  }
  const Vector v = weighted_sum(y, weights);
  Matrix<double> block(y.cols(), y.cols());
  const Matrix<double> r2 = second_r(y.row(i), y.row(j), beta);
  const double front = std::pow(norm, form.power) / z;
  for (std::size_t k = 0; k < block.size(); ++k) block.data()[k] = front * r2.data()[k];
  add_outer(block, -front * beta * weights[i] / z, tangent(y.row(i), y.row(j)), v);
  if (i != j) return block;
  const Matrix<double> r1 = tangent_part(weighted_squares(y, weights), y.row(i));
  const double r1_front = front * beta * std::exp(beta * form.r1_exponent);
  for (std::size_t k = 0; k < block.size(); ++k) block.data()[k] += r1_front * r1.data()[k];
  add_outer(block, -front * beta / z, tangent(y.row(i), v), v);
  return block;
}

/// Σ over blocks of squares and of products with the complex-step Jacobian.
struct Overlap {
  double formula = 0.0;   // ‖F‖²
  double measured = 0.0;  // ‖J‖²
  double product = 0.0;   // ⟨J, F⟩
};

template <class Block>
Overlap overlap_of(const Matrix<double>& jacobian, std::size_t n, const Block& block) {
  const std::size_t d = jacobian.rows() / n;
  Overlap overlap;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      const Matrix<double> formula = block(i, j);
      for (std::size_t u = 0; u < d; ++u) {
        for (std::size_t v = 0; v < d; ++v) {
          const double truth = jacobian(j * d + v, i * d + u);
          overlap.formula += squared(formula(u, v));
          overlap.measured += squared(truth);
          overlap.product += truth * formula(u, v);
        }
      }
    }
  }
  return overlap;
}

// Both comparisons together bound ‖J − F‖² = ‖J‖² − 2⟨J, F⟩ + ‖F‖². An entry of F rounds as often
// as one of J, and for n, d ≤ 12 and β ≤ 6 that is 6e-13 together.
constexpr double kJacobianRounding = 2.0 * jacobian_rounding(12, 12, 6.0);

std::vector<Comparison> same_jacobian(const std::string& formula, const Overlap& overlap) {
  return {equal(fmt::format("‖J‖² / ‖F‖², F = {}", formula), 1.0,
                overlap.measured / overlap.formula, kJacobianRounding),
          equal(fmt::format("⟨J, F⟩ / ‖F‖², F = {}", formula), 1.0,
                overlap.product / overlap.formula, kJacobianRounding)};
}

/// Tokens of no symmetry: Gaussian, with norms spread over a factor of about 20.
Matrix<double> general_tokens(std::size_t n, std::size_t d, std::uint64_t seed,
                              std::uint64_t replica) {
  const Stream stream(seed, "errata/general-tokens", replica);
  Matrix<double> tokens(n, d);
  stream.normals(0, {tokens.data(), tokens.size()});
  for (std::size_t i = 0; i < n; ++i) {
    const double length = std::exp(3.0 * stream.uniform(tokens.size() + i) - 1.5);
    for (double& coordinate : tokens.row(i)) coordinate *= length;
  }
  return tokens;
}

Overlap overlap_b3(const Matrix<double>& tokens, double beta, const LemmaB3& form) {
  const Matrix<double> directions = experiments::explicit_layer(tokens, beta, 0.0).directions;
  return overlap_of(experiments::complex_step_jacobian(tokens, beta, 0.0), tokens.rows(),
                    [&](std::size_t i, std::size_t j) {
                      const double norm = std::sqrt(inner(tokens.row(i), tokens.row(i)));
                      return block_b3(directions, i, j, norm, beta, form);
                    });
}

Overlap& operator+=(Overlap& total, const Overlap& part) {
  total.formula += part.formula;
  total.measured += part.measured;
  total.product += part.product;
  return total;
}

// ---- row 1 ----------------------------------------------------------------------------------

Evidence norm_power(const Setting& setting) {
  constexpr std::size_t n = 6, d = 5;
  const std::uint64_t configurations = setting.effort == Effort::quick ? 40 : 400;
  Overlap right, printed;
  for (std::uint64_t replica = 0; replica < configurations; ++replica) {
    const Matrix<double> tokens = general_tokens(n, d, setting.seed, replica);
    const double beta = 1.0 + static_cast<double>(replica % 5);
    right += overlap_b3(tokens, beta, {-1.0, 0.0});
    printed += overlap_b3(tokens, beta, {-0.5, 0.0});
  }
  Matrix<double> near = general_tokens(n, d, setting.seed, configurations), far = near;
  for (std::size_t k = 0; k < far.size(); ++k) far.data()[k] *= 4.0;
  const double gain =
      experiments::mean_squared_gain(experiments::complex_step_jacobian(far, 3, 0)) /
      experiments::mean_squared_gain(experiments::complex_step_jacobian(near, 3, 0));
  const double power = 0.5 * std::log(gain) / std::log(4.0);

  Evidence evidence;
  evidence.parameters =
      fmt::format("n = {}, d = {}, {} random configurations", n, d, configurations);
  evidence.statement = same_jacobian("Eq (58) with ‖x_i‖^{−1}", right);
  evidence.statement.push_back(
      equal("power of the length of tokens in ‖J‖", -1.0, power, kJacobianRounding));
  evidence.as_printed = same_jacobian("Eq (58) with ‖x_i‖^{−1/2}", printed);
  evidence.as_printed.push_back(
      equal("power of the length of tokens in ‖J‖", -0.5, power, kJacobianRounding));
  return evidence;
}

// ---- row 2 ----------------------------------------------------------------------------------

Evidence factor_of_r1(const Setting& setting) {
  constexpr double beta = 3.0, rho = 0.5;
  const Matrix<double> simplex = experiments::simplex_tokens(6, rho, 1.7, 8);
  const Matrix<double> general = general_tokens(6, 5, setting.seed, 0);
  Evidence evidence;
  evidence.parameters = "n = 6; random tokens with d = 5, a simplex with d = 8, ρ = 0.5, β = 3";
  evidence.statement =
      same_jacobian("Lemma B.3 with R_1 of Eq (59), random tokens", overlap_b3(general, beta, {}));
  for (const Comparison& comparison :
       same_jacobian("Lemma B.3 with R_1 of Eq (59), simplex", overlap_b3(simplex, beta, {}))) {
    evidence.statement.push_back(comparison);
  }
  evidence.as_printed =
      same_jacobian("Lemma B.3 with R_1 of Eq (67), simplex", overlap_b3(simplex, beta, {-1, rho}));
  return evidence;
}

// ---- Lemma B.6 on a simplex, for rows 3 and 4 -----------------------------------------------

enum class ThirdU { of_output, of_input };  // (e^β − e^{βρ}) y_j, and y_i as printed

/// A simplex and the matrices of Lemma B.6.
struct SimplexB6 {
  Matrix<double> y;
  double beta, rho, q, z;
  Vector v;          // V = Σ y_m
  Matrix<double> w;  // W = Σ y_m ⊗ y_m

  SimplexB6(std::size_t n, std::size_t d, double correlation, double inverse_temperature,
            double squared_norm)
      : y(experiments::simplex_tokens(n, correlation, 1.0, d)),
        beta(inverse_temperature),
        rho(correlation),
        q(squared_norm),
        z(std::exp(beta) + static_cast<double>(n - 1) * std::exp(beta * rho)),
        v(weighted_sum(y, Vector(n, 1.0))),
        w(weighted_squares(y, Vector(n, 1.0))) {}

  /// R_1 + R_2 of Eq (83).
  [[nodiscard]] Matrix<double> r(std::size_t i, std::size_t j) const {
    Matrix<double> sum = second_r(y.row(i), y.row(j), beta);
    if (i != j) return sum;
    const Matrix<double> first = tangent_part(w, y.row(i));
    const double front = beta * std::exp(beta * rho);
    for (std::size_t k = 0; k < sum.size(); ++k) sum.data()[k] += front * first.data()[k];
    return sum;
  }

  /// U_1 + U_2 of Eq (84).
  [[nodiscard]] Vector first_u(std::size_t i, std::size_t j) const {
    if (i == j) return scaled(beta * std::exp(beta * rho), tangent(y.row(i), v));
    return scaled(beta * std::exp(beta * rho), tangent(y.row(i), y.row(j)));
  }

  /// The block of Eq (82).
  [[nodiscard]] Matrix<double> block(std::size_t i, std::size_t j, ThirdU third) const {
    Matrix<double> result = r(i, j);
    for (std::size_t k = 0; k < result.size(); ++k) result.data()[k] /= z * std::sqrt(q);
    const auto own = y.row(third == ThirdU::of_output ? j : i);
    const Vector second_u =
        combined(scaled(std::exp(beta * rho), v), std::exp(beta) - std::exp(beta * rho), own);
    add_outer(result, -1.0 / (z * z * std::sqrt(q)), first_u(i, j), second_u);
    return result;
  }
};

// ---- row 3 ----------------------------------------------------------------------------------

Evidence index_of_u3(const Setting&) {
  constexpr std::size_t n = 8, d = 10;
  const SimplexB6 lemma(n, d, 0.5, 4.0, 1.3);
  const Matrix<double> jacobian =
      experiments::complex_step_jacobian(experiments::simplex_tokens(n, 0.5, 1.3, d), 4.0, 0.0);
  const auto overlap = [&](ThirdU third) {
    return overlap_of(jacobian, n,
                      [&](std::size_t i, std::size_t j) { return lemma.block(i, j, third); });
  };
  Evidence evidence;
  evidence.parameters = "simplex, n = 8, d = 10, ρ = 0.5, β = 4, q = 1.3";
  evidence.statement = same_jacobian("Eq (82) with U_3 along y_j", overlap(ThirdU::of_output));
  evidence.as_printed = same_jacobian("Eq (82) with U_3 along y_i", overlap(ThirdU::of_input));
  return evidence;
}

// ---- row 4 ----------------------------------------------------------------------------------

/// Size and weights of a simplex: (e^β, e^{βρ}) divided by Z are (a, b), so that the sums of
/// Lemmas B.8-B.10 divided by n Z², n Z³, n Z⁴ are polynomials in a and b.
struct SimplexSums {
  double n, d, beta, rho, a, b, gap;

  [[nodiscard]] double mean_overlap() const { return n * rho + (1.0 - rho); }  // ⟨V, y_i⟩

  /// Eq (90)/(n Z²), the cross term (93) counted `crosses` times, without its terms in d − 1.
  [[nodiscard]] double squares(double crosses) const {
    const double bracket = n * n * rho * rho * (1.0 - rho) +
                           n * (1.0 - rho) * (1.0 + rho - 3.0 * rho * rho) -
                           (1.0 + 2.0 * rho) * squared(1.0 - rho);
    const double tangent = 1.0 - rho * rho;
    return squared(beta * b) * bracket + crosses * beta * a * b * (n - 1.0) * tangent +
           squared(beta * b) * tangent * (n - 1.0);
  }
  /// The factor of d − 1 in the same: a² + (n−1) b².
  [[nodiscard]] double mixing() const { return a * a + (n - 1.0) * b * b; }

  /// Eq (96)/(n Z³).
  [[nodiscard]] double products() const {
    const double pairs = (n - 1.0) * b * b, spread = 1.0 - rho, m = mean_overlap();
    return rho * beta * beta * gap * pairs * m * spread + beta * beta * b * pairs * m * m * spread +
           beta * a * pairs * m * spread +
           beta * gap * (beta * rho + 1.0) * pairs * (1.0 - rho * rho) +
           beta * b * pairs * m * (beta * (1.0 - rho * rho) + spread);
  }

  /// Eq (105)/(n Z⁴).
  [[nodiscard]] double outer() const {
    return squared(beta * b) * (n - 1.0) * (n * rho + 2.0) * (1.0 - rho) *
           (gap * gap + 2.0 * b * gap * mean_overlap() + b * b * n * mean_overlap());
  }

  /// η q through Eq (86).
  [[nodiscard]] double gradient(double crosses) const {
    return ((d - 1.0) * mixing() + squares(crosses) - 2.0 * products() + outer()) / d;
  }
};

SimplexSums sums_of(double log_n, double d, double beta, double rho) {
  const theory::SimplexWeights weights = theory::simplex_weights(log_n, beta, rho);
  return {std::exp(log_n), d, beta, rho, weights.self, weights.per_token, weights.gap};
}

Evidence cross_term(const Setting&) {
  constexpr std::size_t n = 8, d = 9;
  constexpr double rho = 0.3, beta = 2.0, q = 1.3;
  const SimplexB6 lemma(n, d, rho, beta, q);
  double traces = 0.0;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      const Matrix<double> r = lemma.r(i, j);
      traces += trace_product(r, r);
    }
  }
  traces /= n * squared(lemma.z);
  const double eta = experiments::mean_squared_gain(
      experiments::complex_step_jacobian(experiments::simplex_tokens(n, rho, q, d), beta, 0.0));
  const SimplexSums sums = sums_of(std::log(double{n}), d, beta, rho);

  // The closed forms cancel to a fifth of their largest term.
  const auto compare = [&](double crosses) -> std::vector<Comparison> {
    const double predicted = (d - 1.0) * sums.mixing() + sums.squares(crosses);
    return {
        equal("Σ Tr[(R_1+R_2)ᵀ(R_1+R_2)]/(nZ²)", predicted, traces, kJacobianRounding * predicted),
        equal("η through Eq (86)", sums.gradient(crosses) / q, eta, kJacobianRounding * eta)};
  };
  Evidence evidence;
  evidence.parameters = "simplex, n = 8, d = 9, ρ = 0.3, β = 2, q = 1.3";
  evidence.statement = compare(2.0);
  evidence.as_printed = compare(1.0);
  return evidence;
}

// ---- rows 5 and 6: limits at n = d = 1e40 ----------------------------------------------------

const double kLongLog = 40.0 * std::log(10.0);

/// A remainder o_n(1) is C_1 n^{−C_2} in this paper; at n = 1e40 we let it be as large as 1.
constexpr double kVanishing = 1.0;

// Differences of closed forms known to 8 (β + log n) roundings of their terms, of order β².
double long_rounding(double beta) { return 8.0 * 2.3e-16 * (beta + kLongLog) * beta * beta; }

Evidence limits_of_squares(const Setting&) {
  constexpr double rho = 0.5;
  const double n = std::exp(kLongLog), d = n;
  const auto at = [&](double c) { return sums_of(kLongLog, d, c * kLongLog / (1.0 - rho), rho); };
  const SimplexSums sub = at(0.8), critical = at(1.0), super = at(1.2);
  const double beta = critical.beta;

  // At c = 1 exactly a = n/(2n − 1): a² − ¼ = (a − ½)(a + ½), a − ½ = ½/(2n − 1), with no
  // difference of numbers of order d/4 taken.
  const double critical_excess =
      (d - 1.0) * (0.5 / (2.0 * n - 1.0) * (critical.a + 0.5) + (n - 1.0) * squared(critical.b)) +
      critical.squares(2.0) - 0.25 * squared(beta * rho) * (1.0 - rho);
  const double missing = 0.5 * beta * (1.0 - rho * rho) + 0.5 * (d - 1.0) / n;
  const double sub_excess =
      (d - 1.0) * sub.mixing() + sub.squares(2.0) - squared(sub.beta * rho) * (1.0 - rho);
  // 1 − a² = s(1 + a) with s = (n − 1)b.
  const double others = (n - 1.0) * super.b;
  const double super_excess =
      (d - 1.0) * (-others * (1.0 + super.a) + others * super.b) + super.squares(2.0);

  Evidence evidence;
  evidence.parameters = "simplex, n = d = 1e40, ρ = 0.5; c = 0.8, 1, 1.2";
  // Left out at c = 1: terms of relative size β/n. At c ≠ 1: relative n^{−|1−c|}, a few times.
  const double remainder = 3.0 * std::exp(-0.2 * kLongLog);
  evidence.statement = {
      equal("LHS of (91) minus the printed limit, c = 1", missing, critical_excess,
            long_rounding(beta)),
      equal("the same over (d−1)(a² + 1/n), c = 0.8", 1.0,
            sub_excess / ((d - 1.0) * (squared(sub.a) + 1.0 / n)), remainder),
      equal("the same over −2(d−1)n^{1−c}, c = 1.2", 1.0,
            super_excess / (-2.0 * (d - 1.0) * std::exp(-0.2 * kLongLog)), remainder),
      at_most("largest of the three, divided by d", 3.0 * std::exp(-0.2 * kLongLog),
              std::abs(super_excess) / d, 0.0)};
  evidence.as_printed = {
      equal("LHS of (91) minus the printed limit, c = 1", 0.0, critical_excess, kVanishing),
      equal("the same, c = 0.8", 0.0, sub_excess, kVanishing),
      equal("the same, c = 1.2", 0.0, super_excess, kVanishing)};
  return evidence;
}

Evidence limits_of_products(const Setting&) {
  constexpr double rho = 0.5;
  const double beta = kLongLog / (1.0 - rho);
  const SimplexSums sums = sums_of(kLongLog, std::exp(kLongLog), beta, rho);
  const double excess = sums.products() - 0.25 * squared(beta * rho) * (1.0 - rho);
  Evidence evidence;
  evidence.parameters = "simplex, n = 1e40, ρ = 0.5, c = 1";
  evidence.statement = {
      equal("LHS of (97) minus the printed limit", 0.125 * beta * rho * (1.0 - rho), excess,
            long_rounding(beta)),
      // Eq (106) at c = 1 is right, and shows that the polynomials are.
      equal("LHS of (106)", squared(beta) * rho * (1.0 - rho) * (1.0 + 3.0 * rho) / 16.0,
            sums.outer(), long_rounding(beta))};
  evidence.as_printed = {equal("LHS of (97) minus the printed limit", 0.0, excess, kVanishing)};
  return evidence;
}

// ---- row 7 ----------------------------------------------------------------------------------

/// Off-diagonal part of η q: s b/d [d − 1 − 2β(h − ρH) + β² ‖y_i − m_j‖² (1 − ρ²)], where
/// h = ⟨y_j, m_j⟩, H = ⟨y_i, m_j⟩.
double off_diagonal(double log_n, double d, double beta, double rho) {
  const theory::SimplexWeights weights = theory::simplex_weights(log_n, beta, rho);
  const double a = weights.self, s = weights.others, b = weights.per_token;
  const double h = 1.0 - s * (1.0 - rho), cross = rho + b * (1.0 - rho);
  const double distance = (1.0 - rho) * (1.0 + a * a + s * b - 2.0 * b);
  return s * b *
         (d - 1.0 - 2.0 * beta * (h - rho * cross) + beta * beta * distance * (1.0 - rho * rho)) /
         d;
}

Evidence sum_over_blocks(const Setting&) {
  constexpr std::size_t n = 10, d = 12;
  constexpr double rho = 0.5, q = 1.3;
  const double beta = 1.2 * std::log(double{n}) / (1.0 - rho);
  const Matrix<double> jacobian =
      experiments::complex_step_jacobian(experiments::simplex_tokens(n, rho, q, d), beta, 0.0);
  double off = 0.0;
  for (std::size_t row = 0; row < n * d; ++row) {
    for (std::size_t col = 0; col < n * d; ++col) {
      if (row / d != col / d) off += squared(jacobian(row, col)) / (n * d);
    }
  }
  const double long_n = std::exp(kLongLog), long_beta = 1.2 * kLongLog / (1.0 - rho);
  const double tail = std::exp(-0.2 * kLongLog);  // n^{1−c} at c = 1.2
  const theory::SimplexWeights weights = theory::simplex_weights(kLongLog, long_beta, rho);
  const double eta = theory::simplex_gradient(kLongLog, long_beta, rho, {long_n, q, 0.0});

  Evidence evidence;
  evidence.parameters = "simplex, ρ = 0.5, c = 1.2, q = 1.3; n = 10, d = 12 and n = d = 1e40";
  evidence.statement = {
      equal("off-diagonal blocks in η, n = 10", off_diagonal(std::log(double{n}), d, beta, rho) / q,
            off, kJacobianRounding * off),
      at_most("Σ_{i≠j} A_ji², n = 1e40: at most the largest of them", weights.per_token,
              weights.others * weights.per_token, 0.0),
      equal("q η/(1 − 1/d), n = 1e40", 1.0, q * eta / (1.0 - 1.0 / long_n), 3.0 * tail)};
  // A block ε I with ε = n^{−1/4} is o_n(1)·I_d, all that Lemma B.4 says of it; n − 1 of them per
  // row add (n − 1)ε² to η.
  evidence.as_printed = {equal("what off-diagonal blocks of o(1) = n^{−1/4} add to η, n = 1e40",
                               0.0, (long_n - 1.0) * std::exp(-0.5 * kLongLog), kVanishing)};
  return evidence;
}

}  // namespace

std::vector<Claim> cas_jacobian_errata() {
  return {
      {"erratum.1", "CAS, Eq (58), (62), (64), (76)",
       "printed ‖x_i‖^{−1/2} in front of the Jacobian; right is ‖x_i‖^{−1}", norm_power},
      {"erratum.2", "CAS, Eq (67)",
       "printed R_1 with a factor e^{βρ}; right is none, as in Eq (59)", factor_of_r1},
      {"erratum.3", "CAS, Eq (84)", "printed U_3 along y_i; right is y_j", index_of_u3},
      {"erratum.4", "CAS, Eq (90)", "printed the cross term (93) once; right is twice", cross_term},
      {"erratum.5", "CAS, Eq (91)",
       "printed remainders o(1); right is +β(1−ρ²)/2 + (d−1)/(2n) at c = 1, (d−1)(a² + 1/n) below, "
       "−2(d−1)n^{1−c} above: o(1) only after division by d",
       limits_of_squares},
      {"erratum.6", "CAS, Eq (97)", "printed β²ρ²(1−ρ)/4 + o(1) at c = 1; right is + βρ(1−ρ)/8",
       limits_of_products},
      {"erratum.7", "CAS, proof of Theorem 2.4",
       "printed that γ > 1/(1−ρ) follows from Lemma B.4, block by block; right is that "
       "Σ_{i≠j} A_ji² → 0 is needed too, and true",
       sum_over_blocks},
  };
}

}  // namespace dewpoint::claims
