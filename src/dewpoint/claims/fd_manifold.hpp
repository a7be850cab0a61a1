// Weights on the rank-one manifold of FD, and what part of a change of weights stays on it.
//
//     W0 = γαᵀ,   W1 = αβᵀ,   WQ = λ_Q αα̃ᵀ,   WK = λ_K αα̃ᵀ        with fixed unit vectors α, α̃
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "dewpoint/claims/fd_support.hpp"
#include "dewpoint/theory/markov_chain.hpp"
#include "dewpoint/theory/rank_one_flow.hpp"

namespace dewpoint::claims {

inline constexpr std::size_t kManifoldWidth = 3;
inline constexpr std::array<double, kManifoldWidth> kAlpha{2.0 / 3.0, -1.0 / 3.0, 2.0 / 3.0};
inline constexpr std::array<double, kManifoldWidth> kAlphaTilde{1.0 / 3.0, 2.0 / 3.0, 2.0 / 3.0};

/// λI + (1 − λ)1πᵀ with its population loss; π decreasing.
[[nodiscard]] Population persistent_population(std::vector<double> law, double persistence);
[[nodiscard]] Population persistent_population(const theory::TwoGroups& groups);

[[nodiscard]] Weights manifold_weights(const theory::RankOneState& state);

/// The coordinates (γ, β, λ_Q, λ_K) of the orthogonal projection on the manifold, a linear space,
/// and the length of the rest.
struct ManifoldParts {
  theory::RankOneState along;
  double across = 0.0;
};
[[nodiscard]] ManifoldParts manifold_parts(const Weights& change);

/// −∇L at a point of the manifold.
[[nodiscard]] ManifoldParts measured_velocity(const training::TokenLoss& loss,
                                              const theory::RankOneState& state);

/// −∇²L in the coordinates (γ, β) with everything else fixed: 2d × 2d.
[[nodiscard]] Matrix<double> manifold_jacobian(const training::TokenLoss& loss,
                                               const theory::RankOneState& state);

/// The second critical point with λ_Q = λ_K = `attention`: the entry state of [FD, Eq (19)], with ū
/// for u where they differ.
[[nodiscard]] theory::RankOneState entry_state(std::span<const double> law, double attention);

}  // namespace dewpoint::claims
