// Any bytes are a model whose tensors lie inside them, one after another, or an Error of one line.
//
// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <span>

#include "dewpoint/checkpoint/llama2c.hpp"
#include "dewpoint/core/error.hpp"
#include "fuzz/demand.hpp"

using dewpoint::fuzz::demand;
using dewpoint::fuzz::demand_one_line;

namespace {

void check(const dewpoint::checkpoint::Llama2cModel& model, std::span<const std::byte> bytes) {
  const std::byte* last = bytes.data();
  for (const auto& tensor : model.tensors) {
    demand(tensor.bytes.data() >= last);
    last = tensor.bytes.data() + tensor.bytes.size();
  }
  demand(last <= bytes.data() + bytes.size());
  demand(model.config.attention.heads % model.config.attention.key_heads == 0);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  const bool looks_right = dewpoint::checkpoint::is_llama2c(bytes);
  try {
    check(dewpoint::checkpoint::parse_llama2c(bytes, "fuzz.bin"), bytes);
    demand(looks_right);
  } catch (const dewpoint::Error& error) {
    demand(!looks_right && error.code() == dewpoint::Code::malformed_file);
    demand_one_line(error, "fuzz.bin: ");
  }
  return 0;
}
