// The layer query by query: under any mask, for all queries or some, and with the Jacobian norm.
//
// Without a mask the weights are symmetric and layer.hpp computes each pair once. Here the rows of
// a few hundred queries are complete at a time, a strip of queries x n, which is what a mask and
// the Jacobian norm (jacobian_norm.hpp) need. Memory O(n d + strip · n).
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "dewpoint/attention/jacobian_norm.hpp"
#include "dewpoint/attention/layer.hpp"
#include "dewpoint/attention/mask.hpp"
#include "dewpoint/core/estimate.hpp"

namespace dewpoint::attention {

struct RowwiseResult {
  LayerResult layer;            // of the queries asked for
  std::vector<NormRow> rows;    // what each of them adds to the Jacobian norm; empty: not asked for
  std::vector<double> columns;  // what each token gets, as JacobianNorm::from_others; or empty

  /// η from all queries, in order. Error and samples as JacobianNorm::Parts; a sampled diagonal has
  /// as many samples as queries.
  [[nodiscard]] Estimate norm(std::span<const double> norms, double residual) const;

  /// η as the mean over a random sample of the queries of `population` tokens, with the standard
  /// error of that sampling (and of the probes):
  ///
  ///     η = α² + mean_j [ Σ_{i≠j} ‖J_ji‖² + ‖J_jj − αI‖² + 2α tr(J_jj − αI) ]/d.
  [[nodiscard]] Estimate norm_of_sample(const TokenCloud& tokens, double residual) const;
};

/// The layer on some of the tokens (their keys are all that the mask shows), with the Jacobian norm
/// if options are given (automatic, exact or mixed).
///
///   Accuracy    float32 products, without the shift that keeps sums of equal weights from drifting
///               in layer(): the contraction of a regular simplex of n ≤ 512 tokens is exact to
///               kRowwiseError, relative. Where products cannot be trusted (trusts_products) the
///               gaps of all keys with a weight are taken one by one.
///   Properties  (1) equal bytes for any number of threads.
///               (2) without a mask, agrees with layer() and reference_layer; with one, with
///                   ReferenceJacobian.
///               (3) η agrees with ReferenceJacobian to kFastNormError, and with a sampled diagonal
///                   within its stated error.
[[nodiscard]] RowwiseResult rowwise_layer(const TokenCloud& tokens, const Layer& parameters,
                                          const Mask& mask, std::vector<std::size_t> queries,
                                          const std::optional<NormOptions>& norm,
                                          const RunContext& context = {});

/// That of the layer, and the rounding of Σ_j w o_j with all weights equal: n partial sums of √n
/// terms' size, whose roundings add up like a random walk to √n ε of the result; λ is its square.
/// Twice that.
inline constexpr double kRowwiseError = kLayerError + 2.0 * 2.0 * 22.7 * 0x1p-23;

/// Relative float32 rounding of η for β ≤ 50 and d ≤ 64. A weight is off by kExpUlp and the
/// rounding of βΔ, an inner product of d terms by √d or so; both enter squared, and the sums over
/// keys and queries average.
inline constexpr double kFastNormError = (2.0 * (kernels::kExpUlp + 50.0) + 2.0 * 8.0) * 0x1p-23;

/// The Jacobian norm of the layer by any method, at the tokens' own norms.
[[nodiscard]] Estimate jacobian_norm(const TokenCloud& tokens, const Layer& parameters,
                                     const Mask& mask, const NormOptions& options,
                                     const RunContext& context = {});

}  // namespace dewpoint::attention
