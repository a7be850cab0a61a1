// Where a collapse is looked for: units, the scan and the descents of fit_collapse.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include "dewpoint/core/run_context.hpp"
#include "dewpoint/diagnosis/nelder_mead.hpp"
#include "dewpoint/diagnosis/scaling_collapse.hpp"

namespace dewpoint::diagnosis {

/// x_c, a, b in units of the search, in which parameters of any data look alike: x_c from 0 to 1
/// over the range of x, an exponent as the logarithm of how much it stretches between the smallest
/// and the largest size.
using Place = std::array<double, 3>;

struct Found {
  Place place;
  double quality;
};

class Search {
 public:
  /// `curves`: by increasing size. They must outlive the search.
  Search(std::span<const SizeCurve> curves, const CollapseOptions& options);

  /// Which of the coordinates are fitted.
  [[nodiscard]] const std::vector<std::size_t>& free() const { return free_; }
  [[nodiscard]] static double low(std::size_t k) { return k == 0 ? 0.0 : -std::log(kMostStretch); }
  [[nodiscard]] static double high(std::size_t k) { return k == 0 ? 1.0 : std::log(kMostStretch); }

  /// One parameter in its own unit, what was held exactly as it was given; and that unit.
  [[nodiscard]] double value_of(std::size_t k, double coordinate) const;
  [[nodiscard]] double unit_of(std::size_t k) const { return k == 0 ? range_ : 1.0 / lever_; }
  [[nodiscard]] CollapseScales scales_of(const Place& place) const;

  /// A minimum of S over some of the coordinates near `base`, which has the others.
  [[nodiscard]] Found descend_along(std::span<const SizeCurve> curves, const Place& base,
                                    const std::vector<std::size_t>& along,
                                    const Descent& descent) const;

  /// The lowest S of the data and, behind it, other minima that are no more than 1 above: redrawn
  /// data may prefer them. Throws Error{bad_value} when the curves meet nowhere.
  [[nodiscard]] std::vector<Found> minima(const RunContext& context) const;

 private:
  [[nodiscard]] std::vector<Found> scan() const;

  std::span<const SizeCurve> curves_;
  std::array<std::optional<double>, 3> held_;
  double lever_, origin_, range_;
  std::vector<std::size_t> free_;
};

/// First steps of a descent, chosen by judgement: a tenth of what one would call another fit.
inline constexpr Place kCollapseSteps = {0.05, 0.3, 0.3};

}  // namespace dewpoint::diagnosis
