#include "dewpoint/experiments/key_output.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <span>

#include "dewpoint/core/error.hpp"
#include "dewpoint/core/kernels.hpp"
#include "dewpoint/core/random.hpp"
#include "dewpoint/core/vectors.hpp"
#include "dewpoint/experiments/option_checks.hpp"
#include "dewpoint/observables/row_observables.hpp"

namespace dewpoint::experiments {
namespace {

constexpr std::size_t kBlock = 1024;  // keys that are in cache together

// ---- one block of keys ----------------------------------------------------------------------

// Keys with what their scores need: both numbers are sums of squares, so nothing cancels.
class KeyBlock {
 public:
  explicit KeyBlock(std::size_t dimension)
      : keys_(kBlock, dimension), gaps_(kBlock), tangential_squares_(kBlock) {}

  void draw(const scores::KeyLaw& law, Range numbers, const Stream& stream) {
    size_ = numbers.size();
    law.draw(numbers.begin, keys_.view().row_range({0, size_}), stream);
    for (std::size_t j = 0; j < size_; ++j) measure(j);
  }

  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] std::span<const double> key(std::size_t j) const { return keys_.row(j); }
  [[nodiscard]] double gap(std::size_t j) const { return gaps_[j]; }
  [[nodiscard]] double tangential_square(std::size_t j) const { return tangential_squares_[j]; }
  [[nodiscard]] double best() const {
    return *std::min_element(gaps_.begin(), gaps_.begin() + static_cast<std::ptrdiff_t>(size_));
  }

 private:
  // T = 1 − U = |q − k|²/2 − (|k|² − 1)/2; the second term is left out where it is the rounding of
  // a unit key: of D squares, of their sum, of a division by the length and of a rotation.
  void measure(std::size_t j) {
    const auto key = keys_.row(j);
    const double tangential = inner(key.subspan(1), key.subspan(1));
    const double short_of_query = 1.0 - key[0];
    const double excess = key[0] * key[0] + tangential - 1.0;
    const double roundings = 4.0 * static_cast<double>(key.size() + 2);
    const bool unit = std::abs(excess) <= roundings * std::numeric_limits<double>::epsilon();
    tangential_squares_[j] = tangential;
    gaps_[j] = unit ? 0.5 * (short_of_query * short_of_query + tangential) : short_of_query;
  }

  Matrix<double> keys_;
  std::vector<double> gaps_;
  std::vector<double> tangential_squares_;
  std::size_t size_ = 0;
};

// ---- sums over keys at one inverse temperature ----------------------------------------------

void add_multiple(std::span<double> sum, double factor, std::span<const double> more) {
  for (std::size_t k = 0; k < sum.size(); ++k) sum[k] += factor * more[k];
}

// Σ over keys of e_j = e^{−β(T_j − best)} and its square times what is to be averaged.
struct KeySums {
  double best;                                  // smallest gap, to which all e_j are relative
  RowMoments row;                               // Σe, Σ(T − best)e, Σe²
  double tangential;                            // Σ e |k⊥|²
  double tangential_sq;                         // Σ e² |k⊥|²
  std::vector<double> key, key_sq, scored_key;  // Σ e k, Σ e² k, Σ e U k

  explicit KeySums(std::size_t dimension)
      : best(std::numeric_limits<double>::infinity()),
        tangential(0.0),
        tangential_sq(0.0),
        key(dimension, 0.0),
        key_sq(dimension, 0.0),
        scored_key(dimension, 0.0) {}

  void add(const KeyBlock& block, std::size_t j, double beta) {
    const double gap = block.gap(j) - best, weight = std::exp(-beta * gap);
    const double squared = weight * weight;
    row.partition += weight;
    row.gap += gap * weight;
    row.weight_squared += squared;
    tangential += weight * block.tangential_square(j);
    tangential_sq += squared * block.tangential_square(j);
    add_multiple(key, weight, block.key(j));
    add_multiple(key_sq, squared, block.key(j));
    add_multiple(scored_key, weight * block.key(j)[0], block.key(j));
  }

  // The sums of two disjoint sets of keys; the one with the farther best key is scaled down.
  void merge(const KeySums& other, double beta) {
    if (other.best < best) rebase(other.best, beta);
    const double factor = std::exp(-beta * (other.best - best));
    const double squared = factor * factor;
    row.partition += factor * other.row.partition;
    row.gap += factor * (other.row.gap + (other.best - best) * other.row.partition);
    row.weight_squared += squared * other.row.weight_squared;
    tangential += factor * other.tangential;
    tangential_sq += squared * other.tangential_sq;
    add_multiple(key, factor, other.key);
    add_multiple(key_sq, squared, other.key_sq);
    add_multiple(scored_key, factor, other.scored_key);
  }

