// Focus and dilution with two groups of tokens: the orbit that leaves the second critical point.
//
// One frequent token (π_1), d − 1 rare ones alike, P = λI + (1 − λ)1πᵀ, and λ_Q = λ_K = l. The flow
// of rank_one_flow.hpp then has four variables: γ_1, γ_2 (each rare token), Δβ = β_1 − β_2 with β
// centred, and l. With η = l², Δγ = γ_1 − γ_2 and
//
//     ξ_i = A_i1 = 1/(1 + ((1 − π_1)/π_1) e^{−ηγ_iΔγ}),   v_i = ξ_i(1 − ξ_i),
//     m_i = γ_2 + ξ_i Δγ,   p_i = 1/(1 + (d − 1)e^{−m_iΔβ}),
//     r_1 = λ + (1 − λ)π_1 − p_1,   r_2 = (1 − λ)π_1 − p_2,
//     w_1 = π_1 r_1,   w_2 = (1 − π_1) r_2,
//
// it reads
//
//     γ_1'         = Δβ (w_1ξ_1 + w_2ξ_2) + ηΔβ [w_1v_1(Δγ² + γ_1Δγ) + w_2v_2γ_2Δγ],
//     (d−1) γ_2'   = Δβ (w_1(1−ξ_1) + w_2(1−ξ_2)) + ηΔβ [−w_1v_1γ_1Δγ + w_2v_2(Δγ² − γ_2Δγ)],
//     Δβ'          = (d/(d−1)) (m_1w_1 + m_2w_2),
//     l'           = l Δβ Δγ² (w_1v_1γ_1 + w_2v_2γ_2)
//
// [FD, Eq (154)-(156), correct; the last two lines follow from (20)]. From the second critical
// point attention grows and the rare tokens look more at the frequent one: ξ_2 rises above π_1,
// focus. Their embedding γ_2 shrinks and changes sign, and with it their scores: ξ_2 falls,
// dilution. The flow comes to rest where r_1 = r_2 = 0, every prediction that two groups can make
// being right. With many rare tokens and small λ it may get there without dilution.
//
// [FD, Theorem 4.5] has ξ_2 → 1, with W0 held fixed. In the flow it peaks a few points above π_1.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "dewpoint/theory/markov_chain.hpp"
#include "dewpoint/theory/rank_one_flow.hpp"

namespace dewpoint::theory {

struct TwoGroupState {
  double top = 0.0;         // γ_1
  double low = 0.0;         // γ_2
  double output_gap = 0.0;  // Δβ
  double attention = 0.0;   // l = λ_Q = λ_K

  [[nodiscard]] double amplitude() const { return attention * attention; }  // η
};

/// The velocity of the four variables.
///
///   Properties  (1) that of RankOneFlow at the same point.
///   Reference   [FD, Eq (154)-(156)].
[[nodiscard]] TwoGroupState two_group_velocity(const TwoGroups& groups, const TwoGroupState& state);

/// The same point with 2d + 2 variables.
[[nodiscard]] RankOneState spread_out(const TwoGroups& groups, const TwoGroupState& state);

/// ξ_1 and ξ_2: how much the frequent token, and a rare one, attend to the frequent one.
struct TwoGroupAttention {
  double of_top = 0.0;  // A_11
  double of_low = 0.0;  // A_21
};
[[nodiscard]] TwoGroupAttention attention_to_top(const TwoGroups& groups,
                                                 const TwoGroupState& state);

/// −Σ π_i P_ij log p_ij in the four variables.
///
///   Properties  (1) the loss of RankOneFlow at the same point.
[[nodiscard]] double two_group_loss(const TwoGroups& groups, const TwoGroupState& state);

/// The second critical point with l = 0.
[[nodiscard]] TwoGroupState two_group_critical_point(double top, std::size_t tokens);

/// 3λπ_1²(1 − π_1)²Δβ(Δγ)² at the second critical point: to first order
/// ((1 − π_1)γ_1 − (d − 1)π_1γ_2)' is this times η.
///
///   Properties  (1) that combination of f_γ in rank_one_response.
///   Reference   [FD, Eq (157)], correct.
[[nodiscard]] double redistribution_coefficient(const TwoGroups& groups);

// ---- the excursion ---------------------------------------------------------------------------

struct ExcursionOptions {
  double start = 1e-4;                // l at the start; the orbit is missed by O(l⁴)
  double relative_tolerance = 1e-12;  // of the integration
  double longest = 1e5;               // time after which an orbit not at rest is given up
};

struct Excursion {
  struct Peak {
    double time = 0.0;       // since the start
    double attention = 0.0;  // A_21, the largest
    double amplitude = 0.0;  // η
  };
  struct Rest {
    TwoGroupState state;
    TwoGroupAttention attention;
    double loss = 0.0;
    double correction = 0.0;  // how far the last Newton steps moved the state
  };
  // What was not met before the orbit came to rest, or before the longest time, is empty.
  std::optional<Peak> peak;           // A_21 turns
  std::optional<double> sign_change;  // time at which γ_2 falls through 0
  std::optional<Rest> rest;
};

/// The orbit from the second critical point along its unstable direction to where it comes to rest.
/// Events are located while integrating; the end is polished by Newton's method on r_1 = r_2 = 0
/// and the conserved norm, at the η that the orbit has reached.
///
///   Domain      1/d < π_1 < 1, 0 < λ < 1.
///   Accuracy    kExcursionError, absolute, on A_21, η and the state.
///   Properties  (1) a start at ten times l changes nothing beyond l⁴ and the tolerance.
///               (2) r_1 = r_2 = 0 at rest, and ‖γ‖² − ‖β‖² = 2η.
///               (3) the loss at rest is at least the entropy rate, and equal to it for d = 2.
[[nodiscard]] Excursion excursion(const TwoGroups& groups, const ExcursionOptions& options = {});

inline constexpr double kExcursionError = 1e-8;

}  // namespace dewpoint::theory
