// What a report shows, as the JSON that its page reads: PageData of web/src/data.ts. Both change
// together.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "cli/examination.hpp"
#include "dewpoint/report/figure_file.hpp"
#include "dewpoint/store/study.hpp"

namespace dewpoint::cli {

/// What stands around a figure.
struct FigureText {
  std::string id;     // stem of its files, unique on the page
  std::string group;  // heading that figures share
  std::string title;
  std::string see;                         // what to look at; may be empty
  std::string paper = {};                  // what the paper says; may be empty
  std::vector<std::string> claims = {};    // ids of rows of the certificate
  std::vector<std::string> verdicts = {};  // on what the figure shows, a sentence each
};

/// A study that the page would show if somebody had run it.
struct NotRun {
  std::string name;
  std::string title;
  std::string command;
};

struct ReportPage {
  std::string title;
  std::string intro;  // paragraphs, parted by empty lines
  nlohmann::ordered_json figures = nlohmann::ordered_json::array();  // of figure_entry()
  nlohmann::ordered_json certificate = nullptr;                      // of certificate_entry()
  nlohmann::ordered_json errata = nullptr;
  std::vector<NotRun> not_run;
  std::vector<std::pair<std::string, std::string>> footer;  // label and value
};

/// A figure with its words and with where its numbers come from: `study`, read from or written to
/// `file`.
[[nodiscard]] nlohmann::ordered_json figure_entry(const FigureText& text,
                                                  const report::Figure& figure,
                                                  const store::StudyRecord& study,
                                                  const std::filesystem::path& file);

[[nodiscard]] nlohmann::ordered_json certificate_entry(const Examination& examination,
                                                       const std::vector<Examined>& rows);

/// Version, compiler and date of this program.
[[nodiscard]] std::pair<std::string, std::string> version_line();
/// Processor, cores, SIMD and BLAS.
[[nodiscard]] std::pair<std::string, std::string> machine_line();

[[nodiscard]] nlohmann::ordered_json page_data(const ReportPage& page);

}  // namespace dewpoint::cli
