// The lock beside a study is never somebody else's file.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <functional>

#include "dewpoint/core/error.hpp"
#include "dewpoint/store/sweep_file.hpp"
#include "store/scratch_folder.hpp"
#include "store/sweep_support.hpp"

namespace dewpoint::store {
namespace {

using test::error_of;
using test::read_bytes;
using test::ScratchFolder;
using test::sweep_head;
using test::write_bytes;
namespace fs = std::filesystem;

TEST(LockFile, WhatIsNoLockIsRefusedAndLeftAsItIs) {
  const ScratchFolder folder;
  const fs::path path = folder / "a.study";
  const fs::path lock = folder / "a.study-lock";
  write_bytes(folder / "precious", "1234567890");
  const auto refuse = [&](const std::string& what) {
    SCOPED_TRACE(what);
    for (const auto& open : {std::function([&] { SweepFile(path, sweep_head()); }),
                             std::function([&] { write_study(path, {}); })}) {
      const Error error = error_of(open);
      EXPECT_EQ(error.code(), Code::malformed_file);
      EXPECT_EQ(error.what(), fmt::format("'{}' is no lock of Dewpoint ({}): move it away and run "
                                          "the same command again",
                                          lock.string(), what));
    }
    EXPECT_EQ(read_bytes(folder / "precious"), "1234567890");
    EXPECT_TRUE(fs::exists(fs::symlink_status(lock)));
    EXPECT_FALSE(fs::exists(path));
    fs::remove_all(lock);
  };
  fs::create_symlink(folder / "precious", lock);
  refuse("a link");
  fs::create_symlink(folder / "absent", lock);
  refuse("a link");
  fs::create_hard_link(folder / "precious", lock);
  refuse("a file with another name");
  write_bytes(lock, "12 monkeys\n");
  refuse("it has other content");
  write_bytes(lock, std::string(30, '1'));
  refuse("it has other content");
  ASSERT_EQ(::mkfifo(lock.c_str(), 0600), 0);
  refuse("not a regular file");
  write_bytes(lock, "4711\n");  // of a process that was killed
  SweepFile(path, sweep_head()).close();
}

}  // namespace
}  // namespace dewpoint::store
