#include "dewpoint/report/study_frames.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "dewpoint/core/error.hpp"

namespace dewpoint::report {
namespace {

// fmt::join over strings makes g++ 12 warn at -O3 (stringop-overflow, a false alarm).
std::string joined(const Names& parts, std::string_view separator) {
  std::string text;
  for (const auto& part : parts) {
    if (!text.empty()) text += separator;
    text += part;
  }
  return text;
}

template <class Field>
std::vector<double> block_of(const Variable& variable, std::size_t skip, std::size_t count,
                             Field field) {
  std::vector<double> values(count);
  const auto first = variable.cells.begin() + static_cast<std::ptrdiff_t>(skip * count);
  std::transform(first, first + static_cast<std::ptrdiff_t>(count), values.begin(), field);
  return values;
}

Row block_row(const std::vector<double>& x, const Variable& variable, std::size_t position) {
  const auto error = [](const Estimate& estimate) { return estimate.standard_error; };
  return {x, block_of_means(variable, position, x.size()),
          block_of(variable, position, x.size(), error)};
}

}  // namespace

const Frame* find_frame(const store::StudyRecord& study, std::string_view name) {
  const auto found = std::find_if(study.frames.begin(), study.frames.end(),
                                  [&](const Frame& frame) { return frame.name() == name; });
  return found == study.frames.end() ? nullptr : &*found;
}

const Variable& variable_over(const Frame& frame, const std::string& name,
                              const Names& dimensions) {
  const Variable& variable = frame.variable(name);
  if (variable.dimensions == dimensions) return variable;
  throw Error(Code::bad_value, fmt::format("variable '{}' of frame '{}' must be over {}", name,
                                           frame.name(), joined(dimensions, ", ")));
}

const std::vector<double>& increasing(const Frame& frame, const std::string& dimension) {
  const auto& values = frame.dimension(dimension).coordinates;
  // Not "less or equal": a NaN must fail too.
  const auto is_no_step = [](double a, double b) { return !(a < b); };
  if (!values.empty() &&
      std::adjacent_find(values.begin(), values.end(), is_no_step) == values.end()) {
    return values;
  }
  throw Error(Code::bad_value,
              fmt::format("dimension '{}' of frame '{}' must increase", dimension, frame.name()));
}

std::optional<std::size_t> index_of(const std::vector<double>& values, double value) {
  const auto found = std::find(values.begin(), values.end(), value);
  if (found == values.end()) return {};
  return static_cast<std::size_t>(found - values.begin());
}

std::vector<double> all_coordinates(const std::vector<const Frame*>& frames,
                                    const std::string& dimension) {
  std::vector<double> all;
  for (const Frame* frame : frames) {
    if (frame == nullptr) continue;
    const auto& values = increasing(*frame, dimension);
    all.insert(all.end(), values.begin(), values.end());
  }
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

std::vector<double> block_of_means(const Variable& variable, std::size_t skip, std::size_t count) {
  return block_of(variable, skip, count, [](const Estimate& estimate) { return estimate.mean; });
}

std::vector<double> known_errors(std::span<const Estimate> cells) {
  std::vector<double> errors;
  for (const Estimate& cell : cells) errors.push_back(cell.standard_error);
  const bool none =
      std::all_of(errors.begin(), errors.end(), [](double error) { return std::isnan(error); });
  return none ? std::vector<double>{} : errors;
}

Row row_of(const Frame& frame, const std::string& variable, const std::string& dimension) {
  return block_row(increasing(frame, dimension), variable_over(frame, variable, {dimension}), 0);
}

Row row_of(const Frame& frame, const std::string& variable, const std::string& outer,
           std::size_t position, const std::string& inner) {
  return block_row(increasing(frame, inner), variable_over(frame, variable, {outer, inner}),
                   position);
}

std::string samples_of(const Variable& variable) {
  std::uint64_t low = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t high = 0;
  for (const Estimate& cell : variable.cells) {
    if (cell.samples == 0) continue;
    low = std::min(low, cell.samples);
    high = std::max(high, cell.samples);
  }
  if (high == 0) return "no samples";
  if (high == 1) return "1 sample per cell";
  if (low == high) return fmt::format("{} samples per cell", low);
  return fmt::format("{} to {} samples per cell", low, high);
}

std::string caption_of(const store::StudyRecord& study, const Names& shown,
                       const Variable* measured) {
  Names parts;
  for (const auto& [name, value] : study.parameters) {
    const bool is_shown = std::find(shown.begin(), shown.end(), name) != shown.end();
    if (!is_shown) parts.push_back(fmt::format("{} = {}", name, value));
  }
  if (measured != nullptr) parts.push_back(samples_of(*measured));
  parts.push_back(fmt::format("seed {}", study.seed));
  if (!study.version.empty()) parts.push_back("Dewpoint " + study.version);
  return joined(parts, "\u00a0· ");  // a line may break after the dot
}

}  // namespace dewpoint::report
