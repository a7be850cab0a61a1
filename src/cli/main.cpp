// The command line: parse, run the verb, turn failures into one line and an exit status.
//
//   0 done · 1 the environment failed or a check did not hold · 2 the user must change the command
//   or a file · 130/143 interrupted
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <exception>
#include <new>
#include <string>

#include "cli/commands.hpp"
#include "cli/console.hpp"
#include "cli/guide.hpp"
#include "dewpoint/core/error.hpp"

namespace {

using dewpoint::Code;
using dewpoint::Error;

std::string joined(int argc, char** argv) {
  std::string line = "dewpoint";
  for (int i = 1; i < argc; ++i) line += std::string(" ") + argv[i];
  return line;
}

int complain(const std::string& message, int status) {
  fmt::print(stderr, "dewpoint: {}\n", message);
  return status;
}

int run(dewpoint::cli::Program& program, int argc, char** argv) {
  if (argc == 1) return dewpoint::cli::print_guide();
  try {
    program.app.parse(argc, argv);
  } catch (const CLI::Success& wanted_text) {  // --help, --version
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
    program.command_line = joined(argc, argv);
    dewpoint::cli::add_commands(program);
    return run(program, argc, argv);
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
