#include "dewpoint/theory/simplex_window.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "dewpoint/core/error.hpp"
#include "dewpoint/theory/critical_scales.hpp"
#include "dewpoint/theory/log_space.hpp"

namespace dewpoint::theory {

namespace {

/// A row with its residual, divided by its total weight.
struct Row {
  double total;      // m = M + κ
  double self;       // of Â
  double per_token;  // of Â
};

Row row_of(double visible, const MaskedLayer& layer) {
  if (visible < 2.0) {  // itself and the sink
    const double keys = std::exp(-softplus(layer.sink_logit - layer.inverse_temperature));
    return {keys + layer.scaled_residual, 1.0, 0.0};
  }
  const SinkWeights weights = sink_weights(std::log(visible), layer.inverse_temperature,
                                           layer.correlation, layer.sink_logit);
  const double total = weights.keys + layer.scaled_residual;
  return {total, (weights.self + layer.scaled_residual) / total, weights.per_token / total};
}

/// Keys on which two rows have the same two weights.
struct KeyGroup {
  double count, first, second;
};

std::array<KeyGroup, 5> key_groups(double i, double j, double window, const Row& first,
                                   const Row& second) {
  const double oldest = std::max(0.0, j - window + 1.0);  // the oldest key that j sees
  const double shared = std::max(0.0, i - oldest + 1.0);  // i among them
  const double of_first = visible_keys(i, window) - std::max(shared, 1.0);
  const double of_second = visible_keys(j, window) - 1.0 - shared;
  return {{{1.0, first.self, shared > 0.0 ? second.per_token : 0.0},
           {1.0, 0.0, second.self},
           {std::max(0.0, shared - 1.0), first.per_token, second.per_token},
           {of_first, first.per_token, 0.0},
           {of_second, 0.0, second.per_token}}};
}

/// P_i, P_j, O, D and P_j − O.
struct Overlaps {
  double first = 0.0, second = 0.0, common = 0.0, distance = 0.0, excess = 0.0;
};

Overlaps overlaps_of(const std::array<KeyGroup, 5>& groups) {
  Overlaps sums;
  for (const KeyGroup& keys : groups) {
    const double difference = keys.second - keys.first;
    sums.first += keys.count * keys.first * keys.first;
    sums.second += keys.count * keys.second * keys.second;
    sums.common += keys.count * keys.first * keys.second;
    sums.distance += keys.count * difference * difference;
    sums.excess += keys.count * keys.second * difference;
  }
  return sums;
}

}  // namespace

double visible_keys(double position, double window) {
  DEWPOINT_EXPECTS(position >= 0.0 && window >= 1.0);
  return std::min(position + 1.0, window);
}

std::optional<double> row_dew_point(double visible, double correlation) {
  DEWPOINT_EXPECTS(visible >= 1.0);
  if (visible < 3.0) return {};
  return simplex_annealed_beta(std::log(visible), 1.0 - correlation);
}

MaskedPair masked_pair(double first, double second, const MaskedLayer& layer) {
  DEWPOINT_EXPECTS(0.0 <= first && first < second);
  const Row earlier = row_of(visible_keys(first, layer.window), layer);
  const Row later = row_of(visible_keys(second, layer.window), layer);
  const Overlaps sums = overlaps_of(key_groups(first, second, layer.window, earlier, later));

  const double rho = layer.correlation, spread = 1.0 - rho;
  const double first_norm = rho + spread * sums.first, second_norm = rho + spread * sums.second;
  const double cosine = (rho + spread * sums.common) / std::sqrt(first_norm * second_norm);
  const double determinant = sums.second * sums.distance - sums.excess * sums.excess;
  const double contraction =
      (rho * sums.distance + spread * determinant) / (first_norm * second_norm * (1.0 + cosine));
  return {earlier.total * earlier.total * first_norm, later.total * later.total * second_norm,
          cosine, spread * contraction, contraction};
}

}  // namespace dewpoint::theory
