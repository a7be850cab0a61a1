// Checkpoints of llama2.c: a real one, and small ones built number by number.
//
// SPDX-License-Identifier: Apache-2.0
#include "dewpoint/checkpoint/llama2c.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "checkpoint/foreign_files.hpp"
#include "dewpoint/core/error.hpp"

namespace dewpoint::checkpoint {
namespace {

namespace fs = std::filesystem;
using test::outcome;
using test::Outcome;

// dim, hidden_dim, n_layers, n_heads, n_kv_heads, vocab_size, seq_len.
using Header = std::array<std::int32_t, 7>;

constexpr Header kSmall{8, 12, 2, 2, 1, 5, 3};

template <class T>
void append(std::string& bytes, T value) {
  const auto raw = std::bit_cast<std::array<char, sizeof(T)>>(value);
  bytes.append(raw.data(), raw.size());
}

// How many floats the format asks for, counted tensor by tensor.
std::size_t floats(const Header& h) {
  const auto [dim, hidden, layers, heads, key_heads, vocabulary, length] = h;
  const int key_width = dim / heads * key_heads;
  const int words = std::abs(vocabulary);
  const int attention = dim * dim + 2 * key_width * dim + dim * dim;
  const int layer = dim + attention + dim + 3 * hidden * dim;
  const int tables = 2 * length * (dim / heads / 2);
  return static_cast<std::size_t>(words * dim + layers * layer + dim + tables +
                                  (vocabulary < 0 ? words * dim : 0));
}

// Every float is its own index, so a tensor shows where in the file it stands.
std::string file(const Header& header) {
  std::string bytes;
  for (const std::int32_t number : header) append(bytes, number);
  for (std::size_t k = 0; k < floats(header); ++k) append(bytes, static_cast<float>(k));
  return bytes;
}

Llama2cModel parse(const std::string& bytes) {
  return parse_llama2c(std::as_bytes(std::span(bytes)), "model.bin");
}

float first(const Tensor& tensor) {
  float value = 0;
  std::memcpy(&value, tensor.bytes.data(), sizeof(value));
  return value;
}

std::size_t elements(const Tensor& tensor) {
  std::size_t product = 1;
  for (const std::size_t extent : tensor.shape) product *= extent;
  return product;
}

const Tensor& named(const Llama2cModel& model, const std::string& name) {
  const auto it = std::find_if(model.tensors.begin(), model.tensors.end(),
                               [&](const Tensor& tensor) { return tensor.name == name; });
  if (it == model.tensors.end()) throw std::out_of_range(name);
  return *it;
}

std::string refusal_of(const std::string& bytes) {
  const Outcome result = outcome([&] { (void)parse(bytes); });
  EXPECT_EQ(result.code, Code::malformed_file) << result.message;
  EXPECT_TRUE(result.message.starts_with("model.bin: ")) << result.message;
  EXPECT_FALSE(is_llama2c(std::as_bytes(std::span(bytes))));
  return result.message;
}

TEST(Llama2c, FindsEveryTensorWhereTheFormatPutsIt) {
  const std::string bytes = file(kSmall);
  const Llama2cModel model = parse(bytes);
  // 5 x 8 embeddings; 2 norms of 8; W_q, W_k, W_v, W_o of 64, 32, 32, 64; norms; three of 96.
  EXPECT_EQ(first(named(model, "model.embed_tokens.weight")), 0.0f);
  EXPECT_EQ(first(named(model, "model.layers.0.input_layernorm.weight")), 40.0f);
  EXPECT_EQ(first(named(model, "model.layers.1.input_layernorm.weight")), 48.0f);
  EXPECT_EQ(first(named(model, "model.layers.0.self_attn.q_proj.weight")), 56.0f);
  EXPECT_EQ(first(named(model, "model.layers.0.self_attn.k_proj.weight")), 184.0f);
  EXPECT_EQ(first(named(model, "model.layers.1.self_attn.v_proj.weight")), 280.0f);
  EXPECT_EQ(first(named(model, "model.layers.0.self_attn.o_proj.weight")), 312.0f);
  EXPECT_EQ(first(named(model, "model.layers.0.post_attention_layernorm.weight")), 440.0f);
  EXPECT_EQ(first(named(model, "model.layers.0.mlp.gate_proj.weight")), 456.0f);
  EXPECT_EQ(first(named(model, "model.layers.0.mlp.down_proj.weight")), 648.0f);
  EXPECT_EQ(first(named(model, "model.layers.0.mlp.up_proj.weight")), 840.0f);
  EXPECT_EQ(first(named(model, "model.norm.weight")), 1032.0f);
  EXPECT_EQ(named(model, "model.layers.1.self_attn.k_proj.weight").shape,
            (std::vector<std::size_t>{4, 8}));
  EXPECT_EQ(named(model, "model.layers.1.mlp.down_proj.weight").shape,
            (std::vector<std::size_t>{8, 12}));
  EXPECT_EQ(model.tensors.size(), 2u + 9u * 2u);
  for (const Tensor& tensor : model.tensors) {
    EXPECT_EQ(tensor.type, ElementType::f32);
    EXPECT_EQ(tensor.bytes.size(), 4 * elements(tensor)) << tensor.name;
  }
}

TEST(Llama2c, SaysWhatTheHeaderSays) {
  const ModelConfig config = parse(file(kSmall)).config;
  EXPECT_EQ(config.source, Source::llama2c);
  EXPECT_EQ(config.file, "model.bin");
  EXPECT_EQ(config.model_type, "llama");
  EXPECT_EQ(config.layers, 2u);
  EXPECT_EQ(config.hidden_size, 8u);
  EXPECT_EQ(config.intermediate_size, 12u);
  EXPECT_EQ(config.vocabulary, 5u);
  EXPECT_EQ(config.attention.heads, 2u);
  EXPECT_EQ(config.attention.key_heads, 1u);
  EXPECT_EQ(config.attention.head_dimension, 4u);
  EXPECT_EQ(config.attention.max_positions, 3u);
  EXPECT_EQ(config.attention.rope.base, 10000.0);
  EXPECT_TRUE(config.rotates_pairs);
  EXPECT_TRUE(config.tied_embeddings);
  EXPECT_EQ(config.beginning_token, 1);
}

TEST(Llama2c, TakesANegativeVocabularyForAHeadOfItsOwn) {
  Header header = kSmall;
  header[5] = -5;
  const std::string bytes = file(header);
  const Llama2cModel model = parse(bytes);
  EXPECT_FALSE(model.config.tied_embeddings);
  EXPECT_EQ(model.config.vocabulary, 5u);
  // After 1040 floats of everything else and 2 x 3 x 2 of the tables.
  EXPECT_EQ(first(named(model, "lm_head.weight")), 1052.0f);
  EXPECT_EQ(named(model, "lm_head.weight").shape, (std::vector<std::size_t>{5, 8}));
}

TEST(Llama2c, ReadsARealModel) {
  const fs::path path = fs::path(DEWPOINT_DATA) / "stories260K" / "stories260K.bin";
  if (!fs::exists(path)) GTEST_SKIP() << path << " is not there";
  const Llama2cModel model = open_llama2c(path);
  EXPECT_EQ(model.config.hidden_size, 64u);
  EXPECT_EQ(model.config.intermediate_size, 172u);
  EXPECT_EQ(model.config.layers, 5u);
  EXPECT_EQ(model.config.attention.heads, 8u);
  EXPECT_EQ(model.config.attention.key_heads, 4u);
  EXPECT_EQ(model.config.vocabulary, 512u);
  EXPECT_EQ(model.config.attention.max_positions, 512u);
  EXPECT_TRUE(model.config.tied_embeddings);
  EXPECT_EQ(read_model_config(path), model.config);

  // Norms of a trained model are near 1 and projections are not: a reader off by one tensor would
  // see it here.
  std::vector<float> norm(64);
  copy_elements(named(model, "model.norm.weight"), 0, std::span(norm));
  for (const float gain : norm) {
    EXPECT_GT(gain, 0.1f);
    EXPECT_LT(gain, 20.0f);
  }
}

TEST(Llama2c, RefusesAFileCutOrLengthenedAnywhere) {
  const std::string bytes = file({4, 4, 1, 2, 1, 3, 2});
  (void)parse(bytes);
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    (void)refusal_of(bytes.substr(0, length));
  }
  (void)refusal_of(bytes + '\0');
  (void)refusal_of(bytes + bytes);
}

// 7 integers; 12 floats of embeddings, 104 of the layer, 4 of the last norm, 4 of the tables.
TEST(Llama2c, NamesBothSizes) {
  const std::string bytes = file({4, 4, 1, 2, 1, 3, 2});
  EXPECT_EQ(refusal_of(bytes + "x"),
            "model.bin: size: found 525 bytes, allowed: exactly 524 bytes, for the dim 4, "
            "hidden_dim 4, n_layers 1, n_kv_heads 1, vocab_size 3 and seq_len 2 of the header");
}

TEST(Llama2c, RefusesHeadersThatNoModelHas) {
  constexpr std::int32_t least = std::numeric_limits<std::int32_t>::min();
  constexpr std::int32_t most = std::numeric_limits<std::int32_t>::max();
  for (std::size_t field = 0; field < 7; ++field) {
    for (const std::int32_t value : {0, -1, least, most}) {
      if (field == 5 && value == -1) continue;
      std::string bytes = file(kSmall);
      std::memcpy(bytes.data() + 4 * field, &value, 4);
      (void)refusal_of(bytes);
    }
  }
  (void)refusal_of(file(kSmall).substr(0, 28).replace(12, 4, std::string("\3\0\0\0", 4)));
  std::string later = file(kSmall);
  later.replace(0, 8, std::string("24ka\1\0\0\0", 8));
  EXPECT_EQ(refusal_of(later),
            "model.bin: header: found version 1 of the format, allowed: version 0, which has no "
            "magic number");
}

TEST(Llama2c, SaysWhereThereIsNoFile) {
  const test::ScratchFolder folder;
  EXPECT_EQ(outcome([&] { (void)open_llama2c(folder / "absent.bin"); }).code,
            Code::unreadable_file);
}

}  // namespace
}  // namespace dewpoint::checkpoint
