// What a room may be asked: fields with their kinds, ranges and defaults; and one question, checked
// and complete.
//
// A field is named as the option of the verb that the room stands for, and a list is written as on
// the command line, so that a question is a command (design/0012-explorer.md).
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "dewpoint/question/asked.hpp"
#include "dewpoint/server/json_body.hpp"

namespace dewpoint::server {

enum class FieldKind { number, whole, list, word, words, flag, file };

struct Field {
  std::string name;
  FieldKind kind = FieldKind::number;
  Json standard;                        // what a missing field means; null: not given
  std::string meaning;                  // half a line
  double least = 0.0;                   // of numbers, and of each of a list
  double most = 0.0;                    //
  std::size_t count = 1;                // most entries of a list or of words
  bool increasing = true;               // a list must be
  std::vector<std::string> words = {};  // the only ones allowed; empty: any
  std::string option = {};  // of the verb: "--n"; "": an argument; nothing: see `page_only`
  Json verb_standard = Json(Json::value_t::discarded);  // the verb's own default, if another
  std::vector<std::string> alternatives = {};  // with one of them given, nothing is its default
  bool page_only = false;                      // the verb has no such option
  bool live = false;                           // the verb takes more than `most`

  [[nodiscard]] Json to_json() const;
};

// Fields by kind; the option is the name behind "--".
[[nodiscard]] Field number_field(std::string name, Json standard, double least, double most,
                                 std::string meaning);
[[nodiscard]] Field whole_field(std::string name, Json standard, double least, double most,
                                std::string meaning);
[[nodiscard]] Field list_field(std::string name, Json standard, double least, double most,
                               std::size_t count, std::string meaning);
[[nodiscard]] Field word_field(std::string name, Json standard, std::vector<std::string> words,
                               std::string meaning);
[[nodiscard]] Field words_field(std::string name, Json standard, std::size_t count,
                                std::string meaning);
[[nodiscard]] Field flag_field(std::string name, std::string meaning);
/// Whole numbers from 0 to 2^53, default 1.
[[nodiscard]] Field seed_field();

/// Most numbers of a list that are answered live, and most words.
inline constexpr std::size_t kMostLiveNumbers = 64;
inline constexpr std::size_t kMostLiveWords = 6;

/// The fields of a described question, as far as they are answered live; lists as the verb has
/// them.
[[nodiscard]] std::vector<Field> described_fields(const std::vector<question::Field>& described);

/// What the verb takes where the option is not given, if that is not the room's default.
[[nodiscard]] Field with_verb_standard(Field field, Json standard);
/// `most` is what is answered live; the verb takes more.
[[nodiscard]] Field live(Field field);
/// No option of the verb.
[[nodiscard]] Field only_here(Field field);

class Question {
 public:
  /// Checks every field of `asked` and fills in the others. `folder` stands before files in the
  /// command. Throws Refusal{400} naming the field, its value and what is allowed, or, where only
  /// the command line takes that much, TooLarge with the command.
  ///   Properties  (1) Question(fields, question.values()) has the same values.
  ///               (2) the order and the writing of numbers in `asked` do not matter.
  Question(std::string verb, const std::vector<Field>& fields, const Json& asked,
           std::string folder = {});

  /// Every field, in the order of the fields; lists as texts.
  [[nodiscard]] const Json& values() const { return values_; }
  [[nodiscard]] std::vector<std::string> names() const;

  [[nodiscard]] bool given(const std::string& name) const { return !values_.at(name).is_null(); }
  [[nodiscard]] double number(const std::string& name) const;
  [[nodiscard]] std::optional<double> optional_number(const std::string& name) const;
  [[nodiscard]] std::size_t whole(const std::string& name) const;
  [[nodiscard]] std::string text(const std::string& name) const;
  [[nodiscard]] std::vector<double> list(const std::string& name) const;
  [[nodiscard]] std::vector<std::string> words(const std::string& name) const;
  [[nodiscard]] bool flag(const std::string& name) const;

  /// What was asked of described fields: checked one by one and together.
  [[nodiscard]] question::Asked asked(const std::vector<question::Field>& described) const;

  /// The command line, with every option that differs from the verb's default; quoted for a shell.
  [[nodiscard]] const std::string& command() const { return command_; }

  /// As studies keep parameters: what was given, as text.
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> parameters() const;

 private:
  Json values_ = Json::object();
  std::string command_;
};

/// A text as one word of a shell.
[[nodiscard]] std::string shell_word(const std::string& text);

}  // namespace dewpoint::server
