#include "dewpoint/experiments/streamed_rows.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "dewpoint/core/kernels.hpp"
#include "support/test_seed.hpp"

namespace dewpoint::experiments {
namespace {

PhasePoint point_of(const std::string& law, std::size_t n, std::size_t d, std::size_t rows) {
  PhasePoint p;
  p.cloud.law = law;
  p.cloud.n = n;
  p.cloud.d = d;
  p.rows = rows;
  p.rank_rows = rows;
  p.norm.reset();
  p.inverse_temperature = 12.0;
  p.seed = test::seed();
  return resolved(p);
}

bool same_bytes(const PointSample& a, const PointSample& b) {
  return std::memcmp(a.values.data(), b.values.data(), kJacobianNorm * sizeof(double)) == 0 &&
         a.row_sampling_error == b.row_sampling_error;
}

// The same rows of the same cloud, in memory and streamed; both multiply float32 offsets, but from
// another centre, in other blocks. A weight is off by kExpUlp and three roundings of an exponent up
// to β; entropy, masses and λ are at most quadratic in weights, and there are two paths: a
// factor 4. Absolute, for cosines of single pairs: inner products of length d.
void expect_agreement(const PhasePoint& p) {
  ASSERT_FALSE(streams_rows(p)) << "the cloud must be in memory";
  const PointSample memory = sample_point(p, 2, {1, {}, {}});
  const PointSample streamed = sample_streamed_rows(p, 2, {1, {}, {}});
  const double relative = 4.0 * (kernels::kExpUlp + 1.5 * p.inverse_temperature) * 0x1p-23;
  const double absolute = 2.0 * static_cast<double>(p.cloud.d) * 0x1p-23;
  for (std::size_t k = 0; k < kJacobianNorm; ++k) {
    EXPECT_NEAR(streamed.values[k], memory.values[k],
                relative * std::abs(memory.values[k]) + absolute)
        << p.cloud.law << " " << kPhaseObservables[k];
  }
  EXPECT_NEAR(streamed.effective_rank, memory.effective_rank, relative * memory.effective_rank);
  EXPECT_GT(memory.row_sampling_error, 0.0);
  EXPECT_NEAR(streamed.row_sampling_error, memory.row_sampling_error,
              relative * memory.row_sampling_error);
}

// Property (2).
TEST(StreamedRows, AgreeWithTheCloudInMemory) {
  for (const char* law : {"equicorrelated", "sphere", "half-sphere", "clustered"}) {
    PhasePoint p = point_of(law, 4096, 16, 300);
    expect_agreement(p);
    p.residual = 0.6;
    p.cloud.norm = tokens::Norm::gauss;
    expect_agreement(p);
  }
}

// Clusters of a third of all tokens: they cross blocks, and the sample's centre is far from each.
TEST(StreamedRows, AgreeForClustersThatCrossBlocks) {
  PhasePoint p = point_of("clustered", 4128, 8, 120);
  p.cloud.cluster_size = 1376;
  p.cloud.rho = 0.1;
  expect_agreement(resolved(p));
}

// Two blocks of queries, two segments of keys.
TEST(StreamedRows, AgreeWhereTheWorkIsCutInBothDirections) {
  const PhasePoint p = point_of("equicorrelated", 140001, 3, 1100);
  ASSERT_EQ(streamed_parts(p), 4U);
  expect_agreement(p);
}

// Property (1), and that it does not matter when and where a part is computed.
TEST(StreamedRows, GiveEqualBytesForAnyThreadsAndAnyOrderOfParts) {
  const PhasePoint p = point_of("half-sphere", 140001, 3, 40);
  const PointSample whole = sample_streamed_rows(p, 1, {2, {}, {}});
  std::vector<std::vector<double>> parts(streamed_parts(p));
  ASSERT_EQ(parts.size(), 2U);
  for (std::size_t k = parts.size(); k-- > 0;) parts[k] = streamed_part(p, 1, k, {1, {}, {}});
  EXPECT_EQ(streamed_part(p, 1, 0, {3, {}, {}}), parts[0]);
  EXPECT_TRUE(same_bytes(join_streamed(p, 1, parts), whole));
  EXPECT_FALSE(same_bytes(sample_streamed_rows(p, 0, {2, {}, {}}), whole)) << "another cloud";
}

TEST(StreamedRows, AreWhatAPointOfManyTokensIs) {
  PhasePoint p = point_of("sphere", kStreamedTokens, 2, 16);
  ASSERT_TRUE(streams_rows(p));
  EXPECT_TRUE(same_bytes(sample_point(p, 0, {1, {}, {}}), sample_streamed_rows(p, 0, {1, {}, {}})));
  const double contraction = sample_point(p, 0, {1, {}, {}}).values[0];
  EXPECT_EQ(phase_point(p).variable("contraction").cells[0].mean, contraction);
  p.rows = 0;
  EXPECT_FALSE(streams_rows(p)) << "all rows";
  p.rows = 16;
  p.form.mask = attention::Mask::causal();
  EXPECT_FALSE(streams_rows(p)) << "masked";
}

// 15 segments of 2^16 tokens, as many as there may be, and as many as memory allows: 4 blocks of
// 1000 rows hand on 1029 numbers per row and segment.
TEST(StreamedRows, ArePartedByARuleOfThePoint) {
  EXPECT_EQ(streamed_parts(point_of("sphere", 1000000, 64, 256)), 15U);
  EXPECT_EQ(streamed_parts(point_of("sphere", 100000000, 64, 256)), kMostSegments);
  const std::size_t segments = kMostNumbers / (4000 * 1029);
  EXPECT_EQ(streamed_parts(point_of("sphere", 100000000, 1024, 4000)), 4 * segments);
  EXPECT_EQ(segments, 2U);
}

}  // namespace
}  // namespace dewpoint::experiments
