#include "dewpoint/attention/jacobian_reference.hpp"

#include <cmath>
#include <numeric>

namespace dewpoint::attention {
namespace {

using Vector = std::vector<double>;
using Row = std::span<const double>;

double inner(Row a, Row b) { return std::inner_product(a.begin(), a.end(), b.begin(), 0.0); }

double square(double x) { return x * x; }

Vector difference(Row a, Row b) {
  Vector result(a.size());
  for (std::size_t k = 0; k < a.size(); ++k) result[k] = a[k] - b[k];
  return result;
}

void add(double scale, Row a, std::span<double> sum) {
  for (std::size_t k = 0; k < a.size(); ++k) sum[k] += scale * a[k];
}

// block += scale · a bᵀ
void add_outer(double scale, Row a, Row b, MatrixView<double> block) {
  for (std::size_t v = 0; v < a.size(); ++v) add(scale * a[v], b, block.row(v));
}

void add_identity(double scale, MatrixView<double> block) {
  for (std::size_t v = 0; v < block.rows(); ++v) block(v, v) += scale;
}

// What is left of a vector when its part along the unit vector y is taken away.
Vector tangent(Row y, Row vector) {
  Vector result(vector.begin(), vector.end());
  add(-inner(y, vector), y, result);
  return result;
}

Vector mean_row(const Matrix<double>& rows) {
  Vector mean(rows.cols(), 0.0);
  for (std::size_t i = 0; i < rows.rows(); ++i) add(1.0, rows.row(i), mean);
  for (double& m : mean) m /= static_cast<double>(rows.rows());
  return mean;
}

Matrix<double> minus(const Matrix<double>& rows, Row centre) {
  Matrix<double> result = rows;
  for (std::size_t i = 0; i < rows.rows(); ++i) add(-1.0, centre, result.row(i));
  return result;
}

// ⟨z_i, z_k⟩²
Matrix<double> squared_overlaps(const Matrix<double>& z) {
  Matrix<double> result(z.rows(), z.rows());
  for (std::size_t i = 0; i < z.rows(); ++i) {
    for (std::size_t k = 0; k < z.rows(); ++k) result(i, k) = square(inner(z.row(i), z.row(k)));
  }
  return result;
}

// Σ_ik A_i A_k ⟨z_i, z_k⟩²
double over_pairs_of_keys(Row weights, const Matrix<double>& overlaps) {
  double sum = 0.0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    sum += weights[i] * inner(weights, overlaps.row(i));
  }
  return sum;
}

// Σ_uv (Σ_i A_i z_iu z_iv)², with a pair u < v counted twice.
double over_products_of_coordinates(Row weights, const Matrix<double>& z) {
  double sum = 0.0;
  for (std::size_t u = 0; u < z.cols(); ++u) {
    for (std::size_t v = u; v < z.cols(); ++v) {
      double moment = 0.0;
      for (std::size_t i = 0; i < weights.size(); ++i) moment += weights[i] * z(i, u) * z(i, v);
      sum += (u == v ? 1.0 : 2.0) * square(moment);
    }
  }
  return sum;
}

}  // namespace

ReferenceJacobian::ReferenceJacobian(const TokenCloud& tokens, const Layer& parameters, Mask mask)
    : parameters_(parameters),
      mask_(mask),
      directions_(tokens.directions),
      norms_(tokens.norms),
      mean_(mean_row(directions_)),
      centred_(minus(directions_, mean_)),
      weights_(tokens.size(), tokens.size()),
      mixed_(tokens.size(), tokens.dimension()) {
  DEWPOINT_EXPECTS(tokens.size() > 0 && norms_.size() == tokens.size());
  for (std::size_t query = 0; query < tokens.size(); ++query) {
    fill_weights(query);
    fill_mixed(query);
  }
}

// A query always sees itself, at gap 0: the largest exponential is 1.
void ReferenceJacobian::fill_weights(std::size_t query) {
  const Range keys = mask_.visible(query, directions_.rows());
  const auto row = weights_.row(query).subspan(keys.begin, keys.size());
  for (std::size_t i = 0; i < row.size(); ++i) {
    const Vector apart = difference(directions_.row(query), directions_.row(keys.begin + i));
    row[i] = std::exp(-parameters_.inverse_temperature * 0.5 * inner(apart, apart));
  }
  const double partition = std::accumulate(row.begin(), row.end(), 0.0);
  for (double& weight : row) weight /= partition;
}

