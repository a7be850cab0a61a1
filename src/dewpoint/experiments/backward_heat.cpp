#include "dewpoint/experiments/backward_heat.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <numbers>
#include <string>

#include "dewpoint/core/error.hpp"
#include "dewpoint/core/vectors.hpp"

namespace dewpoint::experiments {
namespace {

void require(bool allowed, const char* field, double value, const std::string& range) {
  if (!allowed) {
    throw Error(Code::bad_value, fmt::format("{}: {} is not {}", field, value, range));
  }
}

// ---- drift ----------------------------------------------------------------------------------

Estimate times(const Estimate& estimate, double factor) {
  return {factor * estimate.mean, std::abs(factor) * estimate.standard_error, estimate.samples};
}

// The value matrix with one output, the component along a direction.
Matrix<double> component_along(std::span<const double> gradient, double steepness) {
  Matrix<double> values(1, gradient.size());
  for (std::size_t k = 0; k < gradient.size(); ++k) values(0, k) = gradient[k] / steepness;
  return values;
}

HeatDrift drift_of(const KeyOutputMoments& moments, double steepness, std::size_t keys,
                   std::size_t dimension) {
  const double beta = moments.inverse_temperature;
  const double signal = steepness / beta;
  HeatDrift drift;
  drift.inverse_temperature = beta;
  drift.along_gradient = moments.mean[0];
  drift.relative_drift = times(drift.along_gradient, 1.0 / signal);
  drift.noise = times(moments.tangential_variance,
                      static_cast<double>(dimension - 1) / static_cast<double>(keys));
  drift.noise_to_signal = times(drift.noise, 1.0 / (signal * signal));
  drift.gap = moments.gap;
  return drift;
}

// ---- particles ------------------------------------------------------------------------------

constexpr std::size_t kRowsTogether = 64;  // particles that one task moves
constexpr int kQuantileIterations = 12;    // each gains a factor ε ≤ 0.01

// The solution of x + ε h(x) = target for |h'| ≤ 1.
double quantile(double target, double epsilon, const std::function<double(double)>& integral) {
  double x = target;
  for (int k = 0; k < kQuantileIterations; ++k) x = target - epsilon * integral(x);
  return x;
}

double legendre(std::size_t degree, double height) {
  return std::legendre(static_cast<unsigned>(degree), std::clamp(height, -1.0, 1.0));
}

Matrix<double> on_circle(std::size_t particles, std::size_t degree, double epsilon) {
  Matrix<double> points(particles, 2);
  const auto l = static_cast<double>(degree);
  for (std::size_t j = 0; j < particles; ++j) {
    const double share = (static_cast<double>(j) + 0.5) / static_cast<double>(particles);
    const double angle = quantile(2.0 * std::numbers::pi * share, epsilon,
                                  [l](double x) { return std::sin(l * x) / l; });
    points(j, 0) = std::cos(angle);
    points(j, 1) = std::sin(angle);
  }
  return points;
}

// Heights by ∫P_ℓ = (P_{ℓ+1} − P_{ℓ−1})/(2ℓ + 1), turned by the golden angle from one to the next.
Matrix<double> on_sphere(std::size_t particles, std::size_t degree, double epsilon) {
  Matrix<double> points(particles, 3);
  const double golden_angle = std::numbers::pi * (3.0 - std::sqrt(5.0));
  const double denominator = 2.0 * static_cast<double>(degree) + 1.0;
  for (std::size_t j = 0; j < particles; ++j) {
    const double share = (static_cast<double>(j) + 0.5) / static_cast<double>(particles);
    const double height = quantile(1.0 - 2.0 * share, epsilon, [&](double z) {
      return (legendre(degree + 1, z) - legendre(degree - 1, z)) / denominator;
    });
    const double radius = std::sqrt(std::max(0.0, 1.0 - height * height));
    const double turn = golden_angle * static_cast<double>(j);
    points(j, 0) = radius * std::cos(turn);
    points(j, 1) = radius * std::sin(turn);
    points(j, 2) = height;
  }
  return points;
}

Matrix<double> placed(const HarmonicGrowth& question, std::size_t degree, double epsilon) {
  return question.manifold == Manifold::circle ? on_circle(question.particles, degree, epsilon)
                                               : on_sphere(question.particles, degree, epsilon);
}

double amplitude(const Matrix<double>& points, Manifold manifold, std::size_t degree) {
  double sum = 0.0;
  for (std::size_t j = 0; j < points.rows(); ++j) {
    sum += manifold == Manifold::circle
               ? std::cos(static_cast<double>(degree) * std::atan2(points(j, 1), points(j, 0)))
               : legendre(degree, points(j, 2));
  }
  return sum / static_cast<double>(points.rows());
}

// Σ_j e^{−β|q − q_j|²/2} q_j over its partition function.
template <std::size_t kDimension>
std::array<double, kDimension> read_from(const Matrix<double>& points, const double* query,
                                         double beta) {
  std::array<double, kDimension> sum{};
  double partition = 0.0;
  for (std::size_t j = 0; j < points.rows(); ++j) {
    const double* key = points.data() + j * kDimension;
    double squared = 0.0;
    for (std::size_t k = 0; k < kDimension; ++k)
      squared += (query[k] - key[k]) * (query[k] - key[k]);
    const double weight = std::exp(-0.5 * beta * squared);
    partition += weight;
    for (std::size_t k = 0; k < kDimension; ++k) sum[k] += weight * key[k];
  }
  for (double& entry : sum) entry /= partition;
  return sum;
}

// All particles at once: each reads the positions before the step.
template <std::size_t kDimension>
Matrix<double> moved(const Matrix<double>& points, double beta, double share,
                     const RunContext& context) {
  Matrix<double> next(points.rows(), kDimension);
  const std::size_t tasks = (points.rows() + kRowsTogether - 1) / kRowsTogether;
  parallel_for(tasks, context, [&](std::size_t task) {
    const std::size_t end = std::min(points.rows(), (task + 1) * kRowsTogether);
    for (std::size_t i = task * kRowsTogether; i < end; ++i) {
      const double* query = points.data() + i * kDimension;
      auto target = read_from<kDimension>(points, query, beta);
      for (std::size_t k = 0; k < kDimension; ++k) {
        target[k] = (1.0 - share) * query[k] + share * target[k];
      }
      const double length = std::sqrt(inner(target, target));
      for (std::size_t k = 0; k < kDimension; ++k) next(i, k) = target[k] / length;
    }
  });
  return next;
}

GrowthFactors growth_of(const HarmonicGrowth& question, double beta, std::size_t degree,
                        const RunContext& context) {
  const auto step = question.manifold == Manifold::circle ? moved<2> : moved<3>;
  Matrix<double> more = placed(question, degree, question.amplitude);
  Matrix<double> less = placed(question, degree, -question.amplitude);
  const auto difference = [&] {
    return amplitude(more, question.manifold, degree) - amplitude(less, question.manifold, degree);
  };
  GrowthFactors growth{beta, degree, {}};
  double before = difference();
  for (std::size_t s = 0; s < question.steps; ++s) {
    more = step(more, beta, question.attention_share, context);
    less = step(less, beta, question.attention_share, context);
    const double after = difference();
    growth.factors.push_back(after / before);
    before = after;
  }
  return growth;
}

// Particles stand for a density while their own wave number, N on the circle and √(πN) on the
// sphere, is damped away by the kernel together with the harmonic: e^{−8²/2} = 1e-14.
void check_resolution(const HarmonicGrowth& question) {
  const auto particles = static_cast<double>(question.particles);
  const double wave_number =
      question.manifold == Manifold::circle ? particles : std::sqrt(std::numbers::pi * particles);
  const double beta =
      *std::max_element(question.inverse_temperatures.begin(), question.inverse_temperatures.end());
  const auto degree =
      static_cast<double>(*std::max_element(question.degrees.begin(), question.degrees.end()));
  const double needed = 8.0 * std::sqrt(beta) + 2.0 * degree;
  const double fewest =
      question.manifold == Manifold::circle ? needed : needed * needed / std::numbers::pi;
  require(wave_number >= needed, "particles", particles,
          fmt::format("at least {:.0f}, to resolve beta = {} and degree {}", std::ceil(fewest),
                      beta, degree));
}

// Where the output is as short as the ripple is high, growth is not linear.
void check_length(const HarmonicGrowth& question) {
  constexpr double kLeastLength = 0.01;  // 100 amplitudes
  const double share = question.attention_share, residual = 1.0 - share;
  for (const double beta : question.inverse_temperatures) {
    require(residual + share * beta >= kLeastLength, "beta", beta,
            fmt::format("at least {:.6g} at residual {}, for growth to be linear",
                        (kLeastLength - residual) / share, residual));
  }
}

}  // namespace

std::vector<HeatDrift> heat_drift(const scores::KeyLaw& law, std::span<const double> gradient,
                                  const KeyOutput& question, const RunContext& context) {
  DEWPOINT_EXPECTS(gradient.size() == law.dimension() && gradient[0] == 0.0);
  DEWPOINT_EXPECTS(question.values.rows() == 0);
  for (const double beta : question.inverse_temperatures) {
    require(beta > 0.0, "beta", beta, "a number above 0");
  }
  const double steepness = std::sqrt(inner(gradient, gradient));
  require(steepness > 0.0, "gradient", steepness, "above 0: there is no drift to see");
  KeyOutput asked = question;
  asked.values = component_along(gradient, steepness);
  std::vector<HeatDrift> drifts;
  for (const KeyOutputMoments& moments : key_output(law, asked, context)) {
    drifts.push_back(drift_of(moments, steepness, question.keys, law.dimension()));
  }
  return drifts;
}

void check(const HarmonicGrowth& question) {
  const auto particles = static_cast<double>(question.particles);
  require(particles >= 16.0 && particles <= 1e5, "particles", particles, "in [16, 100000]");
  require(question.amplitude > 0.0 && question.amplitude <= 0.01, "amplitude", question.amplitude,
          "in (0, 0.01]");
  require(question.attention_share > 0.0 && question.attention_share <= 1.0, "share",
          question.attention_share, "in (0, 1]");
  require(question.steps >= 1, "steps", static_cast<double>(question.steps), "at least 1");
  if (question.inverse_temperatures.empty())
    throw Error(Code::bad_value, "beta: the list is empty");
  if (question.degrees.empty()) throw Error(Code::bad_value, "degree: the list is empty");
  for (const double beta : question.inverse_temperatures) {
    require(beta > 0.0 && std::isfinite(beta), "beta", beta, "a finite number above 0");
  }
  for (const std::size_t degree : question.degrees) {
    require(degree >= 1, "degree", static_cast<double>(degree), "at least 1");
  }
  check_length(question);
  check_resolution(question);
}

std::vector<GrowthFactors> harmonic_growth(const HarmonicGrowth& question,
                                           const RunContext& context) {
  check(question);
  std::vector<GrowthFactors> growth;
  const double whole =
      static_cast<double>(question.inverse_temperatures.size() * question.degrees.size());
  const RunContext inner_context{context.threads, context.stop, {}};
  ProgressTally tally(context.progress, whole);
  for (const double beta : question.inverse_temperatures) {
    for (const std::size_t degree : question.degrees) {
      growth.push_back(growth_of(question, beta, degree, inner_context));
      tally.finish(1.0);
    }
  }
  return growth;
}

}  // namespace dewpoint::experiments
