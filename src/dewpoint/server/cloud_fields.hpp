// Fields that the rooms about layers of attention share: the cloud of tokens.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "dewpoint/attention/jacobian_norm.hpp"
#include "dewpoint/server/question.hpp"
#include "dewpoint/tokens/cloud.hpp"

namespace dewpoint::server {

inline constexpr double kMostLiveCorrelation = 0.999;

/// tokens, n, d.
[[nodiscard]] std::vector<Field> shape_fields(std::vector<std::string> laws, int tokens,
                                              double least_tokens, double most_tokens,
                                              int dimension);
/// alpha, norm, common, rho-inner, cluster-size.
[[nodiscard]] std::vector<Field> token_fields();
/// eta, with this default.
[[nodiscard]] Field norm_field(const std::string& standard);

/// The cloud of such a question, without rho.
[[nodiscard]] tokens::CloudParameters cloud_of(const Question& question);
[[nodiscard]] std::optional<attention::NormOptions> norm_of(const Question& question);

/// One list after the other.
[[nodiscard]] std::vector<Field> joined(std::vector<std::vector<Field>> lists);

}  // namespace dewpoint::server
