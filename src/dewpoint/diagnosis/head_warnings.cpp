#include "dewpoint/diagnosis/head_warnings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "dewpoint/diagnosis/head_growth.hpp"

namespace dewpoint::diagnosis {
namespace {

constexpr double kTiedShare = 0.1;
constexpr double kFrozenWeight = 0.99;
constexpr double kCapTolerance = 1e-3;
constexpr double kDepthDeviations = 4.0;

/// A cell of the longest bin; NaN where it is empty.
class LastCell {
 public:
  LastCell(const Frame& frame, std::size_t bin) : frame_(frame), bin_(bin) {}

  [[nodiscard]] double operator()(const char* name) const {
    const Variable& variable = frame_.variable(name);
    const std::size_t stride = variable.cells.size() / frame_.dimension("n").coordinates.size();
    return variable.cells[bin_ * stride].mean;  // multiplier 1 comes first
  }

 private:
  const Frame& frame_;
  std::size_t bin_;
};

void warn_about_rows(std::vector<std::string>& warnings, const HeadBin& bin) {
  const std::size_t rows = bin.rows.size(), blocks = bin.bootstrap->blocks();
  if (rows < kFewRows)
    warnings.push_back(fmt::format("few-rows: {} rows in the longest bin", rows));
  if (2 * blocks < rows)
    warnings.push_back(
        fmt::format("correlated-rows: {} rows are worth {} independent blocks", rows, blocks));
  const std::vector<double> points = row_dew_points(bin, true);
  if (std::all_of(points.begin(), points.end(), [](double x) { return std::isnan(x); }))
    warnings.emplace_back("no-dew-points: no row of the longest bin has a dew point");
}

void warn_about_masses(std::vector<std::string>& warnings, const LastCell& cell) {
  const auto share = [](double value) { return fmt::format("{:.0f}%", 100.0 * value); };
  if (cell("first_mass") > 0.5)
    warnings.push_back("first-key-holds-most: " + share(cell("first_mass")) +
                       " of the weight is on the text's first key");
  if (cell("sink_mass") > 0.5)
    warnings.push_back("sink-holds-most: " + share(cell("sink_mass")) +
                       " of the weight is on the learned sink");
  if (cell("tied_share_without_sink") > kTiedShare)
    warnings.push_back("never-condenses: " + share(cell("tied_share_without_sink")) +
                       " of the rows have a tied maximum and condense at no temperature");
  if (cell("largest_weight_without_sink") > kFrozenWeight)
    warnings.push_back("frozen: one key holds " + share(cell("largest_weight_without_sink")) +
                       " of the weight in the mean");
}

/// With a plain multiplier the mean square gap grows by the square of the mean gap's factor.
bool is_capped(const HeadBin& bin, std::size_t multiplier) {
  return std::any_of(bin.rows.begin(), bin.rows.end(), [&](const HeadRow* row) {
    const SoftmaxRow &one = row->softmax.front(), &other = row->softmax[multiplier];
    if (one.plain_gap <= 0.0 || one.plain_squared_gap <= 0.0) return false;
    const double factor = other.plain_gap / one.plain_gap;
    const double squares = other.plain_squared_gap / one.plain_squared_gap;
    return std::abs(squares / (factor * factor) - 1.0) > kCapTolerance;
  });
}

void warn_about_scores(std::vector<std::string>& warnings, const HeadBin& bin,
                       const HeadOptions& options) {
  for (std::size_t k = 1; k < options.multipliers.size(); ++k) {
    if (!is_capped(bin, k)) continue;
    warnings.push_back(fmt::format(
        "capped-scores: the multiplier {} does not act alike on all gaps; its phase is approximate",
        options.multipliers[k]));
  }
  double largest = 0.0;
  for (const HeadRow* row : bin.rows)
    for (const SoftmaxRow& softmax : row->softmax)
      largest = std::max({largest, softmax.largest, softmax.first, softmax.sink});
  if (largest > kLargestHalf)
    warnings.push_back(
        fmt::format("scores-overflow-half: a score of {:.3g} is infinite in float16", largest));
}

void warn_about_growth(std::vector<std::string>& warnings, const HeadDiagnosis& head,
                       const LastCell& cell) {
  if (head.along_rows && head.thinned && head.along_rows->verdict.law &&
      head.thinned->verdict.law && head.along_rows->verdict.law != head.thinned->verdict.law)
    warnings.push_back(
        fmt::format("laws-disagree: {} along the rows, {} by thinning: the place of a key matters",
                    name_of(*head.along_rows->verdict.law), name_of(*head.thinned->verdict.law)));
  const double own = cell("own_key_wins");
  if (own > 1.0 - kWinnerShare && own < kWinnerShare)
    warnings.push_back(
        fmt::format("mixed-winners: the query's own key wins in {:.0f}% of the rows", 100.0 * own));
  const Estimate& change = head.edge.depth_change;
  if (std::abs(change.mean) > kDepthDeviations * change.standard_error)
    warnings.push_back(fmt::format(
        "no-single-tail: log beta_edge moves by {:+.2f} between the best {} and the best {} keys",
        -change.mean, head.edge.top, head.edge.top / 4));
}

}  // namespace

std::vector<std::string> head_warnings(const HeadDiagnosis& head, const std::vector<HeadBin>& bins,
                                       const HeadOptions& options) {
  std::vector<std::string> warnings;
  const HeadBin* longest = longest_bin(bins);
  if (longest == nullptr) return {"few-rows: no row lies in any bin"};
  const LastCell cell(head.statistics, static_cast<std::size_t>(longest - bins.data()));
  warn_about_rows(warnings, *longest);
  warn_about_masses(warnings, cell);
  warn_about_scores(warnings, *longest, options);
  warn_about_growth(warnings, head, cell);
  return warnings;
}

}  // namespace dewpoint::diagnosis
