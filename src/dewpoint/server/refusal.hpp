// A request that is not answered, and why: what becomes {"error", "field", "command"} and a status.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#include "dewpoint/core/error.hpp"

namespace dewpoint::server {

/// Control characters as spaces: what somebody sent may be part of a message.
[[nodiscard]] std::string one_line(std::string text);

class Refusal : public std::runtime_error {
 public:
  /// `message`: becomes one line. `field`: of the question or the body; empty: none.
  Refusal(int status, const std::string& message, std::string field = {})
      : std::runtime_error(one_line(message)), status_(status), field_(std::move(field)) {}

  [[nodiscard]] int status() const { return status_; }
  [[nodiscard]] const std::string& field() const { return field_; }
  /// The command line that answers what the page may not ask; empty: none.
  [[nodiscard]] const std::string& command() const { return command_; }
  [[nodiscard]] Refusal with_command(std::string command) const {
    Refusal copy = *this;
    copy.command_ = std::move(command);
    return copy;
  }

 private:
  int status_;
  std::string field_;
  std::string command_;
};

/// A question that is right but too much for a live answer; the command line takes it.
class TooLarge : public Refusal {
 public:
  TooLarge(const std::string& message, std::string field)
      : Refusal(400, message + "; use the command line", std::move(field)) {}
};

/// The field that a message of the library begins with ("gamma: -1 is not ...", "law 'x': ..."), if
/// it is one of these; else empty.
[[nodiscard]] std::string field_of(const std::string& message,
                                   const std::vector<std::string>& fields);

/// An error of the library as a refusal: 404 for a file that cannot be read, 409 for one that
/// cannot be written, 400 for everything else.
[[nodiscard]] Refusal refusal_of(const Error& error, const std::vector<std::string>& fields = {});

}  // namespace dewpoint::server
