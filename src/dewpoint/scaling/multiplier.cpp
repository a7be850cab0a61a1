#include "dewpoint/scaling/multiplier.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "dewpoint/core/error.hpp"

namespace dewpoint::scaling {
namespace {

constexpr double kYarnSlope = 0.1;

[[noreturn]] void refuse_name(const std::string& name) {
  std::vector<std::string> names;
  for (const Multiplier& known : multipliers()) names.push_back(known.name);
  throw Error(Code::bad_value,
              fmt::format("scaling: '{}' is unknown; allowed: {}", name, fmt::join(names, ", ")));
}

void require_longer_than_one(const char* field, double log_length) {
  if (log_length > 0.0) return;
  throw Error(Code::bad_value,
              fmt::format("{}: exp({}) is not a length above 1", field, log_length));
}

// 2/(d − 1), the power of n that a sphere of R^d asks for.
double sphere_exponent(double dimension) {
  if (!(dimension >= 2.0)) {
    throw Error(Code::bad_value, fmt::format("d: {} is below 2 for the scaling power", dimension));
  }
  return 2.0 / (dimension - 1.0);
}

double yarn(double log_extension) {
  const double factor = 1.0 + kYarnSlope * std::max(0.0, log_extension);
  return factor * factor;
}

}  // namespace

const std::vector<Multiplier>& multipliers() {
  static const std::vector<Multiplier> known = {{"constant", "1"},
                                                {"sqrt-log", "√(log n/log n0)"},
                                                {"qwen", "max(1, log n/log n0)"},
                                                {"ssmax", "log n/log n0"},
                                                {"yarn", "(1 + 0.1 log(n/n0))², 1 below n0"},
                                                {"power", "(n/n0)^(2/(d−1))"}};
  return known;
}

double multiplier(const std::string& name, double log_n, double log_n0, double dimension) {
  require_longer_than_one("n", log_n);
  require_longer_than_one("n0", log_n0);
  if (name == "constant") return 1.0;
  if (name == "sqrt-log") return std::sqrt(log_n / log_n0);
  if (name == "qwen") return std::max(1.0, log_n / log_n0);
  if (name == "ssmax") return log_n / log_n0;
  if (name == "yarn") return yarn(log_n - log_n0);
  if (name == "power") return std::exp(sphere_exponent(dimension) * (log_n - log_n0));
  refuse_name(name);
}

Growth growth(const std::string& name, double dimension) {
  if (name == "constant") return {0.0, 0.0};
  if (name == "sqrt-log") return {0.0, 0.5};
  if (name == "qwen" || name == "ssmax") return {0.0, 1.0};
  if (name == "yarn") return {0.0, 2.0};
  if (name == "power") return {sphere_exponent(dimension), 0.0};
  refuse_name(name);
}

Fate fate(const Growth& growth) {
  DEWPOINT_EXPECTS(growth.length >= 0.0);
  if (growth.length > 0.0 || growth.logarithm > 1.0) return Fate::freezes;
  return growth.logarithm < 1.0 ? Fate::collapses : Fate::stays;
}

std::string name_of(Fate fate) {
  switch (fate) {
    case Fate::collapses:
      return "collapses";
    case Fate::stays:
      return "stays";
    case Fate::freezes:
      return "freezes";
  }
  return "";
}

}  // namespace dewpoint::scaling
