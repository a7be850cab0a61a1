#include "dewpoint/exports/zip_archive.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

namespace dewpoint::exports {
namespace {

TEST(ZipBytes, StoresEntriesAsTheyAre) {
  const std::string bytes = zip_bytes({{"a.npy", "first"}, {"\xce\xbc/b.npy", "second"}});
  EXPECT_EQ(bytes.substr(0, 4), "PK\x03\x04");
  const auto first = bytes.find("a.npyfirst");
  const auto second = bytes.find("\xce\xbc/b.npysecond");
  EXPECT_NE(first, std::string::npos);
  EXPECT_NE(second, std::string::npos);
  EXPECT_LT(first, second);
  // Time and date of the first entry, little-endian: midnight, 1980-01-01.
  EXPECT_EQ(bytes.substr(10, 4), std::string("\0\0\x21\0", 4));
}

TEST(ZipBytes, SaysWhatLibzipSays) {
  try {
    static_cast<void>(zip_bytes({{"a", "1"}, {"a", "2"}}));
    FAIL();
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "File already exists");
  }
}

}  // namespace
}  // namespace dewpoint::exports
