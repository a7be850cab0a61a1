// Any bytes are a dump whose heads are finite and of the shapes it promises, or an Error of one
// line; anything else is a crash. Bytes go the way of a safetensors file.
//
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "dewpoint/checkpoint/dump_tensors.hpp"
#include "dewpoint/checkpoint/head_dump.hpp"
#include "dewpoint/checkpoint/safetensors.hpp"
#include "dewpoint/core/error.hpp"
#include "fuzz/demand.hpp"

using dewpoint::fuzz::demand;
using dewpoint::fuzz::demand_one_line;

namespace {

using namespace dewpoint::checkpoint;

void check_heads(const std::vector<dewpoint::Matrix<float>>& heads, std::size_t count,
                 std::size_t rows, std::size_t cols) {
  demand(heads.size() == count);
  for (const auto& head : heads) {
    demand(head.rows() == rows && head.cols() == cols);
    demand(std::all_of(head.data(), head.data() + head.size(),
                       [](float value) { return std::isfinite(value); }));
  }
}

void check_layer(const DumpShape& shape, const DumpedLayer& layer) {
  check_heads(layer.queries, shape.heads, shape.queries, shape.dimension);
  check_heads(layer.keys, shape.key_heads, shape.keys, shape.dimension);
  demand(layer.key_head(shape.heads - 1) == shape.key_heads - 1);
  demand(layer.first_position + shape.queries <= shape.keys);
  demand(layer.sinks.size() == (shape.sinks ? shape.heads : 0));
}

void read_dump(std::span<const std::byte> bytes, const std::string& name) {
  const SafetensorsContent content = parse_safetensors(bytes, name);
  const HeadDump dump =
      HeadDump::from_pieces(pieces_of(content.tensors, content.metadata, name), name);
  demand(dump.layers().size() == dump.shapes().size() && !dump.layers().empty());
  demand(dump.facts().scale > 0.0 && std::isfinite(dump.facts().scale));
  for (const DumpShape& shape : dump.shapes()) {
    check_layer(shape, dump.layer(shape.layer, Values::read));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    read_dump(std::as_bytes(std::span(data, size)), "fuzz.safetensors");
  } catch (const dewpoint::Error& error) {
    demand(error.code() == dewpoint::Code::malformed_file);
    demand_one_line(error, "fuzz.safetensors: ");
  }
  return 0;
}
