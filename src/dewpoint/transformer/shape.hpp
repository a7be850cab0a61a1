// Which small transformer: its sizes and the parts it has.
//
// With Z⁰ the embeddings of a context and S_h the columns of head h, layer l = 1..L is
//
//     X = Z^{l−1}                              with pre-norm  X_i = Z_i/√(mean Z_i² + ε)
//     Q = X WQ,  K = X WK,  V = X              with a value matrix  V = X WV
//     A_h = softmax(Q[:,S_h] K[:,S_h]ᵀ)        with a causal mask  over j ≤ i only
//     O[:,S_h] = A_h V[:,S_h]
//     Z^l = O                                  with residual  Z^{l−1} + c O
//
// With a law of the logits, the scores of a query that sees n keys are multiplied with m(n) before
// the softmax (scaling/schedule.hpp); a law that is set once for a deployment has the m of the
// whole context for all queries.
//
// and the logits are Z^L W1 (with pre-norm: of Z^L normed). This is the model of [FD, Definition
// 3.2 and D.3] with what people add to it. There are no positions, no biases, and scores are not
// divided by anything.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

namespace dewpoint::transformer {

struct Shape {
  std::size_t vocabulary = 0;  // V
  std::size_t width = 256;     // m
  std::size_t layers = 1;      // L
  std::size_t heads = 1;       // H, divides m
  bool residual = false;
  double branch = 1.0;  // c, of the residual branch
  bool value_matrix = false;
  bool causal = false;
  bool pre_norm = false;
  /// The law of the logits as scaling::named_schedule() reads it, with its n0: "ssmax:n0=128".
  /// Empty: they stay as they are.
  std::string scaling = {};

  bool operator==(const Shape&) const = default;

  [[nodiscard]] std::size_t head_width() const { return width / heads; }
  /// Positions with equal tokens have equal states, so a context is its histogram.
  [[nodiscard]] bool permutation_equivariant() const { return !causal; }
};

/// ε of the norm.
inline constexpr double kNormEpsilon = 1e-6;

/// The largest sizes that check() lets pass: far beyond what is trained here, and small enough that
/// no count of weights overflows.
inline constexpr std::size_t kLargestVocabulary = 1U << 20;
inline constexpr std::size_t kLargestWidth = 1U << 16;
inline constexpr std::size_t kMostLayers = 1U << 10;

/// "2L4H": layers and heads, and what else the model has: "1L1H residual value". All of it: "8L2H
/// residual branch 0.125 value causal norm scaling ssmax:n0=128".
///
///   Properties  (1) shapes that differ in more than vocabulary and width have different names.
[[nodiscard]] std::string name_of(const Shape& shape);

/// Throws Error{bad_value} naming the option ("heads", "width", "layers", "vocabulary", "branch"),
/// its value and what is allowed: a vocabulary of at least 2, heads that divide the width, a
/// positive branch, which is 1 without residual, and nothing above the constants here; or "scaling"
/// for a law that there is not, that lacks its n0, or that changes with n where there is no mask:
/// all queries see the same keys then.
void check(const Shape& shape);

/// A law as Shape::scaling keeps it, for a model that is trained at `context` tokens: with its n0
/// written out, and empty for "constant". Throws Error{bad_value} naming "scaling".
[[nodiscard]] std::string scaling_text(const std::string& law, std::size_t context);

}  // namespace dewpoint::transformer
