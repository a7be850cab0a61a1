// Errata 26-28 and 33: Focus and dilution, Section 4.1 with its appendix, and the experimental
// setting.
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "dewpoint/claims/algebra.hpp"
#include "dewpoint/claims/compare.hpp"
#include "dewpoint/claims/errata_fd_support.hpp"
#include "dewpoint/claims/fd_support.hpp"
#include "dewpoint/claims/lists.hpp"
#include "dewpoint/core/ode.hpp"
#include "dewpoint/theory/markov_chain.hpp"
#include "dewpoint/theory/second_critical_point.hpp"
#include "dewpoint/theory/training_origin.hpp"
#include "dewpoint/theory/training_times.hpp"
#include "dewpoint/training/histograms.hpp"

namespace dewpoint::claims {
namespace {

// ---- row 26 ------------------------------------------------------------------------------------

/// Eigenvalues of −∇²L above half of the largest one expected.
double unstable_directions(const Population& data, const Weights& weights, double rate) {
  const std::vector<double> found = eigenvalues(flow_jacobian(*data.loss, weights));
  return static_cast<double>(
      std::count_if(found.begin(), found.end(), [&](double value) { return value > 0.5 * rate; }));
}

Evidence multiplicity(const Setting&) {
  const std::vector<double> law = two_groups();
  const Population data = population(law);
  Evidence evidence;
  evidence.parameters = "π_1 = 3/4, d = 4, λ = 0.8: dense Hessians for width 2 and 5";
  for (const std::size_t width : {std::size_t{2}, std::size_t{5}}) {
    const double origin =
        unstable_directions(data, Weights(law.size(), width), theory::origin_growth(law).rate);
    const double second = unstable_directions(data, critical_point(law, width),
                                              theory::attention_rate(law, data.chain.transition));
    for (const auto& [name, found] : {std::pair{"0", origin}, std::pair{"θ_c¹", second}}) {
      const std::string text = fmt::format("unstable directions at {}, width {}", name, width);
      evidence.statement.push_back(equal(text, static_cast<double>(width), found, 0.0));
      evidence.as_printed.push_back(equal(text, 1.0, found, 0.0));
    }
  }
  return evidence;
}

// ---- row 27 ------------------------------------------------------------------------------------

/// x' = x² from ε, less ε: J = 0 and the constant of the proof is 4.
Evidence no_growth(const Setting&) {
  constexpr double size = 1e-3;
  const theory::Saddle saddle{0.0, 1.0, 0.5};
  Evidence evidence;
  evidence.parameters = "x' = x², x(0) = 1e-3, up to the end of the window, t = 250";
  OdeSolver solver({.slope = [](double, std::span<const double> y,
                                std::span<double> slope) { slope[0] = y[0] * y[0]; }},
                   0.0, std::vector<double>{size},
                   {.relative_tolerance = kFlowTolerance, .absolute_tolerance = 1e-18});
  for (const double time : {25.0, theory::linear_window(saddle, size)}) {
    solver.advance(time);
    const double error = solver.value()[0] - size;
    const std::string text = fmt::format("|x − x(0)|, t = {}", time);
    evidence.statement.push_back(
        at_most(text + ": Cε²t", theory::linear_error(saddle, size, time), error, 0.0));
    evidence.statement.push_back(equal(text + ": ε²t/(1 − εt)",
                                       size * size * time / (1.0 - size * time), error,
                                       kFlowError * size * time));
    evidence.as_printed.push_back(
        at_most(text + ": Cε²", theory::linear_error(saddle, size, 1.0), error, 0.0));
  }
  return evidence;
}

// ---- row 28 ------------------------------------------------------------------------------------

/// a = W0ᵀq and b = W1u of Eq (80).
struct Condensing {
  Vector a, b;
};
Condensing condensing(const theory::OriginGrowth& growth, const Weights& weights) {
  Condensing result{Vector(weights.width(), 0.0),
                    times(weights.unembedding, growth.output_direction)};
  for (std::size_t i = 0; i < weights.vocabulary(); ++i) {
    add(result.a, growth.embedding_direction[i], weights.embedding.row(i));
  }
  return result;
}

/// Quantities of Eq (81)-(99) at some weights: the terms that are exact and those of the errors
/// E_a = a' − s b, E_b = b' − s a, with s = ‖π‖ ‖π − p_sym(z)‖.
struct Balance {
  double exact, along, across;  // 4sz; ⟨E_a,a⟩ + ⟨E_b,b⟩; ⟨E_a,b⟩ + ⟨E_b,a⟩
};
Balance balance(const std::vector<double>& law, const Condensing& at, const Condensing& velocity) {
  const auto growth = theory::origin_growth(law);
  const double z = inner(at.a, at.b);
  Vector prediction(law.size());
  double total = 0.0;
  for (std::size_t i = 0; i < law.size(); ++i) {
    total += prediction[i] = std::exp(norm(law) * z * growth.output_direction[i]);
  }
  for (double& p : prediction) p /= total;
  const double speed = norm(law) * distance(law, prediction);
  Vector error_a = velocity.a, error_b = velocity.b;
  add(error_a, -speed, at.b);
  add(error_b, -speed, at.a);
  return {4.0 * speed * z, inner(error_a, at.a) + inner(error_b, at.b),
          inner(error_a, at.b) + inner(error_b, at.a)};
}

/// d/dt(‖a‖² + ‖b‖²) along the flow, by a central difference: exact for a quadratic function.
Evidence error_terms(const Setting& setting) {
  const std::vector<double> law = two_groups();
  const auto growth = theory::origin_growth(law);
  const Population data = population(law);
  const Weights weights = drawn_weights(law.size(), 3, 0.4, setting.seed, 0);
  Vector downhill = flat(gradient(*data.loss, weights));
  for (double& x : downhill) x = -x;
  const auto lengths = [&](double time) {
    Vector moved = flat(weights);
    add(moved, time, downhill);
    const Condensing at = condensing(growth, unflat(moved, law.size(), 3));
    return inner(at.a, at.a) + inner(at.b, at.b);
  };
  const double step = 0.5, measured = (lengths(step) - lengths(-step)) / (2.0 * step);
  const Balance terms = balance(law, condensing(growth, weights),
                                condensing(growth, unflat(downhill, law.size(), 3)));
  Evidence evidence;
  evidence.parameters = "π_1 = 3/4, d = 4, λ = 0.8, weights N(0, 0.16), width 3";
  const double rounding = kRounding * (1.0 + lengths(0.0));
  const std::string text = "(‖a‖² + ‖b‖²)' with 2⟨E_a,";
  evidence.statement = {
      equal(text + "a⟩ + 2⟨E_b,b⟩", terms.exact + 2.0 * terms.along, measured, rounding)};
  evidence.as_printed = {equal(text + "b⟩ + 2⟨E_b,a⟩ of Eq (99)", terms.exact + 2.0 * terms.across,
                               measured, rounding)};

  // Eq (65): R0 = W0 − q aᵀ has πᵀR0 = 0, so two of its three terms vanish.
  const Condensing at = condensing(growth, weights);
  Matrix<double> rest = weights.embedding;
  add_outer(rest, -1.0, growth.embedding_direction, at.a);
  Vector mean(3, 0.0);
  for (std::size_t i = 0; i < law.size(); ++i) add(mean, law[i], rest.row(i));
  evidence.statement.push_back(at_most("‖πᵀR0‖/‖R0‖", kRounding, norm(mean) / norm(rest), 0.0));
  return evidence;
}

// ---- row 33 ------------------------------------------------------------------------------------

/// 2⁻¹, 2⁻², .. divided by its Euclidean length is no law; its squares are one, the powers of 4,
/// and those are the numbers of Section 5.1, to the two digits given.
void compare_stationary_law(Evidence& evidence) {
  Vector halves{0.5, 0.25, 0.125, 0.0625};
  const double length = norm(halves);
  double sum = 0.0, squares = 0.0;
  for (double& half : halves) {
    half /= length;
    sum += half;
    squares += half * half;
  }
  evidence.as_printed.push_back(equal("Σπ for π = π_0/‖π_0‖", 1.0, sum, kRounding));
  evidence.statement.push_back(equal("Σπ for π ∝ π_0²", 1.0, squares, kRounding));
  for (std::size_t k = 0; k < 2; ++k) {
    evidence.statement.push_back(equal(fmt::format("π_{} of Section 5.1 over that of π_0²", k + 1),
                                       1.0, kExperimentLaw[k] / (halves[k] * halves[k]),
                                       0.005 / kExperimentLaw[k]));
  }
}

/// With 19 tokens of context from a uniform start the mean histogram is (1 − w)π + w/d with
/// w = (1 − λ^s)/(s(1 − λ)), and ∂L/∂M at 0 is −E[h(e_y − 1/d)ᵀ] instead of −π(π − 1/d)ᵀ.
void compare_context(Evidence& evidence) {
  constexpr std::size_t context = 19;
  constexpr double s = context;
  const auto chain = training::named_chain("lambda", kExperimentLaw, kPersistence);
  const training::HistogramRows rows = training::exact_rows(chain, context);
  double frequency = 0.0;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    double weight = 0.0;
    for (const double label : rows.labels.row(row)) weight += label;
    frequency += weight * rows.counts(row, 0) / s;
  }
  const auto loss = training::histogram_loss(rows, {});
  const double slope = token_slope(*loss, Weights(4, 1)).value(0, 0);

