// One run of `dewpoint reproduce`: a folder, what belongs into it, and what is there already.
//
// Every step leaves whole files behind, so that the next run goes on where this one was stopped.
// The page shows everything in the folder that fits, whether it was asked for this time or not.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "cli/certificate_file.hpp"
#include "cli/report_data.hpp"
#include "cli/reproduced_studies.hpp"

namespace dewpoint::cli {

struct ReproduceOptions {
  bool quick = false;
  std::uint64_t seed = 1;
  int threads = 0;
  std::string output = "dewpoint-out";  // folder
  std::vector<std::string> only;        // names of studies; none: all but the long ones
  bool run_long = false;                // the long ones too
  bool fresh = false;                   // nothing is taken from the folder
  bool force = false;                   // files of others in the folder may be replaced
  bool verify = true;                   // with `only`, never
  std::string command;                  // as it was typed
};

class Reproduction {
 public:
  /// Looks at the folder, which is made if need be. Throws Error{bad_value} on an unknown study and
  /// on a folder or a file of somebody else, Error{unwritable_file} where something would not find
  /// its place.
  explicit Reproduction(const ReproduceOptions& options);

  /// Everything but the long studies. Throws Error{stopped} when the user asks to stop.
  void make_studies_and_certificate();
  /// Those that were asked for. Returns whether there were any. Throws the same.
  bool run_long_studies();
  /// report.html, of what there is.
  void write_report();

  /// What was made, for people: studies with their figures, the certificate, the page.
  [[nodiscard]] std::string text() const;
  [[nodiscard]] nlohmann::ordered_json json() const;
  /// "3 of 14 studies are finished and kept in FOLDER".
  [[nodiscard]] std::string kept() const;
  /// Whether everything is there and every row of the certificate holds what it must.
  [[nodiscard]] bool good() const;

 private:
  struct Study {
    FigureStudy question;
    bool chosen;
    std::optional<store::StudyRecord> record;
    bool found;  // not measured this time
  };
  struct Long {
    LongStudy question;
    studies::StudyText text;
    bool chosen;
    std::optional<store::StudyRecord> record;
  };
  struct Rows {
    CertificateFiles files;
    Examination examination;
    double cost;
    std::optional<std::vector<Examined>> rows;
  };

  struct Made {
    std::string file;                  // of the study
    std::vector<std::string> figures;  // names
  };

  [[nodiscard]] std::filesystem::path study_file(const std::string& name) const;
  [[nodiscard]] std::filesystem::path report_file() const;
  [[nodiscard]] OutputFile place(std::filesystem::path file) const;
  [[nodiscard]] bool is_named(const std::string& study) const;
  [[nodiscard]] bool examines() const;
  [[nodiscard]] double cost_of(const Study& study) const;
  [[nodiscard]] double missing_cost() const;
  void expect_places() const;
  void look_into_folder();
  void write_files(report::Figure figure, const std::string& title, const std::string& name);
  void write_figures(const Study& study);
  void write_figures(const Long& study);

  [[nodiscard]] ReportPage page() const;
  void add_figures(ReportPage& page, const Study& study) const;
  void add_figures(ReportPage& page, const Long& study) const;
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> footer() const;
  [[nodiscard]] std::vector<Made> made() const;
  [[nodiscard]] static std::vector<std::string> figures_of(const Study& study);
  [[nodiscard]] static std::vector<std::string> figures_of(const Long& study);

  ReproduceOptions options_;
  std::filesystem::path folder_;
  StudyEffort effort_;
  std::vector<Study> studies_;
  std::vector<Long> long_;
  std::vector<Rows> certificates_;  // of the papers, and of the errata
  bool pictures_ = true;            // until gnuplot turns out to be missing
  bool reported_ = false;           // the page is written
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace dewpoint::cli
