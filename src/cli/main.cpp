// The command line: parse, run the verb, turn failures into one line and an exit status.
//
//   0 done · 1 the environment failed or a check did not hold · 2 the user must change the command
//   or a file · 130/143 interrupted
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <exception>
#include <new>
#include <random>
#include <string>
#include <vector>

#include "cli/commands.hpp"
#include "cli/console.hpp"
#include "cli/guide.hpp"
#include "dewpoint/core/error.hpp"

namespace {

using dewpoint::Code;
using dewpoint::Error;

using Arguments = std::vector<std::string>;

// Short enough to type, and exact in any reader of JSON.
std::string fresh_seed() {
  const std::string seed = std::to_string(std::random_device{}());
  fmt::print(stderr, "dewpoint: seed {}\n", seed);
  return seed;
}

// What was typed, with `--seed random` as a number: what is recorded can be repeated.
Arguments arguments_of(int argc, char** argv) {
  Arguments arguments(argv + 1, argv + argc);
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const bool value = i > 0 && arguments[i - 1] == "--seed" && arguments[i] == "random";
    if (value) arguments[i] = fresh_seed();
    if (arguments[i] == "--seed=random") arguments[i] = "--seed=" + fresh_seed();
  }
  return arguments;
}

int complain(const std::string& message, int status) {
  fmt::print(stderr, "dewpoint: {}\n", message);
  return status;
}

int run(dewpoint::cli::Program& program, const Arguments& arguments) {
  if (arguments.empty()) return dewpoint::cli::print_guide();
  try {
    program.app.parse(Arguments(arguments.rbegin(), arguments.rend()));  // it wants the last first
  } catch (const CLI::Success& wanted_text) {                            // --help, --version
    return program.app.exit(wanted_text);
  } catch (const CLI::ParseError& error) {
    return complain(fmt::format("{}; see dewpoint --help", error.what()), 2);
  }
  (void)dewpoint::cli::stop_on_signals();  // from here on an interrupt ends the work cleanly
  return program.action ? program.action() : dewpoint::cli::print_guide();
}

}  // namespace

int main(int argc, char** argv) {
  dewpoint::cli::Program program;
  try {
    const Arguments arguments = arguments_of(argc, argv);
    program.command_line = fmt::format("dewpoint {}", fmt::join(arguments, " "));
    dewpoint::cli::add_commands(program);
    return run(program, arguments);
  } catch (const Error& error) {
    if (error.code() == Code::stopped) {
      return complain("interrupted; nothing was written", 128 + dewpoint::cli::received_signal());
    }
    return complain(error.what(), exit_status(error.code()));
  } catch (const std::bad_alloc&) {
    return complain("out of memory; try a smaller n, or --rows for a sample of queries", 1);
  } catch (const std::exception& error) {
    return complain(error.what(), 1);
  }
}
