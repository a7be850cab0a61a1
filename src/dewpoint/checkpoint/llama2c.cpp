#include "dewpoint/checkpoint/llama2c.hpp"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>

#include "dewpoint/checkpoint/refusal.hpp"

namespace dewpoint::checkpoint {
namespace {

struct Header {
  std::size_t width, hidden, layers, heads, key_heads, vocabulary, positions;
  bool tied;

  [[nodiscard]] std::size_t head_dimension() const { return width / heads; }
  [[nodiscard]] std::size_t key_width() const { return head_dimension() * key_heads; }
};

constexpr std::size_t kHeaderBytes = 7 * sizeof(std::int32_t);
constexpr std::int32_t kLaterMagic = 0x616b3432;  // versions 1 and 2 begin with it

std::array<std::int32_t, 7> header_numbers(const ByteSource& source) {
  if (source.size() < kHeaderBytes) {
    throw Refusal{"header", fmt::format("{} bytes", source.size()),
                  fmt::format("at least {} bytes", kHeaderBytes)};
  }
  std::array<std::byte, kHeaderBytes> bytes;
  source.read(0, bytes);
  std::array<std::int32_t, 7> numbers;
  for (std::size_t k = 0; k < numbers.size(); ++k) {
    std::uint32_t bits = 0;
    for (std::size_t byte = 4; byte-- > 0;) {
      bits = bits << 8 | std::to_integer<std::uint32_t>(bytes[4 * k + byte]);
    }
    numbers[k] = std::bit_cast<std::int32_t>(bits);
  }
  return numbers;
}

std::size_t positive(std::int32_t number, const char* field) {
  if (number < 1) throw Refusal{field, fmt::format("{}", number), "a positive number"};
  return static_cast<std::size_t>(number);
}

void check_heads(const Header& header) {
  if (header.width % header.heads != 0 || header.head_dimension() % 2 != 0) {
    throw Refusal{"n_heads", fmt::format("{} heads of dim {}", header.heads, header.width),
                  "a number that divides dim into even parts"};
  }
  if (header.heads % header.key_heads != 0) {
    throw Refusal{"n_kv_heads", fmt::format("{} of {} heads", header.key_heads, header.heads),
                  "a divisor of n_heads"};
  }
}

Header read_header(const ByteSource& bytes) {
  const auto numbers = header_numbers(bytes);
  if (numbers[0] == kLaterMagic) {
    throw Refusal{"header", fmt::format("version {} of the format", numbers[1]),
                  "version 0, which has no magic number"};
  }
  // The sign of the vocabulary tells whether the head is a matrix of its own; -2^31 has no
  // positive counterpart.
  const std::int64_t vocabulary = numbers[5];
  if (vocabulary == 0) throw Refusal{"vocab_size", "0", "a number other than 0"};
  const Header header{.width = positive(numbers[0], "dim"),
                      .hidden = positive(numbers[1], "hidden_dim"),
                      .layers = positive(numbers[2], "n_layers"),
                      .heads = positive(numbers[3], "n_heads"),
                      .key_heads = positive(numbers[4], "n_kv_heads"),
                      .vocabulary = static_cast<std::size_t>(std::abs(vocabulary)),
                      .positions = positive(numbers[6], "seq_len"),
                      .tied = vocabulary > 0};
  check_heads(header);
  return header;
}

// The size of the file, in doubles: exact below 2^53 bytes, and no file is longer.
double expected_bytes(const Header& header) {
  const auto width = static_cast<double>(header.width);
  const auto key_width = static_cast<double>(header.key_width());
  const auto hidden = static_cast<double>(header.hidden);
  const double layer = 2 * width + 2 * width * width + 2 * width * key_width + 3 * width * hidden;
  const double embedding = static_cast<double>(header.vocabulary) * width;
  const double tables =
      static_cast<double>(header.positions) * static_cast<double>(header.head_dimension() / 2) * 2;
  const double floats = embedding * (header.tied ? 1 : 2) +
                        static_cast<double>(header.layers) * layer + width + tables;
  return static_cast<double>(kHeaderBytes) + 4 * floats;
}

void check_size(const Header& header, std::size_t size) {
  const double expected = expected_bytes(header);
  if (expected == static_cast<double>(size)) return;
  throw Refusal{"size", fmt::format("{} bytes", size),
                fmt::format("exactly {:.0f} bytes, for the dim {}, hidden_dim {}, n_layers {}, "
                            "n_kv_heads {}, vocab_size {} and seq_len {} of the header",
                            expected, header.width, header.hidden, header.layers, header.key_heads,
                            header.vocabulary, header.positions)};
}

ModelConfig config_of(const Header& header, std::string_view name) {
  ModelConfig config;
  config.source = Source::llama2c;
  config.file = name;
  config.model_type = "llama";
  config.layers = header.layers;
  config.hidden_size = header.width;
  config.intermediate_size = header.hidden;
  config.vocabulary = header.vocabulary;
  config.beginning_token = 1;
  config.end_token = 2;
  config.tied_embeddings = header.tied;
  config.rotates_pairs = true;

  scaling::AttentionConfig& attention = config.attention;
  attention.model_type = config.model_type;
  attention.layers = header.layers;
  attention.heads = header.heads;
  attention.key_heads = header.key_heads;
  attention.head_dimension = header.head_dimension();
  attention.rotary_dimension = header.head_dimension();
  attention.value_dimension = header.head_dimension();
  attention.max_positions = header.positions;
  attention.rope.original_length = header.positions;
  return config;
}

// Hands out the tensors in the order of the file. The size has been checked: nothing runs out.
class TensorList {
 public:
  TensorList(const ByteSource& bytes, std::size_t first) : bytes_(bytes), next_(first) {}

