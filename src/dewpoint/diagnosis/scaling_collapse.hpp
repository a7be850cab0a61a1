// Finite-size scaling: do curves of several sizes fall onto one, and with which exponents?
//
// Near a transition a quantity y measured against a control x at size L is expected to be
//
//     y = L^b f((x − x_c) L^a)                                                              (1)
//
// with one function f for all sizes. The size is whatever the transition knows: the number of
// tokens n, or log n where the transition is 1/log n wide (for attention in the reduced scale
// c = γ(1 − ρ) it is, with a = 1: the layer depends on (c − 1) log n). Nobody knows f, so the
// curves are compared with each other [Houdayer and Hartmann 2004]. All points are moved to
//
//     X = (x − x_c) L^a,      Y = y L^{−b},      σ = σ_y L^{−b}.
//
// For each of them every *other* size that has points on both sides of X lends these two, and the
// straight line fitted to what was lent, with weights 1/σ², says Ŷ ± σ̂ at X. The quality
//
//     S = mean (Y − Ŷ)²/(σ² + σ̂²)                                                           (2)
//
// over the points for which somebody lends is 1 on average where (1) holds with these exponents,
// the errors are right and independent, and f is straight between neighbouring points. The fit is
// the lowest S. How to read it:
//
//     S ≈ 1             the curves agree within their errors
//     S > kGoodQuality  they do not: (1) is wrong here (corrections to scaling at small sizes,
//                       another variable), the errors are too small, or points are so far apart
//                       that f bends by more than an error between them (f″ h²/8 at spacing h)
//     S ≪ 1             the errors are too large, or the floor below speaks instead of them
//
// *Errors.* Those of the exponents are the spread of fits to redrawn data, y + σ_y z with normal z
// (parametric bootstrap), each from every minimum that is nearly as good as the lowest: to first
// order the spread of the fit itself. Where S > 1 they are multiplied by √S, as if all errors were
// too small by one factor; that covers noise, not a wrong ansatz, whose exponents drift with the
// sizes: leave out the smallest and see. The other custom, the range over which S stays below
// S_min + 1, is given beside: as S is a mean over points it is far wider than a standard error, and
// says over which exponents the picture still looks collapsed.
//
// *Spacing.* What f bends between two points moves the fit too. A displacement δ of every one of N
// points moves a parameter by √N δ/σ of its errors at most; a dozen points over a transition with
// errors of 1 % of the step (δ/σ ≈ 1/2) made a too small by 5 %, one and a half of its errors.
//
// *Exact points.* A computed curve has no errors, and (2) would ask for agreement to the last bit.
// No error counts for less than `error_floor` times the range of y over all points. With exact
// curves √S times that floor is by how much they differ: corrections to scaling, and f″ h²/8.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "dewpoint/core/estimate.hpp"
#include "dewpoint/core/run_context.hpp"
#include "dewpoint/diagnosis/row_bootstrap.hpp"

namespace dewpoint::diagnosis {

/// What was measured at one size.
struct SizeCurve {
  double size;            // L > 0: n, or log n
  std::vector<double> x;  // increasing
  std::vector<Estimate> y;
};

/// Parameters of (1).
struct CollapseScales {
  double critical = 0.0;         // x_c
  double width_exponent = 1.0;   // a: the transition is L^{−a} wide
  double height_exponent = 0.0;  // b
};

struct CollapseOptions {
  // A number holds the parameter there, nothing lets it be fitted. Fewer free ones, smaller errors.
  std::optional<double> critical = std::nullopt;
  std::optional<double> width_exponent = std::nullopt;
  std::optional<double> height_exponent = 0.0;
  double error_floor = 1e-3;  // of the range of y; less trusts the ansatz more
  Bootstrap bootstrap{.replicates = 200, .seed = 1};  // more know the errors better: 5 % with 200
};

struct CollapseQuality {
  double mean = std::numeric_limits<double>::infinity();  // S; +∞: too few points compared
  std::size_t points = 0;                                 // of all curves
  std::size_t compared = 0;  // of them, those for which another size lent a line
};

/// A fitted parameter. One that was held has error 0 and its value for both ends.
struct CollapseParameter {
  Estimate value = {};   // with the bootstrap's error; samples: replicates
  double lowest = 0.0;   // where S, lowest over the other free parameters, reaches S_min + 1;
  double highest = 0.0;  // ∓∞: nowhere within the search

  /// Whether the data say where it lies: both ends are known.
  [[nodiscard]] bool determined() const { return std::isfinite(lowest) && std::isfinite(highest); }
};

/// A point where the collapse puts it, for drawing.
struct CollapsedPoint {
  double size;
  double x;      // X
  double y;      // Y
  double error;  // σ, floor included
};

struct Collapse {
  CollapseParameter critical = {}, width_exponent = {}, height_exponent = {};
  CollapseQuality quality;  // at these parameters
  std::size_t floored = 0;  // points whose error is the floor
  double floor = 0.0;       // in units of y
  std::string doubt;        // empty: they collapse; else why nobody can tell, in a sentence
  std::vector<CollapsedPoint> collapsed;  // curve by curve
};

/// S of (2) at given parameters, with the errors as they are: +∞ when fewer than kLeastCompared of
/// the points can be compared, so that no fit can flee to where curves do not meet.
///
///   Domain      as fit_collapse, and no error is 0.
///   Properties  (1) mean 1 over noise for a straight f and right errors.
///               (2) unchanged by y → cy (errors too), x → cx with x_c, and L → cL.
[[nodiscard]] CollapseQuality collapse_quality(std::span<const SizeCurve> curves,
                                               const CollapseScales& scales);

/// The best collapse: a scan over the search, descents from its kStarts lowest places, then the
/// errors. The search: x_c within the range of x, and exponents that change widths or heights
/// between the smallest and the largest size by a factor of kMostStretch at most.
///
///   Domain      at least 2 sizes, at least 4 points each, finite numbers, errors known and ≥ 0
///               and above 0 with the floor, and curves that overlap somewhere in the search:
///               else Error{bad_value}.
///   Accuracy    of the place of the minimum: 1e-6 of the range of x and of 1/log(L_max/L_min).
///   Properties  (3) data on (1) with errors: within the errors, and the errors are right.
///               (4) S is S_min + 1 at `lowest` and `highest`, found to 1 % of their distance.
///               (5) doubt, where S_min is large and where data do not fix the parameters.
///               (6) the same bytes for any number of threads.
///   Reference   [Houdayer and Hartmann 2004] for (2); the rest is derived here.
[[nodiscard]] Collapse fit_collapse(std::span<const SizeCurve> curves,
                                    const CollapseOptions& options = {},
                                    const RunContext& context = {});

/// Chosen by judgement. With two dozen points and more S of a right collapse exceeds it by chance
/// in less than one of a hundred cases.
inline constexpr double kGoodQuality = 2.0;

inline constexpr double kLeastCompared = 0.5;
inline constexpr double kMostStretch = 1000.0;
inline constexpr std::size_t kStarts = 4;

}  // namespace dewpoint::diagnosis
