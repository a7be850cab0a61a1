#include "dewpoint/training/parameters.hpp"

#include <algorithm>
#include <functional>
#include <span>

#include "dewpoint/core/blas.hpp"
#include "dewpoint/core/error.hpp"
#include "dewpoint/core/random.hpp"

namespace dewpoint::training {
namespace {

using Dense = Matrix<double>;

Dense ab(const Dense& a, const Dense& b) {
  Dense c(a.rows(), b.cols());
  add_ab(a, b, c);
  return c;
}

Dense abt(const Dense& a, const Dense& b) {
  Dense c(a.rows(), b.rows());
  multiply_abt(a, b, c);
  return c;
}

Dense atb(const Dense& a, const Dense& b) {
  Dense c(a.cols(), b.cols());
  add_atb(a, b, c);
  return c;
}

Dense operator+(Dense a, const Dense& b) {
  std::transform(a.data(), a.data() + a.size(), b.data(), a.data(), std::plus<>());
  return a;
}

// TQ and TK, or what belongs to them.
struct Projections {
  Dense query;
  Dense key;
};

Projections projections(const Parameters<double>& p) {
  return {ab(p.embedding, p.query), ab(p.embedding, p.key)};
}

Projections projections_change(const Parameters<double>& p, const Parameters<double>& v) {
  return {ab(v.embedding, p.query) + ab(p.embedding, v.query),
          ab(v.embedding, p.key) + ab(p.embedding, v.key)};
}

// ∂L/∂TQ and ∂L/∂TK. Linear in `attention` and linear in `t`.
Projections projection_slopes(const Dense& attention, const Projections& t) {
  return {ab(attention, t.key), atb(attention, t.query)};
}

Projections operator+(const Projections& a, const Projections& b) {
  return {a.query + b.query, a.key + b.key};
}

// The formulas at the top of the header. Linear in the weights p and linear in the slopes.
Parameters<double> pulled_back(const Parameters<double>& p, const Dense& value,
                               const Projections& slopes) {
  Parameters<double> gradient;
  gradient.embedding =
      abt(value, p.unembedding) + abt(slopes.query, p.query) + abt(slopes.key, p.key);
  gradient.unembedding = atb(p.embedding, value);
  gradient.query = atb(p.embedding, slopes.query);
  gradient.key = atb(p.embedding, slopes.key);
  return gradient;
}

template <class To, class From>
Matrix<To> converted(const Matrix<From>& from) {
  Matrix<To> to(from.rows(), from.cols());
  std::transform(from.data(), from.data() + from.size(), to.data(),
                 [](From x) { return static_cast<To>(x); });
  return to;
}

template <class To, class From>
Parameters<To> converted(const Parameters<From>& from) {
  Parameters<To> to;
  to.embedding = converted<To>(from.embedding);
  to.unembedding = converted<To>(from.unembedding);
  to.query = converted<To>(from.query);
  to.key = converted<To>(from.key);
  return to;
}

}  // namespace

Parameters<double> initial_parameters(std::size_t vocabulary, std::size_t width, double deviation,
                                      std::uint64_t seed, std::uint64_t replica) {
  DEWPOINT_EXPECTS(vocabulary >= 1 && width >= 1);
  const Stream stream(seed, "training/initial", replica);
  Parameters<double> start(vocabulary, width);
  std::uint64_t first = 0;
  for (Dense* weights : {&start.embedding, &start.unembedding, &start.query, &start.key}) {
    const std::span<double> entries(weights->data(), weights->size());
    stream.normals(first, entries);
    for (double& x : entries) x *= deviation;
    first += entries.size();
  }
  return start;
}

Parameters<float> to_single(const Parameters<double>& parameters) {
  return converted<float>(parameters);
}

Parameters<double> to_double(const Parameters<float>& parameters) {
  return converted<double>(parameters);
}

TokenMaps token_maps(const Parameters<double>& parameters) {
  const Projections t = projections(parameters);
  TokenMaps maps;
  maps.attention = abt(t.query, t.key);
  maps.value = ab(parameters.embedding, parameters.unembedding);
  return maps;
}

Parameters<double> weight_gradient(const Parameters<double>& parameters, const TokenMaps& slope) {
  const Projections slopes = projection_slopes(slope.attention, projections(parameters));
  return pulled_back(parameters, slope.value, slopes);
}

TokenMaps token_maps_change(const Parameters<double>& parameters, const Parameters<double>& along) {
  const Projections t = projections(parameters);
  const Projections moved = projections_change(parameters, along);
  TokenMaps change;
  change.attention = abt(moved.query, t.key) + abt(t.query, moved.key);
  change.value =
      ab(along.embedding, parameters.unembedding) + ab(parameters.embedding, along.unembedding);
  return change;
}

// The product rule: the gradient is linear in the weights that pull back and in the slopes, and the
// slopes of TQ and TK are linear in ∂L/∂Φ and in TQ and TK.
Parameters<double> hessian_product(const TokenLoss& loss, const Parameters<double>& parameters,
                                   const Parameters<double>& along) {
  const TokenMaps at = token_maps(parameters);
  TokenMaps slope(loss.vocabulary());
  TokenMaps slope_change(loss.vocabulary());
  loss.slope(0, at, slope);
  loss.slope_change(at, token_maps_change(parameters, along), slope_change);

  const Projections t = projections(parameters);
  const Projections slopes = projection_slopes(slope.attention, t);
  const Projections slopes_change =
      projection_slopes(slope_change.attention, t) +
      projection_slopes(slope.attention, projections_change(parameters, along));

  const Parameters<double> by_weights = pulled_back(along, slope.value, slopes);
  const Parameters<double> by_slopes = pulled_back(parameters, slope_change.value, slopes_change);
  Parameters<double> product;
  product.embedding = by_weights.embedding + by_slopes.embedding;
  product.unembedding = by_weights.unembedding + by_slopes.unembedding;
  product.query = by_weights.query + by_slopes.query;
  product.key = by_weights.key + by_slopes.key;
  return product;
}

}  // namespace dewpoint::training
