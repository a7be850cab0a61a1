// Any bytes are a matrix of finite numbers or an Error of one line; anything else is a crash.
//
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

#include "dewpoint/checkpoint/npy.hpp"
#include "dewpoint/core/error.hpp"
#include "fuzz/demand.hpp"

using dewpoint::fuzz::demand;
using dewpoint::fuzz::demand_one_line;

namespace {

bool is_finite(double value) { return std::isfinite(value); }

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const auto matrix =
        dewpoint::checkpoint::parse_npy_matrix(std::as_bytes(std::span(data, size)), "fuzz.npy");
    demand(matrix.size() > 0 && matrix.size() <= size);
    demand(std::all_of(matrix.data(), matrix.data() + matrix.size(), is_finite));
  } catch (const dewpoint::Error& error) {
    demand(error.code() == dewpoint::Code::malformed_file);
    demand_one_line(error, "fuzz.npy: ");
  }
  return 0;
}
