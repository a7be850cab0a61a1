#include "cli/program.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <exception>
#include <new>
#include <random>

#include "cli/commands.hpp"
#include "cli/console.hpp"
#include "cli/guide.hpp"
#include "dewpoint/core/error.hpp"

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

int complain(const std::string& message, int status) {
  fmt::print(stderr, "dewpoint: {}\n", message);
  return status;
}

int run(Program& program, const Words& words) {
  if (words.empty()) return print_guide();
  try {
    parse(program, words);
  } catch (const CLI::Success& wanted_text) {  // --help, --version
    return program.app.exit(wanted_text);
  } catch (const CLI::ParseError& error) {
    return complain(fmt::format("{}; see dewpoint --help", error.what()), 2);
  }
  stop_on_signals();  // from here on an interrupt ends the work cleanly
  return program.action ? program.action() : print_guide();
}

}  // namespace

int run_program(Words words) {
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
    return complain(error.what(), 1);
  }
}

Answer ask_program(Words words, const Given& given) {
  Program program;
  record(program, words);
  add_command(program, words.empty() ? "" : words.front());  // to add all takes longer than to ask
  program.given = given;
  try {
    parse(program, words);
  } catch (const CLI::ParseError& error) {
    throw Error(Code::bad_value, error.what());
  }
  if (!program.ask) {
    throw Error(Code::bad_value, fmt::format("'{}' has no answer", program.command_line));
  }
  return program.ask();
}

}  // namespace dewpoint::cli
