#include "dewpoint/experiments/dew.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <numbers>
#include <optional>

#include "dewpoint/core/error.hpp"
#include "dewpoint/core/random.hpp"
#include "dewpoint/experiments/sample_statistics.hpp"
#include "dewpoint/observables/dew_point.hpp"
#include "dewpoint/scores/top_scores.hpp"

namespace dewpoint::experiments {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// ---- one draw -------------------------------------------------------------------------------

struct Draw {
  Stream stream{0, ""};
  std::shared_ptr<const scores::TopLaw> law;
  scores::TopScores top;
  double log_dew = 0.0;
  double rest_bound = 0.0;
  std::optional<double> accumulation;

  [[nodiscard]] scores::TopSample weigh(double log_beta) const {
    return scores::weigh_top_scores(*law, top, std::exp(log_beta), stream);
  }
};

/// Newton's method on log R in log β, inside a bracket. The top alone condenses earlier: its dew
/// point is below.
double log_dew_point(const Draw& draw) {
  std::vector<double> best(draw.top.depths);
  for (double& score : best) score = -score;
  const double first = observables::dew_point(std::span<const double>(best)).value();
  if (std::isinf(first)) return kInfinity;
  double log_beta = std::log(first), lower = -kInfinity, upper = kInfinity;
  for (int step = 0; step < 100 && upper - lower > 1e-13; ++step) {
    const scores::TopSample now = draw.weigh(log_beta);
    const double competitors = std::expm1(now.log_relative_partition);
    const double slope = std::exp(log_beta) * now.mean_gap * (1.0 + competitors) / competitors;
    const double move = std::clamp(std::log(competitors) / slope, -2.0, 2.0);
    if (std::abs(move) <= 1e-13) return log_beta + move;
    (move > 0.0 ? lower : upper) = log_beta;
    const double next = log_beta + move;
    const bool open = std::isinf(lower) || std::isinf(upper);
    log_beta = open || (lower < next && next < upper) ? next : 0.5 * (lower + upper);
  }
  return log_beta;
}

/// log k/T_(k) where the keys beyond the top are at their quantiles; nothing for laws without.
std::optional<double> deep_accumulation(const Draw& draw) {
  const double first = draw.top.depths.front(), log_n = draw.top.log_scores;
  const double log_top = std::log(static_cast<double>(draw.top.depths.size()));
  if (const auto* tail = dynamic_cast<const scores::TailLaw*>(draw.law.get())) {
    constexpr int kPoints = 64;
    double largest = 0.0;
    for (int i = 1; i < kPoints; ++i) {
      const double log_rank = log_top + (log_n - log_top) * i / kPoints;
      largest = std::max(largest, log_rank / (tail->depth_at(log_rank - log_n) - first));
    }
    return largest;
  }
  const double cut = draw.top.depths.back();
  const scores::TiltedDepth rest = draw.law->rest(cut, 0.0);
  const bool alike = std::abs(rest.root_mean_square - rest.mean) <= 1e-14 * std::abs(rest.mean);
  if (!alike) return {};
  return log_n / (cut + rest.mean - first);
}

std::optional<double> accumulation(const Draw& draw) {
  std::vector<double> best(draw.top.depths);
  for (double& score : best) score = -score;
  const double near = observables::accumulation_scale(std::span<const double>(best)).value();
  const bool whole = std::exp(draw.top.log_scores) < static_cast<double>(best.size()) + 0.5;
  if (whole) return near;
  const std::optional<double> deep = deep_accumulation(draw);
  if (!deep) return {};
  return std::max(near, *deep);
}

Draw drawn(const scores::TopLaw& law, double n, const DewCurve& question, std::size_t index) {
  Draw draw;
  draw.stream = Stream(question.seed, "dew", index);
  draw.law = scores::law_of_row(law, draw.stream);
  const auto most = static_cast<double>(question.top);
  const auto top = static_cast<std::size_t>(std::min(n, most));
  draw.top = scores::draw_top_scores(*draw.law, std::log(n), top, draw.stream);
  draw.log_dew = log_dew_point(draw);
  if (std::isfinite(draw.log_dew)) draw.rest_bound = draw.weigh(draw.log_dew).log_partition_bound;
  draw.accumulation = accumulation(draw);
  return draw;
}

std::vector<Draw> draws_at(const scores::TopLaw& law, double n, const DewCurve& question,
                           const RunContext& context) {
  std::vector<Draw> draws(question.draws);
  parallel_for(draws.size(), context,
               [&](std::size_t i) { draws[i] = drawn(law, n, question, i); });
  return draws;
}

// ---- statistics over draws ------------------------------------------------------------------

/// log β_PR, and for every draw how much it alone moves it.
struct Pooled {
  double log_beta;
  std::vector<double> influence;
};

std::vector<double> participations(const std::vector<Draw>& draws, double log_beta,
                                   const RunContext& context) {
  std::vector<double> values(draws.size());
  parallel_for(draws.size(), context,
               [&](std::size_t i) { values[i] = draws[i].weigh(log_beta).participation; });
  return values;
}

/// Root of an increasing function by the regula falsi of Illinois, from a guess.
double increasing_root(double guess, const std::function<double(double)>& function) {
  double left = guess, left_value = function(left), right = left, right_value = left_value;
  for (double step = 0.25; left_value > 0.0; step *= 2.0) {
    right = left;
    right_value = left_value;
    left_value = function(left -= step);
  }
  for (double step = 0.25; right_value <= 0.0; step *= 2.0) {
    left = right;
    left_value = right_value;
    right_value = function(right += step);
  }
  while (right - left > 1e-11) {
    const double middle = (left * right_value - right * left_value) / (right_value - left_value);
    const double value = function(middle);
    if (std::abs(value) < 1e-13) return middle;
    if (value > 0.0) {
      right = middle;
      right_value = value;
      left_value *= 0.5;
    } else {
      left = middle;
      left_value = value;
      right_value *= 0.5;
    }
  }
  return 0.5 * (left + right);
}

Pooled pooled(const std::vector<Draw>& draws, double guess, const RunContext& context) {
  constexpr double kStep = 1e-3;
  Pooled result;
  result.log_beta = increasing_root(guess, [&](double log_beta) {
    context.throw_if_stopped();
    return mean_of(participations(draws, log_beta, context)).mean - 0.5;
  });
  const auto mean_at = [&](double log_beta) {
    return mean_of(participations(draws, log_beta, context)).mean;
  };
  const double slope =
      (mean_at(result.log_beta + kStep) - mean_at(result.log_beta - kStep)) / (2.0 * kStep);
  result.influence = participations(draws, result.log_beta, context);
  const double mean = mean_of(result.influence).mean;
  for (double& value : result.influence) value = (mean - value) / slope;
  return result;
}

// ---- the curve ------------------------------------------------------------------------------

/// What is kept of one n.
struct Length {
  std::vector<double> log_dew;
  std::vector<double> participation;  // log β_PR with the influence of each draw added
};

/// Covariance of the means of two lists of draws.
double covariance(const std::vector<double>& x, const std::vector<double>& y) {
  const auto count = static_cast<double>(x.size());
  const double mean_x = mean_of(x).mean, mean_y = mean_of(y).mean;
  double sum = 0.0;
  for (std::size_t i = 0; i < x.size(); ++i) sum += (x[i] - mean_x) * (y[i] - mean_y);
  return sum / (count * (count - 1.0));
}

Length measure(Frame& frame, std::size_t cell, const std::vector<Draw>& draws,
               const RunContext& context) {
  Length length;
  std::vector<double> dew, scales;
  RunningMoments bound;
  for (const Draw& draw : draws) {
    length.log_dew.push_back(draw.log_dew);
    dew.push_back(std::exp(draw.log_dew));
    bound.add(draw.rest_bound);
    if (draw.accumulation) scales.push_back(*draw.accumulation);
  }
  frame.variable("beta_dew_lower").cells[cell] = quantile_of(dew, 0.25);
  frame.variable("beta_dew_median").cells[cell] = quantile_of(dew, 0.5);
  frame.variable("beta_dew_upper").cells[cell] = quantile_of(dew, 0.75);
  frame.variable("log_beta_dew").cells[cell] = mean_of(length.log_dew);
  frame.variable("rest_bound").cells[cell] = bound.estimate();
  if (scales.size() == draws.size())
    frame.variable("accumulation").cells[cell] = quantile_of(scales, 0.5);

  const Pooled scale =
      pooled(draws, std::log(frame.variable("beta_dew_median").cells[cell].mean), context);
  for (const double shift : scale.influence) length.participation.push_back(scale.log_beta + shift);
  const double beta = std::exp(scale.log_beta);
  const Estimate log_beta = mean_of(length.participation);
  frame.variable("beta_pr").cells[cell] = {beta, beta * log_beta.standard_error, draws.size()};
  return length;
}

using Draws = std::vector<double> Length::*;

void add_covariances(Frame& frame, const std::vector<Length>& lengths, const char* name,
                     Draws draws) {
  Variable& variable = frame.add_variable(name, {"n", "other_n"});
  const std::size_t count = lengths.size();
  for (std::size_t i = 0; i < count; ++i)
    for (std::size_t j = 0; j < count; ++j)
      variable.cells[i * count + j] = {covariance(lengths[i].*draws, lengths[j].*draws), 0.0,
                                       lengths[i].log_dew.size()};
}

void add_slopes(Frame& frame, const std::vector<Length>& lengths, const char* name, Draws draws) {
  const std::vector<double> n = frame.dimension("n").coordinates;
  Variable& variable = frame.add_variable(name, {"n"});
  for (std::size_t i = 0; i < n.size(); ++i) {
    const std::size_t left = i == 0 ? 0 : i - 1, right = std::min(i + 1, n.size() - 1);
    const double distance = std::log(n[right]) - std::log(n[left]);
    std::vector<double> slopes;
    for (std::size_t k = 0; k < lengths[i].log_dew.size(); ++k)
      slopes.push_back(((lengths[right].*draws)[k] - (lengths[left].*draws)[k]) / distance);
    variable.cells[i] = mean_of(slopes);
  }
}

}  // namespace

