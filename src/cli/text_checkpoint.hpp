// A checkpoint of a run on text: its state as a .safetensors file that other programs read, and
// beside it, with ".looks" behind its name, what was seen until then.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "dewpoint/experiments/text_training.hpp"
#include "dewpoint/store/study.hpp"

namespace dewpoint::cli {

/// Names of what a run attaches to its study.
inline constexpr const char* kStateAttachment = "state.safetensors";
inline constexpr const char* kLooksAttachment = "looks";

/// Each file appears whole or not at all, the looks first. Of a run that diverged there is no state
/// to write. Throws Error{unwritable_file}, and Error{bad_value} for another file in the way.
void write_checkpoint(const OutputFile& file, const experiments::TextRun& run);
/// Asked before long work: whether both may be written.
void require_checkpoint_places(const OutputFile& file);

/// A checkpoint as the study it could have been: both attachments and nothing else. Looks after the
/// state, which a kill between the two files leaves, are not taken. Throws Error{unreadable_file}
/// or Error{malformed_file}.
[[nodiscard]] store::StudyRecord study_of_checkpoint(const std::string& file);

/// Whether a file begins as a study does; false where there is none.
[[nodiscard]] bool is_study_file(const std::string& file);

}  // namespace dewpoint::cli
