// Gradient flow θ' = −∇L through CVODE, with events and a running estimate of its own error.
//
// The first cycle is not stiff and is followed with Adams methods; later the largest curvature
// grows to thousands of times the fastest growth, and BDF with a matrix-free Krylov solver takes
// over, its products with the Hessian exact (parameters.hpp: hessian_product). Where the exchange
// happens: at the first whole time after half-dilution of the first cycle, or at `adams_until`,
// whichever comes first.
//
// Along the flow two matrices stay what they are, and their drift is the error that was made:
//
//     W0ᵀ W0 − W1 W1ᵀ − WQ WQᵀ − WK WKᵀ        WQᵀ WQ − WKᵀ WK
//
// Events are roots located by the solver. They are armed one after the other: a random start makes
// every signal wiggle, so nothing is looked for before W0 has condensed, and no peak of the
// attention s_0 on token 0 before it has left its base: of 43 random starts one had a root of
// ds_0/dt, at s_0 − 1/d < 1e-8, after condensation.
//
// The path does not depend on the times at which it is asked for. A flow that is restored starts
// its solver anew and follows the uninterrupted one to within the tolerances, not bit by bit.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "dewpoint/core/matrix.hpp"
#include "dewpoint/training/trainer.hpp"

namespace dewpoint::training {

enum class FlowMethod { automatic, adams, bdf };
/// "auto", "adams", "bdf".
[[nodiscard]] const std::vector<std::pair<std::string, FlowMethod>>& words_of(FlowMethod);

struct FlowOptions {
  double relative_tolerance = 1e-8;
  double absolute_tolerance = 1e-12;
  FlowMethod method = FlowMethod::automatic;
  double adams_until = 150.0;
  double focus_rise = 0.005;  // ρ: a peak of s_0 is looked for above base + ρ (1 − base), base 1/d
};

/// Times at which the solver found a root; nothing: not yet, or not armed.
struct FlowEvents {
  std::optional<double> condensed;    // r1(W0) = σ₁²/Σσ² rises to 0.9; arms the others
  std::optional<double> focus_start;  // s_0 rises above base + ρ (1 − base); arms the peak
  std::optional<double> focus_peak;   // ds_0/dt = 0, falling; arms half-dilution
  double focus_peak_value = std::numeric_limits<double>::quiet_NaN();  // s_0 there
  std::optional<double> half_dilution;                                 // s_0 falls to half its peak
  std::vector<std::optional<double>> turned;  // per token: its component along token 0 becomes < 0
  std::optional<double> second_direction;     // r1(W0), having been above 0.99, falls below it
};

struct FlowWork {
  long evaluations = 0;  // of the gradient
  long hessian_products = 0;
  long steps = 0;
  std::optional<double> exchanged;  // when BDF took over
};

class GradientFlow : public Trainer {
 public:
  [[nodiscard]] virtual const FlowEvents& events() const = 0;
  [[nodiscard]] virtual FlowWork work() const = 0;
  /// Largest change of an entry of the two conserved matrices since the start.
  [[nodiscard]] virtual double conserved_drift() const = 0;
};

[[nodiscard]] std::unique_ptr<GradientFlow> gradient_flow(const TokenLoss& loss,
                                                          const Parameters<double>& start,
                                                          const FlowOptions& options);

/// The two conserved matrices, each m x m.
struct Conserved {
  Matrix<double> outer;  // W0ᵀ W0 − W1 W1ᵀ − WQ WQᵀ − WK WKᵀ
  Matrix<double> inner;  // WQᵀ WQ − WKᵀ WK
};
[[nodiscard]] Conserved conserved(const Parameters<double>& parameters);

}  // namespace dewpoint::training
