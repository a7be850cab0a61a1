// Files in memory: their bytes, and what cannot be mapped.
//
// SPDX-License-Identifier: Apache-2.0
#include "dewpoint/checkpoint/mapped_file.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <string>
#include <utility>

#include "checkpoint/foreign_files.hpp"

namespace dewpoint::checkpoint {
namespace {

using test::outcome;

class MappedFiles : public testing::Test {
 protected:
  MappedFile map(const std::string& name) const { return {folder_ / name, "a test file"}; }
  std::string refusal(const std::string& name) const {
    const auto refused = outcome([&] { (void)map(name); });
    EXPECT_EQ(refused.code, Code::unreadable_file) << refused.message;
    return refused.message;
  }
  test::ScratchFolder folder_;
};

TEST_F(MappedFiles, HoldTheBytesOfTheFile) {
  const std::string content("a\0b\xff", 4);
  test::write_bytes(folder_ / "x", content);
  EXPECT_EQ(map("x").text(), content);
  EXPECT_EQ(map("x").bytes()[3], std::byte{0xff});
}

TEST_F(MappedFiles, MayBeEmpty) {
  test::write_bytes(folder_ / "x", "");
  EXPECT_TRUE(map("x").bytes().empty());
}

TEST_F(MappedFiles, KeepTheirBytesWhenTheyMoveAndWhenTheFileIsRemoved) {
  test::write_bytes(folder_ / "x", "first");
  test::write_bytes(folder_ / "y", "second");
  MappedFile first = map("x");
  MappedFile moved = std::move(first);
  std::filesystem::remove(folder_ / "x");
  EXPECT_EQ(moved.text(), "first");
  moved = map("y");
  EXPECT_EQ(moved.text(), "second");
}

TEST_F(MappedFiles, AreRegularFiles) {
  EXPECT_NE(refusal("none").find("none: file: found nothing at this path, allowed: a test file"),
            std::string::npos);
  EXPECT_NE(refusal("").find("a directory"), std::string::npos);
  ASSERT_EQ(::mkfifo((folder_ / "pipe").c_str(), 0600), 0);
  EXPECT_NE(refusal("pipe").find("not a regular file"), std::string::npos);
}

}  // namespace
}  // namespace dewpoint::checkpoint
