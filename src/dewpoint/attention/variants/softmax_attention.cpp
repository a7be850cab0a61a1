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

// All strips of one call, and where their results go.
class SoftmaxRun {
 public:
  SoftmaxRun(const AttentionInputs& inputs, const AttentionVariant& variant)
      : variant_(variant),
        softmax_(std::get<Softmax>(variant.kind)),
        queries_(rounded(inputs.queries)),
        keys_(rounded(inputs.keys)),
        values_(rounded(inputs.values)),
        result_{Matrix<double>(inputs.queries.rows(), inputs.values.cols()),
                std::vector<RowStatistics>(inputs.queries.rows())} {}

  void strip(Range queries) {
    const KeyColumns columns(variant_.mask.ranges_seen(queries, keys_.rows()));
    Matrix<float> weights(queries.size(), columns.size());
    columns.for_each_range([&](Range keys, Range place) {
      multiply_abt(queries_.view().row_range(queries), keys_.view().row_range(keys),
                   columns_of(weights.view(), place));
    });
    const std::vector<double> shares = weigh(queries, columns, weights);
    mix(queries, columns, weights, shares);
  }

  AttentionResult result() && { return std::move(result_); }

 private:
  // Turns scores into weights relative to the largest of their row; returns what normalises them.
  std::vector<double> weigh(Range queries, const KeyColumns& columns, Matrix<float>& strip) {
    const double beta = variant_.inverse_temperature;
    RowScores<float> scores(softmax_, columns);
    std::vector<double> shares;
    for (std::size_t q = 0; q < queries.size(); ++q) {
      const std::size_t query = queries.begin + q;
      const VisibleKeys seen = variant_.mask.visible(query, keys_.rows());
      scores.take(seen, strip.row(q));
      result_.rows[query] = {seen.size(),
                             statistics(scores.kept(), scores.keeps_first(seen), softmax_, beta)};
      const float largest = scores.largest();
      const double partition = scores.weigh(largest, beta);
      shares.push_back(share_of(softmax_, partition, beta * static_cast<double>(largest)));
      scores.put(seen, strip.row(q));
    }
    return shares;
  }

  void mix(Range queries, const KeyColumns& columns, const Matrix<float>& weights,
           std::span<const double> shares) {
    const MatrixView<double> outputs = result_.outputs.view().row_range(queries);
    Matrix<float> part(queries.size(), values_.cols());
    columns.for_each_range(kMixedKeys, [&](Range keys, Range place) {
      multiply_ab(columns_of(weights.view(), place), values_.view().row_range(keys), part);
      kernels::accumulate(part, outputs);
    });
    for (std::size_t q = 0; q < queries.size(); ++q) {
      for (double& x : outputs.row(q)) x *= shares[q];
    }
  }

  const AttentionVariant& variant_;
  const Softmax& softmax_;
  Matrix<float> queries_;
  Matrix<float> keys_;
  Matrix<float> values_;
  AttentionResult result_;
};

}  // namespace

AttentionResult softmax_attention(const AttentionInputs& inputs, const AttentionVariant& variant,
                                  const RunContext& context) {
  const std::size_t n = inputs.queries.rows();
  SoftmaxRun run(inputs, variant);
  parallel_for(strips_of<float>(n), context,
               [&](std::size_t s) { run.strip(strip_of<float>(s, n)); });
  return std::move(run).result();
}

}  // namespace dewpoint::attention
