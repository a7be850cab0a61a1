#include "cli/program.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <iostream>
#include <new>
#include <optional>
#include <random>

#include "cli/commands.hpp"
#include "cli/console.hpp"
#include "cli/guide.hpp"
#include "cli/version.hpp"
#include "dewpoint/core/error.hpp"
#include "dewpoint/core/nearest_word.hpp"
#include "dewpoint/core/printable.hpp"

namespace dewpoint::cli {
namespace {

// Short enough to type, and exact in any reader of JSON.
std::string fresh_seed() {
  const std::string seed = std::to_string(std::random_device{}());
  tell("dewpoint: seed " + seed);
  return seed;
}

// `--seed random` as a number: what is recorded can be repeated.
void draw_seed(Words& words) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    const bool value = i > 0 && words[i - 1] == "--seed" && words[i] == "random";
    if (value) words[i] = fresh_seed();
    if (words[i] == "--seed=random") words[i] = "--seed=" + fresh_seed();
  }
}

void record(Program& program, Words& words) {
  draw_seed(words);
  program.command_line = fmt::format("dewpoint {}", fmt::join(words, " "));
}

void parse(Program& program, const Words& words) {
  program.app.parse(Words(words.rbegin(), words.rend()));  // it wants the last first
}

// "seed: 'abc' is not a whole number" of "--seed: 'abc' is ..".
std::string about_a_value(const CLI::ValidationError& error) {
  const std::string text = error.what();
  return text.substr(std::min(text.find_first_not_of('-'), text.size()));
}

// How the program ends: with a status, and with a complaint where it failed.
struct End {
  int status = 0;
  std::string complaint = {};
};

bool wants_json(const Words& words) {
  return std::find(words.begin(), words.end(), "--json") != words.end();
}

void complain(const std::string& message) {
  fmt::print(stderr, "dewpoint: {}\n", printable(message));
}

// One line for people; with --json an object too, for the program that reads the answer.
int told(const End& end, bool json) {
  if (end.complaint.empty()) return end.status;
  complain(end.complaint);
  const Json object = {{"error", {{"message", printable(end.complaint)}, {"status", end.status}}}};
  if (json) std::fputs((object.dump() + "\n").c_str(), stdout);
  return end.status;
}

std::vector<std::string> verbs_of(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* verb : app.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(verb->get_name());
  }
  return names;
}

bool takes_words(const CLI::App& app) {
  const auto options = app.get_options();
  return std::any_of(options.begin(), options.end(),
                     [](const CLI::Option* option) { return option->get_positional(); });
}

