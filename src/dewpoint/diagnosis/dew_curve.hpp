// The dew point of one head as a function of the length, read from a stored frame.
//
// A length N stands for the queries that see N/2 to N keys, as a bin that ends at N holds them;
// their mean number of keys is 3N/4 + 1/2. A bin counts at the N that its own mean says, so that
// half-filled bins are in their place. Between bins log β_dew is interpolated linearly in log N,
// beyond them it follows the law that the frame names, or its slope along the rows.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "dewpoint/core/estimate.hpp"
#include "dewpoint/core/frame.hpp"
#include "dewpoint/diagnosis/growth_law.hpp"

namespace dewpoint::diagnosis {

/// log β_dew at a length: Σ weights · nodes + added.
struct DewReading {
  std::vector<double> weights;  // of the curve's nodes
  double added = 0.0;           // by extrapolation
  double added_error = 0.0;
  bool extrapolated = false;
};

class DewCurve {
 public:
  /// The cells of one head. `place` is its position among the frame's heads, layer by layer.
  DewCurve(const Frame& frame, std::size_t place, bool without_first);

  [[nodiscard]] bool empty() const { return nodes_.empty(); }
  [[nodiscard]] double longest() const;  // N of the last node

  /// Nothing for an empty curve, and beyond it where neither law nor slope is known.
  [[nodiscard]] std::optional<DewReading> read(double length) const;

  [[nodiscard]] double value(const DewReading& reading) const;
  /// Of each node, for the errors of differences of two readings.
  [[nodiscard]] double node_variance(std::size_t node) const { return nodes_[node].variance; }

 private:
  struct Node {
    double log_length, log_beta, variance;
  };

  [[nodiscard]] std::optional<DewReading> beyond(double log_length, std::size_t nearest) const;

  std::vector<Node> nodes_;
  std::optional<LawFit> law_;
  Estimate slope_;
};

/// log m = log β_dew(deployed) − log β_dew(trained); readings of the same curve share its errors.
[[nodiscard]] Estimate log_ratio(const DewCurve& deployed, const DewReading& target,
                                 const DewCurve& trained, const DewReading& train, bool same);

/// Lengths within this factor of a node are at it.
inline constexpr double kSameLength = 1.01;

}  // namespace dewpoint::diagnosis
