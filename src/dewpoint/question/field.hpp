// A question is declared once: a plain struct, and one function that says of every member its name,
// its range and its meaning.
//
//     struct Condense {
//       double n = 1e6;
//       std::optional<double> signal;
//       std::size_t draws = 2000;
//     };
//
//     template <class Visitor> void describe(Visitor& visit, Condense& q) {
//       visit("n", q.n, in(2.0, 1e300), "scores per query", grid("1e2,1e6,1e30"));
//       visit("signal", q.signal, in(-1e6, 1e6), "plant a key of score s sigma sqrt(2 log n)");
//       visit("draws", q.draws, in(2.0, 1e7), "rows of scores to average over", fixed, live(2e4));
//     }
//
// Everything else is made from that: options of the command line, keys of a study file, parameters
// of a stored cell, JSON, fields of a room, Python signatures and reference pages. A struct that
// several questions share describes itself, and theirs call its describe(). The default of a member
// is the struct's own. An optional member may be absent: not given, or of no matter to this point.
//
// Members are numbers (double), whole numbers (std::size_t), words (std::string), closed sets of
// words (an enum with a words_of(), see below), flags (bool), lists of numbers that are one value
// (Numbers), or an optional of one of these. Verbs of the command line, whose answer is no cell of
// a study, also have lists of numbers to go through (Grid, Counts), lists of words
// (std::vector<std::string>), small whole numbers (int) and seeds (a std::uint64_t, said to be a
// seed).
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "dewpoint/question/value.hpp"

namespace dewpoint::question {

// ---- what is said of a field ------------------------------------------------------------------

/// Numbers from `least` to `most`; open ends do not belong to it.
struct Range {
  double least = -std::numeric_limits<double>::infinity();
  double most = std::numeric_limits<double>::infinity();
  bool above = false;  // `least` itself is not allowed
  bool below = false;  // nor is `most`

