// What must hold of a sentencepiece model before its library sees it.
//
// The library believes a model's normalisation table: it follows the table's links without looking
// where they lead, and keeps at most 32 matches of one place on its stack while counting all. A
// damaged or hostile model would make it read memory that is not its own. So the protocol buffer is
// walked here first, field by field, and the table link by link.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>

namespace dewpoint::text {

/// Real models have a few megabytes.
inline constexpr std::size_t kMostModelBytes = std::size_t{64} << 20;
/// Real pieces have a few dozen bytes.
inline constexpr std::size_t kMostPieceBytes = 4096;

/// Throws Refusal with the byte, or the piece, that cannot be.
///
///   Properties  of an accepted model
///               (1) fields, and fields inside the fields the library reads, tile their bytes.
///               (2) there is a piece; pieces are UTF-8, not empty, without zero bytes and of at
///                   most kMostPieceBytes, their scores finite.
///               (3) every link of a normalisation table leads into the table, no path is a circle,
///                   none has more than 32 matches, and every match names a text that ends.
void check_sentencepiece_model(std::string_view model);

}  // namespace dewpoint::text
