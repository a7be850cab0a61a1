// A ZIP archive made in memory: entries stored as they are, all of one fixed date.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace dewpoint::exports {

struct ZipEntry {
  std::string name;
  std::string bytes;
};

/// The bytes of an archive with these entries, in this order; names are UTF-8 and differ. The same
/// entries give the same bytes. Throws std::runtime_error with libzip's reason.
[[nodiscard]] std::string zip_bytes(const std::vector<ZipEntry>& entries);

}  // namespace dewpoint::exports
