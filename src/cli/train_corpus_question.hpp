// What `dewpoint train --corpus` is asked, from its options or from a study that is to be gone on
// with.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "dewpoint/experiments/text_training.hpp"
#include "dewpoint/question/field.hpp"
#include "dewpoint/store/study.hpp"

namespace dewpoint::cli {

using TextPairs = std::vector<std::pair<std::string, std::string>>;

/// What a text has by the same options as a chain, with ranges and defaults of its own.
struct SharedOptions {
  std::optional<std::size_t> s, batch, m;
  bool residual = false;
  std::optional<double> rate, beta1, beta2, eps;
  std::optional<std::size_t> steps, record_every;
};

template <class Visitor>
void describe(Visitor& visit, SharedOptions& q) {
  using namespace question;  // NOLINT(google-build-using-namespace): the words of a description
  visit("s", q.s, in(1.0, 1e5));
  visit("batch", q.batch, in(1.0, 1e6));
  visit("m", q.m, in(1.0, 8192.0));
  visit("residual", q.residual);
  visit("rate", q.rate);
  visit("beta1", q.beta1);
  visit("beta2", q.beta2);
  visit("eps", q.eps);
  visit("steps", q.steps, in(1.0, 1e9));
  visit("record-every", q.record_every, in(1.0, 1e9));
}

/// What only a text has.
struct CorpusOptions {
  std::string corpus;
  std::string tokenizer = "words";
  std::optional<double> vocabulary, layers, heads, branch, start, validate_every;
  bool value_matrix = false, causal = false, pre_norm = false;
  std::string loss = "last";
  std::string scaling;
  std::string probe;
  std::string sentence;
  std::string checkpoint;
  std::string model;

  void add_to(CLI::App& verb);
};

/// Checked. Throws Error{bad_value} naming the option.
[[nodiscard]] experiments::TextQuestion text_question_of(const CorpusOptions& options,
                                                         const SharedOptions& shared,
                                                         std::uint64_t seed);

/// Of these options only those of the optimiser, of steps and of looks. Throws Error{bad_value}.
void take_text_steps(experiments::TextQuestion& question, const CorpusOptions& options,
                     const SharedOptions& shared);

/// As a study keeps them, every number with the digits that give it back.
[[nodiscard]] TextPairs text_parameters_of(const experiments::TextQuestion& question);

/// The question of a study that `train --corpus` made. Throws Error{malformed_file} naming the file
/// and what it lacks.
[[nodiscard]] experiments::TextQuestion text_question_from(const store::StudyRecord& study,
                                                           const std::string& file);

/// Names with commas between them; a comma or backslash of a name has a backslash before it.
///
///   Properties  (1) names_in(names_text(names)) = names, where none of them is empty.
[[nodiscard]] std::string names_text(const std::vector<std::string>& names);
/// Throws Error{bad_value} where a name is empty.
[[nodiscard]] std::vector<std::string> names_in(const std::string& text);

}  // namespace dewpoint::cli
