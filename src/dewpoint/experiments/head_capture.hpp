// Queries and keys of a forward pass into a dump, so that other programs can look at them, and so
// that the way through a file can be held against the direct one.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include "dewpoint/checkpoint/tensor.hpp"
#include "dewpoint/core/output_file.hpp"
#include "dewpoint/core/run_context.hpp"
#include "dewpoint/models/decoder.hpp"

namespace dewpoint::experiments {

/// What a dump says of itself and the pass does not know.
struct CaptureNotes {
  std::string model, text_sha256;
};

/// Writes the heads of all layers; one head is in memory at a time. The file appears when it is
/// whole.
///
///   Domain      Error{bad_value} where layers differ in mask, scale or cap, which a dump has one
///               of; and whatever decoder and checkpoint::HeadDumpWriter refuse.
///   Properties  (1) for f32, measure_dump of the file gives the bytes of measure_decoder.
///               (2) m_applied is f² of the rotation (YaRN, LongRoPE), 1 where it does not meet all
///                   coordinates of all layers alike; rope is none where nothing turns.
void capture_heads(const models::Decoder& decoder, std::span<const int> tokens,
                   const models::ForwardOptions& options, const CaptureNotes& notes,
                   checkpoint::ElementType type, const OutputFile& output,
                   const RunContext& context = {});

}  // namespace dewpoint::experiments
