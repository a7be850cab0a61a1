#include "dewpoint/transformer/state_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

#include "dewpoint/checkpoint/config_reader.hpp"
#include "dewpoint/checkpoint/foreign_file.hpp"
#include "dewpoint/checkpoint/json_text.hpp"
#include "dewpoint/checkpoint/refusal.hpp"
#include "dewpoint/checkpoint/safetensors.hpp"
#include "dewpoint/checkpoint/safetensors_writer.hpp"
#include "dewpoint/core/error.hpp"

namespace dewpoint::transformer {
namespace {

using checkpoint::ConfigReader;
using checkpoint::excerpt;
using checkpoint::Refusal;
using checkpoint::shape_text;
using checkpoint::Tensor;
using checkpoint::to_error;
using Json = nlohmann::ordered_json;

constexpr const char* kFormat = "dewpoint-transformer";
constexpr const char* kScaling = "scaling";
constexpr const char* kAllowedFile = "a training state in a .safetensors file";
constexpr std::array kPrefixes{"", "adam.first.", "adam.second."};

// Beyond it a double no longer counts by ones.
constexpr std::uint64_t kMostSteps = std::uint64_t{1} << 53;

// Weights, first and second moments: in the order of kPrefixes.
template <class AnyState>
auto parts_of(AnyState& state) {
  return std::array{&state.weights, &state.first, &state.second};
}

// --- the shape -----------------------------------------------------------------------------------

// A law is there only where there is one.
Json to_json(const Shape& shape) {
  Json json{{"vocabulary", shape.vocabulary},
            {"width", shape.width},
            {"layers", shape.layers},
            {"heads", shape.heads},
            {"residual", shape.residual},
            {"branch", shape.branch},
            {"value_matrix", shape.value_matrix},
            {"causal", shape.causal},
            {"pre_norm", shape.pre_norm}};
  if (!shape.scaling.empty()) json[kScaling] = shape.scaling;
  return json;
}

// Every field of a shape and no other key.
void check_keys(const Json& json) {
  const Json known = to_json({});
  for (const auto& [key, value] : known.items()) {
    if (json.contains(key)) continue;
    throw Refusal{"metadata key 'shape'", fmt::format("no {}", key), known.dump()};
  }
  for (const auto& [key, value] : json.items()) {
    if (known.contains(key) || key == kScaling) continue;
    throw Refusal{"metadata key 'shape'", fmt::format("the key '{}'", excerpt(key)), known.dump()};
  }
}

Shape shape_of(const Json& json) {
  check_keys(json);
  const ConfigReader reader(json, "metadata key 'shape', ");
  // null is the same as absent to the reader.
  const auto required = [&reader](auto value, const char* name, const char* allowed) {
    if (!value) throw reader.refusal(name, "null", allowed);
    return *value;
  };
  const auto flag = [&](const char* name) {
    return required(reader.flag({name}), name, "true or false");
  };
  constexpr double largest = std::numeric_limits<double>::max();
  Shape shape;
  shape.vocabulary = reader.required_count({"vocabulary"}, checkpoint::kVocabulary);
  shape.width = reader.required_count({"width"}, checkpoint::kDimension);
  shape.layers = reader.required_count({"layers"}, checkpoint::kLayers);
  shape.heads = reader.required_count({"heads"}, checkpoint::kHeads);
  shape.residual = flag("residual");
  shape.branch = required(reader.number({"branch"}, {-largest, largest}), "branch", "a number");
  shape.value_matrix = flag("value_matrix");
  shape.causal = flag("causal");
  shape.pre_norm = flag("pre_norm");
  shape.scaling = reader.text({kScaling}).value_or("");
  return shape;
}

// --- the metadata --------------------------------------------------------------------------------

const std::string& text_of(const Metadata& metadata, const char* key, const char* allowed) {
  const auto found = metadata.find(key);
  if (found != metadata.end()) return found->second;
  throw Refusal{"metadata", fmt::format("no key '{}'", key), allowed};
}

void check_format(const Metadata& metadata) {
  const std::string& format = text_of(metadata, "format", kFormat);
  if (format == kFormat) return;
  throw Refusal{"metadata key 'format'", fmt::format("'{}'", excerpt(format)), kFormat};
}

Shape read_shape(const Metadata& metadata) {
  constexpr const char* allowed = "the shape of the model, a JSON object";
  const std::string& text = text_of(metadata, "shape", allowed);
  Json json;
  try {
    json = checkpoint::parse_json(text, {.depth = 2});
  } catch (Refusal& refusal) {
    refusal.field.insert(0, "metadata key 'shape', ");
    throw;
  }
  if (!json.is_object()) throw Refusal{"metadata key 'shape'", excerpt(text), allowed};
  const Shape shape = shape_of(json);
  try {
    check(shape);
  } catch (const Error& error) {
    throw Refusal{"metadata key 'shape'", error.what(), "a shape that can be trained"};
  }
  return shape;
}

std::uint64_t read_step(const Metadata& metadata) {
  const std::string allowed = fmt::format("a whole number, at most {}", kMostSteps);
  const std::string& text = text_of(metadata, "step", allowed.c_str());
  std::uint64_t step = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, failure] = std::from_chars(text.data(), end, step);
  if (failure == std::errc{} && stop == end && step <= kMostSteps) return step;
  throw Refusal{"metadata key 'step'", fmt::format("'{}'", excerpt(text)), allowed};
}

// --- the tensors ---------------------------------------------------------------------------------

// The tensors of a file by name. Each is asked for once; what is left then belongs to nobody.
class Shelf {
 public:
  explicit Shelf(const std::vector<Tensor>& tensors) {
    for (const Tensor& tensor : tensors) tensors_.emplace(tensor.name, &tensor);
  }

