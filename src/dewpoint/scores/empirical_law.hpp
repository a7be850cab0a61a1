// Scores that were measured: rows of queries, columns of keys.
//
// n keys out of the N measured ones stand for a shorter context of the same head: subsets of a row
// show how its softmax depends on n without a model of the scores.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dewpoint/core/matrix.hpp"
#include "dewpoint/scores/score_law.hpp"

namespace dewpoint::scores {

class EmpiricalLaw final : public ScoreLaw {
 public:
  /// At least one row and two columns, all finite. Throws bad_value; the message names row and
  /// column, counted from 1.
  explicit EmpiricalLaw(Matrix<double> scores);

  /// "empirical:rows=...,columns=...".
  [[nodiscard]] std::string name() const override;

  /// The largest score of all rows.
  [[nodiscard]] std::optional<double> supremum() const override { return largest_; }

  /// n distinct keys of one row; every row and every subset equally likely. Throws bad_value when
  /// n exceeds the number of columns.
  [[nodiscard]] std::vector<double> sample(std::size_t count, const Stream& stream) const override;

  [[nodiscard]] const Matrix<double>& scores() const { return scores_; }

 private:
  Matrix<double> scores_;
  double largest_;
};

}  // namespace dewpoint::scores
