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
// are made from the description. A verb that prints by itself returns its exit status instead.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

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
void describe(Visitor& visit, WrittenStudy& q) {
  visit("output", q.file, question::letter('o'), question::file("study"), "study file");
  describe_force(visit, q.force);
}

// ---- verbs --------------------------------------------------------------------------------------

/// What runs when the verb, and none below it, is on the command line.
void set_call(CLI::App& verb, const std::function<void()>& call);

/// A verb that only has others below it: alone it prints its help.
[[nodiscard]] Verb group_of(const char* name, const char* about, bool hidden = false);

/// A question whose answer is printed as text or, with --json, as an object.
template <class Question>
struct Printed {
  Question question;
  bool json = false;
};
template <class Visitor, class Question>
void describe(Visitor& visit, Printed<Question>& q) {
  describe(visit, q.question);
  describe_json(visit, q.json);
}

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
/// and the program. It hands back an Answer, which has --json, or prints by itself and returns the
/// exit status.
template <class Question, class Act>
[[nodiscard]] Verb verb_of(const char* name, const char* about, const char* example, Act act) {
  using Done =
      decltype(act_on(act, std::declval<Question>(), question::Asked(), std::declval<Program&>()));
  const auto add = [act](Program& program, CLI::App& verb) {
    if constexpr (std::is_same_v<Done, Answer>) {
      const auto asking = std::make_shared<Asking<Printed<Question>>>(program, verb);
      const auto answer = [&program, act](const question::Asked& asked) {
        return act_on(act, asked.first<Printed<Question>>().question, asked, program);
      };
      set_call(verb, [&program, asking, answer] {
        program.ask = [asking, answer] { return answer(asking->asked()); };
        program.action = [asking, answer] {
          const question::Asked asked = asking->asked();
          const Answer answered = answer(asked);
          print(answered, asked.fixed.contains("json"));
          return answered.status;
        };
      });
    } else {
      const auto asking = std::make_shared<Asking<Question>>(program, verb);
      set_call(verb, [&program, asking, act] {
        program.action = [&program, asking, act] {
          const question::Asked asked = asking->asked();
          return act_on(act, asked.first<Question>(), asked, program);
        };
      });
    }
  };
  return {name, about, example, add};
}

}  // namespace dewpoint::cli
