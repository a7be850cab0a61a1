// What the tests of gradient flow share: the usual loss and starts, and a flow followed to a time.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <vector>

#include "dewpoint/training/chain.hpp"
#include "dewpoint/training/flow.hpp"

namespace dewpoint::training::test_flow {

inline std::unique_ptr<TokenLoss> population() {
  return population_loss(named_chain("lambda", {0.75, 0.19, 0.05, 0.01}, 0.8), {});
}

inline Parameters<double> small_start(std::uint64_t seed, std::uint64_t replica = 0) {
  return initial_parameters(4, 16, 1e-3, seed, replica);
}

inline std::vector<double> numbers_of(const Parameters<double>& p) {
  std::vector<double> numbers;
  for (const auto* matrix : {&p.embedding, &p.unembedding, &p.query, &p.key}) {
    numbers.insert(numbers.end(), matrix->data(), matrix->data() + matrix->size());
  }
  return numbers;
}

inline double largest_difference(const Parameters<double>& a, const Parameters<double>& b) {
  const auto x = numbers_of(a);
  const auto y = numbers_of(b);
  double largest = 0.0;
  for (std::size_t i = 0; i < x.size(); ++i) largest = std::max(largest, std::abs(x[i] - y[i]));
  return largest;
}

inline std::unique_ptr<GradientFlow> followed(const TokenLoss& loss,
                                              const Parameters<double>& start,
                                              const FlowOptions& options, double until) {
  auto flow = gradient_flow(loss, start, options);
  EXPECT_TRUE(flow->advance(until, {}));
  EXPECT_EQ(flow->time(), until);
  return flow;
}

inline std::vector<double> moments(const FlowEvents& e) {
  return {e.condensed.value(),     e.focus_start.value(),     e.focus_peak.value(),
          e.half_dilution.value(), e.turned.at(1).value(),    e.turned.at(2).value(),
          e.turned.at(3).value(),  e.second_direction.value()};
}

}  // namespace dewpoint::training::test_flow
