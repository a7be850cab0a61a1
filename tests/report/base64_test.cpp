#include "dewpoint/report/base64.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <limits>
#include <string_view>

#include "report/base64_numbers.hpp"
#include "support/test_seed.hpp"

namespace dewpoint::report {
namespace {

using Bytes = std::vector<std::uint8_t>;

std::string encoded(std::string_view text) {
  const Bytes bytes(text.begin(), text.end());
  return base64_of(bytes);
}

// RFC 4648, section 10.
TEST(Base64, GivesTheVectorsOfItsStandard) {
  EXPECT_EQ(encoded(""), "");
  EXPECT_EQ(encoded("f"), "Zg==");
  EXPECT_EQ(encoded("fo"), "Zm8=");
  EXPECT_EQ(encoded("foo"), "Zm9v");
  EXPECT_EQ(encoded("foob"), "Zm9vYg==");
  EXPECT_EQ(encoded("fooba"), "Zm9vYmE=");
  EXPECT_EQ(encoded("foobar"), "Zm9vYmFy");
}

// RFC 4648, section 9, and its alphabet from the first letter to the last.
TEST(Base64, UsesAllOfItsAlphabet) {
  EXPECT_EQ(base64_of(Bytes{0x14, 0xfb, 0x9c, 0x03, 0xd9, 0x7e}), "FPucA9l+");
  const std::string alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  EXPECT_EQ(base64_of(test::bytes_of_base64(alphabet)), alphabet);
}

TEST(Base64, IsReversibleForEveryLengthAndEveryByte) {
  Bytes bytes;
  for (std::size_t length = 0; length <= 300; ++length) {
    EXPECT_EQ(test::bytes_of_base64(base64_of(bytes)), bytes);
    bytes.push_back(static_cast<std::uint8_t>(length * 167));
  }
}

// 1 is 0x3ff0000000000000, its last byte first.
TEST(Base64, WritesNumbersWithTheirLowestByteFirst) {
  EXPECT_EQ(base64_of(std::vector<double>{1.0}), "AAAAAAAA8D8=");
  EXPECT_EQ(base64_of(std::vector<double>{}), "");
}

TEST(Base64, KeepsEveryBitOfANumber) {
  std::vector<double> numbers{0.0,
                              -0.0,
                              std::numeric_limits<double>::denorm_min(),
                              std::numeric_limits<double>::max(),
                              std::numeric_limits<double>::infinity(),
                              -std::numeric_limits<double>::infinity(),
                              std::numeric_limits<double>::quiet_NaN(),
                              std::bit_cast<double>(std::uint64_t{0xfff80000deadbeef})};
  const Stream stream = test::stream("Base64/KeepsEveryBitOfANumber");
  for (std::uint64_t k = 0; k < 1000; ++k) {
    const auto bits = stream.bits(k);
    numbers.push_back(std::bit_cast<double>(std::uint64_t{bits[0]} << 32U | bits[1]));
  }
  const std::vector<double> back = test::numbers_of_base64(base64_of(numbers));
  ASSERT_EQ(back.size(), numbers.size());
  for (std::size_t k = 0; k < numbers.size(); ++k) {
    EXPECT_EQ(std::bit_cast<std::uint64_t>(back[k]), std::bit_cast<std::uint64_t>(numbers[k]));
  }
}

}  // namespace
}  // namespace dewpoint::report
