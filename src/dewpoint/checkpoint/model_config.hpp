// What a model's configuration says, whoever wrote it: Hugging Face's config.json (the key names of
// transformers 4 and 5, and of the models that are trained here), the metadata of a GGUF file, the
// header of a llama2.c .bin, or a preset.
//
// Only what a forward pass or the scale of the logits needs is read; other keys are ignored, as
// configurations have many. What is read is checked: a value of another type, a number that is not
// finite, or one that no model could have is refused, and so is a kind of rotation that is not
// known. Where a key is absent, the default of the model's own class in transformers counts
// (model_family.hpp). How logits are scaled is in scaling/attention_config.hpp, which engines
// translate.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dewpoint/checkpoint/foreign_file.hpp"
#include "dewpoint/scaling/attention_config.hpp"

namespace dewpoint::checkpoint {

enum class Source { hugging_face, gguf, llama2c, preset };

/// Parts that every published decoder has, and that a small model trained here may lack
/// (model_type "dewpoint", transformer/shape.hpp).
struct DecoderParts {
  bool residual = true;       // false: what a layer computes takes the place of what it was given
  double branch = 1.0;        // c, of x + c f(x)
  bool norms = true;          // before attention, before the feed-forward and before the logits
  bool norm_weights = true;   // false: norms divide by a size and learn nothing
  bool value_matrix = true;   // false: the values of a head are its columns of the input
  bool output_matrix = true;  // false: outputs of the heads stay side by side
  bool feed_forward = true;
  bool causal = true;  // false: every token sees all of its text

  bool operator==(const DecoderParts&) const = default;
};

struct ModelConfig {
  Source source = Source::hugging_face;
  std::string file;        // as the user named it
  std::string model_type;  // "llama", "mistral", "qwen2", "qwen3", "gpt2", ...; GGUF: architecture
  bool known = true;       // false: nobody has read how this architecture scales its logits

  std::size_t layers = 0;
  std::size_t hidden_size = 0;
  std::size_t intermediate_size = 0;   // 0: not given
  std::size_t vocabulary = 0;          // 0: not given
  std::optional<int> beginning_token;  // bos_token_id
  std::optional<int> end_token;        // the first, where there are several
  double norm_epsilon = 1e-5;
  std::string activation = "silu";  // silu, gelu, gelu_new, gelu_pytorch_tanh, relu, ...
  bool tied_embeddings = false;     // GGUF does not say: false
  bool attention_bias = false;      // on q, k, v (Qwen2 has it without saying so)
  bool mlp_bias = false;
  bool query_key_norm = false;  // Qwen3's q_norm and k_norm, per head
  DecoderParts parts;           // all, where the model is not one of ours

  // Rotation turns the coordinates (2k, 2k+1) of a head, as in Meta's own files and llama2.c, and
  // not (k, k + d/2), as Hugging Face's order of rows asks for.
  bool rotates_pairs = false;

  scaling::AttentionConfig attention;  // heads, head dimension, rotation, base scale, schedules

  bool operator==(const ModelConfig&) const = default;
};

/// A config.json of transformers 4 or 5, by its text; of a multimodal model, its text part. `name`
/// is what an error message calls it. Throws Error{malformed_file} with one line: file, key, what
/// was found, what is allowed.
///
///   Domain      any bytes.
///   Properties  (1) whatever the bytes, the outcome is a configuration or an Error of one line.
///               (2) one model gives one configuration, in the spelling of either version.
///               (3) layers, hidden size, heads and head dimension are positive; heads are a
///                   multiple of key heads; the rotary dimension is even and at most the head
///                   dimension, 0 without rotation.
///               (4) layer_types and rotates have an entry per layer, or none at all.
[[nodiscard]] ModelConfig parse_hugging_face_config(std::string_view json, std::string_view name);

/// The metadata of a GGUF file; of the bytes only its front is looked at. Properties (1), (3), (4).
[[nodiscard]] ModelConfig parse_gguf_config(const ByteSource& bytes, std::string_view name);

/// A config.json, a folder with one, a .gguf file, or a .bin of llama2.c, told apart by content.
/// Throws in addition Error{unreadable_file}.
[[nodiscard]] ModelConfig read_model_config(const std::filesystem::path& path);

/// Configurations of well-known models, for questions without a file: "llama-3.1-8b",
/// "deepseek-v3", "llama-4-scout", ... Only published numbers; each says where it is from.
struct Preset {
  std::string name;
  std::string description;  // what it is and where its numbers are from
};
[[nodiscard]] const std::vector<Preset>& presets();
/// Throws Error{bad_value} with the nearest name.
[[nodiscard]] ModelConfig preset_config(std::string_view name);

}  // namespace dewpoint::checkpoint
