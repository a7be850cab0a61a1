// Focus and dilution, Appendix B.1 and Eq (14): how long the first two stages last.
//
// Times of the population flow, from its own integration, against integrals and logarithms of
// theory/training_times.hpp. The loss is even in the weights, so what does not condense changes
// the growth of the rest by its squared length, and a time T by T times that.
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
#include "dewpoint/theory/markov_chain.hpp"
#include "dewpoint/theory/second_critical_point.hpp"
#include "dewpoint/theory/training_origin.hpp"
#include "dewpoint/theory/training_times.hpp"

namespace dewpoint::claims {
namespace {

struct Groups {
  double top;
  std::size_t tokens;

  [[nodiscard]] std::vector<double> law() const { return theory::two_group_law(top, tokens); }
  [[nodiscard]] std::string text() const { return fmt::format("π_1 = {}, d = {}", top, tokens); }
};
constexpr Groups kGroups[] = {{0.75, 4}, {0.6, 3}};
constexpr std::size_t kWidth = 3;

double squared(double x) { return x * x; }

// ---- Eq (75) -----------------------------------------------------------------------------------

/// ‖W0ᵀq‖ at T_p from weights of size ε, its prediction, and what WQ has grown by.
struct Plateau {
  double measured, predicted, query;
};
Plateau plateau(const Population& data, double size, double n, const Setting& setting) {
  const std::vector<double>& law = data.chain.stationary;
  const Weights start = drawn_weights(law.size(), kWidth, size, setting.seed, 0);
  const auto growth = theory::origin_growth(law);
  const double time = theory::plateau_time(law, size, n);
  const Weights end = flowed(*data.loss, start, std::vector<double>{time})[0];
  Vector along(kWidth, 0.0);
  for (std::size_t i = 0; i < law.size(); ++i) {
    add(along, growth.embedding_direction[i], end.embedding.row(i));
  }
  const double amplitude = theory::condensate(law, start.embedding, start.unembedding).amplitude;
  return {norm(along), amplitude * std::exp(growth.rate * time),
          norm(end.query) / norm(start.query)};
}

/// At T_p the weights that condense are of size ε^{1/n}, and WQ, WK have not moved: Eq (75), (76).
/// Neglected: the square of the weights over π_1 − 1/d, the linear term of G; and the part of the
/// start that decays, by e^{−μT}, and is at most ε√m kSigmas long.
Evidence plateau_scale(const Setting& setting) {
  Evidence evidence;
  evidence.parameters = "π_1 = 3/4, d = 4 and 3/5, 3; λ = 0.8, width 3, n = 2 and 4";
  for (const Groups& groups : kGroups) {
    const Population data = population(groups.law());
    for (const double n : {2.0, 4.0}) {
      const double large = n == 2.0 ? 1e-5 : 1e-8, small = large / 100.0;
      const Plateau coarse = plateau(data, large, n, setting),
                    fine = plateau(data, small, n, setting);
      const double decayed = std::sqrt(double{kWidth}) * kSigmas * large / coarse.predicted *
                             std::pow(large, 1.0 - 1.0 / n);
      const double error =
          squared(coarse.measured) / (groups.top - 1.0 / static_cast<double>(groups.tokens)) +
          decayed;
      const std::string text = fmt::format("{}, n = {}", groups.text(), n);
      evidence.statement.push_back(
          equal(fmt::format("‖W0ᵀq‖ at T_p over its linear growth, ε = {:.0e}, {}", large, text),
                1.0, coarse.measured / coarse.predicted, error));
      evidence.statement.push_back(
          equal(fmt::format("power of ε with which ‖W0ᵀq‖ at T_p falls, {}", text), 1.0 / n,
                std::log(coarse.measured / fine.measured) / std::log(100.0),
                2.0 * error / std::log(100.0)));
      evidence.statement.push_back(
          equal(fmt::format("‖WQ‖ at T_p over its start, ε = {:.0e}, {}", large, text), 1.0,
                coarse.query, squared(squared(2.0 * coarse.measured)) + kFlowError));
    }
  }
  return evidence;
}

// ---- Proposition B.6 ---------------------------------------------------------------------------

constexpr double kGaps[] = {1e-1, 1e-3, 1e-4};  // δ

/// When the predicted probability of the first token is within δ of π_1, for each δ, and the z(0)
/// of the start. What does not condense, of squared length x, changes a time T by xT; once the
/// point is near, it moves p_1 by x too, attention by x e^{2ct} after a time t, and the arrival by
/// that over δr.
struct Arrival {
  std::vector<double> times, errors;
  double product;
};
Arrival arrival(const Population& data, double size, const Setting& setting,
                std::uint64_t replica) {
  const std::vector<double>& law = data.chain.stationary;
  const Weights start = drawn_weights(law.size(), kWidth, size, setting.seed, replica);
  std::vector<Signal> signals;
  for (const double gap : kGaps) {
    signals.push_back([&law, gap](double, const Weights& weights) {
      return uniform_prediction(law, weights)[0] - (law[0] - gap);
    });
  }
  const double across = squared(norm(flat(start)));
  const double rate = theory::attention_rate(law, data.chain.transition);
  const double decay = -theory::two_group_decay(law[0], law.size()).along;
  const std::vector<Passage> found = passages(*data.loss, start, signals, 2000.0);
  Arrival result;
  result.product = squared(theory::condensate(law, start.embedding, start.unembedding).amplitude);
  for (std::size_t k = 0; k < found.size(); ++k) {
    const double moved = across * std::exp(2.0 * rate * (found[k].time - found[0].time));
    result.times.push_back(found[k].time);
    result.errors.push_back(found[k].time * (across + kFlowError) + moved / (kGaps[k] * decay));
  }
  return result;
}

/// The integral (111) and the logarithms of (113), for one start at sizes ε and ε/10.
void compare_arrival(const Groups& groups, std::uint64_t replica, const Setting& setting,
                     Evidence& evidence) {
  constexpr double size = 1e-4;
  const auto [top, tokens] = groups;
  const Population data = population(groups.law());
  const Arrival coarse = arrival(data, size, setting, replica),
                fine = arrival(data, size / 10.0, setting, replica);
  for (std::size_t k = 0; k < std::size(kGaps); ++k) {
    evidence.statement.push_back(
        equal(fmt::format("T(π_1 − p_1 = {}), ε = 1e-4, {}", kGaps[k], groups.text()),
              theory::condensation_time(top, tokens, coarse.product, kGaps[k]), coarse.times[k],
              coarse.errors[k]));
  }
  // Both of Eq (75) and (114): their n drops out.
  evidence.statement.push_back(
      equal(fmt::format("T(π_1 − p_1 = 0.1) per decade of 1/ε, {}: log(10)/μ", groups.text()),
            theory::arrival_time(top, tokens, size / 10.0, kGaps[0]) -
                theory::arrival_time(top, tokens, size, kGaps[0]),
            fine.times[0] - coarse.times[0], coarse.errors[0] + fine.errors[0]));
  // Eq (113) in δ, up to how far the exact integral still is from it.
  const double rate = theory::arrival_time(top, tokens, size, kGaps[2]) -
                      theory::arrival_time(top, tokens, size, kGaps[1]);
  const double exact = theory::condensation_time(top, tokens, coarse.product, kGaps[2]) -
                       theory::condensation_time(top, tokens, coarse.product, kGaps[1]);
  evidence.statement.push_back(equal(
      fmt::format("T per decade of 1/δ, {}: log(10)/2κ₁²‖π‖²π_1(1−π_1)d/(d−1)", groups.text()),
      rate, coarse.times[2] - coarse.times[1],
      2.0 * std::abs(exact - rate) + coarse.errors[1] + coarse.errors[2]));
}

/// The constant that Eq (112) bounds, from the whole time T = I/A, A = 2‖π‖√(d/(d−1)).
void compare_constant(const Groups& groups, const Setting& setting, Evidence& evidence) {
  const auto [top, tokens] = groups;
  const std::vector<double> law = groups.law();
  const double d = static_cast<double>(tokens), gap = kGaps[2];
  const double speed = 2.0 * norm(law) * std::sqrt(d / (d - 1.0));
  const Arrival found = arrival(population(law), 1e-5, setting, 0);
  const double constant = theory::condensation_constant(top, tokens);
  const double neglected = theory::condensation_integral(top, tokens, found.product, gap) -
                           theory::condensation_logarithms(top, tokens, found.product, gap) -
                           constant;
  evidence.statement.push_back(equal(
      fmt::format("rest of Eq (112), ε = 1e-5, δ = 1e-4, {}", groups.text()), constant,
      speed * found.times[2] - theory::condensation_logarithms(top, tokens, found.product, gap),
      2.0 * std::abs(neglected) + speed * found.errors[2]));
}

Evidence time_to_critical_point(const Setting& setting) {
  const std::uint64_t starts = setting.effort == Effort::quick ? 1 : 8;
  Evidence evidence;
  evidence.parameters = fmt::format(
      "π_1 = 3/4, d = 4 and 3/5, 3; λ = 0.8, width 3, ε = 1e-4 and 1e-5, starts: {}", starts);
  for (const Groups& groups : kGroups) {
    for (std::uint64_t replica = 0; replica < starts; ++replica) {
      compare_arrival(groups, replica, setting, evidence);
    }
    compare_constant(groups, setting, evidence);
  }
  return evidence;
}

// ---- Eq (14): the time that attention waits ----------------------------------------------------

/// When the flow has come within 0.1 of π_1, and when max|Φ| has grown to 0.01.
struct Wait {
  double arrived, scored, displacement;
};
Wait wait(const Population& data, double size, const Setting& setting) {
  const std::vector<double>& law = data.chain.stationary;
  const Weights start = drawn_weights(law.size(), kWidth, size, setting.seed, 0);
  const std::vector<Passage> found =
      passages(*data.loss, start,
               {[&](double, const Weights& weights) {
                  return uniform_prediction(law, weights)[0] - (law[0] - 0.1);
                },
                [](double, const Weights& weights) { return largest_score(weights) - 0.01; },
                [](double, const Weights& weights) { return largest_score(weights) - 0.05; }},
               1e4);
  return {found[0].time, found[1].time, norm(flat(start))};
}

/// Per decade of 1/ε attention takes log(10)/c longer after the arrival. Directions in which
/// nothing moves keep their displacement through the wait; one of them is that of κ₁, and c ∝ κ₁⁴.
/// The others approach the point at the slowest rate r of J_out, so that a wait T still misses
/// e^{−rT}/r of the time.
Evidence waiting_time(const Setting& setting) {
  constexpr double size = 1e-5;
  Evidence evidence;
  evidence.parameters =
      "λ = 0.8, width 3, ε = 1e-5 and 1e-6; π_1 = 3/4, d = 4 and 3/5, 3, π = (.75, .19, .05, .01)";
  for (const std::vector<double>& law : {kGroups[0].law(), kGroups[1].law(), kExperimentLaw}) {
    const Population data = population(law);
    const double rate = theory::attention_rate(law, data.chain.transition);
    const Wait coarse = wait(data, size, setting), fine = wait(data, size / 10.0, setting);
    const double slowest = -theory::outer_decay(law).back();
    const double displaced =
        4.0 * coarse.displacement / theory::second_critical_point(law).amplitude;
    const double still_moving = std::exp(-slowest * (coarse.scored - coarse.arrived)) / slowest;
    evidence.statement.push_back(equal(
        fmt::format("wait for max|Φ| = 0.01 per decade of 1/ε, π_1, π_2 = {}, {:.2f}, d = {}: "
                    "log(10)/c",
                    law[0], law[1], law.size()),
        theory::attention_time(rate, size / 10.0, size),
        (fine.scored - fine.arrived) - (coarse.scored - coarse.arrived),
        displaced * coarse.scored + still_moving));
  }
  return evidence;
}

}  // namespace

std::vector<Claim> fd_times_claims() {
  return {
      {"fd.eq-75", "FD, Eq (75), (76)",
       "At T_p = (1 − 1/n) log(1/ε)/μ the condensing weights are of size ε^{1/n}, attention still "
       "of "
       "size ε.",
       plateau_scale},
      {"fd.proposition-b.6", "FD, Proposition B.6",
       "The second critical point is reached up to δ after log(1/ε)/μ + log(1/δ)/r + O(1): Eq "
       "(111), "
       "(112), (113), (114).",
       time_to_critical_point},
      {"fd.eq-14", "FD, Eq (14)",
       "At the second critical point attention waits (1/c) log 1/ε before it grows.", waiting_time},
  };
}

}  // namespace dewpoint::claims
