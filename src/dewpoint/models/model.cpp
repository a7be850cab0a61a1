#include "dewpoint/models/model.hpp"

#include <fmt/format.h>

#include "dewpoint/checkpoint/llama2c.hpp"
#include "dewpoint/checkpoint/refusal.hpp"
#include "dewpoint/checkpoint/tensor_archive.hpp"

namespace dewpoint::models {

Model open_model(const std::filesystem::path& path) {
  if (std::filesystem::is_directory(path)) {
    const auto config = checkpoint::read_model_config(path);
    const Architecture architecture = architecture_of(config);
    NamedTensors tensors(checkpoint::TensorArchive::open(path));
    return {path, config, architecture, Weights(std::move(tensors), architecture)};
  }
  (void)checkpoint::open_regular_file(path, "a folder with config.json, or a llama2.c .bin");
  const auto file = checkpoint::open_llama2c(path);
  const Architecture architecture = architecture_of(file.config);
  return {path, file.config, architecture, Weights(NamedTensors(file), architecture)};
}

void check_tokens(const Model& model, std::span<const int> tokens) {
  const std::string& file = model.config.file;
  if (tokens.empty()) {
    throw checkpoint::to_error(Code::bad_value, file, {"tokens", "none", "at least one"});
  }
  const std::size_t positions = model.architecture.learned_positions;
  if (positions > 0 && tokens.size() > positions) {
    throw checkpoint::to_error(
        Code::bad_value, file,
        {"tokens", fmt::format("{} of them", tokens.size()),
         fmt::format("at most {}, the positions that the model has learned", positions)});
  }
  const std::size_t vocabulary = model.architecture.vocabulary;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i] >= 0 && static_cast<std::size_t>(tokens[i]) < vocabulary) continue;
    throw checkpoint::to_error(Code::bad_value, file,
                               {fmt::format("token {}", i), fmt::format("id {}", tokens[i]),
                                fmt::format("0 to {}", vocabulary - 1)});
  }
}

}  // namespace dewpoint::models
