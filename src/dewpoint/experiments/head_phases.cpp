#include "dewpoint/experiments/head_phases.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <span>

#include "dewpoint/core/estimate.hpp"
#include "dewpoint/core/unknown.hpp"
#include "dewpoint/observables/dew_point.hpp"
#include "dewpoint/observables/row_observables.hpp"
#include "dewpoint/transformer/network.hpp"

namespace dewpoint::experiments {
namespace {

using transformer::Windows;

/// What is seen in the rows of one head.
struct HeadRows {
  RunningMoments entropy, largest_weight;
  std::vector<double> phases;

  void add(std::span<const double> logits, std::span<const std::int32_t> tokens);
};

RowMoments moments_of(std::span<const double> logits) {
  const double largest = *std::max_element(logits.begin(), logits.end());
  RowMoments sums;
  for (const double logit : logits) {
    const double gap = largest - logit, weight = std::exp(-gap);
    sums += {weight, gap * weight, gap * gap * weight, weight * weight};
  }
  return sums;
}

/// S_t of every token that is there, in order of token.
std::vector<double> logits_of_tokens(std::span<const double> logits,
                                     std::span<const std::int32_t> tokens) {
  const double largest = *std::max_element(logits.begin(), logits.end());
  std::map<std::int32_t, std::vector<double>> places;
  for (std::size_t j = 0; j < logits.size(); ++j) places[tokens[j]].push_back(logits[j]);
  std::vector<double> sums;
  for (const auto& [token, of_token] : places) {
    const double best = *std::max_element(of_token.begin(), of_token.end());
    double sum = 0.0;
    for (const double logit : of_token) sum += std::exp(logit - best);
    sums.push_back(best - largest + std::log(sum));
  }
  return sums;
}

void HeadRows::add(std::span<const double> logits, std::span<const std::int32_t> tokens) {
  const bool finite =
      std::all_of(logits.begin(), logits.end(), [](double s) { return std::isfinite(s); });
  if (!finite) return;
  const double n = static_cast<double>(logits.size());
  entropy.add(observables::entropy(moments_of(logits), 1.0) / std::log(n));
  const std::vector<double> of_tokens = logits_of_tokens(logits, tokens);
  largest_weight.add(observables::largest_weight(moments_of(of_tokens)));
  if (const std::optional<double> dew = observables::dew_point(of_tokens)) {
    phases.push_back(1.0 / *dew);
  }
}

double median_of(std::vector<double> numbers) {
  if (numbers.empty()) return kUnknown;
  const auto middle = numbers.begin() + static_cast<std::ptrdiff_t>(numbers.size() / 2);
  std::nth_element(numbers.begin(), middle, numbers.end());
  return *middle;
}

/// Evenly spaced positions of the second half of a context.
std::vector<std::size_t> measured_rows(std::size_t context) {
  const std::size_t half = context / 2, count = std::min(kPhaseRows, context - half);
  std::vector<std::size_t> rows;
  for (std::size_t k = 1; k <= count; ++k) rows.push_back(half + k * (context - half) / count - 1);
  return rows;
}

double mean_or_unknown(const RunningMoments& moments) {
  return moments.samples() == 0 ? kUnknown : moments.mean();
}

}  // namespace

HeadPhases head_phases(const transformer::Shape& shape, const transformer::Weights<float>& weights,
                       const Windows& windows, const RunContext& context) {
  const std::size_t s = windows.context, heads = shape.layers * shape.heads;
  DEWPOINT_EXPECTS(shape.causal && s >= 4);
  transformer::Network<float> network(shape, transformer::capacity_of(1, 1, {}));
  transformer::Batch batch;
  transformer::fill_explicit(windows, transformer::Targets::last, batch);
  std::vector<HeadRows> seen(heads);
  const std::vector<std::size_t> rows = measured_rows(s);
  for (std::size_t w = 0; w < windows.size(); ++w) {
    const auto scores = network.scores(weights, batch, w, context);
    parallel_for(heads, {context.threads, context.stop, {}}, [&](std::size_t head) {
      const Matrix<double>& of_head = scores[head / shape.heads][head % shape.heads];
      for (const std::size_t row : rows) {
        seen[head].add(std::span(of_head.row(row)).first(row + 1),
                       windows.window(w).first(row + 1));
      }
    });
  }
  HeadPhases found;
  for (HeadRows& head : seen) {
    found.entropy.push_back(mean_or_unknown(head.entropy));
    found.largest_weight.push_back(mean_or_unknown(head.largest_weight));
    found.phase.push_back(median_of(std::move(head.phases)));
  }
  return found;
}

}  // namespace dewpoint::experiments
