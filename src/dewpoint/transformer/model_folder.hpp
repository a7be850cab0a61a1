// A trained model as a folder that `dewpoint heads` opens, in the manner of Hugging Face.
//
//   config.json         "model_type": "dewpoint", the sizes, and which parts the model has
//   model.safetensors   float32, as [out, in], under the names that Llama's tensors have where they
//                       mean the same:
//
//     model.embed_tokens.weight                  W0    [V, m]
//     model.layers.0.self_attn.q_proj.weight     WQᵀ   [m, m], heads one below the other
//     model.layers.0.self_attn.k_proj.weight     WKᵀ
//     model.layers.0.self_attn.v_proj.weight     WVᵀ, with a value matrix only
//     lm_head.weight                             W1ᵀ   [V, m]
//
//   and the files of the tokenizer.
//
// The reader is models/decoder.hpp; what it needs to know is in config.json alone.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "dewpoint/core/output_file.hpp"
#include "dewpoint/transformer/shape.hpp"
#include "dewpoint/transformer/weights.hpp"

namespace dewpoint::transformer {

/// Makes the folder where there is none; in a folder of ours (checkpoint/safetensors_writer.hpp) it
/// replaces the files of these names. `context` is the length the model was trained at; the
/// tokenizer's files are names and contents. Throws Error{unwritable_file}, and Error{bad_value}
/// for a folder of somebody else.
///
///   Domain      a shape that check() lets pass, without a law of the logits, weights of it, a
///   context of at least 1, names
///               without a folder.
///   Properties  (1) models::Decoder opened on the folder has the logits of reference_pass()
///                   (reference.hpp), up to the rounding of float32.
///               (2) the same model gives the same bytes; each file appears whole or not at all,
///                   config.json last.
void write_model_folder(const OutputFile& folder, const Shape& shape, const Weights<float>& weights,
                        std::size_t context,
                        const std::vector<std::pair<std::string, std::string>>& tokenizer_files);

}  // namespace dewpoint::transformer
