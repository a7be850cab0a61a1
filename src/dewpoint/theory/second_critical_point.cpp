#include "dewpoint/theory/second_critical_point.hpp"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>

#include "dewpoint/core/error.hpp"
#include "dewpoint/core/vectors.hpp"
#include "dewpoint/theory/markov_chain.hpp"

namespace dewpoint::theory {

namespace {

std::vector<double> logarithms(std::span<const double> law) {
  std::vector<double> result(law.begin(), law.end());
  for (double& value : result) value = std::log(value);
  return result;
}

double squared_norm(std::span<const double> x) { return inner(x, x); }

/// S V S of outer_decay.
Eigen::MatrixXd stretched_covariance(std::span<const double> law, std::span<const double> u) {
  const auto d = static_cast<Eigen::Index>(law.size());
  const Eigen::Map<const Eigen::VectorXd> pi(law.data(), d), direction(u.data(), d);
  const Eigen::MatrixXd stretch =
      Eigen::MatrixXd::Identity(d, d) + (std::sqrt(2.0) - 1.0) * direction * direction.transpose();
  const Eigen::MatrixXd covariance = Eigen::MatrixXd(pi.asDiagonal()) - pi * pi.transpose();
  return stretch * covariance * stretch;
}

}  // namespace

SecondCriticalPoint second_critical_point(std::span<const double> law) {
  DEWPOINT_EXPECTS(law.size() >= 2);
  const std::vector<double> logs = logarithms(law);
  const double rounding = kOriginGrowthError * std::sqrt(squared_norm(logs));
  Ray logits = ray_of(centred(logs), rounding);
  Ray embedding = ray_of(law);
  return {std::sqrt(logits.length / embedding.length), std::move(embedding.direction),
          std::move(logits.direction), law_entropy(law)};
}

OuterWeights critical_weights(const SecondCriticalPoint& point, std::span<const double> alpha) {
  const std::size_t tokens = point.embedding_direction.size(), width = alpha.size();
  OuterWeights weights{Matrix<double>(tokens, width), Matrix<double>(width, tokens)};
  for (std::size_t i = 0; i < tokens; ++i) {
    for (std::size_t k = 0; k < width; ++k) {
      weights.embedding(i, k) = point.amplitude * point.embedding_direction[i] * alpha[k];
      weights.unembedding(k, i) = point.amplitude * alpha[k] * point.output_direction[i];
    }
  }
  return weights;
}

// With x = κ²‖π‖² the condition is f(x) = Σ_j e^{−x(π_1 − π_j)} − 1/π_1 = 0. f is convex and
// decreasing with f(0) > 0, so Newton's steps from 0 rise to the root and never pass it.
double published_amplitude(std::span<const double> law) {
  const double top = *std::max_element(law.begin(), law.end());
  if (origin_growth(law).rate == 0.0) return 0.0;
  double x = 0.0;
  for (double step = 1.0; step > 0x1p-50 * x;) {
    double value = -1.0 / top, slope = 0.0;
    for (const double p : law) {
      const double term = std::exp(-x * (top - p));
      value += term;
      slope += term * (top - p);
    }
    step = value / slope;
    x += step;
  }
  return std::sqrt(x / squared_norm(law));
}

double attention_rate(std::span<const double> law, MatrixView<const double> transition) {
  DEWPOINT_EXPECTS(transition.rows() == law.size() && transition.cols() == law.size());
  const SecondCriticalPoint point = second_critical_point(law);
  const auto& q = point.embedding_direction;
  const double pull = inner(q, pair_covariance_times(law, transition, point.output_direction));
  return std::pow(point.amplitude, 4) * pull * inner(q, covariance_times(law, q));
}

double published_attention_rate(std::span<const double> law, double persistence) {
  const double amplitude = second_critical_point(law).amplitude;
  const double seminorm = inner(law, covariance_times(law, law));
  const double away = std::sqrt(squared_norm(centred(law)));
  return persistence * std::pow(amplitude, 4) * seminorm * seminorm /
         (away * std::pow(squared_norm(law), 1.5));
}

std::vector<EigenvalueGroup> attention_spectrum(std::span<const double> law,
                                                MatrixView<const double> transition,
                                                std::size_t width) {
  const double rate = std::abs(attention_rate(law, transition));
  return {{rate, width}, {-rate, width}, {0.0, 2 * width * (width - 1)}};
}

std::vector<double> attention_direction(std::span<const double> alpha,
                                        MatrixView<const double> query,
                                        MatrixView<const double> key, double rate) {
  const double sign = rate < 0.0 ? -1.0 : 1.0;
  std::vector<double> sum(query.cols(), 0.0);
  for (std::size_t k = 0; k < alpha.size(); ++k) {
    for (std::size_t l = 0; l < sum.size(); ++l) {
      sum[l] += alpha[k] * (query(k, l) + sign * key(k, l));
    }
  }
  return ray_of(sum).direction;
}

std::vector<double> outer_decay(std::span<const double> law) {
  const SecondCriticalPoint point = second_critical_point(law);
  const double scale = -point.amplitude * point.amplitude * squared_norm(law);
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(
      stretched_covariance(law, point.output_direction), Eigen::EigenvaluesOnly);
  const auto& increasing = solver.eigenvalues();  // the first is the 0 of the vector of ones
  std::vector<double> rates;
  for (Eigen::Index i = increasing.size() - 1; i > 0; --i) rates.push_back(scale * increasing(i));
  return rates;
}

TwoGroupDecay two_group_decay(double top, std::size_t tokens) {
  const std::vector<double> law = two_group_law(top, tokens);
  const double amplitude = second_critical_point(law).amplitude;
  const double scale = amplitude * amplitude * squared_norm(law), d = static_cast<double>(tokens);
  return {-2.0 * scale * top * (1.0 - top) * d / (d - 1.0), -scale * law[1]};
}

std::vector<EigenvalueGroup> outer_spectrum(std::span<const double> law, std::size_t width) {
  std::vector<EigenvalueGroup> spectrum;
  for (const double rate : outer_decay(law)) spectrum.push_back({rate, 1});
  spectrum.push_back({0.0, 2 * law.size() * width - spectrum.size()});
  return spectrum;
}

}  // namespace dewpoint::theory
