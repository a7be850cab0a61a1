#include "dewpoint/report/training_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "dewpoint/report/number_text.hpp"

namespace dewpoint::report {
namespace {

struct Boundary {
  std::string_view event;  // label in the frame "stages"
  const char* stage;       // that begins there
  const char* words;
};

constexpr std::array<Boundary, 3> kBoundaries = {{{"focus", "II", "focus starts"},
                                                  {"peak", "III", "focus peaks"},
                                                  {"new direction", "IV", "new direction"}}};

constexpr std::array<Colour, kMostTokensShown> kTokenColours = {
    0x0072b2, 0xd55e00, 0x009e73, 0xcc79a7, 0xe69f00, 0x56b4e9, 0x7b3f00, 0x808080};

std::optional<double> stage_value(const Frame& stages, const std::string& variable,
                                  std::string_view event) {
  if (stages.find_variable(variable) == nullptr) return std::nullopt;
  const auto& cells = variable_over(stages, variable, {"stage"}).cells;
  const auto& labels = stages.dimension("stage").labels;
  const auto found = std::find(labels.begin(), labels.end(), event);
  if (found == labels.end()) return std::nullopt;
  const double value = cells[static_cast<std::size_t>(found - labels.begin())].mean;
  return std::isfinite(value) ? std::optional(value) : std::nullopt;
}

std::string parameter_of(const store::StudyRecord& study, std::string_view name) {
  for (const auto& [key, value] : study.parameters) {
    if (key == name) return value;
  }
  return {};
}

std::vector<double> frequencies(const store::StudyRecord& study, std::size_t vocabulary) {
  const Frame* data = find_frame(study, "data");
  if (data == nullptr || data->find_variable("stationary") == nullptr) return {};
  const Variable& stationary = variable_over(*data, "stationary", {"token"});
  if (stationary.cells.size() != vocabulary) return {};
  return block_of_means(stationary, 0, vocabulary);
}

// Three digits are enough for a legend.
std::string short_number(double value) {
  return number_text(std::stod(fmt::format("{:.3g}", value)));
}

}  // namespace

Colour token_colour(std::size_t token) { return kTokenColours[token % kTokenColours.size()]; }

TrainingRun::TrainingRun(const store::StudyRecord& study)
    : study_(&study),
      trajectory_(&study.frame("trajectory")),
      times_(&increasing(*trajectory_, "time")),
      vocabulary_(trajectory_->dimension("token").coordinates.size()),
      is_flow_(parameter_of(study, "optimiser") == "flow"),
      has_stages_(find_frame(study, "stages") != nullptr),
      stationary_(frequencies(study, vocabulary_)) {
  if (!has_stages_) return;
  for (std::size_t k = 0; k < kBoundaries.size(); ++k) {
    boundaries_[k] = stage_value(study.frame("stages"), "time", kBoundaries[k].event);
  }
}

std::size_t TrainingRun::tokens() const { return std::min(vocabulary_, kMostTokensShown); }

std::string TrainingRun::label(const std::string& role, std::size_t token) const {
  if (stationary_.empty()) return fmt::format("{} {}", role, token);
  return fmt::format("{} {} (π = {})", role, token, short_number(stationary_[token]));
}

Axis TrainingRun::time_axis() const {
  return {is_flow_ ? "time t" : "step", AxisScale::linear, std::nullopt};
}

std::string TrainingRun::time_text(double time) const {
  return is_flow_ ? fmt::format("t = {:.4g}", time) : fmt::format("step {:.0f}", time);
}

std::vector<Marker> TrainingRun::markers() const {
  std::vector<Marker> markers;
  for (std::size_t k = 0; k < kBoundaries.size(); ++k) {
    if (boundaries_[k]) markers.push_back({*boundaries_[k], kBoundaries[k].stage});
  }
  return markers;
}

std::vector<TrainingStage> TrainingRun::stages() const {
  std::vector<TrainingStage> stages;
  if (!boundaries_[0]) return stages;
  stages.push_back({"I", times_->front(), *boundaries_[0]});
  for (std::size_t k = 0; k < kBoundaries.size() && boundaries_[k]; ++k) {
    stages.back().until = *boundaries_[k];
    stages.push_back({kBoundaries[k].stage, *boundaries_[k], times_->back()});
  }
  return stages;
}

std::vector<double> TrainingRun::over_time(const std::string& variable, const Names& others,
                                           std::size_t offset) const {
  Names dimensions{"time"};
  dimensions.insert(dimensions.end(), others.begin(), others.end());
  const auto& cells = variable_over(*trajectory_, variable, dimensions).cells;
  const std::size_t stride = cells.size() / times_->size();
  std::vector<double> values;
  for (std::size_t k = 0; k < times_->size(); ++k)
    values.push_back(cells[k * stride + offset].mean);
  return values;
}

Series TrainingRun::curve(std::string label, SeriesStyle style, Colour colour,
                          const std::string& variable, const Names& others,
                          std::size_t offset) const {
  return {std::move(label), style, colour, *times_, over_time(variable, others, offset), {}};
}

// "Stage II: focus starts, step 100; III: focus peaks, step 205; IV: new direction, not seen."
std::string TrainingRun::stage_note() const {
  if (!has_stages_) return {};
  if (!boundaries_[0]) return "No focus on token 0 was seen, so that there are no stages.";
  std::string note = "Stage";
  for (std::size_t k = 0; k < kBoundaries.size(); ++k) {
    note +=
        fmt::format("{} {}: {}, {}", k == 0 ? "" : ";", kBoundaries[k].stage, kBoundaries[k].words,
                    boundaries_[k] ? time_text(*boundaries_[k]) : "not seen");
  }
  return note + ".";
}

std::string TrainingRun::rise_note() const {
  if (!has_stages_) return {};
  const auto rise = stage_value(study_->frame("stages"), "threshold", "peak");
  return rise ? "A rise by " + short_number(*rise) + " of the way to 1 counts as focus." : "";
}

std::string TrainingRun::token_note() const {
  if (tokens() == vocabulary_) return {};
  return fmt::format("The {} most frequent of {} tokens are shown.", tokens(), vocabulary_);
}

std::string TrainingRun::caption(const Names& notes) const {
  Names all = notes;
  all.push_back(stage_note());
  all.push_back(rise_note());
  std::string text;
  for (const std::string& note : all) text += note.empty() ? "" : note + " ";
  return text + caption_of(*study_, {}, nullptr);
}

}  // namespace dewpoint::report
