#include "dewpoint/training/leading_pair.hpp"

#include <Spectra/MatOp/DenseSymMatProd.h>
#include <Spectra/SymEigsSolver.h>

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <optional>

namespace dewpoint::training {
namespace {

using Eigen::Index;
using Columns = Eigen::MatrixXd;

/// Values in decreasing order and their vectors as columns.
struct Eigenpairs {
  Eigen::VectorXd values;
  Columns vectors;
};

constexpr Index kLargestWhole = 64;

Eigenpairs whole_decomposition(const Columns& gram) {
  const Eigen::SelfAdjointEigenSolver<Columns> solver(gram);
  return {solver.eigenvalues().reverse(), solver.eigenvectors().rowwise().reverse()};
}

// Spectra judges a residual relative to its eigenvalue. The trace is brought to the side, so that
// the largest eigenvalue is at least 1, and 1 is added to all: a second eigenvalue of 0 converges
// too, and residuals are at most 2 kTolerance times the largest.
std::optional<Eigenpairs> restarted_lanczos(const Columns& gram, double scale) {
  constexpr double kTolerance = 1e-12;
  constexpr Index kBasis = 40, kRestarts = 200;
  Columns shifted = gram / scale;
  shifted.diagonal().array() += 1.0;
  Spectra::DenseSymMatProd<double> product(shifted);
  Spectra::SymEigsSolver<Spectra::DenseSymMatProd<double>> solver(product, 2, kBasis);
  solver.init();
  solver.compute(Spectra::SortRule::LargestAlge, kRestarts, kTolerance);
  if (solver.info() != Spectra::CompInfo::Successful) return std::nullopt;
  return Eigenpairs{(solver.eigenvalues().array() - 1.0) * scale, solver.eigenvectors()};
}

Eigenpairs eigenpairs(const Columns& gram, double trace) {
  if (gram.rows() > kLargestWhole) {
    if (auto found = restarted_lanczos(gram, trace / static_cast<double>(gram.rows()))) {
      return *found;
    }
  }
  return whole_decomposition(gram);
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
  const Eigenpairs found = eigenpairs(matrix, pair.trace);
  for (Index k = 0; k < std::min<Index>(2, side); ++k) {
    const auto place = static_cast<std::size_t>(k);
    pair.values[place] = std::max(0.0, found.values(k));
    const auto vector = found.vectors.col(k);
    std::copy(vector.begin(), vector.end(), pair.vectors[place].begin());
  }
  return pair;
}

}  // namespace dewpoint::training
