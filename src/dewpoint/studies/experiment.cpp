#include "dewpoint/studies/experiment.hpp"

#include <fmt/format.h>

#include <cmath>

#include "dewpoint/core/error.hpp"
#include "dewpoint/core/nearest_word.hpp"
#include "dewpoint/core/random.hpp"

namespace dewpoint::studies {
namespace {

template <typename Held>
const Held& value_of(const Point& point, const std::string& name) {
  const auto found = point.find(name);
  DEWPOINT_EXPECTS(found != point.end() && std::holds_alternative<Held>(found->second));
  return std::get<Held>(found->second);
}

}  // namespace

// ------------------------------------------------------------------------------------ experiments

std::vector<double> Experiment::measure_part(const Point& /*point*/, std::uint64_t /*seed*/,
                                             std::uint64_t /*replica*/, std::size_t /*part*/,
                                             const RunContext& /*context*/) const {
  DEWPOINT_EXPECTS(!"an experiment with parts measures them itself");
  return {};
}

std::vector<double> Experiment::join(const Point& /*point*/, std::uint64_t /*seed*/,
                                     std::uint64_t /*replica*/,
                                     const std::vector<std::vector<double>>& /*parts*/) const {
  DEWPOINT_EXPECTS(!"an experiment with parts joins them itself");
  return {};
}

const Experiment& experiment_named(const std::string& name) {
  std::vector<std::string> names;
  for (const Experiment* experiment : experiments()) {
    if (experiment->name() == name) return *experiment;
    names.push_back(experiment->name());
  }
  throw Error(Code::bad_value, fmt::format("no experiment '{}'{}", name, instead_of(name, names)));
}

std::uint64_t seed_of_replica(std::uint64_t seed, std::uint64_t replica) {
  if (replica == 0) return seed;
  const auto words = Stream(seed, "replica", replica).bits(0);
  return (std::uint64_t{words[1]} << 32) | words[0];
}

// --------------------------------------------------------------------------------- reading points

double number_of(const Point& point, const std::string& name) {
  return value_of<double>(point, name);
}

std::size_t count_of(const Point& point, const std::string& name) {
  const double number = number_of(point, name);
  DEWPOINT_EXPECTS(number >= 0.0 && number < 0x1p64 && number == std::floor(number));
  return static_cast<std::size_t>(number);
}

const std::string& word_of(const Point& point, const std::string& name) {
  return value_of<std::string>(point, name);
}

bool flag_of(const Point& point, const std::string& name) { return value_of<bool>(point, name); }

bool has(const Point& point, const std::string& name) { return point.contains(name); }

Point with_defaults(const Point& given, const std::vector<Field>& parameters) {
  Point point = given;
  for (const Field& parameter : parameters) {
    if (parameter.standard) point.try_emplace(parameter.name, *parameter.standard);
  }
  return point;
}

}  // namespace dewpoint::studies