 private:
  void rebase(double nearer, double beta) {
    KeySums rebased(key.size());
    rebased.best = nearer;
    if (row.partition > 0.0) rebased.merge(*this, beta);
    *this = std::move(rebased);
  }
};

KeySums sums_of(const KeyBlock& block, double best, double beta, std::size_t dimension) {
  KeySums sums(dimension);
  sums.best = best;
  for (std::size_t j = 0; j < block.size(); ++j) sums.add(block, j, beta);
  return sums;
}

std::vector<KeySums> draw_sums(const scores::KeyLaw& law, const KeyOutput& question,
                               const Stream& stream, const RunContext& context) {
  const std::size_t dimension = law.dimension();
  std::vector<KeySums> totals(question.inverse_temperatures.size(), KeySums(dimension));
  KeyBlock block(dimension);
  for (std::size_t first = 0; first < question.keys; first += kBlock) {
    context.throw_if_stopped();
    block.draw(law, {first, std::min(first + kBlock, question.keys)}, stream);
    const double best = block.best();
    for (std::size_t b = 0; b < totals.size(); ++b) {
      const double beta = question.inverse_temperatures[b];
      totals[b].merge(sums_of(block, best, beta, dimension), beta);
    }
  }
  return totals;
}

// ---- one draw -------------------------------------------------------------------------------

struct Output {
  std::vector<double> value, bias;           // D'
  std::vector<double> key_mean, scored_key;  // D
  double gap, tangential_square, tangential_spread;
  double participation, largest_weight, entropy;
};

std::vector<double> scaled(std::vector<double> vector, double factor) {
  for (double& entry : vector) entry *= factor;
  return vector;
}

std::vector<double> transformed(const Matrix<double>& values, const std::vector<double>& vector) {
  if (values.rows() == 0) return vector;
  std::vector<double> result;
  for (std::size_t r = 0; r < values.rows(); ++r) result.push_back(inner(values.row(r), vector));
  return result;
}

Output output_of(const KeySums& sums, const Matrix<double>& values, double beta) {
  const double z = sums.row.partition;
  Output output;
  output.key_mean = scaled(sums.key, 1.0 / z);
  output.scored_key = scaled(sums.scored_key, 1.0 / z);
  output.participation = observables::participation(sums.row);
  output.largest_weight = observables::largest_weight(sums.row);
  output.entropy = observables::entropy(sums.row, beta);
  output.gap = sums.best + sums.row.gap / z;
  const auto tangential = std::span(output.key_mean).subspan(1);
  output.tangential_square = inner(tangential, tangential);
  output.tangential_spread = sums.tangential / z - sums.tangential_sq / (z * z);
  std::vector<double> bias = scaled(sums.key_sq, -1.0 / (z * z));
  add_multiple(bias, output.participation, output.key_mean);
  output.bias = transformed(values, bias);
  output.value = transformed(values, output.key_mean);
  return output;
}

// ---- means over draws -----------------------------------------------------------------------

using Draws = std::vector<Output>;

Estimate mean_of(const Draws& draws, const std::function<double(const Output&)>& value) {
  RunningMoments moments;
  for (const Output& draw : draws) moments.add(value(draw));
  return moments.estimate();
}

std::vector<Estimate> mean_of(const Draws& draws, std::vector<double> Output::*vector) {
  std::vector<Estimate> means;
  for (std::size_t k = 0; k < (draws.front().*vector).size(); ++k) {
    means.push_back(mean_of(draws, [&](const Output& draw) { return (draw.*vector)[k]; }));
  }
  return means;
}

// n times the covariance of two entries: the mean of unbiased products of deviations, whose own
// scatter is the error.
std::vector<Estimate> covariance_of(const Draws& draws, const std::vector<Estimate>& mean,
                                    double keys) {
  const auto samples = static_cast<double>(draws.size());
  const double factor = keys * samples / (samples - 1.0);
  std::vector<Estimate> covariance;
  for (std::size_t a = 0; a < mean.size(); ++a) {
    for (std::size_t b = 0; b < mean.size(); ++b) {
      covariance.push_back(mean_of(draws, [&](const Output& draw) {
        return factor * (draw.value[a] - mean[a].mean) * (draw.value[b] - mean[b].mean);
      }));
    }
  }
  return covariance;
}

// The same for the mean variance of some coordinates of Σ w k.
Estimate variance_of(const Draws& draws, Range coordinates, double keys) {
  const std::vector<Estimate> mean = mean_of(draws, &Output::key_mean);
  const auto samples = static_cast<double>(draws.size());
  const double factor = keys * samples / (samples - 1.0) / static_cast<double>(coordinates.size());
  return mean_of(draws, [&](const Output& draw) {
    double sum = 0.0;
    for (std::size_t k = coordinates.begin; k < coordinates.end; ++k) {
      const double deviation = draw.key_mean[k] - mean[k].mean;
      sum += deviation * deviation;
    }
    return factor * sum;
  });
}

// Along q the gap varies as the coordinate does, and keeps its digits where that is nearly 1.
Estimate parallel_variance(const Draws& draws, const Estimate& gap, double keys) {
  const auto samples = static_cast<double>(draws.size());
  const double factor = keys * samples / (samples - 1.0);
  return mean_of(draws, [&](const Output& draw) {
    return factor * (draw.gap - gap.mean) * (draw.gap - gap.mean);
  });
}

KeyOutputMoments moments_of(const Draws& draws, double beta, std::size_t keys) {
  const auto n = static_cast<double>(keys);
  const auto scalar = [&](double Output::*value) {
    return mean_of(draws, [=](const Output& draw) { return draw.*value; });
  };
  KeyOutputMoments moments;
  moments.inverse_temperature = beta;
  moments.mean = mean_of(draws, &Output::value);
  moments.bias = mean_of(draws, &Output::bias);
  moments.covariance = covariance_of(draws, moments.mean, n);
  moments.gap = scalar(&Output::gap);
  moments.parallel_variance = parallel_variance(draws, moments.gap, n);
  moments.tangential_variance = variance_of(draws, {1, draws.front().key_mean.size()}, n);
  moments.tangential_square = scalar(&Output::tangential_square);
  moments.tangential_spread = scalar(&Output::tangential_spread);
  moments.scored_key = mean_of(draws, &Output::scored_key);
  moments.participation = scalar(&Output::participation);
  moments.largest_weight = scalar(&Output::largest_weight);
  moments.entropy = scalar(&Output::entropy);
  return moments;
}

}  // namespace

