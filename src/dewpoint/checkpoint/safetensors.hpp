// Tensors in the file format of Hugging Face, as views of its bytes.
//
//     u64 length | header: JSON in UTF-8, `length` bytes | data: the tensors, one after the other
//
//     {"__metadata__": {"format": "pt"},
//      "wte.weight": {"dtype": "F32", "shape": [53, 192], "data_offsets": [0, 40704]}, ...}
//
// Offsets count from the beginning of the data, and the tensors cover the data without a hole or an
// overlap. Numbers are little-endian, in C order. Nothing is believed before it is checked:
//
//   length        at most 100 000 000 and within the file
//   header        an object; blanks around it are accepted, a key that stands twice is not
//   __metadata__  an object of texts
//   dtype         BOOL, U8 ... I64, F16, BF16, F32, F64; any other is listed as `other`, with its
//                 size checked where it is known (F4, F6_E2M3, F6_E3M2, F8_*, C64)
//   shape         extents whose product fits the machine; [] is one value, an extent may be 0
//   data_offsets  begin and end of as many bytes as shape and dtype ask for
//
// Some writers do not pad the header, so tensors may begin at any address.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dewpoint/checkpoint/tensor.hpp"

namespace dewpoint::checkpoint {

struct SafetensorsContent {
  std::vector<Tensor> tensors;  // in the order of the header; the bytes are those of the file
  std::map<std::string, std::string> metadata;
};

/// What the bytes of a file hold; `name` is what an error message calls them. Throws
/// Error{malformed_file} with one line: name, field, what was found, what is allowed.
///
///   Domain      any bytes, at any alignment; in memory they must outlive the tensors.
///   Properties  (1) every tensor lies within the bytes, and its bytes are those that its shape and
///                   type ask for; no two share one, and none is left over.
///               (2) no name is there twice.
///               (3) whatever the bytes, the outcome is tensors or an Error of one line.
///   Reference   the format's own description in the repository huggingface/safetensors.
[[nodiscard]] SafetensorsContent parse_safetensors(const ByteSource& bytes, std::string_view name);

}  // namespace dewpoint::checkpoint
