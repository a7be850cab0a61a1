#include "dewpoint/checkpoint/head_dump.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <string_view>
#include <utility>

#include "dewpoint/checkpoint/dump_metadata.hpp"
#include "dewpoint/checkpoint/dump_shapes.hpp"
#include "dewpoint/checkpoint/refusal.hpp"
#include "dewpoint/core/error.hpp"

namespace dewpoint::checkpoint {
namespace {

namespace fs = std::filesystem;

// --- numbers -------------------------------------------------------------------------------------

void check_finite(MatrixView<const float> matrix, const DumpPiece& piece, std::size_t layer,
                  std::size_t head) {
  for (std::size_t i = 0; i < matrix.rows(); ++i) {
    const auto row = matrix.row(i);
    const auto bad =
        std::find_if(row.begin(), row.end(), [](float x) { return !std::isfinite(x); });
    if (bad == row.end()) continue;
    throw refused_piece(piece,
                        fmt::format("{} in layer {}, head {}, row {}, column {} (counted from 0)",
                                    *bad, layer, head, i, bad - row.begin()),
                        "numbers that are finite in float32");
  }
}

// Tokens of one head; a whole head at once where its rows follow each other.
Matrix<float> read_head(const DumpPiece& piece, const DumpAxes& axes, std::size_t batch,
                        std::size_t head) {
  const std::size_t rows = axes.extent('N');
  const std::size_t cols = axes.extent('D');
  const std::size_t first = batch * axes.step('B') + head * axes.step('H');
  Matrix<float> matrix(rows, cols);
  if (axes.step('N') == cols) {
    copy_elements(piece.tensor, first, {matrix.data(), matrix.size()});
    return matrix;
  }
  for (std::size_t i = 0; i < rows; ++i) {
    copy_elements(piece.tensor, first + i * axes.step('N'), matrix.row(i));
  }
  return matrix;
}

std::vector<Matrix<float>> read_heads(const DumpPiece& piece, const DumpFacts& facts,
                                      std::size_t layer) {
  const DumpAxes axes(piece, facts.layout);
  std::vector<Matrix<float>> heads;
  for (std::size_t head = 0; head < axes.extent('H'); ++head) {
    heads.push_back(read_head(piece, axes, facts.batch, head));
    check_finite(heads.back(), piece, layer, head);
  }
  return heads;
}

std::vector<double> read_sinks(const DumpPiece& piece, std::size_t layer) {
  std::vector<double> sinks(piece.tensor.elements());
  copy_elements(piece.tensor, 0, std::span<double>(sinks));
  for (std::size_t head = 0; head < sinks.size(); ++head) {
    if (std::isfinite(sinks[head])) continue;
    throw refused_piece(piece, fmt::format("{} in layer {}, head {}", sinks[head], layer, head),
                        "finite numbers");
  }
  return sinks;
}

// --- facts ---------------------------------------------------------------------------------------

Error bad_option(const char* option, const std::string& found, const std::string& allowed) {
  return {Code::bad_value, fmt::format("{}: found {}, allowed: {}", option, found, allowed)};
}

void check_options(const DumpOptions& options) {
  if (options.layout && !is_dump_layout(*options.layout)) {
    throw bad_option("layout", fmt::format("'{}'", excerpt(*options.layout)), kDumpLayouts);
  }
  if (options.rope && !is_dump_rope(*options.rope)) {
    throw bad_option("rope", fmt::format("'{}'", excerpt(*options.rope)), kDumpRopes);
  }
  if (options.scale && (!std::isfinite(*options.scale) || *options.scale <= 0.0)) {
    throw bad_option("scale", fmt::format("{}", *options.scale), "a positive number");
  }
  if (options.softcap && (!std::isfinite(*options.softcap) || *options.softcap < 0.0)) {
    throw bad_option("softcap", fmt::format("{}", *options.softcap), "a positive number, 0: none");
  }
}

// The layout of a tensor of so many axes where nobody says.
std::string usual_layout(std::size_t rank, bool transformer_lens) {
  if (rank == 2) return "ND";
  const bool batch = rank > 3;
  return fmt::format("{}{}", batch ? "B" : "", transformer_lens ? "NHD" : "HND");
}

void choose_batch(const DumpPiece& queries, const DumpOptions& options, DumpFacts& facts) {
  facts.batches = DumpAxes(queries, facts.layout).extent('B');
  facts.batch = options.batch.value_or(0);
  if (facts.batch >= facts.batches) {
    throw bad_option("batch", fmt::format("{}", facts.batch),
                     fmt::format("0 to {}", facts.batches - 1));
  }
  if (facts.batches > 1 && !options.batch) {
    throw refused_piece(queries, fmt::format("a batch of {} texts", facts.batches),
                        "one text, or say which (option batch)");
  }
}

DumpFacts facts_of(const DumpStatement& statement, const DumpTensors& tensors,
                   const DumpOptions& options) {
  const DumpPiece& queries = tensors.layers.front().queries;
  DumpFacts facts;
  facts.warnings = statement.warnings;
  const auto layout = options.layout ? options.layout : statement.layout;
  facts.layout =
      layout.value_or(usual_layout(queries.tensor.shape.size(), tensors.transformer_lens));
  const auto rope = options.rope ? options.rope : statement.rope;
  facts.rope = rope.value_or(tensors.before_rotation ? "pre" : "post");
  facts.m_applied = statement.m_applied.value_or(1.0);
  facts.causal = options.causal.value_or(statement.causal.value_or(true));
  facts.window = options.window.value_or(statement.window.value_or(0));
  facts.softcap = options.softcap.value_or(statement.softcap.value_or(0.0));
  facts.model = statement.model;
  facts.text_sha256 = statement.text_sha256;
  if (facts.window != 0 && !facts.causal) {
    throw refused_piece(queries,
                        fmt::format("a window of {} keys without causal order", facts.window),
                        "a window over the keys before a query");
  }
  choose_batch(queries, options, facts);
  return facts;
}

// 1/√d needs one d.
void assume_scale(const std::vector<LayerTensors>& layers, const std::vector<DumpShape>& shapes,
                  DumpFacts& facts) {
  const std::size_t dimension = shapes.front().dimension;
  for (std::size_t k = 0; k < shapes.size(); ++k) {
    if (shapes[k].dimension == dimension) continue;
    throw refused_piece(layers[k].queries, fmt::format("{} coordinates", shapes[k].dimension),
                        fmt::format("{} as in layer {}, or metadata with the scale", dimension,
                                    shapes.front().layer));
  }
  facts.scale = 1.0 / std::sqrt(static_cast<double>(dimension));
  facts.scale_assumed = true;
}

void add_warnings(const DumpShape& shape, bool layout_assumed, DumpFacts& facts) {
  if (facts.rope == "pre") {
    facts.warnings.push_back(
        "before-rotation: queries and keys are from before the rotation, so these scores are not "
        "what a model with rotary positions computes; say rope=none if the model does not rotate");
  }
  if (layout_assumed && shape.heads > shape.queries) {
    facts.warnings.push_back(fmt::format(
        "layout-assumed: layout {} was assumed, which makes {} heads of {} tokens; say which it is "
        "if that is the wrong way round",
        facts.layout, shape.heads, shape.queries));
  }
}

}  // namespace

HeadDump::HeadDump(DumpPieces pieces, const std::string& name, const DumpOptions& options)
    : archives_(std::move(pieces.archives)) {
  check_options(options);
  DumpTensors tensors = tensors_of_layers(pieces.pieces, name);
  const DumpStatement statement = read_statement(pieces.metadata, name);
  facts_ = facts_of(statement, tensors, options);
  tensors_ = std::move(tensors.layers);
  for (LayerTensors& layer : tensors_) {
    shapes_.push_back(checked_shape(layer, facts_, statement.positions, statement.bf16_as_u16));
    numbers_.push_back(layer.number);
  }
  const std::optional<double> scale = options.scale ? options.scale : statement.scale;
  if (scale) {
    facts_.scale = *scale;
  } else {
    assume_scale(tensors_, shapes_, facts_);
  }
  add_warnings(shapes_.front(), !options.layout && !statement.layout, facts_);
}

HeadDump HeadDump::open(const fs::path& path, const DumpOptions& options) {
  std::error_code ignored;
  const bool folder = fs::is_directory(path, ignored);
  return from_pieces(folder ? pieces_of_folder(path) : pieces_of(TensorArchive::open(path)),
                     path.string(), options);
}

HeadDump HeadDump::open_pair(const fs::path& queries, const fs::path& keys,
                             const DumpOptions& options) {
  return from_pieces(pieces_of_pair(queries, keys), queries.string(), options);
}

HeadDump HeadDump::from_pieces(DumpPieces pieces, const std::string& name,
                               const DumpOptions& options) {
  return {std::move(pieces), name, options};
}

DumpedLayer HeadDump::layer(std::size_t number, Values values) const {
  const auto place = std::find(numbers_.begin(), numbers_.end(), number);
  DEWPOINT_EXPECTS(place != numbers_.end());
  const auto index = static_cast<std::size_t>(place - numbers_.begin());
  const LayerTensors& tensors = tensors_[index];

  DumpedLayer layer;
  layer.number = number;
  layer.first_position = shapes_[index].first_position;
  layer.queries = read_heads(tensors.queries, facts_, number);
  layer.keys = read_heads(tensors.keys, facts_, number);
  if (tensors.values && values == Values::read) {
    layer.values = read_heads(*tensors.values, facts_, number);
  }
  if (tensors.sinks) layer.sinks = read_sinks(*tensors.sinks, number);
  return layer;
}

}  // namespace dewpoint::checkpoint
