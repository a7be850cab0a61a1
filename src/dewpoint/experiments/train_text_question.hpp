// What can be asked of training a small transformer on a text, and the run that answers.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "dewpoint/experiments/text_training.hpp"
#include "dewpoint/experiments/training_parts.hpp"

namespace dewpoint::experiments {

struct TrainTextQuestion {
  TextSource source;
  std::size_t s = 32;
  std::size_t batch = 256;
  ModelQuestion model;
  transformer::Targets loss = transformer::Targets::last;
  LearningQuestion learning;
  std::optional<std::size_t> validate_every;
  std::optional<std::string> probe, sentence;
};

template <class Visitor>
void describe(Visitor& visit, TrainTextQuestion& q) {
  using namespace question;  // NOLINT(google-build-using-namespace): the words of a description
  describe(visit, q.source);
  visit("s", q.s, in(1.0, 1e5), "context length", also("context"));
  visit("batch", q.batch, in(1.0, 1e6), "contexts per step");
  describe(visit, q.model);
  visit("loss", q.loss, "predict after the last token of a context, or, with causal, after all");
  describe(visit, q.learning, fixed);
  visit("validate-every", q.validate_every, in(1.0, 1e9), "steps between two validation losses",
        fixed, otherwise("500; a study has the last one alone"));
  visit("probe", q.probe,
        "tokens whose attention is followed, frequent ones first, with commas between them (\\, is "
        "a comma)",
        fixed, otherwise("three frequent and three of medium frequency"));
  visit("sentence", q.sentence, "test sentence of a single run", fixed,
        otherwise("one from the end of the text"));
}

/// Complete, without what has its standard and what says so elsewhere. Throws Error{bad_value}
/// naming what does not fit the rest.
///   Properties  (1) resolved(resolved(q)) = resolved(q).
[[nodiscard]] TrainTextQuestion resolved(TrainTextQuestion question);

/// For the record: with Adam's standards.
[[nodiscard]] TrainTextQuestion filled(TrainTextQuestion resolved);

/// The run of a complete question.
[[nodiscard]] TextQuestion run_of(const TrainTextQuestion& resolved, std::uint64_t seed);

/// Names with commas between them; a comma or backslash of a name has a backslash before it. Throws
/// Error{bad_value} where a name is empty.
[[nodiscard]] std::vector<std::string> names_in(const std::string& probe);

}  // namespace dewpoint::experiments
