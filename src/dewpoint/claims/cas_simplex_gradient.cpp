// Critical attention scaling, Appendix B.2: the gradient on a simplex, term by term.
//
// With weights a on the token itself and b on each other token, s = (n−1) b, t = (nρ + 1 − ρ) b =
// ρs + b and a − b from theory/simplex.hpp, every sum of Lemmas B.8-B.10 divided by its power of Z
// is a polynomial in numbers of order one, which can be taken at any length.
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>
#include <functional>

#include "dewpoint/claims/algebra.hpp"
#include "dewpoint/claims/compare.hpp"
#include "dewpoint/claims/lists.hpp"
#include "dewpoint/experiments/explicit_layer.hpp"
#include "dewpoint/experiments/explicit_tokens.hpp"
#include "dewpoint/theory/simplex.hpp"

namespace dewpoint::claims {
namespace {

// Explicit tokens and what Eq 82-85 make of them. All exponentials carry a factor e^{−β}, which
// leaves every quotient by a power of Z as it is.
struct SimplexTerms {
  std::size_t n;
  std::size_t d;
  double rho;
  double squared_norm;
  double beta;
  Matrix<double> tokens;      // x
  Matrix<double> directions;  // y
  double near = 1.0;          // e^β
  double far;                 // e^{βρ}
  double z;                   // Z
  Vector v;                   // V = Σ y_m
  Matrix<double> w;           // W = Σ y_m ⊗ y_m

  SimplexTerms(std::size_t tokens_, std::size_t dimension, double correlation, double square,
               double inverse_temperature)
      : n(tokens_),
        d(dimension),
        rho(correlation),
        squared_norm(square),
        beta(inverse_temperature),
        tokens(experiments::simplex_tokens(n, rho, square, d)),
        directions(experiments::explicit_layer(tokens, 0.0, 0.0).directions),
        far(std::exp(-beta * (1.0 - rho))),
        z(near + (static_cast<double>(n) - 1.0) * far),
        v(d),
        w(d, d) {
    for (std::size_t m = 0; m < n; ++m) {
      add(v, 1.0, y(m));
      add_outer(w, 1.0, y(m), y(m));
    }
  }

  [[nodiscard]] std::span<const double> y(std::size_t i) const { return directions.row(i); }
  [[nodiscard]] double count() const { return static_cast<double>(n); }
  [[nodiscard]] std::string text() const {
    return fmt::format("n = {}, d = {}, ρ = {}, β = {:.3g}", n, d, rho, beta);
  }

  // R_1 + R_2, Eq 83.
  [[nodiscard]] Matrix<double> r(std::size_t i, std::size_t j) const {
    const double e = i == j ? near : far;
    Matrix<double> sum(d, d);
    add_outer(sum, -e, y(i), y(i));
    add_outer(sum, e * beta, tangent(y(i), y(j)), y(i));
    add_identity(sum, e);
    if (i != j) return sum;
    for (std::size_t u = 0; u < d; ++u) add(sum.row(u), beta * far, w.row(u));
    add_outer(sum, -beta * far, y(i), times(w, y(i)));
    return sum;
  }
  // U_1 + U_2, Eq 84.
  [[nodiscard]] Vector u12(std::size_t i, std::size_t j) const {
    Vector sum(d);
    add(sum, beta * (i == j ? near : far), tangent(y(i), y(j)));
    if (i == j) add(sum, beta * far, tangent(y(i), v));
    return sum;
  }
  // U_3 + U_4 with the direction that Eq 84 gives to U_3.
  [[nodiscard]] Vector u34(std::size_t own) const {
    Vector sum(d);
    add(sum, near - far, y(own));
    add(sum, far, v);
    return sum;
  }
  [[nodiscard]] double over_pairs(
      const std::function<double(std::size_t, std::size_t)>& term) const {
    double sum = 0.0;
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) sum += term(i, j);
    }
    return sum;
  }
  // A sum over pairs of sums over d² entries that are rounded as a Jacobian is.
  [[nodiscard]] double rounding() const { return jacobian_rounding(n, d, beta); }
};

