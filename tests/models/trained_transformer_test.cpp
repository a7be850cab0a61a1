// Small transformers that are trained here (transformer/shape.hpp), written as folders and opened
// like any other model: the logits are those of the plain model, head by head.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "checkpoint/foreign_files.hpp"
#include "dewpoint/checkpoint/head_dump.hpp"
#include "dewpoint/experiments/head_capture.hpp"
#include "dewpoint/experiments/loss_study.hpp"
#include "dewpoint/models/decoder.hpp"
#include "dewpoint/training/layered_reference.hpp"
#include "dewpoint/transformer/model_folder.hpp"
#include "dewpoint/transformer/reference.hpp"
#include "models/tiny_models.hpp"
#include "transformer/model_cases.hpp"

namespace dewpoint::models {
namespace {

using test::largest_difference;
using test::outcome;
using test::rounding_bound;
using test::ScratchFolder;
using test::tiny_tokens;
using transformer::Shape;
using transformer::test::converted;

constexpr std::size_t kWidth = 16, kContext = 40;

// Every combination of parts, with one head and with four.
std::vector<Shape> all_shapes() {
  std::vector<Shape> shapes;
  for (unsigned parts = 0; parts < 32; ++parts) {
    Shape shape{.vocabulary = test::kVocabulary, .width = kWidth, .layers = 3};
    shape.heads = (parts & 1U) != 0 ? 4 : 1;
    shape.residual = (parts & 2U) != 0;
    shape.value_matrix = (parts & 4U) != 0;
    shape.causal = (parts & 8U) != 0;
    shape.pre_norm = (parts & 16U) != 0;
    if (shape.residual && shape.heads == 4) shape.branch = 0.375;
    shapes.push_back(shape);
  }
  return shapes;
}

// A name that GoogleTest takes: "3L4H_residual_branch_0_375".
std::string test_name(const Shape& shape) {
  std::string name = name_of(shape);
  std::replace_if(
      name.begin(), name.end(), [](char c) { return c == ' ' || c == '.'; }, '_');
  return name;
}

transformer::Weights<float> float_weights(const Shape& shape) {
  return converted<float>(shape, transformer::test::some_weights(shape, 0));
}

// The plain model with the weights that the file holds.
transformer::ReferencePass<double> plain_pass(const Shape& shape, std::span<const int> tokens) {
  const std::vector<std::int32_t> context(tokens.begin(), tokens.end());
  return reference_pass(shape, converted<double>(shape, float_weights(shape)), context);
}

class TrainedTransformer : public testing::TestWithParam<Shape> {
 protected:
  void SetUp() override {
    write_model_folder(model(), GetParam(), float_weights(GetParam()), kContext, {});
  }
  [[nodiscard]] std::filesystem::path model() const { return folder_ / "model"; }

