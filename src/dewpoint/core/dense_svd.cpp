// Apart from dense_algebra.cpp because the two take as long to compile.
#include <Eigen/SVD>

#include "dewpoint/core/dense_algebra.hpp"
#include "dewpoint/core/dense_eigen.hpp"
#include "dewpoint/core/unknown.hpp"

namespace dewpoint {

// Eigen leaves them undefined when the matrix is not finite.
std::vector<double> singular_values(MatrixView<const double> a) {
  const Eigen::MatrixXd matrix = detail::to_eigen(a);
  if (!matrix.allFinite()) return std::vector<double>(std::min(a.rows(), a.cols()), kUnknown);
  return detail::to_vector(Eigen::BDCSVD<Eigen::MatrixXd>(matrix).singularValues());
}

}  // namespace dewpoint
