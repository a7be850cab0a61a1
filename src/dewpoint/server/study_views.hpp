// Stored studies as the page sees them: lists, summaries, frames, figures. Reads; computes nothing.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

#include "dewpoint/server/json_body.hpp"
#include "dewpoint/server/study_folder.hpp"

namespace dewpoint::server {

/// The name of this server's run of a file; empty: none.
using RunOfFile = std::function<std::string(const std::string& file)>;

/// GET /api/studies. One damaged file does not hide the others.
[[nodiscard]] Json studies_json(const StudyFolder& folder, const RunOfFile& run_of);

/// GET /api/studies/summary.
[[nodiscard]] Json summary_json(const StudyFolder& folder, const std::string& file,
                                const RunOfFile& run_of);

inline constexpr std::size_t kMostFrameNumbers = 200'000;

/// GET /api/studies/frame. Throws Refusal{404} where there is no such frame, and Refusal{400} with
/// the command that has them all where it has more than kMostFrameNumbers numbers.
[[nodiscard]] Json frame_json(const StudyFolder& folder, const std::string& file,
                              const std::string& frame);

/// GET /api/studies/figures.
[[nodiscard]] Json figures_json(const StudyFolder& folder, const std::string& file);

/// GET /api/studies/text, of a study file (*.toml).
[[nodiscard]] Json text_json(const StudyFolder& folder, const std::string& file);

/// GET /api/studies/template.
[[nodiscard]] Json template_json(const std::string& experiment);

}  // namespace dewpoint::server
