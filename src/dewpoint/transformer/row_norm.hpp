// The norm before a layer, X = f Z with f = 1/√(mean Z² + ε), and its derivative.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "dewpoint/core/matrix.hpp"

namespace dewpoint::transformer {

/// normed = f · row; returns f. May be in place.
template <class Real>
Real normalise_row(std::span<const Real> row, std::span<Real> normed);

/// ∂L/∂X becomes ∂L/∂Z = f (∂L/∂X − X ⟨X, ∂L/∂X⟩/m), in place.
template <class Real>
void retreat_norm(std::span<const Real> normed, Real factor, std::span<Real> slope);

}  // namespace dewpoint::transformer
