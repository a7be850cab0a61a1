#include "dewpoint/core/frame_json.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>

namespace dewpoint {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

Frame sample() {
  Frame frame("map");
  frame.add_dimension("rho", {0.1, 0.2});
  frame.add_labelled_dimension("law", {"log", "power"});
  auto& cells = frame.add_variable("x", {"law", "rho"}).cells;
  cells[0] = {1.0 / 3.0, 1e-300, 7};
  cells[1] = {-0.0, kNaN, 1};
  cells[2] = {kInfinity, 0.0, 0};
  frame.add_variable("y").cells[0] = {5.0, 0.5, std::uint64_t{1} << 60};
  return frame;
}

bool same_bytes(double a, double b) {
  return (std::isnan(a) && std::isnan(b)) || std::memcmp(&a, &b, sizeof a) == 0;
}

void expect_same(const Frame& a, const Frame& b) {
  EXPECT_EQ(a.name(), b.name());
  ASSERT_EQ(a.dimensions().size(), b.dimensions().size());
  for (std::size_t k = 0; k < a.dimensions().size(); ++k) {
    EXPECT_EQ(a.dimensions()[k].name, b.dimensions()[k].name);
    EXPECT_EQ(a.dimensions()[k].coordinates, b.dimensions()[k].coordinates);
    EXPECT_EQ(a.dimensions()[k].labels, b.dimensions()[k].labels);
  }
  ASSERT_EQ(a.variables().size(), b.variables().size());
  for (std::size_t k = 0; k < a.variables().size(); ++k) {
    const Variable &x = a.variables()[k], &y = b.variables()[k];
    EXPECT_EQ(x.name, y.name);
    EXPECT_EQ(x.dimensions, y.dimensions);
    ASSERT_EQ(x.cells.size(), y.cells.size());
    for (std::size_t i = 0; i < x.cells.size(); ++i) {
      EXPECT_TRUE(same_bytes(x.cells[i].mean, y.cells[i].mean)) << x.name << i;
      EXPECT_TRUE(same_bytes(x.cells[i].standard_error, y.cells[i].standard_error)) << x.name << i;
      EXPECT_EQ(x.cells[i].samples, y.cells[i].samples);
    }
  }
}

TEST(FrameJson, GivesTheFrameBackBitForBit) {
  expect_same(frame_from_json(to_json(sample())), sample());
}

TEST(FrameJson, ThroughTextOnlyInfinitiesAreLost) {
  Frame expected = sample();
  expected.variable("x").cells[2].mean = kNaN;
  const auto parsed = nlohmann::ordered_json::parse(to_json(sample()).dump());
  expect_same(frame_from_json(parsed), expected);
}

}  // namespace
}  // namespace dewpoint
