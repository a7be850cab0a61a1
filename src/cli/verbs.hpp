// The verbs, each in its file of the same name.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/verb.hpp"

namespace dewpoint::cli {

[[nodiscard]] Verb phase_verb();
[[nodiscard]] Verb phase_point_verb();
[[nodiscard]] Verb phase_map_verb();
[[nodiscard]] Verb phase_depth_verb();
[[nodiscard]] Verb condense_verb();
[[nodiscard]] Verb query_verb();
[[nodiscard]] Verb query_point_verb();
[[nodiscard]] Verb query_heat_verb();
[[nodiscard]] Verb query_harmonics_verb();
[[nodiscard]] Verb query_output_verb();
[[nodiscard]] Verb dew_verb();
[[nodiscard]] Verb train_verb();
[[nodiscard]] Verb heads_verb();
[[nodiscard]] Verb heads_sweep_verb();
[[nodiscard]] Verb scale_verb();
[[nodiscard]] Verb scale_explain_verb();
[[nodiscard]] Verb scale_fit_verb();
[[nodiscard]] Verb checkpoint_verb();
[[nodiscard]] Verb checkpoint_generate_verb();
[[nodiscard]] Verb checkpoint_export_verb();
[[nodiscard]] Verb predict_verb();
[[nodiscard]] Verb predict_layer_verb();
[[nodiscard]] Verb predict_variant_verb();
[[nodiscard]] Verb predict_bounds_verb();
[[nodiscard]] Verb predict_phases_verb();
[[nodiscard]] Verb predict_critical_verb();
[[nodiscard]] Verb predict_depth_verb();
[[nodiscard]] Verb predict_scaling_verb();
[[nodiscard]] Verb predict_condense_verb();
[[nodiscard]] Verb predict_query_verb();
[[nodiscard]] Verb predict_softmax_verb();
[[nodiscard]] Verb predict_dew_verb();
[[nodiscard]] Verb predict_heat_verb();
[[nodiscard]] Verb predict_train_verb();
[[nodiscard]] Verb run_verb();
[[nodiscard]] Verb runs_verb();
[[nodiscard]] Verb show_verb();
[[nodiscard]] Verb export_verb();
[[nodiscard]] Verb merge_verb();
[[nodiscard]] Verb figure_verb();
[[nodiscard]] Verb report_verb();
[[nodiscard]] Verb reproduce_verb();
[[nodiscard]] Verb verify_verb();
[[nodiscard]] Verb verify_errata_verb();
[[nodiscard]] Verb serve_verb();
[[nodiscard]] Verb doctor_verb();
[[nodiscard]] Verb manual_verb();

}  // namespace dewpoint::cli