void check(const DewCurve& question, const scores::TopLaw& law) {
  if (question.draws < 2) {
    throw Error(Code::bad_value, fmt::format("draws: {} is below 2", question.draws));
  }
  if (question.top < 3) {
    throw Error(Code::bad_value, fmt::format("top: {} is below 3", question.top));
  }
  if (question.n.empty()) throw Error(Code::bad_value, "n: an empty list is below one length");
  for (const double n : question.n) {
    const bool whole = n >= 0x1p53 || n == std::floor(n);
    if (n >= 3.0 && n <= 1e300 && whole && std::log(n) <= law.most_log_scores()) continue;
    throw Error(Code::bad_value,
                fmt::format("n: {} is not a whole number from 3 to {:.3g}", n,
                            std::exp(std::min(law.most_log_scores(), std::log(1e300)))));
  }
}

std::vector<double> drawn_dew_points(const scores::TopLaw& law, double n, const DewCurve& question,
                                     const RunContext& context) {
  std::vector<double> points;
  for (const Draw& draw : draws_at(law, n, question, context))
    points.push_back(std::exp(draw.log_dew));
  return points;
}

Frame dew_curve(const scores::TopLaw& law, const DewCurve& question, const RunContext& context) {
  check(question, law);
  Frame frame(law.name());
  frame.add_dimension("n", question.n);
  frame.add_dimension("other_n", question.n);
  for (const char* name : {"beta_dew_lower", "beta_dew_median", "beta_dew_upper", "log_beta_dew",
                           "beta_pr", "accumulation", "rest_bound"})
    frame.add_variable(name, {"n"});

  const RunContext silent{context.threads, context.stop, {}};
  std::vector<Length> lengths;
  for (std::size_t i = 0; i < question.n.size(); ++i) {
    lengths.push_back(measure(frame, i, draws_at(law, question.n[i], question, silent), silent));
    if (context.progress) {
      context.progress(static_cast<double>(i) + 1.0, static_cast<double>(question.n.size()));
    }
  }
  add_covariances(frame, lengths, "covariance_log_beta_dew", &Length::log_dew);
  add_covariances(frame, lengths, "covariance_log_beta_pr", &Length::participation);
  if (question.n.size() > 1) {
    add_slopes(frame, lengths, "slope_dew", &Length::log_dew);
    add_slopes(frame, lengths, "slope_pr", &Length::participation);
  }
  return frame;
}

}  // namespace dewpoint::experiments
