#include "cli/program.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <iostream>
#include <new>
#include <random>

#include "cli/commands.hpp"
#include "cli/console.hpp"
#include "cli/guide.hpp"
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

int complain(const std::string& message, int status) {
  fmt::print(stderr, "dewpoint: {}\n", printable(message));
  return status;
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

// "'shwo' is no verb": the first word that stands for a verb and names none; else nothing. The
// parser does not say so where --help follows.
std::string stray_verb(const CLI::App& program, const Words& words) {
  const CLI::App* app = &program;
  for (const std::string& word : words) {
    const std::vector<std::string> verbs = verbs_of(*app);
    if (verbs.empty() || word.starts_with('-')) break;
    if (std::find(verbs.begin(), verbs.end(), word) != verbs.end()) {
      app = app->get_subcommand(word);
      continue;
    }
    if (takes_words(*app) && std::filesystem::exists(word)) break;
    const auto meant = nearest_word(word, verbs);
    return fmt::format("'{}' is no verb of {}{}", word, app->get_display_name(),
                       meant ? fmt::format("; did you mean '{}'?", *meant) : "");
  }
  return {};
}

int run(Program& program, const Words& words) {
  if (words.empty()) return print_guide();
  try {
    parse(program, words);
  } catch (const CLI::Success& wanted_text) {  // --help, --version
    const std::string stray = stray_verb(program.app, words);
    return stray.empty() ? program.app.exit(wanted_text)
                         : complain(stray + "; see dewpoint --help", 2);
  } catch (const CLI::ValidationError& error) {
    return complain(about_a_value(error), 2);
  } catch (const CLI::ParseError& error) {
    return complain(fmt::format("{}; see dewpoint --help", error.what()), 2);
  }
  stop_on_signals();  // from here on an interrupt ends the work cleanly
  return program.action ? program.action() : print_guide();
}

int run_to_end(Words& words) {
  Program program;
  try {
    record(program, words);
    add_commands(program);
    return run(program, words);
  } catch (const Error& error) {
    if (error.code() != Code::stopped) return complain(error.what(), exit_status(error.code()));
    const std::string reason = error.what();
    return complain(reason == kStoppedOnRequest ? "interrupted; nothing was written" : reason,
                    128 + received_signal());
  } catch (const std::bad_alloc&) {
    return complain("out of memory; try a smaller n, or --rows for a sample of queries", 1);
  } catch (const std::exception& error) {
    if (std::ferror(stdout) != 0) return 1;  // of which delivered() speaks
    return complain(error.what(), 1);
  }
}

// What was printed and did not arrive, on a full disk, is an answer that was not given.
int delivered(int status) {
  const bool arrived = std::cout.flush() && std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
  if (arrived) return status;
  return complain("cannot write to standard output: the disk is full or went away",
                  status == 0 ? 1 : status);
}

}  // namespace

int run_program(Words words) { return delivered(run_to_end(words)); }

Answer ask_program(Words words, const Given& given) {
  Program program;
  record(program, words);
  add_command(program, words.empty() ? "" : words.front());  // to add all takes longer than to ask
  program.given = given;
  try {
    parse(program, words);
  } catch (const CLI::ValidationError& error) {
    throw Error(Code::bad_value, about_a_value(error));
  } catch (const CLI::ParseError& error) {
    throw Error(Code::bad_value, error.what());
  }
  if (!program.ask) {
    throw Error(Code::bad_value, fmt::format("'{}' has no answer", program.command_line));
  }
  return program.ask();
}

}  // namespace dewpoint::cli
