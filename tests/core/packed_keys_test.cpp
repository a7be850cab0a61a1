// Products with packed keys on every instruction set of this machine, against plain double loops.
#include "dewpoint/core/packed_keys.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "support/test_seed.hpp"

namespace dewpoint {
namespace {

constexpr double kEps = std::numeric_limits<float>::epsilon();

class PackedProducts : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override { force_simd_target(GetParam()); }
  void TearDown() override { force_simd_target(""); }
};

INSTANTIATE_TEST_SUITE_P(EveryTarget, PackedProducts, testing::ValuesIn(simd_targets()),
                         [](const auto& target) { return target.param; });

Matrix<float> normal_matrix(std::size_t rows, std::size_t cols, const char* name) {
  const Stream stream = test::stream(name);
  Matrix<float> result(rows, cols);
  for (std::size_t k = 0; k < result.size(); ++k) {
    result.data()[k] = static_cast<float>(stream.normal(k));
  }
  return result;
}

struct Sizes {
  std::size_t queries, keys, dimension;
  Range asked;
};

// One rounding per multiplication and per addition, relative to the sum of sizes.
TEST_P(PackedProducts, AreThoseOfADoubleLoop) {
  for (const Sizes& s : {Sizes{1, 1, 1, {0, 1}},
                         {5, 17, 3, {0, 17}},
                         {6, 16, 64, {0, 16}},
                         {13, 100, 80, {32, 99}},
                         {96, 300, 64, {16, 272}}}) {
    const Matrix<float> queries = normal_matrix(s.queries, s.dimension, "PackedProducts/q");
    const Matrix<float> keys = normal_matrix(s.keys, s.dimension, "PackedProducts/k");
    Matrix<float> room(s.queries, padded(s.asked.size()) + kLanePadding);
    const auto products = room.view().block({0, s.queries}, {0, s.asked.size()});
    const PackedKeys packed(keys);
    EXPECT_EQ(packed.size(), s.keys);
    EXPECT_EQ(packed.dimension(), s.dimension);
    packed.multiply(queries, s.asked, products);
    for (std::size_t i = 0; i < s.queries; ++i) {
      for (std::size_t j = 0; j < s.asked.size(); ++j) {
        double truth = 0.0, size = 0.0;
        for (std::size_t k = 0; k < s.dimension; ++k) {
          const double term =
              static_cast<double>(queries(i, k)) * static_cast<double>(keys(s.asked.begin + j, k));
          truth += term;
          size += std::abs(term);
        }
        EXPECT_NEAR(products(i, j), truth, kEps * static_cast<double>(s.dimension) * size);
      }
      EXPECT_EQ(room(i, padded(s.asked.size())), 0.0F);  // nothing is written further on
    }
  }
}

// Property (1).
TEST_P(PackedProducts, DoNotDependOnWhatElseIsAskedFor) {
  const Matrix<float> queries = normal_matrix(23, 64, "PackedProducts/q");
  const Matrix<float> keys = normal_matrix(200, 64, "PackedProducts/k");
  const PackedKeys packed(keys);
  Matrix<float> all(23, padded(200)), some(23, padded(200));
  packed.multiply(queries, {0, 200}, all.view().block({0, 23}, {0, 200}));
  packed.multiply(queries.view().row_range({7, 9}), {48, 101},
                  some.view().block({7, 9}, {48, 101}));
  for (std::size_t i = 7; i < 9; ++i) {
    EXPECT_EQ(std::memcmp(&all(i, 48), &some(i, 48), 53 * sizeof(float)), 0);
  }
}

}  // namespace
}  // namespace dewpoint
