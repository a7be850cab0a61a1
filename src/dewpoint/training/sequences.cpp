#include "dewpoint/training/sequences.hpp"

#include <algorithm>
#include <numeric>

#include "dewpoint/core/error.hpp"
#include "dewpoint/core/random.hpp"

namespace dewpoint::training {
namespace {

constexpr std::size_t kSequencesPerBlock = 4096;

// Laws to draw from, as cumulative sums: row k of the chain for what follows token k, and behind
// them the uniform law of the first token.
class Laws {
 public:
  explicit Laws(const Chain& chain)
      : start_(chain.vocabulary()), cumulative_(chain.vocabulary() + 1, chain.vocabulary()) {
    const std::vector<double> uniform(start_, 1.0 / static_cast<double>(start_));
    for (std::size_t k = 0; k < start_; ++k) set(k, chain.transition.row(k));
    set(start_, uniform);
  }

  // Number of the uniform law.
  [[nodiscard]] std::size_t start() const { return start_; }

  // The first token whose sum exceeds u: u in (0, 1) never gives a token of probability 0.
  [[nodiscard]] std::size_t draw(std::size_t law, double u) const {
    const std::span<const double> sums = cumulative_.row(law);
    return static_cast<std::size_t>(std::upper_bound(sums.begin(), sums.end(), u) - sums.begin());
  }

 private:
  // From the last possible token on the sum is 1, whatever the roundings before it.
  void set(std::size_t law, std::span<const double> probabilities) {
    const std::span<double> sums = cumulative_.row(law);
    std::partial_sum(probabilities.begin(), probabilities.end(), sums.begin());
    std::size_t last = probabilities.size() - 1;
    while (probabilities[last] == 0.0) --last;
    std::fill(sums.begin() + static_cast<std::ptrdiff_t>(last), sums.end(), 1.0);
  }

  std::size_t start_;
  Matrix<double> cumulative_;
};

}  // namespace

SequenceSet sample_sequences(const Chain& chain, std::size_t context, std::size_t count,
                             std::uint64_t seed, std::uint64_t replica, const RunContext& run) {
  DEWPOINT_EXPECTS(context >= 1 && count >= 1 && chain.vocabulary() <= kMostTokens);
  const Laws laws(chain);
  const Stream stream(seed, "training/sequences", replica);
  const std::size_t length = context + 1;
  SequenceSet set{chain.vocabulary(), context, std::vector<std::uint8_t>(count * length)};

  const auto draw_sequence = [&](std::size_t i) {
    std::size_t law = laws.start();
    for (std::size_t at = i * length; at < (i + 1) * length; ++at) {
      law = laws.draw(law, stream.uniform(at));
      set.tokens[at] = static_cast<std::uint8_t>(law);
    }
  };
  const std::size_t blocks = (count + kSequencesPerBlock - 1) / kSequencesPerBlock;
  parallel_for(blocks, run, [&](std::size_t block) {
    const std::size_t first = block * kSequencesPerBlock;
    const std::size_t end = std::min(count, first + kSequencesPerBlock);
    for (std::size_t i = first; i < end; ++i) draw_sequence(i);
  });
  return set;
}

}  // namespace dewpoint::training
