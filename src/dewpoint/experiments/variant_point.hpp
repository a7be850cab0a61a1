// One cloud under a layer of any form (attention/variants/layer_form.hpp): what phase_replica.hpp
// measures of the plain one.
//
// Means over rows are means over the rows of all heads. A sink shares the softmax with the keys and
// is counted like one of them in entropy, participation and largest weight, as in heads.hpp; the
// masses are those of tokens, so that self_mass + rest_mass = 1 − its weight.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "dewpoint/attention/jacobian_norm.hpp"
#include "dewpoint/attention/variants/layer_form.hpp"
#include "dewpoint/core/run_context.hpp"
#include "dewpoint/experiments/phase.hpp"
#include "dewpoint/experiments/phase_replica.hpp"

namespace dewpoint::experiments {

/// How the Jacobian norm of such a layer is measured: as asked for where the form is plain,
/// otherwise by Hutchinson's probes. Throws Error{bad_value} for options out of range, and for
/// `exact` and `mixed` where the form is not plain.
[[nodiscard]] attention::NormOptions resolved_norm(const attention::LayerForm& form,
                                                   attention::NormOptions norm);

/// One replica of a point, which is resolved. All rows, or those that are sampled; memory O(n d).
///
///   Accuracy    float32, see variant_attention: λ is good to 1e-5 or so while outputs are further
///               apart than 1e-3 of how far the tokens are.
///   Properties  (1) of a plain form agrees with sample_point.
///               (2) equal bytes for any number of threads.
[[nodiscard]] PointSample sample_variant_point(const PhasePoint& point, std::uint64_t replica,
                                               const RunContext& context);

}  // namespace dewpoint::experiments
