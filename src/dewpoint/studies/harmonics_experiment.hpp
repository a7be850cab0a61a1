// "harmonics": how fast a ripple in the density of particles grows when all attend to all.
//
// The harmonics of `dewpoint query heat` at one β and one degree: particles on the circle or the
// sphere, placed without randomness. Nothing is random, so one replica is the truth.
//
// There is no critical scale, hence no unit of β.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dewpoint/studies/experiment.hpp"

namespace dewpoint::studies {

/// Observable: growth over step, the factor of the ripple in each attention step. Prediction: the
/// closed form of one step (theory/backward_heat.hpp), which every step follows.
///
///   Properties  (1) equal to experiments::harmonic_growth, bit for bit.
[[nodiscard]] const Experiment& harmonics_experiment();

}  // namespace dewpoint::studies
