// A step of training allocates nothing.
#include <gtest/gtest.h>

#include <vector>

#include "dewpoint/transformer/network.hpp"
#include "transformer/counted_memory.hpp"
#include "transformer/model_cases.hpp"

namespace dewpoint::transformer::test {
namespace {

using dewpoint::test::allocations_of;

TEST(CountedMemory, IsThatOfVectorsAndMatrices) {
  EXPECT_EQ(allocations_of([] { std::vector<int>(3).push_back(1); }), 2);
  EXPECT_EQ(allocations_of([] { (void)Matrix<float>(3, 3); }), 1);
}

// Contexts whose attention weights are kept and such as are too long for it; the first batch of a
// size may still make room in Batch.
TEST(AStep, AllocatesNothing) {
  for (const bool causal : {false, true}) {
    for (const std::size_t s : {std::size_t{12}, kKeptContext + 12}) {
      Shape shape{50, 16, 2, 2, true, 0.5, true, causal, true};
      if (causal) shape.scaling = "ssmax:n0=12";
      const Targets targets = causal ? Targets::all : Targets::last;
      const auto weights = converted<float>(shape, some_weights(shape, 0));
      const Windows windows = random_windows(50, s, 60, "memory");
      Network<float> network(shape, capacity_of(windows.size(), s, targets));
      Weights<float> gradient(shape);
      Batch batch;
      const auto step = [&](int threads) {
        fill_explicit(windows, targets, batch);
        if (!causal) fill_collapsed(windows, batch);
        (void)network.gradient(weights, batch, gradient, {threads, {}, {}});
        (void)network.loss(weights, batch, {threads, {}, {}});
      };
      step(2);
      for (const int threads : {1, 2}) {
        EXPECT_EQ(allocations_of([&] { step(threads); }), 0) << name_of(shape) << ", s = " << s;
      }
    }
  }
}

}  // namespace
}  // namespace dewpoint::transformer::test
