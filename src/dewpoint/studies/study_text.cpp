#include "dewpoint/studies/study_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <limits>
#include <set>
#include <system_error>
#include <utility>

#include "dewpoint/core/error.hpp"
#include "dewpoint/core/nearest_word.hpp"
#include "dewpoint/studies/study_field.hpp"
#include "dewpoint/studies/study_values.hpp"

namespace dewpoint::studies {
namespace {

namespace fs = std::filesystem;
using Names = std::vector<std::string>;

constexpr std::uint64_t kMostReplicas = 1'000'000'000;
constexpr std::uint64_t kMostLevels = 16;
constexpr std::string_view kConditions = "a list of conditions, as in [\"n=512\"]";

bool contains(const Names& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// Reads a document into a study, section by section: later ones need to know what earlier ones
/// said.
class Reading {
 public:
  Reading(const TomlDocument& document, const ExperimentFinder& find)
      : document_(document), root_(document), find_(find) {}

  StudyText read();

 private:
  void read_head();
  void read_fixed(const StudyField& section);
  void read_grid(const StudyField& section);
  void read_precision();
  void read_refinement(const StudyField& section);
  void read_outputs(const StudyField& section);
  void read_figure(const StudyField& section);

  void bound_cells(const StudyField& section) const;
  void learn_names();
  Names axes_to_refine(const StudyField& section) const;
  std::string axis_name(const StudyField& field, const Names& allowed) const;
  std::string condition(const StudyField& field) const;
  std::string observable_of(const StudyField& section) const;
  std::string output_file(const StudyField& field, const Names& endings);

  const TomlDocument& document_;
  StudyField root_;
  const ExperimentFinder& find_;
  const Experiment* experiment_ = nullptr;
  StudyText study_;
  std::map<std::string, std::string> written_as_;  // names in [grid] -> parameters they mean
  Names observables_;
  Names variables_;   // observables and predictions
  Names dimensions_;  // axes and what observables run over within a cell
  std::set<std::string> files_;
};

StudyText Reading::read() {
  root_.know_only({"title", "experiment", "seed", "replicas", "target", "parameters", "grid",
                   "refine", "outputs"});
  read_head();
  if (const auto section = root_.find("parameters")) read_fixed(*section);
  if (const auto section = root_.find("grid")) read_grid(*section);
  learn_names();
  read_precision();
  if (const auto section = root_.find("refine")) read_refinement(*section);
  if (const auto section = root_.find("outputs")) read_outputs(*section);
  return std::move(study_);
}

void Reading::read_head() {
  if (const auto title = root_.find("title")) study_.title = title->text();
  const StudyField experiment = root_.at("experiment", "the name of an experiment, in quotes");
  study_.experiment = experiment.text("the name of an experiment, in quotes");
  try {
    experiment_ = &find_(excerpt(study_.experiment));
  } catch (const Error& error) {
    experiment.refuse(error.what());
  }
  if (const auto seed = root_.find("seed")) {
    study_.seed = seed->count(0, std::numeric_limits<std::uint64_t>::max());
  }
}

// ------------------------------------------------------------------------------ where it measures

void Reading::read_fixed(const StudyField& section) {
  for (const StudyField& entry : section.entries()) {
    const Field& parameter = parameter_of(entry, *experiment_);
    if (!study_.fixed.emplace(parameter.name, read_value(entry, parameter)).second) {
      entry.refuse(fmt::format("'{}' is given twice", parameter.name));
    }
  }
}

void Reading::read_grid(const StudyField& section) {
  for (const StudyField& entry : section.entries()) {
    const Field& parameter = parameter_of(entry, *experiment_);
    if (study_.fixed.contains(parameter.name)) {
      entry.refuse(
          fmt::format("'{}' is in [parameters] too; allowed: in one of them", parameter.name));
    }
    const bool twice =
        std::any_of(study_.grid.begin(), study_.grid.end(),
                    [&](const GridAxis& axis) { return axis.name == parameter.name; });
    if (twice) entry.refuse(fmt::format("'{}' is given twice", parameter.name));
    study_.grid.push_back(read_axis(entry, parameter));
    written_as_[entry.name()] = parameter.name;
  }
  bound_cells(section);
}

void Reading::bound_cells(const StudyField& section) const {
  double cells = 1.0;
  for (const GridAxis& axis : study_.grid) cells *= static_cast<double>(axis.size());
  if (cells > static_cast<double>(kMostCells)) {
    section.refuse(fmt::format("{:.17g} cells; allowed: at most {}", cells, kMostCells));
  }
}

/// Asks the experiment at the first point of the grid: names are the same at all points.
void Reading::learn_names() {
  Point first = study_.fixed;
  for (const GridAxis& axis : study_.grid) {
    first[axis.name] = axis.words.empty() ? Value(axis.values.front()) : Value(axis.words.front());
    dimensions_.push_back(axis.name);
  }
  try {
    first = experiment_->resolved(first);
  } catch (const Error& error) {
    throw Error(error.code(), fmt::format("{}: {}", document_.name, error.what()));
  }
  for (const Observable& observable : experiment_->observables(first)) {
    observables_.push_back(observable.name);
    for (const Dimension& inner : observable.inner) {
      if (!contains(dimensions_, inner.name)) dimensions_.push_back(inner.name);
    }
  }
  variables_ = observables_;
  for (const Observable& prediction : experiment_->predictions(first)) {
    variables_.push_back(prediction.name);
  }
}

// -------------------------------------------------------------------------------- how precisely

void Reading::read_precision() {
  Precision& precision = study_.precision;
  const auto target = root_.find("target");
  if (target) precision.replicas = kFewestForTarget;
  if (const auto replicas = root_.find("replicas")) {
    precision.replicas = replicas->count(1, kMostReplicas);
    if (target && precision.replicas < kFewestForTarget) {
      replicas->refuse_value(fmt::format("with a target, at least {}", kFewestForTarget));
    }
  }
  if (!target) return;
  target->know_only({"observable", "error", "most"});
  precision.target_observable = observable_of(*target);
  const StudyField error = target->at("error", "a number above 0");
  precision.target_error = error.number("a number above 0");
  if (precision.target_error <= 0.0) error.refuse_value("a number above 0");
  precision.most = std::max(precision.most, precision.replicas);
  if (const auto most = target->find("most")) {
    precision.most = most->count(precision.replicas, kMostReplicas);
  }
}

std::string Reading::observable_of(const StudyField& section) const {
  const bool standard = contains(observables_, experiment_->order_parameter());
  if (standard && !section.find("observable")) return experiment_->order_parameter();
  const std::string allowed = fmt::format("{}", fmt::join(observables_, ", "));
  return section.at("observable", allowed).one_of(observables_);
}

void Reading::read_refinement(const StudyField& section) {
  section.know_only({"observable", "levels", "along", "share"});
  Refinement refinement;
  refinement.observable = observable_of(section);
  if (const auto levels = section.find("levels")) refinement.levels = levels->count(0, kMostLevels);
  if (const auto share = section.find("share")) {
    refinement.share = share->number("a number above 0, at most 1");
    if (refinement.share <= 0.0 || refinement.share > 1.0) {
      share->refuse_value("a number above 0, at most 1");
    }
  }
  refinement.along = axes_to_refine(section);
  if (refinement.levels > 0) study_.refinement = refinement;
}

Names Reading::axes_to_refine(const StudyField& section) const {
  Names possible;
  for (const GridAxis& axis : study_.grid) {
    if (axis.values.size() >= 2) possible.push_back(axis.name);
  }
  if (possible.empty()) section.refuse("no axis of [grid] has two numbers or more");
  const auto along = section.find("along");
  if (!along) return possible;
  Names names;
  for (const StudyField& item : along->list("a list of axes with two numbers or more")) {
    names.push_back(axis_name(item, possible));
    if (std::count(names.begin(), names.end(), names.back()) > 1)
      item.refuse_value("each axis once");
  }
  if (names.empty()) along->refuse_value("at least one axis");
  return names;
}

/// The axis that a text names as the grid writes it, in its unit or not.
std::string Reading::axis_name(const StudyField& field, const Names& allowed) const {
  if (field.kind() == TomlNode::Kind::text) {
    const auto written = written_as_.find(field.text());
    if (written != written_as_.end() && contains(allowed, written->second)) return written->second;
  }
  return field.one_of(allowed);
}

// -------------------------------------------------------------------------------- what it leaves

void Reading::read_outputs(const StudyField& section) {
  section.know_only({"study", "exports", "figures"});
  if (const auto study = section.find("study")) study_.study = output_file(*study, {});
  if (const auto exports = section.find("exports")) {
    for (const StudyField& item : exports->list("a list of files")) {
      study_.exports.push_back(output_file(item, {".csv", ".jsonl", ".npz", ".nc"}));
    }
  }
  if (const auto figures = section.find("figures")) {
    for (const StudyField& item : figures->list("a list of tables")) read_figure(item);
  }
}

void Reading::read_figure(const StudyField& section) {
  section.know_only({"file", "kind", "observable", "x", "y", "at", "fit", "log_x", "log_y"});
  FigureOutput figure;
  figure.file =
      output_file(section.at("file", "a file of .svg, .png or .pdf"), {".svg", ".png", ".pdf"});
  if (const auto kind = section.find("kind")) figure.kind = kind->text();
  if (const auto observable = section.find("observable")) {
    figure.observable = observable->one_of(variables_);
  }
  if (const auto x = section.find("x")) figure.x = axis_name(*x, dimensions_);
  if (const auto y = section.find("y")) figure.y = axis_name(*y, dimensions_);
  if (const auto at = section.find("at")) {
    for (const StudyField& item : at->list(kConditions)) figure.at.push_back(condition(item));
  }
  if (const auto fit = section.find("fit")) {
    figure.fit = fit->one_of({"power", "log", "log-power"});
  }
  if (const auto log_x = section.find("log_x")) figure.log_x = log_x->flag();
  if (const auto log_y = section.find("log_y")) figure.log_y = log_y->flag();
  study_.figures.push_back(std::move(figure));
}

/// "n=512", with the axis under its own name.
std::string Reading::condition(const StudyField& field) const {
  const std::string text = field.text(kConditions);
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals + 1 == text.size()) field.refuse_value(kConditions);
  std::string name = text.substr(0, equals);
  if (const auto written = written_as_.find(name); written != written_as_.end()) {
    name = written->second;
  }
  if (!contains(dimensions_, name)) {
    field.refuse(fmt::format("no axis '{}'{}", excerpt(name), instead_of(name, dimensions_)));
  }
  return name + text.substr(equals);
}

/// A file that no other output of the study is written to; `endings` are those allowed, if any.
std::string Reading::output_file(const StudyField& field, const Names& endings) {
  std::string file = field.text("the name of a file, in quotes");
  const std::string ending = fs::path(file).extension().string();
  if (!endings.empty() && !contains(endings, ending)) {
    field.refuse_value(fmt::format("files that end in {}", fmt::join(endings, ", ")));
  }
  if (!files_.insert(file).second) field.refuse_value("each file once");
  return file;
}

std::string read_limited(const fs::path& file) {
  const auto refuse = [&](const std::string& why) {
    throw Error(Code::unreadable_file,
                fmt::format("{}: {}; allowed: a study file", file.string(), why));
  };
  std::error_code ignored;
  if (fs::is_directory(file, ignored)) refuse("a directory");
  std::ifstream stream(file, std::ios::binary);
  if (!stream) refuse(std::generic_category().message(errno));
  std::string text(kMostFileBytes + 1, '\0');
  stream.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (stream.bad()) refuse("cannot be read to its end");
  text.resize(static_cast<std::size_t>(stream.gcount()));
  if (text.size() > kMostFileBytes) {
    throw Error(Code::malformed_file, fmt::format("{}: a study file of more than {} bytes",
                                                  file.string(), kMostFileBytes));
  }
  if (text.empty()) {
    throw Error(Code::malformed_file, file.string() + ": is empty; allowed: a study file");
  }
  return text;
}

}  // namespace

StudyText parse_study_text(std::string_view text, const std::string& name,
                           const std::vector<std::string>& overrides,
                           const ExperimentFinder& find) {
  const TomlDocument document = read_toml(text, name, overrides);
  return Reading(document, find).read();
}

StudyText read_study_text(const fs::path& file, const std::vector<std::string>& overrides,
                          const ExperimentFinder& find) {
  StudyText study = parse_study_text(read_limited(file), file.string(), overrides, find);
  if (study.study.empty()) study.study = file.stem().string() + ".study";
  return study;
}

}  // namespace dewpoint::studies
