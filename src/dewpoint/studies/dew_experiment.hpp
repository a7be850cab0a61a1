// "dew": the dew point of any law of scores at n keys, from 3 to 1e300.
//
// The experiment of `dewpoint dew` at one law and one n. A replica is a batch of `draws` queries;
// what it gives are quartiles and means over its draws, so that replica 0 is what the verb shows at
// the study's seed. Quartiles of a batch, β_PR and the median
// accumulation scale have a bias of O(1/draws), which more replicas do not remove: raise `draws`
// where it matters. The mean of log β_dew has none. Slopes and covariances over n, which take
// several n, are left out. Replica r uses the same random numbers at every n: neighbours share
// their accidents.
//
// The law is a word and may be an axis: law = ["gaussian", "sphere:d=5", "simplex:rho=0.5"]. It is
// completed to its full name, "gaussian:sigma=1". The simplex and clusters have nothing random.
//
// β is what is measured, so there is no axis of temperature and no unit.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dewpoint/studies/experiment.hpp"

namespace dewpoint::studies {

/// Observables: beta_dew_lower, beta_dew_median, beta_dew_upper, log_beta_dew, beta_pr,
/// accumulation and rest_bound, as in experiments/dew.hpp.
///
/// Predictions, known for the simplex alone: beta_dew_median = log(n − 1)/(1 − ρ), its logarithm
/// and beta_pr. For other laws β_PR is a root of a quadrature, tens of milliseconds, and is left to
/// `dewpoint predict dew`.
///
///   Properties  (1) replica 0 is experiments::dew_curve at the same seed, bit for bit.
[[nodiscard]] const Experiment& dew_experiment();

}  // namespace dewpoint::studies
