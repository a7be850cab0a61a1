// How things fail: three doors.
//
//   The caller's mistake    DEWPOINT_EXPECTS(condition): a bug in our own code. Checked in
//                           development and tests, absent from release builds.
//   The world's mistake     throw Error{Code, message}: a file, an argument, a disk. The message
//                           is one line that names the file or field, what was found and what is
//                           allowed; the code decides the exit status.
//   Science's refusal       an ordinary value that says so (no convergence, outside a theorem's
//                           domain): std::optional or a status, never a silent NaN.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>
#include <string>

namespace dewpoint {

enum class Code {
  bad_value,        // an argument or a field outside what is allowed
  unreadable_file,  // a file that is not there or may not be read
  malformed_file,   // a file whose content is not what its format promises
  unwritable_file,  // no room, no permission, no such folder
  missing_tool,     // an outside program that is not installed
  stopped,          // the user asked to stop
};

/// Exit status of the command line for a failure: 2 when the user must change the command or a
/// file, 1 when the environment failed, 130 when interrupted.
[[nodiscard]] int exit_status(Code code);

class Error : public std::runtime_error {
 public:
  Error(Code code, const std::string& message) : std::runtime_error(message), code_(code) {}
  [[nodiscard]] Code code() const { return code_; }

 private:
  Code code_;
};

namespace detail {
[[noreturn]] void expectation_failed(const char* condition, const char* file, int line);
}

}  // namespace dewpoint

#ifdef DEWPOINT_CHECKS
#define DEWPOINT_EXPECTS(condition) \
  ((condition) ? void(0) : ::dewpoint::detail::expectation_failed(#condition, __FILE__, __LINE__))
#else
#define DEWPOINT_EXPECTS(condition) void(sizeof(bool(condition)))  // named, never evaluated
#endif
