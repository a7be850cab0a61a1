// Training states as files: what comes back, who else can read them, and for which runs.
//
// SPDX-License-Identifier: Apache-2.0
#include "dewpoint/transformer/state_file.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "checkpoint/foreign_files.hpp"
#include "transformer/adam_cases.hpp"

namespace dewpoint::transformer {
namespace {

using dewpoint::test::outcome;
using dewpoint::test::Outcome;
using test::same_bytes;
using test::some_gradient;
using test::some_state;

const Shape kPlain{.vocabulary = 5, .width = 4};
const Shape kFull{.vocabulary = 7,
                  .width = 6,
                  .layers = 3,
                  .heads = 2,
                  .residual = true,
                  .branch = 1.0 / 3.0,
                  .value_matrix = true,
                  .causal = true,
                  .pre_norm = true};
const Metadata kMetadata{{"seed", "18446744073709551615"}, {"note", "a \xce\xb2\n\"b\""}};

Metadata without_ours(Metadata metadata) {
  for (const char* key : {"format", "shape", "step"}) metadata.erase(key);
  return metadata;
}

// --- what comes back -----------------------------------------------------------------------------

// Property (1).
TEST(StateFile, GivesBackEveryBit) {
  Shape scaled = kFull;
  scaled.scaling = "ssmax:n0=128";
  for (const Shape& shape : {kPlain, kFull, scaled}) {
    AdamState<float> state = some_state<float>(shape, "bits");
    state.weights.embedding(0, 0) = -0.0F;
    state.weights.embedding(0, 1) = std::numeric_limits<float>::denorm_min();
    state.weights.embedding(0, 2) = std::numeric_limits<float>::lowest();
    state.done = 123'456'789'012;
    const StateFile back = read_state(state_bytes(shape, state, kMetadata), "state");
    EXPECT_EQ(back.shape, shape);
    EXPECT_TRUE(same_bytes(back.state, state));
    EXPECT_EQ(without_ours(back.metadata), kMetadata);
    EXPECT_EQ(back.metadata.at("step"), "123456789012");
  }
}

// Files of models without a law are what they were before there were laws.
TEST(StateFile, SaysALawOnlyWhereThereIsOne) {
  const auto shape_said = [](const Shape& shape) {
    const auto bytes = state_bytes(shape, some_state<float>(shape, "law"), {});
    return read_state(bytes, "state").metadata.at("shape");
  };
  const std::string plain =
      R"({"vocabulary":5,"width":4,"layers":1,"heads":1,"residual":false,"branch":1.0,)"
      R"("value_matrix":false,"causal":false,"pre_norm":false})";
  EXPECT_EQ(shape_said(kPlain), plain);
  Shape scaled = kPlain;
  scaled.scaling = "constant:2";
  EXPECT_EQ(shape_said(scaled), plain.substr(0, plain.size() - 1) + R"(,"scaling":"constant:2"})");
}

// Property (2), and what a file says is not taken from an old one.
TEST(StateFile, IsTheSameBytesAgainAndAsAFile) {
  const dewpoint::test::ScratchFolder folder;
  const AdamState<float> state = some_state<float>(kFull, "again");
  const std::vector<std::byte> bytes = state_bytes(kFull, state, kMetadata);
  write_state(folder / "a.safetensors", kFull, state, kMetadata);
  const std::string file = dewpoint::test::read_bytes(folder / "a.safetensors");
  EXPECT_EQ(file, std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));

