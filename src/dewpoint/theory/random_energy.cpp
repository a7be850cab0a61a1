#include "dewpoint/theory/random_energy.hpp"

#include <algorithm>
#include <boost/math/special_functions/digamma.hpp>
#include <boost/math/special_functions/trigamma.hpp>
#include <cmath>
#include <numbers>

#include "dewpoint/core/distributions/normal.hpp"
#include "dewpoint/core/error.hpp"
#include "dewpoint/theory/log_space.hpp"
#include "dewpoint/theory/poisson_dirichlet.hpp"

namespace dewpoint::theory {

namespace {

constexpr double kGumbelVariance = std::numbers::pi * std::numbers::pi / 6.0;

const double kLogFourPi = std::log(4.0 * std::numbers::pi);

double squared(double x) { return x * x; }

// ---- means at finite N ----------------------------------------------------------------------

// Trapezoidal sums of integrands that are analytic for |Im y| < π/2 err by e^{−π²/step}.
constexpr double kStep = 0.2;

// What they leave out: e^{−42} is 6e-19.
constexpr double kReach = 42.0;

/// Distance over which e^{−slope·δ − δ²/2} falls by e^{−42}.
double reach(double slope) { return std::sqrt(slope * slope + 2.0 * kReach) - slope; }

/// Sums over the scores at one y, with z = e^{βs−y}.
struct ScoreSums {
  double some = 0.0;    // N E[1 − e^{−z}]
  double one = 0.0;     // N E[z e^{−z}]
  double square = 0.0;  // N E[z² e^{−z}]
};

/// The integrands are the Gaussian density times something that rises as z or z² up to s = y/β and
/// then levels off or falls: they peak at y/β or, where z is still small there, at β and 2β.
ScoreSums score_sums(double log_n, double beta, double y) {
  const double edge = y / beta, left = std::max(std::min(beta, edge), -10.0);
  const double right = std::max(std::min(2.0 * beta, edge), 0.0);
  const double first = left - reach(std::max(beta - left, 0.0));
  const double last = right + reach(edge < 2.0 * beta ? right : 0.0);
  const double step = std::min(0.5, kStep / beta);
  ScoreSums sums;
  const auto count = static_cast<int>((last - first) / step) + 1;
  for (int i = 0; i < count; ++i) {
    const double s = first + i * step;
    const double z = std::exp(std::min(beta * s - y, 700.0));
    const double density = step * std::exp(log_n + normal::log_density(s));
    const double one = density * z * std::exp(-z);
    sums.some -= density * std::expm1(-z);
    sums.one += one;
    sums.square += one * z;
  }
  return sums;
}

/// (1 − m)^{N−1} from Nm.
double power_of_rest(double expected, double log_n) {
  if (log_n > 36.0) return std::exp(-expected);
  const double n = std::exp(log_n), others = n - 1.0;
  return others > 0.0 ? std::exp(others * std::log1p(-std::min(expected / n, 1.0))) : 1.0;
}

/// Moments of y about a centre, under the density of log Z + G, and E Σw².
struct OuterSums {
  double mass = 0.0, first = 0.0, second = 0.0, participation = 0.0;

