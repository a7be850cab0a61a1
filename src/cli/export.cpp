// dewpoint export: a study as files that other tools read.
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <memory>

#include "cli/answer.hpp"
#include "cli/study_record.hpp"
#include "cli/verbs.hpp"
#include "dewpoint/exports/export.hpp"
#include "dewpoint/store/study.hpp"

namespace dewpoint::cli {
namespace {

struct ExportStudy {
  std::string study;
  std::vector<std::string> outputs;
  std::string frame;
  bool force = false;
};

template <class Visitor>
void describe(Visitor& visit, ExportStudy& q) {
  using namespace question;  // NOLINT(google-build-using-namespace): the words of a description
  visit("study", q.study, positional, required, file("study"), "study file");
  visit("output", q.outputs, letter('o'), required, file("table"),
        "x.csv, x.jsonl, x.npz or x.nc, several if wanted");
  visit("frame", q.frame, "only this frame, where a study has several");
  describe_force(visit, q.force);
}

Answer export_study(const ExportStudy& o) {
  for (const std::string& output : o.outputs) {
    exports::require_export_places({output, o.force}, exports::format_of(output));
  }
  const store::StudyRecord study = store::read_study(o.study);
  std::vector<std::string> files;
  std::string text;
  for (const std::string& output : o.outputs) {
    const exports::Format format = exports::format_of(output);
    for (const auto& file : exports::write(study, output, format, {o.frame, o.force})) {
      files.push_back(file.string());
      text += fmt::format("export  {}\n", file.string());
    }
  }
  return {{{"study", o.study}, {"files", files}}, text, {}, true};
}

}  // namespace

Verb export_verb() {
  return verb_of<ExportStudy>(
      "export", "A study as CSV, JSON lines, NumPy archive or netCDF, by the file's ending",
      "dewpoint export phase.study -o phase.csv -o phase.nc", export_study);
}

}  // namespace dewpoint::cli
