#include "cli/train_resume.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "dewpoint/core/error.hpp"

namespace dewpoint::cli {
namespace {

using experiments::TrainQuestion;

/// Files of earlier versions have `until` for steps or time, and the precision by its name.
question::Point point_from(const store::StudyRecord& study) {
  std::map<std::string, std::string> texts(study.parameters.begin(), study.parameters.end());
  if (const auto until = texts.extract("until")) {
    texts.emplace(texts["optimiser"] == "flow" ? "time" : "steps", until.mapped());
  }
  if (const auto precision = texts.extract("precision")) {
    texts.emplace("double", precision.mapped() == "double" ? "true" : "false");
  }
  question::Point point;
  for (const auto& [name, text] : texts) {
    const question::Field* field = question::find_field(question::fields_of<TrainQuestion>(), name);
    if (field == nullptr) throw Error(Code::bad_value, fmt::format("{}: no such parameter", name));
    point[field->name] = question::parse_value(*field, text);
  }
  return point;
}

}  // namespace

TrainQuestion question_from(const store::StudyRecord& study, const std::string& file) {
  try {
    return question::restored<TrainQuestion>(point_from(study));
  } catch (const Error& error) {
    throw Error(Code::malformed_file, fmt::format("{}: {}", file, error.what()));
  }
}

training::Chain chain_from(const store::StudyRecord& study, const std::string& name) {
  const Frame& data = study.frame("data");
  const std::size_t d = data.dimension("token").coordinates.size();
  Matrix<double> transition(d, d);
  const auto& cells = data.variable("transition").cells;
  for (std::size_t i = 0; i < cells.size(); ++i) transition.data()[i] = cells[i].mean;
  training::Chain chain = training::chain_of(std::move(transition), "frame 'data'");
  for (std::size_t k = 0; k < d; ++k) {
    chain.stationary[k] = data.variable("stationary").cells[k].mean;
    for (std::size_t j = 0; j < d; ++j) chain.transition(k, j) = cells[k * d + j].mean;
  }
  chain.name = std::filesystem::path(name).filename().string();
  return chain;
}

}  // namespace dewpoint::cli