  const Tensor& take(const std::string& name, std::size_t rows, std::size_t cols) {
    const std::vector<std::size_t> extents{rows, cols};
    const std::string allowed = fmt::format("f32 of shape {}", shape_text(extents));
    const auto found = tensors_.find(name);
    if (found == tensors_.end()) throw Refusal{"'" + name + "'", "no such tensor", allowed};
    const Tensor& tensor = *found->second;
    if (tensor.type != checkpoint::ElementType::f32 || tensor.shape != extents) {
      throw Refusal{
          "'" + name + "'",
          fmt::format("{} of shape {}", name_of(tensor.type), excerpt(shape_text(tensor.shape))),
          allowed};
    }
    tensors_.erase(found);
    return tensor;
  }

  void require_empty() const {
    if (tensors_.empty()) return;
    throw Refusal{fmt::format("'{}'", excerpt(tensors_.begin()->first)),
                  "a tensor that the shape does not have", "no such tensor"};
  }

 private:
  std::map<std::string, const Tensor*> tensors_;
};

// Rows and columns in the order of matrices_of(), without the matrices.
std::vector<std::array<std::size_t, 2>> extents_of(const Shape& shape) {
  std::vector<std::array<std::size_t, 2>> extents{{shape.vocabulary, shape.width},
                                                  {shape.width, shape.vocabulary}};
  extents.resize(matrix_names(shape).size(), {shape.width, shape.width});
  return extents;
}

// The tensors of the weights and of both moments, in the order of matrices_of(); checked before
// anything of the size that the shape promises is asked for.
std::vector<const Tensor*> tensors_of(const Shape& shape, const std::vector<Tensor>& all) {
  const std::vector<std::string> names = matrix_names(shape);
  const auto extents = extents_of(shape);
  Shelf shelf(all);
  std::vector<const Tensor*> tensors;
  for (const std::string prefix : kPrefixes) {
    for (std::size_t n = 0; n < names.size(); ++n) {
      tensors.push_back(&shelf.take(prefix + names[n], extents[n][0], extents[n][1]));
    }
  }
  shelf.require_empty();
  return tensors;
}

void copy_checked(const Tensor& tensor, bool second, Matrix<float>& matrix) {
  copy_elements(tensor, 0, std::span(matrix.data(), matrix.size()));
  const auto refused = [second](float value) {
    return !std::isfinite(value) || (second && value < 0.0F);
  };
  const float* const end = matrix.data() + matrix.size();
  const float* const found = std::find_if(matrix.data(), matrix.data() + matrix.size(), refused);
  if (found == end) return;
  const auto place = static_cast<std::size_t>(found - matrix.data());
  throw Refusal{
      fmt::format("'{}'[{}, {}]", tensor.name, place / matrix.cols(), place % matrix.cols()),
      fmt::format("{}", *found), second ? "finite numbers, none negative" : "finite numbers"};
}

StateFile file_of(checkpoint::SafetensorsContent content) {
  check_format(content.metadata);
  StateFile file;
  file.shape = read_shape(content.metadata);
  const std::uint64_t step = read_step(content.metadata);
  const std::vector<const Tensor*> tensors = tensors_of(file.shape, content.tensors);
  file.state = AdamState<float>(file.shape, Weights<float>(file.shape));
  file.state.done = step;
  std::size_t next = 0;
  for (Weights<float>* part : parts_of(file.state)) {
    for (Matrix<float>* matrix : matrices_of(*part)) {
      copy_checked(*tensors[next++], part == &file.state.second, *matrix);
    }
  }
  file.metadata = std::move(content.metadata);
  return file;
}

// --- writing -------------------------------------------------------------------------------------

std::vector<Tensor> to_tensors(const Shape& shape, const AdamState<float>& state) {
  const std::vector<std::string> names = matrix_names(shape);
  std::vector<Tensor> tensors;
  const auto parts = parts_of(state);
  for (std::size_t p = 0; p < parts.size(); ++p) {
    const auto matrices = matrices_of(*parts[p]);
    DEWPOINT_EXPECTS(matrices.size() == names.size());
    for (std::size_t n = 0; n < names.size(); ++n) {
      const Matrix<float>& matrix = *matrices[n];
      tensors.push_back({.name = kPrefixes[p] + names[n],
                         .type = checkpoint::ElementType::f32,
                         .shape = {matrix.rows(), matrix.cols()},
                         .bytes = std::as_bytes(std::span(matrix.data(), matrix.size()))});
    }
  }
  return tensors;
}

Metadata full_metadata(const Shape& shape, const AdamState<float>& state,
                       const Metadata& metadata) {
  Metadata all = metadata;
  all["format"] = kFormat;
  all["shape"] = to_json(shape).dump();
  all["step"] = fmt::format("{}", state.done);
  return all;
}

}  // namespace

