// What a room may be asked, and one question: checked and complete.
//
// A room asks what its verb asks, by the same description (question/field.hpp). A field is named as
// the option of the verb, and a list is written as on the command line, so that a question is a
// command (design/0012-explorer.md).
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "dewpoint/question/asked.hpp"
#include "dewpoint/server/json_body.hpp"

namespace dewpoint::server {

/// Most numbers of a list that are answered live, and most words.
inline constexpr std::size_t kMostLiveNumbers = 64;
inline constexpr std::size_t kMostLiveWords = 6;

struct RoomFields {
  std::vector<question::Field> question;         // of the verb, as far as they are answered live
  std::vector<question::Field> here = {};        // that the verb has not
  std::map<std::string, std::size_t> most = {};  // of a list, where it is not as above

  /// In the order of the page: the question, a seed, what is only here.
  [[nodiscard]] std::vector<question::Field> all() const;
  /// An array of {"name", "kind", "default", "meaning", "option", ..}.
  [[nodiscard]] Json to_json() const;
};

class Question {
 public:
  /// Checks what is asked, each field and all together, and fills in the others. `folder` stands
  /// before files in the command. Throws Refusal{400} naming the field, its value and what is
  /// allowed, or, where only the command line takes that much, TooLarge with the command.
  ///   Properties  (1) Question(.., question.values()) has the same values.
  ///               (2) the order and the writing of numbers in `asked` do not matter to key().
  Question(const std::string& verb, const RoomFields& fields, const Json& asked,
           const std::string& folder = {});

  /// Every field, in the order of the fields; lists as texts.
  [[nodiscard]] const Json& values() const { return values_; }
  [[nodiscard]] std::vector<std::string> names() const;
  /// The same text for every question with the same values.
  [[nodiscard]] std::string key() const;

  /// What is asked of the verb, beside the seed.
  [[nodiscard]] const question::Asked& asked() const { return asked_; }
  [[nodiscard]] std::size_t seed() const { return seed_; }
  /// What is asked of the room alone.
  template <class Here>
  [[nodiscard]] Here here() const {
    return question::question_of<Here>(here_);
  }

  /// The command line, with every option that differs from the verb's default but these; quoted for
  /// a shell.
  [[nodiscard]] std::string command(const std::vector<std::string>& left_out = {}) const;

  /// As studies keep parameters: what was given, as text.
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> parameters() const;

 private:
  void fill_in(const RoomFields& fields, const Json& asked, const std::string& folder);

  Json values_ = Json::object();
  std::string program_;                                            // and its verb
  std::vector<std::pair<std::string, std::string>> options_ = {};  // of the command, by field
  question::Asked asked_ = {};
  question::Point here_ = {};
  std::size_t seed_ = 1;
};

/// A text as one word of a shell.
[[nodiscard]] std::string shell_word(const std::string& text);

}  // namespace dewpoint::server
