// What can be asked of the growth of a ripple in the density of particles: one β, one degree. The
// experiment (backward_heat.hpp) takes many of each at once.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>

#include "dewpoint/experiments/backward_heat.hpp"
#include "dewpoint/question/field.hpp"

namespace dewpoint::experiments {

struct HarmonicsQuestion {
  double beta = 50.0;
  std::size_t degree = 2;
  double residual = 0.0;
  bool sphere = false;
  std::optional<std::size_t> particles;
  std::size_t steps = 1;
};

template <class Visitor>
void describe(Visitor& visit, HarmonicsQuestion& q) {
  using namespace question;  // NOLINT(google-build-using-namespace): the words of a description
  visit("beta", q.beta, above(0.0), "inverse temperature, resolved by the particles",
        grid("20,50,200"));
  visit("degree", q.degree, in(1.0, 64.0), "degree of the harmonic", grid("1,2,5"));
  visit("residual", q.residual, question::Range{.least = 0.0, .most = 1.0, .below = true},
        "share r of the residual in q' = N(r q + (1 - r) ATT(q))");
  visit("sphere", q.sphere, "particles on S^2 instead of the circle");
  visit("particles", q.particles, in(16.0, 1e5), "particles",
        otherwise("3000; 6000 on the sphere"));
  visit("steps", q.steps, in(1.0, 1000.0), "attention steps", fixed);
}

/// Complete. Throws Error{bad_value} for too few particles.
///   Properties  (1) resolved(resolved(q)) = resolved(q).
[[nodiscard]] HarmonicsQuestion resolved(HarmonicsQuestion question);

/// A complete question, with one of each.
[[nodiscard]] HarmonicGrowth harmonics_of(const HarmonicsQuestion& complete);

}  // namespace dewpoint::experiments
