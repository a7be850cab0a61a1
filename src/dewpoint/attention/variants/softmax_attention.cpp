#include "dewpoint/attention/variants/softmax_attention.hpp"

#include <utility>
#include <variant>

#include "dewpoint/attention/variants/score_strip.hpp"

namespace dewpoint::attention {
namespace {

Matrix<float> rounded(MatrixView<const double> rows) {
  Matrix<float> result(rows.rows(), rows.cols());
  for (std::size_t i = 0; i < rows.rows(); ++i) {
    std::ranges::transform(rows.row(i), result.row(i).begin(),
                           [](double x) { return static_cast<float>(x); });
  }
  return result;
}

std::vector<double> mean_of(MatrixView<const double> rows) {
  std::vector<double> mean(rows.cols());
  for (std::size_t i = 0; i < rows.rows(); ++i) {
    for (std::size_t k = 0; k < mean.size(); ++k) mean[k] += rows(i, k);
  }
  for (double& x : mean) x /= static_cast<double>(rows.rows());
  return mean;
}

Matrix<float> offsets(MatrixView<const double> rows, std::span<const double> centre) {
  Matrix<float> result(rows.rows(), rows.cols());
  for (std::size_t i = 0; i < rows.rows(); ++i) {
    for (std::size_t k = 0; k < rows.cols(); ++k) {
      result(i, k) = static_cast<float>(rows(i, k) - centre[k]);
    }
  }
  return result;
}

// The statistics of the kept scores of one query; weights that come later do not matter here.
SoftmaxRow statistics(std::span<const float> kept, bool keeps_first, const Softmax& softmax,
                      double beta) {
  SoftmaxRow row;
  if (softmax.sink_logit()) row.sink = *softmax.sink_logit();
  if (keeps_first) {
    row.first = beta * static_cast<double>(kept.front());
    kept = kept.subspan(1);
  }
  if (kept.empty()) return row;
  const float largest = kernels::largest_score(kept);
  kernels::GapSums plain;
  row.rest = kernels::score_moments(kept, largest, static_cast<float>(beta), &plain);
  row.largest = beta * static_cast<double>(largest);
  row.plain_gap = beta * plain.gap;
  row.plain_squared_gap = beta * beta * plain.squared_gap;
  return row;
}

// What a row's weights relative to the largest have to be multiplied with, and what they add up to
// then: less than 1 beside a sink.
struct RowShare {
  double factor;
  double total;
};

// All strips of one call, and where their results go.
class SoftmaxRun {
 public:
  SoftmaxRun(const AttentionInputs& inputs, const AttentionVariant& variant,
             std::span<const std::size_t> queries)
      : variant_(variant),
        softmax_(std::get<Softmax>(variant.kind)),
        tokens_(queries),
        queries_(rounded(rows_of<double>(inputs.queries, queries))),
        keys_(rounded(inputs.keys)),
        centre_(mean_of(inputs.values)),
        values_(offsets(inputs.values, centre_)),
        result_{Matrix<double>(queries.size(), inputs.values.cols()),
                std::vector<RowStatistics>(queries.size())} {}

  void strip(Range queries) {
    const auto tokens = tokens_.subspan(queries.begin, queries.size());
    const KeyColumns columns(variant_.mask.ranges_seen(tokens, keys_.rows()));
    Matrix<float> weights(queries.size(), columns.size());
    columns.for_each_range([&](Range keys, Range place) {
      multiply_abt(queries_.view().row_range(queries), keys_.view().row_range(keys),
                   columns_of(weights.view(), place));
    });
    const std::vector<RowShare> shares = weigh(queries, columns, weights);
    mix(queries, columns, weights, shares);
  }

  AttentionResult result() && { return std::move(result_); }

 private:
  // Turns scores into weights relative to the largest of their row.
  std::vector<RowShare> weigh(Range queries, const KeyColumns& columns, Matrix<float>& strip) {
    const double beta = variant_.inverse_temperature;
    RowScores<float> scores(softmax_, columns);
    std::vector<RowShare> shares;
    for (std::size_t q = 0; q < queries.size(); ++q) {
      const std::size_t token = tokens_[queries.begin + q];
      const VisibleKeys seen = variant_.mask.visible(token, keys_.rows());
      scores.take(seen, strip.row(q));
      const SoftmaxRow row = statistics(scores.kept(), scores.keeps_first(seen), softmax_, beta);
      const float largest = scores.largest();
      const double partition = scores.weigh(largest, beta);
      const double share = share_of(softmax_, partition, beta * static_cast<double>(largest));
      shares.push_back({share, partition * share});
      scores.put(seen, strip.row(q));
      const double self = static_cast<double>(strip(q, columns.column(token))) * share;
      result_.rows[queries.begin + q] = {seen.size(), row, self};
    }
    return shares;
  }

  void mix(Range queries, const KeyColumns& columns, const Matrix<float>& weights,
           std::span<const RowShare> shares) {
    const MatrixView<double> outputs = result_.outputs.view().row_range(queries);
    Matrix<float> part(queries.size(), values_.cols());
    columns.for_each_range(kMixedKeys, [&](Range keys, Range place) {
      multiply_ab(columns_of(weights.view(), place), values_.view().row_range(keys), part);
      kernels::accumulate(part, outputs);
    });
    for (std::size_t q = 0; q < queries.size(); ++q) {
      const std::span<double> output = outputs.row(q);
      for (std::size_t k = 0; k < output.size(); ++k) {
        output[k] = shares[q].total * centre_[k] + shares[q].factor * output[k];
      }
    }
  }

  const AttentionVariant& variant_;
  const Softmax& softmax_;
  std::span<const std::size_t> tokens_;  // that ask
  Matrix<float> queries_;
  Matrix<float> keys_;
  std::vector<double> centre_;  // v̄
  Matrix<float> values_;        // v − v̄
  AttentionResult result_;
};

}  // namespace

AttentionResult softmax_attention(const AttentionInputs& inputs, const AttentionVariant& variant,
                                  std::span<const std::size_t> queries, const RunContext& context) {
  const std::size_t rows = rows_of_strip<float>(inputs.keys.rows());
  SoftmaxRun run(inputs, variant, queries);
  parallel_for((queries.size() + rows - 1) / rows, context, [&](std::size_t s) {
    run.strip({s * rows, std::min(queries.size(), (s + 1) * rows)});
  });
  return std::move(run).result();
}

}  // namespace dewpoint::attention
