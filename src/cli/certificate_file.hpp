// A certificate in a folder: NAME.json as `dewpoint verify --json` prints it and NAME.md, its
// table.
//
// An examination takes minutes, so that rows are kept as they come, in NAME.part.json, until the
// certificate is whole. What is there already, of the same version, effort and seed, is not
// examined again.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "cli/examination.hpp"
#include "dewpoint/core/output_file.hpp"

namespace dewpoint::cli {

struct CertificateFiles {
  std::filesystem::path folder;
  std::string name;    // "certificate", "errata"
  bool force = false;  // they may take the place of anything

  [[nodiscard]] std::filesystem::path json() const { return folder / (name + ".json"); }
  [[nodiscard]] std::filesystem::path markdown() const { return folder / (name + ".md"); }
  [[nodiscard]] std::filesystem::path part() const { return folder / (name + ".part.json"); }
};

/// Certificates and their parts, and their tables.
[[nodiscard]] FileKind certificate_kind();
[[nodiscard]] FileKind certificate_table_kind();

/// The rows of all claims, if the certificate is there, whole and of this examination.
[[nodiscard]] std::optional<std::vector<Examined>> read_certificate(const CertificateFiles& files,
                                                                    const Examination& examination);

/// Examines every claim of which no row is there (with `fresh`, every claim) and writes both files.
/// Throws Error{stopped} when the user asks to stop; finished rows are then kept.
[[nodiscard]] std::vector<Examined> complete_certificate(const CertificateFiles& files,
                                                         const Examination& examination,
                                                         bool fresh);

}  // namespace dewpoint::cli