  /// Adds one node and returns how much it matters.
  double add(double log_n, double beta, double centre, double offset) {
    const ScoreSums sums = score_sums(log_n, beta, centre + offset);
    const double rest = kStep * power_of_rest(sums.some, log_n), density = rest * sums.one;
    mass += density;
    first += density * offset;
    second += density * offset * offset;
    participation += rest * sums.square;
    return density * (1.0 + offset * offset);
  }
};

/// The sum over y, outwards from the centre until nodes stop to matter. The density has one peak.
OuterSums outer_sums(double log_n, double beta, double centre) {
  OuterSums sums;
  double largest = sums.add(log_n, beta, centre, 0.0);
  for (const double direction : {kStep, -kStep}) {
    double offset = 0.0, contribution = largest;
    while (contribution > std::exp(-kReach) * largest) {
      offset += direction;
      contribution = sums.add(log_n, beta, centre, offset);
      largest = std::max(largest, contribution);
    }
  }
  return sums;
}

}  // namespace

RandomEnergyMeans random_energy_means(double log_n, double inverse_temperature) {
  const double beta = inverse_temperature, freezing = std::sqrt(2.0 * log_n);
  DEWPOINT_EXPECTS(0.0 <= log_n && log_n <= 700.0);
  DEWPOINT_EXPECTS(0.001 <= beta && beta <= 20.0 * std::max(1.0, freezing));
  const double centre = beta < freezing ? log_n + 0.5 * beta * beta : beta * freezing;
  const OuterSums sums = outer_sums(log_n, beta, centre);
  RandomEnergyMeans means{};
  means.normalisation = sums.mass;
  means.log_partition = centre + sums.first - std::numbers::egamma;
  means.log_partition_variance = sums.second - squared(sums.first) - kGumbelVariance;
  means.participation = sums.participation;
  means.entropy = means.log_partition - beta * beta * (1.0 - sums.participation);
  return means;
}

// ---- constants ------------------------------------------------------------------------------

double edge_score(double log_n) { return normal::upper_quantile(-log_n); }

double edge_score_expansion(double log_n) {
  DEWPOINT_EXPECTS(log_n > 0.0);
  const double freezing = freezing_beta(log_n);
  return freezing - (std::log(log_n) + kLogFourPi) / (2.0 * freezing);
}

double freezing_beta(double log_n, double deviation) {
  DEWPOINT_EXPECTS(log_n >= 0.0 && deviation > 0.0);
  return std::sqrt(2.0 * log_n) / deviation;
}

double edge_load(double log_n, double load) {
  return load * freezing_beta(log_n) / edge_score(log_n);
}

// ---- free energy ----------------------------------------------------------------------------

double annealed_free_energy(double log_n, double load) {
  DEWPOINT_EXPECTS(log_n >= 0.0 && load >= 0.0);
  return log_n * (1.0 + load * load);
}

double quenched_free_energy_law(double log_n, double load) {
  DEWPOINT_EXPECTS(log_n >= 1.0 && load >= 0.0);
  const double freezing = freezing_beta(log_n);
  if (load <= 1.0) {
    return annealed_free_energy(log_n, load) + normal::log_cdf((1.0 - load) * freezing);
  }
  const double edge = edge_load(log_n, load);
  return load * freezing * edge_score(log_n) + edge * std::lgamma((edge - 1.0) / edge) +
         std::numbers::egamma * (edge - 1.0);
}

double free_energy_correction(double edge_load) {
  DEWPOINT_EXPECTS(edge_load > 1.0);
  const double alpha = 1.0 / edge_load, rest = (edge_load - 1.0) / edge_load;
  const double mean = alpha * boost::math::digamma(rest) + std::numbers::egamma + std::lgamma(rest);
  const double variance = alpha * alpha * boost::math::trigamma(rest) + kGumbelVariance;
  return -edge_load * (mean + 0.5 * (mean * mean + variance));
}

double free_energy_deviation_law(double log_n, double load) {
  DEWPOINT_EXPECTS(log_n >= 1.0 && load >= 0.0);
  const double edge = edge_load(log_n, load);
  return edge <= 1.0 ? 0.0 : std::sqrt(kGumbelVariance * (edge - 1.0) * (edge + 1.0));
}

// ---- weights --------------------------------------------------------------------------------

double published_log_largest_weight(double log_n, double load) {
  DEWPOINT_EXPECTS(log_n > 0.0 && 0.0 <= load && load < 1.0);
  return -squared(1.0 - load) * log_n;
}

double log_largest_weight_law(double log_n, double load) {
  return published_log_largest_weight(log_n, load) - 0.5 * load * (kLogFourPi + std::log(log_n)) +
         std::lgamma(1.0 - load);
}

double mean_log_largest_weight_law(double log_n, double load) {
  return published_log_largest_weight(log_n, load) - 0.5 * load * (kLogFourPi + std::log(log_n)) +
         load * std::numbers::egamma;
}

double log_participation_law(double log_n, double load) {
  DEWPOINT_EXPECTS(log_n > 0.0 && 0.0 <= load && load < 0.5);
  return (2.0 * load * load - 1.0) * log_n;
}

double entropy_law(double log_n, double load) {
  DEWPOINT_EXPECTS(log_n >= 0.0 && load >= 0.0 && load != 1.0);
  return load < 1.0 ? log_n * (1.0 - load) * (1.0 + load) : poisson_dirichlet_entropy(load);
}

// ---- one planted key ------------------------------------------------------------------------

double planted_weight(double log_partition, double scaled_score) {
  return std::exp(-softplus(log_partition - scaled_score));
}

double published_planted_weight(double log_n, double load, double signal) {
  return std::exp(2.0 * load * signal * log_n - annealed_free_energy(log_n, load));
}

double retrieval_exponent(double load, double signal) {
  DEWPOINT_EXPECTS(load >= 0.0 && signal >= 0.0);
  const double exponent =
      load <= 1.0 ? 2.0 * load * signal - 1.0 - load * load : 2.0 * load * (signal - 1.0);
  return std::min(0.0, exponent);
}

double retrieval_signal(double load) {
  DEWPOINT_EXPECTS(load > 0.0);
  return load < 1.0 ? 0.5 * (load + 1.0 / load) : 1.0;
}

std::optional<double> retrieval_load(double signal) {
  DEWPOINT_EXPECTS(signal >= 0.0);
  if (signal < 1.0) return {};
  return 1.0 / (signal + std::sqrt((signal - 1.0) * (signal + 1.0)));
}

double best_load(double signal) {
  DEWPOINT_EXPECTS(signal >= 0.0);
  return std::min(signal, 1.0);
}

}  // namespace dewpoint::theory
