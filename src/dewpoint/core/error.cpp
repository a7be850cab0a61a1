#include "dewpoint/core/error.hpp"

#include <cstdio>
#include <cstdlib>

namespace dewpoint {

int exit_status(Code code) {
  switch (code) {
    case Code::bad_value:
    case Code::unreadable_file:
    case Code::malformed_file:
      return 2;
    case Code::unwritable_file:
    case Code::missing_tool:
      return 1;
    case Code::stopped:
      return 130;
  }
  return 1;
}

void detail::expectation_failed(const char* condition, const char* file, int line) {
  std::fprintf(stderr, "%s:%d: expected %s\n", file, line, condition);
  std::abort();
}

}  // namespace dewpoint
