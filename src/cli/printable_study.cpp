#include "cli/printable_study.hpp"

#include "dewpoint/core/printable.hpp"

namespace dewpoint::cli {
namespace {

void make_printable(std::string& text) { text = printable(text); }

std::vector<std::string> all_printable(std::vector<std::string> texts) {
  for (std::string& text : texts) make_printable(text);
  return texts;
}

Frame printable_frame(const Frame& frame) {
  Frame shown(printable(frame.name()));
  for (const Dimension& dimension : frame.dimensions()) {
    if (dimension.labels.empty()) {
      shown.add_dimension(printable(dimension.name), dimension.coordinates);
    } else {
      shown.add_labelled_dimension(printable(dimension.name), all_printable(dimension.labels));
    }
  }
  for (const Variable& variable : frame.variables()) {
    shown.add_variable(printable(variable.name), all_printable(variable.dimensions)).cells =
        variable.cells;
  }
  return shown;
}

}  // namespace

store::StudyRecord printable_study(store::StudyRecord study) {
  for (std::string* text : {&study.experiment, &study.version, &study.command, &study.created}) {
    make_printable(*text);
  }
  for (auto& [name, value] : study.parameters) {
    make_printable(name);
    make_printable(value);
  }
  for (Frame& frame : study.frames) frame = printable_frame(frame);
  return study;
}

store::StudySummary printable_summary(store::StudySummary summary) {
  for (std::string* text : {&summary.experiment, &summary.title, &summary.version, &summary.created,
                            &summary.command}) {
    make_printable(*text);
  }
  for (store::StudySummary::Session& session : summary.sessions) {
    for (std::string* text : {&session.started, &session.stopped, &session.outcome,
                              &session.version, &session.processor}) {
      make_printable(*text);
    }
  }
  summary.text = printable_page(summary.text);
  return summary;
}

}  // namespace dewpoint::cli
