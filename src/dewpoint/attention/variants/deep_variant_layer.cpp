#include "dewpoint/attention/variants/deep_variant_layer.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>
#include <variant>
#include <vector>

#include "dewpoint/core/vectors.hpp"

namespace dewpoint::attention {
namespace {

// 2^exponent; 0 below the range of doubles.
double scale_of(const DeepTokens& tokens) {
  return std::ldexp(1.0, static_cast<int>(std::max(tokens.exponent(), -4000.0)));
}

bool has_sink(const AttentionVariant& variant) {
  const auto* softmax = std::get_if<Softmax>(&variant.kind);
  return softmax != nullptr && softmax->sink_logit().has_value();
}

// The rows e_i − ē, and u + 2^k ē behind them.
Matrix<double> centred_rows(const DeepTokens& tokens) {
  const std::size_t n = tokens.size(), d = tokens.dimension();
  const std::vector<double> mean = column_means(tokens.offsets());
  Matrix<double> rows(n + 1, d);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t k = 0; k < d; ++k) rows(i, k) = tokens.offsets()(i, k) - mean[k];
  }
  for (std::size_t k = 0; k < d; ++k) rows(n, k) = tokens.centre()[k] + scale_of(tokens) * mean[k];
  return rows;
}

// One head: v̄, the rows Σ p c, and S behind each of them.
struct MixedHead {
  std::vector<double> base;
  Matrix<double> rows;
};

MixedHead mix_head(const TokenCloud& cloud, const Matrix<double>& centred,
                   const LayerVariant& parameters, std::size_t head, const RunContext& context) {
  const std::size_t n = cloud.size();
  const AttentionMatrices at = project(parameters.projections, head, cloud.directions);
  const Matrix<double> values = project(parameters.projections, head, centred).values;
  Matrix<double> with_ones(n, values.cols() + 1);
  for (std::size_t i = 0; i < n; ++i) {
    std::ranges::copy(values.row(i), with_ones.row(i).begin());
    with_ones(i, values.cols()) = 1.0;
  }
  const auto last = values.row(n);
  return {std::vector<double>(last.begin(), last.end()),
          attention_in_double({at.queries, at.keys, with_ones}, parameters.attention, context)};
}

// x' = base + 2^k deviations: what goes into DeepTokens::of_deviations.
struct Outputs {
  std::vector<double> base;
  Matrix<double> deviations;
};

void add_head(const MixedHead& head, Range columns, bool sink, double scale, Outputs& outputs) {
  const std::size_t n = head.rows.rows(), width = columns.size();
  double mean_sum = 1.0;
  if (sink) {
    mean_sum = 0.0;
    for (std::size_t i = 0; i < n; ++i) mean_sum += head.rows(i, width) / static_cast<double>(n);
  }
  for (std::size_t k = 0; k < width; ++k) {
    outputs.base[columns.begin + k] += mean_sum * head.base[k];
    for (std::size_t i = 0; i < n; ++i) {
      const double excess = sink ? (head.rows(i, width) - mean_sum) / scale : 0.0;
      outputs.deviations(i, columns.begin + k) += head.rows(i, k) + excess * head.base[k];
    }
  }
}

void add_residual(const DeepTokens& tokens, double residual, double scale, Outputs& outputs) {
  if (residual == 0.0) return;
  const auto n = static_cast<double>(tokens.size());
  double mean_length = 0.0;
  for (const double norm : tokens.norms()) mean_length += residual * norm / n;
  for (std::size_t k = 0; k < tokens.dimension(); ++k) {
    outputs.base[k] += mean_length * tokens.centre()[k];
  }
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const double length = residual * tokens.norms()[i];
    for (std::size_t k = 0; k < tokens.dimension(); ++k) {
      outputs.deviations(i, k) +=
          length * tokens.offsets()(i, k) + (length - mean_length) / scale * tokens.centre()[k];
    }
  }
}

}  // namespace

DeepTokens deep_variant_layer(const DeepTokens& tokens, const LayerVariant& parameters,
                              const RunContext& context) {
  const std::size_t n = tokens.size(), d = tokens.dimension();
  check(parameters.projections, d);
  DEWPOINT_EXPECTS(parameters.residual >= 0.0);
  const TokenCloud cloud = tokens.cloud();
  const Matrix<double> centred = centred_rows(tokens);
  const double scale = scale_of(tokens);
  const bool sink = has_sink(parameters.attention);
  Outputs outputs{std::vector<double>(d, 0.0), Matrix<double>(n, d)};
  for (std::size_t h = 0; h < parameters.projections.heads; ++h) {
    add_head(mix_head(cloud, centred, parameters, h, context),
             columns_of_head(parameters.projections, d, h), sink, scale, outputs);
  }
  add_residual(tokens, parameters.residual, scale, outputs);
  return DeepTokens::of_deviations(outputs.base, std::move(outputs.deviations), tokens.exponent(),
                                   std::vector<double>(n, 1.0));
}

double log_deep_variant_noise(const DeepTokens& before, const LayerVariant& parameters,
                              const DeepTokens& after) {
  const std::size_t heads = parameters.projections.heads;
  const double error =
      mixing_error(parameters.attention, before.size(), before.dimension() / heads);
  // ‖e_i − ē‖ is at most twice the longest ‖e‖.
  const double longest = 2.0 * std::sqrt(2.0 * before.largest_half_square()) * scale_of(before);
  const double residual =
      parameters.residual * *std::max_element(before.norms().begin(), before.norms().end());
  const double shortest = *std::min_element(after.norms().begin(), after.norms().end());
  const double row = error * (std::sqrt(static_cast<double>(heads)) * longest +
                              (has_sink(parameters.attention) ? 1.0 : 0.0)) +
                     0x1p-51 * residual;
  return 2.0 * std::log(row / shortest) + std::numbers::ln2;
}

}  // namespace dewpoint::attention
