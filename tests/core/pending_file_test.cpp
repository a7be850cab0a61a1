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

// Every text is ours that does not say that it is not.
const FileKind kText{"a text of ours", [](const std::filesystem::path& file) {
                       return read_bytes(file) != "theirs";
                     }};

TEST(PendingFile, AppearsOnlyWhenCommitted) {
  const ScratchFolder folder;
  PendingFile pending(folder / "a.txt", kText);
  write_bytes(pending.path(), "new");
  EXPECT_FALSE(std::filesystem::exists(folder / "a.txt"));
  pending.commit();
  EXPECT_EQ(read_bytes(folder / "a.txt"), "new");
  EXPECT_EQ(folder.names(), Names{"a.txt"});
}

TEST(PendingFile, LeavesTheOldFileAndNothingElseWhenAbandoned) {
  const ScratchFolder folder;
  write_bytes(folder / "a.txt", "old");
  { write_bytes(PendingFile(folder / "a.txt", kText).path(), "half"); }
  EXPECT_EQ(read_bytes(folder / "a.txt"), "old");
  EXPECT_EQ(folder.names(), Names{"a.txt"});
}

TEST(PendingFile, StartsEmptyWhereAKilledProcessLeftItsTemporary) {
  const ScratchFolder folder;
  std::filesystem::path left_behind = PendingFile(folder / "a.txt", kText).path();
  write_bytes(left_behind, "left behind");
  PendingFile pending(folder / "a.txt", kText);
  EXPECT_EQ(pending.path(), left_behind);
  EXPECT_EQ(read_bytes(pending.path()), "");
}

TEST(PendingFile, SaysWhyAFileCannotBeWritten) {
  const ScratchFolder folder;
  const std::filesystem::path file = folder / "absent" / "a.txt";
  try {
    PendingFile pending(file, kText);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::unwritable_file);
    EXPECT_EQ(error.what(), "cannot write '" + file.string() + "': No such file or directory");
  }
  EXPECT_THROW(PendingFile("", kText), Error);
}

TEST(PendingFile, DoesNotReplaceAFolder) {
  const ScratchFolder folder;
  std::filesystem::create_directory(folder / "a");
  EXPECT_THROW(PendingFile(folder / "a", kText), Error);
}

TEST(PendingFile, DoesNotReplaceWhatIsNotOurs) {
  const ScratchFolder folder;
  write_bytes(folder / "a.txt", "theirs");
  EXPECT_THROW(PendingFile(folder / "a.txt", kText), Error);
  PendingFile forced({folder / "a.txt", true}, kText);
  write_bytes(forced.path(), "new");
  forced.commit();
  EXPECT_EQ(read_bytes(folder / "a.txt"), "new");
  EXPECT_EQ(folder.names(), Names{"a.txt"});
}

TEST(PendingFile, DoesNotReplaceWhatSomebodyPutThereMeanwhile) {
  const ScratchFolder folder;
  {
    PendingFile pending(folder / "a.txt", kText);
    write_bytes(pending.path(), "new");
    write_bytes(folder / "a.txt", "theirs");
    EXPECT_THROW(pending.commit(), Error);
  }
  EXPECT_EQ(read_bytes(folder / "a.txt"), "theirs");
  EXPECT_EQ(folder.names(), Names{"a.txt"});
}

}  // namespace
}  // namespace dewpoint
