#include "dewpoint/diagnosis/head_diagnosis.hpp"

#include <algorithm>
#include <cmath>

#include "dewpoint/core/error.hpp"
#include "dewpoint/diagnosis/growth.hpp"
#include "dewpoint/diagnosis/head_bins.hpp"
#include "dewpoint/diagnosis/head_growth.hpp"
#include "dewpoint/diagnosis/head_phase.hpp"
#include "dewpoint/diagnosis/head_statistics.hpp"
#include "dewpoint/diagnosis/head_warnings.hpp"
#include "dewpoint/diagnosis/row_blocks.hpp"

namespace dewpoint::diagnosis {
namespace {

constexpr std::size_t kLeastTail = 4;

EdgeFit edge_of(const ThinnedRows& rows, const HeadOptions& options, const RunContext& context) {
  const Matrix<double> others =
      rows.kept.empty() ? rows.scores : without_columns(rows.scores, rows.kept);
  EdgeFit edge;
  if (others.cols() <= kLeastTail) {
    edge.refusal = "too few keys";
    return edge;
  }
  const std::size_t tail = std::clamp(options.tail, kLeastTail, others.cols() - 1);
  std::vector<double> best;
  for (std::size_t i = 0; i < others.rows(); ++i)
    best.push_back(*std::max_element(others.row(i).begin(), others.row(i).end()));
  const RowBootstrap bootstrap(others.rows(), options.bootstrap, independent_blocks(best));
  return fit_edge(others, tail, bootstrap, context);
}

/// The law's shape through the dew point of the longest bin, NaN where there is no law.
void add_fitted(HeadDiagnosis& head, const std::vector<HeadBin>& bins) {
  head.statistics.add_variable("dew_point_fitted", {"n"});
  Variable& fitted = head.statistics.variable("dew_point_fitted");
  const HeadBin* longest = longest_bin(bins);
  const bool along = head.along_rows && head.along_rows->verdict.law;
  const bool thinned = head.thinned && head.thinned->verdict.law;
  if (longest == nullptr || (!along && !thinned)) return;
  const GrowthVerdict& verdict = along ? head.along_rows->verdict : head.thinned->verdict;
  const LawFit& fit = verdict.fits[static_cast<std::size_t>(*verdict.law)];
  const auto last = static_cast<std::size_t>(longest - bins.data());
  const Variable& keys = head.statistics.variable("keys");
  const Estimate anchor = head.statistics.variable("dew_point_without_sink").cells[last];
  const double log_last = std::log(keys.cells[last].mean);
  for (std::size_t i = 0; i <= last; ++i) {
    const double log_n = std::log(keys.cells[i].mean);
    if (bins[i].rows.empty() || log_n + fit.offset.mean <= 0.0) continue;
    const double factor = std::exp(log_growth_shape(*verdict.law, fit, log_n) -
                                   log_growth_shape(*verdict.law, fit, log_last));
    fitted.cells[i] = {factor * anchor.mean, factor * anchor.standard_error, anchor.samples};
  }
}

}  // namespace

HeadDiagnosis diagnose_head(const HeadData& data, const HeadOptions& options,
                            const RunContext& context) {
  DEWPOINT_EXPECTS(!options.multipliers.empty());
  const RunContext silent{context.threads, context.stop, {}};
  const std::vector<HeadBin> bins = head_bins(data, options);
  HeadDiagnosis head;
  head.layer = data.layer;
  head.head = data.head;
  head.statistics = head_statistics(bins, options, silent);
  const HeadBin* longest = longest_bin(bins);
  for (std::size_t k = 0; k < options.multipliers.size(); ++k) {
    head.verdicts.push_back(longest ? judge_phase(*longest, k, false) : PhaseVerdict{});
    head.verdicts_without_first.push_back(longest ? judge_phase(*longest, k, true)
                                                  : PhaseVerdict{});
  }
  head.along_rows = growth_along_rows(bins, options.bins);
  head.edge.refusal = "no whole rows of scores";
  if (longest != nullptr) {
    if (const auto rows = thinned_rows(*longest, options.thinned_keys, options.bootstrap.seed)) {
      head.thinned = growth_by_thinning(*rows, options.bootstrap, silent);
      head.edge = edge_of(*rows, options, silent);
    }
  }
  add_fitted(head, bins);
  head.warnings = head_warnings(head, bins, options);
  return head;
}

}  // namespace dewpoint::diagnosis
