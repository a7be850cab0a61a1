#include "support/population_loss.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <utility>

#include "support/dense_algebra.hpp"
#include "support/test_seed.hpp"

namespace dewpoint::test {
namespace {

// The definitions in any scalar, for complex steps.

double real_part(double x) { return x; }
double real_part(std::complex<double> x) { return x.real(); }

/// Rows of weight_j e^{x_ij}, normalised. Analytic in x.
template <class Scalar>
Matrix<Scalar> softmax_rows(Matrix<Scalar> x, std::span<const double> weight) {
  for (std::size_t i = 0; i < x.rows(); ++i) {
    const auto row = x.row(i);
    double largest = real_part(row[0]);
    for (const Scalar& entry : row) largest = std::max(largest, real_part(entry));
    Scalar sum = 0.0;
    for (std::size_t j = 0; j < row.size(); ++j) {
      row[j] = std::exp(row[j] - largest) * weight[j];
      sum += row[j];
    }
    for (Scalar& entry : row) entry /= sum;
  }
  return x;
}

template <class Scalar>
TokenState<Scalar> state_of(const Population& data, const Weights<Scalar>& w) {
  TokenState<Scalar> state;
  state.m = times(w.w0, w.w1);
  const Matrix<Scalar> phi = times(times(w.w0, w.wq), transposed(times(w.w0, w.wk)));
  state.attention = softmax_rows(phi, data.law);
  const std::vector<double> equal(data.law.size(), 1.0);
  state.prediction = softmax_rows(times(state.attention, state.m), equal);
  return state;
}

template <class Scalar>
struct GradientsOf {
  Matrix<Scalar> by_m, by_phi;
};

template <class Scalar>
GradientsOf<Scalar> by_tokens(const Population& data, const TokenState<Scalar>& state) {
  Matrix<Scalar> residual = state.prediction;
  for (std::size_t i = 0; i < residual.rows(); ++i) {
    for (std::size_t j = 0; j < residual.cols(); ++j) {
      residual(i, j) = data.law[i] * (residual(i, j) - data.transition(i, j));
    }
  }
  Matrix<Scalar> by_phi = times(residual, transposed(state.m));
  for (std::size_t i = 0; i < by_phi.rows(); ++i) {
    const auto row = by_phi.row(i);
    const auto attention = state.attention.row(i);
    Scalar mean = 0.0;
    for (std::size_t j = 0; j < row.size(); ++j) mean += attention[j] * row[j];
    for (std::size_t j = 0; j < row.size(); ++j) row[j] = attention[j] * (row[j] - mean);
  }
  return {times(transposed(state.attention), residual), std::move(by_phi)};
}

template <class Scalar>
Matrix<Scalar> sum(Matrix<Scalar> a, const Matrix<Scalar>& b) {
  for (std::size_t k = 0; k < a.size(); ++k) a.data()[k] += b.data()[k];
  return a;
}

template <class Scalar>
Weights<Scalar> gradient_of(const Population& data, const Weights<Scalar>& w) {
  const auto [by_m, by_phi] = by_tokens(data, state_of(data, w));
  const Matrix<Scalar> tq = times(w.w0, w.wq), tk = times(w.w0, w.wk);
  const Matrix<Scalar> by_tq = times(by_phi, tk), by_tk = times(transposed(by_phi), tq);
  const Matrix<Scalar> to_width = transposed(w.w0);
  Weights<Scalar> gradient(w.w0.rows(), w.w0.cols());
  gradient.w0 = sum(sum(times(by_m, transposed(w.w1)), times(by_tq, transposed(w.wq))),
                    times(by_tk, transposed(w.wk)));
  gradient.w1 = times(to_width, by_m);
  gradient.wq = times(to_width, by_tq);
  gradient.wk = times(to_width, by_tk);
  return gradient;
}

}  // namespace

Population::Population(std::span<const double> pi, MatrixView<const double> p)
    : law(pi.begin(), pi.end()), transition(pi.size(), pi.size()) {
  for (std::size_t i = 0; i < pi.size(); ++i) {
    std::copy_n(p.row(i).data(), pi.size(), transition.row(i).data());
  }
}

PopulationState population_state(const Population& data, const Weights<double>& w) {
  return state_of(data, w);
}

double population_loss(const Population& data, const Weights<double>& w) {
  const Matrix<double> prediction = state_of(data, w).prediction;
  double loss = 0.0;
  for (std::size_t i = 0; i < data.law.size(); ++i) {
    double row = 0.0;
    for (std::size_t j = 0; j < data.law.size(); ++j) {
      row += data.transition(i, j) * std::log(prediction(i, j));
    }
    loss -= data.law[i] * row;
  }
  return loss;
}

Weights<double> population_gradient(const Population& data, const Weights<double>& w) {
  return gradient_of(data, w);
}

TokenGradients token_gradients(const Population& data, const Weights<double>& w) {
  auto [by_m, by_phi] = by_tokens(data, state_of(data, w));
  return {std::move(by_m), std::move(by_phi)};
}

OdeSlope flow_slope(const Population& data, Weights<double> like) {
  return [&data, w = std::move(like)](double, std::span<const double> y,
                                      std::span<double> slope) mutable {
    w.assign(y);
    const std::vector<double> gradient = gradient_of(data, w).flat();
    for (std::size_t k = 0; k < slope.size(); ++k) slope[k] = -gradient[k];
  };
}

Matrix<double> flow_jacobian(const Population& data, const Weights<double>& at) {
  constexpr double kStep = 1e-30;
  const std::vector<double> flat = at.flat();
  std::vector<std::complex<double>> point(flat.begin(), flat.end());
  Weights<std::complex<double>> moved(at.w0.rows(), at.w0.cols());
  Matrix<double> jacobian(flat.size(), flat.size());
  for (std::size_t k = 0; k < flat.size(); ++k) {
    point[k] = {flat[k], kStep};
    moved.assign(point);
    point[k] = flat[k];
    const auto gradient = gradient_of(data, moved).flat();
    for (std::size_t i = 0; i < flat.size(); ++i) jacobian(i, k) = -gradient[i].imag() / kStep;
  }
  return jacobian;
}

Weights<double> random_weights(std::size_t d, std::size_t m, double deviation,
                               const std::string& name) {
  Weights<double> weights(d, m);
  const Stream draw = stream(name);
  std::vector<double> all(weights.size());
  for (std::size_t k = 0; k < all.size(); ++k) all[k] = deviation * draw.normal(k);
  weights.assign(all);
  return weights;
}

}  // namespace dewpoint::test
