#include <numeric>
#include <optional>

#include "dewpoint/core/error.hpp"
#include "dewpoint/training/histogram_pass.hpp"
#include "dewpoint/training/packed_rows.hpp"
#include "dewpoint/training/token_loss.hpp"

namespace dewpoint::training {
namespace {

std::vector<double> weights_by_last(const HistogramRows& rows) {
  std::vector<double> weights(rows.vocabulary);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto labels = rows.labels.row(i);
    weights[rows.last[i]] += std::accumulate(labels.begin(), labels.end(), 0.0);
  }
  return weights;
}

class HistogramLoss final : public TokenLoss {
 public:
  HistogramLoss(const HistogramRows& rows, const LossOptions& options)
      : weight_(rows.weight),
        weights_(weights_by_last(rows)),
        rows_(rows),
        pass_(rows.vocabulary, options.residual),
        sums_(rows.vocabulary) {
    if (options.precision == Precision::single_) {
      single_rows_.emplace(rows);
      single_pass_.emplace(rows.vocabulary, options.residual);
    }
  }

  [[nodiscard]] std::size_t vocabulary() const override { return weights_.size(); }

  double slope(std::uint64_t /*step*/, const TokenMaps& at, TokenMaps& slope) const override {
    if (single_rows_) {
      single_pass_->slope(*single_rows_, at, sums_);
    } else {
      pass_.slope(rows_, at, sums_);
    }
    return take_means(sums_, weight_, slope);
  }

  void slope_change(const TokenMaps& at, const TokenMaps& along, TokenMaps& change) const override {
    pass_.change(rows_, at, along, sums_);
    take_means(sums_, weight_, change);
  }

  [[nodiscard]] std::vector<double> group_losses(const TokenMaps& at) const override {
    pass_.slope(rows_, at, sums_);
    std::vector<double> losses = sums_.losses;
    for (std::size_t k = 0; k < losses.size(); ++k) losses[k] /= weights_[k];  // 0/0 is NaN
    return losses;
  }

  [[nodiscard]] std::vector<double> group_weights() const override {
    std::vector<double> shares = weights_;
    for (double& share : shares) share /= weight_;
    return shares;
  }

 private:
  double weight_;
  std::vector<double> weights_;  // by last token
  PackedRows<double> rows_;
  std::optional<PackedRows<float>> single_rows_;
  mutable HistogramPass<double> pass_;
  mutable std::optional<HistogramPass<float>> single_pass_;
  mutable PassSums sums_;
};

}  // namespace

std::unique_ptr<TokenLoss> histogram_loss(const HistogramRows& rows, const LossOptions& options) {
  DEWPOINT_EXPECTS(rows.size() > 0 && rows.weight > 0.0);
  DEWPOINT_EXPECTS(rows.vocabulary >= 1 && rows.vocabulary <= kMostTokens);
  return std::make_unique<HistogramLoss>(rows, options);
}

}  // namespace dewpoint::training
