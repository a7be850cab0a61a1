#include "dewpoint/core/dense_algebra.hpp"

#include <Eigen/Eigenvalues>
#include <Eigen/LU>

#include "dewpoint/core/dense_eigen.hpp"
#include "dewpoint/core/unknown.hpp"

namespace dewpoint {
namespace {

using detail::from_eigen;
using detail::to_eigen;
using detail::to_vector;
using Columns = Eigen::MatrixXd;
using SymmetricSolver = Eigen::SelfAdjointEigenSolver<Columns>;
using GeneralSolver = Eigen::EigenSolver<Columns>;

Eigen::Map<const Eigen::VectorXd> column(std::span<const double> x) {
  return {x.data(), static_cast<Eigen::Index>(x.size())};
}

// Eigen leaves undefined what belongs to numbers that are not finite: of those there is no solver.

std::optional<SymmetricSolver> symmetric_solver(MatrixView<const double> a, int parts) {
  DEWPOINT_EXPECTS(a.rows() == a.cols());
  const Columns matrix = to_eigen(a);
  if (!matrix.allFinite()) return std::nullopt;
  return SymmetricSolver(matrix, parts);
}

std::optional<GeneralSolver> general_solver(MatrixView<const double> a, bool with_vectors) {
  DEWPOINT_EXPECTS(a.rows() == a.cols());
  const Columns matrix = to_eigen(a);
  if (!matrix.allFinite()) return std::nullopt;
  const GeneralSolver solver(matrix, with_vectors);
  return solver.info() == Eigen::Success ? std::optional(solver) : std::nullopt;
}

}  // namespace

std::vector<double> lu_solve(MatrixView<const double> a, std::span<const double> b) {
  DEWPOINT_EXPECTS(a.rows() == a.cols() && a.rows() == b.size());
  const Eigen::VectorXd x = Eigen::PartialPivLU<Columns>(to_eigen(a)).solve(column(b));
  return to_vector(x);
}

Matrix<double> lu_inverse(MatrixView<const double> a) {
  DEWPOINT_EXPECTS(a.rows() == a.cols());
  return from_eigen(Columns(Eigen::PartialPivLU<Columns>(to_eigen(a)).inverse()));
}

Matrix<double> smaller_gram(MatrixView<const double> w) {
  const detail::Rows rows = to_eigen(w);
  return from_eigen(w.rows() <= w.cols() ? Columns(rows * rows.transpose())
                                         : Columns(rows.transpose() * rows));
}

std::vector<double> symmetric_eigenvalues(MatrixView<const double> a) {
  const auto solver = symmetric_solver(a, Eigen::EigenvaluesOnly);
  if (!solver) return std::vector<double>(a.rows(), kUnknown);
  return to_vector(solver->eigenvalues());
}

SymmetricEigen symmetric_eigen(MatrixView<const double> a) {
  const auto solver = symmetric_solver(a, Eigen::ComputeEigenvectors);
  if (!solver) {
    SymmetricEigen unknown{std::vector<double>(a.rows(), kUnknown), {a.rows(), a.rows()}};
    std::fill_n(unknown.vectors.data(), unknown.vectors.size(), kUnknown);
    return unknown;
  }
  return {to_vector(solver->eigenvalues()), from_eigen(solver->eigenvectors())};
}

std::vector<double> symmetric_exponential(MatrixView<const double> a, double time,
                                          std::span<const double> x) {
  DEWPOINT_EXPECTS(a.rows() == x.size());
  const auto solver = symmetric_solver(a, Eigen::ComputeEigenvectors);
  if (!solver) return std::vector<double>(x.size(), kUnknown);
  const Eigen::VectorXd growth = (time * solver->eigenvalues()).array().exp();
  const Eigen::VectorXd moved =
      solver->eigenvectors() *
      (growth.array() * (solver->eigenvectors().transpose() * column(x)).array()).matrix();
  return to_vector(moved);
}

std::optional<std::vector<Complex>> general_eigenvalues(MatrixView<const double> a) {
  const auto solver = general_solver(a, false);
  if (!solver) return std::nullopt;
  return to_vector(solver->eigenvalues());
}

std::optional<EigenModes> eigen_modes(MatrixView<const double> a) {
  const auto solver = general_solver(a, true);
  if (!solver) return std::nullopt;
  const Eigen::MatrixXcd right = solver->eigenvectors(), left = right.inverse();
  return EigenModes{to_vector(solver->eigenvalues()), from_eigen(right), from_eigen(left)};
}

}  // namespace dewpoint
