#include "dewpoint/theory/sphere_average.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "dewpoint/core/error.hpp"

namespace dewpoint::theory {

namespace {

constexpr double kSmallestUniformOrder = 20.0;
constexpr int kMostTerms = 16;

using DebyeTable = std::array<std::array<double, kMostTerms + 1>, kMostTerms + 1>;

/// Coefficients of the Debye polynomials, U_k(p) = Σ_j table[k][j] p^{k+2j}, from
///
///     U_{k+1}(p) = ½ p²(1 − p²) U_k'(p) + ⅛ ∫_0^p (1 − 5t²) U_k(t) dt.
constexpr DebyeTable debye_polynomials() {
  DebyeTable table{};
  table[0][0] = 1.0;
  for (int k = 0; k < kMostTerms; ++k)
    for (int j = 0; j <= k; ++j) {
      const double power = k + 2 * j;
      table[k + 1][j] += table[k][j] * (power / 2 + 1 / (8 * (power + 1)));
      table[k + 1][j + 1] -= table[k][j] * (power / 2 + 5 / (8 * (power + 3)));
    }
  return table;
}

constexpr DebyeTable kDebye = debye_polynomials();

int steps_to_uniform(double order) {
  return static_cast<int>(std::max(0.0, std::ceil(kSmallestUniformOrder - order)));
}

}  // namespace

/// Σ_k U_k(p)/ν^k as one polynomial in p, divided by its value at p = 1: that value is the Stirling
/// series of 1/Γ(ν + 1), and dividing by it makes Λ(0) = 1 hold exactly.
SphereAverage::UniformExpansion::UniformExpansion(double nu) : order(nu) {
  double scale = 1.0;
  for (int k = 0; k <= kTerms; ++k, scale /= order)
    for (int j = 0; j <= k; ++j) polynomial[k + 2 * j] += kDebye[k][j] * scale;
  const double at_one = std::accumulate(polynomial.begin(), polynomial.end(), 0.0);
  for (double& coefficient : polynomial) coefficient /= at_one;
}

/// With z = k/ν and w = √(1 + z²): ν (w − 1 − z − log((1 + w)/2)) − ½ log w + log polynomial(1/w),
/// arranged so that no two large numbers are subtracted.
double SphereAverage::UniformExpansion::log(double concentration) const {
  const double z = concentration / order;
  const double w = std::sqrt(1.0 + z * z);
  const double excess = z * z / (1.0 + w);  // w − 1
  const double p = 1.0 / w;
  double sum = 0.0;
  for (int i = kDegree; i >= 0; --i) sum = sum * p + polynomial[i];
  return -order * ((excess + z) / (w + z) + std::log1p(0.5 * excess)) - 0.5 * std::log(w) +
         std::log(sum);
}

SphereAverage::SphereAverage(int dimension)
    : order_(0.5 * dimension - 1.0),
      steps_(steps_to_uniform(order_)),
      upper_(order_ + steps_),
      above_(order_ + steps_ + 1),
      smallest_hankel_argument_(std::max(50.0, 5.0 * order_ * order_)),
      log_hankel_scale_(std::lgamma(order_ + 1.0) + order_ * std::numbers::ln2 -
                        0.5 * std::log(2.0 * std::numbers::pi)) {
  DEWPOINT_EXPECTS(dimension >= 1);
  hankel_[0] = 1.0;
  for (int m = 1; m <= kHankelTerms; ++m) {
    const double odd = 2.0 * m - 1.0;
    hankel_[m] = hankel_[m - 1] * (odd * odd - 4.0 * order_ * order_) / (8.0 * m);
  }
}

double SphereAverage::log(double concentration) const {
  DEWPOINT_EXPECTS(0.0 <= concentration && concentration <= 1e150);
  if (steps_ == 0) return upper_.log(concentration);
  return concentration < smallest_hankel_argument_ ? log_by_recurrence(concentration)
                                                   : log_by_hankel(concentration);
}

/// Down the orders from (Λ_{ν+1}, Λ_ν) in units of Λ at the upper order. A step multiplies by at
/// most 1 + k/(2ν), so the result stays below 2001²¹ < 1e70.
double SphereAverage::log_by_recurrence(double concentration) const {
  const double log_upper = upper_.log(concentration);
  const double square = 0.25 * concentration * concentration;
  double above = std::exp(above_.log(concentration) - log_upper);
  double current = 1.0;
  for (int step = steps_; step > 0; --step) {
    const double order = order_ + step;
    const double below = current + square / (order * (order + 1.0)) * above;
    above = current;
    current = below;
  }
  return log_upper + std::log(current);
}

/// Two things are left out: the terms beyond the last, below 0.1^m/m! while (2m − 1)² < 4ν² and of
/// order m!/(2k)^m after, in all under 1e-16 for k ≥ max(50, 5ν²); and e^{−2k} < 1e-43.
double SphereAverage::log_by_hankel(double concentration) const {
  const double inverse = 1.0 / concentration;
  double sum = 0.0;
  for (int m = kHankelTerms; m >= 0; --m) sum = sum * inverse + hankel_[m];
  return log_hankel_scale_ - (order_ + 0.5) * std::log(concentration) + std::log(sum);
}

}  // namespace dewpoint::theory
