// The nonlinearity between the two products of a feed-forward layer.
//
//   name in configurations             f(x)
//   silu, swish                        x/(1 + e^{−x})
//   gelu                               x Φ(x), Φ the normal distribution function
//   gelu_new, gelu_pytorch_tanh        x (1 + tanh(√(2/π) (x + 0.044715 x³)))/2
//   relu                               max(0, x)
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

namespace dewpoint::models {

enum class Activation { silu, gelu, gelu_tanh, relu };

/// Throws Error{bad_value} naming what is known.
[[nodiscard]] Activation parse_activation(const std::string& name);

/// f(x).
///
///   Domain      any x but NaN; f(−∞) is 0, or −0.
///   Accuracy    absolute error at most kActivationError · (|x| + 1).
///   Properties  (1) f(x) − f(−x) = x for all but relu, up to the accuracy.
[[nodiscard]] double activated(Activation activation, double x);

inline constexpr double kActivationError = 1e-15;

/// x ← f(x) for every element, computed in double and rounded once.
void activate(Activation activation, std::span<float> values);

}  // namespace dewpoint::models
