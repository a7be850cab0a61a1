// Files that are not training states, or no longer: each is refused in one line that says why.
//
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "checkpoint/foreign_files.hpp"
#include "dewpoint/checkpoint/safetensors.hpp"
#include "dewpoint/checkpoint/safetensors_writer.hpp"
#include "dewpoint/transformer/state_file.hpp"
#include "transformer/adam_cases.hpp"

namespace dewpoint::transformer {
namespace {

using dewpoint::test::outcome;
using dewpoint::test::Outcome;

const Shape kPlain{.vocabulary = 5, .width = 4};

// A good file in pieces, to be damaged and put together again.
struct Pieces {
  std::vector<std::byte> bytes = state_bytes(kPlain, test::some_state<float>(kPlain, "pieces"), {});
  checkpoint::SafetensorsContent content = checkpoint::parse_safetensors(bytes, "state");
  std::vector<float> numbers;  // of a tensor that was changed

  checkpoint::Tensor& tensor(const std::string& name) {
    for (checkpoint::Tensor& tensor : content.tensors) {
      if (tensor.name == name) return tensor;
    }
    throw std::out_of_range(name);
  }
  void set(const std::string& name, std::size_t entry, float value) {
    checkpoint::Tensor& changed = tensor(name);
    numbers.resize(changed.elements());
    copy_elements(changed, 0, std::span(numbers));
    numbers[entry] = value;
    changed.bytes = std::as_bytes(std::span(numbers));
  }
  std::string& text(const std::string& key) { return content.metadata[key]; }
  void in_shape(const std::string& from, const std::string& to) {
    std::string& shape = text("shape");
    shape.replace(shape.find(from), from.size(), to);
  }
  [[nodiscard]] std::vector<std::byte> joined() const {
    return checkpoint::safetensors_bytes(content.tensors, content.metadata);
  }
};

struct Damage {
  std::string name;
  std::function<void(Pieces&)> work;
  std::string says;  // behind "state: "
};

const std::vector<Damage>& damages() {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  static const std::vector<Damage> all{
      {"NoFormat", [](Pieces& p) { p.content.metadata.erase("format"); },
       "metadata: found no key 'format', allowed: dewpoint-transformer"},
      {"OtherFormat", [](Pieces& p) { p.text("format") = "pt"; },
       "metadata key 'format': found 'pt', allowed: dewpoint-transformer"},
      {"NoShape", [](Pieces& p) { p.content.metadata.erase("shape"); },
       "metadata: found no key 'shape', allowed: the shape of the model, a JSON object"},
      {"ShapeNotJson", [](Pieces& p) { p.text("shape") = "5 x\n4"; },
       "metadata key 'shape', byte 2: found "},
      {"ShapeAList", [](Pieces& p) { p.text("shape") = "[5, 4]"; },
       "metadata key 'shape': found [5, 4], allowed: the shape of the model, a JSON object"},
      {"ShapeTwice", [](Pieces& p) { p.in_shape("{", R"({"width":4,)"); },
       "metadata key 'shape', byte "},
      {"ShapeDeep", [](Pieces& p) { p.in_shape("\"width\":4", "\"width\":[[4]]"); },
       "metadata key 'shape', byte "},
      {"ShapeWithoutHeads", [](Pieces& p) { p.in_shape("\"heads\":1,", ""); },
       "metadata key 'shape': found no heads, allowed: {\"vocabulary\":0,"},
      {"ShapeWithMore", [](Pieces& p) { p.in_shape("{", R"({"positions":"none",)"); },
       "metadata key 'shape': found the key 'positions', allowed: {"},
      {"WidthAText", [](Pieces& p) { p.in_shape("\"width\":4", "\"width\":\"4\""); },
       "metadata key 'shape', width: found '4', allowed: a whole number from 1 to "},
      {"WidthBroken", [](Pieces& p) { p.in_shape("\"width\":4", "\"width\":4.5"); },
       "metadata key 'shape', width: found 4.5, allowed: a whole number from 1 to "},
      {"LayersNull", [](Pieces& p) { p.in_shape("\"layers\":1", "\"layers\":null"); },
       "metadata key 'shape', layers: found no such key, allowed: a whole number from 1 to "},
      {"NoLayers", [](Pieces& p) { p.in_shape("\"layers\":1", "\"layers\":0"); },
       "metadata key 'shape', layers: found 0, allowed: a whole number from 1 to "},
      {"CausalANumber", [](Pieces& p) { p.in_shape("\"causal\":false", "\"causal\":0"); },
       "metadata key 'shape', causal: found 0, allowed: true or false"},
      {"CausalNull", [](Pieces& p) { p.in_shape("\"causal\":false", "\"causal\":null"); },
       "metadata key 'shape', causal: found null, allowed: true or false"},
      {"BranchNull", [](Pieces& p) { p.in_shape("\"branch\":1.0", "\"branch\":null"); },
       "metadata key 'shape', branch: found null, allowed: a number"},
      {"HeadsThatDoNotDivide", [](Pieces& p) { p.in_shape("\"heads\":1", "\"heads\":3"); },
       "metadata key 'shape': found heads: 3 does not divide the width 4, allowed: a shape that "
       "can be trained"},
      {"NoStep", [](Pieces& p) { p.content.metadata.erase("step"); },
       "metadata: found no key 'step', allowed: a whole number, at most 9007199254740992"},
      {"StepNegative", [](Pieces& p) { p.text("step") = "-1"; },
       "metadata key 'step': found '-1', allowed: a whole number, at most 9007199254740992"},
      {"StepAWord", [](Pieces& p) { p.text("step") = "12 "; },
       "metadata key 'step': found '12 ', allowed: a whole number"},
      {"StepEmpty", [](Pieces& p) { p.text("step") = ""; },
       "metadata key 'step': found '', allowed: a whole number"},
      {"StepBeyond", [](Pieces& p) { p.text("step") = "9007199254740993"; },
       "metadata key 'step': found '9007199254740993', allowed: a whole number"},
      {"MoreLayersThanTensors", [](Pieces& p) { p.in_shape("\"layers\":1", "\"layers\":2"); },
       "'layers.1.WQ': found no such tensor, allowed: f32 of shape [4, 4]"},
      {"LargerThanTheFile",
       [](Pieces& p) { p.in_shape("\"vocabulary\":5", "\"vocabulary\":1000000"); },
       "'W0': found f32 of shape [5, 4], allowed: f32 of shape [1000000, 4]"},
      {"NoMoment", [](Pieces& p) { p.tensor("adam.second.W1").name = "adam.third.W1"; },
       "'adam.second.W1': found no such tensor, allowed: f32 of shape [4, 5]"},
      {"MoreTensors",
       [](Pieces& p) {
         p.content.tensors.push_back(p.tensor("W0"));
         p.content.tensors.back().name = "lm\nhead";
       },
       "'lm\\x0ahead': found a tensor that the shape does not have, allowed: no such tensor"},
      {"OtherType", [](Pieces& p) { p.tensor("layers.0.WK").type = checkpoint::ElementType::i32; },
       "'layers.0.WK': found i32 of shape [4, 4], allowed: f32 of shape [4, 4]"},
      {"Transposed",
       [](Pieces& p) {
         p.tensor("W1").shape = {5, 4};
       },
       "'W1': found f32 of shape [5, 4], allowed: f32 of shape [4, 5]"},
      {"Flat", [](Pieces& p) { p.tensor("W1").shape = {20}; },
       "'W1': found f32 of shape [20], allowed: f32 of shape [4, 5]"},
      {"WeightNoNumber", [](Pieces& p) { p.set("W0", 9, std::numeric_limits<float>::quiet_NaN()); },
       "'W0'[2, 1]: found nan, allowed: finite numbers"},
      {"MomentInfinite", [](Pieces& p) { p.set("adam.first.W1", 5, -infinity); },
       "'adam.first.W1'[1, 0]: found -inf, allowed: finite numbers"},
      {"SquareNegative", [](Pieces& p) { p.set("adam.second.layers.0.WQ", 15, -1e-9F); },
       "'adam.second.layers.0.WQ'[3, 3]: found -1e-09, allowed: finite numbers, none negative"},
  };
  return all;
}

class DamagedState : public testing::TestWithParam<Damage> {};

TEST_P(DamagedState, IsRefusedInOneLine) {
  Pieces pieces;
  EXPECT_EQ(pieces.joined(), pieces.bytes);
  GetParam().work(pieces);
  const Outcome refused = outcome([&] { (void)read_state(pieces.joined(), "state"); });
  EXPECT_EQ(refused.code, Code::malformed_file) << refused.message;
  EXPECT_EQ(refused.message.rfind("state: " + GetParam().says, 0), 0U) << refused.message;
  EXPECT_EQ(refused.message.find('\n'), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(EveryKind, DamagedState, testing::ValuesIn(damages()),
                         [](const auto& damage) { return damage.param.name; });

// Property (3).
TEST(StateCutOff, IsRefusedInOneLine) {
  const std::vector<std::byte> bytes = Pieces().bytes;
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    const Outcome refused =
        outcome([&] { (void)read_state(std::span(bytes).first(length), "state"); });
    ASSERT_EQ(refused.code, Code::malformed_file) << length;
    ASSERT_EQ(refused.message.find('\n'), std::string::npos) << length;
  }
}

// Property (3): read, as some other state, or refused; anything else would end the test.
TEST(StateWithOneWrongByte, IsReadOrRefusedInOneLine) {
  std::vector<std::byte> bytes = Pieces().bytes;
  std::size_t refusals = 0;
  for (std::byte& byte : bytes) {
    const std::byte right = byte;
    for (const int wrong : {0x00, 0x09, 0x22, 0x2d, 0x39, 0x7d, 0xff}) {
      byte = static_cast<std::byte>(wrong);
      if (byte == right) continue;
      const Outcome result = outcome([&] { (void)read_state(bytes, "state"); });
      if (result.message == "accepted") continue;
      ++refusals;
      ASSERT_EQ(result.code, Code::malformed_file);
      ASSERT_EQ(result.message.find('\n'), std::string::npos);
    }
    byte = right;
  }
  EXPECT_GT(refusals, 1000U);
}

TEST(FileThatIsNoState, IsRefusedByItsName) {
  const dewpoint::test::ScratchFolder folder;
  const auto read = [&](const std::string& name) {
    return outcome([&] { (void)read_state(folder / name); });
  };
  EXPECT_EQ(read("none.safetensors").code, Code::unreadable_file);
  EXPECT_EQ(outcome([&] { (void)read_state(folder / ""); }).code, Code::unreadable_file);
  dewpoint::test::write_bytes(folder / "empty.safetensors", "");
  EXPECT_EQ(read("empty.safetensors").code, Code::malformed_file);
  dewpoint::test::write_bytes(folder / "a.txt", "Once upon a time there was a file of text.\n");
  const Outcome text = read("a.txt");
  EXPECT_EQ(text.code, Code::malformed_file);
  EXPECT_EQ(text.message.rfind((folder / "a.txt").string() + ": header length: found ", 0), 0U);
  EXPECT_EQ(text.message.find('\n'), std::string::npos);
}

}  // namespace
}  // namespace dewpoint::transformer
