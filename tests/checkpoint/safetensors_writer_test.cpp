// What the safetensors writer writes, in the eyes of our reader, of the format's description and of
// a few lines of Python.
//
// SPDX-License-Identifier: Apache-2.0
#include "dewpoint/checkpoint/safetensors_writer.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "checkpoint/foreign_files.hpp"
#include "dewpoint/checkpoint/safetensors.hpp"

namespace dewpoint::checkpoint {
namespace {

// Tensors that own their bytes.
class Shelf {
 public:
  void add(const std::string& name, ElementType type, std::vector<std::size_t> shape,
           const std::vector<float>& values) {
    bytes_.push_back(element_bytes(values, type));
    tensors_.push_back({name, type, std::move(shape), bytes_.back()});
  }
  const std::vector<Tensor>& tensors() const { return tensors_; }

 private:
  std::vector<std::vector<std::byte>> bytes_;
  std::vector<Tensor> tensors_;
};

Shelf every_type() {
  const std::vector<float> values{0.0f, -1.5f, 0.25f};
  Shelf shelf;
  shelf.add("h", ElementType::f16, {3}, values);
  shelf.add("b", ElementType::bf16, {3, 1}, values);
  shelf.add("d", ElementType::f64, {1, 3}, values);
  shelf.add("s \xce\xb2 \"quoted\"", ElementType::f32, {3}, values);
  shelf.add("scalar", ElementType::f32, {}, {2.0f});
  shelf.add("empty", ElementType::f16, {0, 4}, {});
  return shelf;
}

const std::map<std::string, std::string> kMetadata{{"format", "dewpoint-qk"}, {"text", "a\nb"}};

class SafetensorsWriter : public testing::Test {
 protected:
  std::string written(std::span<const Tensor> tensors,
                      const std::map<std::string, std::string>& metadata = {}) const {
    write_safetensors(folder_ / "x.safetensors", tensors, metadata);
    return test::read_bytes(folder_ / "x.safetensors");
  }
  test::ScratchFolder folder_;
};

SafetensorsContent parse(const std::string& bytes) {
  return parse_safetensors(std::as_bytes(std::span(bytes)), "x.safetensors");
}

// Property (1).
TEST_F(SafetensorsWriter, IsReadBackByteForByte) {
  const Shelf shelf = every_type();
  const std::string bytes = written(shelf.tensors(), kMetadata);
  const SafetensorsContent content = parse(bytes);
  EXPECT_EQ(content.metadata, kMetadata);
  ASSERT_EQ(content.tensors.size(), shelf.tensors().size());
  for (const Tensor& tensor : shelf.tensors()) {
    const auto back = std::find_if(content.tensors.begin(), content.tensors.end(),
                                   [&](const Tensor& t) { return t.name == tensor.name; });
    ASSERT_NE(back, content.tensors.end()) << tensor.name;
    EXPECT_EQ(back->type, tensor.type);
    EXPECT_EQ(back->shape, tensor.shape);
    EXPECT_TRUE(std::equal(back->bytes.begin(), back->bytes.end(), tensor.bytes.begin(),
                           tensor.bytes.end()));
  }
}

TEST_F(SafetensorsWriter, AlignsEveryTensorToItsElements) {
  const Shelf shelf = every_type();
  const std::string bytes = written(shelf.tensors(), kMetadata);
  EXPECT_EQ(static_cast<unsigned char>(bytes[0]) % 8, 0);
  for (const Tensor& tensor : parse(bytes).tensors) {
    const auto place = reinterpret_cast<const char*>(tensor.bytes.data()) - bytes.data();
    EXPECT_EQ(static_cast<std::size_t>(place) % size_of(tensor.type), 0u) << tensor.name;
  }
}

TEST_F(SafetensorsWriter, GivesTheSameBytesInAnyOrderOfTheTensors) {
  const Shelf shelf = every_type();
  std::vector<Tensor> reversed = shelf.tensors();
  std::reverse(reversed.begin(), reversed.end());
  EXPECT_EQ(written(shelf.tensors(), kMetadata), written(reversed, kMetadata));
}

TEST_F(SafetensorsWriter, GivesTheBytesOfTheFileWithoutAFile) {
  const Shelf shelf = every_type();
  const std::vector<std::byte> bytes = safetensors_bytes(shelf.tensors(), kMetadata);
  const std::string file = written(shelf.tensors(), kMetadata);
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()), file);
}

TEST_F(SafetensorsWriter, MendsTextThatIsNotUtf8) {
  Shelf shelf;
  shelf.add("\xff", ElementType::f32, {}, {1.0f});
  EXPECT_EQ(parse(written(shelf.tensors())).tensors.at(0).name, "\xef\xbf\xbd");
}

TEST_F(SafetensorsWriter, LeavesNothingBehindWhereItCannotWrite) {
  const auto refused =
      test::outcome([&] { write_safetensors(folder_ / "none" / "x.safetensors", {}); });
  EXPECT_EQ(refused.code, Code::unwritable_file);
  (void)written({});
  EXPECT_EQ(folder_.names(), std::vector<std::string>{"x.safetensors"});
}

using WrittenForPython = test::NumPyFiles;

TEST_F(WrittenForPython, IsWhatTheDescriptionSays) {
  const Shelf shelf = every_type();
  write_safetensors(folder_ / "x.safetensors", shelf.tensors(), kMetadata);
  run("import json, struct\n"
      "raw = open('x.safetensors', 'rb').read()\n"
      "length = struct.unpack('<Q', raw[:8])[0]\n"
      "assert raw[8:9] == b'{' and length % 8 == 0\n"
      "header = json.loads(raw[8:8 + length])\n"
      "assert header.pop('__metadata__') == {'format': 'dewpoint-qk', 'text': 'a\\nb'}\n"
      "data, types = raw[8 + length:], dict(F64='<f8', F32='<f4', F16='<f2')\n"
      "for name in ('d', 'h', 's \\u03b2 \"quoted\"'):\n"
      "    entry = header[name]\n"
      "    begin, end = entry['data_offsets']\n"
      "    array = np.frombuffer(data[begin:end], types[entry['dtype']]).reshape(entry['shape'])\n"
      "    assert array.ravel().tolist() == [0.0, -1.5, 0.25], name\n"
      "assert sum(e['data_offsets'][1] - e['data_offsets'][0] for e in header.values()) "
      "== len(data)\n");
}

}  // namespace
}  // namespace dewpoint::checkpoint
