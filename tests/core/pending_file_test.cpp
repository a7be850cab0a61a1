#include "dewpoint/core/pending_file.hpp"

#include <gtest/gtest.h>

#include "dewpoint/core/error.hpp"
#include "store/scratch_folder.hpp"

namespace dewpoint {
namespace {

using test::read_bytes;
using test::ScratchFolder;
using test::write_bytes;
using Names = std::vector<std::string>;

TEST(PendingFile, AppearsOnlyWhenCommitted) {
  const ScratchFolder folder;
  PendingFile pending(folder / "a.txt");
  write_bytes(pending.path(), "new");
  EXPECT_FALSE(std::filesystem::exists(folder / "a.txt"));
  pending.commit();
  EXPECT_EQ(read_bytes(folder / "a.txt"), "new");
  EXPECT_EQ(folder.names(), Names{"a.txt"});
}

TEST(PendingFile, LeavesTheOldFileAndNothingElseWhenAbandoned) {
  const ScratchFolder folder;
  write_bytes(folder / "a.txt", "old");
  { write_bytes(PendingFile(folder / "a.txt").path(), "half"); }
  EXPECT_EQ(read_bytes(folder / "a.txt"), "old");
  EXPECT_EQ(folder.names(), Names{"a.txt"});
}

TEST(PendingFile, StartsEmptyWhereAKilledProcessLeftItsTemporary) {
  const ScratchFolder folder;
  std::filesystem::path left_behind = PendingFile(folder / "a.txt").path();
  write_bytes(left_behind, "left behind");
  PendingFile pending(folder / "a.txt");
  EXPECT_EQ(pending.path(), left_behind);
  EXPECT_EQ(read_bytes(pending.path()), "");
}

TEST(PendingFile, SaysWhyAFileCannotBeWritten) {
  const ScratchFolder folder;
  const std::filesystem::path file = folder / "absent" / "a.txt";
  try {
    PendingFile pending(file);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::unwritable_file);
    EXPECT_EQ(error.what(), "cannot write '" + file.string() + "': No such file or directory");
  }
  EXPECT_THROW(PendingFile(""), Error);
}

TEST(PendingFile, DoesNotReplaceAFolder) {
  const ScratchFolder folder;
  std::filesystem::create_directory(folder / "a");
  PendingFile pending(folder / "a");
  EXPECT_THROW(pending.commit(), Error);
}

}  // namespace
}  // namespace dewpoint