std::vector<std::string> options_of(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

// What the first words name: "dewpoint phase point" of three.
struct Verb {
  const CLI::App* app;
  std::string name;
  std::size_t words;
};

Verb named_verb(const CLI::App& program, const Words& words) {
  Verb verb{&program, "dewpoint", 0};
  for (const std::string& word : words) {
    const std::vector<std::string> verbs = verbs_of(*verb.app);
    if (std::find(verbs.begin(), verbs.end(), word) == verbs.end()) break;
    verb = {verb.app->get_subcommand(word), verb.name + " " + word, verb.words + 1};
  }
  return verb;
}

// The end of a refusal: where the right word is found.
std::string see_help(const Verb& verb, const std::optional<std::string>& meant = {}) {
  return meant ? fmt::format("; did you mean {}? See {} --help", *meant, verb.name)
               : fmt::format("; see {} --help", verb.name);
}

std::string no_verb(const std::string& word, const Verb& verb) {
  return fmt::format("'{}' is no verb of {}{}", word, verb.name,
                     see_help(verb, nearest_word(word, verbs_of(*verb.app))));
}

std::string no_option(const std::string& word, const Verb& verb) {
  const std::string name = word.substr(0, word.find('='));
  return fmt::format("no option {}{}", name,
                     see_help(verb, nearest_word(name, options_of(*verb.app))));
}

// About the first word that stands for a verb and names none; else nothing. The parser does not say
// so where --help follows.
std::string stray_verb(const CLI::App& program, const Words& words) {
  const Verb verb = named_verb(program, words);
  if (verb.words == words.size() || verbs_of(*verb.app).empty()) return {};
  const std::string& word = words[verb.words];
  const bool stands_for_another =
      word.starts_with('-') || (takes_words(*verb.app) && std::filesystem::exists(word));
  return stands_for_another ? "" : no_verb(word, verb);
}

// About the first word that the parser could not use.
std::string stray_word(const CLI::App& program, const Words& words) {
  const Verb verb = named_verb(program, words);
  const Words strays = program.remaining(true);
  const auto first = std::find_first_of(words.begin(), words.end(), strays.begin(), strays.end());
  if (first == words.end()) return "a word too many" + see_help(verb);
  if (first->starts_with('-')) return no_option(*first, verb);
  if (!verbs_of(*verb.app).empty()) return no_verb(*first, verb);
  return fmt::format("'{}' is a word too many{}", *first, see_help(verb));
}

// What is wrong with the words, in one line.
std::string refusal(const CLI::ParseError& error, const CLI::App& program, const Words& words) {
  if (const auto* value = dynamic_cast<const CLI::ValidationError*>(&error)) {
    return about_a_value(*value);
  }
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) return stray_word(program, words);
  return error.what() + see_help(named_verb(program, words));
}

int print_wanted(Program& program, const CLI::Success& wanted, const Words& words) {
  if (dynamic_cast<const CLI::CallForVersion*>(&wanted) == nullptr) return program.app.exit(wanted);
  print(version_answer(), wants_json(words));
  return 0;
}

End run(Program& program, const Words& words) {
  if (words.empty()) return {print_guide()};
  try {
    parse(program, words);
  } catch (const CLI::Success& wanted) {  // --help, --version
    const std::string stray = stray_verb(program.app, words);
    return stray.empty() ? End{print_wanted(program, wanted, words)} : End{2, stray};
  } catch (const CLI::ParseError& error) {
    return {2, refusal(error, program.app, words)};
  }
  stop_on_signals();  // from here on an interrupt ends the work cleanly
  return {program.action ? program.action() : print_guide()};
}

End run_to_end(Words& words) {
  Program program;
  try {
    record(program, words);
    add_commands(program);
    return run(program, words);
  } catch (const Error& error) {
    if (error.code() != Code::stopped) return {exit_status(error.code()), error.what()};
    const std::string reason = error.what();
    return {128 + received_signal(),
            reason == kStoppedOnRequest ? "interrupted; nothing was written" : reason};
  } catch (const std::bad_alloc&) {
    return {1, "out of memory; try a smaller n, or --rows for a sample of queries"};
  } catch (const std::exception& error) {
    if (std::ferror(stdout) != 0) return {1};  // of which delivered() speaks
    return {1, error.what()};
  }
}

// What was printed and did not arrive, on a full disk, is an answer that was not given.
int delivered(int status) {
  const bool arrived = std::cout.flush() && std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
  if (arrived) return status;
  complain("cannot write to standard output: the disk is full or went away");
  return status == 0 ? 1 : status;
}

}  // namespace

int run_program(Words words) {
  const End end = run_to_end(words);
  return delivered(told(end, wants_json(words)));
}

Answer ask_program(Words words, const Given& given) {
  Program program;
  record(program, words);
  add_command(program, words.empty() ? "" : words.front());  // to add all takes longer than to ask
  program.given = given;
  try {
    parse(program, words);
  } catch (const CLI::ParseError& error) {
    throw Error(Code::bad_value, refusal(error, program.app, words));
  }
  if (!program.ask) {
    throw Error(Code::bad_value, fmt::format("'{}' has no answer", program.command_line));
  }
  return program.ask();
}

}  // namespace dewpoint::cli
