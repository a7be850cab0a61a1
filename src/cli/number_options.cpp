#include "cli/number_options.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>

#include "dewpoint/question/value.hpp"

namespace dewpoint::cli {
namespace {

using question::Range;

constexpr double kTooLarge = 0x1p64;
constexpr const char* kWhole = "whole";

// A seed has more digits than a double keeps.
std::optional<std::uint64_t> digits_in(const std::string& text) {
  std::uint64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [rest, failure] = std::from_chars(text.data(), end, number);
  if (failure != std::errc() || rest != end) return std::nullopt;
  return number;
}

std::optional<std::uint64_t> whole_in(const std::string& text) {
  if (const auto number = digits_in(text)) return number;
  const auto number = question::number_in(text);
  const bool is_whole =
      number && *number >= 0.0 && *number < kTooLarge && *number == std::floor(*number);
  return is_whole ? std::optional(static_cast<std::uint64_t>(*number)) : std::nullopt;
}

std::string refusal(const std::string& text, const std::string& allowed) {
  const bool is_number = question::number_in(text).has_value();
  return fmt::format("{} is not {}", is_number ? text : "'" + text + "'", allowed);
}

std::string allowed_text(const Range& range) {
  const bool every = range.least == 0.0 && range.most >= kTooLarge;
  return "a whole number " + (every ? "in [0, 2^64)" : question::range_text(range));
}

// inf and nan pass: whoever asked for the number knows its range.
std::string refuse_text_for_number(const std::string& text) {
  double number = 0.0;
  return CLI::detail::lexical_cast(text, number) ? "" : refusal(text, "a number");
}

bool has_whole(CLI::Option& option) {
  try {
    return option.get_validator(kWhole) != nullptr;
  } catch (const CLI::OptionNotFound&) {
    return false;
  }
}

void read_alike(CLI::Option& option) {
  const std::string type = option.get_type_name();
  if (type.starts_with("FLOAT")) option.check(refuse_text_for_number);
  const bool counts = type.starts_with("UINT") || type.starts_with("INT");
  if (counts && !has_whole(option)) option.transform(whole_number(question::at_least(0.0)));
}

}  // namespace

CLI::Validator whole_number(const Range& range) {
  const auto read = [range](std::string& text) -> std::string {
    const auto number = whole_in(text);
    if (!number || !range.contains(static_cast<double>(*number))) {
      return refusal(text, allowed_text(range));
    }
    text = std::to_string(*number);
    return {};
  };
  return {read, "", kWhole};
}

void read_numbers_alike(CLI::App& app) {
  for (CLI::Option* option : app.get_options()) read_alike(*option);
  for (CLI::App* verb : app.get_subcommands([](const CLI::App*) { return true; })) {
    read_numbers_alike(*verb);
  }
}

}  // namespace dewpoint::cli
