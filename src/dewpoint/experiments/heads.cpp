#include "dewpoint/experiments/heads.hpp"

#include <algorithm>
#include <span>

#include "dewpoint/core/error.hpp"

namespace dewpoint::experiments {
namespace {

// Piece k of [0, n) cut into `count` pieces whose sizes differ by 1 at most, the longer ones first.
Range piece(std::size_t k, std::size_t count, std::size_t n) {
  return {n / count * k + std::min(k, n % count), n / count * (k + 1) + std::min(k + 1, n % count)};
}

// The queries of every bin, in order.
std::vector<std::vector<std::size_t>> queries_of_bins(const attention::Head& head,
                                                      const std::vector<std::size_t>& ends) {
  std::vector<std::vector<std::size_t>> bins(ends.size());
  for (std::size_t i = 0; i < head.queries.rows(); ++i) {
    const std::size_t n = head.mask.visible(head.first_position + i, head.keys.rows()).size();
    const auto end = std::lower_bound(ends.begin(), ends.end(), n);
    if (end != ends.end() && n > *end / 2) {
      bins[static_cast<std::size_t>(end - ends.begin())].push_back(i);
    }
  }
  return bins;
}

// `count` out of `all`, in runs, each in the middle of a piece of `all`. Run k is piece k of fewer,
// cut into as many, and so never longer than its room.
std::vector<std::size_t> in_runs(const std::vector<std::size_t>& all, std::size_t count) {
  if (count >= all.size()) return all;
  std::vector<std::size_t> chosen;
  const std::size_t runs = std::min(kRuns, count);
  for (std::size_t k = 0; k < runs; ++k) {
    const Range room = piece(k, runs, all.size());
    const std::size_t length = piece(k, runs, count).size();
    const auto first = all.begin() + room.begin + (room.size() - length) / 2;
    chosen.insert(chosen.end(), first, first + length);
  }
  return chosen;
}

// `count` out of `all`, one by one: the middle of each of as many pieces.
std::vector<std::size_t> evenly(const std::vector<std::size_t>& all, std::size_t count) {
  if (count >= all.size()) return all;
  std::vector<std::size_t> chosen;
  for (std::size_t k = 0; k < count; ++k) {
    const Range room = piece(k, count, all.size());
    chosen.push_back(all[(room.begin + room.end) / 2]);
  }
  return chosen;
}

// Under any mask n never falls from a query to the next, so the bins are in order of the queries.
std::vector<std::size_t> joined(const std::vector<std::vector<std::size_t>>& bins) {
  std::vector<std::size_t> all;
  for (const auto& bin : bins) all.insert(all.end(), bin.begin(), bin.end());
  DEWPOINT_EXPECTS(std::is_sorted(all.begin(), all.end()));
  return all;
}

}  // namespace

std::vector<std::size_t> planned_queries(const attention::Head& head, const HeadPlan& plan,
                                         std::size_t per_bin) {
  auto bins = queries_of_bins(head, plan.bin_ends);
  for (auto& bin : bins) bin = in_runs(bin, per_bin);
  return joined(bins);
}

std::vector<std::size_t> planned_score_queries(const attention::Head& head, const HeadPlan& plan) {
  auto bins = queries_of_bins(head, plan.bin_ends);
  bool last = true;
  for (auto bin = bins.rbegin(); bin != bins.rend(); ++bin) {
    if (bin->empty()) continue;
    *bin = evenly(in_runs(*bin, plan.rows_per_bin),
                  last ? plan.score_rows_last_bin : plan.score_rows_per_bin);
    last = false;
  }
  return joined(bins);
}

MeasuredHead measure_head(const attention::Head& head, const HeadPlan& plan,
                          const RunContext& context) {
  DEWPOINT_EXPECTS(std::is_sorted(plan.bin_ends.begin(), plan.bin_ends.end()));
  std::vector<attention::LogitMultiplier> multipliers;
  for (const NamedMultiplier& multiplier : plan.multipliers) {
    multipliers.push_back(multiplier.value);
  }
  const std::vector<std::size_t> queries = planned_queries(head, plan, plan.rows_per_bin);
  const std::vector<std::size_t> whole = planned_score_queries(head, plan);

  MeasuredHead measured;
  measured.rows = attention::measure_rows(head, queries, multipliers, plan.dew_points, context);
  measured.scores.resize(whole.size());
  parallel_for(whole.size(), {context.threads, context.stop, {}},
               [&](std::size_t k) { measured.scores[k] = attention::score_row(head, whole[k]); });
  return measured;
}

}  // namespace dewpoint::experiments
