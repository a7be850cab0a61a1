#include "dewpoint/checkpoint/dump_shapes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "dewpoint/checkpoint/refusal.hpp"

namespace dewpoint::checkpoint {
namespace {

std::string type_text(const Tensor& tensor) {
  return tensor.foreign_type.empty() ? name_of(tensor.type) : excerpt(tensor.foreign_type);
}

void check_type(DumpPiece& piece, bool bf16_as_u16) {
  ElementType& type = piece.tensor.type;
  if (bf16_as_u16 && (type == ElementType::u16 || piece.tensor.foreign_type == "V2")) {
    type = ElementType::bf16;
  }
  if (type == ElementType::f16 || type == ElementType::bf16 || type == ElementType::f32 ||
      type == ElementType::f64) {
    return;
  }
  throw refused_piece(piece, fmt::format("type {}", type_text(piece.tensor)),
                      "f16, bf16, f32 or f64; u16 or V2 where metadata say dtype=bf16");
}

void check_types(LayerTensors& layer, bool bf16_as_u16) {
  check_type(layer.queries, bf16_as_u16);
  check_type(layer.keys, bf16_as_u16);
  if (layer.values) check_type(*layer.values, bf16_as_u16);
  if (layer.sinks) check_type(*layer.sinks, bf16_as_u16);
}

void check_same(const DumpPiece& piece, std::string_view what, std::size_t found,
                std::size_t allowed) {
  if (found == allowed) return;
  throw refused_piece(piece, fmt::format("{} {}", found, what),
                      fmt::format("{}, as beside it", allowed));
}

void check_keys(const LayerTensors& layer, const DumpShape& shape, const DumpAxes& queries,
                const DumpAxes& keys) {
  check_same(layer.keys, "coordinates", keys.extent('D'), shape.dimension);
  check_same(layer.keys, "texts in the batch", keys.extent('B'), queries.extent('B'));
  if (shape.heads % shape.key_heads != 0) {
    throw refused_piece(layer.keys, fmt::format("{} heads", shape.key_heads),
                        fmt::format("a divisor of the {} heads of the queries", shape.heads));
  }
  if (shape.keys < shape.queries) {
    throw refused_piece(layer.keys, fmt::format("{} tokens", shape.keys),
                        fmt::format("at least the {} of the queries", shape.queries));
  }
}

void check_companions(const LayerTensors& layer, const DumpShape& shape, const DumpFacts& facts) {
  if (layer.values) {
    const DumpAxes values(*layer.values, facts.layout);
    check_same(*layer.values, "heads", values.extent('H'), shape.key_heads);
    check_same(*layer.values, "tokens", values.extent('N'), shape.keys);
    check_same(*layer.values, "texts in the batch", values.extent('B'), facts.batches);
  }
  if (layer.sinks && layer.sinks->tensor.shape != std::vector{shape.heads}) {
    throw refused_piece(*layer.sinks,
                        fmt::format("shape {}", shape_text(layer.sinks->tensor.shape)),
                        fmt::format("shape [{}], a number per head", shape.heads));
  }
}

std::size_t first_position(const LayerTensors& layer, const DumpShape& shape,
                           const std::optional<Range>& positions) {
  if (!positions) return shape.keys - shape.queries;
  if (positions->size() == shape.queries && positions->end <= shape.keys) return positions->begin;
  throw to_error(
      Code::malformed_file, layer.queries.file,
      {"metadata key 'positions'", fmt::format("{}:{}", positions->begin, positions->size()),
       fmt::format("places of the {} queries of layer {} among its {} keys", shape.queries,
                   shape.layer, shape.keys)});
}

}  // namespace

DumpAxes::DumpAxes(const DumpPiece& piece, std::string_view layout)
    : tensor_(piece.tensor), layout_(layout) {
  const std::vector<std::size_t>& shape = tensor_.shape;
  if (shape.size() != layout.size()) {
    throw refused_piece(piece, fmt::format("shape {}", shape_text(shape)),
                        fmt::format("{} axes, for layout {}", layout.size(), layout));
  }
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) {
    throw refused_piece(piece, fmt::format("shape {}", shape_text(shape)), "extents of at least 1");
  }
}

std::size_t DumpAxes::extent(char axis) const {
  const std::size_t place = layout_.find(axis);
  return place == std::string_view::npos ? 1 : tensor_.shape[place];
}

std::size_t DumpAxes::step(char axis) const {
  std::size_t elements = 1;
  for (std::size_t k = std::min(layout_.find(axis), layout_.size()); k + 1 < layout_.size(); ++k) {
    elements *= tensor_.shape[k + 1];
  }
  return elements;
}

DumpShape checked_shape(LayerTensors& layer, const DumpFacts& facts,
                        const std::optional<Range>& positions, bool bf16_as_u16) {
  check_types(layer, bf16_as_u16);
  const DumpAxes queries(layer.queries, facts.layout), keys(layer.keys, facts.layout);
  DumpShape shape;
  shape.layer = layer.number;
  shape.heads = queries.extent('H');
  shape.key_heads = keys.extent('H');
  shape.queries = queries.extent('N');
  shape.keys = keys.extent('N');
  shape.dimension = queries.extent('D');
  shape.values = layer.values.has_value();
  shape.sinks = layer.sinks.has_value();
  check_same(layer.queries, "texts in the batch", queries.extent('B'), facts.batches);
  check_keys(layer, shape, queries, keys);
  check_companions(layer, shape, facts);
  shape.first_position = first_position(layer, shape, positions);
  return shape;
}

Error refused_piece(const DumpPiece& piece, std::string found, std::string allowed) {
  return to_error(Code::malformed_file, piece.file,
                  {excerpt(piece.name), std::move(found), std::move(allowed)});
}

}  // namespace dewpoint::checkpoint
