#include "cli/scale_heads.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <vector>

#include "dewpoint/core/error.hpp"
#include "dewpoint/store/study.hpp"

namespace dewpoint::cli {
namespace {

std::string parameter_of(const store::StudyRecord& study, const char* name) {
  for (const auto& [known, value] : study.parameters)
    if (known == name) return value;
  return "";
}

template <class Number>
std::optional<Number> number_of(const std::string& text) {
  Number number{};
  const auto [stop, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (problem != std::errc{} || stop != text.data() + text.size()) return std::nullopt;
  return number;
}

const Frame& frame_of(const store::StudyRecord& study, const std::string& file) {
  for (const Frame& frame : study.frames)
    if (frame.name() == "heads") return frame;
  throw Error(Code::bad_value,
              fmt::format("{}: holds no heads but '{}'; a study of dewpoint heads is needed", file,
                          study.experiment));
}

/// The last number and one more: they count from 0.
std::optional<std::size_t> count_along(const Frame& heads, const char* dimension) {
  const std::vector<double>& numbers = heads.dimension(dimension).coordinates;
  if (numbers.empty()) return std::nullopt;
  return static_cast<std::size_t>(*std::max_element(numbers.begin(), numbers.end())) + 1;
}

void compare(std::vector<std::string>& differences, const char* name,
             const std::optional<std::size_t>& one, const std::optional<std::size_t>& other) {
  if (one && other && *one != *other)
    differences.push_back(fmt::format("{} {} and {}", name, *one, *other));
}

}  // namespace

HeadsStudy read_heads_study(const std::string& file) {
  const store::StudyRecord study = store::read_study(file);
  HeadsStudy read;
  read.heads = frame_of(study, file);
  const std::string model_type = parameter_of(study, "model_type");
  const bool dump = model_type.empty();  // a checkpoint always has one
  read.model = {file,
                model_type,
                count_along(read.heads, "layer"),
                count_along(read.heads, "head"),
                number_of<std::size_t>(parameter_of(study, "head_dim")),
                !dump};
  read.rope = dump ? "" : parameter_of(study, "rope");
  read.m_applied = number_of<double>(parameter_of(study, "m_applied")).value_or(1.0);
  return read;
}

ModelFacts facts_of(const checkpoint::ModelConfig& config) {
  const scaling::AttentionConfig& attention = config.attention;
  const bool gguf = config.source == checkpoint::Source::gguf;  // has names of its own
  return {config.file,     gguf ? "" : config.model_type, attention.layers,
          attention.heads, attention.head_dimension,      true};
}

void require_same_model(const ModelFacts& one, const ModelFacts& other) {
  std::vector<std::string> differences;
  if (!one.model_type.empty() && !other.model_type.empty() && one.model_type != other.model_type)
    differences.push_back(fmt::format("model_type {} and {}", one.model_type, other.model_type));
  const bool whole = one.all_layers && other.all_layers;
  const bool fits = one.all_layers ? other.layers <= one.layers : one.layers <= other.layers;
  if (whole || (one.all_layers != other.all_layers && !fits))
    compare(differences, "layers", one.layers, other.layers);
  compare(differences, "heads", one.heads, other.heads);
  compare(differences, "head_dim", one.head_dimension, other.head_dimension);
  if (differences.empty()) return;
  throw Error(Code::bad_value, fmt::format("{} and {} are not of one model: {}", one.name,
                                           other.name, fmt::join(differences, ", ")));
}

}  // namespace dewpoint::cli
