#include "dewpoint/claims/fd_manifold.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "dewpoint/claims/algebra.hpp"
#include "dewpoint/theory/second_critical_point.hpp"

namespace dewpoint::claims {
namespace {

Matrix<double> scaled_product(double factor, std::span<const double> a, std::span<const double> b) {
  Matrix<double> result(a.size(), b.size());
  add_outer(result, factor, a, b);
  return result;
}

/// αᵀ W α̃.
double attention_coordinate(const Matrix<double>& weights) {
  return inner(kAlpha, times(weights, kAlphaTilde));
}

}  // namespace

Population persistent_population(std::vector<double> law, double persistence) {
  Population result{training::named_chain("lambda", std::move(law), persistence), nullptr};
  result.loss = training::population_loss(result.chain, {});
  return result;
}

Population persistent_population(const theory::TwoGroups& groups) {
  return persistent_population(theory::two_group_law(groups.top, groups.tokens),
                               groups.persistence);
}

Weights manifold_weights(const theory::RankOneState& state) {
  Weights weights(state.embedding.size(), kManifoldWidth);
  weights.embedding = scaled_product(1.0, state.embedding, kAlpha);
  weights.unembedding = scaled_product(1.0, kAlpha, state.output);
  weights.query = scaled_product(state.query, kAlpha, kAlphaTilde);
  weights.key = scaled_product(state.key, kAlpha, kAlphaTilde);
  return weights;
}

ManifoldParts manifold_parts(const Weights& change) {
  ManifoldParts parts;
  parts.along.embedding = times(change.embedding, kAlpha);
  parts.along.output.assign(change.vocabulary(), 0.0);
  for (std::size_t k = 0; k < kManifoldWidth; ++k) {
    add(parts.along.output, kAlpha[k], change.unembedding.row(k));
  }
  parts.along.query = attention_coordinate(change.query);
  parts.along.key = attention_coordinate(change.key);
  parts.across = distance(flat(change), flat(manifold_weights(parts.along)));
  return parts;
}

ManifoldParts measured_velocity(const training::TokenLoss& loss,
                                const theory::RankOneState& state) {
  std::vector<double> downhill = flat(gradient(loss, manifold_weights(state)));
  for (double& value : downhill) value = -value;
  return manifold_parts(unflat(downhill, loss.vocabulary(), kManifoldWidth));
}

Matrix<double> manifold_jacobian(const training::TokenLoss& loss,
                                 const theory::RankOneState& state) {
  const std::size_t d = loss.vocabulary();
  const Weights weights = manifold_weights(state);
  Matrix<double> jacobian(2 * d, 2 * d);
  for (std::size_t column = 0; column < 2 * d; ++column) {
    theory::RankOneState unit{std::vector<double>(d, 0.0), std::vector<double>(d, 0.0)};
    (column < d ? unit.embedding[column] : unit.output[column - d]) = 1.0;
    const auto along =
        manifold_parts(training::hessian_product(loss, weights, manifold_weights(unit))).along;
    for (std::size_t i = 0; i < d; ++i) {
      jacobian(i, column) = -along.embedding[i];
      jacobian(d + i, column) = -along.output[i];
    }
  }
  return jacobian;
}

theory::RankOneState entry_state(std::span<const double> law, double attention) {
  const auto point = theory::second_critical_point(law);
  theory::RankOneState state{point.embedding_direction, point.output_direction, attention,
                             attention};
  for (double& value : state.embedding) value *= point.amplitude;
  for (double& value : state.output) value *= point.amplitude;
  return state;
}

}  // namespace dewpoint::claims
