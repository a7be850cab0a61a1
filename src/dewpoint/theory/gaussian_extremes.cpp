#include "dewpoint/theory/gaussian_extremes.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "dewpoint/core/distributions/normal.hpp"
#include "dewpoint/core/error.hpp"
#include "dewpoint/theory/gauss_legendre.hpp"

namespace dewpoint::theory {

namespace {

// ∫ f over log Γ by the trapezoidal rule. The integrands decay as Γ^{1/2} or faster to the left and
// as e^{−Γ} to the right; a step h errs by |Γ(1 + 2πi/h)|, 1e-10 at 0.4 and 1e-19 at 0.2.
constexpr double kLeastLogGamma = -60.0;
constexpr double kMostLogGamma = 4.1;  // e^{−60}

// How many steps fit between two numbers, the last one perhaps in part.
int steps_between(double low, double high, double step) {
  return static_cast<int>(std::ceil((high - low) / step));
}

double over_log_gamma(double step, const std::function<double(double)>& integrand) {
  const int steps = steps_between(kLeastLogGamma, kMostLogGamma, step);
  double sum = 0.0;
  for (int k = 0; k < steps; ++k) sum += integrand(kMostLogGamma - k * step);
  return step * sum;
}

/// (1 − x/n)^power with power = n − k, for x of order 1 and n of any size.
double log_power_of_rest(double x, double log_n, double k) {
  const double n = std::exp(log_n);
  return log_n > 36.0 ? -x : (n - k) * std::log1p(-std::min(x / n, 1.0));
}

/// The integral over y of g, on nodes that serve every s.
class OtherScores {
 public:
  OtherScores(double largest, double inverse_temperature, const QuadratureRule& panel) {
    const double drift = largest - inverse_temperature, hazard = normal::tail_hazard(largest);
    const double end = std::max(drift, 0.0) + kReach;
    for (int p = 0; p < steps_between(0.0, end, kPanel); ++p) {
      const QuadratureRule rule = on_interval(panel, p * kPanel, (p + 1) * kPanel);
      for (std::size_t k = 0; k < rule.nodes.size(); ++k) {
        const double y = rule.nodes[k];
        density_.push_back(rule.weights[k] * hazard * std::exp(y * (largest - 0.5 * y)));
        factor_.push_back(std::exp(-inverse_temperature * y));
      }
    }
    log_slope_ = std::log(hazard) + normal::log_cdf(drift) - normal::log_density(drift);
  }

  /// log of g/(Γ s) at s → 0.
  [[nodiscard]] double log_slope() const { return log_slope_; }

  /// g/Γ at s = e^σ. Below e^−28 the linear term is exact to rounding.
  [[nodiscard]] double shortfall(double sigma) const {
    if (sigma < -28.0) return std::exp(sigma + log_slope_);
    const double s = std::exp(sigma);
    double sum = 0.0;
    for (std::size_t k = 0; k < factor_.size(); ++k) {
      sum -= density_[k] * std::expm1(-s * factor_[k]);
    }
    return sum;
  }

 private:
  static constexpr double kReach = 12.0;  // standard deviations
  static constexpr double kPanel = 0.5;

  std::vector<double> density_;  // at most e^{u²/2}, a double while log n ≤ 640
  std::vector<double> factor_;
  double log_slope_;
};

}  // namespace

double mean_largest_score(double log_n) {
  DEWPOINT_EXPECTS(log_n >= kLeastLogScores);
  return over_log_gamma(0.2, [log_n](double tau) {
    return normal::upper_quantile(tau - log_n) *
           std::exp(tau + log_power_of_rest(std::exp(tau), log_n, 1.0));
  });
}

double mean_top_gap(double log_n, int rank) {
  DEWPOINT_EXPECTS(log_n >= kLeastLogScores && rank >= 1 && rank <= 16);
  double factor = 1.0;
  for (int j = 0; j < rank; ++j) factor *= (1.0 - j * std::exp(-log_n)) / (j + 1.0);
  return factor * over_log_gamma(0.2, [log_n, rank](double tau) {
           const double hazard = normal::tail_hazard(normal::upper_quantile(tau - log_n));
           return std::exp(rank * tau + log_power_of_rest(std::exp(tau), log_n, rank)) / hazard;
         });
}

double mean_largest_weight(double log_n, double inverse_temperature) {
  DEWPOINT_EXPECTS(log_n >= kLeastLogScores && log_n <= 640.0 && inverse_temperature >= 0.0);
  const QuadratureRule panel = gauss_legendre(16);
  constexpr double step = 0.4;
  return over_log_gamma(step, [&](double tau) {
    const OtherScores others(normal::upper_quantile(tau - log_n), inverse_temperature, panel);
    const double gamma = std::exp(tau);
    // In σ = log s the integrand rises as e^σ until s or g is of order 1, and g is at most linear.
    const double peak = std::min(0.0, -tau - others.log_slope());
    double sum = 0.0;
    for (int k = 0; k < steps_between(peak - 40.0, kMostLogGamma, step); ++k) {
      const double sigma = kMostLogGamma - k * step;
      const double used = gamma + gamma * others.shortfall(sigma);
      sum += std::exp(sigma - std::exp(sigma) + log_power_of_rest(used, log_n, 1.0));
    }
    return gamma * step * sum;
  });
}

}  // namespace dewpoint::theory
