// What a chain is known by.
#include <algorithm>
#include <cmath>
#include <span>
#include <utility>
#include <vector>

#include "dewpoint/core/dense_algebra.hpp"
#include "dewpoint/core/error.hpp"
#include "dewpoint/training/chain.hpp"

namespace dewpoint::training {
namespace {

double entropy(std::span<const double> law) {
  double sum = 0.0;
  for (const double p : law) {
    if (p > 0.0) sum -= p * std::log(p);
  }
  return sum;
}

}  // namespace

double second_eigenvalue(const Chain& chain) {
  Matrix<double> rest = chain.transition;
  for (std::size_t i = 0; i < rest.rows(); ++i) {
    for (std::size_t j = 0; j < rest.cols(); ++j) rest(i, j) -= chain.stationary[j];
  }
  const auto found = general_eigenvalues(rest);
  if (!found) throw Error(Code::bad_value, "chain: the eigenvalues of its matrix were not found");
  double largest = 0.0;
  for (const Complex& value : *found) largest = std::max(largest, std::abs(value));
  return largest;
}

double entropy_rate(const Chain& chain) {
  double sum = 0.0;
  for (std::size_t i = 0; i < chain.vocabulary(); ++i) {
    sum += chain.stationary[i] * entropy(chain.transition.row(i));
  }
  return sum;
}

double best_loss(const Chain& chain, std::size_t context) {
  const std::size_t d = chain.vocabulary();
  std::vector<double> law(d, 1.0 / static_cast<double>(d));
  for (std::size_t step = 1; step < context; ++step) {
    std::vector<double> next(d, 0.0);
    for (std::size_t i = 0; i < d; ++i) {
      for (std::size_t j = 0; j < d; ++j) next[j] += law[i] * chain.transition(i, j);
    }
    law = std::move(next);
  }
  double sum = 0.0;
  for (std::size_t i = 0; i < d; ++i) sum += law[i] * entropy(chain.transition.row(i));
  return sum;
}

double stationary_entropy(const Chain& chain) { return entropy(chain.stationary); }

}  // namespace dewpoint::training
