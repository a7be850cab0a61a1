// A schedule in the words of an engine: what to put into a configuration or on a command line so
// that the engine multiplies its logits by m.
//
// m is the whole multiplier of the logits of a layer that sees everything, in place of what the
// engine would apply by itself. Most engines know one factor per deployment; a schedule then
// becomes m at the target length, and the export says what shorter texts get. Where an engine has
// keys for a schedule over positions and the model reads them, they are used.
//
// What an export promises is checked against engine.hpp: the keys, read back into an
// AttentionConfig, give m again. `exact` is false where they do not, or only for some positions,
// coordinates or layers; the warnings say which.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "dewpoint/scaling/engine.hpp"

namespace dewpoint::scaling {

struct ExportRequest {
  Schedule schedule;
  double target_length = 0.0;  // longest context served
  double fitted_from = 0.0;    // lengths that the schedule was fitted on; both 0: not a fit
  double fitted_to = 0.0;
};

struct EngineExport {
  Engine engine;
  std::string text;  // to paste; empty where there is no way to say it
  bool exact = true;
  std::vector<std::string> warnings;
};

/// For one engine.
///
///   Domain      m > 0 at the target, target_length ≥ 1, a model with a length of its own;
///               Error{bad_value} otherwise.
///   Accuracy    numbers are printed with kExportDigits decimals, so m is met to kExportError.
///   Properties  (1) an exact export, read back, gives m(n) for every n up to the target and every
///                   coordinate of full-attention layers.
///               (2) JSON in the text parses, and in shell commands stands in single quotes.
///               (3) a target outside the fitted lengths has a warning that begins "extrapolated".
[[nodiscard]] EngineExport export_schedule(const AttentionConfig& config, Engine engine,
                                           const ExportRequest& request);

/// For all engines, in the order of engines().
[[nodiscard]] std::vector<EngineExport> export_schedules(const AttentionConfig& config,
                                                         const ExportRequest& request);

/// Llama 4's keys attn_temperature_tuning, floor_scale and attn_scale for an affine_log schedule.
/// Models other than Llama 4 do not read them; then, and for other kinds, `exact` is false.
[[nodiscard]] EngineExport export_llama4_keys(const AttentionConfig& config,
                                              const ExportRequest& request);

inline constexpr int kExportDigits = 6;
/// Of m: the square of a factor above 1/2 that is known to half a unit of the last decimal, twice
/// over where it is divided by a gain that was rounded too.
inline constexpr double kExportError = 4e-6;

}  // namespace dewpoint::scaling
