// Any bytes are a training state that can be written again and gives those numbers back, or an
// Error of one line; anything else is a crash.
//
// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "dewpoint/core/error.hpp"
#include "dewpoint/transformer/state_file.hpp"
#include "fuzz/demand.hpp"

using dewpoint::fuzz::demand;
using dewpoint::fuzz::demand_one_line;
using dewpoint::transformer::read_state;
using dewpoint::transformer::state_bytes;
using dewpoint::transformer::StateFile;

namespace {

void check(std::span<const std::byte> bytes) {
  const StateFile file = read_state(bytes, "fuzz");
  dewpoint::transformer::check(file.shape);
  const std::vector<std::byte> again = state_bytes(file.shape, file.state, file.metadata);
  const StateFile back = read_state(again, "again");
  demand(back.shape == file.shape && back.state.done == file.state.done);
  demand(state_bytes(back.shape, back.state, back.metadata) == again);
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
