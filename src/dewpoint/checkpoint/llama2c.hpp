// Checkpoints of llama2.c, in the first version of its format (.bin, 32-bit floats).
//
//     dim, hidden_dim, n_layers, n_heads, n_kv_heads, vocab_size, seq_len      seven int32
//     embedding; of all layers: attention norm, W_q, W_k, W_v, W_o, mlp norm, W_1, W_2, W_3;
//     last norm; two tables of cos and sin, which nobody reads; W_head where vocab_size < 0
//
// There is no magic number: what makes a file one of these is that its size is exactly what its
// header says. Tensors get the names that the same weights have in a Hugging Face Llama, and stay
// in the file. Rows of W_q and W_k stand in Meta's order: rotation turns the pairs of
// coordinates (2k, 2k+1), where Hugging Face turns (k, k + d/2); see ModelConfig::rotates_pairs.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "dewpoint/checkpoint/model_config.hpp"
#include "dewpoint/checkpoint/tensor.hpp"

namespace dewpoint::checkpoint {

struct Llama2cModel {
  ModelConfig config;
  std::vector<Tensor> tensors;  // model.embed_tokens.weight, ...; lm_head.weight if untied
};

/// Whether a file of these bytes has the size that its own header asks for.
[[nodiscard]] bool is_llama2c(const ByteSource& bytes);

/// The tensors are pieces of `bytes`. Throws Error{malformed_file} with one line.
///
///   Domain      any bytes, at any alignment.
///   Properties  (1) whatever the bytes, the outcome is a model or an Error of one line.
///               (2) every byte after the header belongs to one tensor or to the unread tables.
///   Reference   legacy_export in export.py of llama2.c.
[[nodiscard]] Llama2cModel parse_llama2c(const ByteSource& bytes, std::string_view name);

/// parse_llama2c of a file. Throws in addition Error{unreadable_file}.
[[nodiscard]] Llama2cModel open_llama2c(const std::filesystem::path& path);

}  // namespace dewpoint::checkpoint
