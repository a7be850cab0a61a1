// Small random models of every family, written as Hugging Face folders; and how far rounding may
// move their logits.
//
// The weights are fixed numbers, not drawn from the suite's seed: logits of the same folders under
// Hugging Face's own code stand in decoder_test.cpp.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <ostream>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "dewpoint/checkpoint/safetensors_writer.hpp"
#include "dewpoint/checkpoint/tensor_archive.hpp"
#include "dewpoint/core/matrix.hpp"
#include "dewpoint/core/random.hpp"
#include "dewpoint/models/reference_decoder.hpp"
#include "store/scratch_folder.hpp"

namespace dewpoint::test {

struct TensorShape {
  std::string name;
  std::vector<std::size_t> shape;
};

struct TinyModel {
  std::string name;
  std::string config;  // config.json
  std::vector<TensorShape> tensors;
};

/// How GoogleTest names it.
inline void PrintTo(const TinyModel& model, std::ostream* out) { *out << model.name; }

inline constexpr std::size_t kHidden = 32, kInner = 48, kVocabulary = 40;

/// Which parts a model of Llama's family has; head_dimension · 4 query heads, 2 key heads.
struct LlamaParts {
  std::size_t layers = 3;
  std::size_t head_dimension = 8;
  bool tied = false;
  bool query_bias = false;
  bool other_bias = false;
  bool query_key_norm = false;
};

inline void add_linear(std::vector<TensorShape>& tensors, const std::string& name, std::size_t out,
                       std::size_t in, bool bias) {
  tensors.push_back({name + ".weight", {out, in}});
  if (bias) tensors.push_back({name + ".bias", {out}});
}

inline std::vector<TensorShape> llama_tensors(const LlamaParts& parts) {
  std::vector<TensorShape> tensors{{"model.embed_tokens.weight", {kVocabulary, kHidden}},
                                   {"model.norm.weight", {kHidden}}};
  if (!parts.tied) tensors.push_back({"lm_head.weight", {kVocabulary, kHidden}});
  for (std::size_t layer = 0; layer < parts.layers; ++layer) {
    const std::string name = fmt::format("model.layers.{}.", layer);
    const std::size_t d = parts.head_dimension;
    tensors.push_back({name + "input_layernorm.weight", {kHidden}});
    tensors.push_back({name + "post_attention_layernorm.weight", {kHidden}});
    add_linear(tensors, name + "self_attn.q_proj", 4 * d, kHidden, parts.query_bias);
    add_linear(tensors, name + "self_attn.k_proj", 2 * d, kHidden, parts.query_bias);
    add_linear(tensors, name + "self_attn.v_proj", 2 * d, kHidden, parts.query_bias);
    add_linear(tensors, name + "self_attn.o_proj", kHidden, 4 * d, parts.other_bias);
    add_linear(tensors, name + "mlp.gate_proj", kInner, kHidden, parts.other_bias);
    add_linear(tensors, name + "mlp.up_proj", kInner, kHidden, parts.other_bias);
    add_linear(tensors, name + "mlp.down_proj", kHidden, kInner, parts.other_bias);
    if (!parts.query_key_norm) continue;
    tensors.push_back({name + "self_attn.q_norm.weight", {d}});
    tensors.push_back({name + "self_attn.k_norm.weight", {d}});
  }
  return tensors;
}

inline std::vector<TensorShape> gpt2_tensors(const std::string& prefix) {
  std::vector<TensorShape> tensors{{prefix + "wte.weight", {kVocabulary, kHidden}},
                                   {prefix + "wpe.weight", {64, kHidden}},
                                   {prefix + "ln_f.weight", {kHidden}},
                                   {prefix + "ln_f.bias", {kHidden}}};
  for (std::size_t layer = 0; layer < 3; ++layer) {
    const std::string name = fmt::format("{}h.{}.", prefix, layer);
    for (const char* norm : {"ln_1", "ln_2"}) {
      tensors.push_back({name + norm + ".weight", {kHidden}});
      tensors.push_back({name + norm + ".bias", {kHidden}});
    }
    // Conv1D keeps [in, out], so the bias has the length of the second extent.
    const auto add = [&](const char* part, std::size_t in, std::size_t out) {
      tensors.push_back({name + part + ".weight", {in, out}});
      tensors.push_back({name + part + ".bias", {out}});
    };
    add("attn.c_attn", kHidden, 3 * kHidden);
    add("attn.c_proj", kHidden, kHidden);
    add("mlp.c_fc", kHidden, kInner);
    add("mlp.c_proj", kInner, kHidden);
  }
  return tensors;
}

inline std::string llama_config(const std::string& type, const LlamaParts& parts,
                                const std::string& more = "") {
  return fmt::format(
      R"({{"model_type": "{}", "hidden_size": 32, "intermediate_size": 48, "vocab_size": 40,
  "num_hidden_layers": {}, "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": {},
  "max_position_embeddings": 64, "rms_norm_eps": 1e-5, "hidden_act": "silu",
  "tie_word_embeddings": {}{}}})",
      type, parts.layers, parts.head_dimension, parts.tied, more);
}