void ReferenceJacobian::fill_mixed(std::size_t query) {
  for (std::size_t i = 0; i < directions_.rows(); ++i) {
    add(weights_(query, i), centred_.row(i), mixed_.row(query));
  }
}

// y_i − m_j
Vector ReferenceJacobian::from_mean(std::size_t key, std::size_t query) const {
  return difference(centred_.row(key), mixed_.row(query));
}

// P_i y_j = P_i (y_j − y_i)
Vector ReferenceJacobian::tangent_part(std::size_t at, std::size_t token) const {
  const auto y = directions_.row(at);
  return tangent(y, difference(directions_.row(token), y));
}

Matrix<double> ReferenceJacobian::outputs() const {
  Matrix<double> result = mixed_;
  for (std::size_t j = 0; j < result.rows(); ++j) {
    add(1.0, mean_, result.row(j));
    add(parameters_.residual * norms_[j], directions_.row(j), result.row(j));
  }
  return result;
}

Matrix<double> ReferenceJacobian::dense() const {
  Matrix<double> jacobian(directions_.size(), directions_.size());
  for (std::size_t j = 0; j < directions_.rows(); ++j) add_query_to_dense(j, jacobian);
  add_identity(parameters_.residual, jacobian);
  return jacobian;
}

// Blocks J_ji of one query. In the diagonal one, C_j P_j = Σ_i A_ji (y_i − m_j)(P_j y_i)ᵀ.
void ReferenceJacobian::add_query_to_dense(std::size_t query, Matrix<double>& jacobian) const {
  const std::size_t d = directions_.cols();
  const auto block = [&](std::size_t i) {
    return jacobian.view().block({query * d, (query + 1) * d}, {i * d, (i + 1) * d});
  };
  for (std::size_t i = 0; i < directions_.rows(); ++i) {
    const auto y = directions_.row(i);
    const double weight = weights_(query, i) / norms_[i];
    add_identity(weight, block(i));
    add_outer(-weight, y, y, block(i));

    const Vector key = from_mean(i, query);
    const double tilt = parameters_.inverse_temperature * weights_(query, i);
    add_outer(tilt / norms_[i], key, tangent_part(i, query), block(i));
    add_outer(tilt / norms_[query], key, tangent_part(query, i), block(query));
  }
}

// ⟨ẏ_j, y_i⟩ + ⟨y_j, ẏ_i⟩ is the rate of −½‖y_j − y_i‖², that is −⟨ẏ_j − ẏ_i, y_j − y_i⟩.
Matrix<double> ReferenceJacobian::jvp(const Matrix<double>& change) const {
  DEWPOINT_EXPECTS(change.rows() == directions_.rows() && change.cols() == directions_.cols());
  Matrix<double> rates(change.rows(), change.cols());
  for (std::size_t i = 0; i < change.rows(); ++i) {
    add(1.0 / norms_[i], tangent(directions_.row(i), change.row(i)), rates.row(i));
  }
  Matrix<double> result(change.rows(), change.cols());
  for (std::size_t j = 0; j < change.rows(); ++j) {
    for (std::size_t i = 0; i < directions_.rows(); ++i) {
      const double score_rate = -inner(difference(rates.row(j), rates.row(i)),
                                       difference(directions_.row(j), directions_.row(i)));
      const double tilt = parameters_.inverse_temperature * score_rate;
      add(weights_(j, i), rates.row(i), result.row(j));
      add(weights_(j, i) * tilt, from_mean(i, j), result.row(j));
    }
    add(parameters_.residual, change.row(j), result.row(j));
  }
  return result;
}

