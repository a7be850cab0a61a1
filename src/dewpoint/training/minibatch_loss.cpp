#include <algorithm>
#include <span>

#include "dewpoint/core/error.hpp"
#include "dewpoint/core/random.hpp"
#include "dewpoint/training/histogram_pass.hpp"
#include "dewpoint/training/packed_rows.hpp"
#include "dewpoint/training/token_loss.hpp"

namespace dewpoint::training {
namespace {

struct Example {
  std::uint32_t row;  // its context among the rows of the set
  std::uint8_t label;
};

void count_tokens(std::span<const std::uint8_t> context, std::vector<double>& counts) {
  std::fill(counts.begin(), counts.end(), 0.0);
  for (const std::uint8_t token : context) counts[token] += 1.0;
}

// The number of the row (l, n); rows are sorted by them.
std::size_t find_row(const HistogramRows& rows, std::uint8_t last, std::span<const double> counts) {
  const auto before = [&](std::size_t row) {
    if (rows.last[row] != last) return rows.last[row] < last;
    const auto other = rows.counts.row(row);
    return std::lexicographical_compare(other.begin(), other.end(), counts.begin(), counts.end());
  };
  std::size_t low = 0;
  std::size_t high = rows.size();
  while (low < high) {
    const std::size_t middle = low + (high - low) / 2;
    if (before(middle)) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

std::vector<Example> examples_of(const SequenceSet& sequences, const HistogramRows& rows) {
  std::vector<Example> examples(sequences.size());
  std::vector<double> counts(sequences.vocabulary);
  for (std::size_t i = 0; i < sequences.size(); ++i) {
    const auto sequence = sequences.sequence(i);
    const auto context = sequence.first(sequences.context);
    count_tokens(context, counts);
    const std::size_t row = find_row(rows, context.back(), counts);
    DEWPOINT_EXPECTS(row < rows.size() && std::ranges::equal(rows.counts.row(row), counts));
    examples[i] = {static_cast<std::uint32_t>(row), sequence.back()};
  }
  return examples;
}

Matrix<double> identity(std::size_t d) {
  Matrix<double> one(d, d);
  for (std::size_t k = 0; k < d; ++k) one(k, k) = 1.0;
  return one;
}

template <class Real>
class MinibatchLoss final : public TokenLoss {
 public:
  MinibatchLoss(const SequenceSet& sequences, const HistogramRows& rows, std::size_t batch,
                const Stream& stream, const LossOptions& options)
      : stream_(stream),
        examples_(examples_of(sequences, rows)),
        last_(rows.last),
        counts_(rows.counts),
        one_hot_(identity(rows.vocabulary)),
        drawn_(batch),
        sizes_(rows.vocabulary),
        batch_rows_(rows.vocabulary, batch),
        pass_(rows.vocabulary, options.residual),
        sums_(rows.vocabulary),
        whole_(histogram_loss(rows, options)) {}

  [[nodiscard]] std::size_t vocabulary() const override { return whole_->vocabulary(); }

  double slope(std::uint64_t step, const TokenMaps& at, TokenMaps& slope) const override {
    draw(step);
    pass_.slope(batch_rows_, at, sums_);
    return take_means(sums_, static_cast<double>(drawn_.size()), slope);
  }

  void slope_change(const TokenMaps& at, const TokenMaps& along, TokenMaps& change) const override {
    whole_->slope_change(at, along, change);
  }
  [[nodiscard]] std::vector<double> group_losses(const TokenMaps& at) const override {
    return whole_->group_losses(at);
  }
  [[nodiscard]] std::vector<double> group_weights() const override {
    return whole_->group_weights();
  }

 private:
  // Draw b of a step is number step·batch + b of the stream.
  void draw(std::uint64_t step) const {
    const auto count = static_cast<double>(examples_.size());
    std::fill(sizes_.begin(), sizes_.end(), 0);
    for (std::size_t b = 0; b < drawn_.size(); ++b) {
      const double u = stream_.uniform(step * drawn_.size() + b);
      drawn_[b] = std::min(static_cast<std::size_t>(u * count), examples_.size() - 1);
      ++sizes_[last_[examples_[drawn_[b]].row]];
    }
    batch_rows_.arrange(sizes_);
    for (const std::size_t i : drawn_) {
      const auto [row, label] = examples_[i];
      batch_rows_.add(last_[row], counts_.row(row), one_hot_.row(label));
    }
  }

  Stream stream_;
  std::vector<Example> examples_;
  std::vector<std::uint8_t> last_;
  Matrix<double> counts_;
  Matrix<double> one_hot_;
  mutable std::vector<std::size_t> drawn_;
  mutable std::vector<std::size_t> sizes_;
  mutable PackedRows<Real> batch_rows_;
  mutable HistogramPass<Real> pass_;
  mutable PassSums sums_;
  std::unique_ptr<TokenLoss> whole_;
};

}  // namespace

std::unique_ptr<TokenLoss> minibatch_loss(const SequenceSet& sequences, std::size_t batch,
                                          std::uint64_t seed, std::uint64_t replica,
                                          const LossOptions& options) {
  DEWPOINT_EXPECTS(batch >= 1 && sequences.size() >= 1);
  const Stream stream(seed, "training/batch", replica);
  const HistogramRows rows = collapse(sequences);
  if (options.precision == Precision::single_) {
    return std::make_unique<MinibatchLoss<float>>(sequences, rows, batch, stream, options);
  }
  return std::make_unique<MinibatchLoss<double>>(sequences, rows, batch, stream, options);
}

}  // namespace dewpoint::training
