#include "dewpoint/scaling/law.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "dewpoint/core/error.hpp"

namespace dewpoint::scaling {

const std::vector<std::string>& law_names() {
  static const std::vector<std::string> names = {"constant", "log", "sqrt-log", "power"};
  return names;
}

double inverse_temperature(const Law& law, std::size_t n, std::size_t d) {
  if (!(law.strength >= 0.0) || !std::isfinite(law.strength)) {
    throw Error(Code::bad_value,
                fmt::format("strength: {} is not a finite number >= 0", law.strength));
  }
  const double log_n = std::log(static_cast<double>(n));
  if (law.name == "constant") return law.strength;
  if (law.name == "log") return law.strength * log_n;
  if (law.name == "sqrt-log") return law.strength * std::sqrt(2.0 * log_n);
  if (law.name == "power") {
    if (d < 2) throw Error(Code::bad_value, fmt::format("d: {} is below 2 for the law power", d));
    return law.strength * std::exp(2.0 * log_n / static_cast<double>(d - 1));
  }
  throw Error(Code::bad_value, fmt::format("law: '{}' is unknown; allowed: {}", law.name,
                                           fmt::join(law_names(), ", ")));
}

}  // namespace dewpoint::scaling
