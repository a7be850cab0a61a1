#include "dewpoint/observables/row_observables.hpp"

#include <cmath>

#include "dewpoint/core/error.hpp"

namespace dewpoint::observables {

double entropy(const RowMoments& row, double inverse_temperature) {
  return std::log(row.partition) + inverse_temperature * row.gap / row.partition;
}

double largest_weight(const RowMoments& row) { return 1.0 / row.partition; }

double participation(const RowMoments& row) {
  return row.weight_squared / (row.partition * row.partition);
}

double gap_variance(const RowMoments& row) {
  const double mean = row.gap / row.partition;
  return row.squared_gap / row.partition - mean * mean;
}

RowMeans row_means(std::span<const RowMoments> rows, double inverse_temperature,
                   std::span<const double> cluster_partitions) {
  DEWPOINT_EXPECTS(cluster_partitions.empty() || cluster_partitions.size() == rows.size());
  RowMeans means;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const RowMoments& row = rows[i];
    const double cluster = cluster_partitions.empty() ? 1.0 : cluster_partitions[i];
    means.entropy.add(entropy(row, inverse_temperature));
    means.largest_weight.add(largest_weight(row));
    means.participation.add(participation(row));
    means.self_mass.add(1.0 / row.partition);
    means.cluster_mass.add((cluster - 1.0) / row.partition);
    means.rest_mass.add((row.partition - cluster) / row.partition);
  }
  return means;
}

}  // namespace dewpoint::observables
