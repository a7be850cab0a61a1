// Scores of a Gaussian query and Gaussian keys: q, k_j ~ N(0, I_d), score ⟨q, k_j⟩ or ⟨q, k_j⟩/√d.
//
// The scores of one row share the length of their query and are not independent. Given the query
// they are: Gaussian with deviation |q|, or |q|/√d, which tends to 1 with relative fluctuations
// 1/√(2d). Everything about the top scores is asked of law_of_row().
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dewpoint/scores/score_law.hpp"

namespace dewpoint::scores {

class RandomQueryLaw final : public TopLaw {
 public:
  /// 1 ≤ d ≤ SphereGap::kMostDimension; `scaled` divides the scores by √d. Throws bad_value.
  RandomQueryLaw(int dimension, bool scaled);

  [[nodiscard]] std::string name() const override;
  [[nodiscard]] std::optional<double> supremum() const override { return std::nullopt; }

  /// The law given a query whose d coordinates are drawn from index 2⁶³ on.
  [[nodiscard]] std::shared_ptr<const TopLaw> of_query(const Stream& stream) const override;

  /// Those of the row that the stream addresses.
  [[nodiscard]] std::vector<double> sample(std::size_t count, const Stream& stream) const override;
  [[nodiscard]] std::vector<double> top_depths(double log_scores, std::size_t count,
                                               const Stream& stream) const override;

  /// Not known without the query: throws bad_value. Ask law_of_row().
  [[nodiscard]] TiltedDepth rest(double cut, double tilt) const override;

 private:
  int dimension_;
  bool scaled_;
};

}  // namespace dewpoint::scores