  [[nodiscard]] constexpr bool contains(double x) const {
    return (above ? x > least : x >= least) && (below ? x < most : x <= most);
  }
  friend bool operator==(const Range&, const Range&) = default;
};

constexpr Range in(double least, double most) { return {least, most}; }
constexpr Range at_least(double least) { return {least}; }
constexpr Range above(double least) { return {.least = least, .above = true}; }
/// (least, most]
constexpr Range above(double least, double most) { return {least, most, true}; }
/// [least, most)
constexpr Range below(double least, double most) { return {least, most, false, true}; }
/// (least, most)
constexpr Range between(double least, double most) { return {least, most, true, true}; }
constexpr Range any_number() { return {}; }

/// "in [2, 1e300]", "above 0, at most 1000", "at least 3", "a number".
[[nodiscard]] std::string range_text(const Range& range);

/// What a room of the explorer answers at once; a verb takes the whole range.
struct Live {
  double least = -std::numeric_limits<double>::infinity();
  double most = std::numeric_limits<double>::infinity();
};
constexpr Live live(double most) { return {.most = most}; }
constexpr Live live(double least, double most) { return {least, most}; }

/// Verbs and rooms take a list of its values; `grid` is theirs where nothing is said.
struct Listed {
  const char* grid = "";
};
inline constexpr Listed listed;
constexpr Listed grid(const char* text) { return {text}; }

/// Cannot be an axis of a study.
struct Fixed {};
inline constexpr Fixed fixed;

/// The only words allowed, for a member that is a std::string.
struct OneOf {
  std::vector<std::string> words;
};
inline OneOf one_of(std::vector<std::string> words) { return {std::move(words)}; }

/// The default in words, where it depends on other fields: "1/m; 0.001 of a flow".
struct Otherwise {
  const char* text;
};
constexpr Otherwise otherwise(const char* text) { return {text}; }

/// Says the same as another field in other terms: one of them is given.
struct InsteadOf {
  const char* name;
};
constexpr InsteadOf instead_of(const char* name) { return {name}; }

/// Has a meaning only where another field is given.
struct OnlyWith {
  const char* name;
};
constexpr OnlyWith only_with(const char* name) { return {name}; }

/// A name that files of earlier versions have.
struct Formerly {
  const char* name;
};
constexpr Formerly formerly(const char* name) { return {name}; }

/// A second name on the command line.
struct Also {
  const char* name;
};
constexpr Also also(const char* name) { return {name}; }

/// Has a meaning only where another field is not given.
struct NotWith {
  const char* name;
};
constexpr NotWith not_with(const char* name) { return {name}; }

/// Must be given.
struct Required {};
inline constexpr Required required;

/// Given without its name, by its place on the command line.
struct Positional {};
inline constexpr Positional positional;

/// Its name of one letter on the command line: -o.
struct Letter {
  char letter;
};
constexpr Letter letter(char letter) { return {letter}; }

/// A list of words is given as one word with commas; without this, one word each time.
struct Commas {};
inline constexpr Commas commas;

/// The name of a file, or of a folder, of this kind: "study", "figure", "folder".
struct File {
  const char* kind;
};
constexpr File file(const char* kind) { return {kind}; }

/// Words worth offering, where others are allowed too; for lists of numbers, words in their place.
struct Suggested {
  std::vector<std::string> words;
};
inline Suggested suggest(std::vector<std::string> words) { return {std::move(words)}; }

/// The heading under which help shows it.
struct Group {
  const char* title;
};
constexpr Group group(const char* title) { return {title}; }

/// A whole number below 2^64, all of whose digits count.
struct Seed {};
inline constexpr Seed as_seed;

/// A list of numbers that is one value, not an axis: a law over tokens.
struct Numbers {
  std::vector<double> values;
  friend bool operator==(const Numbers&, const Numbers&) = default;
};
/// "0.75,0.19,0.05,0.01" and back. Throws Error{bad_value} naming the field.
[[nodiscard]] std::string text_of(const Numbers& numbers);
[[nodiscard]] Numbers parse_numbers(const std::string& field, const std::string& text);

/// Increasing numbers that a verb goes through: "8,64,512" or "first:last:count[:log]".
struct Grid {
  std::string text;  // empty: none
  [[nodiscard]] bool empty() const { return text.empty(); }
  [[nodiscard]] std::vector<double> values() const;
  friend bool operator==(const Grid&, const Grid&) = default;
};
/// The same for whole numbers.
struct Counts {
  std::string text;
  [[nodiscard]] bool empty() const { return text.empty(); }
  [[nodiscard]] std::vector<std::size_t> values() const;
  friend bool operator==(const Counts&, const Counts&) = default;
};

// ---- a field ----------------------------------------------------------------------------------

enum class Kind { number, whole, word, flag, numbers, grid, counts, words, seed };

/// One parameter, as everybody needs it who asks, stores, prints or documents it.
struct Field {
  std::string name;  // as the option of the command line: "eta-error"
  Kind kind = Kind::number;
  std::optional<Value> standard;        // where nothing is said; none: absent, or see `otherwise`
  std::string meaning;                  // half a line
  bool axis = true;                     // may be a grid
  std::vector<std::string> words = {};  // the only ones allowed; empty: any
  Range range = {};                     // of numbers
  std::optional<Live> live = {};
  bool listed = false;          // verbs and rooms take a list of its values
  std::string grid = {};        // theirs, where nothing is said
  std::string otherwise = {};   // the default in words
  std::string instead_of = {};  // the field that says the same in other terms
  std::string only_with = {};   // the field without which it means nothing
  std::string formerly = {};    // an older name
  std::string also = {};        // a second one, of the option
  std::string not_with = {};    // the field beside which it means nothing
  bool required = false;
  bool positional = false;
  char letter = 0;                            // its short name; 0: none
  bool commas = false;                        // its words are given as one
  std::string file = {};                      // the kind of file that it names; empty: none
  std::vector<std::string> suggestions = {};  // words worth offering
  std::string group = {};                     // heading in the help

