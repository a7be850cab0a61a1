// A model of a few hundred weights, drawn at random and written as a llama2.c file.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "dewpoint/core/random.hpp"
#include "dewpoint/models/decoder.hpp"
#include "store/scratch_folder.hpp"

namespace dewpoint::test {

inline constexpr int kTinyVocabulary = 11;

/// The bytes of the file: two layers, four heads of dimension 4 over two key heads.
inline std::string tiny_llama() {
  constexpr int dim = 16, hidden = 12, layers = 2, heads = 4, key_heads = 2, positions = 64;
  constexpr int key_dim = dim / heads * key_heads;
  std::string bytes;
  const auto put = [&bytes](std::uint32_t word) {
    for (int k = 0; k < 4; ++k) bytes += static_cast<char>(word >> (8 * k) & 0xff);
  };
  for (const int field : {dim, hidden, layers, heads, key_heads, kTinyVocabulary, positions}) {
    put(static_cast<std::uint32_t>(field));
  }
  const Stream draw(1, "tiny_llama");
  std::uint64_t next = 0;
  const auto numbers = [&](int count, double mean, double deviation) {
    for (int k = 0; k < count; ++k) {
      put(std::bit_cast<std::uint32_t>(static_cast<float>(mean + deviation * draw.normal(next++))));
    }
  };
  // A norm keeps vectors at √dim; weights of deviation 2/√dim make logits that differ clearly.
  const double spread = 2.0 / std::sqrt(dim);
  numbers(kTinyVocabulary * dim, 0.0, 0.5);
  numbers(layers * dim, 1.0, 0.1);
  numbers(layers * dim * (dim + 2 * key_dim + dim), 0.0, spread);  // W_q, W_k, W_v, W_o
  numbers(layers * dim, 1.0, 0.1);
  numbers(layers * 3 * dim * hidden, 0.0, spread);
  numbers(dim, 1.0, 0.1);
  numbers(positions * dim / heads, 0.0, 1.0);  // two tables that nobody reads
  return bytes;
}

/// The same, opened; keep the folder as long as the decoder.
class TinyDecoder {
 public:
  TinyDecoder() : decoder_(opened(folder_ / "tiny.bin")) {}
  [[nodiscard]] const models::Decoder& operator*() const { return decoder_; }

 private:
  static models::Decoder opened(const std::filesystem::path& file) {
    write_bytes(file, tiny_llama());
    return models::Decoder::open(file);
  }

  ScratchFolder folder_;
  models::Decoder decoder_;
};

/// Tokens at random.
inline std::vector<int> tiny_tokens(std::size_t count) {
  const Stream draw(1, "tiny_tokens");
  std::vector<int> tokens;
  for (std::size_t k = 0; k < count; ++k) {
    tokens.push_back(static_cast<int>(draw.bits(k)[0] % kTinyVocabulary));
  }
  return tokens;
}

}  // namespace dewpoint::test
