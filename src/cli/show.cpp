// dewpoint show: what a study is, how far it is, and its first numbers.
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>

#include "cli/console.hpp"
#include "cli/printable_study.hpp"
#include "cli/study_table.hpp"
#include "cli/verbs.hpp"
#include "dewpoint/core/error.hpp"
#include "dewpoint/core/frame_json.hpp"
#include "dewpoint/store/study.hpp"
#include "dewpoint/store/sweep_file.hpp"

namespace dewpoint::cli {
namespace {

struct ShowVerb {
  std::string study;
  std::string frame;
  TableRequest table;
  bool text = false;
  bool json = false;
};

template <class Visitor>
void describe(Visitor& visit, ShowVerb& q) {
  using namespace question;  // NOLINT(google-build-using-namespace): the words of a description
  visit("study", q.study, positional, required, file("study"), "study file");
  visit("observable", q.table.observables, "which columns, several times if wanted");
  visit("at", q.table.at, "only there: n=512, several times if wanted");
  visit("rows", q.table.rows, at_least(0.0), "lines of the table, 0 for all");
  visit("frame", q.frame, "only this frame, where a study has several");
  visit("text", q.text, "print the study file as it was understood, to run it again");
  visit("json", q.json, "one JSON object with every number on standard output");
}

void print_sessions(const store::StudySummary& summary) {
  for (const auto& s : summary.sessions) {
    const bool last = &s == &summary.sessions.back();
    const std::string end = !s.outcome.empty()        ? s.outcome
                            : last && summary.running ? "running now"
                                                      : "killed";
    fmt::print("run      {} {} · {} rank(s) x {} thread(s) · {} · {}\n", s.started, end, s.ranks,
               s.threads / std::max(1, s.ranks), s.processor, s.version);
  }
}

void print_cells(const store::StudySummary& summary) {
  fmt::print(
      "cells    {} of {} measured, {} to {} replica(s), {} of work{}\n", summary.measured,
      summary.planned, summary.fewest_replicas, summary.most_replicas,
      duration_text(summary.seconds),
      summary.kept > 0 ? fmt::format("; {} more of earlier plans are kept", summary.kept) : "");
}

void print_head(const std::string& file, const store::StudySummary& summary,
                const store::StudyRecord& study) {
  fmt::print("study    {}\n", file);
  if (!summary.title.empty()) fmt::print("title    {}\n", summary.title);
  if (!study.experiment.empty()) {
    fmt::print("made by  {} · seed {} · Dewpoint {}\n", study.experiment, study.seed,
               study.version);
  }
  if (!study.command.empty()) fmt::print("command  {}\n", study.command);
  for (const auto& [name, value] : study.parameters) fmt::print("         {} = {}\n", name, value);
  if (!summary.sweep) return;
  if (summary.planned == 0) fmt::print("cells    none yet: the study has just begun\n");
  if (summary.planned > 0) print_cells(summary);
  print_sessions(summary);
}

void print_frame(const Frame& frame, const Table& table) {
  std::vector<std::string> axes;
  for (const Dimension& dimension : frame.dimensions()) {
    axes.push_back(fmt::format("{} ({})", dimension.name, dimension.coordinates.size()));
  }
  std::vector<std::string> names;
  for (const Variable& variable : frame.variables()) names.push_back(variable.name);
  fmt::print("\nframe    {}\naxes     {}\nholds    {}\n\n", frame.name(), fmt::join(axes, ", "),
             fmt::join(names, ", "));
  if (table.matching == 0) {
    fmt::print("nothing measured here yet\n");
    return;
  }
  fmt::print("{}", to_text(table.records, table.columns));
  if (table.records.size() < table.matching) {
    fmt::print("... {} more; --rows 0 shows all, dewpoint export writes them\n",
               table.matching - table.records.size());
  }
}

Json everything(const store::StudySummary& summary, const store::StudyRecord& study) {
  Json frames = Json::array();
  for (const Frame& frame : study.frames) frames.push_back(to_json(frame));
  Json parameters = Json::object();
  for (const auto& [name, value] : study.parameters) parameters[name] = value;
  return {{"experiment", study.experiment}, {"seed", study.seed},
          {"version", study.version},       {"created", study.created},
          {"command", study.command},       {"parameters", parameters},
          {"planned", summary.planned},     {"measured", summary.measured},
          {"running", summary.running},     {"work_seconds", summary.seconds},
          {"effective", summary.text},      {"frames", frames}};
}

// The frames to show: all that hold something, or the one that was named.
std::vector<const Frame*> chosen(const store::StudyRecord& study, const std::string& name) {
  std::vector<const Frame*> frames;
  if (!name.empty()) return {&study.frame(name)};
  for (const Frame& frame : study.frames) {
    if (!frame.variables().empty()) frames.push_back(&frame);
  }
  return frames;
}

int run_show(const ShowVerb& o) {
  const store::StudySummary found = store::summarise(o.study);
  const store::StudySummary summary = printable_summary(found);
  if (o.text) {
    if (summary.text.empty()) {
      throw Error(Code::bad_value,
                  fmt::format("text: '{}' was not made from a study file", o.study));
    }
    fmt::print("{}", summary.text);
    return 0;
  }
  store::StudyRecord record = store::read_study(o.study);
  if (o.json) {
    fmt::print("{}\n",
               everything(found, record).dump(-1, ' ', false, Json::error_handler_t::replace));
    return 0;
  }
  const store::StudyRecord study = printable_study(std::move(record));
  const std::vector<const Frame*> frames = chosen(study, o.frame);
  std::vector<Table> tables;  // before anything is printed: the request may be refused
  for (const Frame* frame : frames) tables.push_back(table_of(*frame, o.table));
  print_head(o.study, summary, study);
  for (std::size_t i = 0; i < frames.size(); ++i) print_frame(*frames[i], tables[i]);
  return 0;
}

}  // namespace

Verb show_verb() {
  return verb_of<ShowVerb>("show", "A study: what it is, how far it is, its first numbers",
                           "dewpoint show phase.study --observable contraction --at n=64",
                           run_show);
}

}  // namespace dewpoint::cli
