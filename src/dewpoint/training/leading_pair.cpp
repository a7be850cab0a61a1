#include "dewpoint/training/leading_pair.hpp"

#include <Spectra/MatOp/DenseSymMatProd.h>
#include <Spectra/SymEigsSolver.h>

#include <Eigen/Core>
#include <algorithm>
#include <cmath>

#include "dewpoint/core/dense_algebra.hpp"

namespace dewpoint::training {
namespace {

using Eigen::Index;
using Columns = Eigen::MatrixXd;

constexpr std::size_t kLargestWhole = 64;

void decompose_whole(MatrixView<const double> gram, LeadingPair& pair) {
  const SymmetricEigen all = symmetric_eigen(gram);
  const std::size_t side = gram.rows();
  for (std::size_t k = 0; k < std::min<std::size_t>(2, side); ++k) {
    const std::size_t column = side - 1 - k;
    pair.values[k] = std::max(0.0, all.values[column]);
    for (std::size_t i = 0; i < side; ++i) pair.vectors[k][i] = all.vectors(i, column);
  }
}

// Spectra judges a residual relative to its eigenvalue. The trace is brought to the side, so that
// the largest eigenvalue is at least 1, and 1 is added to all: a second eigenvalue of 0 converges
// too, and residuals are at most 2 kTolerance times the largest. False where it does not converge.
bool restarted_lanczos(const Columns& gram, double scale, LeadingPair& pair) {
  constexpr double kTolerance = 1e-12;
  constexpr Index kBasis = 40, kRestarts = 200;
  Columns shifted = gram / scale;
  shifted.diagonal().array() += 1.0;
  Spectra::DenseSymMatProd<double> product(shifted);
  Spectra::SymEigsSolver<Spectra::DenseSymMatProd<double>> solver(product, 2, kBasis);
  solver.init();
  solver.compute(Spectra::SortRule::LargestAlge, kRestarts, kTolerance);
  if (solver.info() != Spectra::CompInfo::Successful) return false;
  const Eigen::VectorXd values = solver.eigenvalues();
  const Columns vectors = solver.eigenvectors();
  for (Index k = 0; k < 2; ++k) {
    const auto place = static_cast<std::size_t>(k);
    pair.values[place] = std::max(0.0, (values(k) - 1.0) * scale);
    std::copy_n(vectors.data() + k * gram.rows(), gram.rows(), pair.vectors[place].begin());
  }
  return true;
}

}  // namespace

LeadingPair leading_pair(MatrixView<const double> gram) {
  DEWPOINT_EXPECTS(gram.rows() == gram.cols() && gram.rows() == gram.stride());
  const auto side = static_cast<Index>(gram.rows());
  const Eigen::Map<const Columns> matrix(gram.data(), side, side);
  LeadingPair pair;
  for (auto& vector : pair.vectors) vector.assign(gram.rows(), 0.0);
  pair.trace = matrix.trace();
  if (!(pair.trace > 0.0) || !matrix.allFinite() || !std::isfinite(pair.trace)) return pair;
  const double scale = pair.trace / static_cast<double>(side);
  if (gram.rows() <= kLargestWhole || !restarted_lanczos(matrix, scale, pair)) {
    decompose_whole(gram, pair);
  }
  return pair;
}

}  // namespace dewpoint::training
