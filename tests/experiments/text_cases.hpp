// A text made of thirty words, and small runs on it that the tests share.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "dewpoint/core/error.hpp"
#include "dewpoint/experiments/text_training.hpp"
#include "store/scratch_folder.hpp"
#include "support/test_seed.hpp"

namespace dewpoint::experiments::test {

/// The chain of the text: with probability kSuccession word i is followed by word 7 i + 3 modulo
/// 30, otherwise by word k with a probability that falls as 1/(k + 1). Every tenth word ends a
/// sentence with a point.
inline constexpr std::size_t kWords = 30;
inline constexpr double kSuccession = 0.6;

inline std::vector<std::string> invented_words() {
  std::vector<std::string> words;
  for (const char* first : {"ba", "de", "ki", "lo", "mu"}) {
    for (const char* second : {"na", "re", "si", "to", "vu", "za"}) {
      words.push_back(std::string(first) + second);
    }
  }
  return words;
}

inline std::size_t harmonic_word(double u) {
  double total = 0.0, sum = 0.0;
  for (std::size_t k = 1; k <= kWords; ++k) total += 1.0 / static_cast<double>(k);
  for (std::size_t k = 0; k < kWords; ++k) {
    sum += 1.0 / (static_cast<double>(k + 1) * total);
    if (u < sum) return k;
  }
  return kWords - 1;
}

/// The entropy of the word after a word, the point left out of the count: below this no model of
/// one word comes by much.
inline double succession_entropy() {
  double total = 0.0, entropy = 0.0;
  for (std::size_t k = 1; k <= kWords; ++k) total += 1.0 / static_cast<double>(k);
  for (std::size_t k = 1; k <= kWords; ++k) {
    const double p = (1.0 - kSuccession) / (static_cast<double>(k) * total);
    entropy -= p * std::log(p);
  }
  return entropy - kSuccession * std::log(kSuccession);
}

inline std::string invented_text(std::size_t length, const std::string& name,
                                 const std::vector<std::string>& words = invented_words()) {
  const Stream stream = dewpoint::test::stream(name);
  std::string text;
  std::size_t word = 0;
  for (std::size_t i = 0; i < length; ++i) {
    const bool succession = stream.uniform(2 * i) < kSuccession;
    word = succession ? (7 * word + 3) % kWords : harmonic_word(stream.uniform(2 * i + 1));
    text += words[word];
    text += i % 10 == 9 ? " . " : " ";
  }
  return text;
}

/// Written to a file and read as a user's corpus is.
inline std::shared_ptr<const text::Corpus> corpus_from(const std::string& text,
                                                       const TextQuestion& question) {
  const dewpoint::test::ScratchFolder folder;
  dewpoint::test::write_bytes(folder / "text.txt", text);
  text::CorpusQuestion asked = question.corpus;
  asked.file = folder / "text.txt";
  return std::make_shared<const text::Corpus>(text::read_corpus(asked, least_tokens(question)));
}

/// m = 16, windows of 8, batches of 32: a step of well below a millisecond.
inline TextQuestion small_question() {
  TextQuestion question;
  question.corpus.vocabulary = 32;  // the words, the point and <unk>
  question.shape.width = 16;
  question.shape.residual = true;
  question.deviation = 0.1;
  question.context = 8;
  question.batch = 32;
  question.adam.rate = 1e-2;
  question.steps = 60;
  question.every = 10;
  question.validate_every = 30;
  question.validation_windows = 100;
  question.seed = dewpoint::test::seed();
  return question;
}

inline std::shared_ptr<const text::Corpus> small_corpus() {
  static const auto corpus = corpus_from(invented_text(6000, "TextTraining"), small_question());
  return corpus;
}

inline std::unique_ptr<TextRun> finished_text(const TextQuestion& question,
                                              std::uint64_t replica = 0, int threads = 1) {
  auto run = std::make_unique<TextRun>(question, small_corpus(), replica);
  run->advance({threads, {}, {}});
  return run;
}

inline store::StudyRecord study_of(const TextRun& run) {
  store::StudyRecord study;
  study.attachments = run.attachments();
  return study;
}

inline void expect_same_attachments(const TextRun& a, const TextRun& b) {
  const auto first = a.attachments();
  const auto second = b.attachments();
  ASSERT_EQ(first.size(), second.size());
  for (std::size_t i = 0; i < first.size(); ++i) {
    EXPECT_EQ(first[i].name, second[i].name);
    EXPECT_TRUE(first[i].bytes == second[i].bytes) << first[i].name;
  }
}

/// What is thrown; fails where nothing is, and where it is more than one line.
template <class Action>
Error text_error_of(Action&& action) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << error.what();
    return error;
  }
  ADD_FAILURE() << "no error";
  return {Code::bad_value, ""};
}

inline void expect_refusal(const Error& error, Code code, const std::string& part) {
  EXPECT_EQ(error.code(), code) << error.what();
  EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
}

}  // namespace dewpoint::experiments::test
