#include "dewpoint/observables/effective_rank.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

#include "dewpoint/core/error.hpp"

namespace dewpoint::observables {
namespace {

Matrix<double> centred(MatrixView<const double> rows) {
  std::vector<double> mean(rows.cols(), 0.0);
  for (std::size_t i = 0; i < rows.rows(); ++i)
    for (std::size_t k = 0; k < rows.cols(); ++k) mean[k] += rows(i, k);
  for (double& component : mean) component /= static_cast<double>(rows.rows());

  Matrix<double> differences(rows.rows(), rows.cols());
  for (std::size_t i = 0; i < rows.rows(); ++i)
    for (std::size_t k = 0; k < rows.cols(); ++k) differences(i, k) = rows(i, k) - mean[k];
  return differences;
}

}  // namespace

double effective_rank(MatrixView<const double> rows) {
  DEWPOINT_EXPECTS(rows.rows() >= 2);
  // The smaller Gram matrix has the eigenvalues of the covariance, up to a factor and zeros.
  std::vector<double> values = symmetric_eigenvalues(smaller_gram(centred(rows)));
  for (double& value : values) value = std::max(value, 0.0);
  const double total = std::accumulate(values.begin(), values.end(), 0.0);
  if (total == 0.0) return 0.0;
  double entropy = 0.0;
  for (const double value : values) {
    if (value > 0.0) entropy -= value / total * std::log(value / total);
  }
  return std::exp(entropy);
}

}  // namespace dewpoint::observables
