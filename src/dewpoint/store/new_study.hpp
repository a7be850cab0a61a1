// What every study begins with: who made it and when, and whether its file may be written.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "dewpoint/store/study.hpp"

namespace dewpoint::store {

/// A record with everything but its parameters and frames: of this version, made now.
[[nodiscard]] StudyRecord begin_study(const std::string& experiment, std::uint64_t seed,
                                      const std::string& command);

/// Asked before long work: require_writable() of core for a study of this experiment (of any, if it
/// is empty), and Error{bad_value} for a name that promises a figure, a table or a text.
void require_study_place(const OutputFile& file, const std::string& experiment = {});

/// Now, as ISO 8601 in UTC.
[[nodiscard]] std::string utc_now();

}  // namespace dewpoint::store
