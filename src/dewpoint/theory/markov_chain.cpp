#include "dewpoint/theory/markov_chain.hpp"

#include <cmath>
#include <numeric>

#include "dewpoint/core/error.hpp"
#include "dewpoint/core/vectors.hpp"

namespace dewpoint::theory {

std::vector<double> two_group_law(double top, std::size_t tokens) {
  DEWPOINT_EXPECTS(tokens >= 2 && 0.0 < top && top < 1.0);
  std::vector<double> law(tokens, (1.0 - top) / static_cast<double>(tokens - 1));
  law[0] = top;
  return law;
}

Matrix<double> persistent_chain(std::span<const double> law, double persistence) {
  Matrix<double> transition(law.size(), law.size());
  for (std::size_t i = 0; i < law.size(); ++i) {
    for (std::size_t j = 0; j < law.size(); ++j) {
      transition(i, j) = (1.0 - persistence) * law[j] + (i == j ? persistence : 0.0);
    }
  }
  return transition;
}

double law_entropy(std::span<const double> law) {
  double sum = 0.0;
  for (const double p : law) sum -= p * std::log(p);
  return sum;
}

double chain_entropy_rate(std::span<const double> law, MatrixView<const double> transition) {
  double sum = 0.0;
  for (std::size_t i = 0; i < law.size(); ++i) {
    for (const double p : transition.row(i)) {
      if (p > 0.0) sum -= law[i] * p * std::log(p);
    }
  }
  return sum;
}

std::vector<double> covariance_times(std::span<const double> law, std::span<const double> x) {
  const double mean = inner(law, x);
  std::vector<double> product(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) product[i] = law[i] * (x[i] - mean);
  return product;
}

std::vector<double> pair_covariance_times(std::span<const double> law,
                                          MatrixView<const double> transition,
                                          std::span<const double> x) {
  const double mean = inner(law, x);
  std::vector<double> product(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    product[i] = law[i] * (inner(transition.row(i), x) - mean);
  }
  return product;
}

std::vector<double> pair_covariance_transposed_times(std::span<const double> law,
                                                     MatrixView<const double> transition,
                                                     std::span<const double> x) {
  const double mean = inner(law, x);
  std::vector<double> product(x.size(), 0.0);
  for (std::size_t i = 0; i < x.size(); ++i) {
    for (std::size_t j = 0; j < x.size(); ++j) product[j] += law[i] * transition(i, j) * x[i];
  }
  for (std::size_t j = 0; j < x.size(); ++j) product[j] -= law[j] * mean;
  return product;
}

Ray ray_of(std::span<const double> x, double negligible) {
  const double length = std::sqrt(inner(x, x));
  Ray result{0.0, std::vector<double>(x.size(), 0.0)};
  if (length <= negligible) return result;
  result.length = length;
  for (std::size_t i = 0; i < x.size(); ++i) result.direction[i] = x[i] / length;
  return result;
}

std::vector<double> centred(std::span<const double> x) {
  const double mean = std::accumulate(x.begin(), x.end(), 0.0) / static_cast<double>(x.size());
  std::vector<double> result(x.begin(), x.end());
  for (double& value : result) value -= mean;
  return result;
}

}  // namespace dewpoint::theory
