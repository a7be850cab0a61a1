#include "dewpoint/theory/rank_one_flow.hpp"

#include <Eigen/LU>
#include <algorithm>
#include <cmath>

#include "dewpoint/core/error.hpp"
#include "dewpoint/core/ode.hpp"
#include "dewpoint/core/vectors.hpp"
#include "dewpoint/theory/markov_chain.hpp"
#include "dewpoint/theory/second_critical_point.hpp"

namespace dewpoint::theory {

namespace {

/// weight_j e^{logit_j}, normalised.
void softmax(std::span<const double> weight, std::span<double> logit) {
  const double largest = *std::max_element(logit.begin(), logit.end());
  double sum = 0.0;
  for (std::size_t j = 0; j < logit.size(); ++j) {
    logit[j] = weight[j] * std::exp(logit[j] - largest);
    sum += logit[j];
  }
  for (double& value : logit) value /= sum;
}

std::vector<double> scaled(double factor, std::span<const double> x) {
  std::vector<double> result(x.begin(), x.end());
  for (double& value : result) value *= factor;
  return result;
}

/// What one token contributes to the velocity.
struct TokenForce {
  double reading = 0.0;          // m_i
  double pull = 0.0;             // s_i = R_i·β
  double spread = 0.0;           // v_i
  std::vector<double> residual;  // R_i
};

TokenForce force_on(const RankOneFlow& flow, const RankOneState& state, std::size_t i,
                    std::span<const double> attention) {
  TokenForce force;
  force.reading = inner(attention, state.embedding);
  for (std::size_t j = 0; j < attention.size(); ++j) {
    const double away = state.embedding[j] - force.reading;
    force.spread += attention[j] * away * away;
  }
  force.residual = scaled(force.reading, state.output);
  softmax(std::vector<double>(flow.tokens(), 1.0), force.residual);
  for (std::size_t k = 0; k < flow.tokens(); ++k) {
    force.residual[k] = flow.law()[i] * (flow.transition()(i, k) - force.residual[k]);
  }
  force.pull = inner(force.residual, state.output);
  return force;
}

std::vector<double> packed(const RankOneState& state) {
  std::vector<double> y(state.embedding);
  y.insert(y.end(), state.output.begin(), state.output.end());
  y.push_back(state.query);
  y.push_back(state.key);
  return y;
}

RankOneState unpacked(std::span<const double> y) {
  const std::size_t d = y.size() / 2 - 1;
  const auto middle = y.begin() + static_cast<std::ptrdiff_t>(d);
  return {{y.begin(), middle}, {middle, y.end() - 2}, y[2 * d], y[2 * d + 1]};
}

/// −γᵀ(∂L/∂Φ)γ.
double attention_force(const RankOneFlow& flow, const RankOneState& state) {
  const Matrix<double> attention = flow.attention(state);
  double sum = 0.0;
  for (std::size_t i = 0; i < flow.tokens(); ++i) {
    const TokenForce force = force_on(flow, state, i, attention.row(i));
    sum += force.pull * state.embedding[i] * force.spread;
  }
  return sum;
}

Eigen::VectorXd column(std::span<const double> x) {
  return Eigen::Map<const Eigen::VectorXd>(x.data(), static_cast<Eigen::Index>(x.size()));
}

/// J over (ΔW0 α, ΔW1ᵀα) at the second critical point.
Eigen::MatrixXd outer_jacobian(std::span<const double> law, const SecondCriticalPoint& point) {
  const Eigen::VectorXd pi = column(law), u = column(point.output_direction);
  const Eigen::VectorXd vu = column(covariance_times(law, point.output_direction));
  const Eigen::Index d = pi.size();
  Eigen::MatrixXd jacobian(2 * d, 2 * d);
  jacobian.topLeftCorner(d, d) = u.dot(vu) * pi * pi.transpose();
  jacobian.topRightCorner(d, d) = pi.norm() * pi * vu.transpose();
  jacobian.bottomLeftCorner(d, d) = pi.norm() * vu * pi.transpose();
  jacobian.bottomRightCorner(d, d) =
      pi.squaredNorm() * (Eigen::MatrixXd(pi.asDiagonal()) - pi * pi.transpose());
  return -point.amplitude * point.amplitude * jacobian;
}

}  // namespace

RankOneFlow::RankOneFlow(std::span<const double> law, MatrixView<const double> transition)
    : law_(law.begin(), law.end()), transition_(law.size(), law.size()) {
  DEWPOINT_EXPECTS(transition.rows() == law.size() && transition.cols() == law.size());
  for (std::size_t i = 0; i < law.size(); ++i) {
    std::copy(transition.row(i).begin(), transition.row(i).end(), transition_.row(i).begin());
  }
}

Matrix<double> RankOneFlow::attention(const RankOneState& state) const {
  Matrix<double> attention(tokens(), tokens());
  for (std::size_t i = 0; i < tokens(); ++i) {
    const double score = state.amplitude() * state.embedding[i];
    const std::span<double> row = attention.row(i);
    for (std::size_t j = 0; j < tokens(); ++j) row[j] = score * state.embedding[j];
    softmax(law_, row);
  }
  return attention;
}

RankOneState RankOneFlow::velocity(const RankOneState& state) const {
  const Matrix<double> rows = attention(state);
  const double eta = state.amplitude();
  RankOneState change{std::vector<double>(tokens(), 0.0), std::vector<double>(tokens(), 0.0)};
  double growth = 0.0;  // D
  for (std::size_t i = 0; i < tokens(); ++i) {
    const TokenForce force = force_on(*this, state, i, rows.row(i));
    const double scored = eta * force.pull * state.embedding[i];
    for (std::size_t j = 0; j < tokens(); ++j) {
      const double away = state.embedding[j] - force.reading;
      change.embedding[j] += rows(i, j) * (force.pull + scored * away);
      change.output[j] += force.reading * force.residual[j];
    }
    change.embedding[i] += eta * force.pull * force.spread;
    growth += force.pull * state.embedding[i] * force.spread;
  }
  change.query = state.key * growth;
  change.key = state.query * growth;
  return change;
}

double RankOneFlow::loss(const RankOneState& state) const {
  const Matrix<double> rows = attention(state);
  double sum = 0.0;
  for (std::size_t i = 0; i < tokens(); ++i) {
    const std::vector<double> logits = scaled(inner(rows.row(i), state.embedding), state.output);
    const double largest = *std::max_element(logits.begin(), logits.end());
    double partition = 0.0;
    for (const double logit : logits) partition += std::exp(logit - largest);
    sum += law_[i] * (largest + std::log(partition) - inner(transition_.row(i), logits));
  }
  return sum;
}

std::vector<RankOneState> RankOneFlow::trajectory(const RankOneState& start,
                                                  std::span<const double> times,
                                                  double relative_tolerance) const {
  OdeProblem problem;
  problem.slope = [this](double, std::span<const double> y, std::span<double> slope) {
    const std::vector<double> change = packed(velocity(unpacked(y)));
    std::copy(change.begin(), change.end(), slope.begin());
  };
  OdeOptions options;
  options.relative_tolerance = relative_tolerance;
  options.absolute_tolerance = 1e-2 * relative_tolerance;
  OdeSolver solver(std::move(problem), 0.0, packed(start), options);
  std::vector<RankOneState> states;
  for (const double time : times) {
    if (time > solver.time()) solver.advance(time);
    states.push_back(unpacked(solver.value()));
  }
  return states;
}

RankOneInvariants invariants(const RankOneState& state) {
  const double query = state.query * state.query, key = state.key * state.key;
  return {inner(state.embedding, state.embedding) - inner(state.output, state.output) - query - key,
          query - key};
}

double amplitude_velocity(const RankOneFlow& flow, const RankOneState& state) {
  return (state.query * state.query + state.key * state.key) * attention_force(flow, state);
}

double published_amplitude_velocity(const RankOneFlow& flow, const RankOneState& state) {
  return 2.0 * state.amplitude() * attention_force(flow, state);
}

RankOneResponse rank_one_response(std::span<const double> law,
                                  MatrixView<const double> transition) {
  const SecondCriticalPoint point = second_critical_point(law);
  const auto& q = point.embedding_direction;
  const auto& u = point.output_direction;
  const Eigen::VectorXd vq = column(covariance_times(law, q));
  const Eigen::VectorXd vu = column(covariance_times(law, u));
  const Eigen::VectorXd ku = column(pair_covariance_times(law, transition, u));
  const Eigen::VectorXd kq = column(pair_covariance_transposed_times(law, transition, q));
  const double variance = column(q).dot(vq), pull = column(q).dot(ku), length = column(law).norm();
  const double cube = std::pow(point.amplitude, 3), fifth = std::pow(point.amplitude, 5);
  const Eigen::Index d = vq.size();

  Eigen::VectorXd drive(2 * d);
  drive.head(d) = cube * (2.0 * pull * vq + variance * ku) -
                  fifth * length * variance * column(u).dot(vu) * column(law);
  drive.tail(d) = cube * variance * kq - fifth * length * length * variance * vu;
  const double rate = 2.0 * std::abs(cube * point.amplitude * pull * variance);
  DEWPOINT_EXPECTS(rate > 0.0);
  const Eigen::MatrixXd system =
      rate * Eigen::MatrixXd::Identity(2 * d, 2 * d) - outer_jacobian(law, point);
  const Eigen::VectorXd change = system.partialPivLu().solve(drive);
  return {rate,
          {drive.begin(), drive.begin() + d},
          {drive.begin() + d, drive.end()},
          {change.begin(), change.begin() + d},
          {change.begin() + d, change.end()}};
}

RankOneState unstable_start(std::span<const double> law, MatrixView<const double> transition,
                            double attention) {
  const SecondCriticalPoint point = second_critical_point(law);
  const RankOneResponse response = rank_one_response(law, transition);
  RankOneState state{scaled(point.amplitude, point.embedding_direction),
                     scaled(point.amplitude, point.output_direction), attention,
                     std::copysign(attention, attention_rate(law, transition))};
  for (std::size_t i = 0; i < law.size(); ++i) {
    state.embedding[i] += state.amplitude() * response.embedding_change[i];
    state.output[i] += state.amplitude() * response.output_change[i];
  }
  return state;
}

}  // namespace dewpoint::theory
