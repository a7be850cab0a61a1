// Files of others: their bytes, what cannot be read, and what happens when they shrink.
//
// SPDX-License-Identifier: Apache-2.0
#include "dewpoint/checkpoint/foreign_file.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "checkpoint/foreign_files.hpp"
#include "dewpoint/checkpoint/npz.hpp"
#include "dewpoint/checkpoint/safetensors_writer.hpp"
#include "dewpoint/checkpoint/tensor_archive.hpp"

namespace dewpoint::checkpoint {
namespace {

using test::outcome;

class ForeignFiles : public test::NumPyFiles {
 protected:
  std::shared_ptr<const ForeignFile> open(const std::string& name) const {
    return std::make_shared<const ForeignFile>(folder_ / name, "a test file");
  }
  std::string refusal(const std::string& name) const {
    const auto refused = outcome([&] { (void)open(name); });
    EXPECT_EQ(refused.code, Code::unreadable_file) << refused.message;
    return refused.message;
  }
  void shorten(const std::string& name, std::size_t bytes) const {
    std::filesystem::resize_file(folder_ / name, bytes);
  }
};

TEST_F(ForeignFiles, HoldTheBytesOfTheFile) {
  const std::string content("a\0b\xff", 4);
  test::write_bytes(folder_ / "x", content);
  EXPECT_EQ(open("x")->text(), content);
  EXPECT_EQ(ByteSource(open("x")).text(1, 2), content.substr(1, 2));
  EXPECT_EQ(ByteSource(open("x")).text(3, 100), content.substr(3));
}

TEST_F(ForeignFiles, MayBeEmpty) {
  test::write_bytes(folder_ / "x", "");
  EXPECT_EQ(open("x")->size(), 0U);
  EXPECT_EQ(open("x")->text(), "");
}

TEST_F(ForeignFiles, KeepTheirBytesWhenTheFileIsRemoved) {
  test::write_bytes(folder_ / "x", "first");
  const auto file = open("x");
  std::filesystem::remove(folder_ / "x");
  EXPECT_EQ(file->text(), "first");
}

TEST_F(ForeignFiles, AreRegularFiles) {
  EXPECT_NE(refusal("none").find("none: no such file, allowed: a test file"), std::string::npos);
  EXPECT_NE(refusal("").find("a directory"), std::string::npos);
  ASSERT_EQ(::mkfifo((folder_ / "pipe").c_str(), 0600), 0);
  EXPECT_NE(refusal("pipe").find("not a regular file"), std::string::npos);
}

TEST_F(ForeignFiles, AreReadWholeOnlyUpToALimit) {
  test::write_bytes(folder_ / "x", "12345");
  EXPECT_EQ(open("x")->text(5), "12345");
  const auto refused = outcome([&] { (void)open("x")->text(4); });
  EXPECT_EQ(refused.code, Code::malformed_file);
  EXPECT_NE(refused.message.find("found 5 bytes, allowed: at most 4 bytes"), std::string::npos);
}

// A mapped file ended the process here.
TEST_F(ForeignFiles, ThatShrinkWhileTheyAreReadAreRefused) {
  test::write_bytes(folder_ / "x", std::string(100'000, 'x'));
  const auto file = open("x");
  shorten("x", 10);
  std::vector<std::byte> bytes(20);
  const auto refused = outcome([&] { file->read(0, bytes); });
  EXPECT_EQ(refused.code, Code::unreadable_file);
  EXPECT_TRUE(
      refused.message.ends_with("x: file: found its end before byte 11, allowed: the "
                                "100000 bytes that it had when it was opened"))
      << refused.message;
  file->read(5, std::span(bytes).first(5));
  EXPECT_EQ(bytes[0], std::byte{'x'});
}

// ---- tensors ------------------------------------------------------------------------------------

std::vector<float> values(const Tensor& tensor) {
  std::vector<float> out(tensor.elements());
  copy_elements(tensor, 0, std::span(out));
  return out;
}

void expect_shrunk(const Tensor& tensor) {
  const auto refused = outcome([&] { (void)values(tensor); });
  EXPECT_EQ(refused.code, Code::unreadable_file) << refused.message;
  EXPECT_NE(refused.message.find("its end before byte"), std::string::npos) << refused.message;
  EXPECT_EQ(refused.message.find('\n'), std::string::npos);
}

// Every kind of number, in more than one of the pieces that a file is read in.
TEST_F(ForeignFiles, GiveTheNumbersThatTheyHave) {
  run("x = np.arange(100000) % 251\n"
      "for k in ['f2', 'f4', 'f8', 'i1', 'u1', 'i2', 'u2', 'i4', 'u4', 'i8', 'u8', 'b1']:\n"
      "    y = (x % 100).astype(k) if k[0] == 'i' else x.astype(k)\n"
      "    np.save(k + '.npy', y)\n"
      "    y.astype('f4').tofile(k + '.raw')\n");
  for (const char* kind :
       {"f2", "f4", "f8", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "b1"}) {
    const auto archive = TensorArchive::open(folder_ / (std::string(kind) + ".npy"));
    const Tensor& tensor = archive.at("array");
    EXPECT_NE(tensor.in_file.file, nullptr);
    const std::vector<float> all = values(tensor);
    const std::string expected = test::read_bytes(folder_ / (std::string(kind) + ".raw"));
    EXPECT_EQ(std::string(reinterpret_cast<const char*>(all.data()), 4 * all.size()), expected)
        << kind;
    std::vector<float> some(3);
    copy_elements(tensor, 99'997, std::span(some));
    EXPECT_EQ(some, std::vector<float>(all.end() - 3, all.end())) << kind;
  }
}

TEST_F(ForeignFiles, GiveNumbersOutOfOrderInOrder) {
  run("x = np.arange(600).reshape(20, 30)\n"
      "np.save('f.npy', np.asfortranarray(x.astype('f4')))\n"
      "np.save('b.npy', x.astype('>f4'))\n");
  for (const char* name : {"f.npy", "b.npy"}) {
    const auto archive = TensorArchive::open(folder_ / name);
    const std::vector<float> all = values(archive.at("array"));
    for (std::size_t i = 0; i < all.size(); ++i) EXPECT_EQ(all[i], static_cast<float>(i)) << name;
  }
}

TEST_F(ForeignFiles, OfTensorsThatShrinkAreRefused) {
  const std::vector<float> numbers(10'000, 1.0F);
  const Tensor one{"a", ElementType::f32, {10'000}, std::as_bytes(std::span(numbers))};
  write_safetensors(folder_ / "x.safetensors", {{one}}, {});
  run("np.save('x.npy', np.zeros(10000, 'f2'))\n");
  for (const std::string name : {"x.safetensors", "x.npy"}) {
    const auto archive = TensorArchive::open(folder_ / name);
    EXPECT_EQ(values(archive.tensors().at(0)).size(), 10'000U);
    shorten(name, 5000);
    expect_shrunk(archive.tensors().at(0));
  }
}

// Many readers at once, one of them short of bytes: each gets its numbers or an Error.
TEST_F(ForeignFiles, AreReadByManyThreadsWhileTheyShrink) {
  run("np.save('x.npy', np.ones(1 << 20, 'f4'))\n");
  const auto archive = TensorArchive::open(folder_ / "x.npy");
  std::vector<Code> codes(4, Code::stopped);
  std::vector<std::thread> threads;
  for (Code& code : codes) {
    threads.emplace_back([&archive, &code] {
      const auto seen = outcome([&] {
        while (true) (void)values(archive.at("array"));
      });
      code = seen.code;
    });
  }
  shorten("x.npy", 1 << 20);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(codes, std::vector<Code>(4, Code::unreadable_file));
}

// libzip meets the new end.
TEST_F(ForeignFiles, OfMembersThatShrinkAreRefused) {
  run("np.savez('x.npz', a=np.zeros(1 << 16, 'f4'), b=np.ones(1 << 16, 'f4'))\n");
  const auto file = open("x.npz");
  shorten("x.npz", 100'000);
  const auto refused = outcome([&] { (void)parse_npz(file, "x.npz"); });
  EXPECT_EQ(refused.code, Code::malformed_file) << refused.message;
  EXPECT_TRUE(refused.message.starts_with("x.npz: ")) << refused.message;
}

}  // namespace
}  // namespace dewpoint::checkpoint
