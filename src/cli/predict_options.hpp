// What may be asked of `dewpoint predict`: what several questions share, described once.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "cli/answer.hpp"
#include "cli/verbs.hpp"

namespace dewpoint::cli {

inline constexpr double kLargestInverseTemperature = 1e100;  // its square is still a double
inline constexpr question::Range kLengths = question::in(2.0, 1e300);
inline constexpr question::Range kCorrelations = question::below(0.0, 1.0);
inline constexpr question::Range kSquaredNorms = question::in(1e-50, 1e50);

/// Half-width of the critical window in x = (c − 1) log n. At its ends a token keeps 1/(1 + e^2) =
/// 0.12 and 0.88 of its attention for itself.
inline constexpr double kWindow = 2.0;

/// "subcritical", "critical window", "supercritical", by x.
[[nodiscard]] const char* phase_name(double scaling_variable);

/// For what no range says: throws Error{bad_value} "field: value is not .." unless allowed.
void require(bool allowed, const char* field, double value, const std::string& range);

/// --gamma or --beta, one of the two.
struct Temperature {
  std::optional<double> gamma;
  std::optional<double> beta;

  [[nodiscard]] double inverse(double log_n) const;
};

template <class Visitor>
void describe(Visitor& visit, Temperature& q) {
  visit("gamma", q.gamma, question::at_least(0.0),
        "inverse temperature in units of log n: beta = gamma log n");
  visit("beta", q.beta, question::in(0.0, kLargestInverseTemperature), "inverse temperature itself",
        question::instead_of("gamma"));
}

template <class Visitor>
void describe_length(Visitor& visit, double& n) {
  visit("n", n, kLengths, "tokens, a real number", question::required);
}

/// Of tokens of their own: the dimension matters for the gradient alone.
template <class Visitor, class... About>
void describe_dimension(Visitor& visit, std::optional<double>& d, const About&... about) {
  visit("d", d, question::in(1.0, 1e300), "dimension, for the gradient", question::otherwise("n"),
        about...);
}

template <class Visitor, class Member, class... About>
void describe_correlation(Visitor& visit, Member& rho, const About&... about) {
  visit("rho", rho, kCorrelations, "correlation of two tokens", about...);
}

template <class Visitor>
void describe_residual(Visitor& visit, double& alpha) {
  visit("alpha", alpha, question::in(0.0, 1e50), "residual strength in x' = ATT(N(x)) + alpha x");
}

template <class Visitor>
void describe_squared_norm(Visitor& visit, double& q) {
  visit("q", q, kSquaredNorms, "squared norm of the incoming tokens");
}

/// One layer on a regular simplex.
struct SimplexLayer {
  double n, log_n, dimension, correlation, inverse_temperature, residual, squared_norm;

  [[nodiscard]] double gamma() const { return inverse_temperature / log_n; }
  /// c = γ(1 − ρ).
  [[nodiscard]] double reduced_scale() const {
    return inverse_temperature * (1.0 - correlation) / log_n;
  }
  /// x = (c − 1) log n.
  [[nodiscard]] double scaling_variable() const {
    return inverse_temperature * (1.0 - correlation) - log_n;
  }
};

[[nodiscard]] Json parameters_of(const SimplexLayer& layer);

/// Tokens in clusters of n^τ neighbours.
struct Clusters {
  double tau = 0.0;
  double rho_rest = 0.0;
  double rho_cluster = 0.0;

  /// What no range of one of them says.
  void check() const;
  /// log n of a length that has room for n^τ neighbours.
  [[nodiscard]] double log_length(double n) const;
};

/// The three members of `q`, whether they are required or not.
template <class Visitor, class Question, class... About>
void describe_clusters(Visitor& visit, Question& q, const About&... about) {
  visit("tau", q.tau, question::in(0.0, 1.0), "clusters have n^tau neighbours for every token",
        about...);
  visit("rho-rest", q.rho_rest, kCorrelations, "correlation across clusters", about...);
  visit("rho-cluster", q.rho_cluster, kCorrelations, "correlation within a cluster", about...);
}

}  // namespace dewpoint::cli
