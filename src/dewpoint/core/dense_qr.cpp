// Apart from dense_algebra.cpp because each takes its time to compile.
#include <Eigen/QR>

#include "dewpoint/core/dense_algebra.hpp"
#include "dewpoint/core/dense_eigen.hpp"
#include "dewpoint/core/unknown.hpp"

namespace dewpoint {

Matrix<double> orthonormal_factor(MatrixView<const double> a) {
  DEWPOINT_EXPECTS(a.rows() >= a.cols());
  const Eigen::MatrixXd matrix = detail::to_eigen(a);
  if (!matrix.allFinite()) {
    Matrix<double> unknown(a.rows(), a.cols());
    std::fill_n(unknown.data(), unknown.size(), kUnknown);
    return unknown;
  }
  const Eigen::HouseholderQR<Eigen::MatrixXd> factors(matrix);
  Eigen::MatrixXd q =
      factors.householderQ() * Eigen::MatrixXd::Identity(matrix.rows(), matrix.cols());
  for (Eigen::Index k = 0; k < q.cols(); ++k) {
    if (factors.matrixQR()(k, k) < 0.0) q.col(k) *= -1.0;
  }
  return detail::from_eigen(q);
}

}  // namespace dewpoint
