#include "support/test_seed.hpp"

#include <cstdlib>
#include <string>

namespace dewpoint::test {

std::uint64_t seed() {
  const char* text = std::getenv("DEWPOINT_TEST_SEED");
  return text == nullptr ? 20260101 : std::strtoull(text, nullptr, 10);
}

namespace {

// rapidcheck draws its own seed unless told: give it ours, so that the same run is the same run. A
// person who sets RC_PARAMS to repeat a failure keeps what was set.
[[maybe_unused]] const int rapidcheck_seeded =
    setenv("RC_PARAMS", ("seed=" + std::to_string(seed())).c_str(), 0);

}  // namespace

Stream stream(std::string_view test_name) { return Stream{seed(), test_name}; }

}  // namespace dewpoint::test
