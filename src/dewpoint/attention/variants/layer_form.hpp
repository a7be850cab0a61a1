// Which layer: four names that say how it differs from that of layer.hpp, as they stand on the
// command line and in study files.
//
//   name          what it says                                            of the plain layer
//   mask          which keys a query sees (key_pattern.hpp)               none
//   attention     how scores become weights (attention_kind.hpp)          softmax
//   projections   none: Q = K = V = I; orthogonal:H: random orthogonal    none
//                 matrices, H heads (projections.hpp)
//   rope          base of the rotations of positions; 0: there are none   0
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "dewpoint/attention/mask.hpp"
#include "dewpoint/attention/variants/variant_layer.hpp"

namespace dewpoint::attention {

struct LayerForm {
  KeyPattern mask;
  AttentionKind attention;
  std::size_t heads = 0;     // H of random orthogonal matrices; 0: there are none
  double rotary_base = 0.0;  // 0: there are no rotations

  /// The mask of a form that differs from the plain layer in nothing else: layer.hpp,
  /// rowwise_layer.hpp and deep_layers.hpp serve it, faster and more exactly than variant_layer.
  [[nodiscard]] std::optional<Mask> plain_mask() const;
  /// Whether matrices are drawn, or features: the layer is random even where its tokens are not.
  [[nodiscard]] bool is_random() const;

  bool operator==(const LayerForm&) const = default;
};

/// The form of four names. Throws Error{bad_value} naming the one that is wrong and what is
/// allowed.
[[nodiscard]] LayerForm parse_layer_form(const std::string& mask, const std::string& attention,
                                         const std::string& projections, double rotary_base);
/// "none", "orthogonal:4".
[[nodiscard]] std::string projections_name(const LayerForm& form);
/// All that is not as in the plain layer: "mask window:8, attention top:4, rope 10000"; "plain
/// softmax" for the plain one.
[[nodiscard]] std::string name_of(const LayerForm& form);

/// Throws Error{bad_value}, one line, for a form that n tokens in dimension d cannot have: heads
/// that do not divide d, rotations of an odd number of coordinates, and what
/// check(AttentionKind, ..) refuses.
void check(const LayerForm& form, std::size_t n, std::size_t d);

/// The layer of this form; `layer` is its number in a stack, each with matrices of its own.
///
///   Domain      what check() lets pass.
///   Properties  (1) a function of its arguments alone.
[[nodiscard]] LayerVariant layer_variant(const LayerForm& form, std::size_t d,
                                         double inverse_temperature, double residual,
                                         std::uint64_t seed, std::uint64_t replica,
                                         std::size_t layer = 0);

}  // namespace dewpoint::attention
