#include "dewpoint/training/embedding_paths.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include "dewpoint/training/leading_pair.hpp"
#include "support/test_seed.hpp"

namespace dewpoint::training {
namespace {

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();

// Token i at time t lies at far + x e + y f with orthogonal unit vectors e and f.
struct Plane {
  std::vector<double> x, y;  // (time, token)
  std::vector<Record> records;
};

Plane planted_plane(std::size_t times, std::size_t tokens, std::size_t width,
                    const std::string& name) {
  const Stream draw = test::stream(name);
  Plane plane;
  for (std::size_t t = 0; t < times; ++t) {
    Record record(tokens, width);
    for (std::size_t i = 0; i < tokens; ++i) {
      const double x = 2.0 * draw.normal(2 * plane.x.size());
      const double y = draw.normal(2 * plane.x.size() + 1);
      for (std::size_t k = 0; k < width; ++k) {
        const double sign = k % 2 == 0 ? 1.0 : -1.0;  // orthogonal to ones for an even width
        const double root = std::sqrt(static_cast<double>(width));
        record.embedding(i, k) = 0.25 * static_cast<double>(k) + (x + sign * y) / root;
      }
      plane.x.push_back(x);
      plane.y.push_back(y);
    }
    plane.records.push_back(record);
  }
  return plane;
}

double covariance(const std::vector<double>& a, const std::vector<double>& b) {
  double mean_a = 0.0, mean_b = 0.0, sum = 0.0;
  const auto n = static_cast<double>(a.size());
  for (const double value : a) mean_a += value / n;
  for (const double value : b) mean_b += value / n;
  for (std::size_t k = 0; k < a.size(); ++k) sum += (a[k] - mean_a) * (b[k] - mean_b) / n;
  return sum;
}

void expect_plane_found(std::size_t width) {
  const Plane plane = planted_plane(30, 4, width, "EmbeddingPaths/plane");
  const EmbeddingPaths paths = embedding_paths(plane.records);
  const double xx = covariance(plane.x, plane.x), yy = covariance(plane.y, plane.y);
  const double xy = covariance(plane.x, plane.y);
  const double spread = std::hypot(xx - yy, 2.0 * xy);
  // kLeadingValueError of the largest value, which is below the trace; two values, one trace.
  EXPECT_NEAR(paths.explained[0], 0.5 * (1.0 + spread / (xx + yy)), 2.0 * kLeadingValueError);
  EXPECT_NEAR(paths.explained[1], 0.5 * (1.0 - spread / (xx + yy)), 2.0 * kLeadingValueError);

  ASSERT_EQ(paths.coordinates.size(), 2 * plane.x.size());
  for (std::size_t k = 1; k < plane.x.size(); ++k) {
    // Distances in the plane are those of the points. Vectors turn by at most residual over gap of
    // the values, here 1e-11 · 4/(4 − 1), twice; coordinates are below 10.
    const double along = paths.coordinates[2 * k] - paths.coordinates[0];
    const double across = paths.coordinates[2 * k + 1] - paths.coordinates[1];
    EXPECT_NEAR(std::hypot(along, across),
                std::hypot(plane.x[k] - plane.x[0], plane.y[k] - plane.y[0]), 1e-9);
  }
}

TEST(EmbeddingPaths, FindThePlaneOfTheirPoints) { expect_plane_found(12); }

TEST(EmbeddingPaths, FindThePlaneOfTheirPointsByIterationInWideModels) { expect_plane_found(200); }

TEST(EmbeddingPaths, EndWithTokenZeroAtPositiveCoordinates) {
  for (const double sign : {1.0, -1.0}) {
    Plane plane = planted_plane(5, 3, 8, "EmbeddingPaths/sign");
    for (Record& record : plane.records) {
      for (std::size_t k = 0; k < record.embedding.size(); ++k) record.embedding.data()[k] *= sign;
    }
    const EmbeddingPaths paths = embedding_paths(plane.records);
    EXPECT_GT(paths.coordinates[2 * 4 * 3], 0.0);
    EXPECT_GT(paths.coordinates[2 * 4 * 3 + 1], 0.0);
  }
}

TEST(EmbeddingPaths, AreCentredOnTheMeanOfAllPoints) {
  const Plane plane = planted_plane(9, 4, 10, "EmbeddingPaths/centre");
  const EmbeddingPaths paths = embedding_paths(plane.records);
  for (std::size_t component = 0; component < 2; ++component) {
    double sum = 0.0;
    for (std::size_t k = component; k < paths.coordinates.size(); k += 2) {
      sum += paths.coordinates[k];
    }
    EXPECT_NEAR(sum, 0.0, 36 * 36 * 10.0 * kEpsilon);  // 36 points below 10, as many roundings
  }
}

TEST(EmbeddingPaths, StayAtZeroWherePointsCoincide) {
  std::vector<Record> records(3, Record(2, 4));
  for (Record& record : records) {
    for (std::size_t k = 0; k < 8; ++k) record.embedding.data()[k] = 0.5;
  }
  const EmbeddingPaths paths = embedding_paths(records);
  EXPECT_EQ(paths.coordinates, std::vector<double>(12, 0.0));
  EXPECT_EQ(paths.explained[0], 0.0);
}

TEST(EmbeddingPaths, HaveOneComponentInOneDimension) {
  std::vector<Record> records(2, Record(2, 1));
  records[1].embedding(0, 0) = 4.0;
  const EmbeddingPaths paths = embedding_paths(records);
  EXPECT_EQ(paths.coordinates, (std::vector<double>{-1.0, 0.0, -1.0, 0.0, 3.0, 0.0, -1.0, 0.0}));
  EXPECT_EQ(paths.explained[0], 1.0);
  EXPECT_EQ(paths.explained[1], 0.0);
}

TEST(EmbeddingPaths, AreEmptyWithoutRecords) {
  EXPECT_TRUE(embedding_paths({}).coordinates.empty());
}

}  // namespace
}  // namespace dewpoint::training
