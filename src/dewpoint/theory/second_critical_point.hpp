// Where training pauses first: the second critical point, and how attention starts there.
//
// Once condensed (training_origin.hpp), W0 and W1 grow along one direction α of the width until the
// model predicts the stationary law whatever it reads. With WQ = WK = 0,
//
//     W0 = κ₁ q αᵀ,   W1 = κ₁ α ūᵀ,
//     q = π/‖π‖,   ū = (log π − mean)/‖log π − mean‖,   κ₁² = ‖log π − mean(log π)‖/‖π‖
//
// is a critical point for every law and every unit vector α: all rows of attention are π, the
// logits are κ₁²‖π‖ū, and the loss is H(π). For two groups ū is u = (π − 1/d)/‖π − 1/d‖ and κ₁² is
// the θ_c of [FD, Eq (104)]; for other laws the ray of [FD, Proposition 4.3] along u holds no
// critical point, and W1 turns from u to ū.
//
// Around it W0, W1 and WQ, WK separate to first order. With V = diag(π) − ππᵀ and
// K = diag(π)P − ππᵀ,
//
//     (ΔW0 α, ΔW1ᵀα)' = −κ₁² [ (ūᵀVū) ππᵀ   ‖π‖ π ūᵀV ]
//                            [ ‖π‖ Vū πᵀ    ‖π‖² V    ] (ΔW0 α, ΔW1ᵀα),
//     ΔWQ' = c ααᵀ ΔWK,   ΔWK' = c ααᵀ ΔWQ,      c = κ₁⁴ (qᵀKū)(qᵀVq).
//
// So WQ and WK leave together as e^{ct} along α α̃ᵀ, with α̃ given by the start, and the scores Φ
// as e^{2ct} along ππᵀ/‖π‖². Should c be negative, as for chains that avoid repeating a token, they
// leave with opposite signs at rate |c|, and the scores are negative.
//
// Corrected here, against [FD]:
//   Eq (127)             has the logits κ²‖π‖²(π_j − 1/d); they are κ²(‖π‖/‖π − 1/d‖)(π_j − 1/d).
//   Propositions 4.3, 4.4    hold for two groups; above is the form for every law and chain.
//   Proposition 4.4      calls the attention block positive semi-definite; its spectrum is 0, ±c.
//   Eq (138)             lacks both minus signs.
//   Eq (16)              must end in ππᵀ/‖π‖².
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "dewpoint/core/matrix.hpp"
#include "dewpoint/theory/training_origin.hpp"

