#include "dewpoint/training/flow_system.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "dewpoint/core/dense_algebra.hpp"
#include "dewpoint/core/error.hpp"
#include "dewpoint/training/scaled_loss.hpp"

namespace dewpoint::training {
namespace {

// Visits the four matrices in the order of the vector.
template <class Weights, class Visit>
void for_each_matrix(Weights& weights, const Visit& visit) {
  visit(weights.embedding);
  visit(weights.unembedding);
  visit(weights.query);
  visit(weights.key);
}

void store(const Parameters<double>& weights, double factor, std::span<double> y) {
  double* next = y.data();
  for_each_matrix(weights, [&](const Matrix<double>& matrix) {
    next = std::transform(matrix.data(), matrix.data() + matrix.size(), next,
                          [factor](double weight) { return factor * weight; });
  });
}

struct Share {
  double value = 0.0;
  double rate = 0.0;
};

// softmax(scores)_0 and its derivative when the scores change at `rates`.
Share first_share(std::span<const double> scores, std::span<const double> rates) {
  const double largest = *std::max_element(scores.begin(), scores.end());
  double total = 0.0;
  double drift = 0.0;
  for (std::size_t j = 0; j < scores.size(); ++j) {
    const double weight = std::exp(scores[j] - largest);
    total += weight;
    drift += weight * rates[j];
  }
  const double share = std::exp(scores[0] - largest) / total;
  return {share, share * (rates[0] - drift / total)};
}

// Mean over the queries other than token 0.
Share focus_share(const Matrix<double>& scores, const Matrix<double>& rates) {
  Share mean;
  const auto queries = static_cast<double>(scores.rows() - 1);
  for (std::size_t q = 1; q < scores.rows(); ++q) {
    const Share share = first_share(scores.row(q), rates.row(q));
    mean.value += share.value / queries;
    mean.rate += share.rate / queries;
  }
  return mean;
}

}  // namespace

FlowSystem::FlowSystem(const TokenLoss& loss, std::size_t width)
    : loss_(loss),
      vocabulary_(loss.vocabulary()),
      width_(width),
      at_(vocabulary_, width),
      along_(vocabulary_, width),
      maps_(vocabulary_),
      map_slope_(vocabulary_) {}

std::size_t FlowSystem::size() const { return 2 * width_ * (vocabulary_ + width_); }

void FlowSystem::to_vector(const Parameters<double>& parameters, std::span<double> y) const {
  DEWPOINT_EXPECTS(parameters.vocabulary() == vocabulary_ && parameters.width() == width_);
  DEWPOINT_EXPECTS(y.size() == size());
  store(parameters, 1.0, y);
}

Parameters<double> FlowSystem::to_parameters(std::span<const double> y) const {
  Parameters<double> parameters(vocabulary_, width_);
  load(y, parameters);
  return parameters;
}

void FlowSystem::load(std::span<const double> y, Parameters<double>& parameters) const {
  DEWPOINT_EXPECTS(y.size() == size());
  const double* next = y.data();
  for_each_matrix(parameters, [&](Matrix<double>& matrix) {
    std::copy_n(next, matrix.size(), matrix.data());
    next += matrix.size();
  });
}

Parameters<double> FlowSystem::gradient() {
  maps_ = token_maps(at_);
  loss_.slope(0, maps_, map_slope_);
  return weight_gradient(at_, map_slope_);
}

void FlowSystem::slope(std::span<const double> y, std::span<double> slope) {
  load(y, at_);
  store(gradient(), -1.0, slope);
}

void FlowSystem::slope_change(std::span<const double> y, std::span<const double> v,
                              std::span<double> change) {
  load(y, at_);
  load(v, along_);
  store(hessian_product(loss_, at_, along_), -1.0, change);
}

MatrixView<const double> FlowSystem::embedding(std::span<const double> y) const {
  return {y.data(), vocabulary_, width_, width_};
}

// From the eigenvalues of the smaller of the two Gram matrices; 0 for a matrix of zeros.
double FlowSystem::rank_one_fraction(std::span<const double> y) const {
  const Matrix<double> gram = smaller_gram(embedding(y));
  double trace = 0.0;
  for (std::size_t i = 0; i < gram.rows(); ++i) trace += gram(i, i);
  return trace == 0.0 ? 0.0 : symmetric_eigenvalues(gram).back() / trace;
}

double FlowSystem::focus(std::span<const double> y) {
  load(y, at_);
  const Matrix<double> now = scores(loss_, token_maps(at_));
  return focus_share(now, now).value;
}

// The flow goes along minus the gradient, hence the sign.
double FlowSystem::focus_rate(std::span<const double> y) {
  load(y, at_);
  const TokenMaps change = token_maps_change(at_, gradient());
  return -focus_share(scores(loss_, maps_), scores(loss_, change)).rate;
}

double FlowSystem::alignment(std::span<const double> y, std::size_t token) const {
  const auto w0 = embedding(y);
  const auto row = w0.row(token);
  return std::inner_product(row.begin(), row.end(), w0.row(0).begin(), 0.0);
}

}  // namespace dewpoint::training
