// A model as a Hugging Face folder.
//
//   config.json         the model's own, with the type of the weights changed; of a llama2.c file,
//                       the same facts under the names that Hugging Face's Llama reads
//   model.safetensors   the tensors that the forward pass uses, under their names, as float32
//
// A llama2.c file rotates neighbouring coordinates, Hugging Face halves: rows of W_q and W_k change
// places within each head, (2k, 2k + 1) to (k, k + d/2), which leaves ⟨q, k⟩ what it was.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dewpoint/core/output_file.hpp"
#include "dewpoint/models/model.hpp"

namespace dewpoint::models {

/// The folder is made where there is none. Throws Error{unwritable_file}, and Error{bad_value} for
/// a folder that is not ours.
///
///   Properties  (1) opened again, weights of float32, float16 or bfloat16 are what they were.
void save_model(const Model& model, const OutputFile& folder);

}  // namespace dewpoint::models