  void add(std::string name, std::vector<std::size_t> shape) {
    Tensor tensor{std::move(name), ElementType::f32, std::move(shape), {}};
    std::size_t floats = 1;
    for (const std::size_t extent : tensor.shape) floats *= extent;
    tensor.take_bytes(bytes_, next_, 4 * floats);
    skip(floats);
    tensors_.push_back(std::move(tensor));
  }

  // One tensor of every layer.
  void add_layers(std::size_t layers, const char* part, const std::vector<std::size_t>& shape) {
    for (std::size_t layer = 0; layer < layers; ++layer) {
      add(fmt::format("model.layers.{}.{}.weight", layer, part), shape);
    }
  }

  void skip(std::size_t floats) { next_ += 4 * floats; }

  [[nodiscard]] std::vector<Tensor> take() { return std::move(tensors_); }

 private:
  const ByteSource& bytes_;
  std::size_t next_;
  std::vector<Tensor> tensors_;
};

std::vector<Tensor> tensors_of(const Header& header, const ByteSource& bytes) {
  const std::size_t width = header.width;
  const std::size_t key_width = header.key_width();
  const std::size_t hidden = header.hidden;
  const std::size_t layers = header.layers;
  TensorList list(bytes, kHeaderBytes);
  list.add("model.embed_tokens.weight", {header.vocabulary, width});
  list.add_layers(layers, "input_layernorm", {width});
  list.add_layers(layers, "self_attn.q_proj", {width, width});
  list.add_layers(layers, "self_attn.k_proj", {key_width, width});
  list.add_layers(layers, "self_attn.v_proj", {key_width, width});
  list.add_layers(layers, "self_attn.o_proj", {width, width});
  list.add_layers(layers, "post_attention_layernorm", {width});
  list.add_layers(layers, "mlp.gate_proj", {hidden, width});
  list.add_layers(layers, "mlp.down_proj", {width, hidden});
  list.add_layers(layers, "mlp.up_proj", {hidden, width});
  list.add("model.norm.weight", {width});
  list.skip(2 * header.positions * (header.head_dimension() / 2));
  if (!header.tied) list.add("lm_head.weight", {header.vocabulary, width});
  return list.take();
}

}  // namespace

bool is_llama2c(const ByteSource& bytes) {
  try {
    check_size(read_header(bytes), bytes.size());
    return true;
  } catch (const Refusal&) {
    return false;
  }
}

Llama2cModel parse_llama2c(const ByteSource& bytes, std::string_view name) {
  try {
    const Header header = read_header(bytes);
    check_size(header, bytes.size());
    return {config_of(header, name), tensors_of(header, bytes)};
  } catch (const Refusal& refusal) {
    throw to_error(Code::malformed_file, name, refusal);
  }
}

Llama2cModel open_llama2c(const std::filesystem::path& path) {
  return parse_llama2c(std::make_shared<const ForeignFile>(path, "a .bin file of llama2.c"),
                       path.string());
}

}  // namespace dewpoint::checkpoint
