// One cloud of tokens through the layer at many temperatures β = γ log n, for the price of its
// matrix products.
//
// Values of γ on the canonical ladder γ_k = k/4 share their exponentials: a strip of weights is
// computed afresh at the anchors γ = 0, 4, 8, ... and multiplied by exp(−log n · Δ / 4) from one
// rung to the next. The ladder is fixed, so the value of a cell never depends on
// which other cells were asked for; a γ between rungs gets its own exponential. After 15
// multiplications a weight is off by kLadderUlp units in the last place of float32 at most.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "dewpoint/attention/jacobian_norm.hpp"
#include "dewpoint/attention/layer.hpp"

namespace dewpoint::attention {

/// Rungs per unit of γ, and rungs from one anchor to the next.
inline constexpr int kRungsPerGamma = 4;
inline constexpr int kRungsPerAnchor = 16;

/// Bound of the relative error of a weight on the ladder beyond that of a single exponential, in
/// float32 units in the last place: 15 products (½ each) of a factor that is off by kExpUlp.
inline constexpr double kLadderUlp = 15 * (0.5 + kernels::kExpUlp);

/// Relative error of the contraction of a regular simplex, n ≤ 512, where rounding errors of
/// weights all point the same way: that of the layer and, as λ falls like a weight squared, twice
/// the ladder's.
inline constexpr double kSweepError = kLayerError + 2 * kLadderUlp * 0x1p-23;

/// The rung k of γ = k / kRungsPerGamma, or nothing when γ lies between rungs.
[[nodiscard]] std::optional<int> rung(double gamma);

/// What the layer made of the cloud at one γ.
struct SweepCell {
  double gamma;
  CentredCloud directions;           // y'_i
  std::vector<RowMoments> moments;   // of row i
  std::optional<JacobianNorm> norm;  // where it was asked for
};

struct SweepOptions {
  double residual = 0.0;            // α
  std::optional<NormOptions> norm;  // the Jacobian norm too: automatic, exact or mixed
};

/// The layer with β = γ log n for every γ (any order; results in the order given), one thread.
///
///   gaps        the gaps of `tokens`, possibly known better than from their directions
///               (tokens/equicorrelated.hpp).
///   Properties  (1) a cell's bytes depend on its own γ only, not on the other gammas.
///               (2) agrees with reference_layer at every γ.
///               (3) the Jacobian norm agrees with ReferenceJacobian at every γ.
[[nodiscard]] std::vector<SweepCell> sweep(const TokenCloud& tokens, const GapSource& gaps,
                                           std::span<const double> gammas,
                                           const SweepOptions& options = {},
                                           const RunContext& context = {});

}  // namespace dewpoint::attention
