// What only the streaming path promises; what every path must do is in tests/conformance.
#include "dewpoint/attention/layer.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "dewpoint/attention/clusters.hpp"
#include "dewpoint/core/weight_stream.hpp"
#include "dewpoint/tokens/cloud.hpp"
#include "support/test_seed.hpp"

namespace dewpoint::attention {
namespace {

TokenCloud cloud(std::size_t n, std::size_t d) {
  tokens::CloudParameters p;
  p.n = n;
  p.d = d;
  return tokens::make_cloud(tokens::resolved(p), test::seed(), 0);
}

bool same_bytes(const LayerResult& a, const LayerResult& b) {
  return a.deviations.size() == b.deviations.size() &&
         std::memcmp(a.deviations.data(), b.deviations.data(),
                     a.deviations.size() * sizeof(double)) == 0 &&
         std::memcmp(a.moments.data(), b.moments.data(), a.moments.size() * sizeof(RowMoments)) ==
             0;
}

// Property (1).
TEST(Layer, GivesEqualBytesForAnyNumberOfThreads) {
  const TokenCloud tokens = cloud(5 * kStreamBlock + 77, 16);
  const LayerResult one = layer(tokens, {12.0, 0.5}, {1, {}, {}});
  EXPECT_TRUE(same_bytes(one, layer(tokens, {12.0, 0.5}, {2, {}, {}})));
  EXPECT_TRUE(same_bytes(one, layer(tokens, {12.0, 0.5}, {5, {}, {}})));
}

TEST(LayerOnRows, GivesEqualBytesForAnyNumberOfThreads) {
  const TokenCloud tokens = cloud(3000, 16);
  std::vector<std::size_t> rows;
  for (std::size_t i = 5; i < 3000; i += 2) rows.push_back(i);
  EXPECT_TRUE(same_bytes(layer_on_rows(tokens, {12.0, 0.5}, rows, {1, {}, {}}),
                         layer_on_rows(tokens, {12.0, 0.5}, rows, {2, {}, {}})));
}

// A sampled row is the same row of the whole layer, from other calls of BLAS: inner products of
// length 24 differ by at most that many roundings, times β = 14, and the exponential by its own.
TEST(LayerOnRows, AgreesWithTheWholeLayer) {
  constexpr double kTolerance = 0x1p-23 * (14.0 * 24.0 / 2.0 + 2.0 * kernels::kExpUlp);
  const TokenCloud tokens = cloud(1500, 24);
  const LayerResult whole = layer(tokens, {14.0, 0.2});
  const LayerResult some = layer_on_rows(tokens, {14.0, 0.2}, {0, 1, 511, 512, 777, 1499});
  for (std::size_t r = 0; r < some.rows.size(); ++r) {
    const std::size_t i = some.rows[r];
    EXPECT_NEAR(some.moments[r].partition, whole.moments[i].partition,
                kTolerance * whole.moments[i].partition);
    for (std::size_t k = 0; k < 24; ++k) {
      EXPECT_NEAR(some.deviations(r, k), whole.deviations(i, k), kTolerance);
    }
  }
}

TEST(Layer, StopsOnRequest) {
  std::stop_source source;
  source.request_stop();
  EXPECT_THROW((void)layer(cloud(600, 8), {1.0, 0.0}, {2, source.get_token(), {}}), Error);
}

TEST(Layer, ReportsProgressToTheEnd) {
  double last = 0.0, whole = 0.0;
  const Progress progress = [&](double done, double total) {
    last = done;
    whole = total;
  };
  (void)layer(cloud(3 * kStreamBlock, 8), {1.0, 0.0}, {2, {}, progress});
  EXPECT_EQ(whole, 6.0);  // three blocks on the diagonal and three above it
  EXPECT_EQ(last, whole);
}

TEST(ClusterPartitions, SumTheWeightsOfTheOwnClusterOnly) {
  tokens::CloudParameters p;
  p.law = "two-level";
  p.n = 12;
  p.cluster_size = 4;
  p.rho = 0.1;
  p.rho_inner = 0.6;
  const TokenCloud tokens = tokens::make_cloud(tokens::resolved(p), 1, 0);
  const CentredCloud gaps = CentredCloud::of_unit_vectors(tokens.directions);
  const std::vector<std::size_t> rows = {0, 7, 11};
  for (const double z : cluster_partitions(gaps, 4, 3.0, rows)) {
    EXPECT_NEAR(z, 1.0 + 3.0 * std::exp(-3.0 * 0.4), 1e-5);  // float32 gaps times β = 3
  }
}

}  // namespace
}  // namespace dewpoint::attention
