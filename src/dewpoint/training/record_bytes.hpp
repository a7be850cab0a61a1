// Records as bytes of this machine, so that a run that is resumed keeps its history.
//
// A mark and a version, then sizes, then numbers; every bit of every number comes back. Bytes that
// are too few, too many or of another kind or version throw Error{malformed_file}.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "dewpoint/training/condensation.hpp"
#include "dewpoint/training/record.hpp"

namespace dewpoint::training {

/// Records of one run: all have the same vocabulary and width.
[[nodiscard]] std::vector<std::byte> to_bytes(std::span<const Record> records);
[[nodiscard]] std::vector<Record> records_from_bytes(std::span<const std::byte> bytes);

[[nodiscard]] std::vector<std::byte> to_bytes(std::span<const Condensation> moments);
[[nodiscard]] std::vector<Condensation> condensations_from_bytes(std::span<const std::byte> bytes);

}  // namespace dewpoint::training
