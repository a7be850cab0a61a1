#include "cli/room_to_start.hpp"

#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <string_view>

#include "dewpoint/core/blas.hpp"

namespace dewpoint::cli {
namespace {

constexpr std::size_t kStackAtLeast = std::size_t{8} << 20;
constexpr std::size_t kForTheRest = std::size_t{64} << 20;  // what others take at the same time

/// 0 where it is not set, or no number.
std::size_t number_in(char** environment, std::string_view name) {
  for (; *environment != nullptr; ++environment) {
    const std::string_view entry(*environment);
    if (!entry.starts_with(name) || entry.substr(name.size(), 1) != "=") continue;
    std::size_t number = 0;
    for (const char c : entry.substr(name.size() + 1)) {
      if (c < '0' || c > '9' || number > 10'000) return 0;
      number = 10 * number + static_cast<std::size_t>(c - '0');
    }
    return number;
  }
  return 0;
}

/// As OpenBLAS counts them, with the caller.
std::size_t blas_threads(char** environment) {
  cpu_set_t allowed;
  const bool known = ::sched_getaffinity(0, sizeof(allowed), &allowed) == 0;
  const auto processors = known ? static_cast<std::size_t>(CPU_COUNT(&allowed)) : 1;
  for (const char* name : {"OPENBLAS_NUM_THREADS", "GOTO_NUM_THREADS", "OMP_NUM_THREADS"}) {
    const std::size_t wanted = number_in(environment, name);
    if (wanted > 0) return std::min(wanted, processors);
  }
  return processors;
}

std::size_t stack_bytes() {
  rlimit limit{};
  const bool known = ::getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
  return known ? std::max<std::size_t>(limit.rlim_cur, kStackAtLeast) : kStackAtLeast;
}

void say(std::string_view text) {
  // Nobody is left to hear of a failure.
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, text.data(), text.size());
}

void say_number(std::size_t number) {
  char digits[24];
  char* first = digits + sizeof(digits);
  do {
    *--first = static_cast<char>('0' + number % 10);
    number /= 10;
  } while (number > 0);
  say({first, static_cast<std::size_t>(digits + sizeof(digits) - first)});
}

}  // namespace

void expect_room_to_start(int /*argc*/, char** /*argv*/, char** environment) {
  const std::size_t workers = blas_threads(environment) - 1;
  const std::size_t needed =
      workers * (kBlasBufferBytes + stack_bytes()) + kBlasBufferBytes + kForTheRest;
  if (memory_is_left(needed)) return;
  say("dewpoint: out of memory: ");
  say_number(needed >> 20);
  say(" MiB could not be had at the start; allow more (ulimit -v)");
  if (workers > 0) say(", or set OPENBLAS_NUM_THREADS=1");
  say("\n");
  ::_exit(1);
}

}  // namespace dewpoint::cli
