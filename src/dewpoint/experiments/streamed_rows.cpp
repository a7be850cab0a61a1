#include "dewpoint/experiments/streamed_rows.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>
#include <utility>

#include "dewpoint/attention/layer.hpp"
#include "dewpoint/core/blas.hpp"
#include "dewpoint/core/kernels.hpp"
#include "dewpoint/core/unknown.hpp"
#include "dewpoint/core/weight_stream.hpp"
#include "dewpoint/observables/contraction.hpp"
#include "dewpoint/tokens/token_block.hpp"

namespace dewpoint::experiments {
namespace {

// A part adds its keys up in so many lanes, whatever the threads: the order of every sum is fixed.
constexpr std::size_t kLanes = 8;
constexpr std::size_t kRowNumbers = 5;  // four moments and the weight on the own cluster
// An inner product so low that its weight is 0.
constexpr float kSelf = -kFarGap;

// Piece k of [0, n) cut into `count` pieces.
Range piece(std::size_t k, std::size_t count, std::size_t n) {
  return {n / count * k + std::min(k, n % count), n / count * (k + 1) + std::min(k + 1, n % count)};
}

std::size_t row_blocks(const PhasePoint& p) { return (p.rows + kRowBlock - 1) / kRowBlock; }

std::size_t segments(const PhasePoint& p) {
  const std::size_t by_memory = kMostNumbers / (p.rows * (p.cloud.d + kRowNumbers));
  return std::clamp<std::size_t>(std::min(p.cloud.n / kSegmentTokens, by_memory), 1, kMostSegments);
}

// The sampled tokens: queries of all parts, and the point that offsets are taken from.
struct Sample {
  Sample(const PhasePoint& p, std::uint64_t replica)
      : rows(rows_of_replica(p, replica)),
        tokens(tokens::make_tokens(p.cloud, p.seed, replica, rows)),
        inputs(CentredCloud::of_unit_vectors(tokens.directions)),
        weighing{kernel_inverse_temperature(p.inverse_temperature),
                 static_cast<float>(std::exp(-p.inverse_temperature * inputs.mean_gap()))} {}

  std::vector<std::size_t> rows;
  TokenCloud tokens;
  CentredCloud inputs;
  kernels::Weighing weighing;
};

// Sums over some keys for a block of queries.
struct RowSums {
  RowSums(std::size_t rows, std::size_t d)
      : moments(rows), cluster(rows, 0.0), values(rows, d), offsets(d, 0.0) {}

  RowSums& operator+=(const RowSums& other) {
    for (std::size_t i = 0; i < moments.size(); ++i) {
      moments[i] += other.moments[i];
      cluster[i] += other.cluster[i];
    }
    for (std::size_t k = 0; k < values.size(); ++k) values.data()[k] += other.values.data()[k];
    for (std::size_t k = 0; k < offsets.size(); ++k) offsets[k] += other.offsets[k];
    return *this;
  }

  std::vector<RowMoments> moments;
  std::vector<double> cluster;  // weight on the other tokens of the query's cluster
  Matrix<double> values;        // S_i
  std::vector<double> offsets;  // O
};

// The queries of one block against keys that come by.
class KeyPass {
 public:
  KeyPass(const PhasePoint& p, std::uint64_t replica, const Sample& sample, Range rows)
      : p_(p),
        replica_(replica),
        sample_(sample),
        rows_(rows),
        no_shift_(p.cloud.d, 0.0F),
        offsets_(kStreamBlock, p.cloud.d),
        half_squares_(kStreamBlock),
        weights_(rows.size(), kStreamBlock),
        product_(rows.size(), p.cloud.d),
        sums_(rows.size(), p.cloud.d) {}

  // Keys [begin, end) of the cloud, at most kStreamBlock.
  void add(Range keys) {
    make_keys(keys);
    const auto offsets = offsets_.view().row_range({0, keys.size()});
    const auto weights = weights_.view().block({0, rows_.size()}, {0, keys.size()});
    multiply_abt(sample_.inputs.offsets().row_range(rows_), offsets, weights);
    hide_self(keys, weights);
    kernels::weigh_block(weights, sample_.weighing,
                         sample_.inputs.half_squares().subspan(rows_.begin), half_squares_,
                         sums_.moments, {});
    if (tokens::has_clusters(p_.cloud)) add_clusters(keys, weights);
    multiply_ab(weights, offsets, product_);
    kernels::accumulate(product_, sums_.values);
    kernels::add_columns(offsets, sums_.offsets);
  }

