#include "dewpoint/theory/two_level_simplex.hpp"

#include <cmath>

#include "dewpoint/core/error.hpp"
#include "dewpoint/theory/log_space.hpp"

namespace dewpoint::theory {

namespace {

[[maybe_unused]] bool are_ordered_correlations(double rest, double cluster) {
  return 0.0 <= rest && rest <= cluster && cluster < 1.0;
}

}  // namespace

TwoLevelSimplex two_level_simplex(double log_n, double cluster_exponent, double cluster_correlation,
                                  double rest_correlation) {
  DEWPOINT_EXPECTS(log_n > 0.0);
  DEWPOINT_EXPECTS(0.0 <= cluster_exponent && cluster_exponent <= 1.0);
  DEWPOINT_EXPECTS(are_ordered_correlations(rest_correlation, cluster_correlation));
  const double log_others = log_subtract(log_n, 0.0);
  const double log_neighbours = cluster_exponent < 1.0 ? cluster_exponent * log_n : log_others;
  DEWPOINT_EXPECTS(log_neighbours <= log_others);
  return {log_neighbours, log_subtract(log_others, log_neighbours), cluster_correlation,
          rest_correlation};
}

TwoLevelMasses two_level_masses(const TwoLevelSimplex& simplex, double inverse_temperature) {
  DEWPOINT_EXPECTS(inverse_temperature >= 0.0);
  DEWPOINT_EXPECTS(are_ordered_correlations(simplex.rest_correlation, simplex.cluster_correlation));
  const double cluster =
      simplex.log_neighbours - inverse_temperature * (1.0 - simplex.cluster_correlation);
  const double rest =
      simplex.log_strangers - inverse_temperature * (1.0 - simplex.rest_correlation);
  const double log_total = log_add(0.0, log_add(cluster, rest));

  TwoLevelMasses masses{};
  masses.log_self = -log_total;
  masses.log_cluster = cluster - log_total;
  masses.log_rest = rest - log_total;
  masses.self = std::exp(masses.log_self);
  masses.cluster = std::exp(masses.log_cluster);
  masses.rest = std::exp(masses.log_rest);
  return masses;
}

std::optional<ClusterPhase> cluster_phase(double cluster_exponent, double cluster_correlation,
                                          double rest_correlation) {
  DEWPOINT_EXPECTS(0.0 <= cluster_exponent && cluster_exponent <= 1.0);
  DEWPOINT_EXPECTS(are_ordered_correlations(rest_correlation, cluster_correlation));
  const double contrast = cluster_correlation - rest_correlation;
  if (contrast <= 0.0) return std::nullopt;
  const ClusterPhase phase{(1.0 - cluster_exponent) / contrast,
                           cluster_exponent / (1.0 - cluster_correlation)};
  return phase.rest_to_cluster < phase.cluster_to_self ? std::optional{phase} : std::nullopt;
}

}  // namespace dewpoint::theory
