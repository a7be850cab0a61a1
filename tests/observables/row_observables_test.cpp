#include "dewpoint/observables/row_observables.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "support/test_seed.hpp"

namespace dewpoint::observables {
namespace {

// Every observable against its definition through explicit probabilities; both are a few hundred
// double operations.
TEST(RowObservables, AreWhatTheProbabilitiesSay) {
  const Stream stream = test::stream("RowObservables");
  const double beta = 5.0;
  std::vector<double> gaps(300, 0.0);
  for (std::size_t j = 1; j < gaps.size(); ++j) gaps[j] = stream.exponential(j);
  RowMoments row;
  for (const double g : gaps) {
    const double w = std::exp(-beta * g);
    row += {w, g * w, g * g * w, w * w};
  }
  double h = 0.0, squares = 0.0, mean = 0.0, second = 0.0, top = 0.0;
  for (const double g : gaps) {
    const double p = std::exp(-beta * g) / row.partition;
    h -= p * std::log(p);
    squares += p * p;
    mean += p * g;
    second += p * g * g;
    top = std::max(top, p);
  }
  EXPECT_NEAR(entropy(row, beta), h, 1e-13);
  EXPECT_NEAR(participation(row), squares, 1e-14);
  EXPECT_NEAR(largest_weight(row), top, 1e-15);
  EXPECT_NEAR(gap_variance(row), second - mean * mean, 1e-14);
}

TEST(RowObservables, AreUniformWithoutTemperature) {
  const RowMoments row{64.0, 20.0, 10.0, 64.0};
  EXPECT_DOUBLE_EQ(entropy(row, 0.0), std::log(64.0));
  EXPECT_DOUBLE_EQ(participation(row), 1.0 / 64.0);
}

TEST(RowMeans, MassesAddUpToOne) {
  const std::vector<RowMoments> rows = {{4.0, 1.0, 1.0, 2.0}, {2.0, 1.0, 1.0, 1.5}};
  const std::vector<double> clusters = {2.5, 1.25};
  const RowMeans means = row_means(rows, 1.0, clusters);
  EXPECT_DOUBLE_EQ(means.self_mass.mean(), (0.25 + 0.5) / 2);
  EXPECT_DOUBLE_EQ(means.cluster_mass.mean(), (1.5 / 4.0 + 0.25 / 2.0) / 2);
  EXPECT_DOUBLE_EQ(means.self_mass.mean() + means.cluster_mass.mean() + means.rest_mass.mean(),
                   1.0);
  EXPECT_DOUBLE_EQ(row_means(rows, 1.0).cluster_mass.mean(), 0.0);
}

}  // namespace
}  // namespace dewpoint::observables
