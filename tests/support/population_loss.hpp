// The long-context loss of the one-layer model, its gradient and its Hessian, written once more
// from the definition for tests of the theory: full weight matrices, no reduction, any scalar type.
//
//     Φ = W0 WQ WKᵀ W0ᵀ,  M = W0 W1,  A_ij ∝ π_j e^{Φ_ij},  L = −Σ π_i P_ij log softmax(A M)_ij
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Eigen/Core>
#include <complex>
#include <cstddef>
#include <span>
#include <string>
#include <utility>

#include "dewpoint/core/matrix.hpp"
#include "dewpoint/core/ode.hpp"
#include "support/test_seed.hpp"

namespace dewpoint::test {

template <class Scalar>
using Dense = Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

template <class Scalar>
struct Weights {
  Dense<Scalar> w0, w1, wq, wk;

  Weights(Eigen::Index d, Eigen::Index m)
      : w0(Dense<Scalar>::Zero(d, m)),
        w1(Dense<Scalar>::Zero(m, d)),
        wq(Dense<Scalar>::Zero(m, m)),
        wk(Dense<Scalar>::Zero(m, m)) {}

  [[nodiscard]] Eigen::Index size() const { return 2 * (w0.size() + wq.size()); }
  [[nodiscard]] Eigen::Vector<Scalar, Eigen::Dynamic> flat() const {
    Eigen::Vector<Scalar, Eigen::Dynamic> all(size());
    all << w0.template reshaped<Eigen::RowMajor>(), w1.template reshaped<Eigen::RowMajor>(),
        wq.template reshaped<Eigen::RowMajor>(), wk.template reshaped<Eigen::RowMajor>();
    return all;
  }
  template <class Source>
  void assign(const Source& all) {
    Eigen::Index next = 0;
    for (Dense<Scalar>* part : {&w0, &w1, &wq, &wk}) {
      for (Eigen::Index k = 0; k < part->size(); ++k) part->data()[k] = Scalar(all[next++]);
    }
  }
};

struct Population {
  Eigen::VectorXd law;
  Eigen::MatrixXd transition;

  Population(std::span<const double> pi, MatrixView<const double> p)
      : law(Eigen::Map<const Eigen::VectorXd>(pi.data(), static_cast<Eigen::Index>(pi.size()))),
        transition(law.size(), law.size()) {
    for (std::size_t i = 0; i < pi.size(); ++i) {
      for (std::size_t j = 0; j < pi.size(); ++j) {
        transition(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j)) = p(i, j);
      }
    }
  }
};

/// Rows of weight_j e^{x_ij}, normalised. Analytic in x: fit for complex steps.
template <class Scalar>
Dense<Scalar> softmax_rows(Dense<Scalar> x, const Eigen::VectorXd& weight) {
  for (Eigen::Index i = 0; i < x.rows(); ++i) {
    const double largest = x.row(i).real().maxCoeff();
    x.row(i) = ((x.row(i).array() - Scalar(largest)).exp() * weight.transpose().array()).matrix();
    x.row(i) /= x.row(i).sum();
  }
  return x;
}

template <class Scalar>
struct PopulationState {
  Dense<Scalar> m, attention, prediction;
};
template <class Scalar>
PopulationState<Scalar> population_state(const Population& data, const Weights<Scalar>& w) {
  PopulationState<Scalar> state;
  state.m = w.w0 * w.w1;
  const Dense<Scalar> phi = w.w0 * w.wq * (w.w0 * w.wk).transpose();
  state.attention = softmax_rows<Scalar>(phi, data.law);
  state.prediction =
      softmax_rows<Scalar>(state.attention * state.m, Eigen::VectorXd::Ones(data.law.size()));
  return state;
}

inline double population_loss(const Population& data, const Weights<double>& w) {
  const auto state = population_state(data, w);
  return -(data.transition.array() * state.prediction.array().log())
              .rowwise()
              .sum()
              .matrix()
              .dot(data.law);
}

template <class Scalar>
Weights<Scalar> population_gradient(const Population& data, const Weights<Scalar>& w) {
  const auto [m, a, p] = population_state(data, w);
  const Dense<Scalar> residual =
      data.law.asDiagonal() * (p - data.transition.template cast<Scalar>());
  const Dense<Scalar> by_m = a.transpose() * residual, by_a = residual * m.transpose();
  const auto mean = (a.array() * by_a.array()).rowwise().sum().eval();
  const Dense<Scalar> by_phi = (a.array() * (by_a.array().colwise() - mean)).matrix();
  const Dense<Scalar> tq = w.w0 * w.wq, tk = w.w0 * w.wk;
  Weights<Scalar> gradient(w.w0.rows(), w.w0.cols());
  gradient.w0 = by_m * w.w1.transpose() + by_phi * tk * w.wq.transpose() +
                by_phi.transpose() * tq * w.wk.transpose();
  gradient.w1 = w.w0.transpose() * by_m;
  gradient.wq = w.w0.transpose() * by_phi * tk;
  gradient.wk = w.w0.transpose() * by_phi.transpose() * tq;
  return gradient;
}

/// θ' = −∇L over weights of the size of `like`, for the solver of differential equations.
inline OdeSlope flow_slope(const Population& data, Weights<double> like) {
  return [&data, w = std::move(like)](double, std::span<const double> y,
                                      std::span<double> slope) mutable {
    w.assign(y);
    const Eigen::VectorXd gradient = population_gradient(data, w).flat();
    for (std::size_t k = 0; k < slope.size(); ++k) slope[k] = -gradient(static_cast<int>(k));
  };
}

/// −∇²L by complex steps of the gradient: no truncation to speak of.
inline Eigen::MatrixXd flow_jacobian(const Population& data, const Weights<double>& at) {
  using Complex = std::complex<double>;
  constexpr double kStep = 1e-30;
  const Eigen::VectorXd flat = at.flat();
  Weights<Complex> moved(at.w0.rows(), at.w0.cols());
  Eigen::MatrixXd jacobian(flat.size(), flat.size());
  for (Eigen::Index k = 0; k < flat.size(); ++k) {
    Eigen::VectorXcd point = flat.cast<Complex>();
    point(k) += Complex(0.0, kStep);
    moved.assign(point);
    jacobian.col(k) = -population_gradient(data, moved).flat().imag() / kStep;
  }
  return jacobian;
}

/// Independent N(0, deviation²) weights.
inline Weights<double> random_weights(Eigen::Index d, Eigen::Index m, double deviation,
                                      const std::string& name) {
  Weights<double> weights(d, m);
  const Stream draw = stream(name);
  Eigen::VectorXd all(weights.size());
  for (Eigen::Index k = 0; k < all.size(); ++k) {
    all(k) = deviation * draw.normal(static_cast<std::uint64_t>(k));
  }
  weights.assign(all);
  return weights;
}

}  // namespace dewpoint::test
