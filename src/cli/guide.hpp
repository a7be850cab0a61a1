// What `dewpoint` alone says.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace dewpoint::cli {

/// Prints the guide; returns exit status 0.
int print_guide();

}  // namespace dewpoint::cli