  ScratchFolder folder_;
};

INSTANTIATE_TEST_SUITE_P(Shapes, TrainedTransformer, testing::ValuesIn(all_shapes()),
                         [](const auto& shape) { return test_name(shape.param); });

// Property (1) of write_model_folder. The bound is derived at rounding_bound(); the longest product
// has kWidth terms. Logits are of size 1.
TEST_P(TrainedTransformer, HasTheLogitsOfThePlainModelUpToRounding) {
  const auto tokens = tiny_tokens(kContext);
  const Decoder decoder = Decoder::open(model());
  const double bound = rounding_bound(model(), tokens, kWidth);
  EXPECT_LT(bound, 1e-3);  // one that says nothing would be no bound
  const auto logits = decoder.logits(decoder.hidden_states(tokens));
  EXPECT_LE(largest_difference(logits, plain_pass(GetParam(), tokens).logits), bound);
}

// Both are in double and round as often as float32 does, by 2⁻⁵³ instead of 2⁻²⁴ each.
TEST_P(TrainedTransformer, TheTwoPlainPassesAgree) {
  const auto tokens = tiny_tokens(kContext);
  const double bound = 2.0 * 0x1p-29 * rounding_bound(model(), tokens, kWidth);
  const auto expected = plain_pass(GetParam(), tokens).logits;
  EXPECT_LE(test::largest_difference(reference_logits(model(), tokens), expected), bound);
}

TEST_P(TrainedTransformer, ASavedCopyHasTheSameLogitsBitForBit) {
  const auto tokens = tiny_tokens(kContext);
  const Decoder decoder = Decoder::open(model());
  decoder.save(folder_ / "saved");
  const Decoder saved = Decoder::open(folder_ / "saved");
  const auto expected = decoder.logits(decoder.hidden_states(tokens));
  const auto found = saved.logits(saved.hidden_states(tokens));
  ASSERT_EQ(found.size(), expected.size());
  EXPECT_EQ(std::memcmp(found.data(), expected.data(), found.size() * sizeof(float)), 0);
}

Matrix<double> sizes_of(Matrix<double> matrix) {
  std::for_each_n(matrix.data(), matrix.size(), [](double& entry) { entry = std::abs(entry); });
  return matrix;
}

// How far float32 may move a score of the first layer: each coordinate of a query or key is a sum
// of m products of inputs that were rounded once, so off by at most (m + 2) u Σ|X||W|, u = 2⁻²⁴,
// and the score, in double from there, by twice that meeting the other side.
double score_error(const Shape& shape, std::span<const int> tokens) {
  const auto weights = converted<double>(shape, float_weights(shape));
  Matrix<double> inputs(tokens.size(), shape.width);
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const auto row = weights.embedding.row(static_cast<std::size_t>(tokens[i]));
    std::copy(row.begin(), row.end(), inputs.row(i).begin());
  }
  if (shape.pre_norm) inputs = transformer::plainly_normed(inputs);
  const auto largest = [&](const Matrix<double>& projection) {
    const auto sizes = training::plain_product(sizes_of(inputs), sizes_of(projection));
    double most = 0.0;
    for (std::size_t i = 0; i < sizes.rows(); ++i) {
      double squares = 0.0;
      for (const double entry : sizes.row(i)) squares += entry * entry;
      most = std::max(most, std::sqrt(squares));
    }
    return most;
  };
  const auto terms = static_cast<double>(shape.width + 2);
  return 2.0 * terms * 0x1p-24 * largest(weights.layers[0].query) * largest(weights.layers[0].key);
}

std::vector<double> softmax_of(const ScoreRow& row, std::size_t keys) {
  const double largest = *std::max_element(row.scores.begin(), row.scores.end());
  std::vector<double> weights(keys, 0.0);
  double total = 0.0;
  for (const double score : row.scores) total += std::exp(score - largest);
  for (std::size_t j = 0; j < row.scores.size(); ++j) {
    weights[row.first_key + j] = std::exp(row.scores[j] - largest) / total;
  }
  return weights;
}

// Scores that are off by δ at most change a weight by a factor within e^{±2δ}.
TEST_P(TrainedTransformer, ItsHeadsAttendAsThePlainModelDoes) {
  const auto tokens = tiny_tokens(kContext);
  const auto attention = plain_pass(GetParam(), tokens).attention;
  const double tolerance = std::expm1(2.0 * score_error(GetParam(), tokens));
  EXPECT_LT(tolerance, 1e-3);
  std::size_t visited = 0;
  ForwardOptions options;
  options.visit = [&](std::size_t layer, std::size_t head, const attention::Head& scores) {
    ++visited;
    EXPECT_EQ(scores.scale, 1.0);
    EXPECT_EQ(scores.mask.hides_nothing(), !GetParam().causal);
    if (layer > 0) return;  // what deeper layers do, the logits tell
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      const auto weights = softmax_of(attention::score_row(scores, i), tokens.size());
      for (std::size_t j = 0; j < tokens.size(); ++j) {
        EXPECT_NEAR(weights[j], attention[0][head](i, j), tolerance)
            << head << " " << i << " " << j;
      }
    }
  };
  (void)Decoder::open(model()).hidden_states(tokens, options);
  EXPECT_EQ(visited, GetParam().layers * GetParam().heads);
}