FileKind state_kind() {
  return checkpoint::safetensors_kind("a checkpoint of dewpoint train", "format", kFormat);
}

void write_state(const OutputFile& file, const Shape& shape, const AdamState<float>& state,
                 const Metadata& metadata) {
  checkpoint::write_safetensors(file, to_tensors(shape, state),
                                full_metadata(shape, state, metadata), state_kind());
}

std::vector<std::byte> state_bytes(const Shape& shape, const AdamState<float>& state,
                                   const Metadata& metadata) {
  return checkpoint::safetensors_bytes(to_tensors(shape, state),
                                       full_metadata(shape, state, metadata));
}

namespace {

StateFile read_source(const checkpoint::ByteSource& bytes, const std::string& name) {
  checkpoint::SafetensorsContent content = checkpoint::parse_safetensors(bytes, name);
  try {
    return file_of(std::move(content));
  } catch (const Refusal& refusal) {
    throw to_error(Code::malformed_file, name, refusal);
  }
}

}  // namespace

StateFile read_state(std::span<const std::byte> bytes, const std::string& name) {
  return read_source(bytes, name);
}

StateFile read_state(const std::filesystem::path& file) {
  return read_source(std::make_shared<const checkpoint::ForeignFile>(file, kAllowedFile),
                     file.string());
}

void require_same_shape(const std::string& name, const Shape& found, const Shape& wanted) {
  Json here = to_json(found), there = to_json(wanted);
  here[kScaling] = found.scaling.empty() ? "constant" : found.scaling;
  there[kScaling] = wanted.scaling.empty() ? "constant" : wanted.scaling;
  for (const auto& [key, value] : there.items()) {
    if (here.at(key) == value) continue;
    throw to_error(Code::bad_value, name,
                   {"the model's " + key, here.at(key).dump(),
                    fmt::format("{}, as the run has it", value.dump())});
  }
}

std::string adam_text(const training::AdamOptions& options) {
  return Json{{"rate", options.rate},
              {"first_decay", options.first_decay},
              {"second_decay", options.second_decay},
              {"epsilon", options.epsilon}}
      .dump();
}

}  // namespace dewpoint::transformer
