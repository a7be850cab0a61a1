#include "cli/predict_options.hpp"

#include <fmt/format.h>

#include <cmath>

#include "dewpoint/core/error.hpp"
#include "dewpoint/theory/log_space.hpp"

namespace dewpoint::cli {

const char* phase_name(double scaling_variable) {
  if (std::abs(scaling_variable) <= kWindow) return "critical window";
  return scaling_variable < 0.0 ? "subcritical" : "supercritical";
}

void require(bool allowed, const char* field, double value, const std::string& range) {
  if (!allowed) {
    throw Error(Code::bad_value, fmt::format("{}: {} is not {}", field, value, range));
  }
}

double Temperature::inverse(double log_n) const {
  if (beta) return *beta;
  if (!gamma) {
    throw Error(Code::bad_value, "gamma: missing; allowed: --gamma or --beta, a number >= 0");
  }
  require(*gamma * log_n <= kLargestInverseTemperature, "gamma", *gamma,
          "a number with gamma log n <= 1e100");
  return *gamma * log_n;
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

void Clusters::check() const {
  require(rho_cluster >= rho_rest, "rho-cluster", rho_cluster,
          fmt::format("at least rho-rest = {}", rho_rest));
}

double Clusters::log_length(double n) const {
  const double log_n = std::log(n);
  require(tau == 1.0 || tau * log_n <= theory::log_subtract(log_n, 0.0), "tau", tau,
          fmt::format("small enough for n = {}: n^tau neighbours are more than n - 1", n));
  return log_n;
}

}  // namespace dewpoint::cli