inline std::string gpt2_config(const std::string& more = "") {
  return R"({"model_type": "gpt2", "n_embd": 32, "n_inner": 48, "vocab_size": 40, "n_layer": 3,
  "n_head": 4, "n_positions": 64, "layer_norm_epsilon": 1e-5, "tie_word_embeddings": true)" +
         more + "}";
}

inline constexpr const char* kYarn =
    R"(, "rope_theta": 1000.0, "rope_scaling": {"rope_type": "yarn", "factor": 4.0,
  "original_max_position_embeddings": 16})";

inline std::vector<TinyModel> tiny_models() {
  const LlamaParts plain{};
  const LlamaParts biased{.tied = true, .query_bias = true, .other_bias = true};
  const LlamaParts qwen2{.query_bias = true};
  const LlamaParts qwen3{.head_dimension = 16, .query_key_norm = true};
  const LlamaParts four{.layers = 4, .tied = true};
  return {
      {"llama", llama_config("llama", plain, R"(, "rope_theta": 1000.0)"), llama_tensors(plain)},
      {"llama3", llama_config("llama", plain, R"(, "rope_theta": 1000.0, "rope_scaling": {
  "rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
  "original_max_position_embeddings": 16})"),
       llama_tensors(plain)},
      {"yarn", llama_config("llama", plain, kYarn), llama_tensors(plain)},
      {"biased", llama_config("llama", biased, R"(, "attention_bias": true, "mlp_bias": true)"),
       llama_tensors(biased)},
      {"mistral", llama_config("mistral", plain, R"(, "sliding_window": 7)"), llama_tensors(plain)},
      {"qwen2", llama_config("qwen2", qwen2), llama_tensors(qwen2)},
      {"qwen3", llama_config("qwen3", qwen3), llama_tensors(qwen3)},
      {"smollm3",
       llama_config("smollm3", four,
                    R"(, "no_rope_layers": [1, 0, 1, 0], "pad_token_id": 0, "bos_token_id": 1,
  "eos_token_id": 2)"),
       llama_tensors(four)},
      {"gpt2", gpt2_config(), gpt2_tensors("transformer.")},
      {"gpt2_variant",
       gpt2_config(R"(, "scale_attn_by_inverse_layer_idx": true, "activation_function": "gelu")"),
       gpt2_tensors("")},
  };
}

inline TinyModel tiny_model(const std::string& name) {
  for (TinyModel& model : tiny_models()) {
    if (model.name == name) return model;
  }
  throw std::runtime_error("no model " + name);
}

/// Normal numbers of variance 3/hidden for matrices, around 1 for norms, small ones for biases; the
/// same for the same name everywhere.
inline std::vector<float> tiny_weights(const TensorShape& tensor) {
  std::size_t count = 1;
  for (const std::size_t extent : tensor.shape) count *= extent;
  std::vector<double> draws(count);
  Stream(1, tensor.name).normals(0, draws);
  const bool matrix = tensor.shape.size() == 2;
  const bool bias = tensor.name.ends_with("bias");
  std::vector<float> values;
  for (const double draw : draws) {
    values.push_back(static_cast<float>(matrix ? 0.3 * draw : (bias ? 0.0 : 1.0) + 0.2 * draw));
  }
  return values;
}

