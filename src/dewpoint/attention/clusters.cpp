#include "dewpoint/attention/clusters.hpp"

#include <cmath>

#include "dewpoint/core/error.hpp"

namespace dewpoint::attention {

std::vector<double> cluster_partitions(const GapSource& tokens, std::size_t cluster_size,
                                       double inverse_temperature,
                                       std::span<const std::size_t> rows) {
  DEWPOINT_EXPECTS(cluster_size > 0 && tokens.size() % cluster_size == 0);
  std::vector<double> partitions(rows.size(), 0.0);
  Matrix<float> gaps(1, cluster_size);
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const std::size_t first = rows[r] / cluster_size * cluster_size;
    tokens.gaps({rows[r], rows[r] + 1}, {first, first + cluster_size}, gaps);
    for (const float gap : gaps.row(0)) {
      partitions[r] += std::exp(-inverse_temperature * static_cast<double>(gap));
    }
  }
  return partitions;
}

}  // namespace dewpoint::attention
