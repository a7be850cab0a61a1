// Something that trains: a state that moves forward in time.
//
// Time counts steps for Adam and gradient descent, and is the t of θ' = −∇L for gradient flow.
// Whoever watches (recorder.hpp) asks for the weights between two calls of advance(); where the
// calls are made changes no bit of a path of steps. A state can be saved and restored, and goes on
// from there with the same bytes; a flow, whose solver starts afresh, within its tolerances.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "dewpoint/core/run_context.hpp"
#include "dewpoint/training/parameters.hpp"
#include "dewpoint/training/token_loss.hpp"

namespace dewpoint::training {

class Trainer {
 public:
  Trainer() = default;
  Trainer(const Trainer&) = delete;
  Trainer& operator=(const Trainer&) = delete;
  virtual ~Trainer() = default;

  [[nodiscard]] virtual double time() const = 0;
  /// Goes on until `time` (a whole number of steps, or t), or until the state is no longer finite:
  /// then it stops at once and returns false, and time() is where that was noticed. The weights of
  /// such a state mean nothing; a caller keeps the last state() it trusts. A stop on request throws
  /// Error{stopped} between two steps and leaves a state to go on from.
  [[nodiscard]] virtual bool advance(double time, const RunContext& run) = 0;
  [[nodiscard]] virtual Parameters<double> parameters() const = 0;

  /// Everything that is needed to go on, as bytes of this machine.
  [[nodiscard]] virtual std::vector<std::byte> state() const = 0;
  /// Throws Error{malformed_file} when the bytes are not a state of such a trainer and size.
  virtual void restore(std::span<const std::byte> state) = 0;
};

/// Adam as PyTorch does it: m and v start at 0,
///
///     m ← β₁ m + (1 − β₁) g,   v ← β₂ v + (1 − β₂) g²
///     θ ← θ − (rate/(1 − β₁ᵗ)) m / (√v/√(1 − β₂ᵗ) + ε)
struct AdamOptions {
  double rate = 1.5e-4;
  double first_decay = 0.9;
  double second_decay = 0.999;
  double epsilon = 1e-8;
};

/// Checks the domain of the options, the caller's mistake otherwise.
void check(const AdamOptions& options);

/// One pass over the weights per step: every weight and its two moments are read and written once,
/// and no gradient matrix is ever stored. In the precision asked for.
///
/// Uses, and needs, that the loss does not change when a row of Φ moves as a whole (the softmax of
/// token_loss.hpp): slope() is asked at a Φ whose last column is 0, and the last column of ∂L/∂Φ is
/// taken as minus the sum of the others.
///
///   Domain      rate > 0; decays in (0, 1); epsilon ≥ 1e-30; d ≥ 2; m ≥ 1. The same for
///               plain_adam().
[[nodiscard]] std::unique_ptr<Trainer> adam(const TokenLoss& loss, const Parameters<double>& start,
                                            const AdamOptions& options, Precision precision);

/// The same in double from whole gradient matrices, as the formulas say. The reference.
[[nodiscard]] std::unique_ptr<Trainer> plain_adam(const TokenLoss& loss,
                                                  const Parameters<double>& start,
                                                  const AdamOptions& options);

/// θ ← θ − rate ∇L, in double.
[[nodiscard]] std::unique_ptr<Trainer> gradient_descent(const TokenLoss& loss,
                                                        const Parameters<double>& start,
                                                        double rate);

}  // namespace dewpoint::training
