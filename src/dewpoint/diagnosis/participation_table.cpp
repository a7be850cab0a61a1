#include "dewpoint/diagnosis/participation_table.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "dewpoint/core/error.hpp"
#include "dewpoint/diagnosis/row_bootstrap.hpp"
#include "dewpoint/observables/dew_point.hpp"

namespace dewpoint::diagnosis {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr int kFarthestNode = 4000;  // a factor e^500 of β

struct Participation {
  double value = 0.0, slope = 0.0;  // Σw² and its derivative in log β
};

Participation participation(std::span<const double> row, double largest, double beta) {
  double partition = 0.0, squares = 0.0, first = 0.0, second = 0.0;
  for (const double score : row) {
    const double exponent = beta * (largest - score), weight = std::exp(-exponent);
    if (weight == 0.0) continue;  // an infinite exponent would spoil the products
    partition += weight;
    squares += weight * weight;
    first += exponent * weight;
    second += exponent * weight * weight;
  }
  const double value = squares / (partition * partition);
  return {value, 2.0 * value * (first / partition - second / squares)};
}

double frozen_participation(std::span<const double> row) {
  const double largest = *std::max_element(row.begin(), row.end());
  return 1.0 / static_cast<double>(std::count_if(row.begin(), row.end(), [&](double score) {
           return largest - score < observables::kSmallestGap;
         }));
}

/// Where the cubic through two values and slopes is 1/2, as a share of the step between them.
double crossing(double left, double left_slope, double right, double right_slope) {
  const auto cubic = [&](double t) {
    const double r = 1.0 - t;
    return r * r * ((1.0 + 2.0 * t) * left + t * left_slope) +
           t * t * ((1.0 + 2.0 * r) * right - r * right_slope);
  };
  double lower = 0.0, upper = 1.0;
  for (int halving = 0; halving < 50; ++halving) {
    const double middle = 0.5 * (lower + upper);
    (cubic(middle) < 0.5 ? lower : upper) = middle;
  }
  return 0.5 * (lower + upper);
}

}  // namespace

ParticipationTable::ParticipationTable(MatrixView<const double> scores, std::size_t hands,
                                       double log_beta, const RunContext& context)
    : scores_(scores),
      hands_(hands),
      origin_(log_beta),
      context_{context.threads, context.stop, {}},
      frozen_(scores.rows() / hands, 0.0) {
  DEWPOINT_EXPECTS(hands >= 1 && scores.rows() % hands == 0);
  for (std::size_t i = 0; i < scores.rows(); ++i)
    frozen_[i / hands] += frozen_participation(scores.row(i)) / static_cast<double>(hands);
}

const ParticipationTable::Node& ParticipationTable::node(int position) {
  if (const auto found = nodes_.find(position); found != nodes_.end()) return found->second;
  const double beta = std::exp(origin_ + position * kNodeDistance);
  const auto share = 1.0 / static_cast<double>(hands_);
  Node node{std::vector<double>(frozen_.size()), std::vector<double>(frozen_.size())};
  parallel_for(frozen_.size(), context_, [&](std::size_t query) {
    for (std::size_t hand = 0; hand < hands_; ++hand) {
      const auto row = scores_.row(query * hands_ + hand);
      const Participation now = participation(row, *std::max_element(row.begin(), row.end()), beta);
      node.values[query] += now.value * share;
      node.slopes[query] += now.slope * share;
    }
  });
  return nodes_.emplace(position, std::move(node)).first->second;
}

ParticipationTable::Mean ParticipationTable::mean(int position,
                                                  std::span<const std::uint32_t> counts) {
  const Node& here = node(position);
  return {weighted_mean(here.values, counts), weighted_mean(here.slopes, counts)};
}

double ParticipationTable::log_root(std::span<const std::uint32_t> counts) {
  if (weighted_mean(frozen_, counts) <= 0.5 + observables::kParticipationError) return kInfinity;
  int left = 0;
  while (left > -kFarthestNode && mean(left, counts).value > 0.5) --left;
  while (left < kFarthestNode && mean(left + 1, counts).value <= 0.5) ++left;
  if (left == kFarthestNode) return kInfinity;
  const Mean below = mean(left, counts), above = mean(left + 1, counts);
  const double share =
      crossing(below.value, below.slope * kNodeDistance, above.value, above.slope * kNodeDistance);
  return origin_ + (left + share) * kNodeDistance;
}

}  // namespace dewpoint::diagnosis
