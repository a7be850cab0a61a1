// The seed of every statistical test.
//
// Fixed by default, so that `make test` is the same run everywhere. `make test-full` sets
// DEWPOINT_TEST_SEED to a fresh number and prints it; tolerances are derived so that the whole
// suite raises a false alarm less than once in a thousand fresh seeds.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "dewpoint/core/random.hpp"

namespace dewpoint::test {

[[nodiscard]] std::uint64_t seed();

/// The stream a test draws from: its own name, the suite's seed.
[[nodiscard]] Stream stream(std::string_view test_name);

/// Half-width of a two-sided bound, in standard errors, that a correct statistical check exceeds
/// with probability 2e-8: ten thousand such checks raise a false alarm with probability 2e-4.
inline constexpr double kSigmas = 5.6;

}  // namespace dewpoint::test
