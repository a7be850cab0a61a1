#include "dewpoint/transformer/model_folder.hpp"

#include <fmt/format.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "dewpoint/checkpoint/safetensors_writer.hpp"
#include "dewpoint/checkpoint/tensor.hpp"
#include "dewpoint/core/error.hpp"
#include "dewpoint/core/matrix.hpp"
#include "dewpoint/core/pending_file.hpp"

namespace dewpoint::transformer {
namespace {

using checkpoint::ElementType;

// Tensors with the bytes that they look at: a vector that moves leaves its bytes where they are.
class TensorList {
 public:
  void add(const std::string& name, const Matrix<float>& matrix) {
    bytes_.push_back(
        checkpoint::element_bytes(std::span(matrix.data(), matrix.size()), ElementType::f32));
    tensors_.push_back({name, ElementType::f32, {matrix.rows(), matrix.cols()}, bytes_.back()});
  }
  // Weights act on rows from the right here, on columns from the left in the file.
  void add_transposed(const std::string& name, const Matrix<float>& matrix) {
    Matrix<float> transposed(matrix.cols(), matrix.rows());
    for (std::size_t i = 0; i < matrix.rows(); ++i) {
      for (std::size_t k = 0; k < matrix.cols(); ++k) transposed(k, i) = matrix(i, k);
    }
    add(name, transposed);
  }
  [[nodiscard]] const std::vector<checkpoint::Tensor>& tensors() const { return tensors_; }

 private:
  std::vector<std::vector<std::byte>> bytes_;
  std::vector<checkpoint::Tensor> tensors_;
};

TensorList tensors_of(const Shape& shape, const Weights<float>& weights) {
  TensorList list;
  list.add("model.embed_tokens.weight", weights.embedding);
  for (std::size_t number = 0; number < shape.layers; ++number) {
    const LayerWeights<float>& layer = weights.layers[number];
    const std::string name = fmt::format("model.layers.{}.self_attn.", number);
    list.add_transposed(name + "q_proj.weight", layer.query);
    list.add_transposed(name + "k_proj.weight", layer.key);
    if (shape.value_matrix) list.add_transposed(name + "v_proj.weight", layer.value);
  }
  list.add_transposed("lm_head.weight", weights.unembedding);
  return list;
}

std::string config_text(const Shape& shape, std::size_t context) {
  nlohmann::ordered_json json;
  json["model_type"] = "dewpoint";
  json["vocab_size"] = shape.vocabulary;
  json["hidden_size"] = shape.width;
  json["num_hidden_layers"] = shape.layers;
  json["num_attention_heads"] = shape.heads;
  json["max_position_embeddings"] = context;
  json["residual"] = shape.residual;
  json["branch"] = shape.branch;
  json["value_matrix"] = shape.value_matrix;
  json["causal"] = shape.causal;
  json["pre_norm"] = shape.pre_norm;
  json["rms_norm_eps"] = kNormEpsilon;
  json["attention_multiplier"] = 1.0;  // scores are not divided by √d
  json["tie_word_embeddings"] = false;
  json["torch_dtype"] = "float32";
  return json.dump(2) + "\n";
}

void write_file(const std::filesystem::path& path, const std::string& content) {
  PendingFile pending(path, file_of_own_folder());
  std::ofstream file(pending.path(), std::ios::binary);
  file << content;
  file.close();
  if (!file) throw_unwritable(path, "not all bytes could be written");
  pending.commit();
}

}  // namespace

void write_model_folder(const OutputFile& output, const Shape& shape, const Weights<float>& weights,
                        std::size_t context,
                        const std::vector<std::pair<std::string, std::string>>& tokenizer_files) {
  DEWPOINT_EXPECTS(context >= 1 && weights.layers.size() == shape.layers);
  DEWPOINT_EXPECTS(shape.scaling.empty());
  DEWPOINT_EXPECTS(weights.embedding.rows() == shape.vocabulary);
  DEWPOINT_EXPECTS(weights.embedding.cols() == shape.width);
  make_own_folder(output, checkpoint::model_folder_kind());
  const std::filesystem::path& folder = output.path;
  // First what makes the folder ours.
  checkpoint::write_safetensors(folder / "model.safetensors", tensors_of(shape, weights).tensors(),
                                checkpoint::model_metadata());
  for (const auto& [name, content] : tokenizer_files) {
    DEWPOINT_EXPECTS(!std::filesystem::path(name).has_parent_path());
    write_file(folder / name, content);
  }
  write_file(folder / "config.json", config_text(shape, context));
}

}  // namespace dewpoint::transformer