std::vector<SimplexTerms> simplex_terms(const Setting& setting) {
  std::vector<SimplexTerms> all;
  all.emplace_back(6, 6, 0.2, 2.0, 1.5);
  all.emplace_back(8, 10, 0.5, 1.0, 4.0);
  all.emplace_back(12, 15, 0.8, 0.5, 9.0);
  if (setting.effort == Effort::full) all.emplace_back(32, 40, 0.5, 1.5, 7.0);
  return all;
}

std::string text_of(const std::vector<SimplexTerms>& all) {
  return fmt::format("explicit simplices, {} ≤ n ≤ {}", all.front().n, all.back().n);
}

// ---- Lemma B.6 --------------------------------------------------------------------------------

// Eq 82, with the direction of U_3 that of the output j (corrected) or of the input i (printed).
Matrix<double> block_formula(const SimplexTerms& at, bool printed) {
  Matrix<double> jacobian(at.n * at.d, at.n * at.d);
  const double factor = 1.0 / std::sqrt(at.squared_norm);
  for (std::size_t j = 0; j < at.n; ++j) {
    for (std::size_t i = 0; i < at.n; ++i) {
      const Matrix<double> r = at.r(i, j);
      const Vector u12 = at.u12(i, j), u34 = at.u34(printed ? i : j);
      for (std::size_t u = 0; u < at.d; ++u) {
        for (std::size_t v = 0; v < at.d; ++v) {
          jacobian(j * at.d + v, i * at.d + u) =
              factor * (r(u, v) / at.z - u12[u] * u34[v] / (at.z * at.z));
        }
      }
    }
  }
  return jacobian;
}

void compare_formula(const SimplexTerms& at, const Matrix<double>& measured, bool printed,
                     std::vector<Comparison>& into) {
  const Matrix<double> formula = block_formula(at, printed);
  const double squares = trace_product(formula, formula),
               size = at.count() * static_cast<double>(at.d);
  const std::string text = (printed ? "with y_i in U_3, " : "with y_j in U_3, ") + at.text();
  into.push_back(equal("η " + text, squares / size, trace_product(measured, measured) / size,
                       squares / size * at.rounding()));
  into.push_back(equal("⟨J, formula⟩/(nd) " + text, squares / size,
                       trace_product(measured, formula) / size, squares / size * at.rounding()));
}

Evidence lemma_b_6(const Setting& setting) {
  Evidence evidence;
  const std::vector<SimplexTerms> all = simplex_terms(setting);
  evidence.parameters = text_of(all);
  for (const SimplexTerms& at : all) {
    const auto measured = experiments::complex_step_jacobian(at.tokens, at.beta, 0.0);
    compare_formula(at, measured, false, evidence.statement);
    compare_formula(at, measured, true, evidence.as_printed);
  }
  return evidence;
}

// ---- Lemma B.7 --------------------------------------------------------------------------------

void compare_sums(const SimplexTerms& at, std::vector<Comparison>& into) {
  const double n = at.count(), rho = at.rho, mass = n * rho + 1.0 - rho;
  const auto y = at.y(0);
  const Vector wy = times(at.w, y), pv = tangent(y, at.v), py = tangent(y, at.y(1));
  Vector wy_formula(at.d);
  add(wy_formula, 1.0 - rho, y);
  add(wy_formula, rho, at.v);
  double trace = 0.0;
  for (std::size_t k = 0; k < at.d; ++k) trace += at.w(k, k);
  // Sums of at most n² products of d terms, each rounded once.
  const auto compare = [&](const char* what, double predicted, double measured) {
    into.push_back(equal(fmt::format("{}, n = {}, ρ = {}", what, at.n, rho), predicted, measured,
                         4.0 * kEpsilon * (n * n + static_cast<double>(at.d)) * predicted));
  };
  compare("tr W²", n * (n * rho * rho + 1.0 - rho * rho), trace_product(at.w, at.w));
  compare("tr W", n, trace);
  compare("⟨Wy_i,y_i⟩", n * rho * rho + 1.0 - rho * rho, inner(wy, y));
  compare("‖P_i y_j‖²", 1.0 - rho * rho, inner(py, py));
  compare("⟨Wy_i,(1−ρ)y_i+ρV⟩", inner(wy_formula, wy_formula), inner(wy, wy_formula));
  compare("⟨V,y_i⟩", mass, inner(at.v, y));
  compare("‖V‖²", n * mass, inner(at.v, at.v));
  compare("‖P_i V‖²", (n - 1.0) * mass * (1.0 - rho), inner(pv, pv));
  compare("‖Wy_i‖²",
          n * n * rho * rho * rho + 3.0 * n * rho * rho * (1.0 - rho) +
              (1.0 + 2.0 * rho) * (1.0 - rho) * (1.0 - rho),
          inner(wy, wy));
}