/// Numbers as tensors that own their bytes.
struct OwnedTensors {
  std::vector<std::vector<std::byte>> bytes;
  std::vector<checkpoint::Tensor> tensors;

  void add(const std::string& name, const std::vector<std::size_t>& shape,
           std::span<const float> values,
           checkpoint::ElementType type = checkpoint::ElementType::f32) {
    bytes.push_back(checkpoint::element_bytes(values, type));
    tensors.push_back({name, type, shape, bytes.back()});
  }
};

inline void write_tiny_model(const TinyModel& model, const std::filesystem::path& folder,
                             checkpoint::ElementType type = checkpoint::ElementType::f32) {
  std::filesystem::create_directories(folder);
  write_bytes(folder / "config.json", model.config);
  OwnedTensors owned;
  for (const TensorShape& tensor : model.tensors) {
    owned.add(tensor.name, tensor.shape, tiny_weights(tensor), type);
  }
  checkpoint::write_safetensors(folder / "model.safetensors", owned.tensors);
}

/// Forty tokens without a pattern.
inline std::vector<int> tiny_tokens(std::size_t count = 40) {
  std::vector<int> tokens;
  const Stream draws(1, "tokens");
  for (std::size_t i = 0; i < count; ++i) {
    tokens.push_back(static_cast<int>(draws.uniform(i) * static_cast<double>(kVocabulary)));
  }
  return tokens;
}

inline double largest_difference(MatrixView<const float> a, MatrixView<const double> b) {
  double largest = 0.0;
  for (std::size_t i = 0; i < a.rows(); ++i) {
    for (std::size_t k = 0; k < a.cols(); ++k) {
      largest = std::max(largest, std::abs(static_cast<double>(a(i, k)) - b(i, k)));
    }
  }
  return largest;
}

/// A copy of a folder, every weight multiplied by 1 ± size with a random sign.
inline void write_perturbed(const std::filesystem::path& from, const std::filesystem::path& to,
                            double size) {
  const auto archive = checkpoint::TensorArchive::open(from);
  std::filesystem::create_directories(to);
  std::filesystem::copy_file(from / "config.json", to / "config.json");
  OwnedTensors owned;
  for (const checkpoint::Tensor& tensor : archive.tensors()) {
    std::vector<float> values(tensor.elements());
    checkpoint::copy_elements(tensor, 0, std::span<float>(values));
    const Stream signs(2, tensor.name);
    for (std::size_t k = 0; k < values.size(); ++k) {
      values[k] *= static_cast<float>(1.0 + size * signs.rademacher(k));
    }
    owned.add(tensor.name, tensor.shape, values);
  }
  checkpoint::write_safetensors(to / "model.safetensors", owned.tensors);
}

/// How far float32 may move the logits of a folder. A float32 dot product of K terms is the exact
/// product with weights changed by at most K u relative, u = 2⁻²⁴; what it is made of besides
/// (norms, rotation, the nonlinearity, the residual sum) is a handful of such changes more. So the
/// whole pass is the exact pass of a model whose weights differ by at most K u, and the difference
/// is K times the response of the logits to a change by u. That response is measured on the
/// reference, with a change by 2⁻¹² scaled down; signs are random, as those of rounding are.
///
/// K is the longest sum, of the feed-forward and of the attention over n keys, and 20 for the rest.
inline double rounding_bound(const std::filesystem::path& folder, std::span<const int> tokens,
                             std::size_t longest_product) {
  const double change = 0x1p-12;
  const ScratchFolder scratch;
  write_perturbed(folder, scratch / "perturbed", change);
  const auto exact = models::reference_logits(folder, tokens);
  const auto moved = models::reference_logits(scratch / "perturbed", tokens);
  double response = 0.0;
  for (std::size_t k = 0; k < exact.size(); ++k) {
    response = std::max(response, std::abs(exact.data()[k] - moved.data()[k]));
  }
  const auto terms = static_cast<double>(longest_product + tokens.size() + 20);
  return terms * response / change * 0x1p-24;
}

}  // namespace dewpoint::test
