// A described question as options of a verb: names, help, defaults, ranges and refusals come from
// its fields, and what was given is what a study file would say.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/commands.hpp"
#include "dewpoint/question/asked.hpp"

namespace dewpoint::cli {

class QuestionOptions {
 public:
  /// An option per field; the fields outlive the program.
  QuestionOptions(Program& program, CLI::App& verb, const std::vector<question::Field>& fields);

  /// Checked one by one and together; the grids of the verb where nothing is said instead. Throws
  /// Error{bad_value} naming the option.
  [[nodiscard]] question::Asked asked() const;
  /// The same for another question that shares some of the options: its fields, its ranges.
  [[nodiscard]] question::Asked asked(const std::vector<question::Field>& fields) const;
  /// Names of the fields that are given.
  [[nodiscard]] std::vector<std::string> given() const;
  /// Throws Error{bad_value} where one of these is given: "tail: <why>".
  void refuse(const std::vector<question::Field>& fields, const std::string& why) const;
  /// Throws Error{bad_value} where anything but these is given: "tail: <why>".
  void refuse_others(const std::vector<question::Field>& fields, const std::string& why) const;

 private:
  struct Entry {
    const question::Field* field;
    std::shared_ptr<std::vector<std::string>> texts;  // as given, one for each time
    const CLI::Option* option;
  };

  void read(const Entry& entry, const question::Field& field, question::Asked& asked) const;
  void add(Program& program, CLI::App& verb, const question::Field& field);
  [[nodiscard]] bool is_given(const std::string& name) const;
  [[nodiscard]] bool is_said_otherwise(const question::Field& field) const;

  const std::vector<question::Field>& fields_;
  std::vector<Entry> entries_;
};

/// {"n": [1e2, 1e6], "sigma": 1, "top": null}: every field, lists for axes, null for what is absent
/// from a complete question or said by an axis in other terms.
[[nodiscard]] Json parameters_json(const std::vector<question::Field>& fields,
                                   const question::Asked& asked, const question::Point& complete);
/// As a study keeps them.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> parameter_texts(
    const Json& parameters);

}  // namespace dewpoint::cli
