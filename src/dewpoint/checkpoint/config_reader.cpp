#include "dewpoint/checkpoint/config_reader.hpp"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "dewpoint/core/error.hpp"

namespace dewpoint::checkpoint {
namespace {

using Json = ConfigReader::Json;

// A value as a refusal shows it. Numbers are printed here, because JSON has no word for NaN.
std::string shown(const Json& value) {
  if (value.is_number_float()) return fmt::format("{}", value.get<double>());
  if (value.is_object()) return "an object";
  if (value.is_array()) return fmt::format("a list of {}", value.size());
  if (value.is_string()) return fmt::format("'{}'", excerpt(value.get_ref<const std::string&>()));
  return value.dump();
}

std::string words(Range range, const char* what) {
  if (range.most >= 1e30 && range.least < 0) return what;
  if (range.most >= 1e30) {
    return fmt::format("{} {}", what, range.least == 0 ? "at least 0" : "above 0");
  }
  return fmt::format("{} from {:.15g} to {:.15g}", what, range.least, range.most);
}

}  // namespace

ConfigReader::ConfigReader(const Json& object, std::string prefix)
    : object_(&object), prefix_(std::move(prefix)) {
  DEWPOINT_EXPECTS(object.is_object());
}

std::optional<ConfigReader::Entry> ConfigReader::find(Names names) const {
  for (const std::string_view name : names) {
    for (const auto& [key, value] : object_->items()) {
      if (key == name && !value.is_null()) return Entry{name, &value};
    }
  }
  return {};
}

bool ConfigReader::has(std::string_view name) const { return find({name}).has_value(); }

bool ConfigReader::has_list(std::string_view name) const {
  const auto entry = find({name});
  return entry && entry->value->is_array();
}

Refusal ConfigReader::refusal(std::string_view name, std::string found, std::string allowed) const {
  return {fmt::format("{}{}", prefix_, name), std::move(found), std::move(allowed)};
}

Refusal ConfigReader::refusal(const Entry& entry, const Json& value, std::string allowed) const {
  return refusal(entry.name, shown(value), std::move(allowed));
}

double ConfigReader::checked(const Entry& entry, const Json& value, Range range) const {
  const double number = value.is_number() ? value.get<double>() : NAN;
  if (!(number >= range.least && number <= range.most)) {
    throw refusal(entry, value, words(range, "a number"));
  }
  return number;
}

std::size_t ConfigReader::whole(const Entry& entry, const Json& value, Range range) const {
  const double number = value.is_number() ? value.get<double>() : NAN;
  if (!(number >= range.least && number <= range.most) || number != std::floor(number)) {
    throw refusal(entry, value, words(range, "a whole number"));
  }
  return static_cast<std::size_t>(number);
}

std::optional<std::size_t> ConfigReader::count(Names names, Range range) const {
  const auto entry = find(names);
  if (!entry) return {};
  return whole(*entry, *entry->value, range);
}

std::optional<double> ConfigReader::number(Names names, Range range) const {
  const auto entry = find(names);
  if (!entry) return {};
  return checked(*entry, *entry->value, range);
}

std::optional<bool> ConfigReader::flag(Names names) const {
  const auto entry = find(names);
  if (!entry) return {};
  if (!entry->value->is_boolean()) throw refusal(*entry, *entry->value, "true or false");
  return entry->value->get<bool>();
}

std::optional<bool> ConfigReader::flag_or_number(Names names) const {
  const auto entry = find(names);
  if (!entry) return {};
  if (entry->value->is_boolean()) return entry->value->get<bool>();
  if (!entry->value->is_number()) throw refusal(*entry, *entry->value, "true, false or a number");
  return checked(*entry, *entry->value, kAnyNumber) != 0.0;
}

std::optional<std::string> ConfigReader::text(Names names) const {
  const auto entry = find(names);
  if (!entry) return {};
  if (!entry->value->is_string()) throw refusal(*entry, *entry->value, "a text");
  return entry->value->get<std::string>();
}

std::optional<std::vector<double>> ConfigReader::numbers(Names names, Range range) const {
  const auto entry = find(names);
  if (!entry) return {};
  if (!entry->value->is_array()) throw refusal(*entry, *entry->value, "a list of numbers");
  std::vector<double> result;
  result.reserve(entry->value->size());
  for (const Json& element : *entry->value) {
    // Lists of truth values stand for 0 and 1 in more than one family.
    result.push_back(element.is_boolean() ? (element.get<bool>() ? 1.0 : 0.0)
                                          : checked(*entry, element, range));
  }
  return result;
}

std::optional<std::vector<std::string>> ConfigReader::texts(Names names) const {
  const auto entry = find(names);
  if (!entry) return {};
  if (!entry->value->is_array()) throw refusal(*entry, *entry->value, "a list of texts");
  std::vector<std::string> result;
  result.reserve(entry->value->size());
  for (const Json& element : *entry->value) {
    if (!element.is_string()) throw refusal(*entry, element, "a list of texts");
    result.push_back(element.get<std::string>());
  }
  return result;
}

std::optional<std::size_t> ConfigReader::first_count(Names names, Range range) const {
  const auto entry = find(names);
  if (!entry) return {};
  if (!entry->value->is_array()) return whole(*entry, *entry->value, range);
  if (entry->value->empty()) return {};
  return whole(*entry, entry->value->front(), range);
}

std::optional<ConfigReader> ConfigReader::object(Names names) const {
  const auto entry = find(names);
  if (!entry) return {};
  if (!entry->value->is_object()) throw refusal(*entry, *entry->value, "an object");
  return ConfigReader(*entry->value, fmt::format("{}{}.", prefix_, entry->name));
}

std::size_t ConfigReader::required_count(Names names, Range range,
                                         std::optional<std::size_t> otherwise) const {
  if (const auto found = count(names, range)) return *found;
  if (otherwise) return *otherwise;
  throw refusal(*names.begin(), "no such key", words(range, "a whole number"));
}

bool ConfigReader::required_flag(std::string_view name) const {
  if (const auto found = flag({name})) return *found;
  throw refusal(name, "no such key", "true or false");
}

}  // namespace dewpoint::checkpoint
