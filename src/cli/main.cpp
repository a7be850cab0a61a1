// The program `dewpoint`.
//
// SPDX-License-Identifier: Apache-2.0
#include "cli/program.hpp"

int main(int argc, char** argv) {
  return dewpoint::cli::run_program(dewpoint::cli::Words(argv + 1, argv + argc));
}
