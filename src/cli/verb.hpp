// A verb of the command line: a described question, and a function that answers it.
//
//     struct Merge {
//       std::vector<std::string> studies;
//       WrittenStudy output;
//     };
//
//     template <class Visitor> void describe(Visitor& visit, Merge& q) {
//       visit("studies", q.studies, "study files", positional, required, file("study"));
//       describe(visit, q.output);
//     }
//
//     Answer answer(const Merge& q) { ... }
//
//     Verb merge_verb() { return verb_of<Merge>("merge", "Joins studies", "dewpoint merge ..",
//     answer); }
//
// It enters the table in commands.cpp; help, refusals, manual, completions and the Python function
// are made from the description. Answers have --json. A verb that prints by itself returns its exit
// status instead.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <type_traits>
#include <vector>

#include "cli/commands.hpp"
#include "cli/question_options.hpp"

namespace dewpoint::cli {

struct Verb {
  const char* name;                              // "predict layer": below the verb "predict"
  const char* about;                             // one line
  const char* example;                           // a command to paste; empty: none
  std::function<void(Program&, CLI::App&)> add;  // its options, and what is done
  bool hidden = false;                           // from the list of verbs
};

// ---- descriptions that verbs share --------------------------------------------------------------

template <class Visitor>
void describe_json(Visitor& visit, bool& json) {
  visit("json", json, "one JSON object on standard output");
}

/// Whether files that are not ours may be replaced.
template <class Visitor>
void describe_force(Visitor& visit, bool& force) {
  visit("force", force, "replace what is in the way, even if Dewpoint did not write it");
}

/// What every computing verb shares.
struct Common {
  std::uint64_t seed = 1;
  int threads = 0;
};
template <class Visitor>
void describe_threads(Visitor& visit, int& threads) {
  visit("threads", threads, question::in(0.0, 4096.0),
        "threads, 0 for all; never changes a result");
}
template <class Visitor>
void describe(Visitor& visit, Common& q) {
  visit("seed", q.seed, question::as_seed, "seed of all random streams; random: a fresh one");
  describe_threads(visit, q.threads);
}

/// A study that is written where -o names one.
struct WrittenStudy {
  std::string file;  // empty: none is written
  bool force = false;

  [[nodiscard]] bool wanted() const { return !file.empty(); }
};
template <class Visitor>
void describe(Visitor& visit, WrittenStudy& q, const char* meaning = "study file") {
  visit("output", q.file, question::letter('o'), question::file("study"), meaning);
  describe_force(visit, q.force);
}

// ---- verbs --------------------------------------------------------------------------------------

/// What runs when the verb, and none below it, is on the command line.
void set_call(CLI::App& verb, const std::function<void()>& call);

/// A verb that only has others below it: alone it prints its help.
[[nodiscard]] Verb group_of(const char* name, const char* about, bool hidden = false);

/// What is done with the options of a verb. An answer is printed as text or, with --json, as an
/// object; who prints by itself returns the exit status.
using Answering = std::function<Answer(const QuestionOptions&, const Program&)>;
using Doing = std::function<int(const QuestionOptions&, const Program&)>;

/// The fields of one and of another, none of which have the same name.
[[nodiscard]] inline std::vector<question::Field> joined(
    std::vector<question::Field> one, const std::vector<question::Field>& other) {
  one.insert(one.end(), other.begin(), other.end());
  return one;
}

/// For verbs that ask one of several questions, or one whose fields are not just those of a struct.
/// The fields outlive the program.
[[nodiscard]] Verb verb_of(const char* name, const char* about, const char* example,
                           const std::vector<question::Field>& fields, Answering answer);
[[nodiscard]] Verb verb_of(const char* name, const char* about, const char* example,
                           const std::vector<question::Field>& fields, Doing act);

template <class Question, class Act>
auto act_on(const Act& act, const Question& question, const question::Asked& asked,
            const Program& program) {
  if constexpr (std::is_invocable_v<Act, const Question&, const question::Asked&, const Program&>) {
    return act(question, asked, program);
  } else if constexpr (std::is_invocable_v<Act, const Question&, const Program&>) {
    return act(question, program);
  } else {
    return act(question);
  }
}

/// `act` takes the question, and if it asks for them all that was given, where fields are listed,
/// and the program. It hands back an Answer, or the exit status.
template <class Question, class Act>
[[nodiscard]] Verb verb_of(const char* name, const char* about, const char* example, Act act) {
  return verb_of(name, about, example, question::fields_of<Question>(),
                 [act](const QuestionOptions& options, const Program& program) {
                   const question::Asked asked = options.asked();
                   return act_on(act, asked.first<Question>(), asked, program);
                 });
}

}  // namespace dewpoint::cli
