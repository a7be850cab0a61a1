#include "dewpoint/models/saving.hpp"

#include <fmt/format.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "dewpoint/checkpoint/json_text.hpp"
#include "dewpoint/checkpoint/safetensors_writer.hpp"
#include "dewpoint/core/pending_file.hpp"

namespace dewpoint::models {
namespace {

using checkpoint::ElementType;
using checkpoint::Tensor;
using Json = nlohmann::ordered_json;

// What transformers 4 and 5 both read.
Json llama_config(const checkpoint::ModelConfig& config) {
  Json json;
  json["architectures"] = {"LlamaForCausalLM"};
  json["model_type"] = "llama";
  json["vocab_size"] = config.vocabulary;
  json["hidden_size"] = config.hidden_size;
  json["intermediate_size"] = config.intermediate_size;
  json["num_hidden_layers"] = config.layers;
  json["num_attention_heads"] = config.attention.heads;
  json["num_key_value_heads"] = config.attention.key_heads;
  json["head_dim"] = config.attention.head_dimension;
  json["max_position_embeddings"] = config.attention.max_positions;
  json["rope_theta"] = config.attention.rope.base;
  json["rms_norm_eps"] = config.norm_epsilon;
  json["hidden_act"] = config.activation;
  json["attention_bias"] = config.attention_bias;
  json["mlp_bias"] = config.mlp_bias;
  json["tie_word_embeddings"] = config.tied_embeddings;
  if (config.beginning_token) json["bos_token_id"] = *config.beginning_token;
  if (config.end_token) json["eos_token_id"] = *config.end_token;
  json["torch_dtype"] = "float32";
  return json;
}

Json config_of(const Model& model) {
  if (model.config.source == checkpoint::Source::llama2c) return llama_config(model.config);
  Json json = checkpoint::read_json(model.path / "config.json");
  for (const char* key : {"dtype", "torch_dtype"}) {
    if (json.contains(key)) json[key] = "float32";
  }
  return json;
}

bool rotates(const Tensor& tensor) {
  return tensor.name.ends_with("q_proj.weight") || tensor.name.ends_with("k_proj.weight");
}

// Rows (2k, 2k + 1) of each head go to (k, k + d/2).
std::vector<float> rows_for_halves(const std::vector<float>& rows, std::size_t d,
                                   std::size_t width) {
  std::vector<float> moved(rows.size());
  for (std::size_t row = 0; row < rows.size() / width; ++row) {
    const std::size_t place = row % d / 2 + (row % 2) * (d / 2);
    const std::size_t target = row / d * d + place;
    std::copy_n(rows.data() + row * width, width, moved.data() + target * width);
  }
  return moved;
}

// A tensor as it is written: float32, in the order of rows that Hugging Face rotates. Bytes that
// are so already stay in their file.
class SavedTensor {
 public:
  SavedTensor(const Tensor& tensor, const Architecture& model) : tensor_(tensor) {
    const bool move = model.planes == RotationPlanes::neighbours && rotates(tensor);
    if (tensor.type == ElementType::f32 && !move) return;
    std::vector<float> values(tensor.elements());
    checkpoint::copy_elements(tensor, 0, std::span<float>(values));
    if (move) values = rows_for_halves(values, model.head_dimension, model.hidden);
    bytes_ = checkpoint::element_bytes(values, ElementType::f32);
    tensor_.type = ElementType::f32;
    tensor_.take_bytes(bytes_, 0, bytes_.size());
  }

  // Moving a vector leaves its bytes where they are, so the view stays good; copying does not.
  SavedTensor(const SavedTensor&) = delete;
  SavedTensor& operator=(const SavedTensor&) = delete;
  SavedTensor(SavedTensor&&) noexcept = default;
  SavedTensor& operator=(SavedTensor&&) noexcept = default;
  ~SavedTensor() = default;

  [[nodiscard]] const Tensor& tensor() const { return tensor_; }

 private:
  Tensor tensor_;
  std::vector<std::byte> bytes_;
};

void write_text(const std::filesystem::path& path, const std::string& text) {
  PendingFile pending(path, file_of_own_folder());
  std::ofstream file(pending.path(), std::ios::binary);
  file << text;
  file.close();
  if (!file) throw_unwritable(path, "not all bytes could be written");
  pending.commit();
}

}  // namespace

void save_model(const Model& model, const OutputFile& folder) {
  const std::string config = config_of(model).dump(2) + "\n";
  std::vector<SavedTensor> saved;
  for (const Tensor& tensor : model.weights.used()) saved.emplace_back(tensor, model.architecture);
  std::vector<Tensor> tensors;
  for (const SavedTensor& one : saved) tensors.push_back(one.tensor());

  make_own_folder(folder, checkpoint::model_folder_kind());
  checkpoint::write_safetensors(folder.path / "model.safetensors", tensors,
                                checkpoint::model_metadata());
  write_text(folder.path / "config.json", config);
}

}  // namespace dewpoint::models
