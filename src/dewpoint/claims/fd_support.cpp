#include "dewpoint/claims/fd_support.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "dewpoint/core/dense_algebra.hpp"
#include "dewpoint/core/ode.hpp"

namespace dewpoint::claims {
namespace {

template <class Model, class Visit>
void for_each_matrix(Model& weights, const Visit& visit) {
  visit(weights.embedding);
  visit(weights.unembedding);
  visit(weights.query);
  visit(weights.key);
}

std::span<const double> entries(const Matrix<double>& matrix) {
  return {matrix.data(), matrix.size()};
}

OdeSlope descent(const training::TokenLoss& loss, std::size_t width) {
  return [&loss, width](double, std::span<const double> y, std::span<double> slope) {
    const std::vector<double> uphill = flat(gradient(loss, unflat(y, loss.vocabulary(), width)));
    std::transform(uphill.begin(), uphill.end(), slope.begin(), std::negate<>());
  };
}

OdeOptions flow_options() {
  OdeOptions options;
  options.relative_tolerance = kFlowTolerance;
  options.absolute_tolerance = 1e-18;  // the smallest starts are of size 1e-8
  return options;
}

std::vector<double> softmax(std::span<const double> exponents, std::span<const double> factors) {
  const double largest = *std::max_element(exponents.begin(), exponents.end());
  std::vector<double> shares(exponents.size());
  double total = 0.0;
  for (std::size_t k = 0; k < shares.size(); ++k) {
    total += shares[k] = factors[k] * std::exp(exponents[k] - largest);
  }
  for (double& share : shares) share /= total;
  return shares;
}

}  // namespace

Population population(std::vector<double> law, std::string_view chain) {
  Population result{training::named_chain(chain, std::move(law), kPersistence), nullptr};
  result.loss = training::population_loss(result.chain, {});
  return result;
}

// ---- weights ---------------------------------------------------------------------------------

std::vector<double> flat(const Weights& weights) {
  std::vector<double> values;
  for_each_matrix(weights, [&](const Matrix<double>& matrix) {
    values.insert(values.end(), matrix.data(), matrix.data() + matrix.size());
  });
  return values;
}

Weights unflat(std::span<const double> values, std::size_t vocabulary, std::size_t width) {
  Weights weights(vocabulary, width);
  const double* next = values.data();
  for_each_matrix(weights, [&](Matrix<double>& matrix) {
    std::copy_n(next, matrix.size(), matrix.data());
    next += matrix.size();
  });
  return weights;
}

Weights drawn_weights(std::size_t vocabulary, std::size_t width, double size, std::uint64_t seed,
                      std::uint64_t replica) {
  return training::initial_parameters(vocabulary, width, size, seed, replica);
}

Weights outer_weights(MatrixView<const double> embedding, MatrixView<const double> unembedding) {
  Weights weights(embedding.rows(), embedding.cols());
  for (std::size_t i = 0; i < embedding.rows(); ++i) {
    for (std::size_t k = 0; k < embedding.cols(); ++k) {
      weights.embedding(i, k) = embedding(i, k);
      weights.unembedding(k, i) = unembedding(k, i);
    }
  }
  return weights;
}

Matrix<double> outer_product(std::span<const double> a, std::span<const double> b) {
  Matrix<double> result(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    for (std::size_t j = 0; j < b.size(); ++j) result(i, j) = a[i] * b[j];
  }
  return result;
}

double norm(std::span<const double> values) {
  double squares = 0.0;
  for (const double value : values) squares += value * value;
  return std::sqrt(squares);
}

double norm(const Matrix<double>& matrix) { return norm(entries(matrix)); }

double distance(std::span<const double> a, std::span<const double> b) {
  DEWPOINT_EXPECTS(a.size() == b.size());
  double squares = 0.0;
  for (std::size_t k = 0; k < a.size(); ++k) squares += (a[k] - b[k]) * (a[k] - b[k]);
  return std::sqrt(squares);
}

double distance(const Matrix<double>& a, const Matrix<double>& b) {
  return distance(entries(a), entries(b));
}

double misalignment(const Matrix<double>& matrix, const Matrix<double>& direction) {
  Matrix<double> unit = matrix;
  const double length = norm(matrix);
  for (double& value : std::span(unit.data(), unit.size())) value /= length;
  return distance(unit, direction);
}

// ---- gradient and Hessian --------------------------------------------------------------------

training::TokenMaps token_slope(const training::TokenLoss& loss, const Weights& weights) {
  training::TokenMaps slope(loss.vocabulary());
  loss.slope(0, training::token_maps(weights), slope);
  return slope;
}

Weights gradient(const training::TokenLoss& loss, const Weights& weights) {
  return training::weight_gradient(weights, token_slope(loss, weights));
}

Matrix<double> flow_jacobian(const training::TokenLoss& loss, const Weights& weights) {
  std::vector<double> unit(flat(weights).size(), 0.0);
  Matrix<double> jacobian(unit.size(), unit.size());
  for (std::size_t k = 0; k < unit.size(); ++k) {
    unit[k] = 1.0;
    const std::vector<double> column = flat(training::hessian_product(
        loss, weights, unflat(unit, weights.vocabulary(), weights.width())));
    for (std::size_t i = 0; i < unit.size(); ++i) jacobian(i, k) = -column[i];
    unit[k] = 0.0;
  }
  return jacobian;
}

std::vector<double> eigenvalues(MatrixView<const double> symmetric) {
  return symmetric_eigenvalues(symmetric);
}

std::vector<double> linear_flow(const Matrix<double>& jacobian, std::span<const double> start,
                                double time) {
  return symmetric_exponential(jacobian, time, start);
}

Matrix<double> attention(std::span<const double> law, const Matrix<double>& scores) {
  Matrix<double> result(scores.rows(), scores.cols());
  for (std::size_t i = 0; i < scores.rows(); ++i) {
    const std::vector<double> row = softmax(scores.row(i), law);
    std::copy(row.begin(), row.end(), result.row(i).begin());
  }
  return result;
}

std::vector<double> uniform_prediction(std::span<const double> law, const Weights& weights) {
  const Matrix<double> value = training::token_maps(weights).value;
  std::vector<double> logits(law.size(), 0.0);
  for (std::size_t i = 0; i < law.size(); ++i) {
    for (std::size_t j = 0; j < law.size(); ++j) logits[j] += law[i] * value(i, j);
  }
  return softmax(logits, std::vector<double>(law.size(), 1.0));
}

double largest_score(const Weights& weights) {
  const Matrix<double> scores = training::token_maps(weights).attention;
  double largest = 0.0;
  for (const double score : entries(scores)) largest = std::max(largest, std::abs(score));
  return largest;
}

// ---- gradient flow ---------------------------------------------------------------------------

std::vector<Passage> passages(const training::TokenLoss& loss, const Weights& start,
                              const std::vector<Signal>& signals, double longest) {
  const std::size_t width = start.width();
  const auto at = [&](std::span<const double> y) { return unflat(y, loss.vocabulary(), width); };
  OdeProblem problem{.slope = descent(loss, width)};
  problem.roots = [&](double t, std::span<const double> y, std::span<double> values) {
    const Weights weights = at(y);
    for (std::size_t k = 0; k < signals.size(); ++k) values[k] = signals[k](t, weights);
  };
  problem.root_directions.assign(signals.size(), 1);
  OdeSolver solver(problem, 0.0, flat(start), flow_options());

  std::vector<Passage> found(signals.size(), {std::numeric_limits<double>::quiet_NaN(), Weights()});
  std::size_t missing = signals.size();
  while (missing > 0) {
    const std::vector<std::size_t> met = solver.advance(longest);
    if (met.empty()) break;
    for (const std::size_t k : met) {
      if (!std::isnan(found[k].time)) continue;
      found[k] = {solver.time(), at(solver.value())};
      --missing;
    }
  }
  for (Passage& passage : found) {
    if (std::isnan(passage.time)) passage.weights = at(solver.value());
  }
  return found;
}

std::vector<Weights> flowed(const training::TokenLoss& loss, const Weights& start,
                            std::span<const double> times) {
  OdeSolver solver({.slope = descent(loss, start.width())}, 0.0, flat(start), flow_options());
  std::vector<Weights> found;
  for (const double time : times) {
    solver.advance(time);
    found.push_back(unflat(solver.value(), loss.vocabulary(), start.width()));
  }
  return found;
}

double largest_focus(const Population& data, const Weights& start, double step) {
  const std::vector<double>& law = data.chain.stationary;
  const Signal begun = [](double, const Weights& weights) { return largest_score(weights) - 0.05; };
  const Passage from = passages(*data.loss, start, {begun}, 1e4)[0];
  std::vector<double> times;
  for (int k = 0; k < 1600; ++k) times.push_back(step * k);
  double largest = 0.0;
  for (const Weights& weights : flowed(*data.loss, from.weights, times)) {
    const Matrix<double> shares = attention(law, training::token_maps(weights).attention);
    largest = std::max(largest, shares(law.size() - 1, 0));
  }
  return largest;
}

}  // namespace dewpoint::claims