Evidence lemma_b_7(const Setting& setting) {
  Evidence evidence;
  const std::vector<SimplexTerms> all = simplex_terms(setting);
  evidence.parameters = text_of(all);
  for (const SimplexTerms& at : all) compare_sums(at, evidence.statement);
  return evidence;
}

// ---- Lemmas B.8-B.10 --------------------------------------------------------------------------

// The length, temperature and correlation at which a polynomial is taken.
struct Place {
  double log_n;
  double beta;
  double rho;

  [[nodiscard]] theory::SimplexWeights weights() const {
    return theory::simplex_weights(log_n, beta, rho);
  }
  [[nodiscard]] static Place at_scale(double log_n, double scale, double rho) {
    return {log_n, scale * log_n / (1.0 - rho), rho};
  }
  [[nodiscard]] static Place of(const SimplexTerms& at) {
    return {std::log(at.count()), at.beta, at.rho};
  }
  // Of a product of at most five weights, relative.
  [[nodiscard]] double error() const { return 5.0 * theory::simplex_error(log_n, beta); }
};

// Eq 90 over n Z²: the square of R_1, `crosses` times the product of R_1 and R_2, the square of
// R_2.
double squares_of_r(const Place& at, double d, double crosses) {
  const theory::SimplexWeights x = at.weights();
  const double rho = at.rho, all = x.others + x.per_token, b = x.per_token;  // all = n b
  const double own = all * all * rho * rho * (1.0 - rho) +
                     all * b * (1.0 - rho) * (1.0 + rho - 3.0 * rho * rho) -
                     b * b * (1.0 + 2.0 * rho) * (1.0 - rho) * (1.0 - rho);
  const double cross = at.beta * x.self * x.others * (1.0 - rho * rho);
  const double rest = x.self * x.self * (d - 1.0) +
                      b * x.others * (at.beta * at.beta * (1.0 - rho * rho) + d - 1.0);
  return at.beta * at.beta * own + crosses * cross + rest;
}

void compare_squares(const SimplexTerms& at, Evidence& evidence) {
  const double measured = at.over_pairs([&](std::size_t i, std::size_t j) {
    const Matrix<double> r = at.r(i, j);
    return trace_product(r, r);
  }) / (at.count() * at.z * at.z);
  const auto compare = [&](double crosses, const char* text, std::vector<Comparison>& into) {
    const double predicted = squares_of_r(Place::of(at), static_cast<double>(at.d), crosses);
    into.push_back(equal("Σ tr(R_1+R_2)ᵀ(R_1+R_2)/(nZ²), " + std::string(text) + at.text(),
                         predicted, measured, predicted * at.rounding()));
  };
  compare(2.0, "", evidence.statement);
  compare(1.0, "cross term once, ", evidence.as_printed);
}

