#include "dewpoint/theory/training_times.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "dewpoint/core/error.hpp"
#include "dewpoint/core/vectors.hpp"
#include "dewpoint/theory/gauss_legendre.hpp"
#include "dewpoint/theory/markov_chain.hpp"
#include "dewpoint/theory/training_origin.hpp"

namespace dewpoint::theory {

namespace {

/// The scalar flow z' = 2 c_π z G(z) and what its poles need.
struct ProductFlow {
  double top;             // π_1
  double steepness;       // c_π = ‖π‖√(d/(d−1))
  double critical;        // θ_c
  double initial_gap;     // G(0) = π_1 − 1/d
  double critical_slope;  // g = −θ_c G'(θ_c) = θ_c c_π π_1(1 − π_1)

  ProductFlow(double top_probability, std::size_t tokens) : top(top_probability) {
    const double d = static_cast<double>(tokens);
    DEWPOINT_EXPECTS(tokens >= 2 && 1.0 / d < top && top < 1.0);
    const std::vector<double> law = two_group_law(top, tokens);
    steepness = std::sqrt(inner(law, law) * d / (d - 1.0));
    critical = std::log((d - 1.0) * top / (1.0 - top)) / steepness;
    initial_gap = top - 1.0 / d;
    critical_slope = critical * steepness * top * (1.0 - top);
  }

  /// G at distance x = θ_c − z, without subtracting π_1 from the probability.
  [[nodiscard]] double gap(double x) const {
    const double growth = std::expm1(steepness * x);
    return top * (1.0 - top) * growth / (1.0 + (1.0 - top) * growth);
  }
  /// θ_c − z where G(z) = δ.
  [[nodiscard]] double distance_at(double delta) const {
    return std::log1p(delta / ((1.0 - top) * (top - delta))) / steepness;
  }
  /// ∫ R dz between two distances from θ_c, with R = 1/(zG) − 1/(G(0) z) − 1/(g (θ_c − z)).
  [[nodiscard]] double regular_part(double near, double far) const {
    const QuadratureRule rule = on_interval(gauss_legendre(64), near, far);
    double sum = 0.0;
    for (std::size_t k = 0; k < rule.nodes.size(); ++k) {
      const double x = rule.nodes[k], z = critical - x;
      const double rest = 1.0 / (z * gap(x)) - 1.0 / (initial_gap * z) - 1.0 / (critical_slope * x);
      sum += rule.weights[k] * rest;
    }
    return sum;
  }
};

}  // namespace

double linear_error(const Saddle& saddle, double distance, double time) {
  const double growth = saddle.rate > 0.0 ? std::expm1(saddle.rate * time) / saddle.rate : time;
  return 4.0 * saddle.curvature * distance * distance * std::exp(saddle.rate * time) * growth;
}

double linear_window(const Saddle& saddle, double distance) {
  DEWPOINT_EXPECTS(0.0 < distance && 2.0 * distance <= saddle.radius);
  const double reach = 1.0 / (4.0 * saddle.curvature * distance);
  if (saddle.rate <= 0.0) return reach;
  return std::min(std::log(saddle.radius / (2.0 * distance)), std::log1p(saddle.rate * reach)) /
         saddle.rate;
}

double plateau_time(std::span<const double> law, double size, double n) {
  DEWPOINT_EXPECTS(0.0 < size && size < 1.0 && n >= 1.0);
  return (1.0 - 1.0 / n) * -std::log(size) / origin_growth(law).rate;
}

double critical_product(double top, std::size_t tokens) {
  return ProductFlow(top, tokens).critical;
}

double condensation_integral(double top, std::size_t tokens, double initial_product, double gap) {
  const ProductFlow flow(top, tokens);
  const double far = flow.critical - initial_product, near = flow.distance_at(gap);
  DEWPOINT_EXPECTS(0.0 < initial_product && 0.0 < near && near < far);
  return flow.regular_part(near, far) +
         std::log((flow.critical - near) / initial_product) / flow.initial_gap +
         std::log(far / near) / flow.critical_slope;
}

double condensation_time(double top, std::size_t tokens, double initial_product, double gap) {
  return condensation_integral(top, tokens, initial_product, gap) /
         (2.0 * ProductFlow(top, tokens).steepness);
}

double condensation_logarithms(double top, std::size_t tokens, double initial_product, double gap) {
  const ProductFlow flow(top, tokens);
  return -std::log(initial_product) / flow.initial_gap - std::log(gap) / flow.critical_slope;
}

double condensation_constant(double top, std::size_t tokens) {
  const ProductFlow flow(top, tokens);
  return flow.regular_part(0.0, flow.critical) + std::log(flow.critical) / flow.initial_gap +
         std::log(flow.critical_slope) / flow.critical_slope;
}

double arrival_time(double top, std::size_t tokens, double size, double gap) {
  return condensation_logarithms(top, tokens, size * size, gap) /
         (2.0 * ProductFlow(top, tokens).steepness);
}

double attention_time(double attention_rate, double initial_size, double size) {
  DEWPOINT_EXPECTS(attention_rate != 0.0 && 0.0 < initial_size && initial_size <= size);
  return std::log(size / initial_size) / std::abs(attention_rate);
}

}  // namespace dewpoint::theory
