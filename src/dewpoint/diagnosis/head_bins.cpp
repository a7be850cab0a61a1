#include "dewpoint/diagnosis/head_bins.hpp"

#include <algorithm>
#include <cmath>

#include "dewpoint/core/error.hpp"
#include "dewpoint/core/unknown.hpp"
#include "dewpoint/diagnosis/row_blocks.hpp"
#include "dewpoint/observables/head_observables.hpp"

namespace dewpoint::diagnosis {
namespace {

template <class Row>
void order_by_position(std::vector<const Row*>& rows) {
  std::stable_sort(rows.begin(), rows.end(),
                   [](const Row* x, const Row* y) { return x->position < y->position; });
}

std::size_t blocks_of(const HeadBin& bin) {
  std::vector<double> entropies;
  for (const HeadRow* row : bin.rows)
    entropies.push_back(observables::head_observables(row->softmax.front(), row->keys).entropy);
  return std::min(independent_blocks(entropies), independent_blocks(row_dew_points(bin, true)));
}

/// m, from what it does to the gaps.
double gap_factor(const HeadRow& row, std::size_t multiplier) {
  const double plain = row.softmax.front().plain_gap;
  return plain > 0.0 ? row.softmax[multiplier].plain_gap / plain : 1.0;
}

}  // namespace

std::optional<std::size_t> ContextBins::bin_of(std::size_t keys) const {
  const auto end = std::lower_bound(ends.begin(), ends.end(), keys);
  if (end == ends.end() || keys <= *end / 2) return {};
  return static_cast<std::size_t>(end - ends.begin());
}

ContextBins octave_bins(std::size_t longest, std::size_t least) {
  ContextBins bins;
  for (std::size_t end = longest; end >= std::max<std::size_t>(least, 1); end /= 2)
    bins.ends.insert(bins.ends.begin(), end);
  return bins;
}

std::vector<HeadBin> head_bins(const HeadData& data, const HeadOptions& options) {
  std::vector<HeadBin> bins(options.bins.ends.size());
  for (const HeadRow& row : data.rows) {
    DEWPOINT_EXPECTS(row.softmax.size() == options.multipliers.size());
    if (const auto bin = options.bins.bin_of(row.keys)) bins[*bin].rows.push_back(&row);
  }
  for (const ScoreRow& row : data.scores)
    if (const auto bin = options.bins.bin_of(row.scores.size())) bins[*bin].scores.push_back(&row);
  for (HeadBin& bin : bins) {
    order_by_position(bin.rows);
    order_by_position(bin.scores);
    if (!bin.rows.empty())
      bin.bootstrap.emplace(bin.rows.size(), options.bootstrap, blocks_of(bin));
  }
  return bins;
}

const HeadBin* longest_bin(const std::vector<HeadBin>& bins) {
  const auto last = std::find_if(bins.rbegin(), bins.rend(),
                                 [](const HeadBin& bin) { return !bin.rows.empty(); });
  return last == bins.rend() ? nullptr : &*last;
}

std::optional<RowQuantile> row_quantile(std::span<const double> values, double share,
                                        const RowBootstrap& bootstrap) {
  DEWPOINT_EXPECTS(values.size() == bootstrap.rows());
  std::vector<RowValue> sorted;
  for (std::size_t i = 0; i < values.size(); ++i)
    if (!std::isnan(values[i])) sorted.push_back({values[i], i});
  if (sorted.empty()) return {};
  std::sort(sorted.begin(), sorted.end(),
            [](const RowValue& x, const RowValue& y) { return x.value < y.value; });
  const auto redrawn = [&](std::span<const std::uint32_t> counts) {
    const bool any = std::any_of(sorted.begin(), sorted.end(),
                                 [&](const RowValue& entry) { return counts[entry.row] > 0; });
    return any ? weighted_quantile(sorted, share, counts) : kUnknown;
  };
  const std::vector<std::uint32_t> once(values.size(), 1);
  RowQuantile quantile;
  for (std::size_t b = 0; b < bootstrap.replicates(); ++b)
    quantile.replicates.push_back(redrawn(bootstrap.counts(b)));
  quantile.estimate = bootstrap.estimate(redrawn(once), quantile.replicates);
  quantile.estimate.samples = sorted.size();
  return quantile;
}

std::vector<double> row_dew_points(const HeadBin& bin, bool without_first) {
  std::vector<double> points;
  for (const HeadRow* row : bin.rows)
    points.push_back(without_first ? row->dew_point_without_first : row->dew_point);
  return points;
}

std::vector<double> row_phases(const HeadBin& bin, std::size_t multiplier, bool without_first) {
  std::vector<double> phases = row_dew_points(bin, without_first);
  for (std::size_t i = 0; i < phases.size(); ++i)
    phases[i] = gap_factor(*bin.rows[i], multiplier) / phases[i];
  return phases;
}

std::span<const double> without_first_key(const ScoreRow& row) {
  const std::span<const double> all = row.scores;
  return row.first_key == 0 && !all.empty() ? all.subspan(1) : all;
}

bool own_key_wins(const ScoreRow& row) {
  const std::size_t own = row.position - row.first_key;
  if (row.position < row.first_key || own >= row.scores.size() || row.position == 0) return false;
  for (std::size_t j = row.first_key == 0 ? 1 : 0; j < row.scores.size(); ++j)
    if (j != own && row.scores[j] >= row.scores[own]) return false;
  return true;
}

}  // namespace dewpoint::diagnosis
