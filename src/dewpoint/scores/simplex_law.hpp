// Scores of a token on the regular simplex: 1 with itself, ρ with each of the n − 1 others.
//
// Nothing is random. The law is here so that whatever runs on the random laws runs on the exactly
// solved one as well.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dewpoint/scores/score_law.hpp"

namespace dewpoint::scores {

class SimplexLaw final : public TopLaw {
 public:
  /// 0 ≤ ρ < 1.
  explicit SimplexLaw(double correlation);

  [[nodiscard]] std::string name() const override;
  [[nodiscard]] std::optional<double> supremum() const override { return 1.0; }

  /// The first depth is 0, the others 1 − ρ.
  [[nodiscard]] std::vector<double> sample(std::size_t count, const Stream& stream) const override;
  [[nodiscard]] std::vector<double> top_depths(double log_scores, std::size_t count,
                                               const Stream& stream) const override;
  [[nodiscard]] TiltedDepth rest(double cut, double tilt) const override;

 private:
  double correlation_;
};

}  // namespace dewpoint::scores
