// Whether there is memory for the program to start.
//
// OpenBLAS makes its threads while it is loaded, before main(), and each asks for a buffer until it
// gets one. Under a limit on memory (ulimit -v, a batch system) that is for ever, and the program
// neither works nor ends. So the memory is tried before.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace dewpoint::cli {

/// Ends the program with status 1 and one line on standard error where the threads of OpenBLAS and
/// one product would not get their memory. For .preinit_array: it uses nothing that a library has
/// to initialise first.
void expect_room_to_start(int argc, char** argv, char** environment);

}  // namespace dewpoint::cli
