// What happens to files that are not what they should be, and to questions a model cannot answer.

#include <gtest/gtest.h>

#include "checkpoint/foreign_files.hpp"
#include "dewpoint/models/decoder.hpp"
#include "models/tiny_models.hpp"

namespace dewpoint::models {
namespace {

using test::outcome;
using test::tiny_model;
using test::TinyModel;
using test::write_tiny_model;

class ModelFiles : public testing::Test {
 protected:
  // What opening the model says.
  test::Outcome opened(const TinyModel& model,
                       checkpoint::ElementType type = checkpoint::ElementType::f32) {
    write_tiny_model(model, folder_ / "model", type);
    return outcome([&] { (void)Decoder::open(folder_ / "model"); });
  }

  static void expect_words(const test::Outcome& found, Code code,
                           const std::vector<std::string>& words) {
    EXPECT_EQ(found.code, code) << found.message;
    EXPECT_EQ(found.message.find('\n'), std::string::npos);
    for (const std::string& word : words) {
      EXPECT_NE(found.message.find(word), std::string::npos) << word << " in: " << found.message;
    }
  }

  test::ScratchFolder folder_;
};

TEST_F(ModelFiles, WholeOnesAreOpened) {
  for (const TinyModel& model : test::tiny_models()) {
    EXPECT_EQ(opened(model).message, "accepted") << model.name;
  }
}

// Whichever tensor is left out, it is missed when the model is opened.
TEST_F(ModelFiles, EveryMissingTensorIsNamed) {
  for (const char* name : {"qwen3", "biased", "gpt2"}) {
    const TinyModel whole = tiny_model(name);
    for (std::size_t k = 0; k < whole.tensors.size(); ++k) {
      TinyModel model = whole;
      model.tensors.erase(model.tensors.begin() + static_cast<std::ptrdiff_t>(k));
      expect_words(opened(model), Code::malformed_file, {whole.tensors[k].name});
    }
  }
}

TEST_F(ModelFiles, EveryWrongShapeIsNamedWithBoth) {
  for (const char* name : {"qwen3", "biased", "gpt2"}) {
    const TinyModel whole = tiny_model(name);
    for (std::size_t k = 0; k < whole.tensors.size(); ++k) {
      TinyModel model = whole;
      auto& shape = model.tensors[k].shape;
      const auto right = checkpoint::shape_text(shape);
      shape.back() += 1;
      expect_words(opened(model), Code::malformed_file,
                   {whole.tensors[k].name, right, checkpoint::shape_text(shape)});
    }
  }
}

TEST_F(ModelFiles, ABiasThatNothingWouldAddIsRefused) {
  TinyModel model = tiny_model("llama");
  model.tensors.push_back({"model.layers.1.self_attn.o_proj.bias", {32}});
  expect_words(opened(model), Code::malformed_file,
               {"model.layers.1.self_attn.o_proj.bias", "none"});
}

TEST_F(ModelFiles, QuantisedWeightsAreRefused) {
  const TinyModel model = tiny_model("llama");
  std::filesystem::create_directories(folder_ / "model");
  test::write_bytes(folder_ / "model" / "config.json", model.config);
  test::OwnedTensors owned;
  for (const auto& tensor : model.tensors) {
    owned.add(tensor.name, tensor.shape, test::tiny_weights(tensor));
  }
  const std::vector<std::byte> bytes(48 * 32);
  for (auto& tensor : owned.tensors) {
    if (tensor.name != "model.layers.2.mlp.up_proj.weight") continue;
    tensor.type = checkpoint::ElementType::i8;
    tensor.bytes = bytes;
  }
  checkpoint::write_safetensors(folder_ / "model" / "model.safetensors", owned.tensors);
  expect_words(outcome([&] { (void)Decoder::open(folder_ / "model"); }), Code::malformed_file,
               {"model.layers.2.mlp.up_proj.weight", "i8", "bf16"});
}

TEST_F(ModelFiles, OtherModelTypesAreRefusedByName) {
  TinyModel model = tiny_model("llama");
  model.config = test::llama_config("gemma2", {});
  expect_words(opened(model), Code::bad_value,
               {"gemma2", "llama", "mistral", "qwen2", "qwen3", "smollm3", "gpt2"});
}

TEST_F(ModelFiles, AnUnknownActivationIsRefusedByName) {
  TinyModel model = tiny_model("gpt2");
  model.config = test::gpt2_config(R"(, "activation_function": "mish")");
  expect_words(opened(model), Code::bad_value, {"mish", "gelu_new"});
}

TEST_F(ModelFiles, NothingAtThePathIsSaid) {
  expect_words(outcome([&] { (void)Decoder::open(folder_ / "nowhere"); }), Code::unreadable_file,
               {"nowhere", "config.json", ".bin"});
}

TEST_F(ModelFiles, AFileThatIsNoCheckpointIsRefused) {
  test::write_bytes(folder_ / "model.bin", "these are not weights, and there are too few of them");
  expect_words(outcome([&] { (void)Decoder::open(folder_ / "model.bin"); }), Code::malformed_file,
               {"model.bin"});
}

TEST_F(ModelFiles, TokensOutsideTheVocabularyAreRefused) {
  write_tiny_model(tiny_model("llama"), folder_ / "model");
  const Decoder decoder = Decoder::open(folder_ / "model");
  const auto states = [&](std::vector<int> tokens) {
    return outcome([&] { (void)decoder.hidden_states(tokens); });
  };
  expect_words(states({1, 2, 40}), Code::bad_value, {"token 2", "40", "0 to 39"});
  expect_words(states({-1}), Code::bad_value, {"token 0", "-1"});
  expect_words(states({}), Code::bad_value, {"at least one"});
  EXPECT_EQ(states({0, 39}).message, "accepted");
}

TEST_F(ModelFiles, LearnedPositionsRunOut) {
  write_tiny_model(tiny_model("gpt2"), folder_ / "model");
  const Decoder decoder = Decoder::open(folder_ / "model");
  EXPECT_EQ(decoder.hidden_states(test::tiny_tokens(64)).rows(), 64U);
  expect_words(outcome([&] { (void)decoder.hidden_states(test::tiny_tokens(65)); }),
               Code::bad_value, {"65", "at most 64"});
}

TEST_F(ModelFiles, LearnedPositionsDoNotRotate) {
  write_tiny_model(tiny_model("gpt2"), folder_ / "model");
  const Decoder decoder = Decoder::open(folder_ / "model");
  ForwardOptions options;
  options.rope = scaling::RopeScaling{};
  expect_words(outcome([&] { (void)decoder.hidden_states(test::tiny_tokens(), options); }),
               Code::bad_value, {"learned positions"});
}

TEST_F(ModelFiles, WeightsThatOverflowAreSaid) {
  const TinyModel model = tiny_model("llama");
  std::filesystem::create_directories(folder_ / "model");
  test::write_bytes(folder_ / "model" / "config.json", model.config);
  test::OwnedTensors owned;
  for (const auto& tensor : model.tensors) {
    auto values = test::tiny_weights(tensor);
    if (tensor.name == "model.layers.1.mlp.down_proj.weight") values[5] = 3e38F;
    if (tensor.name == "model.layers.1.mlp.up_proj.weight") values[5] = 3e38F;
    owned.add(tensor.name, tensor.shape, values);
  }
  checkpoint::write_safetensors(folder_ / "model" / "model.safetensors", owned.tensors);
  const Decoder decoder = Decoder::open(folder_ / "model");
  expect_words(outcome([&] { (void)decoder.hidden_states(test::tiny_tokens()); }),
               Code::malformed_file, {"not finite"});
}

TEST_F(ModelFiles, SavedModelsGiveTheSameLogitsBitForBit) {
  const auto tokens = test::tiny_tokens();
  for (const TinyModel& model : test::tiny_models()) {
    write_tiny_model(model, folder_ / model.name);
    const Decoder original = Decoder::open(folder_ / model.name);
    original.save(folder_ / (model.name + "-saved"));
    const Decoder saved = Decoder::open(folder_ / (model.name + "-saved"));
    const auto expected = original.logits(original.hidden_states(tokens));
    const auto found = saved.logits(saved.hidden_states(tokens));
    ASSERT_EQ(found.size(), expected.size());
    EXPECT_EQ(std::vector(found.data(), found.data() + found.size()),
              std::vector(expected.data(), expected.data() + expected.size()))
        << model.name;
  }
}

TEST_F(ModelFiles, AFolderThatCannotBeMadeIsSaid) {
  write_tiny_model(tiny_model("llama"), folder_ / "model");
  test::write_bytes(folder_ / "file", "in the way");
  const Decoder decoder = Decoder::open(folder_ / "model");
  expect_words(outcome([&] { decoder.save(folder_ / "file" / "inside"); }), Code::unwritable_file,
               {"inside"});
}

}  // namespace
}  // namespace dewpoint::models
