// β_PR of a head whose rows are drawn again and again.
//
// The mean of Σw² over rows is needed at many inverse temperatures, once per redrawn head. It is
// tabulated per row at nodes in log β, with its slope, when a redrawn head first needs them, and
// interpolated between nodes by the cubic through both values and slopes.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "dewpoint/core/matrix.hpp"
#include "dewpoint/core/run_context.hpp"

namespace dewpoint::diagnosis {

/// Distance h of the nodes in log β. The cubic is off by h⁴/384 times a fourth derivative, which
/// for a dozen rows is about 6 (many rows smooth it further), and the mean of Σw² rises at the root
/// by about 0.35 per unit of log β: the root is off by 1e-5.
inline constexpr double kNodeDistance = 0.125;

class ParticipationTable {
 public:
  /// `hands` consecutive rows of the matrix belong to one query and count together. Nodes are
  /// counted from `log_beta`.
  ParticipationTable(MatrixView<const double> scores, std::size_t hands, double log_beta,
                     const RunContext& context);

  /// The log β where the weighted mean of Σw² is 1/2; +∞ when ties keep it below.
  ///
  ///   Accuracy    1e-4, against participation_point on the redrawn matrix.
  [[nodiscard]] double log_root(std::span<const std::uint32_t> counts);

 private:
  struct Node {
    std::vector<double> values, slopes;  // per query
  };
  struct Mean {
    double value, slope;
  };

  const Node& node(int position);
  Mean mean(int position, std::span<const std::uint32_t> counts);

  MatrixView<const double> scores_;
  std::size_t hands_;
  double origin_;
  RunContext context_;
  std::vector<double> frozen_;  // Σw² at β = ∞, per query
  std::map<int, Node> nodes_;
};

}  // namespace dewpoint::diagnosis
