#include "support/test_seed.hpp"

#include <cstdlib>

namespace dewpoint::test {

std::uint64_t seed() {
  const char* text = std::getenv("DEWPOINT_TEST_SEED");
  return text == nullptr ? 20260101 : std::strtoull(text, nullptr, 10);
}

Stream stream(std::string_view test_name) { return Stream{seed(), test_name}; }

}  // namespace dewpoint::test