  [[nodiscard]] bool is_numeric() const { return kind == Kind::number || kind == Kind::whole; }
  /// Whether its value is a list on the command line.
  [[nodiscard]] bool is_list() const {
    return listed || kind == Kind::numbers || kind == Kind::grid || kind == Kind::counts;
  }
};

/// "a whole number in [2, 1e7]", "one of sampled, exact", "true or false": what the field takes.
[[nodiscard]] std::string allowed_text(const Field& field);

/// Whether one of these two is given, because they say the same in other terms.
[[nodiscard]] bool are_alternatives(const Field& one, const Field& other);

/// The field of this name, new or old; nullptr where there is none.
[[nodiscard]] const Field* find_field(const std::vector<Field>& fields, const std::string& name);
[[nodiscard]] std::vector<std::string> names_of(const std::vector<Field>& fields);

/// Throws Error{bad_value} "draws: 1 is not a whole number in [2, 1e7]" unless the field takes the
/// value.
void expect_allowed(const Field& field, const Value& value);

/// Throws Error{bad_value} unless what is given fits together: names are fields, values are
/// allowed, one of several fields that say the same, none without or beside the field that it says.
void expect_consistent(const std::vector<Field>& fields, const Point& given);

/// What a text means for this field: `--draws 2e4`, `--tokens simplex`. Throws as expect_allowed.
[[nodiscard]] Value parse_value(const Field& field, const std::string& text);

// ---- members as values ------------------------------------------------------------------------

/// An enum that can be a member: words_of(E{}) gives its words with what they stand for.
template <class E>
concept Words = std::is_enum_v<E> && requires(E e) {
  { words_of(e) } -> std::convertible_to<const std::vector<std::pair<std::string, E>>&>;
};

template <Words E>
std::string word_for(E value) {
  for (const auto& [word, meant] : words_of(value)) {
    if (meant == value) return word;
  }
  return {};
}

template <Words E>
std::vector<std::string> all_words() {
  std::vector<std::string> all;
  for (const auto& [word, meant] : words_of(E{})) all.push_back(word);
  return all;
}

// One overload per kind of member; `from` is a value that expect_allowed() lets pass.
inline Kind kind_of(double) { return Kind::number; }
inline Kind kind_of(std::size_t) { return Kind::whole; }
inline Kind kind_of(int) { return Kind::whole; }
inline Kind kind_of(bool) { return Kind::flag; }
inline Kind kind_of(const std::string&) { return Kind::word; }
inline Kind kind_of(const Numbers&) { return Kind::numbers; }
inline Kind kind_of(const Grid&) { return Kind::grid; }
inline Kind kind_of(const Counts&) { return Kind::counts; }
inline Kind kind_of(const std::vector<std::string>&) { return Kind::words; }
template <Words E>
Kind kind_of(E) {
  return Kind::word;
}
template <class T>
Kind kind_of(const std::optional<T>&) {
  return kind_of(T{});
}

inline std::optional<Value> value_of(double member) { return member; }
inline std::optional<Value> value_of(std::size_t member) { return static_cast<double>(member); }
inline std::optional<Value> value_of(int member) { return static_cast<double>(member); }
inline std::optional<Value> value_of(bool member) { return member; }
inline std::optional<Value> value_of(const std::string& member) { return member; }
inline std::optional<Value> value_of(const Numbers& member) { return text_of(member); }
/// None where the list is empty, as for every list.
std::optional<Value> value_of(const Grid& member);
std::optional<Value> value_of(const Counts& member);
std::optional<Value> value_of(const std::vector<std::string>& member);
template <Words E>
std::optional<Value> value_of(E member) {
  return word_for(member);
}
template <class T>
std::optional<Value> value_of(const std::optional<T>& member) {
  return member ? value_of(*member) : std::nullopt;
}

inline void assign(double& member, const Value& from) { member = std::get<double>(from); }
/// A seed is a word of digits.
void assign(std::size_t& member, const Value& from);
inline void assign(int& member, const Value& from) {
  member = static_cast<int>(std::get<double>(from));
}
inline void assign(bool& member, const Value& from) { member = std::get<bool>(from); }
inline void assign(std::string& member, const Value& from) { member = std::get<std::string>(from); }
inline void assign(Numbers& member, const Value& from) {
  member = parse_numbers("", std::get<std::string>(from));
}
inline void assign(Grid& member, const Value& from) { member.text = std::get<std::string>(from); }
inline void assign(Counts& member, const Value& from) { member.text = std::get<std::string>(from); }
inline void assign(std::vector<std::string>& member, const Value& from) {
  member = std::get<std::vector<std::string>>(from);
}
template <Words E>
void assign(E& member, const Value& from) {
  const auto& word = std::get<std::string>(from);
  for (const auto& [known, meant] : words_of(member)) {
    if (known == word) member = meant;
  }
}
template <class T>
void assign(std::optional<T>& member, const Value& from) {
  assign(member.emplace(), from);
}

// ---- visitors ---------------------------------------------------------------------------------

/// Collects the fields of a question.
class Declare {
 public:
  template <class Member, class... About>
  void operator()(const char* name, const Member& member, const About&... about) {
    Field field{name, kind_of(member), value_of(member), ""};
    field.axis = field.kind == Kind::word || field.is_numeric();
    words(field, member);
    (say(field, about), ...);
    fields.push_back(std::move(field));
  }

