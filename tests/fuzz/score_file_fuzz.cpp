// Any bytes are scores, at least three finite numbers per query, or an Error of one line; anything
// else is a crash.
//
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "dewpoint/checkpoint/score_file.hpp"
#include "dewpoint/core/error.hpp"
#include "fuzz/demand.hpp"

using dewpoint::fuzz::demand;

namespace {

bool is_finite(double value) { return std::isfinite(value); }

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace dewpoint;
  try {
    const auto scores = checkpoint::parse_scores(std::as_bytes(std::span(data, size)), "fuzz");
    demand(scores.rows() >= 1 && scores.cols() >= checkpoint::kFewestKeys);
    demand(scores.size() <= size);
    demand(std::all_of(scores.data(), scores.data() + scores.size(), is_finite));
  } catch (const Error& error) {
    const std::string_view message = error.what();
    demand(error.code() == Code::malformed_file);
    demand(message.starts_with("fuzz: ") && message.find('\n') == std::string_view::npos);
    demand(message.find(", allowed: ") != std::string_view::npos);
  }
  return 0;
}
