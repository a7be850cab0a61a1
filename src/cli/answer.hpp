// What a verb hands back: an object for --json and a text for people, made from the same numbers,
// and frames, for whoever runs the verb from another program.
//
// Two shapes of text are enough for all questions. A Sheet has one quantity per line, its values in
// named columns and half a line of meaning; a list of records is a table whose lines are alike.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "dewpoint/core/frame.hpp"

namespace dewpoint::cli {

using Json = nlohmann::ordered_json;

struct Answer {
  Json json;
  std::string text;
  std::vector<Frame> frames = {};  // that the object leaves out
  bool on_one_line = false;        // the object: it has long arrays
  int status = 0;                  // of the program
};

/// To standard output; texts of files that an answer quotes are made printable.
void print(const Answer& answer, bool as_json);

/// {"prediction", "version", "parameters"}, with which every object begins.
[[nodiscard]] Json heading(const char* prediction, Json parameters);

/// A number, or null where there is none (NaN, ±∞).
[[nodiscard]] Json known(double value);
[[nodiscard]] Json known(const std::optional<double>& value);

/// A value as a cell: twelve digits, words made printable, "-" for null, "> 1.8e308" for infinity.
[[nodiscard]] std::string shown(const Json& value);

/// Six digits, for tables.
[[nodiscard]] std::string digits(double value);

/// One quantity: its values in the columns of a sheet (trailing ones may be absent, null is a value
/// that theory does not give) and half a line of meaning.
struct Row {
  std::string key;
  std::string symbol;
  std::vector<Json> values;
  std::string meaning;
};

struct Sheet {
  std::vector<std::string> columns;
  std::vector<Row> rows;

  void append(const std::vector<Row>& more);
};

/// {key: {column: value, ..., "meaning"}}.
[[nodiscard]] Json to_json(const Sheet& sheet);
[[nodiscard]] std::string to_text(const Sheet& sheet);

/// A key of the records and how it is shown; words are set to the left, numbers to the right.
struct Column {
  std::string key;
  std::string title;
  bool words = false;
};

/// A list of objects as a table.
[[nodiscard]] std::string to_text(const Json& records, const std::vector<Column>& columns);

}  // namespace dewpoint::cli
