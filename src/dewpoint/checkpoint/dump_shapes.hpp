// The shapes of the tensors of a dump, held against each other; no numbers are looked at.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "dewpoint/checkpoint/dump_tensors.hpp"
#include "dewpoint/checkpoint/head_dump.hpp"
#include "dewpoint/core/error.hpp"
#include "dewpoint/core/matrix.hpp"

namespace dewpoint::checkpoint {

/// A tensor whose axes have names: the letters of its layout (head_dump.hpp), D the last. Both
/// must outlive this.
class DumpAxes {
 public:
  /// Throws Error{malformed_file} for another rank and for an extent of 0.
  DumpAxes(const DumpPiece& piece, std::string_view layout);

  /// 1 for an axis that the layout lacks.
  [[nodiscard]] std::size_t extent(char axis) const;
  /// Elements from one index of an axis to the next; an axis that is lacking has only index 0.
  [[nodiscard]] std::size_t step(char axis) const;

 private:
  const Tensor& tensor_;
  std::string_view layout_;
};

/// The shape of a layer whose tensors fit together: property (2) of HeadDump. Tensors of u16
/// and V2 become bf16 where that is what they are. Throws Error{malformed_file}.
[[nodiscard]] DumpShape checked_shape(LayerTensors& layer, const DumpFacts& facts,
                                      const std::optional<Range>& positions, bool bf16_as_u16);

/// "file: tensor: found ..., allowed: ...".
[[nodiscard]] Error refused_piece(const DumpPiece& piece, std::string found, std::string allowed);

}  // namespace dewpoint::checkpoint
