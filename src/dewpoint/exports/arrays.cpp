#include "dewpoint/exports/arrays.hpp"

#include <utility>

#include "dewpoint/exports/text.hpp"

namespace dewpoint::exports {
namespace {

template <class Number, class Field>
std::vector<Number> collect(const Variable& variable, Field field) {
  std::vector<Number> numbers;
  numbers.reserve(variable.cells.size());
  for (const Estimate& cell : variable.cells) numbers.push_back(static_cast<Number>(cell.*field));
  return numbers;
}

}  // namespace

std::vector<std::size_t> FrameArrays::positions_of(std::size_t k) const {
  std::vector<std::size_t> positions;
  for (const std::string& name : frame->variables()[k].dimensions) {
    const Dimension* first = frame->dimensions().data();
    positions.push_back(static_cast<std::size_t>(&frame->dimension(name) - first));
  }
  return positions;
}

FrameArrays arrays_of(const Frame& frame, Names names, std::string (*spelling)(std::string_view)) {
  FrameArrays arrays{&frame, {}, {}};
  for (const Dimension& dimension : frame.dimensions()) {
    arrays.dimensions.push_back(names.claim(spelling(dimension.name)));
  }
  std::vector<const Variable*> variables;
  for (const Variable& variable : frame.variables()) variables.push_back(&variable);
  arrays.variables = claim_names(variables, names, spelling);
  return arrays;
}

std::vector<std::string> clean_labels(const Dimension& dimension) {
  std::vector<std::string> labels;
  for (const std::string& label : dimension.labels) labels.push_back(clean_text(label));
  return labels;
}

std::vector<double> means_of(const Variable& variable) {
  return collect<double>(variable, &Estimate::mean);
}

std::vector<double> errors_of(const Variable& variable) {
  return collect<double>(variable, &Estimate::standard_error);
}

std::vector<std::int64_t> samples_of(const Variable& variable) {
  return collect<std::int64_t>(variable, &Estimate::samples);
}

}  // namespace dewpoint::exports
