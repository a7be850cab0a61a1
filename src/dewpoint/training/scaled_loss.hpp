// A factor on the scores: the loss of a model that attends with softmax(sΦ), as a function of its
// own Φ and M.
//
//     L_s(Φ, M) = L(sΦ, M),   ∂L_s/∂Φ = s (∂L/∂Φ)(sΦ, M),   ∂L_s/∂M = (∂L/∂M)(sΦ, M)
//
// As a function of the weights it is the loss without factor at (√s WQ, √s WK). Its descent, and
// its gradient flow, are not those of the model without factor from there: in these coordinates
// steps of WQ and WK are s times as long, those of W0 and W1 as long as they were.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "dewpoint/training/token_loss.hpp"

namespace dewpoint::training {

/// The loss itself where the factor is 1.
///
///   Domain      scale > 0, finite.
///   Properties  (1) the formulas above, to the last bit of sΦ and of s times a slope.
[[nodiscard]] std::unique_ptr<TokenLoss> scaled_loss(std::unique_ptr<TokenLoss> loss, double scale);

/// s of a loss; 1 for those that were not made by scaled_loss().
[[nodiscard]] double score_scale(const TokenLoss& loss);

/// sΦ: what attention is the softmax of.
[[nodiscard]] Matrix<double> scores(const TokenLoss& loss, const TokenMaps& maps);

}  // namespace dewpoint::training
