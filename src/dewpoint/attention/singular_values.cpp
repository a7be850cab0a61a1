#include "dewpoint/attention/singular_values.hpp"

#include <Spectra/SymEigsSolver.h>
#include <fmt/format.h>

#include <Eigen/Core>
#include <algorithm>
#include <functional>

namespace dewpoint::attention {
namespace {

using Eigen::Index;
using Vector = Eigen::VectorXd;
using Columns = Eigen::MatrixXd;

Index index(std::size_t n) { return static_cast<Index>(n); }

Matrix<double> as_tokens(const Vector& v, const JacobianOperator& jacobian) {
  Matrix<double> result(jacobian.rows(), jacobian.dimension());
  std::copy_n(v.data(), result.size(), result.data());
  return result;
}

Vector as_vector(const Matrix<double>& tokens) {
  return Eigen::Map<const Vector>(tokens.data(), index(tokens.size()));
}

Vector gram_product(const JacobianOperator& jacobian, const Vector& v) {
  return as_vector(jacobian.vjp(jacobian.jvp(as_tokens(v, jacobian))));
}

double stretch(const JacobianOperator& jacobian, const Vector& v) {
  return as_vector(jacobian.jvp(as_tokens(v, jacobian))).norm();
}

Vector without(const Columns& found, const Vector& v) {
  return v - found * (found.transpose() * v);
}

// I + Q JᵀJ Q/scale, where Q removes the columns of `found`. Spectra judges residuals relative to
// each eigenvalue, and small vectors by absolute thresholds. With the largest eigenvalue of JᵀJ
// brought to order 1 its thresholds mean what they should, and with 1 added to all of them the
// residuals are judged relative to the largest.
class ShiftedGram {
 public:
  using Scalar = double;

  ShiftedGram(const JacobianOperator& jacobian, double scale, const Columns& found)
      : jacobian_(jacobian), scale_(scale), found_(found) {}

  [[nodiscard]] Index rows() const { return index(jacobian_.rows() * jacobian_.dimension()); }
  [[nodiscard]] Index cols() const { return rows(); }
  void perform_op(const double* in, double* out) const {
    const Eigen::Map<const Vector> v(in, rows());
    Eigen::Map<Vector>(out, rows()) =
        v + without_found(gram_product(jacobian_, without_found(v))) / scale_;
  }

 private:
  [[nodiscard]] Vector without_found(const Vector& v) const { return without(found_, v); }

  const JacobianOperator& jacobian_;
  double scale_;
  const Columns& found_;
};

// A residual of tolerance · (1 + σ_1²/scale) with scale ≤ σ_1² is at most 2 tolerance · σ_1²/scale;
// the other half of the promise is left to rounding.
constexpr double kTolerance = kSingularValueError / 4.0;

class Search {
 public:
  Search(const JacobianOperator& jacobian, const Stream& stream, SingularValueOptions options)
      : jacobian_(jacobian),
        stream_(stream),
        options_(options),
        side_(jacobian.rows() * jacobian.dimension()),
        scale_(scale_of_gram()) {}

  // Eigenvectors of JᵀJ on the complement of `found`, the `count` with the largest eigenvalues.
  std::optional<Columns> top(std::size_t count, const Columns& found) {
    ShiftedGram gram(jacobian_, scale_, found);
    const std::size_t wished = options_.basis == 0 ? std::max<std::size_t>(20, 2 * count + 1)
                                                   : std::max(options_.basis, count + 1);
    Spectra::SymEigsSolver<ShiftedGram> solver(gram, index(count), index(std::min(wished, side_)));
    const Vector start = next_start();
    solver.init(start.data());
    solver.compute(Spectra::SortRule::LargestAlge, index(options_.restarts), kTolerance);
    if (solver.info() != Spectra::CompInfo::Successful) return std::nullopt;
    return solver.eigenvectors();
  }

 private:
  Vector next_start() {
    Vector start(index(side_));
    stream_.normals(side_ * starts_++, {start.data(), side_});
    return start.normalized();
  }

  // A lower bound of σ_1², of its order after a few steps; 1 for J = 0.
  double scale_of_gram() {
    constexpr int kSteps = 3;
    Vector v = next_start();
    double length = 0.0;
    for (int step = 0; step < kSteps; ++step) {
      v = gram_product(jacobian_, v);
      length = v.norm();
      if (length == 0.0) return 1.0;
      v /= length;
    }
    return length;
  }

  const JacobianOperator& jacobian_;
  const Stream& stream_;
  SingularValueOptions options_;
  std::size_t side_;
  std::size_t starts_ = 0;
  double scale_;
};

// Directions and how much J stretches them, in decreasing order.
class Found {
 public:
  explicit Found(const JacobianOperator& jacobian) : jacobian_(jacobian) {}

  void insert(const Vector& v) {
    const double value = stretch(jacobian_, v);
    const auto place = std::upper_bound(values_.begin(), values_.end(), value, std::greater<>());
    directions_.insert(directions_.begin() + (place - values_.begin()), v);
    values_.insert(place, value);
  }
  void drop_last() {
    values_.pop_back();
    directions_.pop_back();
  }
  // Whether an eigenvalue of JᵀJ lies above the last by more than the error of either.
  [[nodiscard]] bool is_exceeded_by(double value) const {
    const double last = values_.back();
    return value * value - last * last > kSingularValueError * values_.front() * values_.front();
  }
  [[nodiscard]] Columns columns() const {
    Columns result(directions_.front().size(), index(directions_.size()));
    for (std::size_t k = 0; k < directions_.size(); ++k) result.col(index(k)) = directions_[k];
    return result;
  }
  [[nodiscard]] SingularValues result() const {
    SingularValues result{values_, {}};
    for (const Vector& v : directions_) result.directions.push_back(as_tokens(v, jacobian_));
    return result;
  }

 private:
  const JacobianOperator& jacobian_;
  std::vector<double> values_;
  std::vector<Vector> directions_;
};

}  // namespace

std::optional<SingularValues> top_singular_values(const JacobianOperator& jacobian,
                                                  std::size_t count, const Stream& stream,
                                                  const SingularValueOptions& options) {
  const std::size_t side = jacobian.rows() * jacobian.dimension();
  if (count < 1 || count >= side) {
    throw Error(Code::bad_value,
                fmt::format("count: {} is not between 1 and n d - 1 = {}", count, side - 1));
  }
  Search search(jacobian, stream, options);
  const std::optional<Columns> first = search.top(count, Columns(index(side), 0));
  if (!first) return std::nullopt;
  Found found(jacobian);
  for (Index k = 0; k < first->cols(); ++k) found.insert(first->col(k));

  // Each pass takes in one vector that was missed, and there are at most `count` of those.
  for (std::size_t pass = 0; pass <= count; ++pass) {
    const std::optional<Columns> next = search.top(1, found.columns());
    if (!next) return std::nullopt;
    // Where J vanishes on the complement, the vector may be anything: only its part there counts.
    const Vector missed = without(found.columns(), next->col(0));
    if (!found.is_exceeded_by(stretch(jacobian, missed))) break;
    found.insert(missed.normalized());
    found.drop_last();
  }
  return found.result();
}

}  // namespace dewpoint::attention
