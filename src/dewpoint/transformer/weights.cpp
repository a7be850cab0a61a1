#include "dewpoint/transformer/weights.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <complex>

#include "dewpoint/core/random.hpp"

namespace dewpoint::transformer {

template <class Real>
Weights<Real>::Weights(const Shape& shape)
    : embedding(shape.vocabulary, shape.width), unembedding(shape.width, shape.vocabulary) {
  const std::size_t m = shape.width, value = shape.value_matrix ? m : 0;
  layers.reserve(shape.layers);
  for (std::size_t layer = 0; layer < shape.layers; ++layer) {
    layers.push_back({Matrix<Real>(m, m), Matrix<Real>(m, m), Matrix<Real>(value, value)});
  }
}

std::vector<std::string> matrix_names(const Shape& shape) {
  std::vector<std::string> names{"W0", "W1"};
  for (std::size_t layer = 0; layer < shape.layers; ++layer) {
    names.push_back(fmt::format("layers.{}.WQ", layer));
    names.push_back(fmt::format("layers.{}.WK", layer));
    if (shape.value_matrix) names.push_back(fmt::format("layers.{}.WV", layer));
  }
  return names;
}

template <class Real>
Weights<Real> initial_weights(const Shape& shape, double deviation, std::uint64_t seed,
                              std::uint64_t replica) {
  const Stream stream(seed, "training/initial", replica);
  Weights<Real> start(shape);
  std::uint64_t first = 0;
  std::vector<double> draws;
  for (Matrix<Real>* matrix : matrices_of(start)) {
    draws.resize(matrix->size());
    stream.normals(first, draws);
    std::transform(draws.begin(), draws.end(), matrix->data(),
                   [&](double draw) { return static_cast<Real>(deviation * draw); });
    first += draws.size();
  }
  return start;
}

template struct Weights<float>;
template struct Weights<double>;
template struct Weights<std::complex<double>>;
template Weights<float> initial_weights(const Shape&, double, std::uint64_t, std::uint64_t);
template Weights<double> initial_weights(const Shape&, double, std::uint64_t, std::uint64_t);

}  // namespace dewpoint::transformer
