#include "cli/query_keys.hpp"

#include <fmt/format.h>

#include <cmath>

#include "cli/predict_options.hpp"

namespace dewpoint::cli {

std::size_t whole_number(const char* field, double value, double least, double most) {
  require(value >= least && value <= most && value == std::floor(value), field, value,
          fmt::format("a whole number in [{}, {}]", least, most));
  return static_cast<std::size_t>(value);
}

}  // namespace dewpoint::cli
