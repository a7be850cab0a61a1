// The upper edge of the scores of a head, from its best keys: three estimators with error bars.
//
// Rows of a matrix are queries, columns keys. The best k of n keys know how the scores end:
//
//   fit_edge              a generalised Pareto law for the excesses over the (k+1)-th score gives
//                         the shape ξ and β_edge, the hazard of the scores at their upper 1/n
//                         quantile. ξ = −1/a on a manifold of dimension 2a, ξ → 0 for Gaussian
//                         scores. Needs no knowledge of the endpoint.
//   fit_known_endpoint    Hill's estimator for unit queries and keys, whose scores end at 1: the
//                         exponent a and β* of P(gap ≤ t) ~ c t^a, β* = (cn)^{1/a}.
//   heat_capacity         C(β) = β² Var_w(s): equals a over the temperatures between the width of
//                         the scores and β*, and needs nothing but the softmax.
//
// Each declines with a sentence instead of a number where it does not apply.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "dewpoint/core/estimate.hpp"
#include "dewpoint/core/matrix.hpp"
#include "dewpoint/core/run_context.hpp"
#include "dewpoint/diagnosis/row_bootstrap.hpp"

namespace dewpoint::diagnosis {

struct EdgeFit {
  std::string refusal;      // empty: the estimates stand
  std::size_t top = 0;      // k
  double tied_share = 0.0;  // of neighbours among the best k + 1 scores that are equal
  Estimate shape;           // ξ
  Estimate scale;           // σ of the excesses, in units of the scores
  Estimate log_edge_beta;   // log β_edge
  Estimate depth_change;    // log β_edge from the best k less that from the best k/4
};

/// Pareto fit by probability-weighted moments, pooled over rows. With Y_i = S_(i) − S_(k+1), i ≤ k,
/// in decreasing order,
///
///     a_0 = mean Y_i,   a_1 = mean (i−1)/(k−1) Y_i,   ξ = 2 − a_0/(a_0 − 2a_1),
///     σ = 2a_0 a_1/(a_0 − 2a_1),      β_edge = Γ(k+1−ξ)/(Γ(k+1) σ).
///
/// The weights (i−1)/(k−1) make a_1 unbiased at every k, so that many rows with a small k estimate
/// as well as few with a large one; the factor Γ(k+1−ξ)/Γ(k+1), k^{−ξ} for large k, is the mean of
/// the (−ξ)-th power of the (k+1)-th arrival time, by which the mean scale of the excesses exceeds
/// that at the edge. Errors are those of the bootstrap over rows.
///
/// A `depth_change` of many errors says that the scores near their edge are no single Pareto tail:
/// a cluster of about k keys, for example.
///
///   Domain      4 ≤ k < n, or Error{bad_value}. Refuses when more than half of the neighbours are
///               tied: such scores have atoms and no density at their edge. Fewer ties come from
///               rounding, which moves Y by its unit, a k-th part of the mean excess.
///   Accuracy    unbiased as rows grow, for an exact Pareto tail.
///   Properties  (1) a shift of the scores changes nothing, a factor c divides β_edge by c.
///               (2) exact Pareto tails of any ξ < 1/2: within the error, and the error is right.
///               (3) plotting positions (i − 0.35)/k instead are biased: ξ by −0.05 at k = 50.
///   Reference   [Hosking and Wallis 1987]; pooling and the factor are derived here.
[[nodiscard]] EdgeFit fit_edge(MatrixView<const double> scores, std::size_t top,
                               const RowBootstrap& bootstrap, const RunContext& context = {});

struct EndpointFit {
  std::string refusal;         // empty: the estimates stand
  std::size_t top = 0;         // k
  Estimate exponent;           // a
  Estimate log_critical_beta;  // log β*
  double dispersion = 0.0;     // variance of the rows' log β* over what the law predicts
};

/// Hill's estimator for scores that end at a known supremum. With the gaps T = supremum − s of a
/// row in increasing order, h = mean_{i≤k} log(T_(k+1)/T_(i)) and ψ the digamma function,
///
///     a = (kR − 1)/(kR h̄),      log β* = ψ(k+1) h̄ − mean log T_(k+1)      over R rows.
///
/// If P(T ≤ t) = c t^a exactly, kah is a Gamma(k) variable and independent of T_(k+1), hence
///
///     s.e.(a) = a/√(kR − 2),    s.e.(log β*) = √((ψ(k+1)²/k + ψ'(k+1))/R)/a:
///
/// √((1 + log²k)/k)/a per row for large k. `dispersion` compares that with the scatter of the rows:
/// far from 1, the law is not c t^a at this depth, or the rows share their keys.
///
///   Domain      1 ≤ k < n, kR > 2, or Error{bad_value}. Refuses when a score reaches the supremum.
///   Accuracy    unbiased for exact power laws and large n; the sphere of dimension d is one only
///               where the k/n quantile of the gaps is far below 1/d.
///   Properties  (1) gaps multiplied by c: same a, β*/c.
///               (2) exact power laws: within the error, and the error is right.
///   Reference   [Hill 1975]; errors derived here.
[[nodiscard]] EndpointFit fit_known_endpoint(MatrixView<const double> scores, double supremum,
                                             std::size_t top);

/// A stretch of inverse temperatures over which C stays level.
struct Plateau {
  Estimate exponent;  // mean of C there
  double lowest_beta, highest_beta;
};

struct HeatCapacity {
  std::vector<double> betas;
  std::vector<Estimate> capacity;      // mean over rows
  std::vector<double> effective_keys;  // 1/mean Σw²
  std::optional<Plateau> plateau;
};

/// What counts as a plateau: chosen by judgement, so that the peak of Gaussian scores, whose
/// slope falls from 2 to below 0 within an octave or two, does not.
struct PlateauRule {
  double steepest = 0.15;   // |d log C/d log β| at most; less asks for a cleaner power law
  double width = 4.0;       // over at least this factor of β
  double least_keys = 3.0;  // while at least so many keys share the weight
};

/// Heat capacity of the softmax on a grid of β, mean over rows, and its plateau: the widest stretch
/// that satisfies the rule.
///
///   Domain      β increasing and positive; at least 1 row, 2 columns, or Error{bad_value}.
///   Accuracy    rounding of sums of n terms.
///   Properties  (1) two keys with the gap T: C = (βT)²/(4 cosh²(βT/2)).
///               (2) P(T ≤ t) ~ c t^a: C = a on 1 ≪ β ≪ β*, where βT of a key drawn by weight is a
///                   Gamma(a) variable.
///               (3) Gaussian scores have no plateau: C = β²σ² up to the freezing point.
///   Reference   equipartition; as an estimator of a, derived here.
[[nodiscard]] HeatCapacity heat_capacity(MatrixView<const double> scores,
                                         std::span<const double> betas,
                                         const PlateauRule& rule = {},
                                         const RunContext& context = {});

}  // namespace dewpoint::diagnosis
