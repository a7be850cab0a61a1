#include "dewpoint/experiments/explicit_tokens.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "dewpoint/tokens/cloud.hpp"

namespace dewpoint::experiments {
namespace {

constexpr Interval kEmpty = {std::numeric_limits<double>::infinity(),
                             -std::numeric_limits<double>::infinity()};

void include(Interval& interval, double value) {
  interval.smallest = std::min(interval.smallest, value);
  interval.largest = std::max(interval.largest, value);
}

double product(std::span<const double> a, std::span<const double> b) {
  double sum = 0.0;
  for (std::size_t k = 0; k < a.size(); ++k) sum += a[k] * b[k];
  return sum;
}

double cosine(const Matrix<double>& tokens, std::size_t i, std::size_t j) {
  const auto x = tokens.row(i), y = tokens.row(j);
  return product(x, y) / std::sqrt(product(x, x) * product(y, y));
}

// x_i = scale · norm_i · direction_i of the cloud of one replica.
Matrix<double> written_out(tokens::CloudParameters parameters, double scale, std::uint64_t seed,
                           std::uint64_t replica) {
  parameters = tokens::resolved(std::move(parameters));
  TokenCloud cloud = tokens::make_cloud(parameters, seed, replica);
  for (std::size_t i = 0; i < cloud.size(); ++i) {
    for (double& coordinate : cloud.directions.row(i)) coordinate *= scale * cloud.norms[i];
  }
  return std::move(cloud.directions);
}

tokens::CloudParameters cluster_parameters(const Clusters& clusters) {
  tokens::CloudParameters parameters;
  parameters.n = clusters.tokens;
  parameters.cluster_size = clusters.size;
  parameters.rho_inner = clusters.inner;
  parameters.rho = clusters.outer;
  return parameters;
}

}  // namespace

Matrix<double> simplex_tokens(std::size_t n, double correlation, double squared_norm,
                              std::size_t dimension) {
  tokens::CloudParameters parameters;
  parameters.law = "simplex";
  parameters.n = n;
  parameters.d = dimension;
  parameters.rho = correlation;
  return written_out(parameters, std::sqrt(squared_norm), 0, 0);
}

Matrix<double> gaussian_tokens(std::size_t n, std::size_t d, double correlation, std::uint64_t seed,
                               std::uint64_t replica) {
  tokens::CloudParameters parameters;
  parameters.n = n;
  parameters.d = d;
  parameters.rho = correlation;
  parameters.norm = tokens::Norm::gauss_per_d;
  parameters.common = tokens::Common::fixed;
  return written_out(parameters, 1.0, seed, replica);
}

Matrix<double> two_level_tokens(const Clusters& clusters) {
  tokens::CloudParameters parameters = cluster_parameters(clusters);
  parameters.law = "two-level";
  return written_out(parameters, 1.0, 0, 0);
}

Matrix<double> clustered_tokens(const Clusters& clusters, std::size_t d, std::uint64_t seed,
                                std::uint64_t replica) {
  tokens::CloudParameters parameters = cluster_parameters(clusters);
  parameters.law = "clustered";
  parameters.d = d;
  parameters.norm = tokens::Norm::gauss_per_d;
  parameters.common = tokens::Common::fixed;
  return written_out(parameters, 1.0, seed, replica);
}

Interval cosine_interval(const Matrix<double>& tokens) {
  Interval all = kEmpty;
  for (std::size_t i = 0; i < tokens.rows(); ++i) {
    for (std::size_t j = 0; j < i; ++j) include(all, cosine(tokens, i, j));
  }
  return all;
}

ClusterCosines cluster_cosines(const Matrix<double>& tokens, std::size_t cluster_size) {
  DEWPOINT_EXPECTS(cluster_size > 1 && tokens.rows() % cluster_size == 0);
  ClusterCosines cosines = {kEmpty, kEmpty};
  for (std::size_t i = 0; i < tokens.rows(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const bool same = i / cluster_size == j / cluster_size;
      include(same ? cosines.inner : cosines.outer, cosine(tokens, i, j));
    }
  }
  return cosines;
}

Interval square_interval(const Matrix<double>& tokens) {
  Interval all = kEmpty;
  for (std::size_t i = 0; i < tokens.rows(); ++i) {
    include(all, product(tokens.row(i), tokens.row(i)));
  }
  return all;
}

}  // namespace dewpoint::experiments