  // E[h_1 y_1] = (1/s) Σ_j P(x_j = 1) (P^{s+1−j})_11, and P^k has λ^k + (1 − λ^k)π_1 there.
  const double top = kExperimentLaw[0],
               start = (1.0 - std::pow(kPersistence, s)) / (s * (1.0 - kPersistence));
  const double mean = (1.0 - start) * top + start / 4.0;
  double joint = 0.0;
  for (std::size_t j = 0; j < context; ++j) {
    const double old = std::pow(kPersistence, static_cast<double>(j));
    const double ahead = std::pow(kPersistence, s - static_cast<double>(j));
    joint += ((1.0 - old) * top + old / 4.0) * (ahead + (1.0 - ahead) * top) / s;
  }
  const double rounding = (s + 1.0) * 5.0 * kEpsilon;
  const std::string count = "mean share of token 1 in 19 tokens",
                    first = "∂L/∂M_11 at 0 for 19 tokens";
  evidence.statement.push_back(equal(count, mean, frequency, rounding));
  evidence.statement.push_back(equal(first, -(joint - mean / 4.0), slope, rounding));
  evidence.as_printed.push_back(equal(count + ": π_1", top, frequency, rounding));
  evidence.as_printed.push_back(equal(first + ": Eq (9)", -top * (top - 0.25), slope, rounding));
}

Evidence experimental_setting(const Setting&) {
  Evidence evidence;
  evidence.parameters = "d = 4, λ = 0.8; contexts of 19 tokens, exactly";
  compare_stationary_law(evidence);
  compare_context(evidence);
  return evidence;
}

}  // namespace

std::vector<Claim> fd_origin_errata() {
  return {
      {"erratum.26", "FD, Lemma 4.1, Theorem 4.2, Proposition 4.4",
       "printed a single unstable direction at 0 and at θ_c¹; right is as many as the width, of "
       "which the start selects one",
       multiplicity},
      {"erratum.27", "FD, Eq (7)", "printed Cε²e^{2μt} also for μ = 0; right is Cε²t there",
       no_growth},
      {"erratum.28", "FD, Eq (65), (93), (99)",
       "printed ⟨E_a,b⟩ + ⟨E_b,a⟩ in the growth of ‖a‖² + ‖b‖²; right is ⟨E_a,a⟩ + ⟨E_b,b⟩",
       error_terms},
      {"erratum.33", "FD, Section 5.1, Appendix D.1",
       "printed π = π_0/‖π_0‖ and long contexts; right is π ∝ π_0², and s = 19 is not long",
       experimental_setting},
  };
}

}  // namespace dewpoint::claims
