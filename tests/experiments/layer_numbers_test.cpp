// What runs with several layers come to.
//
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "experiments/layer_cases.hpp"

namespace dewpoint::experiments {
namespace {

using namespace dewpoint::experiments::test;  // NOLINT(google-build-using-namespace)

/// Two tokens, one layer, two heads.
LayerLook look_of(double step, double loss, std::vector<double> norms, double first,
                  double second) {
  LayerLook look{step, loss, std::move(norms), {Matrix<double>(2, 2), Matrix<double>(2, 2)}};
  look.attention[0](1, 0) = first;
  look.attention[1](1, 0) = second;
  return look;
}

std::vector<LayerLook> told_run() {
  return {look_of(0.0, 0.7, {1.0, 1.0}, 0.5, 0.5), look_of(10.0, 0.6, {2.0, 4.0}, 1.0, 0.5),
          look_of(20.0, 0.5, {1.9, 1.0}, 0.25, 0.0), look_of(25.0, 0.4, {3.0, 2.0}, 0.25, 0.25)};
}

TEST(LayerNumbers, AreReadOffTheLooks) {
  const LayerNumbers numbers = layer_numbers(told_run(), 1, 2);
  EXPECT_EQ(numbers.final_loss, 0.4);
  EXPECT_EQ(numbers.retractions, (std::vector<double>{0.0, 0.75}));
  EXPECT_EQ(numbers.retraction, 0.75);
  EXPECT_EQ(numbers.focus_peak, std::vector<double>{0.75});
  EXPECT_EQ(numbers.focus_end, std::vector<double>{0.25});
}

TEST(LayerNumbers, TheMeanOfRetractionsIsOverTokensAfterTheFirst) {
  std::vector<LayerLook> looks(3);
  const std::vector<std::vector<double>> norms = {
      {1.0, 1.0, 1.0}, {2.0, 2.0, 2.0}, {0.5, 1.0, 1.9}};
  for (std::size_t i = 0; i < 3; ++i) {
    looks[i] = {static_cast<double>(i), 0.5, norms[i], {Matrix<double>(3, 3)}};
  }
  const LayerNumbers numbers = layer_numbers(looks, 1, 1);
  EXPECT_EQ(numbers.retractions, (std::vector<double>{0.75, 0.5, 0.0}));
  EXPECT_EQ(numbers.retraction, 0.25);
}

TEST(LayerNumbers, AreUnknownWithoutLooks) {
  const LayerNumbers numbers = layer_numbers({}, 2, 1);
  EXPECT_TRUE(std::isnan(numbers.final_loss));
  EXPECT_TRUE(std::isnan(numbers.retraction));
  ASSERT_EQ(numbers.focus_peak.size(), 2U);
  EXPECT_TRUE(std::isnan(numbers.focus_peak[1]));
}

TEST(LayerRunsFrame, HasNoSamplesBeyondTheLayersAndTheEndOfARun) {
  const LayerQuestion deep = small(2, 2);
  LayerRuns first{deep.shape, {layer_run(deep, 0, {}), layer_run(deep, 1, {})}};
  first.runs[1].pop_back();
  const LayerQuestion flat = small(1);
  const LayerRuns second{flat.shape, {layer_run(flat, 0, {})}};
  const std::vector<LayerRuns> models = {first, second};
  const Frame frame = layer_runs_frame(models);
  EXPECT_EQ(frame.name(), "layer runs");
  EXPECT_EQ(frame.dimension("model").labels,
            (std::vector<std::string>{"2L2H residual", "1L1H residual"}));
  EXPECT_EQ(frame.dimension("run").coordinates, (std::vector<double>{0.0, 1.0}));
  EXPECT_EQ(frame.dimension("step").coordinates, (std::vector<double>{0.0, 5.0, 10.0}));
  EXPECT_EQ(frame.dimension("token").coordinates.size(), 4U);
  EXPECT_EQ(frame.dimension("layer").coordinates.size(), 2U);
  const auto cell = [&](const char* name, const std::vector<std::size_t>& at) {
    const Variable& variable = frame.variable(name);
    return variable.cells[frame.cell_index(variable, at)];
  };
  EXPECT_EQ(cell("loss", {0, 1, 1}).mean, first.runs[1][1].loss);
  EXPECT_EQ(cell("loss", {0, 1, 1}).samples, 1U);
  EXPECT_EQ(cell("loss", {0, 1, 2}).samples, 0U);
  EXPECT_EQ(cell("loss", {1, 1, 0}).samples, 0U);
  EXPECT_EQ(cell("norm", {1, 0, 2, 3}).mean, second.runs[0][2].norms[3]);
  const auto& attention = first.runs[0][2].attention;
  EXPECT_EQ(cell("focus", {0, 0, 2, 1}).mean, (attention[2](3, 0) + attention[3](3, 0)) / 2.0);
  EXPECT_EQ(cell("focus", {1, 0, 2, 0}).samples, 1U);
  EXPECT_EQ(cell("focus", {1, 0, 2, 1}).samples, 0U);
}

}  // namespace
}  // namespace dewpoint::experiments
