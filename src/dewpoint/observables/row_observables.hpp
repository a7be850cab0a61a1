// What the weights of one query look like, from the sums of one streaming pass (RowMoments).
//
// With Z = Σw, weights p_j = w_j / Z and w_j = exp(−β Δ_j) relative to the best score:
//
//     entropy         H = −Σ p log p = log Z + β Σ Δ p     (nats; exp H = keys effectively read)
//     largest weight  1/Z                                   (the best score has w = 1)
//     participation   Σ p² = Σ w² / Z²                      (1: one key; 1/n: all keys alike)
//     energy variance Var_p(Δ)                              (β² times it: heat capacity)
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

#include "dewpoint/core/estimate.hpp"
#include "dewpoint/core/kernels.hpp"

namespace dewpoint::observables {

[[nodiscard]] double entropy(const RowMoments& row, double inverse_temperature);
[[nodiscard]] double largest_weight(const RowMoments& row);
[[nodiscard]] double participation(const RowMoments& row);
[[nodiscard]] double gap_variance(const RowMoments& row);

/// Means over queries. Masses add up to 1: the query's own token, the other tokens of its cluster
/// (0 without clusters), and the rest.
struct RowMeans {
  RunningMoments entropy;
  RunningMoments largest_weight;
  RunningMoments participation;
  RunningMoments self_mass;
  RunningMoments cluster_mass;
  RunningMoments rest_mass;
};

/// `cluster_partitions[i]` is Z restricted to the tokens of query i's cluster, itself included; an
/// empty span means no clusters.
[[nodiscard]] RowMeans row_means(std::span<const RowMoments> rows, double inverse_temperature,
                                 std::span<const double> cluster_partitions = {});

}  // namespace dewpoint::observables
