// The output of a head against plain double loops: every mask, every instruction set.
#include <gtest/gtest.h>

#include "conformance/head_data.hpp"
#include "dewpoint/attention/head_reference.hpp"

namespace dewpoint::attention {
namespace {

class HeadOutput : public HeadConformance {};

INSTANTIATE_TEST_SUITE_P(EveryTarget, HeadOutput, testing::ValuesIn(simd_targets()),
                         [](const auto& target) { return target.param; });

// Values are below 2 in size. Exponents below 30 leave weights with a relative error of 4e-6, a cap
// adds 3e-6; each of up to 513 additions of w v rounds by half a unit of a sum below 2Z, of either
// sign, which six standard deviations bound by 6 √(513/12) ε = 5e-6 of 2.
void expect_output(const Head& head, const LogitMultiplier& multiplier) {
  constexpr double largest_value = 2.0;
  Matrix<float> out(head.queries.rows(), head.values.cols());
  attend(head, multiplier, out, kOneThread);
  const Matrix<double> truth = reference_attend(head, multiplier);
  for (std::size_t i = 0; i < out.rows(); ++i) {
    for (std::size_t k = 0; k < out.cols(); ++k) {
      ASSERT_NEAR(out(i, k), truth(i, k), kTolerance * largest_value)
          << head.mask.name() << ", query " << i;
    }
  }
}

TEST_P(HeadOutput, OutputsEqualTheReferenceUnderEveryMask) {
  for (const Shape& shape : kShapes) {
    const Data data(shape.queries, shape.keys, shape.dimension);
    for (const Mask& mask : kMasks) {
      Head head = data.head(mask);
      expect_output(head, {});
      head.sink = 2.0;
      expect_output(head, kMultipliers[1]);
      head.softcap = kCap;
      expect_output(head, kMultipliers[0]);
    }
  }
}

TEST_P(HeadOutput, ASinkFarAboveAllScoresTakesAllWeight) {
  const Data data(17, 17, 16);
  Head head = data.head(Mask::causal());
  head.sink = 2000.0;
  Matrix<float> out(17, 16);
  attend(head, {}, out, kOneThread);
  for (std::size_t k = 0; k < out.size(); ++k) EXPECT_EQ(out.data()[k], 0.0F);
}

}  // namespace
}  // namespace dewpoint::attention