// The gradient of a score −½‖y_j − y_i‖² is y_i − y_j at the query and its negative at the key: it
// differs from y_i and y_j by what the projections remove.
Matrix<double> ReferenceJacobian::vjp(const Matrix<double>& gradient) const {
  DEWPOINT_EXPECTS(gradient.rows() == directions_.rows() && gradient.cols() == directions_.cols());
  Matrix<double> on_directions(gradient.rows(), gradient.cols());
  for (std::size_t j = 0; j < gradient.rows(); ++j) {
    for (std::size_t i = 0; i < directions_.rows(); ++i) {
      const double on_score = parameters_.inverse_temperature * weights_(j, i) *
                              inner(gradient.row(j), from_mean(i, j));
      const Vector apart = difference(directions_.row(i), directions_.row(j));
      add(weights_(j, i), gradient.row(j), on_directions.row(i));
      add(on_score, apart, on_directions.row(j));
      add(-on_score, apart, on_directions.row(i));
    }
  }
  Matrix<double> result(gradient.rows(), gradient.cols());
  for (std::size_t i = 0; i < gradient.rows(); ++i) {
    add(1.0 / norms_[i], tangent(directions_.row(i), on_directions.row(i)), result.row(i));
    add(parameters_.residual, gradient.row(i), result.row(i));
  }
  return result;
}

Vector ReferenceJacobian::second_moments(SecondMoment way) const {
  const bool pairs = way == SecondMoment::pairs_of_keys;
  const Matrix<double> overlaps = pairs ? squared_overlaps(centred_) : Matrix<double>();
  Vector result;
  for (std::size_t j = 0; j < directions_.rows(); ++j) {
    result.push_back(pairs ? over_pairs_of_keys(weights_.row(j), overlaps)
                           : over_products_of_coordinates(weights_.row(j), centred_));
  }
  return result;
}

// ‖C_j‖_F²
double ReferenceJacobian::covariance_square(std::size_t query, double second_moment) const {
  const auto mixed = mixed_.row(query);
  double sum = second_moment + square(inner(mixed, mixed));
  for (std::size_t i = 0; i < directions_.rows(); ++i) {
    sum -= 2.0 * weights_(query, i) * square(inner(centred_.row(i), mixed));
  }
  return sum;
}

TangentCovariance ReferenceJacobian::tangent_covariance(std::size_t query,
                                                        double second_moment) const {
  double trace = 0.0;
  Vector along_query(directions_.cols(), 0.0);  // C_j y_j
  for (std::size_t i = 0; i < directions_.rows(); ++i) {
    const Vector key = from_mean(i, query);
    const double along = inner(key, directions_.row(query));
    trace += weights_(query, i) * (inner(key, key) - square(along));
    add(weights_(query, i) * along, key, along_query);
  }
  return {trace, covariance_square(query, second_moment) - inner(along_query, along_query)};
}

std::vector<TangentCovariance> ReferenceJacobian::tangent_covariances(SecondMoment way) const {
  const Vector moments = second_moments(way);
  std::vector<TangentCovariance> result;
  for (std::size_t j = 0; j < moments.size(); ++j) {
    result.push_back(tangent_covariance(j, moments[j]));
  }
  return result;
}

// r_i² ‖J_ji‖_F², i ≠ j
double ReferenceJacobian::off_diagonal_square(std::size_t query, std::size_t key) const {
  const double beta = parameters_.inverse_temperature;
  const Vector from = from_mean(key, query);
  const Vector towards = tangent_part(key, query);
  const double tilt = square(beta) * inner(from, from) * inner(towards, towards);
  const double cross = 2.0 * beta * inner(from, towards);
  return square(weights_(query, key)) *
         (static_cast<double>(directions_.cols()) - 1.0 + cross + tilt);
}

JacobianNorm ReferenceJacobian::norm(SecondMoment way) const {
  const std::size_t n = directions_.rows();
  const double beta = parameters_.inverse_temperature;
  const double tangents = static_cast<double>(directions_.cols()) - 1.0;
  const std::vector<TangentCovariance> covariances = tangent_covariances(way);

  JacobianNorm result{directions_.cols(), Vector(n, 0.0), Vector(n, 0.0), Vector(n, 0.0), {}};
  for (std::size_t j = 0; j < n; ++j) {
    const auto [trace, covariance] = covariances[j];
    const double self = weights_(j, j);
    result.self_trace[j] = self * tangents + beta * trace;
    result.from_self[j] =
        square(self) * tangents + 2.0 * beta * self * trace + square(beta) * covariance;
    for (std::size_t i = 0; i < directions_.rows(); ++i) {
      if (i != j) result.from_others[i] += off_diagonal_square(j, i);
    }
  }
  return result;
}

JacobianNorm::Parts ReferenceJacobian::eta(SecondMoment way) const {
  return norm(way).at(norms_, parameters_.residual);
}

}  // namespace dewpoint::attention
