// "harmonics": how fast a ripple in the density of particles grows when all attend to all.
//
// The experiment of `dewpoint query harmonics` at one β and one degree: particles on the circle or
// the sphere, placed without randomness. Nothing is random, so one replica is the truth.
//
// There is no critical scale, hence no unit of β.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dewpoint/experiments/harmonics_question.hpp"
#include "dewpoint/studies/experiment.hpp"
#include "dewpoint/theory/backward_heat.hpp"

namespace dewpoint::studies {

/// The layer of a question, for the laws of theory/backward_heat.hpp.
[[nodiscard]] theory::HarmonicStep harmonic_step(const experiments::HarmonicsQuestion& question);

/// Observable: growth over step, the factor of the ripple in each attention step. Prediction: the
/// closed form of one step (theory/backward_heat.hpp), which every step follows.
///
///   Properties  (1) equal to experiments::harmonic_growth, bit for bit.
[[nodiscard]] const Experiment& harmonics_experiment();

}  // namespace dewpoint::studies
