#include "dewpoint/experiments/phase_depth.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "dewpoint/attention/rowwise_layer.hpp"
#include "dewpoint/experiments/phase.hpp"
#include "support/test_seed.hpp"

namespace dewpoint::experiments {
namespace {

PhaseDepth small() {
  PhaseDepth p;
  p.cloud.n = 48;
  p.cloud.d = 8;
  p.gamma = {1.5, 2.5};
  p.layers = 4;
  p.replication.replicas = 3;
  p.seed = test::seed();
  return p;
}

const Estimate& cell(const Frame& frame, const char* name, std::size_t gamma, std::size_t layer) {
  const Variable& variable = frame.variable(name);
  return variable.cells[frame.cell_index(variable, {gamma, layer})];
}

std::string complaint(const PhaseDepth& p) {
  try {
    (void)resolved(p);
  } catch (const Error& error) {
    return error.what();
  }
  return "accepted";
}

// Property (2): float32 against double, for every cloud and so for their mean.
TEST(PhaseDepth, ItsFirstLayerIsThatOfPhasePoint) {
  const PhaseDepth p = small();
  const Frame depth = phase_depth(p);
  PhasePoint point;
  point.cloud = p.cloud;
  point.inverse_temperature = p.gamma[1] * std::log(48.0);
  point.replication = p.replication;
  point.seed = p.seed;
  const Frame one = phase_point(point);
  for (const char* name : {"contraction", "mean_cosine", "smallest_cosine", "jacobian_norm"}) {
    const Estimate expected = one.variable(name).cells[0];
    const Estimate found = cell(depth, name, 1, 1);
    EXPECT_EQ(found.samples, 3U);
    EXPECT_NEAR(found.mean, expected.mean, attention::kFastNormError * std::abs(expected.mean))
        << name;
  }
}

// Property (1).
TEST(PhaseDepth, GivesTheSameBytesOnAnyNumberOfThreads) {
  PhaseDepth p = small();
  p.end_to_end = EndToEnd{2, 3};
  const Frame one = phase_depth(p, {1, {}, {}});
  const Frame two = phase_depth(p, {2, {}, {}});
  for (const Variable& variable : one.variables()) {
    const auto& other = two.variable(variable.name).cells;
    for (std::size_t c = 0; c < other.size(); ++c) {
      const bool both_unknown = std::isnan(variable.cells[c].mean) && std::isnan(other[c].mean);
      EXPECT_TRUE(both_unknown || variable.cells[c].mean == other[c].mean) << variable.name;
    }
  }
}

TEST(PhaseDepth, RescalingKeepsTheReducedScale) {
  PhaseDepth p = small();
  p.rescaled = true;
  p.replication.replicas = 1;
  const Frame frame = phase_depth(p);
  for (std::size_t layer = 1; layer <= p.layers; ++layer) {
    const double beta = cell(frame, "inverse_temperature", 0, layer).mean;
    const double gap = std::pow(10.0, cell(frame, "log10_gap", 0, layer - 1).mean);
    const double first_gap = std::pow(10.0, cell(frame, "log10_gap", 0, 0).mean);
    // A power of ten and a logarithm of numbers of size 10, rounded: 1e-13 of β gap is generous.
    EXPECT_NEAR(beta * gap / (p.gamma[0] * std::log(48.0) * first_gap), 1.0, 1e-13) << layer;
  }
}

// Without mixing between layers the end-to-end Jacobian of one layer is that layer's: its norm by
// probes against η, and the largest singular value above the root mean square.
TEST(PhaseDepth, TheEndToEndJacobianStartsAsThatOfTheFirstLayer) {
  PhaseDepth p = small();
  p.replication.replicas = 1;
  p.end_to_end = EndToEnd{2, 400};
  const Frame frame = phase_depth(p);
  const double eta = cell(frame, "jacobian_norm", 0, 1).mean;
  // A probe has variance 2‖JᵀJ‖_F²/(n d)² at most, and ‖JᵀJ‖_F ≤ σ_1² √(n d).
  const Variable& values = frame.variable("singular_value");
  const double top = values.cells[frame.cell_index(values, {0, 1, 0})].mean;
  const double next = values.cells[frame.cell_index(values, {0, 1, 1})].mean;
  const double error = top * top * std::sqrt(2.0 / (48.0 * 8.0) / 400.0);
  EXPECT_NEAR(cell(frame, "end_to_end_norm", 0, 1).mean, eta, test::kSigmas * error);
  EXPECT_GE(top, next);
  EXPECT_GT(top * top, eta);
  EXPECT_EQ(cell(frame, "end_to_end_norm", 0, 0).mean, 1.0);
}

TEST(PhaseDepth, HasNoVariableThatWasNotAskedFor) {
  PhaseDepth p = small();
  p.norm.reset();
  const Frame frame = phase_depth(p);
  EXPECT_EQ(frame.find_variable("jacobian_norm"), nullptr);
  EXPECT_EQ(frame.find_variable("end_to_end_norm"), nullptr);
  EXPECT_TRUE(std::isnan(cell(frame, "contraction", 0, 0).mean));
}

TEST(PhaseDepth, BadParametersAreNamed) {
  PhaseDepth p = small();
  p.layers = 0;
  EXPECT_EQ(complaint(p), "layers: 0 is below 1");
  p = small();
  p.residual = -0.5;
  EXPECT_EQ(complaint(p), "alpha: -0.5 is not a number in [0, 1e6]");
  p = small();
  p.gamma = {-1.0};
  EXPECT_EQ(complaint(p), "gamma: -1 is not a number in [0, 1e6]");
  p = small();
  p.end_to_end = EndToEnd{48 * 8, 3};
  EXPECT_EQ(complaint(p), "singular-values: 384 is not below n d = 384");
}

}  // namespace
}  // namespace dewpoint::experiments
