#include "dewpoint/server/study_folder.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "dewpoint/server/refusal.hpp"

namespace dewpoint::server {
namespace {

namespace fs = std::filesystem;

class StudyFolderTest : public testing::Test {
 protected:
  void SetUp() override {
    top_ = fs::temp_directory_path() / ("dewpoint-folder-" + std::to_string(getpid()));
    fs::create_directories(top_ / "inside" / "sub");
    fs::create_directories(top_ / "inside" / ".hidden");
    fs::create_directories(top_ / "inside-twin");
    for (const char* file : {"inside/a.study", "inside/b.toml", "inside/sub/c.npz", "inside/d.txt",
                             "inside/.hidden/e.study", "secret.study", "inside-twin/f.study"}) {
      std::ofstream(top_ / file) << "x";
    }
    fs::create_symlink(top_ / "secret.study", top_ / "inside" / "link.study");
    fs::create_symlink(top_ / "inside" / "a.study", top_ / "inside" / "friend.study");
    fs::create_directory_symlink(top_, top_ / "inside" / "up");
  }
  void TearDown() override { fs::remove_all(top_); }

  [[nodiscard]] StudyFolder folder() const { return StudyFolder(top_ / "inside"); }

  fs::path top_;
};

const std::vector<std::string> kAll = {".study", ".toml", ".npz", ".txt"};

// Property (1).
TEST_F(StudyFolderTest, FindsWhatLiesBelowIt) {
  EXPECT_EQ(folder().existing("a.study", kAll), folder().root() / "a.study");
  EXPECT_EQ(folder().existing("sub/c.npz", kAll), folder().root() / "sub" / "c.npz");
  EXPECT_EQ(folder().existing("friend.study", kAll), folder().root() / "a.study");
}

// Property (1).
TEST_F(StudyFolderTest, NothingOutsideCanBeNamed) {
  const std::string absolute = (top_ / "secret.study").string();
  for (const std::string& name :
       {std::string("../secret.study"), absolute, std::string("sub/../../secret.study"),
        std::string("link.study"), std::string("up/secret.study"),
        std::string("../inside-twin/f.study"), std::string(".hidden/e.study"), std::string(""),
        std::string("."), std::string("sub"), std::string("sub/"), std::string("none.study"),
        std::string("a.study\0.toml", 13), std::string("./a.study"), std::string("sub//c.npz"),
        std::string("..\\secret.study"), std::string(300, 'a')}) {
    try {
      (void)folder().existing(name, kAll);
      ADD_FAILURE() << name;
    } catch (const Refusal& refusal) {
      EXPECT_EQ(refusal.status(), 404) << name;
    }
  }
  EXPECT_THROW((void)folder().existing("a.study", {".toml"}), Refusal);
}

TEST_F(StudyFolderTest, WritesOnlyBelowIt) {
  EXPECT_EQ(folder().writable("new.study", ".study"), folder().root() / "new.study");
  EXPECT_EQ(folder().writable("sub/new.study", ".study"), folder().root() / "sub" / "new.study");
  for (const char* name : {"../new.study", "/tmp/new.study", "up/new.study", "none/new.study",
                           "new.txt", ".study", ".hidden/new.study", "link.study", ""}) {
    EXPECT_THROW((void)folder().writable(name, ".study"), Refusal) << name;
  }
}

TEST_F(StudyFolderTest, MessagesDoNotSayWhereItLies) {
  const std::string root = folder().root().string();
  EXPECT_EQ(folder().without_root(root + "/a.study: is not " + root + "/sub/c.npz"),
            "a.study: is not sub/c.npz");
  EXPECT_EQ(folder().without_root("/elsewhere/a.study"), "/elsewhere/a.study");
}

TEST_F(StudyFolderTest, ListsWhatCanBeOpened) {
  const FolderList list = folder().list();
  EXPECT_EQ(list.studies, (std::vector<std::string>{"a.study", "friend.study"}));
  EXPECT_EQ(list.texts, (std::vector<std::string>{"b.toml"}));
  EXPECT_EQ(list.dumps, (std::vector<std::string>{"sub/c.npz"}));
}

}  // namespace
}  // namespace dewpoint::server
