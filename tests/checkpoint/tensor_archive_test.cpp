// One door for every kind of file, and the shards of a model.
//
// SPDX-License-Identifier: Apache-2.0
#include "dewpoint/checkpoint/tensor_archive.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "checkpoint/foreign_files.hpp"
#include "dewpoint/checkpoint/safetensors_writer.hpp"

namespace dewpoint::checkpoint {
namespace {

namespace fs = std::filesystem;
using test::outcome;
using test::Outcome;

std::vector<float> values(const Tensor& tensor) {
  std::vector<float> out(tensor.elements());
  copy_elements(tensor, 0, std::span(out));
  return out;
}

// A file of one number for each name.
void write_numbers(const fs::path& path, const std::vector<std::string>& names,
                   const std::map<std::string, std::string>& metadata = {}) {
  const std::vector<float> numbers(names.size(), 1.0f);
  std::vector<Tensor> tensors;
  for (std::size_t k = 0; k < names.size(); ++k)
    tensors.push_back({names[k], ElementType::f32, {1}, std::as_bytes(std::span(&numbers[k], 1))});
  write_safetensors(path, tensors, metadata);
}

std::vector<std::string> names_of(const TensorArchive& archive) {
  std::vector<std::string> names;
  for (const Tensor& tensor : archive.tensors()) names.push_back(tensor.name);
  return names;
}

class Archives : public testing::Test {
 protected:
  void write_index(const std::string& weight_map) const {
    test::write_bytes(folder_ / "model.safetensors.index.json",
                      R"({"metadata": {"total_size": 8}, "weight_map": )" + weight_map + "}");
  }
  void expect_refused(const fs::path& path, Code code, const std::string& begin) const {
    const Outcome refused = outcome([&] { (void)TensorArchive::open(path); });
    EXPECT_EQ(refused.code, code) << refused.message;
    EXPECT_TRUE(refused.message.starts_with(path.string() + ": " + begin)) << refused.message;
  }
  void expect_index_refused(const std::string& weight_map, const std::string& begin) const {
    write_index(weight_map);
    expect_refused(folder_ / "model.safetensors.index.json", Code::malformed_file, begin);
  }
  test::ScratchFolder folder_;
};

using ArchivesOfNumPy = test::NumPyFiles;

// --- kinds of files ------------------------------------------------------------------------------

TEST_F(ArchivesOfNumPy, OpenLikeEveryOtherKindOfFile) {
  write_numbers(folder_ / "x.safetensors", {"b", "a"}, {{"format", "pt"}});
  run("np.savez('x.npz', b=np.ones(1, 'f4'), a=np.ones(1, '>f4'))\n"
      "np.save('x.npy', np.ones(1))\n");
  const TensorArchive file = TensorArchive::open(folder_ / "x.safetensors");
  EXPECT_EQ(file.name(), (folder_ / "x.safetensors").string());
  EXPECT_EQ(names_of(file), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(file.metadata().at("format"), "pt");
  EXPECT_EQ(names_of(TensorArchive::open(folder_ / "x.npz")), names_of(file));
  EXPECT_EQ(names_of(TensorArchive::open(folder_ / "x.npy")), std::vector<std::string>{"array"});
}

TEST_F(ArchivesOfNumPy, AreToldByTheirFirstBytesWhereTheExtensionSaysNothing) {
  write_numbers(folder_ / "tensors", {"a"});
  run("np.savez('archive.npz', a=np.ones(1))\n"
      "np.save('array.npy', np.ones(1))\n"
      "import os\n"
      "os.rename('archive.npz', 'archive')\n"
      "os.rename('array.npy', 'array')\n");
  for (const char* name : {"tensors", "archive", "array"})
    EXPECT_EQ(TensorArchive::open(folder_ / name).tensors().size(), 1u) << name;
}

TEST_F(Archives, JudgeADamagedFileByItsExtension) {
  for (const auto& [name, field] : {std::pair{"x.npz", "archive: found"},
                                    {"x.npy", "magic: found"},
                                    {"x.safetensors", "header length: found"},
                                    {"x.json", "byte 0: found"}}) {
    test::write_bytes(folder_ / name, "hello, world");
    expect_refused(folder_ / name, Code::malformed_file, field);
  }
}

TEST_F(Archives, MustBeThere) {
  expect_refused(folder_ / "none.npz", Code::unreadable_file, "no such file");
  expect_refused(folder_ / "", Code::unreadable_file, "folder: found neither");
}

TEST_F(Archives, KeepTheirBytesInCopies) {
  write_numbers(folder_ / "x.safetensors", {"a"});
  TensorArchive copy;
  {
    const TensorArchive archive = TensorArchive::open(folder_ / "x.safetensors");
    copy = archive;
  }
  fs::remove(folder_ / "x.safetensors");
  EXPECT_EQ(values(copy.at("a")), std::vector<float>{1.0f});
}

TEST_F(Archives, FindTensorsOrNameTheNearest) {
  write_numbers(folder_ / "x.safetensors", {"lm_head.weight", "wte.weight"});
  const TensorArchive archive = TensorArchive::open(folder_ / "x.safetensors");
  EXPECT_EQ(archive.find("wte.weight"), &archive.at("wte.weight"));
  EXPECT_EQ(archive.find("wte"), nullptr);
  const Outcome near = outcome([&] { (void)archive.at("wpe.weight"); });
  EXPECT_EQ(near.code, Code::malformed_file);
  EXPECT_NE(near.message.find("for instance 'wte.weight'"), std::string::npos) << near.message;
  const Outcome far = outcome([&] { (void)archive.at("q"); });
  EXPECT_NE(far.message.find("one of its 2 tensors"), std::string::npos) << far.message;
}

// --- shards --------------------------------------------------------------------------------------

TEST_F(Archives, OfAFolderAreItsSingleFileOrItsShards) {
  write_numbers(folder_ / "one.safetensors", {"b"}, {{"format", "pt"}});
  write_numbers(folder_ / "two.safetensors", {"a", "c"}, {{"format", "pt"}});
  write_index(R"({"a": "two.safetensors", "b": "one.safetensors", "c": "two.safetensors"})");
  const TensorArchive sharded = TensorArchive::open(folder_ / "");
  EXPECT_EQ(names_of(sharded), (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_EQ(sharded.metadata().at("format"), "pt");
  write_numbers(folder_ / "model.safetensors", {"single"});
  EXPECT_EQ(names_of(TensorArchive::open(folder_ / "")), std::vector<std::string>{"single"});
}

TEST_F(Archives, RefuseShardsOutsideTheFolder) {
  for (const char* name : {"../x.safetensors", "/etc/passwd", "..", ".", "", "a/b", "a\\\\b"})
    expect_index_refused(R"({"a": ")" + std::string(name) + R"("})",
                         "weight_map: found the file '");
}

TEST_F(Archives, RefuseAnIndexThatIsNone) {
  for (const char* map : {"{}", "3", "null", "[]"})
    expect_index_refused(map, "weight_map: found none");
  expect_index_refused(R"({"a": 3})", "weight_map: found 3");
  expect_index_refused(R"({"a": "x", "a": "x"})",
                       "byte 65: found an object with the key 'a' twice");
  test::write_bytes(folder_ / "model.safetensors.index.json", "[1]");
  expect_refused(folder_ / "model.safetensors.index.json", Code::malformed_file, "weight_map");
}

// Properties (1) and (2).
TEST_F(Archives, RefuseShardsThatDoNotHoldWhatTheIndexSays) {
  write_numbers(folder_ / "one.safetensors", {"a"});
  write_numbers(folder_ / "two.safetensors", {"b"});
  write_numbers(folder_ / "twin.safetensors", {"a"});
  expect_index_refused(R"({"a": "one.safetensors", "c": "two.safetensors"})",
                       "'c': found no such tensor in 'two.safetensors'");
  expect_index_refused(R"({"a": "two.safetensors", "b": "two.safetensors"})",
                       "'a': found no such tensor in 'two.safetensors'");
  expect_index_refused(R"({"a": "one.safetensors", "x": "twin.safetensors"})",
                       "'a': found it in 'one.safetensors' and 'twin.safetensors'");
}

TEST_F(Archives, NameAShardThatIsMissing) {
  write_index(R"({"a": "none.safetensors"})");
  const Outcome refused = outcome([&] { (void)TensorArchive::open(folder_ / ""); });
  EXPECT_EQ(refused.code, Code::unreadable_file);
  EXPECT_NE(refused.message.find("none.safetensors: no such file"), std::string::npos)
      << refused.message;
}

}  // namespace
}  // namespace dewpoint::checkpoint