void check(const KeyOutput& question, const scores::KeyLaw& law) {
  if (law.dimension() < 2) throw Error(Code::bad_value, "keys: dimension 1 is not at least 2");
  if (question.keys < 2) {
    throw Error(Code::bad_value, fmt::format("n: {} is not at least 2", question.keys));
  }
  if (question.draws < 2) {
    throw Error(Code::bad_value, fmt::format("draws: {} is not at least 2", question.draws));
  }
  if (question.inverse_temperatures.empty()) {
    throw Error(Code::bad_value, "beta: the list is empty");
  }
  for (const double beta : question.inverse_temperatures) {
    require_option(beta >= 0.0 && std::isfinite(beta), "beta", beta, "a finite number >= 0");
  }
  if (question.values.rows() > kMostOutputs) {
    throw Error(Code::bad_value, fmt::format("values: {} rows are not at most {}",
                                             question.values.rows(), kMostOutputs));
  }
  if (question.values.rows() > 0 && question.values.cols() != law.dimension()) {
    throw Error(Code::bad_value,
                fmt::format("values: {} columns are not the {} coordinates of a key",
                            question.values.cols(), law.dimension()));
  }
}

std::vector<KeyOutputMoments> key_output(const scores::KeyLaw& law, const KeyOutput& question,
                                         const RunContext& context) {
  check(question, law);
  const std::size_t count = question.inverse_temperatures.size();
  std::vector<Draws> draws(count, Draws(question.draws));
  parallel_for(question.draws, context, [&](std::size_t i) {
    const auto sums = draw_sums(law, question, {question.seed, "key-output", i}, context);
    for (std::size_t b = 0; b < count; ++b) {
      draws[b][i] = output_of(sums[b], question.values, question.inverse_temperatures[b]);
    }
  });
  std::vector<KeyOutputMoments> moments;
  for (std::size_t b = 0; b < count; ++b) {
    moments.push_back(moments_of(draws[b], question.inverse_temperatures[b], question.keys));
  }
  return moments;
}

}  // namespace dewpoint::experiments
