#include "dewpoint/report/study_slice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "dewpoint/core/error.hpp"
#include "dewpoint/core/nearest_word.hpp"
#include "dewpoint/core/quantity.hpp"
#include "dewpoint/report/number_text.hpp"
#include "dewpoint/report/study_frames.hpp"

namespace dewpoint::report {
namespace {

constexpr std::size_t kMostNamed = 24;  // values in an error message
constexpr double kSameNumber = 1e-9;    // relative: "0.333333333333" means 1/3
constexpr double kManyfold = 8;         // fewer octaves than three need no logarithms
constexpr std::string_view kTheory = "_theory";
constexpr std::string_view kCritical = "critical_";

bool is_measured(const Variable& variable) {
  return !variable.name.ends_with(kTheory) && !variable.name.starts_with(kCritical);
}

// The frame of the experiment first: it is what the study is about.
std::vector<const Frame*> frames_in_order(const store::StudyRecord& study) {
  std::vector<const Frame*> frames;
  for (const Frame& frame : study.frames) frames.push_back(&frame);
  std::stable_partition(frames.begin(), frames.end(),
                        [&](const Frame* frame) { return frame->name() == study.experiment; });
  return frames;
}

std::string value_text(const Dimension& dimension, std::size_t position) {
  return dimension.labels.empty() ? fmt::format("{}", dimension.coordinates[position])
                                  : dimension.labels[position];
}

bool matches(const Dimension& dimension, std::size_t position, const std::string& text) {
  if (!dimension.labels.empty()) return dimension.labels[position] == text;
  char* end = nullptr;
  const double wanted = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0') return false;
  const double value = dimension.coordinates[position];
  return std::abs(wanted - value) <= kSameNumber * std::max(std::abs(wanted), std::abs(value));
}

std::size_t position_of(const Dimension& dimension, const std::string& text) {
  const std::size_t extent = dimension.coordinates.size();
  for (std::size_t k = 0; k < extent; ++k) {
    if (matches(dimension, k, text)) return k;
  }
  Names allowed;
  for (std::size_t k = 0; k < std::min(extent, kMostNamed); ++k) {
    allowed.push_back(value_text(dimension, k));
  }
  if (extent > kMostNamed)
    allowed.push_back(fmt::format("... {}", value_text(dimension, extent - 1)));
  throw Error(Code::bad_value, fmt::format("axis '{}' has no value {}", dimension.name, text) +
                                   instead_of(dimension.labels.empty() ? "" : text, allowed));
}

std::vector<std::size_t> positions_of(const Dimension& dimension, const std::string& texts) {
  std::vector<std::size_t> positions;
  std::size_t begin = 0;
  while (begin <= texts.size()) {
    const std::size_t end = std::min(texts.find(',', begin), texts.size());
    positions.push_back(position_of(dimension, texts.substr(begin, end - begin)));
    begin = end + 1;
  }
  return positions;
}

// The widest step over the narrowest.
double unevenness(const std::vector<double>& values) {
  double narrowest = values[1] - values[0];
  double widest = narrowest;
  for (std::size_t k = 1; k + 1 < values.size(); ++k) {
    narrowest = std::min(narrowest, values[k + 1] - values[k]);
    widest = std::max(widest, values[k + 1] - values[k]);
  }
  return widest / narrowest;
}

Names names_of(const std::vector<FreeAxis>& axes) {
  Names names;
  for (const FreeAxis& axis : axes) names.push_back(axis.name());
  return names;
}

}  // namespace

std::pair<std::string, std::string> parse_at(const std::string& text) {
  const std::size_t mark = text.find('=');
  if (mark == std::string::npos || mark == 0 || mark + 1 == text.size()) {
    throw Error(Code::bad_value,
                fmt::format("'{}' must be an axis and its values, as in n=512 or n=64,128", text));
  }
  return {text.substr(0, mark), text.substr(mark + 1)};
}

std::vector<double> FreeAxis::values() const {
  std::vector<double> values;
  for (const std::size_t k : positions) values.push_back(dimension->coordinates[k]);
  return values;
}

StudySlice::StudySlice(const store::StudyRecord& study, const FigureRequest& request)
    : study_(&study) {
  choose_observable(request.observable);
  choose_positions(request);
}

void StudySlice::choose_observable(const std::string& name) {
  Names allowed;
  for (const Frame* frame : frames_in_order(*study_)) {
    for (const Variable& variable : frame->variables()) {
      const bool wanted = name.empty() ? is_measured(variable) && !variable.dimensions.empty()
                                       : variable.name == name;
      if (wanted) {
        frame_ = frame;
        observable_ = &variable;
        return;
      }
      if (is_measured(variable)) allowed.push_back(variable.name);
    }
  }
  const std::string complaint =
      name.empty() ? "this study holds nothing over an axis, so there is nothing to draw"
                   : fmt::format("'{}' is no observable of this study", name);
  throw Error(Code::bad_value, name.empty() ? complaint : complaint + instead_of(name, allowed));
}

void StudySlice::choose_positions(const FigureRequest& request) {
  std::map<std::string, std::vector<std::size_t>> chosen;
  for (const auto& [name, values] : request.at) {
    const auto& known = observable_->dimensions;
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      throw Error(Code::bad_value, fmt::format("'{}' is no axis of '{}'", name, observable_->name) +
                                       instead_of(name, known));
    }
    for (const std::size_t k : positions_of(frame_->dimension(name), values)) {
      chosen[name].push_back(k);
    }
  }
  for (const std::string& name : observable_->dimensions) {
    const Dimension& dimension = frame_->dimension(name);
    std::vector<std::size_t> positions = chosen[name];
    for (std::size_t k = 0; chosen[name].empty() && k < dimension.coordinates.size(); ++k) {
      positions.push_back(k);
    }
    std::sort(positions.begin(), positions.end());
    positions.erase(std::unique(positions.begin(), positions.end()), positions.end());
    if (positions.size() == 1) fixed_[name] = positions.front();
    if (positions.size() > 1) axes_.push_back({&dimension, std::move(positions)});
  }
}

