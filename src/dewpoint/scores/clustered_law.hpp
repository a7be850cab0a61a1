// Scores of a token in a cluster: 1 with itself, one value with its mates, another with the rest.
//
// Nothing is random, as for the simplex, which is the cluster of size 1.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dewpoint/scores/score_law.hpp"

namespace dewpoint::scores {

class ClusteredLaw final : public TopLaw {
 public:
  struct Shape {
    double inner = 0.8;     // score with each mate
    double outer = 0.2;     // score with everybody else
    std::size_t size = 16;  // of the cluster, the token included
  };
  static constexpr std::size_t kMostSize = 1'000'000;

  /// −1 ≤ outer ≤ inner < 1 and 1 ≤ size ≤ kMostSize; throws bad_value outside.
  explicit ClusteredLaw(const Shape& shape);

  [[nodiscard]] std::string name() const override;
  [[nodiscard]] std::optional<double> supremum() const override { return 1.0; }

  /// 0, then size − 1 times 1 − inner (or as many as there are), then 1 − outer.
  [[nodiscard]] std::vector<double> sample(std::size_t count, const Stream& stream) const override;

  /// The whole cluster, even where k is smaller: what is left is the same for every score then.
  [[nodiscard]] std::vector<double> top_depths(double log_scores, std::size_t count,
                                               const Stream& stream) const override;
  [[nodiscard]] TiltedDepth rest(double cut, double tilt) const override;

 private:
  Shape shape_;
};

}  // namespace dewpoint::scores
