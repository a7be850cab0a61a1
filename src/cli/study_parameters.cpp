#include "cli/study_parameters.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "dewpoint/core/error.hpp"

namespace dewpoint::cli {

const std::string& StudyParameters::text(const std::string& name) const {
  const auto found = values_.find(name);
  if (found == values_.end()) fail(name, "is missing");
  return found->second;
}

double StudyParameters::number(const std::string& name) const {
  const std::string& digits = text(name);
  double value = 0.0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || end != digits.data() + digits.size()) fail(name, "is no number");
  return value;
}

std::size_t StudyParameters::count(const std::string& name) const {
  const double value = number(name);
  if (!(value >= 0.0 && value <= 1e15 && value == std::floor(value))) fail(name, "is no count");
  return static_cast<std::size_t>(value);
}

bool StudyParameters::flag(const std::string& name) const {
  const std::string& word = text(name);
  if (word != "true" && word != "false") fail(name, "is neither true nor false");
  return word == "true";
}

void StudyParameters::fail(const std::string& name, const char* what) const {
  throw Error(Code::malformed_file,
              fmt::format("'{}' cannot be gone on with: its parameter '{}' {}", file_, name, what));
}

}  // namespace dewpoint::cli
