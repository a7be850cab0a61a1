// Any bytes are tensors that lie within them, apart from each other, or an Error of one line;
// anything else is a crash.
//
// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "dewpoint/checkpoint/safetensors.hpp"
#include "dewpoint/core/error.hpp"
#include "fuzz/demand.hpp"

using dewpoint::fuzz::demand;
using dewpoint::fuzz::demand_one_line;

namespace {

using dewpoint::checkpoint::ElementType;
using dewpoint::checkpoint::Tensor;

void read_elements(const Tensor& tensor) {
  if (tensor.type == ElementType::other) return;
  demand(tensor.elements() * size_of(tensor.type) == tensor.bytes.size());
  std::vector<double> out(tensor.elements());
  copy_elements(tensor, 0, std::span(out));
}

void check(std::span<const std::byte> bytes) {
  const auto content = dewpoint::checkpoint::parse_safetensors(bytes, "fuzz");
  std::size_t covered = 0;
  std::set<std::string> names;
  for (const Tensor& tensor : content.tensors) {
    demand(names.insert(tensor.name).second);
    demand(tensor.bytes.data() >= bytes.data());
    demand(tensor.bytes.data() + tensor.bytes.size() <= bytes.data() + bytes.size());
    covered += tensor.bytes.size();
    read_elements(tensor);
  }
  demand(covered + 8 <= bytes.size());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    check(std::as_bytes(std::span(data, size)));
  } catch (const dewpoint::Error& error) {
    demand(error.code() == dewpoint::Code::malformed_file);
    demand_one_line(error, "fuzz: ");
  }
  return 0;
}
