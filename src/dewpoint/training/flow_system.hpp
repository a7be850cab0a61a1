// Gradient flow as an initial value problem: the weights W0, W1, WQ, WK one after the other, row by
// row, as one vector y; its slope −∇L; and the signals in which events are looked for,
//
//     r1      σ₁²/Σσ² of W0                                  how much of W0 one direction explains
//     s_0     mean over queries q > 0 of softmax(Φ_q)_0      their attention on token 0
//     ds_0/dt along the flow, from the slope itself          no differences of s_0
//     W0_i·W0_0                                              the side of token 0 that token i is on
//
// Holds the room that an evaluation needs, so one object serves one solver at a time.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

#include "dewpoint/training/parameters.hpp"
#include "dewpoint/training/token_loss.hpp"

namespace dewpoint::training {

class FlowSystem {
 public:
  FlowSystem(const TokenLoss& loss, std::size_t width);

  [[nodiscard]] std::size_t vocabulary() const { return vocabulary_; }
  [[nodiscard]] std::size_t width() const { return width_; }
  /// How many weights there are.
  [[nodiscard]] std::size_t size() const;
  void to_vector(const Parameters<double>& parameters, std::span<double> y) const;
  [[nodiscard]] Parameters<double> to_parameters(std::span<const double> y) const;

  void slope(std::span<const double> y, std::span<double> slope);
  /// The derivative of the slope in the direction v: minus the Hessian times v.
  void slope_change(std::span<const double> y, std::span<const double> v, std::span<double> change);

  [[nodiscard]] double rank_one_fraction(std::span<const double> y) const;
  [[nodiscard]] double focus(std::span<const double> y);
  [[nodiscard]] double focus_rate(std::span<const double> y);
  /// W0_i·W0_0.
  [[nodiscard]] double alignment(std::span<const double> y, std::size_t token) const;

 private:
  [[nodiscard]] MatrixView<const double> embedding(std::span<const double> y) const;
  void load(std::span<const double> y, Parameters<double>& parameters) const;
  /// Of the weights loaded last; at their Φ and M.
  [[nodiscard]] Parameters<double> gradient();

  const TokenLoss& loss_;
  std::size_t vocabulary_;
  std::size_t width_;
  Parameters<double> at_;
  Parameters<double> along_;
  TokenMaps maps_;
  TokenMaps map_slope_;
};

}  // namespace dewpoint::training