namespace dewpoint::theory {

struct SecondCriticalPoint {
  double amplitude = 0.0;                   // κ₁
  std::vector<double> embedding_direction;  // q
  std::vector<double> output_direction;     // ū
  double loss = 0.0;                        // H(π)
};

/// κ₁, q, ū and the loss.
///
///   Domain      π_i > 0, Σπ = 1. For the uniform law it is the origin: κ₁ = 0, ū = 0.
///   Accuracy    rounding of a few units in the last place, relative to |log π| in κ₁².
///   Properties  (1) the gradient of the population loss vanishes there, for any P with πP = π.
///               (2) for two groups ū = u and κ₁² = θ_c (critical_product, training_times.hpp).
///               (3) the loss is H(π).
///   Reference   [FD, Proposition 4.3], corrected.
[[nodiscard]] SecondCriticalPoint second_critical_point(std::span<const double> law);

/// W0 (d × m) and W1 (m × d) of the critical point along a unit vector α of length m.
struct OuterWeights {
  Matrix<double> embedding;
  Matrix<double> unembedding;
};
[[nodiscard]] OuterWeights critical_weights(const SecondCriticalPoint& point,
                                            std::span<const double> alpha);

/// κ₁ as Eq (127) would give it: the κ at which softmax(κ²‖π‖²π) gives the first token its own
/// probability π_1 = max π. Not a critical point; kept to show how far it is.
///
///   Domain      as second_critical_point; 0 for the uniform law.
///   Accuracy    relative error kPublishedAmplitudeError.
///   Properties  (1) for two groups κ² = log((d − 1)π_1/(1 − π_1))/(‖π‖²(π_1 − π_2)).
///               (2) the population gradient there does not vanish.
///   Reference   [FD, Eq (127)].
[[nodiscard]] double published_amplitude(std::span<const double> law);

inline constexpr double kPublishedAmplitudeError = 0x1p-46;

// ---- attention: which way, how fast ----------------------------------------------------------

/// c = κ₁⁴ (qᵀKū)(qᵀVq), the rate at which WQ and WK grow; their product grows at 2c.
///
///   Domain      any law and any chain with πP = π.
///   Accuracy    rounding; relative to κ₁⁴ ‖Kū‖ (qᵀVq).
///   Properties  (1) the Hessian of the population loss has eigenvalues ±c, m times each.
///               (2) for λI + (1 − λ)1πᵀ it is λκ₁⁴(qᵀVū)(qᵀVq).
///               (3) for two groups it is what Proposition 4.4 prints.
///   Reference   [FD, Proposition 4.4], for two groups.
[[nodiscard]] double attention_rate(std::span<const double> law,
                                    MatrixView<const double> transition);

/// c as printed, λκ₁⁴(πᵀVπ)²/(‖π − 1/d‖‖π‖³), with the corrected κ₁. Right for two groups only.
///
///   Domain      a law that is not uniform.
///   Reference   [FD, Proposition 4.4].
[[nodiscard]] double published_attention_rate(std::span<const double> law, double persistence);

/// Spectrum of the linearised flow of WQ and WK: +c and −c, m times each, and 0 2m² − 2m times.
///
///   Properties  (1) that block of −∇²L of the population loss has this spectrum.
[[nodiscard]] std::vector<EigenvalueGroup> attention_spectrum(std::span<const double> law,
                                                              MatrixView<const double> transition,
                                                              std::size_t width);

/// α̃ of WQ → ‖WQ‖ α α̃ᵀ ← WK from the weights with which the point is entered:
/// (WQ + WK)ᵀα normalised, or (WQ − WK)ᵀα when c is negative, where then WK → −‖WK‖ α α̃ᵀ.
///
///   Reference   [FD, Theorem 4.5]; that α̃ is a matter of the start is not said there.
[[nodiscard]] std::vector<double> attention_direction(std::span<const double> alpha,
                                                      MatrixView<const double> query,
                                                      MatrixView<const double> key, double rate);

// ---- W0 and W1: how fast the point is approached ---------------------------------------------

/// The d − 1 eigenvalues of the flow of W0 and W1 that are not 0, the fastest first: those of
///
///     −κ₁²‖π‖² S V S,   S = I + (√2 − 1) ūūᵀ
///
/// other than 0. For the block matrix above is κ₁²BᵀB with B = V^{1/2}(ūπᵀ, ‖π‖I), and
/// BBᵀ = ‖π‖² V^{1/2} S² V^{1/2}.
///
///   Domain      a law that is not uniform.
///   Accuracy    absolute error d² units in the last place of the largest.
///   Properties  (1) all negative.
///               (2) for two groups, two_group_decay.
///               (3) with 0 they are the spectrum of that block of −∇²L.
///   Reference   [FD, Eq (144), (145)].
[[nodiscard]] std::vector<double> outer_decay(std::span<const double> law);

/// The same for two groups, in closed form.
struct TwoGroupDecay {
  double along = 0.0;  // −2κ₁²‖π‖²π_1(1 − π_1)d/(d − 1), once: the rate of [FD, Eq (113)]
  double within = 0.0;  // −κ₁²‖π‖²π_2, d − 2 times: between the rare tokens
};
[[nodiscard]] TwoGroupDecay two_group_decay(double top, std::size_t tokens);

/// Spectrum of the flow of W0 and W1 over their 2dm entries: outer_decay, and 0 otherwise.
[[nodiscard]] std::vector<EigenvalueGroup> outer_spectrum(std::span<const double> law,
                                                          std::size_t width);

}  // namespace dewpoint::theory