  std::vector<Field> fields;

 private:
  template <Words E>
  static void words(Field& field, E) {
    field.words = all_words<E>();
  }
  template <Words E>
  static void words(Field& field, const std::optional<E>&) {
    field.words = all_words<E>();
  }
  static void words(Field&, ...) {}

  static void say(Field& field, const char* meaning) { field.meaning = meaning; }
  static void say(Field& field, const std::string& meaning) { field.meaning = meaning; }
  static void say(Field& field, const Range& range) { field.range = range; }
  static void say(Field& field, Fixed) { field.axis = false; }
  static void say(Field& field, const OneOf& allowed) { field.words = allowed.words; }
  static void say(Field& field, const Live& live) { field.live = live; }
  static void say(Field& field, const Listed& list) {
    field.listed = true;
    field.grid = list.grid;
  }
  static void say(Field& field, const Otherwise& words) { field.otherwise = words.text; }
  static void say(Field& field, const InsteadOf& other) { field.instead_of = other.name; }
  static void say(Field& field, const OnlyWith& other) { field.only_with = other.name; }
  static void say(Field& field, const Formerly& older) { field.formerly = older.name; }
  static void say(Field& field, const Also& second) { field.also = second.name; }
  static void say(Field& field, const NotWith& other) { field.not_with = other.name; }
  static void say(Field& field, Required) {
    field.required = true;
    field.standard.reset();
  }
  static void say(Field& field, Positional) { field.positional = true; }
  static void say(Field& field, const Letter& one) { field.letter = one.letter; }
  static void say(Field& field, Commas) { field.commas = true; }
  static void say(Field& field, const File& named) { field.file = named.kind; }
  static void say(Field& field, const Suggested& some) { field.suggestions = some.words; }
  static void say(Field& field, const Group& heading) { field.group = heading.title; }
  static void say(Field& field, Seed) {
    field.kind = Kind::seed;
    field.axis = false;
  }
};

/// Reads members into a point: those that are present.
class Read {
 public:
  template <class Member, class... About>
  void operator()(const char* name, const Member& member, const About&...) {
    if (auto value = value_of(member)) point.emplace(name, std::move(*value));
  }

  Point point;
};

/// Writes a point into members; those that the point does not name stay.
class Write {
 public:
  explicit Write(const Point& point) : point_(point) {}

  template <class Member, class... About>
  void operator()(const char* name, Member& member, const About&...) {
    const auto found = point_.find(name);
    if (found != point_.end()) assign(member, found->second);
  }

 private:
  const Point& point_;
};

/// Writes a complete point into members: an optional one that the point does not name is absent.
class Restore {
 public:
  explicit Restore(const Point& point) : point_(point) {}

  template <class Member, class... About>
  void operator()(const char* name, Member& member, const About&...) {
    const auto found = point_.find(name);
    if (found != point_.end()) {
      assign(member, found->second);
    } else {
      clear(member);
    }
  }

 private:
  template <class Member>
  static void clear(Member&) {}
  template <class T>
  static void clear(std::optional<T>& member) {
    member.reset();
  }

  const Point& point_;
};

// ---- questions --------------------------------------------------------------------------------

/// All fields of a question, in the order of its description.
template <class Question>
[[nodiscard]] const std::vector<Field>& fields_of() {
  static const std::vector<Field> fields = [] {
    Question question;
    Declare declare;
    describe(declare, question);
    return std::move(declare.fields);
  }();
  return fields;
}

/// The question by names and values: what is stored, and what a cell is addressed by.
template <class Question>
[[nodiscard]] Point point_of(const Question& question) {
  Read read;
  describe(read, const_cast<Question&>(question));  // NOLINT: Read changes nothing
  return std::move(read.point);
}

/// The question with its defaults and the values of a point, whose names are fields and whose
/// values they take.
template <class Question>
[[nodiscard]] Question question_of(const Point& point) {
  Question question;
  Write write(point);
  describe(write, question);
  return question;
}

/// The question that point_of() made this point of.
template <class Question>
[[nodiscard]] Question restored(const Point& point) {
  Question question;
  Restore restore(point);
  describe(restore, question);
  return question;
}

}  // namespace dewpoint::question
