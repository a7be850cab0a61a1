#include "dewpoint/training/reference.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

namespace dewpoint::training {
namespace {

using Vector = std::vector<double>;

double dot(std::span<const double> a, std::span<const double> b) {
  double sum = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

void add(double factor, std::span<const double> from, std::span<double> to) {
  for (std::size_t i = 0; i < to.size(); ++i) to[i] += factor * from[i];
}

// x W
Vector left_product(std::span<const double> x, const Matrix<double>& weights) {
  Vector product(weights.cols());
  for (std::size_t i = 0; i < x.size(); ++i) add(x[i], weights.row(i), product);
  return product;
}

// W x
Vector right_product(const Matrix<double>& weights, std::span<const double> x) {
  Vector product(weights.rows());
  for (std::size_t i = 0; i < product.size(); ++i) product[i] = dot(weights.row(i), x);
  return product;
}

// W += a bᵀ
void add_outer(std::span<const double> a, std::span<const double> b, Matrix<double>& weights) {
  for (std::size_t i = 0; i < a.size(); ++i) add(a[i], b, weights.row(i));
}

// The softmax of x in its place; returns log Σ exp x.
double take_softmax(Vector& x) {
  const double top = *std::max_element(x.begin(), x.end());
  double total = 0.0;
  for (double& entry : x) total += entry = std::exp(entry - top);
  for (double& entry : x) entry /= total;
  return top + std::log(total);
}

// What one sequence computes on its way to the logits.
struct Forward {
  std::span<const std::uint8_t> context;
  Vector query;              // of the last position
  std::vector<Vector> keys;  // of every position
  Vector attention;          // of the last position on every position
  Vector output;             // Σ attention · embedding, and the last embedding with residual
};

Forward forward(const Parameters<double>& p, std::span<const std::uint8_t> context, bool residual) {
  Forward way;
  way.context = context;
  way.query = left_product(p.embedding.row(context.back()), p.query);
  for (const std::uint8_t token : context) {
    way.keys.push_back(left_product(p.embedding.row(token), p.key));
    way.attention.push_back(dot(way.query, way.keys.back()));
  }
  take_softmax(way.attention);
  way.output.resize(p.width());
  for (std::size_t i = 0; i < context.size(); ++i) {
    add(way.attention[i], p.embedding.row(context[i]), way.output);
  }
  if (residual) add(1.0, p.embedding.row(context.back()), way.output);
  return way;
}

// Backpropagation from ∂L/∂logits = excess.
void backward(const Parameters<double>& p, const Forward& way, const Vector& excess, bool residual,
              Parameters<double>& gradient) {
  const std::uint8_t last = way.context.back();
  add_outer(way.output, excess, gradient.unembedding);
  const Vector by_output = right_product(p.unembedding, excess);
  if (residual) add(1.0, by_output, gradient.embedding.row(last));

  Vector by_attention(way.context.size());
  for (std::size_t i = 0; i < by_attention.size(); ++i) {
    by_attention[i] = dot(by_output, p.embedding.row(way.context[i]));
    add(way.attention[i], by_output, gradient.embedding.row(way.context[i]));
  }
  const double mean = dot(way.attention, by_attention);
  Vector by_query(p.width());
  for (std::size_t i = 0; i < by_attention.size(); ++i) {
    const double by_score = way.attention[i] * (by_attention[i] - mean);
    add(by_score, way.keys[i], by_query);
    Vector by_key(p.width());
    add(by_score, way.query, by_key);
    add_outer(p.embedding.row(way.context[i]), by_key, gradient.key);
    add(1.0, right_product(p.key, by_key), gradient.embedding.row(way.context[i]));
  }
  add_outer(p.embedding.row(last), by_query, gradient.query);
  add(1.0, right_product(p.query, by_query), gradient.embedding.row(last));
}

}  // namespace

ReferenceGradient reference_gradient(const Parameters<double>& parameters,
                                     const SequenceSet& sequences, bool residual) {
  const double share = 1.0 / static_cast<double>(sequences.size());
  ReferenceGradient sum{0.0, Parameters<double>(parameters.vocabulary(), parameters.width())};
  for (std::size_t i = 0; i < sequences.size(); ++i) {
    const auto sequence = sequences.sequence(i);
    const Forward way = forward(parameters, sequence.first(sequences.context), residual);
    Vector excess = left_product(way.output, parameters.unembedding);
    const double logit = excess[sequence.back()];
    sum.loss += share * (take_softmax(excess) - logit);
    excess[sequence.back()] -= 1.0;
    for (double& entry : excess) entry *= share;
    backward(parameters, way, excess, residual, sum.gradient);
  }
  return sum;
}

}  // namespace dewpoint::training