// Eq 91 at n = d = 1e8, where its terms of order β and d/n stand clear of rounding. The excess over
// the printed limit:
//   c = 1/2   (d − 1)(a² + 1/n) ≈ 2; a = n^{−1/2} brings a(β²/2 + 2β + 4) more,
//   c = 1     β(1 − ρ²)/2 + (d − 1)/(2n); corrections 4β²/n,
//   c = 3/2   −2(d − 1) n^{1−c}; the next term is 3(d − 1) n^{2(1−c)} = 3.
// In all of them d a² is rounded to d times the error of a product of weights.
void compare_squares_limits(Evidence& evidence) {
  constexpr double rho = 0.5, n = 1e8, d = 1e8;
  const double log_n = std::log(n);
  const auto compare = [&](double scale, double limit_of_d, double power_of_beta, double excess,
                           double neglected) {
    const Place at = Place::at_scale(log_n, scale, rho);
    const double printed = limit_of_d + power_of_beta * at.beta * at.beta * rho * rho * (1.0 - rho);
    const double measured = squares_of_r(at, d, 2.0) - printed;
    const double tolerance = neglected + d * at.error();
    const std::string text =
        fmt::format("excess over the limit of Eq 91, n = d = 1e8, c = {}", scale);
    evidence.statement.push_back(equal(text, excess, measured, tolerance));
    evidence.as_printed.push_back(equal(text + ", as printed", 0.0, measured, tolerance));
  };
  const double half = Place::at_scale(log_n, 0.5, rho).beta, one = 2.0 * half;
  compare(0.5, 0.0, 1.0, 2.0, (half * half / 2.0 + 2.0 * half + 4.0) / std::sqrt(n));
  compare(1.0, (d - 1.0) / 4.0, 0.25, one * (1.0 - rho * rho) / 2.0 + (d - 1.0) / (2.0 * n),
          4.0 * one * one / n);
  compare(1.5, d - 1.0, 0.0, -2.0 * (d - 1.0) / std::sqrt(n), 4.0);
}

Evidence lemma_b_8(const Setting& setting) {
  Evidence evidence;
  const std::vector<SimplexTerms> all = simplex_terms(setting);
  evidence.parameters = text_of(all) + ", closed form at large n";
  for (const SimplexTerms& at : all) compare_squares(at, evidence);
  compare_squares_limits(evidence);
  return evidence;
}

// Eq 96 over n Z³, its five lines in order.
double products_of_u_and_r(const Place& at) {
  const theory::SimplexWeights x = at.weights();
  const double rho = at.rho, beta = at.beta, s = x.others, b = x.per_token;
  const double t = rho * s + b;
  return rho * beta * beta * s * t * x.gap * (1.0 - rho) + beta * beta * s * t * t * (1.0 - rho) +
         beta * x.self * s * t * (1.0 - rho) +
         beta * b * s * x.gap * (beta * rho + 1.0) * (1.0 - rho * rho) +
         beta * b * s * t * (beta * (1.0 - rho * rho) + 1.0 - rho);
}

// At n = 1e300 only the terms of order β² and β are left. As printed the critical one lacks
// βρ(1−ρ)/8. Above the transition everything carries s² = n^{2(1−c)}.
Evidence lemma_b_9(const Setting& setting) {
  Evidence evidence;
  const std::vector<SimplexTerms> all = simplex_terms(setting);
  evidence.parameters = text_of(all) + ", closed form at large n";
  for (const SimplexTerms& at : all) {
    const double measured = at.over_pairs([&](std::size_t i, std::size_t j) {
      return inner(at.u12(i, j), times(at.r(i, j), at.u34(j)));
    }) / (at.count() * at.z * at.z * at.z);
    const double predicted = products_of_u_and_r(Place::of(at));
    evidence.statement.push_back(equal("Σ (U_1+U_2)ᵀ(R_1+R_2)(U_3+U_4)/(nZ³), " + at.text(),
                                       predicted, measured, predicted * at.rounding()));
  }
  constexpr double rho = 0.5;
  const Place low = Place::at_scale(kLargestLog, 0.5, rho);
  const Place critical = Place::at_scale(kLargestLog, 1.0, rho);
  const Place high = Place::at_scale(kLargestLog, 1.5, rho);
  const auto printed = [&](const Place& at) { return at.beta * at.beta * rho * rho * (1.0 - rho); };
  const double excess = products_of_u_and_r(critical) - printed(critical) / 4.0;
  const double tolerance = printed(critical) * critical.error();
  evidence.statement.push_back(equal("limit of Eq 97, n = 1e300, c = 1/2", printed(low),
                                     products_of_u_and_r(low), printed(low) * low.error()));
  evidence.statement.push_back(equal("excess over the limit of Eq 97, n = 1e300, c = 1",
                                     critical.beta * rho * (1.0 - rho) / 8.0, excess, tolerance));
  evidence.as_printed.push_back(equal(
      "excess over the limit of Eq 97, n = 1e300, c = 1, as printed", 0.0, excess, tolerance));
  evidence.statement.push_back(at_most("term of Eq 97, n = 1e300, c = 3/2, below n^(1−c)", 1e-150,
                                       products_of_u_and_r(high), 0.0));
  return evidence;
}

