#include "dewpoint/observables/head_observables.hpp"

#include <algorithm>
#include <cmath>

#include "dewpoint/core/error.hpp"
#include "dewpoint/observables/row_observables.hpp"

namespace dewpoint::observables {
namespace {

bool present(double score) { return score != SoftmaxRow::kAbsent; }

std::size_t other_keys(const SoftmaxRow& row, std::size_t keys) {
  return keys - (present(row.first) ? 1 : 0);
}

/// The same keys, with gaps measured from a score that is higher by `rise`.
RowMoments seen_from_above(const RowMoments& row, double rise) {
  const double factor = std::exp(-rise);
  return {factor * row.partition, factor * (row.gap + rise * row.partition),
          factor * (row.squared_gap + 2.0 * rise * row.gap + rise * rise * row.partition),
          factor * factor * row.weight_squared};
}

RowMoments one_score(double gap) {
  const double weight = std::exp(-gap);
  return {weight, gap * weight, gap * gap * weight, weight * weight};
}

/// What one more score adds, seen from the top; nothing where it is absent.
double add_score(RowMoments& total, double top, double score) {
  if (!present(score)) return 0.0;
  const RowMoments moments = one_score(top - score);
  total += moments;
  return moments.partition;
}

HeadObservables observables_of(const RowMoments& moments, double top, std::size_t keys) {
  HeadObservables result;
  result.entropy = entropy(moments, 1.0);
  result.effective_keys = std::exp(result.entropy);
  result.effective_share = result.effective_keys / static_cast<double>(keys);
  result.participation = participation(moments);
  result.largest_weight = largest_weight(moments);
  result.mean_score = top - moments.gap / moments.partition;
  result.score_variance = std::max(0.0, gap_variance(moments));
  result.largest_score = top;
  return result;
}

}  // namespace

HeadObservables head_observables(const SoftmaxRow& row, std::size_t keys) {
  DEWPOINT_EXPECTS(keys >= 1);
  const double top = std::max({row.largest, row.first, row.sink});
  RowMoments total;
  if (present(row.largest)) total = seen_from_above(row.rest, top - row.largest);
  const double first = add_score(total, top, row.first);
  const double sink = add_score(total, top, row.sink);
  HeadObservables result = observables_of(total, top, keys);
  result.first_mass = first / total.partition;
  result.sink_mass = sink / total.partition;
  return result;
}

std::optional<HeadObservables> observables_without_sink(const SoftmaxRow& row, std::size_t keys) {
  if (!present(row.largest)) return {};
  return observables_of(row.rest, row.largest, other_keys(row, keys));
}

std::optional<KeyMoments> key_moments(const SoftmaxRow& row, std::size_t keys) {
  if (!present(row.largest)) return {};
  const auto count = static_cast<double>(other_keys(row, keys));
  const double gap = row.plain_gap / count;
  return KeyMoments{row.largest - gap, std::max(0.0, row.plain_squared_gap / count - gap * gap)};
}

}  // namespace dewpoint::observables
