#include "dewpoint/training/token_loss.hpp"

namespace dewpoint::training {

// Contexts of histogram π that end in token l have weight π_l and label k with probability P_lk.
std::unique_ptr<TokenLoss> population_loss(const Chain& chain, const LossOptions& options) {
  const std::size_t d = chain.vocabulary();
  HistogramRows rows{.vocabulary = d,
                     .context = 1,
                     .weight = 1.0,
                     .last = std::vector<std::uint8_t>(d),
                     .counts = Matrix<double>(d, d),
                     .labels = Matrix<double>(d, d)};
  for (std::size_t l = 0; l < d; ++l) {
    rows.last[l] = static_cast<std::uint8_t>(l);
    for (std::size_t k = 0; k < d; ++k) {
      rows.counts(l, k) = chain.stationary[k];
      rows.labels(l, k) = chain.stationary[l] * chain.transition(l, k);
    }
  }
  return histogram_loss(rows, options);
}

}  // namespace dewpoint::training
