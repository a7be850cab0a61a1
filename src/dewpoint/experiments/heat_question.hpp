// What can be asked of the drift of a query among von Mises-Fisher keys: one β. The sampler
// (backward_heat.hpp) takes many β on the same keys.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <numbers>
#include <optional>
#include <span>
#include <vector>

#include "dewpoint/experiments/backward_heat.hpp"
#include "dewpoint/question/field.hpp"

namespace dewpoint::experiments {

inline constexpr double kMostHeatBeta = 1e11;

struct HeatQuestion {
  std::size_t d = 5;
  double kappa = 5.0;
  double angle = 1.0;
  std::size_t n = 200'000;
  std::optional<double> heat;
  std::optional<double> beta;
  std::size_t draws = 60;

  /// |∇log f| at the query.
  [[nodiscard]] double gradient() const;
};

template <class Visitor>
void describe(Visitor& visit, HeatQuestion& q) {
  using namespace question;  // NOLINT(google-build-using-namespace): the words of a description
  visit("d", q.d, in(2.0, 512.0), "dimension of query and keys");
  visit("kappa", q.kappa, above(0.0, scores::VonMisesFisherKeys::kMostConcentration),
        "concentration of the keys");
  visit("angle", q.angle, between(0.0, std::numbers::pi),
        "angle between query and centre of the keys");
  visit("n", q.n, in(2.0, 1e9), "keys");
  visit("heat", q.heat, above(0.0), "multiple of beta_heat, above which noise drowns the drift",
        grid("0.1,0.3,1,3"), otherwise("1"));
  visit("beta", q.beta, above(0.0, kMostHeatBeta), "inverse temperature itself", instead_of("heat"),
        listed);
  visit("draws", q.draws, in(2.0, 1e6), "sets of keys to average over", fixed);
}

/// The drift of questions that differ in β alone, which they have.
///   Properties  (1) heat_drift() of backward_heat.hpp at this seed.
[[nodiscard]] std::vector<HeatDrift> heat_drift(std::span<const HeatQuestion> tile,
                                                std::uint64_t seed, const RunContext& context = {});

}  // namespace dewpoint::experiments
