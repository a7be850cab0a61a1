#include "dewpoint/server/secret.hpp"

#include <fmt/format.h>
#include <sys/random.h>

#include <array>

#include "dewpoint/core/error.hpp"

namespace dewpoint::server {

std::string fresh_secret() {
  std::array<unsigned char, 16> bytes{};
  // So few bytes come whole, or not at all.
  if (getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
    throw Error(Code::missing_tool, "getrandom: this system gives no random numbers");
  }
  std::string letters;
  for (const unsigned char byte : bytes) letters += fmt::format("{:02x}", byte);
  return letters;
}

}  // namespace dewpoint::server