  [[nodiscard]] const RowSums& sums() const { return sums_; }

 private:
  void make_keys(Range keys) {
    const TokenCloud block = tokens::make_block(p_.cloud, p_.seed, replica_, keys);
    const std::vector<double>& centre = sample_.inputs.centre();
    for (std::size_t j = 0; j < keys.size(); ++j) {
      const auto from = block.directions.row(j);
      const auto to = offsets_.row(j);
      for (std::size_t k = 0; k < to.size(); ++k) to[k] = static_cast<float>(from[k] - centre[k]);
    }
    std::fill(half_squares_.begin(), half_squares_.end(), kFarGap);
    kernels::recentre_rows(offsets_.view().row_range({0, keys.size()}), no_shift_, half_squares_);
  }

  void hide_self(Range keys, MatrixView<float> weights) const {
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      const std::size_t self = sample_.rows[rows_.begin + i];
      if (self >= keys.begin && self < keys.end) weights(i, self - keys.begin) = kSelf;
    }
  }

  void add_clusters(Range keys, MatrixView<const float> weights) {
    const std::size_t size = p_.cloud.cluster_size;
    const auto shift = static_cast<double>(sample_.weighing.shift);
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      const std::size_t first = sample_.rows[rows_.begin + i] / size * size;
      for (std::size_t j = std::max(first, keys.begin); j < std::min(first + size, keys.end); ++j) {
        sums_.cluster[i] += static_cast<double>(weights(i, j - keys.begin)) + shift;
      }
    }
  }

  const PhasePoint& p_;
  std::uint64_t replica_;
  const Sample& sample_;
  Range rows_;
  std::vector<float> no_shift_;
  Matrix<float> offsets_;
  std::vector<float> half_squares_;
  Matrix<float> weights_;
  Matrix<float> product_;
  RowSums sums_;
};

// One block of queries against one segment of keys.
RowSums sums_of_part(const PhasePoint& p, std::uint64_t replica, Range rows, Range keys,
                     const RunContext& context) {
  const Sample sample(p, replica);
  std::vector<RowSums> lanes(kLanes, RowSums(0, 0));
  ProgressTally tally(context.progress, static_cast<double>(keys.size()));
  parallel_for(kLanes, {context.threads, context.stop, {}}, [&](std::size_t lane) {
    KeyPass pass(p, replica, sample, rows);
    const Range mine = piece(lane, kLanes, keys.size());
    for (std::size_t first = mine.begin; first < mine.end; first += kStreamBlock) {
      context.throw_if_stopped();
      const std::size_t last = std::min(first + kStreamBlock, mine.end);
      pass.add({keys.begin + first, keys.begin + last});
      tally.finish(static_cast<double>(last - first));
    }
    lanes[lane] = pass.sums();
  });
  for (std::size_t lane = 1; lane < kLanes; ++lane) lanes[0] += lanes[lane];
  return std::move(lanes[0]);
}

std::vector<double> packed(const RowSums& sums) {
  std::vector<double> numbers;
  for (std::size_t i = 0; i < sums.moments.size(); ++i) {
    const RowMoments& row = sums.moments[i];
    numbers.insert(numbers.end(),
                   {row.partition, row.gap, row.squared_gap, row.weight_squared, sums.cluster[i]});
    const auto values = sums.values.row(i);
    numbers.insert(numbers.end(), values.begin(), values.end());
  }
  numbers.insert(numbers.end(), sums.offsets.begin(), sums.offsets.end());
  return numbers;
}

RowSums unpacked(std::span<const double> numbers, std::size_t rows, std::size_t d) {
  DEWPOINT_EXPECTS(numbers.size() == rows * (kRowNumbers + d) + d);
  RowSums sums(rows, d);
  for (std::size_t i = 0; i < rows; ++i) {
    const auto row = numbers.subspan(i * (kRowNumbers + d), kRowNumbers + d);
    sums.moments[i] = {row[0], row[1], row[2], row[3]};
    sums.cluster[i] = row[4];
    std::copy_n(row.data() + kRowNumbers, d, sums.values.row(i).data());
  }
  std::copy_n(numbers.data() + rows * (kRowNumbers + d), d, sums.offsets.data());
  return sums;
}

