// Any text is a configuration that holds together or an Error of one line.
//
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "dewpoint/checkpoint/model_config.hpp"
#include "dewpoint/core/error.hpp"
#include "fuzz/demand.hpp"

using dewpoint::fuzz::demand;
using dewpoint::fuzz::demand_one_line;

namespace {

void check(const dewpoint::checkpoint::ModelConfig& config) {
  const auto& attention = config.attention;
  demand(config.layers > 0 && config.hidden_size > 0 && attention.head_dimension > 0);
  demand(attention.heads > 0 && attention.heads % attention.key_heads == 0);
  demand(attention.rotary_dimension % 2 == 0);
  demand(attention.rotary_dimension <= attention.head_dimension);
  demand(attention.layer_types.empty() || attention.layer_types.size() == config.layers);
  demand(attention.rotates.empty() || attention.rotates.size() == config.layers);
  demand(std::isfinite(attention.rope.base) && attention.rope.base > 1.0);
  demand(std::isfinite(attention.rope.factor) && attention.rope.factor >= 1.0);
  demand(attention.rope.original_length > 0);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    check(dewpoint::checkpoint::parse_hugging_face_config(
        {reinterpret_cast<const char*>(data), size}, "fuzz.json"));
  } catch (const dewpoint::Error& error) {
    demand(error.code() == dewpoint::Code::malformed_file);
    demand_one_line(error, "fuzz.json: ");
  }
  return 0;
}