TEST_P(TrainedTransformer, ADumpOfItsHeadsSaysHowQueriesMeetKeys) {
  const auto tokens = tiny_tokens(kContext);
  const Decoder decoder = Decoder::open(model());
  experiments::capture_heads(decoder, tokens, {}, {"dewpoint", {}}, checkpoint::ElementType::f32,
                             folder_ / "heads.safetensors");
  const auto dump = checkpoint::HeadDump::open(folder_ / "heads.safetensors");
  EXPECT_EQ(dump.facts().causal, GetParam().causal);
  EXPECT_EQ(dump.facts().scale, 1.0);
  EXPECT_FALSE(dump.facts().scale_assumed);
  EXPECT_EQ(dump.facts().window, 0U);
  ASSERT_EQ(dump.layers().size(), GetParam().layers);
  EXPECT_EQ(dump.shapes()[0].heads, GetParam().heads);
  EXPECT_EQ(dump.shapes()[0].dimension, GetParam().head_width());
}

// A model without a mask has read the token whose loss is asked for.
TEST_P(TrainedTransformer, LossesOfNextTokensNeedACausalMask) {
  const auto tokens = tiny_tokens(kContext);
  const Decoder decoder = Decoder::open(model());
  const auto hidden = decoder.hidden_states(tokens);
  experiments::LossQuestion question;
  question.lengths = {8};
  question.sequences = 2;
  question.tokens = tokens;
  const auto direct = outcome([&] { (void)decoder.next_token_losses(tokens, hidden); });
  const auto study = outcome([&] { (void)experiments::study_loss(decoder, question); });
  for (const auto& found : {direct, study}) {
    if (GetParam().causal) {
      EXPECT_EQ(found.message, "accepted");
      continue;
    }
    EXPECT_EQ(found.code, Code::bad_value) << found.message;
    EXPECT_EQ(found.message.find('\n'), std::string::npos);
    EXPECT_NE(found.message.find("config.json: causal: found false"), std::string::npos)
        << found.message;
  }
}

class TrainedFolder : public testing::Test {
 protected:
  void SetUp() override {
    shape_.value_matrix = true;
    write();
  }
  void write() { write_model_folder(model(), shape_, float_weights(shape_), kContext, files_); }
  [[nodiscard]] std::filesystem::path model() const { return folder_ / "model"; }

  // What opening says after a piece of config.json was changed.
  test::Outcome opened_with(const std::string& before, const std::string& after) {
    write();
    std::string config = test::read_bytes(model() / "config.json");
    const std::size_t place = config.find(before);
    EXPECT_NE(place, std::string::npos) << before;
    config.replace(place, before.size(), after);
    test::write_bytes(model() / "config.json", config);
    return outcome([&] { (void)Decoder::open(model()); });
  }

  static void expect_words(const test::Outcome& found, Code code,
                           const std::vector<std::string>& words) {
    EXPECT_EQ(found.code, code) << found.message;
    EXPECT_EQ(found.message.find('\n'), std::string::npos);
    for (const std::string& word : words) {
      EXPECT_NE(found.message.find(word), std::string::npos) << word << " in: " << found.message;
    }
  }

  Shape shape_{.vocabulary = test::kVocabulary, .width = kWidth, .layers = 2, .heads = 4};
  std::vector<std::pair<std::string, std::string>> files_ = {{"token_mappings.json", "{}\n"}};
  ScratchFolder folder_;
};

// Property (2) of write_model_folder.
TEST_F(TrainedFolder, HoldsTheModelAndItsTokenizerAndNothingElse) {
  const std::string tensors = test::read_bytes(model() / "model.safetensors");
  const std::string config = test::read_bytes(model() / "config.json");
  write();
  EXPECT_EQ(test::read_bytes(model() / "model.safetensors"), tensors);
  EXPECT_EQ(test::read_bytes(model() / "config.json"), config);
  EXPECT_EQ(test::read_bytes(model() / "token_mappings.json"), "{}\n");
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(model())) files += entry.exists();
  EXPECT_EQ(files, 3U);
}

