// Any bytes are a chain, whose rows are laws and whose stationary law it keeps, or an Error of one
// line; anything else is a crash.
//
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "dewpoint/checkpoint/number_table.hpp"
#include "dewpoint/core/error.hpp"
#include "dewpoint/training/chain.hpp"
#include "fuzz/demand.hpp"

using dewpoint::fuzz::demand;

namespace {

using namespace dewpoint;

void demand_law(std::span<const double> law, double error) {
  demand(std::all_of(law.begin(), law.end(), [](double p) { return p >= 0.0 && p <= 1.0; }));
  demand(std::abs(std::accumulate(law.begin(), law.end(), 0.0) - 1.0) <= error);
}

// Sums over tokens err by d kChainError, and state reduction by 2d³ roundings of a long double.
void demand_chain(const training::Chain& chain) {
  const std::size_t d = chain.vocabulary();
  demand(d >= 2 && d <= training::kMostTokens && chain.origin.size() == d);
  demand(chain.transition.rows() == d && chain.transition.cols() == d);
  const auto tokens = static_cast<double>(d);
  const double error = tokens * training::kChainError + 2.0 * tokens * tokens * tokens * 0x1p-64;
  demand_law(chain.stationary, error);
  std::vector<double> next(d, 0.0);
  for (std::size_t i = 0; i < d; ++i) {
    demand_law(chain.transition.row(i), error);
    demand(chain.stationary[i] >= training::kLeastProbability);
    for (std::size_t j = 0; j < d; ++j) next[j] += chain.stationary[i] * chain.transition(i, j);
  }
  for (std::size_t i = 0; i < d; ++i) {
    demand(std::abs(next[i] - chain.stationary[i]) <= error * chain.stationary[i]);
  }
  demand(std::isfinite(training::entropy_rate(chain)));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    auto table = checkpoint::parse_number_table(std::as_bytes(std::span(data, size)), "fuzz");
    demand_chain(training::chain_of(std::move(table.numbers), "fuzz"));
  } catch (const Error& error) {
    const std::string_view message = error.what();
    demand(error.code() == Code::malformed_file || error.code() == Code::bad_value);
    demand(message.starts_with("fuzz: ") && message.find('\n') == std::string_view::npos);
    demand(message.find(", allowed: ") != std::string_view::npos);
  }
  return 0;
}
