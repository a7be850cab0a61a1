// Rotary position embedding: the angle by which position p turns coordinate pair k, θ_k p, and how
// context extension bends the θ_k.
//
//   default   θ_k = base^{−2k/dim}, k = 0..dim/2−1, dim = head dimension times the rotary share
//   linear    θ_k/factor
//   dynamic   base' = base (factor L/L_max − (factor − 1))^{dim/(dim−2)}, L = max(length, L_max)
//   ntk       base' = base factor^{dim/(dim−2)}: the same, fixed at one factor
//   llama3    waves 2π/θ_k longer than n0/low_frequency_factor divided by the factor, those
//             shorter than n0/high_frequency_factor kept, a ramp between
//   yarn      a ramp in k between kept and divided, from the pair that turns beta_fast times
//             within n0 tokens to the one that turns beta_slow times
//   longrope  θ_k/short_factor[k], or /long_factor[k] beyond the original length
//
// L_max is the model's maximum length and n0 the original one, which falls back on L_max where a
// configuration does not give it. What a variant does to the size of the logits is the business of
// engine.hpp. Whether the pair is (k, k + dim/2) or (2k, 2k + 1) is the business of who rotates.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace dewpoint::scaling {

enum class RopeKind { none, standard, linear, dynamic, ntk, llama3, yarn, longrope };

/// As configurations give it; what a kind does not use is ignored.
struct RopeScaling {
  RopeKind kind = RopeKind::standard;
  double base = 10000.0;            // rope_theta
  double rotary_share = 1.0;        // partial_rotary_factor
  double factor = 1.0;              // s
  bool factor_given = false;        // false: from lengths, where there is none in the file
  std::size_t original_length = 0;  // original_max_position_embeddings; 0: not given
  bool original_length_given = false;
  std::optional<double> attention_factor;  // HF's key, as given
  std::optional<double> attn_factor;       // vLLM's multiplier on top
  bool apply_yarn_scaling = true;          // vLLM, SGLang: false leaves the logits alone
  std::optional<double> mscale;
  std::optional<double> mscale_all_dim;
  double beta_fast = 32.0;
  double beta_slow = 1.0;
  bool truncate = true;
  double low_frequency_factor = 1.0;  // llama3
  double high_frequency_factor = 4.0;
  std::vector<double> short_factor, long_factor;    // longrope
  std::optional<double> short_mscale, long_mscale;  // longrope: not read by all
  std::optional<double> llama4_beta;                // rope_parameters.llama_4_scaling_beta

  bool operator==(const RopeScaling&) const = default;
};

/// θ_k of one head at a total length (what dynamic and longrope depend on); empty for none.
///
///   Domain      dim = ⌊head_dimension · rotary_share⌋ even and at least 2 (4 for dynamic and ntk),
///               base > 1. Error{bad_value} for a factor below 1, for an original length that is
///               neither given nor to be had from max_positions, or for lists of the wrong length.
///   Accuracy    relative error at most kRopeError: the exponent 2k/dim log base and what is added
///               to it for dynamic and ntk stay below 80 for any base up to 1e30.
///   Properties  (1) a factor of 1 gives the default, for linear, dynamic, ntk, llama3 and yarn;
///                   so does dynamic up to L_max.
///               (2) no kind but longrope turns faster than the default, and linear, llama3 and
///                   yarn not slower than default/factor.
///               (3) the default, linear, dynamic and ntk fall geometrically with k; what llama3
///                   and yarn divide by grows with k from 1 to the factor.
///               (4) ntk leaves the fastest pair alone and divides the slowest by the factor.
///   Reference   modeling_rope_utils of Hugging Face transformers.
[[nodiscard]] std::vector<double> rope_frequencies(const RopeScaling& rope,
                                                   std::size_t head_dimension,
                                                   std::size_t max_positions, std::size_t length);

inline constexpr double kRopeError = 128.0 * std::numeric_limits<double>::epsilon();

/// The original length, or the model's maximum where it is not given. Throws Error{bad_value} where
/// neither is.
[[nodiscard]] std::size_t original_length(const RopeScaling& rope, std::size_t max_positions);

/// "default", "linear", "yarn", ...; the inverse knows the names of configurations, also the older
/// "su" (longrope) and "deepseek_yarn", and throws Error{bad_value}.
[[nodiscard]] const char* name_of(RopeKind kind);
[[nodiscard]] RopeKind parse_rope_kind(const std::string& name);

}  // namespace dewpoint::scaling
