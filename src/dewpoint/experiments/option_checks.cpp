#include "dewpoint/experiments/option_checks.hpp"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "dewpoint/core/error.hpp"

namespace dewpoint::experiments {

void require_option(bool allowed, const char* option, double value, const std::string& range) {
  if (allowed) return;
  throw Error(Code::bad_value, fmt::format("{}: {:g} is not {}", option, value, range));
}

std::size_t whole_number(const char* field, double value, double least, double most) {
  if (!(value >= least && value <= most && value == std::floor(value))) {
    throw Error(Code::bad_value,
                fmt::format("{}: {} is not a whole number in [{}, {}]", field, value, least, most));
  }
  return static_cast<std::size_t>(value);
}

double whole_length(double n) { return n < 0x1p53 ? std::round(n) : n; }

void check_adam(const training::AdamOptions& adam) {
  require_option(std::isfinite(adam.rate) && adam.rate > 0.0, "rate", adam.rate,
                 "a number above 0");
  for (const auto& [option, value] :
       {std::pair{"beta1", adam.first_decay}, std::pair{"beta2", adam.second_decay}}) {
    require_option(value > 0.0 && value < 1.0, option, value, "above 0 and below 1");
  }
  require_option(std::isfinite(adam.epsilon) && adam.epsilon >= 1e-30, "eps", adam.epsilon,
                 "a number from 1e-30 on");
}

}  // namespace dewpoint::experiments
