// The layers of phase depth, one by one: what differs between the plain layer and other forms.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "dewpoint/attention/deep_layers.hpp"
#include "dewpoint/attention/jacobian_products.hpp"
#include "dewpoint/core/run_context.hpp"
#include "dewpoint/experiments/phase_depth.hpp"

namespace dewpoint::experiments {

/// A stack of layers that grows.
class DepthStack {
 public:
  DepthStack() = default;
  DepthStack(const DepthStack&) = delete;
  DepthStack& operator=(const DepthStack&) = delete;
  virtual ~DepthStack() = default;

  /// One more layer: the tokens after it.
  [[nodiscard]] virtual attention::DeepTokens add(const attention::DeepTokens& tokens,
                                                  double inverse_temperature) = 0;
  /// log of a gap, after the last layer, that rounding alone may have made; −∞: none that small.
  [[nodiscard]] virtual double log_noise() const = 0;
  /// η of the last layer.
  [[nodiscard]] virtual double norm(const attention::NormOptions& options) const = 0;
  /// The product of the Jacobians of the first layers; must not outlive the stack.
  [[nodiscard]] virtual std::unique_ptr<attention::JacobianOperator> first_layers(
      std::size_t depth) = 0;
};

/// An empty stack of the layers of `parameters`, which are resolved. A plain form has the path of
/// deep_layer, any other that of deep_variant_layer, where layer l has matrices of its own
/// (attention::layer_variant). Parameters, cloud and context must outlive it.
[[nodiscard]] std::unique_ptr<DepthStack> depth_stack(const PhaseDepth& parameters,
                                                      const TokenCloud& cloud,
                                                      std::uint64_t replica,
                                                      const RunContext& context);
/// The second of these for any form.
///
///   Properties  (1) a plain form measures what the first path measures.
[[nodiscard]] std::unique_ptr<DepthStack> variant_stack(const PhaseDepth& parameters,
                                                        std::uint64_t replica,
                                                        const RunContext& context);

/// What one cloud shows on its way through a stack, which is empty.
[[nodiscard]] DepthSample sample_stack(const PhaseDepth& parameters, const TokenCloud& cloud,
                                       double gamma, std::uint64_t replica, DepthStack& stack,
                                       const RunContext& context);

}  // namespace dewpoint::experiments
