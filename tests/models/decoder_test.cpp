#include "dewpoint/models/decoder.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <map>

#include "dewpoint/models/reference_decoder.hpp"
#include "models/tiny_models.hpp"
#include "support/matrices.hpp"

namespace dewpoint::models {
namespace {

using test::kInner;
using test::largest_difference;
using test::rounding_bound;
using test::ScratchFolder;
using test::tiny_model;
using test::tiny_tokens;
using test::TinyModel;
using test::write_tiny_model;

bool same_bytes(const Matrix<float>& a, const Matrix<float>& b) {
  return a.rows() == b.rows() && a.cols() == b.cols() &&
         std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

Matrix<float> logits_of(const std::filesystem::path& folder, std::span<const int> tokens,
                        const ForwardOptions& options = {}, const RunContext& context = {}) {
  const Decoder decoder = Decoder::open(folder);
  return decoder.logits(decoder.hidden_states(tokens, options, context));
}

class EveryFamily : public testing::TestWithParam<TinyModel> {
 protected:
  void SetUp() override { write_tiny_model(GetParam(), folder_ / "model"); }
  [[nodiscard]] std::filesystem::path model() const { return folder_ / "model"; }

  ScratchFolder folder_;
};

INSTANTIATE_TEST_SUITE_P(Decoder, EveryFamily, testing::ValuesIn(test::tiny_models()),
                         [](const auto& model) { return model.param.name; });

TEST_P(EveryFamily, AgreesWithTheReferenceUpToRounding) {
  const auto tokens = tiny_tokens();
  const auto expected = reference_logits(model(), tokens);
  const double bound = rounding_bound(model(), tokens, kInner);
  EXPECT_LT(bound, 5e-3);  // of logits up to 5: a bound that says nothing would be no bound
  EXPECT_LE(largest_difference(logits_of(model(), tokens), expected), bound);
}

TEST_P(EveryFamily, AgreesWithTheReferenceUnderAMultiplier) {
  const auto tokens = tiny_tokens();
  ForwardOptions options;
  options.multiplier = [](std::size_t keys) { return 1.0 + 0.3 * std::log(keys); };
  const auto expected = reference_logits(model(), tokens, {}, options.multiplier);
  const auto found = logits_of(model(), tokens, options);
  // The multiplier, up to 2.1, makes rounding of the scores that much larger.
  const double bound = 2.1 * rounding_bound(model(), tokens, kInner);
  EXPECT_LE(largest_difference(found, expected), bound);
  EXPECT_GT(largest_difference(found, reference_logits(model(), tokens)), 100.0 * bound);
}

// Property (1) of hidden_states.
TEST_P(EveryFamily, DoesNotDependOnThreads) {
  const auto tokens = tiny_tokens(64);
  RunContext one;
  one.threads = 1;
  RunContext three;
  three.threads = 3;
  const Decoder decoder = Decoder::open(model());
  EXPECT_TRUE(
      same_bytes(decoder.hidden_states(tokens, {}, one), decoder.hidden_states(tokens, {}, three)));
}

// Property (2) of hidden_states.
TEST_P(EveryFamily, LooksBackwardOnly) {
  const auto tokens = tiny_tokens();
  auto other = tokens;
  for (std::size_t i = 25; i < other.size(); ++i) other[i] = (other[i] + 7) % 40;
  const Decoder decoder = Decoder::open(model());
  const auto a = decoder.hidden_states(tokens);
  const auto b = decoder.hidden_states(other);
  const std::size_t before = 25 * a.cols() * sizeof(float);
  EXPECT_EQ(std::memcmp(a.data(), b.data(), before), 0);
  EXPECT_NE(std::memcmp(a.row(25).data(), b.row(25).data(), a.cols() * sizeof(float)), 0);
}

TEST_P(EveryFamily, IsTheSameWhenTheTextEndsEarlier) {
  const auto tokens = tiny_tokens();
  const auto expected = reference_logits(model(), tokens);
  const auto found = logits_of(model(), std::span(tokens).first(13));
  const double bound = rounding_bound(model(), tokens, kInner);
  EXPECT_LE(largest_difference(found, expected.view().row_range({0, 13})), bound);
}

// Logits of the last of forty tokens, ids 0 to 5, as transformers 5.22.2 with PyTorch 2.15.0 gives
// them: AutoModelForCausalLM.from_pretrained(folder).double()(tokens).logits, attention "eager", on
// the folders that write_tiny_model writes.
const std::map<std::string, std::vector<double>>& hugging_face_logits() {
  static const std::map<std::string, std::vector<double>> logits{
      {"llama", {1.6675191, -0.0715961, -0.4535392, 0.2834677, 0.5896190, -0.7800803}},
      {"llama3", {1.7596416, -0.5661135, -0.5912987, 0.3451863, 2.7188053, -0.3389556}},
      {"yarn", {0.3557800, -2.6578966, -0.8534051, 0.1081915, 0.0946915, -0.6724497}},
      {"biased", {3.0757361, -0.8412475, 1.2558638, 3.3226160, -1.4856139, 0.3926913}},
      {"mistral", {-1.1483523, -1.8925868, -0.8078991, -2.2766288, -1.6680116, -1.6666782}},
      {"qwen2", {1.9546778, -1.3711615, -0.1260353, 1.2936008, -1.4191894, -1.2987332}},
      {"qwen3", {-1.1767898, -1.1594936, 0.1390697, -1.4028544, -0.0194468, -0.1064961}},
      {"smollm3", {-1.1119426, 0.7644952, -0.9098509, 2.4043536, 0.0376656, -0.8735599}},
      {"gpt2", {1.0500575, -1.0052768, -1.2288252, -3.8683302, -2.2408568, 2.5021529}},
      {"gpt2_variant", {-3.2303061, 1.9765770, 0.9160144, 2.7935805, 2.0560485, 0.5459755}},
  };
  return logits;
}

// Hugging Face computes angles in float32 whatever the model is in: off by up to n u rad at
// position n, which is a relative change of queries and keys by n u.
TEST_P(EveryFamily, AgreesWithHuggingFace) {
  const auto tokens = tiny_tokens();
  const double bound = rounding_bound(model(), tokens, kInner + tokens.size());
  const auto found = logits_of(model(), tokens);
  const auto& expected = hugging_face_logits().at(GetParam().name);
  for (std::size_t id = 0; id < expected.size(); ++id) {
    EXPECT_NEAR(static_cast<double>(found(tokens.size() - 1, id)), expected[id], bound) << id;
  }
}

// The loss is that of the logits: log Σ exp in double over 40 words, so 1e-14 and no more, but the
// logits of single rows come from products of other shapes, with the rounding of a float32 sum of
// 32 terms of logits below 20 each.
TEST_P(EveryFamily, LossIsThatOfTheLogits) {
  const auto tokens = tiny_tokens();
  const Decoder decoder = Decoder::open(model());
  const auto hidden = decoder.hidden_states(tokens);
  const auto logits = decoder.logits(hidden);
  const auto losses = decoder.next_token_losses(tokens, hidden);
  ASSERT_EQ(losses.size(), tokens.size() - 1);
  for (std::size_t i = 0; i < losses.size(); ++i) {
    double total = 0.0;
    for (const float logit : logits.row(i)) total += std::exp(static_cast<double>(logit));
    const auto target = static_cast<std::size_t>(tokens[i + 1]);
    EXPECT_NEAR(losses[i], std::log(total) - static_cast<double>(logits(i, target)),
                2 * 32 * 0x1p-24 * 20.0);
  }
}

TEST_P(EveryFamily, GeneratesWhatItFindsMostProbable) {
  const Decoder decoder = Decoder::open(model());
  std::vector<int> tokens{1, 2, 3};
  const auto made = decoder.generate(tokens, 6);
  ASSERT_EQ(made.size(), 6U);
  for (const int token : made) {
    const auto logits = reference_logits(model(), tokens);
    const auto row = logits.row(tokens.size() - 1);
    EXPECT_EQ(token, std::max_element(row.begin(), row.end()) - row.begin());
    tokens.push_back(token);
  }
  EXPECT_EQ(decoder.generate({1, 2, 3}, 6, made[0]).size(), 0U);
}

class LlamaDecoder : public testing::Test {
 protected:
  void SetUp() override { write_tiny_model(tiny_model("llama"), folder_ / "model"); }
  [[nodiscard]] std::filesystem::path model() const { return folder_ / "model"; }

  ScratchFolder folder_;
};

// The weights of "llama" and "yarn" are the same: only the configuration differs.
TEST_F(LlamaDecoder, AnotherRotationIsThatOfAConfigurationThatNamesIt) {
  write_tiny_model(tiny_model("yarn"), folder_ / "yarn");
  const auto tokens = tiny_tokens();
  ForwardOptions options;
  options.rope = Decoder::open(folder_ / "yarn").config().attention.rope;
  const auto plain = logits_of(model(), tokens);
  const auto yarn = logits_of(folder_ / "yarn", tokens);
  EXPECT_TRUE(same_bytes(logits_of(model(), tokens, options), yarn));
  EXPECT_FALSE(same_bytes(plain, yarn));
}

TEST_F(LlamaDecoder, EveryRotationAgreesWithTheReference) {
  const auto tokens = tiny_tokens();
  const double bound = rounding_bound(model(), tokens, kInner);
  scaling::RopeScaling rope = Decoder::open(model()).config().attention.rope;
  rope.factor = 2.0;
  rope.original_length = 16;
  rope.original_length_given = true;
  for (const auto kind : {scaling::RopeKind::none, scaling::RopeKind::linear,
                          scaling::RopeKind::ntk, scaling::RopeKind::yarn}) {
    rope.kind = kind;
    ForwardOptions options;
    options.rope = rope;
    const auto expected = reference_logits(model(), tokens, rope);
    const auto found = logits_of(model(), tokens, options);
    EXPECT_LE(largest_difference(found, expected), bound) << name_of(kind);
    EXPECT_GT(largest_difference(found, reference_logits(model(), tokens)), 100.0 * bound)
        << name_of(kind);
  }
}

struct Visit {
  std::size_t layer, head;
  std::vector<float> queries, keys;
};

std::vector<Visit> visits_of(const Decoder& decoder, std::span<const int> tokens, bool attend) {
  std::vector<Visit> visits;
  ForwardOptions options;
  options.attend = attend;
  options.visit = [&](std::size_t layer, std::size_t head, const attention::Head& scores) {
    EXPECT_EQ(scores.queries.rows(), tokens.size());
    EXPECT_EQ(scores.values.rows(), tokens.size());
    EXPECT_EQ(scores.queries.cols(), 8U);
    EXPECT_EQ(scores.queries.stride(), 8U);
    EXPECT_DOUBLE_EQ(scores.scale, 1.0 / std::sqrt(8.0));
    EXPECT_EQ(scores.mask, attention::Mask::causal());
    const auto copy = [&](MatrixView<const float> matrix) {
      return std::vector<float>(matrix.data(), matrix.data() + matrix.rows() * matrix.cols());
    };
    visits.push_back({layer, head, copy(scores.queries), copy(scores.keys)});
  };
  const auto hidden = decoder.hidden_states(tokens, options);
  EXPECT_EQ(hidden.rows(), attend ? tokens.size() : 0U);
  return visits;
}

TEST_F(LlamaDecoder, ShowsEveryHeadInOrderAndGroupsShareKeys) {
  const auto tokens = tiny_tokens();
  const auto visits = visits_of(Decoder::open(model()), tokens, true);
  ASSERT_EQ(visits.size(), 12U);
  for (std::size_t k = 0; k < visits.size(); ++k) {
    EXPECT_EQ(visits[k].layer, k / 4);
    EXPECT_EQ(visits[k].head, k % 4);
  }
  EXPECT_EQ(visits[0].keys, visits[1].keys);
  EXPECT_NE(visits[1].keys, visits[2].keys);
  EXPECT_EQ(visits[2].keys, visits[3].keys);
  EXPECT_NE(visits[0].queries, visits[1].queries);
}

TEST_F(LlamaDecoder, ShowsTheSameHeadsWithoutTheLastOutputs) {
  const auto tokens = tiny_tokens();
  const Decoder decoder = Decoder::open(model());
  const auto whole = visits_of(decoder, tokens, true);
  const auto shown = visits_of(decoder, tokens, false);
  ASSERT_EQ(shown.size(), whole.size());
  for (std::size_t k = 0; k < shown.size(); ++k) {
    EXPECT_EQ(shown[k].queries, whole[k].queries);
    EXPECT_EQ(shown[k].keys, whole[k].keys);
  }
}

TEST_F(LlamaDecoder, CountsHeadsAsProgressAndStopsOnRequest) {
  const auto tokens = tiny_tokens();
  const Decoder decoder = Decoder::open(model());
  std::vector<double> done;
  RunContext context;
  context.progress = [&](double part, double total) {
    EXPECT_EQ(total, 12.0);
    done.push_back(part);
  };
  (void)decoder.hidden_states(tokens, {}, context);
  ASSERT_EQ(done.size(), 12U);
  EXPECT_EQ(done.back(), 12.0);

  std::stop_source source;
  source.request_stop();
  context.stop = source.get_token();
  EXPECT_THROW((void)decoder.hidden_states(tokens, {}, context), Error);
}

// Weights that bfloat16 and float16 can hold exactly make the same model as their float32 copies.
TEST_F(LlamaDecoder, ReadsHalfPrecisionWeights) {
  const auto tokens = tiny_tokens();
  for (const auto type : {checkpoint::ElementType::bf16, checkpoint::ElementType::f16}) {
    const std::string name = checkpoint::name_of(type);
    write_tiny_model(tiny_model("llama"), folder_ / name, type);
    const Decoder decoder = Decoder::open(folder_ / name);
    decoder.save(folder_ / (name + "-saved"));
    EXPECT_TRUE(same_bytes(logits_of(folder_ / name, tokens),
                           logits_of(folder_ / (name + "-saved"), tokens)));
  }
}

// A llama2.c file with the weights of "llama", its head a matrix of its own.
std::string llama2c_file() {
  std::string bytes;
  const auto add = [&](const void* data, std::size_t size) {
    bytes.append(static_cast<const char*>(data), size);
  };
  const std::int32_t header[] = {32, 48, 3, 4, 2, -40, 64};
  add(header, sizeof header);
  const auto add_weights = [&](const std::string& name, std::vector<std::size_t> shape) {
    const auto values = test::tiny_weights({name, std::move(shape)});
    add(values.data(), values.size() * sizeof(float));
  };
  const auto add_layers = [&](const char* part, const std::vector<std::size_t>& shape) {
    for (int layer = 0; layer < 3; ++layer) {
      add_weights(fmt::format("model.layers.{}.{}.weight", layer, part), shape);
    }
  };
  add_weights("model.embed_tokens.weight", {40, 32});
  add_layers("input_layernorm", {32});
  add_layers("self_attn.q_proj", {32, 32});
  add_layers("self_attn.k_proj", {16, 32});
  add_layers("self_attn.v_proj", {16, 32});
  add_layers("self_attn.o_proj", {32, 32});
  add_layers("post_attention_layernorm", {32});
  add_layers("mlp.gate_proj", {48, 32});
  add_layers("mlp.down_proj", {32, 48});
  add_layers("mlp.up_proj", {48, 32});
  add_weights("model.norm.weight", {32});
  bytes.append(std::size_t{64} * 4 * 2 * sizeof(float), '\0');
  add_weights("lm_head.weight", {40, 32});
  return bytes;
}

// The reference rotates neighbours in one and halves in the other, in double: 1e-12 is thousands of
// its roundings. The same rows turned as halves, without changing places, are another model.
TEST_F(LlamaDecoder, ALlama2cFileWithAHeadOfItsOwnIsReadAndSaved) {
  const auto tokens = tiny_tokens();
  test::write_bytes(folder_ / "model.bin", llama2c_file());
  Decoder::open(folder_ / "model.bin").save(folder_ / "saved");
  const auto expected = reference_logits(folder_ / "model.bin", tokens);
  EXPECT_LT(test::largest_difference(expected, reference_logits(folder_ / "saved", tokens)), 1e-12);
  const double bound = rounding_bound(folder_ / "saved", tokens, kInner);
  EXPECT_LE(largest_difference(logits_of(folder_ / "model.bin", tokens), expected), bound);
  EXPECT_LE(largest_difference(logits_of(folder_ / "saved", tokens), expected), bound);
  ForwardOptions options;
  options.rope = Decoder::open(folder_ / "model.bin").config().attention.rope;
  EXPECT_GT(largest_difference(logits_of(model(), tokens, options), expected), 100.0 * bound);
}

}  // namespace
}  // namespace dewpoint::models
