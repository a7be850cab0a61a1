// dewpoint runs: the studies of a folder, and how far each of them is.
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "cli/answer.hpp"
#include "cli/console.hpp"
#include "cli/verbs.hpp"
#include "dewpoint/core/error.hpp"
#include "dewpoint/store/sweep_file.hpp"

namespace dewpoint::cli {
namespace {

namespace fs = std::filesystem;

struct RunsVerb {
  std::vector<std::string> places = {"."};
};

template <class Visitor>
void describe(Visitor& visit, RunsVerb& q) {
  visit("place", q.places, question::positional, question::file("study"), "folders or study files");
}

void add_studies(const fs::path& place, std::vector<fs::path>& files) {
  if (!fs::is_directory(place)) {
    files.push_back(place);
    return;
  }
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator(place)) {
    if (entry.is_regular_file() && entry.path().extension() == ".study") {
      found.push_back(place == "." ? entry.path().filename() : entry.path());
    }
  }
  std::sort(found.begin(), found.end());
  files.insert(files.end(), found.begin(), found.end());
}

std::string replicas_of(const store::StudySummary& summary) {
  if (summary.measured == 0) return "-";
  if (summary.fewest_replicas == summary.most_replicas) {
    return fmt::format("{}", summary.most_replicas);
  }
  return fmt::format("{}-{}", summary.fewest_replicas, summary.most_replicas);
}

Json row_of(const fs::path& file) {
  const store::StudySummary summary = store::summarise(file);
  return {{"study", file.string()},
          {"experiment", summary.experiment},
          {"state", state_of(summary)},
          {"planned", summary.planned},
          {"measured", summary.measured},
          {"cells", summary.sweep ? fmt::format("{}/{}", summary.measured, summary.planned) : "-"},
          {"replicas", replicas_of(summary)},
          {"work", summary.sweep ? duration_text(summary.seconds) : "-"},
          {"work_seconds", summary.seconds},
          {"seed", summary.seed},
          {"version", summary.version},
          {"last", last_time(summary)}};
}

// One damaged file must not hide the others.
Json rows_of(const std::vector<fs::path>& files, std::vector<std::string>& refused) {
  Json rows = Json::array();
  for (const fs::path& file : files) {
    try {
      rows.push_back(row_of(file));
    } catch (const Error& error) {
      refused.emplace_back(error.what());
    }
  }
  return rows;
}

Answer runs_answer(const RunsVerb& o) {
  std::vector<fs::path> files;
  for (const std::string& place : o.places) add_studies(place, files);
  std::vector<std::string> refused;
  const Json rows = rows_of(files, refused);
  for (const std::string& reason : refused) tell("dewpoint: " + reason);
  std::string text;
  if (rows.empty() && refused.empty()) {
    text =
        "No studies here (*.study). To make one: dewpoint run --template phase > phase.toml && "
        "dewpoint run phase.toml\n";
  } else if (!rows.empty()) {
    text = to_text(rows, {{"study", "study", true},
                          {"experiment", "experiment", true},
                          {"state", "state", true},
                          {"cells", "cells"},
                          {"replicas", "replicas"},
                          {"work", "work"},
                          {"last", "last", true}});
  }
  return {{{"studies", rows}, {"refused", refused}}, text, {}, true, refused.empty() ? 0 : 2};
}

}  // namespace

Verb runs_verb() {
  return verb_of<RunsVerb>("runs", "The studies of a folder: how far, how long", "dewpoint runs",
                           runs_answer);
}

}  // namespace dewpoint::cli
