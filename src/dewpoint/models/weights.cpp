#include "dewpoint/models/weights.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "dewpoint/core/blas.hpp"

namespace dewpoint::models {
namespace {

constexpr const char* kSaidAbsent = "none, as the model's configuration says";

Linear read_linear(TensorReader& reader, const std::string& name, std::size_t out, std::size_t in,
                   bool bias, MatrixLayout layout = MatrixLayout::out_in) {
  Linear linear;
  linear.weight = reader.matrix(name + ".weight", out, in, layout);
  if (bias) {
    linear.bias = reader.vector(name + ".bias", out);
  } else {
    reader.refuse_if_present(name + ".bias", kSaidAbsent);
  }
  return linear;
}

Norm read_norm(TensorReader& reader, const Architecture& model, const std::string& name,
               std::size_t size) {
  Norm norm{model.norm, reader.vector(name + ".weight", size), {}, model.norm_epsilon};
  if (model.norm == NormKind::layer) norm.shift = reader.vector(name + ".bias", size);
  return norm;
}

// Before a block of the model, or before its logits: learned, bare, or none.
std::optional<Norm> read_block_norm(TensorReader& reader, const Architecture& model,
                                    const std::string& name) {
  if (model.parts.norms && model.parts.norm_weights) {
    return read_norm(reader, model, name, model.hidden);
  }
  reader.refuse_if_present(name + ".weight", kSaidAbsent);
  if (!model.parts.norms) return {};
  return Norm{model.norm, {}, {}, model.norm_epsilon};
}

std::optional<Linear> read_linear_if(bool there, TensorReader& reader, const std::string& name,
                                     std::size_t out, std::size_t in, bool bias) {
  if (there) return read_linear(reader, name, out, in, bias);
  reader.refuse_if_present(name + ".weight", kSaidAbsent);
  return {};
}

std::optional<FeedForward> read_llama_feed_forward(TensorReader& reader, const Architecture& model,
                                                   const std::string& name) {
  if (!model.parts.feed_forward) {
    reader.refuse_if_present(name + "mlp.up_proj.weight", kSaidAbsent);
    return {};
  }
  const auto linear = [&](const char* part, std::size_t out, std::size_t in) {
    return read_linear(reader, name + part, out, in, model.feed_forward_bias);
  };
  FeedForward made;
  made.norm = read_block_norm(reader, model, name + "post_attention_layernorm");
  made.gate = linear("mlp.gate_proj", model.intermediate, model.hidden);
  made.up = linear("mlp.up_proj", model.intermediate, model.hidden);
  made.down = linear("mlp.down_proj", model.hidden, model.intermediate);
  return made;
}

LayerWeights read_llama_layer(TensorReader& reader, const Architecture& model,
                              const std::string& name) {
  const std::size_t hidden = model.hidden;
  const std::size_t d = model.head_dimension;
  const std::size_t key_size = model.key_heads * d;
  LayerWeights layer;
  layer.attention_norm = read_block_norm(reader, model, name + "input_layernorm");
  layer.query =
      read_linear(reader, name + "self_attn.q_proj", model.heads * d, hidden, model.query_bias);
  layer.key = read_linear(reader, name + "self_attn.k_proj", key_size, hidden, model.query_bias);
  layer.value = read_linear_if(model.parts.value_matrix, reader, name + "self_attn.v_proj",
                               key_size, hidden, model.query_bias);
  if (model.query_key_norm) {
    layer.query_norm = read_norm(reader, model, name + "self_attn.q_norm", d);
    layer.key_norm = read_norm(reader, model, name + "self_attn.k_norm", d);
  }
  layer.output = read_linear_if(model.parts.output_matrix, reader, name + "self_attn.o_proj",
                                hidden, model.heads * d, model.output_bias);
  layer.feed_forward = read_llama_feed_forward(reader, model, name);
  return layer;
}

// GPT-2 keeps queries, keys and values in one product.
Linear outputs_of(const Linear& fused, Range outputs) {
  Linear part;
  if (fused.weight.rows() == 0) return part;  // checked, not converted
  part.weight = Matrix<float>(outputs.size(), fused.weight.cols());
  const auto rows = fused.weight.view().row_range(outputs);
  std::copy_n(rows.data(), part.weight.size(), part.weight.data());
  part.bias.assign(fused.bias.begin() + static_cast<std::ptrdiff_t>(outputs.begin),
                   fused.bias.begin() + static_cast<std::ptrdiff_t>(outputs.end));
  return part;
}

LayerWeights read_gpt2_layer(TensorReader& reader, const Architecture& model,
                             const std::string& name) {
  const std::size_t hidden = model.hidden;
  const auto linear = [&](const char* part, std::size_t out, std::size_t in) {
    return read_linear(reader, name + part, out, in, true, MatrixLayout::in_out);
  };
  LayerWeights layer;
  layer.attention_norm = read_block_norm(reader, model, name + "ln_1");
  const Linear fused = linear("attn.c_attn", 3 * hidden, hidden);
  layer.query = outputs_of(fused, {0, hidden});
  layer.key = outputs_of(fused, {hidden, 2 * hidden});
  layer.value = outputs_of(fused, {2 * hidden, 3 * hidden});
  layer.output = linear("attn.c_proj", hidden, hidden);
  FeedForward feed_forward;
  feed_forward.norm = read_block_norm(reader, model, name + "ln_2");
  feed_forward.up = linear("mlp.c_fc", model.intermediate, hidden);
  feed_forward.down = linear("mlp.c_proj", hidden, model.intermediate);
  layer.feed_forward = std::move(feed_forward);
  return layer;
}

LayerWeights read_layer(TensorReader& reader, const Architecture& model, const std::string& prefix,
                        std::size_t number) {
  return model.family == Family::gpt2
             ? read_gpt2_layer(reader, model, fmt::format("{}h.{}.", prefix, number))
             : read_llama_layer(reader, model, fmt::format("{}layers.{}.", prefix, number));
}

std::optional<Norm> read_last_norm(TensorReader& reader, const Architecture& model,
                                   const std::string& prefix) {
  return read_block_norm(reader, model, prefix + (model.family == Family::gpt2 ? "ln_f" : "norm"));
}

std::string embedding_name(Family family) {
  return family == Family::gpt2 ? "wte.weight" : "embed_tokens.weight";
}

// A base model is saved without the name of the attribute that holds it in a model with a head.
std::string prefix_of(const NamedTensors& tensors, Family family) {
  if (tensors.find(embedding_name(family)) != nullptr) return "";
  return family == Family::gpt2 ? "transformer." : "model.";
}

}  // namespace

void apply(const Linear& linear, Range outputs, MatrixView<const float> in, MatrixView<float> out) {
  multiply_abt(in, linear.weight.view().row_range(outputs), out);
  if (linear.bias.empty()) return;
  for (std::size_t i = 0; i < out.rows(); ++i) {
    const auto row = out.row(i);
    for (std::size_t k = 0; k < row.size(); ++k) row[k] += linear.bias[outputs.begin + k];
  }
}

void apply(const Linear& linear, MatrixView<const float> in, MatrixView<float> out) {
  apply(linear, {0, linear.weight.rows()}, in, out);
}

Weights::Weights(NamedTensors tensors, const Architecture& architecture)
    : architecture_(architecture),
      tensors_(std::move(tensors)),
      prefix_(prefix_of(tensors_, architecture.family)) {
  TensorReader reader(tensors_, TensorReader::Task::check);
  const std::size_t hidden = architecture.hidden;
  reader.require(prefix_ + embedding_name(architecture.family), {architecture.vocabulary, hidden});
  if (architecture.learned_positions > 0) {
    reader.require(prefix_ + "wpe.weight", {architecture.learned_positions, hidden});
  }
  for (std::size_t number = 0; number < architecture.layers; ++number) {
    read_layer(reader, architecture, prefix_, number);
  }
  read_last_norm(reader, architecture, prefix_);
  if (!architecture.tied_embeddings) {
    reader.require("lm_head.weight", {architecture.vocabulary, hidden});
  }
  used_ = reader.used();
}

LayerWeights Weights::layer(std::size_t number, const RunContext& context) const {
  DEWPOINT_EXPECTS(number < architecture_.layers);
  TensorReader reader(tensors_, TensorReader::Task::convert, context);
  return read_layer(reader, architecture_, prefix_, number);
}

std::optional<Norm> Weights::last_norm() const {
  TensorReader reader(tensors_, TensorReader::Task::convert);
  return read_last_norm(reader, architecture_, prefix_);
}

void Weights::embed(std::span<const int> tokens, MatrixView<float> out) const {
  const std::size_t hidden = architecture_.hidden;
  DEWPOINT_EXPECTS(out.rows() == tokens.size() && out.cols() == hidden);
  const auto* words = tensors_.find(prefix_ + embedding_name(architecture_.family));
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    checkpoint::copy_elements(*words, static_cast<std::size_t>(tokens[i]) * hidden, out.row(i));
  }
  if (architecture_.learned_positions == 0) return;
  const auto* places = tensors_.find(prefix_ + "wpe.weight");
  std::vector<float> place(hidden);
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    checkpoint::copy_elements(*places, i * hidden, std::span<float>(place));
    for (std::size_t k = 0; k < hidden; ++k) out(i, k) += place[k];
  }
}

Matrix<float> Weights::head(Range vocabulary) const {
  const auto* tensor =
      tensors_.find(architecture_.tied_embeddings ? prefix_ + embedding_name(architecture_.family)
                                                  : "lm_head.weight");
  Matrix<float> rows(vocabulary.size(), architecture_.hidden);
  checkpoint::copy_elements(*tensor, vocabulary.begin * architecture_.hidden,
                            std::span(rows.data(), rows.size()));
  return rows;
}

}  // namespace dewpoint::models