// Eq 105 over n Z⁴.
double squares_of_u(const Place& at) {
  const theory::SimplexWeights x = at.weights();
  const double s = x.others, b = x.per_token, t = at.rho * s + b;
  const double first = at.beta * at.beta * s * (at.rho * (s + b) + 2.0 * b) * (1.0 - at.rho);
  return first * (x.gap * x.gap + 2.0 * x.gap * t + (s + b) * t);
}

Evidence lemma_b_10(const Setting& setting) {
  Evidence evidence;
  const std::vector<SimplexTerms> all = simplex_terms(setting);
  evidence.parameters = text_of(all) + ", closed form at large n";
  for (const SimplexTerms& at : all) {
    const double measured = at.over_pairs([&](std::size_t i, std::size_t j) {
      const Vector first = at.u12(i, j), second = at.u34(j);
      return inner(first, first) * inner(second, second);
    }) / (at.count() * std::pow(at.z, 4.0));
    const double predicted = squares_of_u(Place::of(at));
    evidence.statement.push_back(equal("Σ ‖U_1+U_2‖²‖U_3+U_4‖²/(nZ⁴), " + at.text(), predicted,
                                       measured, predicted * at.rounding()));
  }
  for (const double rho : {0.2, 0.5}) {
    const auto compare = [&](double scale, double factor) {
      const Place at = Place::at_scale(kLargestLog, scale, rho);
      const double limit = at.beta * at.beta * factor;
      evidence.statement.push_back(
          equal(fmt::format("limit of Eq 106, n = 1e300, ρ = {}, c = {}", rho, scale), limit,
                squares_of_u(at), limit * at.error()));
    };
    compare(0.5, rho * rho * (1.0 - rho));
    compare(1.0, rho * (1.0 - rho) * (1.0 + 3.0 * rho) / 16.0);
    evidence.statement.push_back(
        at_most(fmt::format("term of Eq 106, n = 1e300, ρ = {}, c = 3/2, below n^(1−c)", rho),
                1e-150, squares_of_u(Place::at_scale(kLargestLog, 1.5, rho)), 0.0));
  }
  return evidence;
}

}  // namespace

std::vector<Claim> cas_simplex_gradient_claims() {
  return {
      {"cas.lemma-b.6", "CAS, Lemma B.6",
       "The blocks of J on a simplex; U_3 points along the output's token y_j.", lemma_b_6},
      {"cas.lemma-b.7", "CAS, Lemma B.7", "Sums of a simplex: tr W², ‖V‖², ‖Wy_i‖² and six more.",
       lemma_b_7},
      {"cas.lemma-b.8", "CAS, Lemma B.8",
       "The square of R_1 + R_2, with its cross term twice, and its limits with all their terms.",
       lemma_b_8},
      {"cas.lemma-b.9", "CAS, Lemma B.9",
       "The product of U and R, whose critical limit has βρ(1−ρ)/8 in addition.", lemma_b_9},
      {"cas.lemma-b.10", "CAS, Lemma B.10", "The squares of U and their three limits.", lemma_b_10},
  };
}

}  // namespace dewpoint::claims
