// Focus and dilution, Section 4.1: how a flow leaves a saddle, and how training leaves the origin.
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "dewpoint/claims/algebra.hpp"
#include "dewpoint/claims/compare.hpp"
#include "dewpoint/claims/fd_support.hpp"
#include "dewpoint/claims/lists.hpp"
#include "dewpoint/core/ode.hpp"
#include "dewpoint/theory/markov_chain.hpp"
#include "dewpoint/theory/second_critical_point.hpp"
#include "dewpoint/theory/training_origin.hpp"
#include "dewpoint/theory/training_times.hpp"

namespace dewpoint::claims {
namespace {

constexpr double kTop = 0.75;
constexpr std::size_t kTokens = 4;

// ---- Lemma 4.1 ---------------------------------------------------------------------------------

/// What surrounds the origin. With x = ‖θ‖ one has ‖M‖ ≤ x²/2 and ‖Φ‖ ≤ x⁴/8; a covariance of a law
/// has norm at most 1/2 and two laws differ by at most √2. So ∂L/∂M moves by at most
/// ‖Φ‖/√2 + ‖M‖/2, ‖∂L/∂Φ‖ ≤ ‖M‖/√2, and ‖F − Jθ‖ ≤ x³/4 + 0.28 x⁵ ≤ radius (1/4 + 0.28 radius²)
/// x².
theory::Saddle origin_saddle(std::span<const double> law) {
  constexpr double radius = 0.5;
  return {theory::origin_growth(law).rate, radius * (0.25 + 0.28 * radius * radius), radius};
}

/// e^{Jt}θ at the origin: a = W0ᵀq and b = W1u turn hyperbolically, everything else stands still.
Weights linear_from_origin(std::span<const double> law, const Weights& start, double time) {
  const theory::OriginGrowth growth = theory::origin_growth(law);
  const auto& q = growth.embedding_direction;
  const auto& u = growth.output_direction;
  Vector a(start.width(), 0.0);
  for (std::size_t i = 0; i < law.size(); ++i) add(a, q[i], start.embedding.row(i));
  const Vector b = times(start.unembedding, u);
  const double grown = std::cosh(growth.rate * time) - 1.0, mixed = std::sinh(growth.rate * time);
  Weights moved = start;
  for (std::size_t k = 0; k < a.size(); ++k) {
    for (std::size_t i = 0; i < law.size(); ++i) {
      moved.embedding(i, k) += q[i] * (grown * a[k] + mixed * b[k]);
      moved.unembedding(k, i) += u[i] * (grown * b[k] + mixed * a[k]);
    }
  }
  return moved;
}

/// Weights of length exactly `size`.
Weights start_of_length(std::size_t width, double size, const Setting& setting,
                        std::uint64_t replica) {
  const double length = norm(flat(drawn_weights(kTokens, width, 1.0, setting.seed, replica)));
  return drawn_weights(kTokens, width, size / length, setting.seed, replica);
}

/// Eq (7) with the constant of its proof, throughout the window of the proof.
void compare_bound(const Population& data, const Setting& setting, Evidence& evidence) {
  const std::vector<double>& law = data.chain.stationary;
  const theory::Saddle saddle = origin_saddle(law);
  for (const double size : {1e-2, 1e-4}) {
    const Weights start = start_of_length(3, size, setting, 0);
    const double window = theory::linear_window(saddle, size);
    const double times[] = {0.5 * window, window};
    const std::vector<Weights> path = flowed(*data.loss, start, times);
    for (std::size_t k = 0; k < path.size(); ++k) {
      const double error = distance(flat(path[k]), flat(linear_from_origin(law, start, times[k])));
      evidence.statement.push_back(at_most(
          fmt::format("‖Δθ − e^{{Jt}}Δθ(0)‖ at the origin, ε = {:.0e}, t = {:.1f}", size, times[k]),
          theory::linear_error(saddle, size, times[k]), error, 0.0));
    }
  }
}

/// Around the second critical point the terms left out are quadratic, so that the bound cannot be
/// improved: a third of the start gives a ninth of the error. The next order is to this one as this
/// one is to the linear flow.
void compare_order(const Population& data, const Setting& setting, Evidence& evidence) {
  constexpr double time = 20.0;
  const auto point = theory::second_critical_point(data.chain.stationary);
  const auto outer = theory::critical_weights(point, std::vector<double>{1.0, 0.0, 0.0});
  const Weights critical = outer_weights(outer.embedding, outer.unembedding);
  const Matrix<double> jacobian = flow_jacobian(*data.loss, critical);
  const Vector origin = flat(critical);
  struct Error {
    double error, relative;
  };
  const auto measured = [&](double size) {
    const Vector step = flat(start_of_length(3, size, setting, 1));
    Vector start = origin, end = origin;
    add(start, 1.0, step);
    const Vector linear = linear_flow(jacobian, step, time);
    add(end, 1.0, linear);
    const double error = distance(
        flat(flowed(*data.loss, unflat(start, kTokens, 3), std::vector<double>{time})[0]), end);
    return Error{error, error / norm(linear)};
  };
  const Error coarse = measured(3e-4), fine = measured(1e-4);
  evidence.statement.push_back(equal(
      "‖Δθ − e^{Jt}Δθ(0)‖ at θ_c¹, t = 20: ε = 3e-4 over ε = 1e-4", 9.0, coarse.error / fine.error,
      9.0 * (coarse.relative + kFlowError * (1.0 + time) / fine.error)));
}

/// The window: when the linear flow is wrong by 1 %. Per decade of ε it grows by log(10)/μ; what is
/// left of the start, e^{−μT}, shifts the moment.
void compare_window(const Population& data, const Setting& setting, Evidence& evidence) {
  const std::vector<double>& law = data.chain.stationary;
  const theory::Saddle saddle = origin_saddle(law);
  const auto left_at = [&](double size) {
    const Weights start = start_of_length(3, size, setting, 0);
    const Signal wrong = [&](double time, const Weights& weights) {
      const Vector linear = flat(linear_from_origin(law, start, time));
      return distance(flat(weights), linear) / norm(linear) - 0.01;
    };
    return passages(*data.loss, start, {wrong}, 200.0)[0].time;
  };
  const double sizes[] = {1e-3, 1e-4, 1e-5};
  double last = left_at(sizes[0]);
  for (const double size : {sizes[1], sizes[2]}) {
    const double next = left_at(size);
    evidence.statement.push_back(
        equal(fmt::format("time until the linear flow is 1 % wrong, ε = {:.0e} less 10ε", size),
              theory::linear_window(saddle, 1e-9) - theory::linear_window(saddle, 1e-8),
              next - last, 4.0 * std::exp(-saddle.rate * last) / saddle.rate));
    last = next;
  }
}

/// At μ = 0 the bound grows with time: x' = x² from ε.
void compare_flat(Evidence& evidence) {
  constexpr double size = 1e-3;
  const theory::Saddle saddle{0.0, 1.0, 0.5};
  const double time = theory::linear_window(saddle, size);
  OdeSolver solver({.slope = [](double, std::span<const double> y,
                                std::span<double> slope) { slope[0] = y[0] * y[0]; }},
                   0.0, std::vector<double>{size},
                   {.relative_tolerance = kFlowTolerance, .absolute_tolerance = 1e-18});
  solver.advance(time);
  const double error = solver.value()[0] - size;
  evidence.statement.push_back(at_most(
      fmt::format("error of the linear flow of x' = x², ε = {:.0e}, t = {}: C ε² t", size, time),
      theory::linear_error(saddle, size, time), error, 0.0));
  evidence.as_printed.push_back(at_most("the same by Eq (7) at μ = 0: C ε²",
                                        theory::linear_error(saddle, size, 1.0), error, 0.0));
}

/// A start at t = log(1/ε)/2μ: its full vector of weights, its α₁, and the share of it that does
/// not grow. In the linear flow what does not grow is orthogonal to what does.
struct Aligned {
  Vector weights;
  Vector direction;
  double rest = 0.0;
};
Aligned aligned(const Population& data, const Weights& start, double size) {
  const std::vector<double>& law = data.chain.stationary;
  const double rate = theory::origin_growth(law).rate;
  const double time = 0.5 * std::log(1.0 / size) / rate;
  const auto condensate = theory::condensate(law, start.embedding, start.unembedding);
  return {flat(flowed(*data.loss, start, std::vector<double>{time})[0]), condensate.direction,
          norm(flat(start)) / (std::sqrt(2.0) * condensate.amplitude * std::exp(rate * time))};
}

double cosine(const Vector& a, const Vector& b) { return inner(a, b) / (norm(a) * norm(b)); }

/// Width 1 has a simple eigenvalue: every start ends on ±v_u. Width 3 has a triple one, and two
/// starts end on different rays, α₁ of the first and of the second.
void compare_alignment(const Population& data, const Setting& setting, Evidence& evidence) {
  constexpr double size = 1e-6;
  const auto growth = theory::origin_growth(data.chain.stationary);
  Weights unstable(kTokens, 1);
  for (std::size_t i = 0; i < kTokens; ++i) {
    unstable.embedding(i, 0) = growth.embedding_direction[i];
    unstable.unembedding(0, i) = growth.output_direction[i];
  }
  const Aligned simple = aligned(data, drawn_weights(kTokens, 1, size, setting.seed, 2), size);
  // The rest and the weights themselves, squared.
  const auto square = [](double x) { return x * x; };
  evidence.statement.push_back(equal("|cos| of Δθ and v_u, width 1, ε = 1e-6, t = log(1/ε)/2μ", 1.0,
                                     std::abs(cosine(simple.weights, flat(unstable))),
                                     square(simple.rest) + square(norm(simple.weights))));

  // The second start is the first with a little of another, so that the two rays are not far apart.
  const Weights start = drawn_weights(kTokens, 3, size, setting.seed, 3);
  Vector mixed = flat(start);
  add(mixed, 0.7, flat(drawn_weights(kTokens, 3, size, setting.seed, 4)));
  const Aligned first = aligned(data, start, size);
  const Aligned second = aligned(data, unflat(mixed, kTokens, 3), size);
  const double measured = cosine(first.weights, second.weights);
  const double error =
      square(first.rest + second.rest) + square(norm(first.weights) + norm(second.weights));
  evidence.statement.push_back(equal("cos of the Δθ of two starts, width 3: α₁ · α₁'",
                                     inner(first.direction, second.direction), measured, error));
  evidence.as_printed.push_back(
      equal("|cos| of the Δθ of two starts, width 3: one v_u", 1.0, std::abs(measured), error));
}

Evidence linearisation(const Setting& setting) {
  Evidence evidence;
  evidence.parameters = "π_1 = 3/4, d = 4, λ = 0.8, width 3; ‖Δθ(0)‖ = ε = 1e-6 .. 1e-2";
  const Population data = population(theory::two_group_law(kTop, kTokens));
  compare_bound(data, setting, evidence);
  compare_order(data, setting, evidence);
  compare_window(data, setting, evidence);
  compare_flat(evidence);
  compare_alignment(data, setting, evidence);
  return evidence;
}

// ---- Theorem 4.2 -------------------------------------------------------------------------------

/// Eq (9), entry by entry: sums of d products of numbers up to 1.
void compare_origin_gradient(const Population& data, Evidence& evidence) {
  const auto growth = theory::origin_growth(data.chain.stationary);
  const auto slope = token_slope(*data.loss, Weights(kTokens, 3));
  Matrix<double> expected = outer_product(growth.embedding_direction, growth.output_direction);
  for (std::size_t k = 0; k < expected.size(); ++k) expected.data()[k] *= -growth.rate;
  const double rounding = 16.0 * kEpsilon;
  evidence.statement.push_back(
      at_most("‖∂L/∂M + π(π − 1/d)ᵀ‖ at 0", rounding, distance(slope.value, expected), 0.0));
  evidence.statement.push_back(at_most("‖∂L/∂Φ‖ at 0", rounding, norm(slope.attention), 0.0));
  evidence.statement.push_back(
      equal("‖∂L/∂M‖ at 0: μ = ‖π‖ ‖π − 1/d‖", growth.rate, norm(slope.value), rounding));
}

/// All eigenvalues of −∇²L: +μ and −μ as often as the width, and 0.
void compare_origin_spectrum(const Population& data, std::size_t width, Evidence& evidence) {
  const Matrix<double> jacobian = flow_jacobian(*data.loss, Weights(kTokens, width));
  const std::vector<double> found = eigenvalues(jacobian);
  std::vector<double> expected;
  for (const auto& group : theory::origin_spectrum(data.chain.stationary, width)) {
    expected.insert(expected.end(), group.multiplicity, group.value);
  }
  std::sort(expected.begin(), expected.end());
  const double rate = expected.back(), size = static_cast<double>(found.size());
  const auto growing = static_cast<double>(
      std::count_if(found.begin(), found.end(), [&](double value) { return value > 0.5 * rate; }));
  evidence.statement.push_back(
      at_most(fmt::format("farthest of {} eigenvalues of −∇²L(0) from ±μ, 0", found.size()),
              4.0 * size * kEpsilon, distance(found, expected), 0.0));
  evidence.statement.push_back(equal(fmt::format("unstable directions at 0, width {}", width),
                                     static_cast<double>(width), growing, 0.0));
  evidence.statement.push_back(
      equal("largest eigenvalue of −∇²L(0): μ", rate, found.back(), size * kEpsilon));
  evidence.as_printed.push_back(
      equal(fmt::format("unstable directions at 0, width {}", width), 1.0, growing, 0.0));
}

/// ‖W0/‖W0‖ − qα₁ᵀ‖ and ‖W1/‖W1‖ − α₁uᵀ‖ when ‖W0‖ = 1/5, and how much WQ has grown.
struct Condensed {
  double embedding, unembedding, query;
};
Condensed condensed(const Population& data, double size, const Setting& setting,
                    std::uint64_t replica) {
  const std::vector<double>& law = data.chain.stationary;
  const Weights start = drawn_weights(law.size(), 3, size, setting.seed, replica);
  const auto growth = theory::origin_growth(law);
  const auto direction = theory::condensate(law, start.embedding, start.unembedding).direction;
  const Signal grown = [](double, const Weights& weights) { return norm(weights.embedding) - 0.2; };
  const Weights end = passages(*data.loss, start, {grown}, 500.0)[0].weights;
  return {misalignment(end.embedding, outer_product(growth.embedding_direction, direction)),
          misalignment(end.unembedding, outer_product(direction, growth.output_direction)),
          norm(end.query) / norm(start.query)};
}

/// Across qα₁ᵀ the weights keep their size ε while ‖W0‖ grows to 1/5: the distance is linear in ε,
/// and the next order is smaller by the distance itself. W1 is compared for two groups, where u is
/// the direction also of what follows.
void compare_condensation(const Setting& setting, Evidence& evidence) {
  const Population general = population(kExperimentLaw);
  const Population groups = population(theory::two_group_law(kTop, kTokens));
  const std::uint64_t seeds = setting.effort == Effort::quick ? 1 : 8;
  for (std::uint64_t replica = 0; replica < seeds; ++replica) {
    const Condensed coarse = condensed(general, 1e-4, setting, replica),
                    fine = condensed(general, 1e-5, setting, replica);
    evidence.statement.push_back(equal("‖W0/‖W0‖ − qα₁ᵀ‖ at ‖W0‖ = 1/5: ε = 1e-4 over ε = 1e-5",
                                       10.0, coarse.embedding / fine.embedding,
                                       30.0 * coarse.embedding));
    const Condensed first = condensed(groups, 1e-4, setting, replica),
                    second = condensed(groups, 1e-5, setting, replica);
    evidence.statement.push_back(equal("‖W1/‖W1‖ − α₁uᵀ‖ for two groups: ε = 1e-4 over ε = 1e-5",
                                       10.0, first.unembedding / second.unembedding,
                                       30.0 * first.unembedding));
    // ‖WQ'‖ ≤ ‖W0‖² ‖∂L/∂Φ‖ ‖WK‖ and ‖∂L/∂Φ‖ ≤ ‖M‖/√2: all of it is (1/5)⁴/(4√2 μ) in the end.
    evidence.statement.push_back(
        equal("‖WQ‖ at ‖W0‖ = 1/5 over its start, ε = 1e-4", 1.0, coarse.query,
              std::pow(0.2, 4.0) / (4.0 * theory::origin_growth(kExperimentLaw).rate)));
  }
}

Evidence initial_condensation(const Setting& setting) {
  Evidence evidence;
  evidence.parameters = "π = (.75, .19, .05, .01) and 3/4 with d = 4; λ = 0.8, width 3";
  const Population data = population(kExperimentLaw);
  compare_origin_gradient(data, evidence);
  compare_origin_spectrum(data, 3, evidence);
  compare_condensation(setting, evidence);
  return evidence;
}

}  // namespace

std::vector<Claim> fd_origin_claims() {
  return {
      {"fd.lemma-4.1", "FD, Lemma 4.1",
       "Near a saddle the flow follows its linearisation up to Cε²e^{2μt} (Cε²t at μ = 0), for a "
       "time log(1/ε)/μ; it aligns with the start's part in the fastest eigenspace.",
       linearisation},
      {"fd.theorem-4.2", "FD, Theorem 4.2",
       "W0 and W1 leave the origin with rate ‖π‖‖π − 1/d‖ along qα₁ᵀ and α₁uᵀ, up to O(ε); of "
       "as many unstable directions as the width, the start selects α₁.",
       initial_condensation},
  };
}

}  // namespace dewpoint::claims
