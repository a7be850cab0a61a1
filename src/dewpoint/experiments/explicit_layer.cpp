#include "dewpoint/experiments/explicit_layer.hpp"

#include <cmath>
#include <complex>
#include <functional>
#include <span>
#include <utility>

#include "dewpoint/attention/jacobian_reference.hpp"

namespace dewpoint::experiments {
namespace {

using Complex = std::complex<double>;

// The layer over either kind of numbers. Products are not conjugated and the length is √(Σx²), so
// that every output is an analytic function of every coordinate.
template <class Scalar>
struct Written {
  Matrix<Scalar> directions;
  Matrix<Scalar> weights;
  Matrix<Scalar> mixed;
  Matrix<Scalar> outputs;
};

template <class Scalar>
Scalar product(std::span<const Scalar> a, std::span<const Scalar> b) {
  Scalar sum{};
  for (std::size_t k = 0; k < a.size(); ++k) sum += a[k] * b[k];
  return sum;
}

template <class Scalar>
Matrix<Scalar> directions_of(const Matrix<Scalar>& tokens) {
  Matrix<Scalar> directions = tokens;
  for (std::size_t i = 0; i < tokens.rows(); ++i) {
    const Scalar length = std::sqrt(product(tokens.row(i), tokens.row(i)));
    for (Scalar& coordinate : directions.row(i)) coordinate /= length;
  }
  return directions;
}

// softmax(β y yᵀ) row by row; the score β of a unit vector with itself is
// taken off.
template <class Scalar>
Matrix<Scalar> weights_of(const Matrix<Scalar>& directions, double inverse_temperature) {
  const std::size_t n = directions.rows();
  Matrix<Scalar> weights(n, n);
  for (std::size_t i = 0; i < n; ++i) {
    Scalar sum{};
    for (std::size_t j = 0; j < n; ++j) {
      const Scalar cosine = product(directions.view().row(i), directions.view().row(j));
      weights(i, j) = std::exp(inverse_temperature * (cosine - 1.0));
      sum += weights(i, j);
    }
    for (Scalar& weight : weights.row(i)) weight /= sum;
  }
  return weights;
}

template <class Scalar>
Matrix<Scalar> mixed_by(const Matrix<Scalar>& weights, const Matrix<Scalar>& directions) {
  Matrix<Scalar> mixed(directions.rows(), directions.cols());
  for (std::size_t i = 0; i < mixed.rows(); ++i) {
    for (std::size_t j = 0; j < mixed.rows(); ++j) {
      for (std::size_t k = 0; k < mixed.cols(); ++k) {
        mixed(i, k) += weights(i, j) * directions(j, k);
      }
    }
  }
  return mixed;
}

template <class Scalar>
Written<Scalar> write_layer(const Matrix<Scalar>& tokens, double inverse_temperature,
                            double residual) {
  Written<Scalar> layer;
  layer.directions = directions_of(tokens);
  layer.weights = weights_of(layer.directions, inverse_temperature);
  layer.mixed = mixed_by(layer.weights, layer.directions);
  layer.outputs = layer.mixed;
  for (std::size_t k = 0; k < tokens.size(); ++k) {
    layer.outputs.data()[k] += residual * tokens.data()[k];
  }
  return layer;
}

// One column per input coordinate, which alone gets an imaginary part.
Matrix<double> complex_step(
    const Matrix<double>& point,
    const std::function<Matrix<Complex>(const Matrix<Complex>&)>& analytic) {
  constexpr double step = 1e-30;
  Matrix<Complex> shifted(point.rows(), point.cols());
  for (std::size_t k = 0; k < point.size(); ++k) shifted.data()[k] = point.data()[k];

  Matrix<double> jacobian(point.size(), point.size());
  for (std::size_t input = 0; input < point.size(); ++input) {
    shifted.data()[input].imag(step);
    const Matrix<Complex> outputs = analytic(shifted);
    shifted.data()[input].imag(0.0);
    for (std::size_t output = 0; output < outputs.size(); ++output) {
      jacobian(output, input) = outputs.data()[output].imag() / step;
    }
  }
  return jacobian;
}

}  // namespace

ExplicitLayer explicit_layer(const Matrix<double>& tokens, double inverse_temperature,
                             double residual) {
  Written<double> layer = write_layer(tokens, inverse_temperature, residual);
  return {std::move(layer.directions), std::move(layer.weights), std::move(layer.mixed),
          std::move(layer.outputs)};
}

Matrix<double> complex_step_jacobian(const Matrix<double>& tokens, double inverse_temperature,
                                     double residual) {
  return complex_step(tokens, [=](const Matrix<Complex>& shifted) {
    return write_layer(shifted, inverse_temperature, residual).outputs;
  });
}

Matrix<double> complex_step_mixing(const Matrix<double>& points, double inverse_temperature) {
  return complex_step(points, [=](const Matrix<Complex>& shifted) {
    return mixed_by(weights_of(shifted, inverse_temperature), shifted);
  });
}

double mean_squared_gain(const Matrix<double>& jacobian) {
  double sum = 0.0;
  for (std::size_t row = 0; row < jacobian.rows(); ++row) {
    sum += product(jacobian.row(row), jacobian.row(row));
  }
  return sum / static_cast<double>(jacobian.rows());
}

double gradient_norm(const Matrix<double>& tokens, double inverse_temperature, double residual) {
  const std::size_t n = tokens.rows(), d = tokens.cols();
  const attention::ReferenceJacobian jacobian(split_norms(tokens), {inverse_temperature, residual});
  const auto way = n < d * (d + 1) / 2 ? attention::SecondMoment::pairs_of_keys
                                       : attention::SecondMoment::khatri_rao;
  return jacobian.eta(way).total();
}

}  // namespace dewpoint::experiments
