// What the metadata of a dump say (head_dump.hpp lists the keys), each checked by itself.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "dewpoint/checkpoint/dump_tensors.hpp"
#include "dewpoint/core/matrix.hpp"

namespace dewpoint::checkpoint {

struct DumpStatement {
  std::optional<std::string> layout;
  std::optional<std::string> rope;
  std::optional<double> scale;
  std::optional<double> m_applied;
  std::optional<bool> causal;
  std::optional<std::size_t> window;
  std::optional<double> softcap;
  std::optional<Range> positions;  // of the queries among the keys
  bool bf16_as_u16 = false;
  std::string model, text_sha256;
  std::vector<std::string> warnings;
};

/// Throws Error{malformed_file} naming file and key, what was found and what is allowed. In a dump
/// of our own format an unknown key is a warning.
[[nodiscard]] DumpStatement read_statement(const DumpMetadata& metadata, const std::string& file);

/// The inverse: the metadata of format dewpoint-qk; absent and empty is left out.
[[nodiscard]] DumpMetadata metadata_of(const DumpStatement& statement);

inline constexpr const char* kDumpFormat = "dewpoint-qk";
inline constexpr const char* kDumpLayouts = "HND, NHD, BHND, BNHD or ND";
inline constexpr const char* kDumpRopes = "post, pre or none";
[[nodiscard]] bool is_dump_layout(const std::string& layout);
[[nodiscard]] bool is_dump_rope(const std::string& rope);

}  // namespace dewpoint::checkpoint
