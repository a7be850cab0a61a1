// The lowest point of a function of a few variables that is bumpy and has no derivatives.
//
// A simplex of k + 1 places walks downhill: its worst corner is mirrored at the centre of the
// others, further where that pays, less far where it does not, and when nothing helps the whole
// simplex shrinks towards its best corner [Nelder and Mead 1965]. Such a simplex can collapse onto
// a line before it has arrived; so it is set up again around the best place until a fresh start
// gains nothing. It finds a local minimum: start it from several places.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

namespace dewpoint::diagnosis {

using Landscape = std::function<double(const std::vector<double>&)>;

struct Descent {
  double tolerance = 1e-6;   // ends when the simplex is this small, in units of the steps
  double gain = 1e-7;        // a restart must lower the value by this share to be followed by one
  std::size_t restarts = 4;  // at most; each costs as much as the first walk, mostly less
  std::size_t moves = 400;   // at most, of one walk
};

struct Lowest {
  std::vector<double> place;
  double value;
};

/// A local minimum near `start`. `steps`: how far the first simplex reaches along each variable.
///
///   Domain      as many steps as variables, none of them 0. The function may be +∞ (a forbidden
///               place) but not NaN, and must be finite at the start or within a step of it.
///   Accuracy    for a smooth minimum, the tolerance times the steps.
///   Properties  (1) never above the value at the start.
///               (2) no variables: the start.
///               (3) the same calls give the same bytes.
///   Reference   [Nelder and Mead 1965], with their coefficients 1, 2, 1/2, 1/2.
[[nodiscard]] Lowest descend(const Landscape& landscape, const std::vector<double>& start,
                             const std::vector<double>& steps, const Descent& descent = {});

}  // namespace dewpoint::diagnosis
