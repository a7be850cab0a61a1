// The limit law of attention weights at criticality, drawn from its definition.
//
// For keys on the sphere, or any scores with P(gap ≤ t) ~ c t^a, at β = θβ*, the ordered weights
// tend to
//
//     w_k = e^{−θΓ_k^{1/a}}/Σ_l e^{−θΓ_l^{1/a}},      Γ_k = E_1 + ... + E_k with exponential E_i.
//
// No key, no n and no sphere is left in it: it is what measurements at finite n are compared with.
// The first K terms are drawn; given Γ_K the others are a Poisson process, and their sum has the
// mean λΓ(a+1)Q(a, θΓ_K^{1/a}), λ = θ^{−a}, and the same with 2θ for its variance. It is drawn from
// the Gaussian law with these.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "dewpoint/core/matrix.hpp"
#include "dewpoint/core/run_context.hpp"

namespace dewpoint::experiments {

struct CriticalLimit {
  double theta = 1.0;        // θ = β/β*
  double exponent = 1.0;     // a = (d − 1)/2
  std::size_t draws = 4000;  // errors of what is computed from them fall as the square root
  std::size_t top = 512;     // K; more leaves less to the Gaussian law of the rest
  std::size_t ranks = 8;     // ordered weights returned, at most K
  std::uint64_t seed = 1;
};

/// One row of ordered weights per draw.
///
///   Domain      θ > 0, a ≥ 1/2, 1 ≤ ranks ≤ K.
///   Properties  (1) means of w_1 and, with many ranks, of Σw² are those of the quadratures in
///                   theory/critical_sphere.hpp.
///               (2) the same bytes for any number of threads.
///   Reference   [Scaling limits of long-context transformers, arXiv:2605.08505] for the regime.
[[nodiscard]] Matrix<double> critical_limit_weights(const CriticalLimit& question,
                                                    const RunContext& context = {});

}  // namespace dewpoint::experiments