// Llama's names, and [out, in].
TEST_F(TrainedFolder, OtherProgramsFindTheMatrices) {
  const auto weights = float_weights(shape_);
  const auto archive = checkpoint::TensorArchive::open(model());
  EXPECT_EQ(archive.tensors().size(), 8U);
  const auto expect = [&](const std::string& name, const Matrix<float>& matrix, bool transposed) {
    const auto* tensor = archive.find(name);
    ASSERT_NE(tensor, nullptr) << name;
    const std::size_t rows = transposed ? matrix.cols() : matrix.rows();
    const std::size_t columns = transposed ? matrix.rows() : matrix.cols();
    ASSERT_EQ(tensor->shape, (std::vector{rows, columns})) << name;
    std::vector<float> values(tensor->elements());
    checkpoint::copy_elements(*tensor, 0, std::span<float>(values));
    for (std::size_t i = 0; i < rows; ++i) {
      for (std::size_t k = 0; k < columns; ++k) {
        EXPECT_EQ(values[i * columns + k], transposed ? matrix(k, i) : matrix(i, k)) << name;
      }
    }
  };
  expect("model.embed_tokens.weight", weights.embedding, false);
  expect("model.layers.0.self_attn.q_proj.weight", weights.layers[0].query, true);
  expect("model.layers.1.self_attn.k_proj.weight", weights.layers[1].key, true);
  expect("model.layers.1.self_attn.v_proj.weight", weights.layers[1].value, true);
  expect("lm_head.weight", weights.unembedding, true);
}

TEST_F(TrainedFolder, SaysHowLongItsContextWas) {
  const auto config = Decoder::open(model()).config();
  EXPECT_EQ(config.attention.max_positions, kContext);
  EXPECT_EQ(config.norm_epsilon, transformer::kNormEpsilon);
  EXPECT_EQ(config.attention.rope.kind, scaling::RopeKind::none);
}

// Without positions a text has no end that the model would know of.
TEST_F(TrainedFolder, ReadsLongerTextsToo) {
  EXPECT_EQ(Decoder::open(model()).hidden_states(tiny_tokens(3 * kContext)).rows(), 3 * kContext);
}

TEST_F(TrainedFolder, APartThatTheConfigurationDoesNotSpeakOfIsNotAssumed) {
  for (const std::string key : {"residual", "value_matrix", "causal", "pre_norm"}) {
    expect_words(opened_with("\"" + key + "\"", "\"other\""), Code::malformed_file,
                 {"config.json", key, "no such key", "true or false"});
  }
  EXPECT_EQ(opened_with("\"branch\"", "\"other\"").message, "accepted");
}

TEST_F(TrainedFolder, PartsThatContradictEachOtherAreRefused) {
  expect_words(opened_with("\"branch\": 1.0", "\"branch\": 0.5"), Code::bad_value,
               {"branch", "0.5", "residual"});
  expect_words(opened_with("\"branch\": 1.0", "\"branch\": -1.0"), Code::malformed_file,
               {"branch", "-1"});
  expect_words(opened_with("\"causal\": false", "\"causal\": false, \"sliding_window\": 8"),
               Code::bad_value, {"sliding_attention", "full_attention", "causal"});
  expect_words(opened_with("\"causal\"", "\"head_dim\": 8, \"causal\""), Code::bad_value,
               {"heads", "4 of 8", "16"});
  expect_words(opened_with("_heads\": 4", "_heads\": 3"), Code::malformed_file,
               {"head_dim", "16", "3 heads"});
}

TEST_F(TrainedFolder, WeightsThatTheConfigurationDoesNotSpeakOfAreRefused) {
  expect_words(opened_with("\"value_matrix\": true", "\"value_matrix\": false"),
               Code::malformed_file, {"model.layers.0.self_attn.v_proj.weight", "none"});
  shape_.value_matrix = false;
  expect_words(opened_with("\"value_matrix\": false", "\"value_matrix\": true"),
               Code::malformed_file, {"model.layers.0.self_attn.v_proj.weight", "nothing"});
}

TEST_F(TrainedFolder, NothingRotates) {
  ForwardOptions options;
  options.rope = scaling::RopeScaling{};
  const Decoder decoder = Decoder::open(model());
  expect_words(outcome([&] { (void)decoder.hidden_states(tiny_tokens(), options); }),
               Code::bad_value, {"rotation", "positions"});
}

TEST_F(TrainedFolder, AFolderThatCannotBeMadeIsSaid) {
  test::write_bytes(folder_ / "file", "in the way");
  expect_words(outcome([&] {
                 write_model_folder(folder_ / "file" / "inside", shape_, float_weights(shape_),
                                    kContext, {});
               }),
               Code::unwritable_file, {"inside"});
}

}  // namespace
}  // namespace dewpoint::models
