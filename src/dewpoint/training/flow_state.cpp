#include "dewpoint/training/flow_state.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>

#include "dewpoint/core/error.hpp"

namespace dewpoint::training {
namespace {

// Says that this is a flow, and which order of fields: change it with them.
constexpr double kMark = 20010.0;

class Writer {
 public:
  void number(double value) { values_.push_back(value); }
  void count(long value) { number(static_cast<double>(value)); }
  void moment(const std::optional<double>& value) {
    number(value.value_or(std::numeric_limits<double>::quiet_NaN()));
  }
  void numbers(std::span<const double> values) {
    values_.insert(values_.end(), values.begin(), values.end());
  }
  [[nodiscard]] std::vector<std::byte> bytes() const {
    const auto raw = std::as_bytes(std::span(values_));
    return {raw.begin(), raw.end()};
  }

 private:
  std::vector<double> values_;
};

class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) : values_(bytes.size() / sizeof(double)) {
    if (!values_.empty()) {
      std::memcpy(values_.data(), bytes.data(), values_.size() * sizeof(double));
    }
  }
  double number() { return values_.at(next_++); }
  long count() { return static_cast<long>(number()); }
  std::optional<double> moment() {
    const double value = number();
    return std::isnan(value) ? std::nullopt : std::optional(value);
  }
  void numbers(std::span<double> values) {
    for (double& value : values) value = number();
  }

 private:
  std::vector<double> values_;
  std::size_t next_ = 0;
};

std::span<const double> entries(const Matrix<double>& matrix) {
  return {matrix.data(), matrix.size()};
}

std::span<double> entries(Matrix<double>& matrix) { return {matrix.data(), matrix.size()}; }

void write(const FlowEvents& events, Writer& to) {
  to.moment(events.condensed);
  to.moment(events.focus_start);
  to.moment(events.focus_peak);
  to.number(events.focus_peak_value);
  to.moment(events.half_dilution);
  for (const auto& turned : events.turned) to.moment(turned);
  to.moment(events.second_direction);
}

FlowEvents read_events(Reader& from, std::size_t vocabulary) {
  FlowEvents events;
  events.condensed = from.moment();
  events.focus_start = from.moment();
  events.focus_peak = from.moment();
  events.focus_peak_value = from.number();
  events.half_dilution = from.moment();
  for (std::size_t i = 0; i < vocabulary; ++i) events.turned.push_back(from.moment());
  events.second_direction = from.moment();
  return events;
}

std::size_t weight_count(std::size_t vocabulary, std::size_t width) {
  return 2 * width * (vocabulary + width);
}

// Mark, sizes, time and `single`; six of the events; four counts; then what grows with the sizes.
std::size_t byte_count(std::size_t vocabulary, std::size_t width) {
  return sizeof(double) *
         (5 + 6 + 4 + vocabulary + weight_count(vocabulary, width) + 2 * width * width);
}

}  // namespace

std::vector<std::byte> to_bytes(const FlowState& state) {
  Writer to;
  to.number(kMark);
  to.number(static_cast<double>(state.events.turned.size()));
  to.number(static_cast<double>(state.at_start.outer.rows()));
  to.number(state.time);
  to.number(state.single ? 1.0 : 0.0);
  write(state.events, to);
  to.count(state.work.evaluations);
  to.count(state.work.hessian_products);
  to.count(state.work.steps);
  to.moment(state.work.exchanged);
  to.numbers(state.weights);
  to.numbers(entries(state.at_start.outer));
  to.numbers(entries(state.at_start.inner));
  return to.bytes();
}

FlowState flow_state(std::span<const std::byte> bytes, std::size_t vocabulary, std::size_t width) {
  const std::size_t expected = byte_count(vocabulary, width);
  Reader from(bytes);
  if (bytes.size() != expected || from.number() != kMark ||
      from.number() != static_cast<double>(vocabulary) ||
      from.number() != static_cast<double>(width)) {
    throw Error(Code::malformed_file,
                fmt::format("state of a gradient flow: {} bytes are not one of {} tokens and width "
                            "{}, which has {}",
                            bytes.size(), vocabulary, width, expected));
  }
  FlowState state;
  state.time = from.number();
  state.single = from.number() != 0.0;
  state.events = read_events(from, vocabulary);
  state.work.evaluations = from.count();
  state.work.hessian_products = from.count();
  state.work.steps = from.count();
  state.work.exchanged = from.moment();
  state.weights.resize(weight_count(vocabulary, width));
  from.numbers(state.weights);
  state.at_start = {Matrix<double>(width, width), Matrix<double>(width, width)};
  from.numbers(entries(state.at_start.outer));
  from.numbers(entries(state.at_start.inner));
  return state;
}

}  // namespace dewpoint::training