// The outputs of all queries, and beside them Z within their clusters.
struct Joined {
  attention::LayerResult layer;
  std::vector<double> cluster_partitions;
};

// Adds what the blocks left out: the token itself, with weight 1, and the shift.
void add_block(const Sample& sample, const RowSums& sums, Range rows, Joined& joined) {
  const auto shift = static_cast<double>(sample.weighing.shift);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    RowMoments moments = sums.moments[i];
    moments += RowMoments{1.0, 0.0, 0.0, 1.0};
    const auto self = sample.inputs.offsets().row(rows.begin + i);
    const auto sum = sums.values.row(i);
    const auto output = joined.layer.deviations.row(rows.begin + i);
    for (std::size_t k = 0; k < output.size(); ++k) {
      const double others = sum[k] + shift * sums.offsets[k];
      output[k] = (others + static_cast<double>(self[k])) / moments.partition;
    }
    joined.layer.moments.push_back(moments);
    joined.cluster_partitions.push_back(1.0 + sums.cluster[i]);
  }
}

Joined joined_layer(const PhasePoint& p, const Sample& sample,
                    const std::vector<std::vector<double>>& parts) {
  Joined joined;
  joined.layer.rows.resize(p.rows);
  std::iota(joined.layer.rows.begin(), joined.layer.rows.end(), std::size_t{0});
  joined.layer.base = sample.inputs.centre();
  joined.layer.deviations = Matrix<double>(p.rows, p.cloud.d);
  for (std::size_t block = 0; block < row_blocks(p); ++block) {
    const Range rows = piece(block, row_blocks(p), p.rows);
    RowSums sums(rows.size(), p.cloud.d);
    for (std::size_t s = 0; s < segments(p); ++s) {
      sums += unpacked(parts[block * segments(p) + s], rows.size(), p.cloud.d);
    }
    add_block(sample, sums, rows, joined);
  }
  attention::add_residual(sample.tokens, p.residual, joined.layer);
  return joined;
}

}  // namespace

bool streams_rows(const PhasePoint& p) {
  return samples_rows(p) && p.cloud.n >= kStreamedTokens && tokens::has_blocks(p.cloud) &&
         p.form == attention::LayerForm{} && !p.norm;
}

std::size_t streamed_parts(const PhasePoint& p) { return row_blocks(p) * segments(p); }

std::vector<double> streamed_part(const PhasePoint& p, std::uint64_t replica, std::size_t part,
                                  const RunContext& context) {
  DEWPOINT_EXPECTS(samples_rows(p) && part < streamed_parts(p));
  const Range rows = piece(part / segments(p), row_blocks(p), p.rows);
  const Range keys = piece(part % segments(p), segments(p), p.cloud.n);
  return packed(sums_of_part(p, replica, rows, keys, context));
}

PointSample join_streamed(const PhasePoint& p, std::uint64_t replica,
                          const std::vector<std::vector<double>>& parts) {
  DEWPOINT_EXPECTS(parts.size() == streamed_parts(p));
  const Sample sample(p, replica);
  const Joined joined = joined_layer(p, sample, parts);
  const auto pairs = observables::contraction_of_sample(sample.inputs, joined.layer.directions(),
                                                        p.cloud.n, {1, {}, {}});
  const bool clusters = tokens::has_clusters(p.cloud);
  const auto rows = observables::row_means(
      joined.layer.moments, p.inverse_temperature,
      clusters ? std::span<const double>(joined.cluster_partitions) : std::span<const double>{});
  return {phase_values(pairs, rows, kUnknown), pairs.sampling_error, kUnknown,
          rank_of_outputs(p, joined.layer.deviations)};
}

PointSample sample_streamed_rows(const PhasePoint& p, std::uint64_t replica,
                                 const RunContext& context) {
  std::vector<std::vector<double>> parts(streamed_parts(p));
  for (std::size_t k = 0; k < parts.size(); ++k) {
    parts[k] = streamed_part(p, replica, k, part_of(context, {k, k + 1}, parts.size()));
  }
  return join_streamed(p, replica, parts);
}

}  // namespace dewpoint::experiments
