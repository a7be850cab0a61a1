#include "dewpoint/theory/backward_heat.hpp"

#include <cmath>
#include <numbers>

#include "dewpoint/core/distributions/sphere_gap.hpp"
#include "dewpoint/core/error.hpp"
#include "dewpoint/theory/sphere_moments.hpp"

namespace dewpoint::theory {

namespace {

void expect_domain([[maybe_unused]] const VonMisesFisherQuery& query) {
  DEWPOINT_EXPECTS(query.inverse_temperature >= 0.0 && query.concentration >= 0.0);
  DEWPOINT_EXPECTS(0.0 <= query.angle && query.angle <= std::numbers::pi);
}

/// x = ℓ(ℓ + d − 2)/β, the eigenvalue of −Δ over β.
double scaled_eigenvalue(const HarmonicStep& step) {
  DEWPOINT_EXPECTS(step.degree >= 1 && step.inverse_temperature > 0.0);
  DEWPOINT_EXPECTS(0.0 < step.share && step.share <= 1.0);
  return step.degree * (step.degree + step.dimension - 2.0) / step.inverse_temperature;
}

}  // namespace

PopulationOutput population_output(const VonMisesFisherQuery& query) {
  expect_domain(query);
  const double along = query.inverse_temperature + query.concentration * std::cos(query.angle);
  const double across = query.concentration * std::sin(query.angle);
  const double factor = mean_resultant_over_beta(query.dimension, std::hypot(along, across));
  return {factor * along, factor * across};
}

PopulationOutput population_output_expansion(const VonMisesFisherQuery& query, int order) {
  expect_domain(query);
  DEWPOINT_EXPECTS(query.inverse_temperature > 0.0 && (order == 1 || order == 2));
  const double beta = query.inverse_temperature, kappa = query.concentration;
  const double sine = std::sin(query.angle), cosine = std::cos(query.angle);
  const double codimension = query.dimension - 1.0;
  PopulationOutput output{mean_resultant_expansion(query.dimension, beta, order),
                          kappa * sine / beta};
  if (order == 2) {
    const double laplacian = kappa * kappa * sine * sine - codimension * kappa * cosine;  // Δf/f
    const double slope = -sine * (2.0 * kappa * kappa * cosine + codimension * kappa);  // ∇(Δf/f)
    output.along -= laplacian / (2.0 * beta * beta);
    output.across += slope / (2.0 * beta * beta);
  }
  return output;
}

double harmonic_growth(const HarmonicStep& step) {
  const double x = scaled_eigenvalue(step), beta = step.inverse_temperature;
  const double length = 1.0 - step.share + step.share * mean_resultant(step.dimension, beta);
  return 1.0 + step.share * x * harmonic_multiplier(step.dimension, step.degree, beta) / length;
}

double heat_growth_law(const HarmonicStep& step) {
  return std::exp(step.share * scaled_eigenvalue(step));
}

double regularised_growth_law(const HarmonicStep& step) {
  const double x = scaled_eigenvalue(step);
  return 1.0 + step.share * x * std::exp(-0.5 * x);
}

double deconvolution_growth(const HarmonicStep& step) {
  return std::exp(0.5 * scaled_eigenvalue(step));
}

double log_heat_scale(const DriftQuery& query) {
  DEWPOINT_EXPECTS(query.log_n >= 0.0 && query.gradient > 0.0);
  const SphereGap gap(query.dimension);
  const double a = gap.exponent();
  const double log_constant =
      a * std::numbers::ln2 + std::log(gap.local_constant()) + std::lgamma(a + 1.0) - std::log(a);
  return (log_constant + query.log_n + query.log_density + 2.0 * std::log(query.gradient)) /
         (a + 1.0);
}

double noise_to_signal_law(const DriftQuery& query, double inverse_temperature) {
  DEWPOINT_EXPECTS(inverse_temperature > 0.0);
  const double power = 0.5 * (query.dimension + 1.0);
  return std::exp(power * (std::log(inverse_temperature) - log_heat_scale(query)));
}

}  // namespace dewpoint::theory
