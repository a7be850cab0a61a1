// Any bytes are arrays whose bytes are those of their shapes, or an Error of one line; anything
// else is a crash. What an archive may unpack to is kept small, so that memory stays for the
// fuzzer.
//
// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "dewpoint/checkpoint/npz.hpp"
#include "dewpoint/core/error.hpp"
#include "fuzz/demand.hpp"

using dewpoint::fuzz::demand;
using dewpoint::fuzz::demand_one_line;

namespace {

using dewpoint::checkpoint::ElementType;
using dewpoint::checkpoint::Tensor;

void read_elements(const Tensor& tensor) {
  (void)text_of(tensor);
  if (tensor.type == ElementType::other) return;
  demand(tensor.elements() * size_of(tensor.type) == tensor.bytes.size());
  std::vector<float> out(tensor.elements());
  copy_elements(tensor, 0, std::span(out));
}

void check(std::span<const std::byte> bytes) {
  constexpr std::size_t slack = std::size_t{1} << 20;
  const auto content = dewpoint::checkpoint::parse_npz(bytes, "fuzz", {.slack = slack});
  std::size_t unpacked = 0;
  std::set<std::string> names;
  for (const Tensor& tensor : content.tensors) {
    demand(names.insert(tensor.name).second);
    unpacked += tensor.bytes.size();
    read_elements(tensor);
  }
  demand(unpacked <= 100 * bytes.size() + slack);
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
