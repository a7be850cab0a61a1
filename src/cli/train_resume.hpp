// A run of `dewpoint train` that is to be gone on with.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "dewpoint/experiments/train_question.hpp"
#include "dewpoint/experiments/train_text_question.hpp"
#include "dewpoint/store/study.hpp"

namespace dewpoint::cli {

/// What a study that `train` made was asked, with what is new (values by name); what neither says
/// has its default. Throws Error{malformed_file} naming the file and what is wrong with it.
[[nodiscard]] experiments::TrainQuestion chain_question_from(const store::StudyRecord& study,
                                                             const std::string& file,
                                                             const question::Point& given);
/// The same of `train --corpus`.
[[nodiscard]] experiments::TrainTextQuestion text_question_from(const store::StudyRecord& study,
                                                                const std::string& file,
                                                                const question::Point& given);

/// Throws Error{bad_value} where something is given that the run brings itself: all but `free`,
/// which are named to the user as `may_be_new`.
void require_free(const std::vector<std::string>& given, const std::vector<std::string>& free,
                  const std::string& file, const std::string& may_be_new);

[[nodiscard]] bool has_attachment(const store::StudyRecord& study, const std::string& name);

/// Its chain, from the frame "data".
[[nodiscard]] training::Chain chain_from(const store::StudyRecord& study, const std::string& name);

}  // namespace dewpoint::cli
