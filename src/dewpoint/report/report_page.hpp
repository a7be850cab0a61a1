// One self-contained HTML page: the template that `web/` builds, with data inside.
//
// The template is part of the program (page_template.cpp), so that nothing needs to be installed to
// write a page, nor to read it: script, styles and data are in the file, and it asks no network.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "dewpoint/core/output_file.hpp"

namespace dewpoint::report {

/// The template of this build; empty where it was built without one (DEWPOINT_WEB=OFF).
[[nodiscard]] std::string_view page_template();

/// Pages that this program wrote, here or elsewhere: they name it as their generator.
[[nodiscard]] FileKind page_kind();

/// The page that shows `data`, which is PageData of web/src/data.ts. Its title is that of the data.
/// Throws Error{missing_tool} without a template.
///
///   Properties  (1) no text of the data can end the script element or begin another one.
///               (2) parsing the content of the element gives the data back; bytes that are not
///                   UTF-8 are U+FFFD.
[[nodiscard]] std::string report_page(const nlohmann::ordered_json& data);

/// The same with a template of the caller's: a page with one element <script id="dewpoint-data">
/// and one <title>Dewpoint</title>, which the data and their title replace. Throws std::logic_error
/// for any other page.
[[nodiscard]] std::string report_page(std::string_view page, const nlohmann::ordered_json& data);

}  // namespace dewpoint::report
