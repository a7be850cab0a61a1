// What the tests of parsers share: how a refusal is seen, and files that NumPy writes while the
// test runs.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "dewpoint/core/error.hpp"
#include "store/scratch_folder.hpp"

namespace dewpoint::test {

struct Outcome {
  Code code;
  std::string message;
};

/// What the action threw; Code::stopped when it threw nothing.
template <class Action>
Outcome outcome(Action action) {
  try {
    action();
  } catch (const Error& error) {
    return {error.code(), error.what()};
  }
  return {Code::stopped, "accepted"};
}

/// A folder that scripts write into. Skips where the system's Python has no NumPy.
class NumPyFiles : public testing::Test {
 protected:
  void SetUp() override {
    const std::string probe = std::string(kPython) + " -c 'import numpy' >/dev/null 2>&1";
    if (std::system(probe.c_str()) != 0) GTEST_SKIP() << kPython << " with numpy is not installed";
  }

  /// Runs the script in the folder, after `import numpy as np`.
  void run(const std::string& script) const {
    write_bytes(folder_ / "write.py", "import numpy as np\n" + script);
    const std::string command =
        "cd " + (folder_ / "").string() + " && " + kPython + " -W ignore write.py";
    ASSERT_EQ(std::system(command.c_str()), 0);
  }

  ScratchFolder folder_;

 private:
  static constexpr const char* kPython = "/usr/bin/python3";
};

}  // namespace dewpoint::test
