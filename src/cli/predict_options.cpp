#include "cli/predict_options.hpp"

#include <fmt/format.h>

#include <cmath>

#include "dewpoint/core/error.hpp"
#include "dewpoint/theory/log_space.hpp"

namespace dewpoint::cli {
namespace {

constexpr double kLargestLength = 1e300;

}  // namespace

const char* phase_name(double scaling_variable) {
  if (std::abs(scaling_variable) <= kWindow) return "critical window";
  return scaling_variable < 0.0 ? "subcritical" : "supercritical";
}

void require(bool allowed, const char* field, double value, const std::string& range) {
  if (!allowed) {
    throw Error(Code::bad_value, fmt::format("{}: {} is not {}", field, value, range));
  }
}

void require_dimension(double d) {
  require(d >= 1.0 && d <= kLargestLength, "d", d, "a number in [1, 1e300]");
}

void require_correlation(const char* field, double rho) {
  require(rho >= 0.0 && rho < 1.0, field, rho, "in [0, 1)");
}

void require_residual(double alpha) {
  require(alpha >= 0.0 && alpha <= 1e50, "alpha", alpha, "a number in [0, 1e50]");
}

void require_squared_norm(const char* field, double q) {
  require(q >= 1e-50 && q <= 1e50, field, q, "a number in [1e-50, 1e50]");
}

double log_length(const char* field, double n) {
  require(n >= 2.0 && n <= kLargestLength, field, n, "a number in [2, 1e300]");
  return std::log(n);
}

void Temperature::add_to(CLI::App& verb) {
  CLI::Option* by_gamma = verb.add_option("--gamma", gamma, "beta = gamma log n");
  CLI::Option* by_beta = verb.add_option("--beta", beta, "Inverse temperature itself");
  by_beta->excludes(by_gamma);
  gamma_option = by_gamma;
  beta_option = by_beta;
}

double Temperature::inverse(double log_n) const {
  if (beta_option->count() > 0) {
    require(beta >= 0.0 && beta <= kLargestInverseTemperature, "beta", beta,
            "a number in [0, 1e100]");
    return beta;
  }
  if (gamma_option->count() == 0) {
    throw Error(Code::bad_value, "gamma: missing; allowed: --gamma or --beta, a number >= 0");
  }
  require(gamma >= 0.0 && gamma * log_n <= kLargestInverseTemperature, "gamma", gamma,
          "a number >= 0 with gamma log n <= 1e100");
  return gamma * log_n;
}

Json parameters_of(const SimplexLayer& layer) {
  return {{"n", layer.n},
          {"d", layer.dimension},
          {"rho", layer.correlation},
          {"beta", layer.inverse_temperature},
          {"gamma", layer.gamma()},
          {"alpha", layer.residual},
          {"q", layer.squared_norm}};
}

void SimplexOptions::add_to(CLI::App& verb) {
  verb.add_option("--n", n, "Tokens, a real number up to 1e300")->required();
  d_option = verb.add_option("--d", d, "Dimension, for the gradient; default n");
  rho_option = verb.add_option("--rho", rho, "Correlation of two tokens")->required();
  temperature.add_to(verb);
  verb.add_option("--alpha", alpha, "Residual strength in x' = ATT(N(x)) + alpha x")
      ->capture_default_str();
  verb.add_option("--q", q, "Squared norm of the incoming tokens")->capture_default_str();
}

SimplexLayer SimplexOptions::layer() const {
  const double log_n = log_length("n", n), dimension = d_option->count() > 0 ? d : n;
  require_dimension(dimension);
  require_correlation("rho", rho);
  require_residual(alpha);
  require_squared_norm("q", q);
  return {n, log_n, dimension, rho, temperature.inverse(log_n), alpha, q};
}

std::array<CLI::Option*, 3> ClusterOptions::add_to(CLI::App& verb) {
  return {verb.add_option("--tau", tau, "Clusters have n^tau neighbours for every token"),
          verb.add_option("--rho-rest", rho_rest, "Correlation across clusters"),
          verb.add_option("--rho-cluster", rho_cluster, "Correlation within a cluster")};
}

void ClusterOptions::check() const {
  require(tau >= 0.0 && tau <= 1.0, "tau", tau, "in [0, 1]");
  require_correlation("rho-rest", rho_rest);
  require_correlation("rho-cluster", rho_cluster);
  require(rho_cluster >= rho_rest, "rho-cluster", rho_cluster,
          fmt::format("at least rho-rest = {}", rho_rest));
}

double ClusterOptions::log_length(double n) const {
  const double log_n = cli::log_length("n", n);
  require(tau == 1.0 || tau * log_n <= theory::log_subtract(log_n, 0.0), "tau", tau,
          fmt::format("small enough for n = {}: n^tau neighbours are more than n - 1", n));
  return log_n;
}

}  // namespace dewpoint::cli