  const StateFile back = read_state(folder / "a.safetensors");
  EXPECT_EQ(state_bytes(kFull, back.state, back.metadata), bytes);
  Metadata stale = back.metadata;
  stale["step"] = "1";
  stale["shape"] = "{}";
  EXPECT_EQ(state_bytes(kFull, back.state, stale), bytes);
}

void take_steps(AdamState<float>& state, std::uint64_t until) {
  while (state.done < until) {
    adam_step({}, some_gradient<float>(kFull, std::to_string(state.done)), state);
  }
}

TEST(StateFile, GoesOnAsIfNeverStopped) {
  AdamState<float> whole(kFull, initial_weights<float>(kFull, 0.1, 1, 0)), first = whole;
  take_steps(whole, 20);
  take_steps(first, 7);
  StateFile back = read_state(state_bytes(kFull, first, {}), "state");
  EXPECT_FALSE(same_bytes(back.state, whole));
  take_steps(back.state, 20);
  EXPECT_TRUE(same_bytes(back.state, whole));
}

TEST(StateFile, LeavesNothingWhereItCannotBeWritten) {
  const dewpoint::test::ScratchFolder folder;
  const AdamState<float> state = some_state<float>(kPlain, "unwritable");
  const Outcome refused =
      outcome([&] { write_state(folder / "none" / "a.safetensors", kPlain, state, {}); });
  EXPECT_EQ(refused.code, Code::unwritable_file);
  EXPECT_TRUE(folder.names().empty());
}

TEST(StateFile, KeepsTheOptionsOfAdamToTheLastBit) {
  EXPECT_EQ(adam_text({.rate = 1.5e-4, .first_decay = 0.9, .second_decay = 1.0 / 3.0}),
            R"({"rate":0.00015,"first_decay":0.9,"second_decay":0.3333333333333333,)"
            R"("epsilon":1e-08})");
}

// --- who else can read it ------------------------------------------------------------------------

using StateForPython = dewpoint::test::NumPyFiles;

TEST_F(StateForPython, IsTensorsByNameAndTextsThatAreJson) {
  AdamState<float> state(kFull, Weights<float>(kFull));
  state.weights.embedding(6, 5) = 0.25F;
  state.weights.unembedding(0, 6) = -1.5F;
  state.first.layers[2].value(5, 0) = 3.0F;
  state.second.layers[0].query(1, 2) = 2.0F;
  state.done = 40;
  write_state(folder_ / "x.safetensors", kFull, state, kMetadata);
  run("import json, struct\n"
      "raw = open('x.safetensors', 'rb').read()\n"
      "length = struct.unpack('<Q', raw[:8])[0]\n"
      "header, data = json.loads(raw[8:8 + length]), raw[8 + length:]\n"
      "texts = header.pop('__metadata__')\n"
      "assert texts['format'] == 'dewpoint-transformer' and texts['step'] == '40'\n"
      "assert json.loads(texts['shape']) == dict(vocabulary=7, width=6, layers=3, heads=2,\n"
      "    residual=True, branch=1/3, value_matrix=True, causal=True, pre_norm=True)\n"
      "tensors = {}\n"
      "for name, entry in header.items():\n"
      "    assert entry['dtype'] == 'F32'\n"
      "    begin, end = entry['data_offsets']\n"
      "    tensors[name] = np.frombuffer(data[begin:end], '<f4').reshape(entry['shape'])\n"
      "assert len(tensors) == 3 * (2 + 3 * 3)\n"
      "assert tensors['W0'].shape == (7, 6) and tensors['W1'].shape == (6, 7)\n"
      "assert tensors['W0'][6, 5] == 0.25 and tensors['W1'][0, 6] == -1.5\n"
      "assert tensors['adam.first.layers.2.WV'][5, 0] == 3\n"
      "assert tensors['adam.second.layers.0.WQ'][1, 2] == 2\n"
      "assert sum(np.count_nonzero(t) for t in tensors.values()) == 4\n");
}

// --- other configurations ------------------------------------------------------------------------

TEST(StateOfAnotherShape, IsRefusedByTheFirstFieldThatDiffers) {
  const auto refusal = [](const Shape& found) {
    return outcome([&] { require_same_shape("a.safetensors", found, kFull); });
  };
  EXPECT_EQ(refusal(kFull).message, "accepted");
  const auto changed = [](auto change) {
    Shape shape = kFull;
    change(shape);
    return shape;
  };
  const std::vector<std::pair<Shape, std::string>> cases{
      {changed([](Shape& s) { s.vocabulary = 8; }), "vocabulary: found 8, allowed: 7"},
      {changed([](Shape& s) { s.width = 12; }), "width: found 12, allowed: 6"},
      {changed([](Shape& s) { s.layers = 1; }), "layers: found 1, allowed: 3"},
      {changed([](Shape& s) { s.heads = 3, s.causal = false; }), "heads: found 3, allowed: 2"},
      {changed([](Shape& s) { s.residual = false; }), "residual: found false, allowed: true"},
      {changed([](Shape& s) { s.branch = 1; }), "branch: found 1.0, allowed: 0.3333333333333333"},
      {changed([](Shape& s) { s.value_matrix = false; }),
       "value_matrix: found false, allowed: true"},
      {changed([](Shape& s) { s.causal = false; }), "causal: found false, allowed: true"},
      {changed([](Shape& s) { s.pre_norm = false; }), "pre_norm: found false, allowed: true"},
      {changed([](Shape& s) { s.scaling = "ssmax:n0=8"; }),
       R"(scaling: found "ssmax:n0=8", allowed: "constant")"}};
  for (const auto& [shape, says] : cases) {
    const Outcome refused = refusal(shape);
    EXPECT_EQ(refused.code, Code::bad_value);
    EXPECT_EQ(refused.message, "a.safetensors: the model's " + says + ", as the run has it");
  }
}

}  // namespace
}  // namespace dewpoint::transformer
