// The program `dewpoint`.
//
// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <cstdlib>
#include <exception>
#include <new>
#include <string_view>

#include "cli/program.hpp"
#include "cli/room_to_start.hpp"

namespace {

// Memory may also run out where nothing can be thrown, as in a destructor of the JSON library: then
// the process ends here, with a line and a status as elsewhere. Files that were under way have not
// got their names yet, and a study has what was committed.
[[noreturn]] void end_without_memory() {
  try {
    if (const auto thrown = std::current_exception()) std::rethrow_exception(thrown);
  } catch (const std::bad_alloc&) {
    constexpr std::string_view kLine = "dewpoint: out of memory\n";
    static_cast<void>(!::write(STDERR_FILENO, kLine.data(), kLine.size()));
    ::_exit(1);
  } catch (...) {
  }
  std::abort();
}

}  // namespace

int main(int argc, char** argv) {
  std::set_terminate(end_without_memory);
  return dewpoint::cli::run_program(dewpoint::cli::Words(argv + 1, argv + argc));
}

#if defined(__linux__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
// The system runs this before it initialises shared libraries.
__attribute__((section(".preinit_array"), used)) static void (*const before_libraries)(
    int, char**, char**) = &dewpoint::cli::expect_room_to_start;
#endif