const FreeAxis& StudySlice::axis(const std::string& name, bool numeric) const {
  for (const FreeAxis& axis : axes_) {
    if (axis.name() != name) continue;
    if (numeric && !axis.is_numeric()) {
      throw Error(Code::bad_value,
                  fmt::format("axis '{}' holds words, which name lines or panels: x and y of a "
                              "figure must be numbers",
                              name));
    }
    if (numeric) static_cast<void>(increasing(*frame_, name));
    return axis;
  }
  if (fixed_.count(name) != 0) {
    throw Error(Code::bad_value, fmt::format("axis '{}' has only one value here", name));
  }
  throw Error(Code::bad_value, fmt::format("'{}' is no axis of '{}'", name, observable_->name) +
                                   instead_of(name, names_of(axes_)));
}

const FreeAxis* StudySlice::last_numeric(const std::vector<const FreeAxis*>& taken) const {
  for (const std::size_t fewest : {kBroad, std::size_t{2}}) {
    for (auto axis = axes_.rbegin(); axis != axes_.rend(); ++axis) {
      const bool is_taken = std::find(taken.begin(), taken.end(), &*axis) != taken.end();
      if (!is_taken && axis->is_numeric() && axis->size() >= fewest) return &*axis;
    }
  }
  return nullptr;
}

std::vector<const FreeAxis*> StudySlice::others(const std::vector<const FreeAxis*>& taken) const {
  std::vector<const FreeAxis*> rest;
  for (const FreeAxis& axis : axes_) {
    if (std::find(taken.begin(), taken.end(), &axis) == taken.end()) rest.push_back(&axis);
  }
  return rest;
}

std::vector<Place> StudySlice::places(const std::vector<const FreeAxis*>& along) const {
  std::vector<Place> all{fixed_};
  for (const FreeAxis* axis : along) {
    std::vector<Place> longer;
    for (const Place& place : all) {
      for (const std::size_t k : axis->positions) {
        longer.push_back(place);
        longer.back()[axis->name()] = k;
      }
    }
    all = std::move(longer);
  }
  return all;
}

Estimate StudySlice::value(const Variable& variable, const Place& place) const {
  std::vector<std::size_t> position;
  for (const std::string& name : variable.dimensions) {
    const auto found = place.find(name);
    if (found == place.end()) return {};
    position.push_back(found->second);
  }
  return variable.cells[frame_->cell_index(variable, position)];
}

std::string StudySlice::place_label(const Place& place,
                                    const std::vector<const FreeAxis*>& along) const {
  std::string text;
  for (const FreeAxis* axis : along) {
    const std::size_t k = place.at(axis->name());
    if (!text.empty()) text += ", ";
    text += axis->is_numeric() ? value_label(axis->name(), axis->dimension->coordinates[k])
                               : axis->dimension->labels[k];
  }
  return text;
}

std::string StudySlice::caption() const {
  std::string text;
  for (const auto& [name, position] : fixed_) {
    const Dimension& dimension = frame_->dimension(name);
    const std::string value = dimension.labels.empty()
                                  ? value_label(name, dimension.coordinates[position])
                                  : symbol_of(name) + " = " + dimension.labels[position];
    text += value + "\u00a0· ";
  }
  return text + caption_of(*study_, observable_->dimensions, observable_);
}

bool grows_by_factors(const std::vector<double>& values) {
  if (values.size() < 3 || !(values.front() > 0)) return false;
  if (values.back() < kManyfold * values.front()) return false;
  return unevenness(places_on(AxisScale::logarithmic, values)) < unevenness(values);
}

AxisScale axis_scale(const FreeAxis& axis, bool logarithmic, bool linear) {
  const bool log = logarithmic || (!linear && grows_by_factors(axis.values()));
  return log ? AxisScale::logarithmic : AxisScale::linear;
}

void expect_few_panels(const std::vector<const FreeAxis*>& axes) {
  std::size_t panels = 1;
  std::string names;
  for (const FreeAxis* axis : axes) {
    panels *= axis->size();
    names += (names.empty() ? "" : ", ") + axis->name();
  }
  if (panels <= kMostPanels) return;
  throw Error(Code::bad_value,
              fmt::format("one panel for each value of {} would be {} panels, more than {}: choose "
                          "values, as in --at {}={}",
                          names, panels, kMostPanels, axes.front()->name(),
                          value_text(*axes.front()->dimension, axes.front()->positions.front())));
}

}  // namespace dewpoint::report
