#include "cli/answer.hpp"

#include <fmt/format.h>

#include <cmath>

#include <algorithm>
#include <cstddef>
#include <utility>

#include "dewpoint/core/build_info.hpp"
#include "dewpoint/core/printable.hpp"

namespace dewpoint::cli {
namespace {

using Cells = std::vector<std::string>;

// Characters on a terminal: the bytes of UTF-8 that do not continue another.
std::size_t width_of(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  }));
}

// Lines of cells in columns; words are set to the left, numbers to the right.
std::string aligned(const std::vector<Cells>& lines, const std::vector<bool>& words) {
  std::vector<std::size_t> widths(words.size(), 0);
  for (const Cells& line : lines)
    for (std::size_t k = 0; k < line.size(); ++k)
      widths[k] = std::max(widths[k], width_of(line[k]));
  std::string text;
  for (const Cells& line : lines) {
    std::string row;
    for (std::size_t k = 0; k < line.size(); ++k) {
      const std::string pad(widths[k] - width_of(line[k]), ' ');
      row += "  " + (words[k] ? line[k] + pad : pad + line[k]);
    }
    text += row.substr(0, row.find_last_not_of(' ') + 1) + "\n";
  }
  return text;
}

// A number whose double overflowed is known to be that large, and no more.
std::string within_doubles(double value, int precision) {
  if (std::isnan(value)) return "undefined";
  if (std::isinf(value)) return value > 0.0 ? "> 1.8e308" : "< -1.8e308";
  return fmt::format("{:.{}g}", value, precision);
}

}  // namespace

void print(const Answer& answer, bool as_json) {
  fmt::print("{}", as_json ? answer.json.dump(answer.on_one_line ? -1 : 2) + "\n"
                           : printable_page(answer.text));
}

Json heading(const char* prediction, Json parameters) {
  return {
      {"prediction", prediction}, {"version", version()}, {"parameters", std::move(parameters)}};
}

Json known(double value) { return std::isfinite(value) ? Json(value) : Json(); }

Json known(const std::optional<double>& value) { return value ? known(*value) : Json(); }

std::string digits(double value) { return within_doubles(value, 6); }

std::string shown(const Json& value) {
  if (value.is_null()) return "-";
  if (value.is_string()) return printable(value.get<std::string>());
  return within_doubles(value.get<double>(), 12);
}

void Sheet::append(const std::vector<Row>& more) {
  rows.insert(rows.end(), more.begin(), more.end());
}

Json to_json(const Sheet& sheet) {
  Json all = Json::object();
  for (const Row& row : sheet.rows) {
    Json& one = all[row.key];
    for (std::size_t k = 0; k < row.values.size(); ++k) one[sheet.columns[k]] = row.values[k];
    one["meaning"] = row.meaning;
  }
  return all;
}

std::string to_text(const Sheet& sheet) {
  Cells titles{""};
  titles.insert(titles.end(), sheet.columns.begin(), sheet.columns.end());
  titles.emplace_back();
  std::vector<Cells> lines{titles};
  for (const Row& row : sheet.rows) {
    Cells line{row.symbol};
    for (std::size_t k = 0; k < sheet.columns.size(); ++k)
      line.push_back(k < row.values.size() ? shown(row.values[k]) : "");
    line.push_back(row.meaning);
    lines.push_back(line);
  }
  std::vector<bool> words(titles.size(), false);
  words.front() = words.back() = true;
  return aligned(lines, words);
}

std::string to_text(const Json& records, const std::vector<Column>& columns) {
  std::vector<Cells> lines(1);
  std::vector<bool> words;
  for (const Column& column : columns) {
    lines[0].push_back(printable(column.title));
    words.push_back(column.words);
  }
  for (const Json& record : records) {
    Cells line;
    for (const Column& column : columns) line.push_back(shown(record[column.key]));
    lines.push_back(line);
  }
  return aligned(lines, words);
}

}  // namespace dewpoint::cli
