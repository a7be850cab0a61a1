// What the softmax of one query of a head looks like, from the sums of core/head_row.hpp.
//
// Twice: of everything that shares the softmax, the keys, the first one among them, and a learned
// sink; and "without the sink", that is without the first key and without the learned sink, the
// weights of what is left divided by their sum. With weights p and scores s
//
//     entropy           H = −Σ p log p (nats)          largest weight   max p
//     effective keys    e^H                            mean score       Σ p s
//     effective share   e^H/n                          score variance   Σ p (s − mean)²
//     participation     Σ p²                           largest score    max s
//
// n counts visible keys, the first one only where it is included; a learned sink is no key and is
// not counted, though it takes part in everything else. Row moments keep the first key apart, so
// that nothing here is a difference of nearly equal masses.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>

#include "dewpoint/core/head_row.hpp"

namespace dewpoint::observables {

struct HeadObservables {
  double entropy = 0.0;
  double effective_keys = 0.0;
  double effective_share = 0.0;
  double participation = 0.0;
  double largest_weight = 0.0;
  double first_mass = 0.0;  // weight of key 0; 0 where it is not visible
  double sink_mass = 0.0;   // weight of the learned sink
  double mean_score = 0.0;
  double score_variance = 0.0;
  double largest_score = 0.0;
};

/// Of everything; `keys` is HeadRow::keys.
///
///   Domain      at least one visible key; scores that are finite where they are there.
///   Accuracy    that of the sums, and a few roundings.
///   Properties  (1) equal the dense softmax over keys and sink.
///               (2) first_mass + sink_mass + the rest's mass = 1.
///               (3) a constant added to all scores moves mean and largest score only.
///   Reference   the definitions above.
[[nodiscard]] HeadObservables head_observables(const SoftmaxRow& row, std::size_t keys);

/// Without first key and learned sink: masses are 0. Nothing where no other key is visible.
///
///   Properties  (1) equal the dense softmax over the keys but the first.
[[nodiscard]] std::optional<HeadObservables> observables_without_sink(const SoftmaxRow& row,
                                                                      std::size_t keys);

/// Scores of the keys but the first, every key counted alike.
struct KeyMoments {
  double mean;
  double variance;  // Σ (s − mean)²/count
};

/// Nothing where no key but the first is visible.
///
///   Accuracy    the variance is a difference of squares: relative error of the sums, times the
///               mean square gap over the variance.
[[nodiscard]] std::optional<KeyMoments> key_moments(const SoftmaxRow& row, std::size_t keys);

}  // namespace dewpoint::observables
