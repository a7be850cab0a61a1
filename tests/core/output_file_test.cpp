#include "dewpoint/core/output_file.hpp"

#include <gtest/gtest.h>

#include "dewpoint/core/error.hpp"
#include "store/scratch_folder.hpp"

namespace dewpoint {
namespace {

namespace fs = std::filesystem;
using test::ScratchFolder;
using test::write_bytes;

template <typename Action>
std::string refusal(const Action& action) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::bad_value);
    return error.what();
  }
  return "no refusal";
}

const FileKind kNote = marked_kind("a note of ours", "NOTE", "by us");

TEST(OutputFile, MayBeWrittenWhereNothingIsOrWhereOursIs) {
  const ScratchFolder folder;
  EXPECT_NO_THROW(expect_replaceable(folder / "absent", kNote));
  write_bytes(folder / "empty", "");
  EXPECT_NO_THROW(expect_replaceable(folder / "empty", kNote));
  write_bytes(folder / "ours", "NOTE written by us");
  EXPECT_NO_THROW(expect_replaceable(folder / "ours", kNote));
}

TEST(OutputFile, OfSomebodyElseIsNamedWithWhatItIs) {
  const ScratchFolder folder;
  struct Case {
    std::string bytes, what;
  };
  for (const auto& [bytes, what] :
       {Case{"my text\n", "a text"}, Case{"NOTE of mine", "a text"}, Case{"by us", "a text"},
        Case{std::string("SQLite format 3\0", 16), "an SQLite database"},
        Case{"\x89PNG\r\n", "a PNG picture"}, Case{"%PDF-1.5", "a PDF document"},
        Case{"\x01\x02", "a file of another program"}}) {
    write_bytes(folder / "theirs", bytes);
    EXPECT_EQ(refusal([&] { expect_replaceable(folder / "theirs", kNote); }),
              "'" + (folder / "theirs").string() + "' is there already: " + what +
                  ", not a note of ours; choose another name, or --force replaces it");
    EXPECT_NO_THROW(expect_replaceable({folder / "theirs", true}, kNote));
  }
}

TEST(OutputFile, IsNoFolderAndNoDeviceWhateverTheForce) {
  const ScratchFolder folder;
  fs::create_directory(folder / "f");
  EXPECT_THROW(expect_replaceable({folder / "f", true}, kNote), Error);
  EXPECT_THROW(expect_replaceable({"/dev/null", true}, kNote), Error);
}

TEST(OutputFile, BehindALinkIsWhatTheLinkLeadsTo) {
  const ScratchFolder folder;
  write_bytes(folder / "theirs", "mine");
  write_bytes(folder / "ours", "NOTE by us");
  fs::create_symlink(folder / "theirs", folder / "to-theirs");
  fs::create_symlink(folder / "ours", folder / "to-ours");
  EXPECT_THROW(expect_replaceable(folder / "to-theirs", kNote), Error);
  EXPECT_NO_THROW(expect_replaceable(folder / "to-ours", kNote));
}

// A mark is looked for near both ends and nowhere else.
TEST(OutputFile, MarksAreFoundAtBothEnds) {
  const ScratchFolder folder;
  const std::string far(kMarkReach, '.');
  write_bytes(folder / "a", "NOTE by us" + far + far);
  write_bytes(folder / "b", "NOTE " + far + far + "by us");
  write_bytes(folder / "c", "NOTE " + far + "by us" + far);
  EXPECT_TRUE(kNote.is_ours(folder / "a"));
  EXPECT_TRUE(kNote.is_ours(folder / "b"));
  EXPECT_FALSE(kNote.is_ours(folder / "c"));
  EXPECT_FALSE(kNote.is_ours(folder / "absent"));
}

TEST(OutputFolder, IsOursWhenItIsEmptyOrHoldsAFileOfOurs) {
  const ScratchFolder folder;
  const FolderKind kind{"a folder of notes", {kNote}};
  make_own_folder(folder / "f" / "g", kind);
  EXPECT_TRUE(fs::is_directory(folder / "f" / "g"));
  EXPECT_NO_THROW(make_own_folder(folder / "f" / "g", kind));
  write_bytes(folder / "f" / "g" / "theirs", "mine");
  EXPECT_EQ(refusal([&] { make_own_folder(folder / "f" / "g", kind); }),
            "'" + (folder / "f" / "g").string() +
                "' is not empty and not a folder of notes; choose another name, or --force writes "
                "into it");
  EXPECT_NO_THROW(make_own_folder({folder / "f" / "g", true}, kind));
  write_bytes(folder / "f" / "g" / "ours", "NOTE by us");
  EXPECT_NO_THROW(make_own_folder(folder / "f" / "g", kind));
  EXPECT_THROW(make_own_folder(folder / "f" / "g" / "ours", kind), Error);
}

}  // namespace
}  // namespace dewpoint
