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

TwoLevelOutput two_level_output(const TwoLevelSimplex& simplex, double inverse_temperature,
                                double scaled_residual) {
  DEWPOINT_EXPECTS(scaled_residual >= 0.0);
  const double log_self = two_level_masses(simplex, inverse_temperature).log_self;
  const double near = 1.0 - simplex.cluster_correlation, far = 1.0 - simplex.rest_correlation;
  const double contrast = simplex.cluster_correlation - simplex.rest_correlation;
  const double log_members = log_add(0.0, simplex.log_neighbours);

  // Weights per token; p times a weight is formed from logarithms, since p alone may overflow.
  const double log_b = log_self - inverse_temperature * near;
  const double log_c = log_self - inverse_temperature * far;
  const double lead = -std::expm1(-inverse_temperature * contrast);  // (b − c)/b
  const double x = -std::exp(log_self) * std::expm1(-inverse_temperature * near) + scaled_residual;
  const double step = std::exp(log_b) * lead;
  const double z = std::exp(log_members + log_b) * lead;
  const double stranger = std::exp(log_c) * near + std::exp(log_members + log_c) * contrast;

  const double total = 1.0 + scaled_residual;
  const double own = x * x * near;
  const double cluster = x * x * contrast + (2.0 * x + z) * (step * near + z * contrast);
  const double common = simplex.rest_correlation * total * total + stranger * (total + x + z);
  const double squared_norm = own + cluster + common;
  return {squared_norm, (cluster + common) / squared_norm, common / squared_norm,
          own / squared_norm, (own + cluster) / squared_norm};
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
