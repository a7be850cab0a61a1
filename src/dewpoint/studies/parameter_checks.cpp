#include "dewpoint/studies/parameter_checks.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "dewpoint/core/error.hpp"

namespace dewpoint::studies {

void require(bool allowed, const std::string& name, double value, const std::string& range) {
  if (!allowed) throw Error(Code::bad_value, fmt::format("{}: {} is not {}", name, value, range));
}

std::size_t whole_between(const Point& point, const std::string& name, double least, double most) {
  const double value = number_of(point, name);
  const bool allowed = value >= least && value <= most && value == std::floor(value);
  if (!allowed) {
    require(false, name, value, fmt::format("a whole number in [{}, {}]", least, most));
  }
  return static_cast<std::size_t>(value);
}

void require_one_of(const Point& given, const std::vector<std::string>& names) {
  const std::string* first = nullptr;
  for (const std::string& name : names) {
    if (!has(given, name)) continue;
    if (first != nullptr) {
      throw Error(Code::bad_value, fmt::format("{}: {} is given beside {}; allowed: one of them",
                                               name, number_of(given, name), *first));
    }
    first = &name;
  }
}

Dimension numbered_dimension(const std::string& name, std::size_t count) {
  Dimension dimension{name, std::vector<double>(count)};
  std::iota(dimension.coordinates.begin(), dimension.coordinates.end(), 0.0);
  return dimension;
}

Dimension counted_dimension(const std::string& name, std::size_t count) {
  Dimension dimension{name, std::vector<double>(count)};
  std::iota(dimension.coordinates.begin(), dimension.coordinates.end(), 1.0);
  return dimension;
}

std::vector<Observable> scalars(const std::vector<std::string>& names) {
  std::vector<Observable> observables;
  for (const std::string& name : names) observables.push_back({name});
  return observables;
}

std::vector<double> in_order(const std::vector<std::string>& names,
                             const std::map<std::string, double>& known) {
  std::vector<double> values;
  for (const std::string& name : names) {
    const auto found = known.find(name);
    values.push_back(found == known.end() ? std::numeric_limits<double>::quiet_NaN()
                                          : found->second);
  }
  return values;
}

}  // namespace dewpoint::studies
