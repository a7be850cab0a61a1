// A training state as a .safetensors file that other programs read.
//
// Tensors "W0", "W1", "layers.0.WQ", ... (float32, the matrices as rows x columns) are the weights;
// "adam.first.W0", ... and "adam.second.W0", ... the moments. The metadata, all texts, say what it
// is:
//
//   format    "dewpoint-transformer"
//   shape     JSON, an object of the fields of Shape:
//             {"vocabulary": 2000, "width": 256, "layers": 2, "heads": 1, "residual": true,
//              "branch": 1.0, "value_matrix": false, "causal": false, "pre_norm": false}
//             and "scaling": "ssmax:n0=128" where there is a law of the logits
//   step      steps done, a whole number
//
// and whatever the caller adds; runs add "adam" (adam_text()), "seed" and "replica".
//
// The reader wants all tensors of the shape and no other, of that type, with numbers that are
// finite and second moments that are not negative.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "dewpoint/core/output_file.hpp"
#include "dewpoint/transformer/adam.hpp"

namespace dewpoint::transformer {

using Metadata = std::map<std::string, std::string>;

/// Files that write_state() wrote.
[[nodiscard]] FileKind state_kind();

/// Throws Error{unwritable_file}, and Error{bad_value} for another file in the way. The file
/// appears whole or not at all.
///
///   Domain      a state of this shape. "format", "shape" and "step" of `metadata` are replaced.
///   Properties  (1) read_state() gives back the shape, every bit of a finite state and the
///                   metadata.
///               (2) the same state gives the same bytes.
void write_state(const OutputFile& file, const Shape& shape, const AdamState<float>& state,
                 const Metadata& metadata);
/// The same as bytes, for an attachment of a study.
[[nodiscard]] std::vector<std::byte> state_bytes(const Shape& shape, const AdamState<float>& state,
                                                 const Metadata& metadata);

struct StateFile {
  Shape shape;
  AdamState<float> state;
  Metadata metadata;  // all of it: "format", "shape" and "step" too
};
/// Throws Error{unreadable_file}, or Error{malformed_file} for what is not such a file; `name` is
/// what errors call it.
///
///   Properties  (3) whatever the bytes, the outcome is a state to go on from or an Error of one
///                   line.
///               (4) no more memory is asked for than a few times the bytes at hand.
[[nodiscard]] StateFile read_state(const std::filesystem::path& file);
[[nodiscard]] StateFile read_state(std::span<const std::byte> bytes, const std::string& name);

/// Throws Error{bad_value}, one line naming the file, the first field in which the shapes differ,
/// and both values.
void require_same_shape(const std::string& name, const Shape& found, const Shape& wanted);

/// The options as a JSON object, {"rate": 0.00015, "first_decay": 0.9, ...}: numbers in as few
/// digits as give back the same double.
[[nodiscard]] std::string adam_text(const training::AdamOptions& options);

}  // namespace dewpoint::transformer
