#include "dewpoint/experiments/variant_dew.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <span>
#include <utility>
#include <variant>

#include "dewpoint/attention/variants/feature_rows.hpp"
#include "dewpoint/attention/variants/projections.hpp"
#include "dewpoint/attention/variants/score_strip.hpp"
#include "dewpoint/core/blas.hpp"
#include "dewpoint/experiments/phase_replica.hpp"
#include "dewpoint/experiments/sample_statistics.hpp"
#include "dewpoint/observables/dew_point.hpp"

namespace dewpoint::experiments {
namespace {

using attention::AttentionInputs;
using attention::AttentionVariant;
using attention::FeatureMap;
using attention::FeatureRows;
using attention::Softmax;
using Queries = std::span<const std::size_t>;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Finding a dew point takes so many floating-point operations of a product for each key: some
// passes with an exponential each, 38 ns against 45 Gflop/s per core (18 November 2026, n = 4096 to
// 131072, d = 64, 256 rows).
constexpr double kEmpiricalSolveWork = 1700.0;

struct RowDew {
  double beta = kInfinity;  // +∞: none
  std::size_t visible = 0;  // keys
  bool winner_scores_best = true;
};

struct HeadDew {
  std::vector<RowDew> rows;
  std::vector<double> mean_weights = {};  // linear kinds: of w_max, at every β of the grid
  double bound = 0.0;                     // and of every weight, for elu over all keys
};

// ---- softmax kinds ------------------------------------------------------------------------------

double dew_point_of(std::span<const double> scores, const std::optional<double>& sink) {
  const auto found =
      sink ? observables::dew_point_beside_sink(scores, *sink) : observables::dew_point(scores);
  return found.value_or(kInfinity);
}

void measure_strip(const AttentionInputs& inputs, const AttentionVariant& variant, Queries queries,
                   std::span<RowDew> rows) {
  const auto& softmax = std::get<Softmax>(variant.kind);
  const std::size_t n = inputs.keys.rows();
  const attention::KeyColumns columns(variant.mask.ranges_seen(queries, n));
  const Matrix<double> asking = attention::rows_of(inputs.queries, queries);
  Matrix<double> scores(queries.size(), columns.size());
  columns.for_each_range([&](Range keys, Range places) {
    multiply_abt(asking, inputs.keys.row_range(keys), attention::columns_of(scores.view(), places));
  });
  attention::RowScores<double> row(softmax, columns);
  for (std::size_t i = 0; i < queries.size(); ++i) {
    const auto seen = variant.mask.visible(queries[i], n);
    row.take(seen, scores.row(i));
    rows[i] = {dew_point_of(row.kept(), softmax.sink_logit()), seen.size()};
  }
}

HeadDew softmax_head(const AttentionInputs& inputs, const AttentionVariant& variant,
                     Queries queries, const RunContext& context) {
  const std::size_t at_once = attention::rows_of_strip<double>(inputs.keys.rows());
  std::vector<RowDew> rows(queries.size());
  parallel_for((rows.size() + at_once - 1) / at_once, context, [&](std::size_t strip) {
    const std::size_t begin = strip * at_once, count = std::min(at_once, rows.size() - begin);
    measure_strip(inputs, variant, queries.subspan(begin, count),
                  std::span(rows).subspan(begin, count));
  });
  return {std::move(rows)};
}

// ---- linear kinds -------------------------------------------------------------------------------

struct Winner {
  double weight = 0.0;  // of the largest
  std::size_t key = 0;
};

// Queries and keys of a linear kind.
struct LinearRows {
  Matrix<double> queries;            // those that ask
  MatrixView<const double> keys;     // all
  std::vector<std::size_t> visible;  // keys 0 .. visible − 1 of each query
  Matrix<double> directions;         // of random features; empty: elu
};

struct Features {
  FeatureRows keys, queries;
};

Features features_at(const LinearRows& rows, double beta) {
  if (rows.directions.size() == 0) {
    return {FeatureRows::elu(rows.keys, beta), FeatureRows::elu(rows.queries, beta)};
  }
  FeatureRows keys = FeatureRows::random_keys(rows.keys, beta, rows.directions);
  FeatureRows queries = FeatureRows::random_queries(rows.queries, beta, keys);
  return {std::move(keys), std::move(queries)};
}

constexpr std::size_t kKeysAtOnce = 1024;

// The largest of the kernels of each query with the keys it sees, over their sum. With random
// features the sum may underflow where a query does not see the keys at which features are largest:
// then no weight is known, and none is above 1/2.
std::vector<Winner> winners_at(const LinearRows& rows, double beta) {
  const Features features = features_at(rows, beta);
  std::vector<Winner> winners(rows.queries.rows());
  std::vector<double> sums(winners.size());
  Matrix<double> kernels(winners.size(), kKeysAtOnce);
  for (std::size_t begin = 0; begin < rows.keys.rows(); begin += kKeysAtOnce) {
    const Range keys{begin, std::min(begin + kKeysAtOnce, rows.keys.rows())};
    const auto block = kernels.view().block({0, winners.size()}, {0, keys.size()});
    multiply_abt(features.queries.values(), features.keys.values().view().row_range(keys), block);
    for (std::size_t i = 0; i < winners.size(); ++i) {
      const std::size_t end = std::min(keys.end, rows.visible[i]);
      for (std::size_t key = begin; key < end; ++key) {
        const double kernel = block(i, key - begin);
        sums[i] += kernel;
        if (kernel > winners[i].weight) winners[i] = {kernel, key};
      }
    }
  }
  for (std::size_t i = 0; i < winners.size(); ++i) {
    if (sums[i] > 0.0) winners[i].weight /= sums[i];
  }
  return winners;
}

std::vector<double> linear_betas() {
  const double octaves = std::log2(kLargestLinearBeta / kLeastLinearBeta);
  const auto steps = static_cast<std::size_t>(octaves) * kLinearStepsPerOctave;
  std::vector<double> betas(steps + 1);
  for (std::size_t g = 0; g < betas.size(); ++g) {
    betas[g] = kLeastLinearBeta *
               std::exp2(static_cast<double>(g) / static_cast<double>(kLinearStepsPerOctave));
  }
  return betas;
}

double log_odds(double weight) {
  constexpr double kNearlyAll = 1.0 - std::numeric_limits<double>::epsilon();
  const double bounded = std::min(weight, kNearlyAll);
  return std::log(bounded / (1.0 - bounded));
}

// Where the log odds, linear in log β, pass 0.
double crossing(double lower, double upper, double weight_below, double weight_above) {
  const double below = log_odds(weight_below), above = log_odds(weight_above);
  return lower * std::pow(upper / lower, -below / (above - below));
}

std::vector<std::size_t> best_scores(const LinearRows& rows) {
  std::vector<std::size_t> best(rows.queries.rows());
  for (std::size_t i = 0; i < best.size(); ++i) {
    double largest = -kInfinity;
    for (std::size_t key = 0; key < rows.visible[i]; ++key) {
      const auto query = rows.queries.row(i), answer = rows.keys.row(key);
      const double score = std::inner_product(query.begin(), query.end(), answer.begin(), 0.0);
      if (score > largest) best[i] = key;
      largest = std::max(largest, score);
    }
  }
  return best;
}

LinearRows linear_rows_of(const AttentionInputs& inputs, const AttentionVariant& variant,
                          Queries queries) {
  LinearRows rows{attention::rows_of(inputs.queries, queries), inputs.keys, {}, {}};
  for (const std::size_t query : queries) {
    rows.visible.push_back(variant.mask.visible(query, inputs.keys.rows()).size());
  }
  if (std::get<FeatureMap>(variant.kind).is_random()) {
    rows.directions = attention::feature_directions(variant, inputs.keys.cols());
  }
  return rows;
}

double mean_weight(const std::vector<Winner>& winners) {
  double sum = 0.0;
  for (const Winner& winner : winners) sum += winner.weight;
  return sum / static_cast<double>(winners.size());
}

HeadDew linear_head(const AttentionInputs& inputs, const AttentionVariant& variant, Queries queries,
                    const RunContext& context) {
  const LinearRows rows = linear_rows_of(inputs, variant, queries);
  const std::vector<double> betas = linear_betas();
  std::vector<std::vector<Winner>> winners(betas.size());
  parallel_for(betas.size(), context,
               [&](std::size_t g) { winners[g] = winners_at(rows, betas[g]); });
  const std::vector<std::size_t> best = best_scores(rows);
  HeadDew dew;
  for (std::size_t i = 0; i < queries.size(); ++i) {
    RowDew row{.visible = rows.visible[i]};
    std::size_t g = 0;
    while (g < betas.size() && winners[g][i].weight < 0.5) ++g;
    if (g < betas.size()) {
      row.winner_scores_best = winners[g][i].key == best[i];
      row.beta =
          g == 0 ? betas[0]
                 : crossing(betas[g - 1], betas[g], winners[g - 1][i].weight, winners[g][i].weight);
    }
    dew.rows.push_back(row);
  }
  for (const auto& at_one_beta : winners) dew.mean_weights.push_back(mean_weight(at_one_beta));
  dew.bound = attention::elu_weight_bound(inputs.keys);
  return dew;
}

// ---- heads --------------------------------------------------------------------------------------

HeadDew head_dew(const AttentionInputs& inputs, const AttentionVariant& variant, Queries queries,
                 const RunContext& context) {
  const bool softmax = std::holds_alternative<Softmax>(variant.kind);
  return softmax ? softmax_head(inputs, variant, queries, context)
                 : linear_head(inputs, variant, queries, context);
}

void add(const HeadDew& head, HeadDew& all) {
  all.rows.insert(all.rows.end(), head.rows.begin(), head.rows.end());
  all.mean_weights.resize(head.mean_weights.size());
  for (std::size_t g = 0; g < head.mean_weights.size(); ++g) {
    all.mean_weights[g] += head.mean_weights[g];
  }
  all.bound = std::max(all.bound, head.bound);
}

bool is_bounded(const attention::LayerForm& form) {
  return form.attention == attention::AttentionKind(FeatureMap::elu()) &&
         form.mask == attention::KeyPattern();
}

// ---- one cloud ----------------------------------------------------------------------------------

double median(const std::vector<double>& values) {
  return values.size() < 2 ? values.front() : median_of(values).mean;
}

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

DewSample statistics_of(const std::vector<RowDew>& rows) {
  std::vector<double> betas, logs, shares, best, visible;
  for (const RowDew& row : rows) {
    visible.push_back(static_cast<double>(row.visible));
    if (std::isinf(row.beta)) continue;
    betas.push_back(row.beta);
    logs.push_back(std::log(row.beta));
    shares.push_back(row.beta / std::log(visible.back()));
    best.push_back(row.winner_scores_best ? 1.0 : 0.0);
  }
  DewSample sample;
  sample.visible = mean(visible);
  sample.without_dew = 1.0 - static_cast<double>(betas.size()) / static_cast<double>(rows.size());
  if (betas.empty()) return sample;
  sample.dew_point = median(betas);
  sample.dew_mean = mean(betas);
  sample.log_dew_point = mean(logs);
  sample.dew_in_log_keys = median(shares);
  sample.best_key = mean(best);
  return sample;
}

}  // namespace

std::vector<std::size_t> last_queries(std::size_t n, std::size_t rows) {
  std::vector<std::size_t> queries(std::min(n, rows));
  std::iota(queries.begin(), queries.end(), n - queries.size());
  return queries;
}

DewSample sample_variant_dew(const VariantDew& question, std::uint64_t replica,
                             const RunContext& context) {
  const TokenCloud cloud = tokens::make_cloud(question.cloud, question.seed, replica);
  const auto layer =
      attention::layer_variant(question.form, cloud.dimension(), 1.0, 0.0, question.seed, replica);
  const auto queries = last_queries(cloud.size(), question.rows);
  HeadDew all;
  for (std::size_t h = 0; h < layer.projections.heads; ++h) {
    const auto inputs = attention::project(layer.projections, h, cloud.directions);
    add(head_dew(inputs.views(), layer.attention, queries, context), all);
  }
  DewSample sample = statistics_of(all.rows);
  if (all.mean_weights.empty()) return sample;
  sample.largest_weight =
      *std::ranges::max_element(all.mean_weights) / static_cast<double>(layer.projections.heads);
  if (is_bounded(question.form)) sample.weight_bound = all.bound;
  return sample;
}

double variant_dew_work(const VariantDew& question) {
  const auto n = static_cast<double>(question.cloud.n), d = static_cast<double>(question.cloud.d);
  const double rows = std::min(static_cast<double>(question.rows), n);
  const double draws = kEmpiricalDrawWork * n * d;
  const auto* map = std::get_if<FeatureMap>(&question.form.attention);
  if (map == nullptr) {
    const auto seen = question.form.mask.visible(question.cloud.n - 1, question.cloud.n).size();
    return draws + rows * static_cast<double>(seen) * (2.0 * d + kEmpiricalSolveWork);
  }
  const auto features = static_cast<double>(map->features(question.cloud.d));
  const auto betas = static_cast<double>(linear_betas().size());
  return draws + 2.0 * betas * n * features * (rows + d);
}

}  // namespace dewpoint::experiments
