// The forward pass of a trained decoder: Llama and its family (Mistral, Qwen 2 and 3, SmolLM),
// GPT-2, llama2.c's own files, and the small models that are trained here.
//
// Prefill only. All tokens go through one layer, then through the next; the weights of a layer are
// read from the file when their turn comes, so memory is that of three hidden vectors per
// token, of one layer's weights and of one head's vectors and strip of scores. Activations are
// float32, sums of norms double.
//
//     x ← x + W_o attention(norm(x)),   x ← x + mlp(norm(x)),   logits = W_head norm(x)
//
// Models that lack one of these parts run without it (checkpoint::DecoderParts).
// The same pass in double, one token at a time and as plain as can be, is in reference_decoder.hpp.
// Which models are known is in architecture.hpp; where factors on the logits are applied, in
// layer_scheme.hpp.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "dewpoint/attention/head.hpp"
#include "dewpoint/checkpoint/model_config.hpp"
#include "dewpoint/core/matrix.hpp"
#include "dewpoint/core/output_file.hpp"
#include "dewpoint/core/run_context.hpp"

namespace dewpoint::models {

/// Called once per head, before its attention is computed: queries and keys as they meet, values
/// too. Views are valid during the call.
using HeadVisitor =
    std::function<void(std::size_t layer, std::size_t head, const attention::Head& scores)>;

struct ForwardOptions {
  // Instead of the model's own, with the factor on the logits that Hugging Face's code would use:
  // usually config().attention.rope with another kind and factor, so that its base stays.
  std::optional<scaling::RopeScaling> rope;
  attention::LogitMultiplier multiplier;  // on top of whatever the model applies; empty: 1
  HeadVisitor visit;                      // empty: nobody looks
  bool attend = true;                     // false: stop after the visit of the last layer;
                                          // there are no hidden states then
};

class Decoder {
 public:
  /// An HF folder (config.json, safetensors), or a llama2.c .bin. Throws Error{unreadable_file},
  /// Error{malformed_file}: a tensor that is missing or has another shape is named with both.
  /// Error{bad_value} for a model type that is not supported, with those that are.
  [[nodiscard]] static Decoder open(const std::filesystem::path& path);
  ~Decoder();
  Decoder(Decoder&&) noexcept;
  Decoder& operator=(Decoder&&) noexcept;

  [[nodiscard]] const checkpoint::ModelConfig& config() const;

  /// Hidden states after the last norm, where there is one; one row per token.
  ///
  ///   Domain      ids within the vocabulary, at least one; models with learned positions take at
  ///               most as many tokens as they have. Error{bad_value} otherwise.
  ///               Error{malformed_file} where weights make a state that is not finite.
  ///   Accuracy    float32: a few units in its last place per layer, relative to the largest
  ///               coordinate.
  ///   Properties  (1) equal bytes for any number of threads.
  ///               (2) row i does not depend on tokens after i (for a fixed rotation): not a bit of
  ///                   it when they are exchanged, only rounding when they are cut off. Not so in
  ///                   a model without a causal mask.
  [[nodiscard]] Matrix<float> hidden_states(std::span<const int> tokens,
                                            const ForwardOptions& options = {},
                                            const RunContext& context = {}) const;

  /// Logits over the vocabulary from rows of hidden_states.
  [[nodiscard]] Matrix<float> logits(MatrixView<const float> hidden,
                                     const RunContext& context = {}) const;

  /// −log p(token i+1 | tokens 0..i) for i = 0..n−2, in nats; never n x vocabulary at once.
  /// Error{bad_value} for a model without a causal mask, whose state i has seen token i+1.
  [[nodiscard]] std::vector<double> next_token_losses(std::span<const int> tokens,
                                                      MatrixView<const float> hidden,
                                                      const RunContext& context = {}) const;

  /// The most probable continuation, token by token, `count` of them or up to `stop`; neither the
  /// prompt nor `stop` is among them, and of equals the smaller id is taken. Each token costs a
  /// forward pass over all before it: this is for checking a model, not for serving it.
  [[nodiscard]] std::vector<int> generate(std::vector<int> prompt, std::size_t count,
                                          std::optional<int> stop = {},
                                          const RunContext& context = {}) const;

  /// The same model as an HF folder: config.json and model.safetensors (float32). A llama2.c file
  /// becomes a Llama. Throws Error{unwritable_file}.
  void save(const OutputFile& folder) const;

 private:
  struct Parts;
  explicit Decoder(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace dewpoint::models
