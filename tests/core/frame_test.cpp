#include "dewpoint/core/frame.hpp"

#include <gtest/gtest.h>

#include "dewpoint/core/error.hpp"

namespace dewpoint {
namespace {

TEST(Frame, StoresCellsWithTheLastDimensionRunningFastest) {
  Frame frame("map");
  frame.add_dimension("rho", {0.1, 0.2});
  frame.add_dimension("gamma", {1.0, 2.0, 3.0});
  const Variable& v = frame.add_variable("contraction", {"rho", "gamma"});
  EXPECT_EQ(v.cells.size(), 6U);
  EXPECT_EQ(frame.cell_index(v, {0, 2}), 2U);
  EXPECT_EQ(frame.cell_index(v, {1, 0}), 3U);
}

TEST(Frame, HoldsScalarsAsVariablesWithoutDimensions) {
  Frame frame;
  frame.add_variable("lambda").cells[0] = {0.5, 0.1, 4};
  EXPECT_EQ(frame.variable("lambda").cells.at(0).samples, 4U);
}

TEST(Frame, NamesWhatItDoesNotHave) {
  const Frame frame("map");
  EXPECT_EQ(frame.find_variable("eta"), nullptr);
  try {
    (void)frame.variable("eta");
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "no variable named 'eta'");
  }
}

}  // namespace
}  // namespace dewpoint
