// Initial value problems y' = f(t, y), by CVODE of SUNDIALS.
//
// Two methods: Adams of variable order with functional iteration for problems that are not stiff,
// and BDF for those that are, its linear systems solved by GMRES without a matrix: the caller gives
// products with the Jacobian, or they are differences. Roots of functions of (t, y) are located
// while the solution is followed.
//
// Values at the times asked for are interpolated in the steps of the solver. Given a first step,
// asking at other times changes no bit of them; the slope is evaluated beyond a time asked for.
//
// The one place that knows SUNDIALS.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <vector>

namespace dewpoint {

/// y' at (t, y), written to the last argument. Not finite: a shorter step is tried.
using OdeSlope = std::function<void(double t, std::span<const double> y, std::span<double> slope)>;
/// (∂f/∂y) v at (t, y), written to the last argument.
using OdeJacobianProduct = std::function<void(
    double t, std::span<const double> y, std::span<const double> v, std::span<double> product)>;
/// All root functions at (t, y).
using OdeRoots = std::function<void(double t, std::span<const double> y, std::span<double> values)>;

enum class OdeMethod { adams, bdf };

struct OdeProblem {
  OdeSlope slope;
  OdeJacobianProduct jacobian_product = {};  // empty: by differences; BDF only
  OdeRoots roots = {};                       // empty: none are looked for
  std::vector<int> root_directions = {};     // one per root: +1 rising, -1 falling, 0 both
};

struct OdeOptions {
  OdeMethod method = OdeMethod::adams;
  double relative_tolerance = 1e-8;
  double absolute_tolerance = 1e-12;
  double first_step = 0.0;       // 0: chosen, also by the first time asked for
  double largest_step = 0.0;     // 0: no limit
  long most_steps = 10'000'000;  // between two outputs
};

class OdeSolver {
 public:
  OdeSolver(OdeProblem problem, double t, std::span<const double> y, const OdeOptions& options);
  OdeSolver(const OdeSolver&) = delete;
  OdeSolver& operator=(const OdeSolver&) = delete;
  ~OdeSolver();

  /// Goes on to `t` or to the first root before it. Returns which roots were met (indices into the
  /// root functions), empty when t was reached. Exceptions of the caller's functions come out here.
  /// Throws Error{bad_value} when the tolerances cannot be met, with t and the reason. Then, and
  /// after an exception, time() and value() still belong together, but this solver is done.
  std::vector<std::size_t> advance(double t);

  [[nodiscard]] double time() const;
  [[nodiscard]] std::span<const double> value() const;
  [[nodiscard]] long steps() const;
  [[nodiscard]] long evaluations() const;        // of the slope, those for differences included
  [[nodiscard]] long jacobian_products() const;  // by the caller's function

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace dewpoint
