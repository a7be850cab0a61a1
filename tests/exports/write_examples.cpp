// Writes the example studies in every format into the folder that is its only argument, for
// exports_test.py to read with other people's tools.
//
// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <exception>
#include <filesystem>

#include "dewpoint/exports/export.hpp"
#include "exports/example_study.hpp"

int main(int count, char** arguments) {
  using namespace dewpoint;
  if (count != 2) {
    std::fputs("usage: write_examples FOLDER\n", stderr);
    return 2;
  }
  try {
    const std::filesystem::path folder = arguments[1];
    for (const char* extension : {".csv", ".jsonl", ".npz", ".nc"}) {
      const auto write = [&](const std::string& name, std::vector<Frame> frames) {
        const std::filesystem::path target = folder / (name + extension);
        exports::write(test::study_of(std::move(frames)), target, exports::format_of(target));
      };
      write("one", {test::phase_frame()});
      write("two", {test::phase_frame(), test::critical_frame()});
      write("odd", {test::odd_frame()});
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}
