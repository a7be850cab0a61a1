// Questions about text that cannot be asked, and what a run looks at.
//
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <set>

#include "dewpoint/experiments/text_probe.hpp"
#include "dewpoint/experiments/text_windows.hpp"
#include "experiments/text_cases.hpp"

namespace dewpoint::experiments {
namespace {

using namespace dewpoint::experiments::test;  // NOLINT(google-build-using-namespace)

// ---- questions ----------------------------------------------------------------------------------

TEST(TextQuestion, TheStandardAndTheSmallOnesAreAllowed) {
  EXPECT_NO_THROW(check(TextQuestion{}));
  EXPECT_NO_THROW(check(small_question()));
}

TEST(TextQuestion, WhatIsOutsideItsRangeIsRefusedByName) {
  struct Bad {
    const char* field;
    void (*change)(TextQuestion&);
  };
  const Bad all[] = {
      {"heads: 3", [](TextQuestion& q) { q.shape.heads = 3; }},
      {"layers: 0", [](TextQuestion& q) { q.shape.layers = 0; }},
      {"width: 0", [](TextQuestion& q) { q.shape.width = 0; }},
      {"init: -1", [](TextQuestion& q) { q.deviation = -1.0; }},
      {"s: 0", [](TextQuestion& q) { q.context = 0; }},
      {"batch: 0", [](TextQuestion& q) { q.batch = 0; }},
      {"batch: 1000000", [](TextQuestion& q) { q.batch = 1'000'000, q.context = 100'000; }},
      {"loss: all", [](TextQuestion& q) { q.targets = transformer::Targets::all; }},
      {"contexts",
       [](TextQuestion& q) { q.shape.causal = true, q.contexts = Contexts::histograms; }},
      {"rate: 0", [](TextQuestion& q) { q.adam.rate = 0.0; }},
      {"beta1: 1", [](TextQuestion& q) { q.adam.first_decay = 1.0; }},
      {"beta2: 0", [](TextQuestion& q) { q.adam.second_decay = 0.0; }},
      {"eps: 0", [](TextQuestion& q) { q.adam.epsilon = 0.0; }},
      {"steps: 0", [](TextQuestion& q) { q.steps = 0; }},
      {"record-every: 0", [](TextQuestion& q) { q.every = 0; }},
      {"record-every: 1", [](TextQuestion& q) { q.every = 1, q.steps = 1'000'000; }},
      {"validate-every: 0", [](TextQuestion& q) { q.validate_every = 0; }},
      {"probe: 1", [](TextQuestion& q) { q.probe = {"bana"}; }},
  };
  for (const Bad& bad : all) {
    TextQuestion question = small_question();
    bad.change(question);
    expect_refusal(text_error_of([&] { check(question); }), Code::bad_value, bad.field);
    EXPECT_THROW(TextRun(question, small_corpus(), 0), Error) << bad.field;
  }
}

TEST(TextQuestion, ACorpusThatIsTooShortForAWindowIsRefused) {
  TextQuestion question = small_question();
  question.context = 50'000;
  expect_refusal(text_error_of([&] { TextRun(question, small_corpus(), 0); }), Code::bad_value,
                 "s: 50000");
}

// ---- the probe ----------------------------------------------------------------------------------

TEST(ChooseProbe, NamesFrequentTokensThenWordsOfMediumFrequency) {
  const std::vector<std::string> names = choose_probe(*small_corpus());
  ASSERT_EQ(names.size(), 6U);
  for (std::size_t k = 0; k < 3; ++k) EXPECT_EQ(names[k], small_corpus()->names[k]);
  EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(), 6U);
  const std::vector<std::string> words = invented_words();
  for (std::size_t k = 3; k < 6; ++k)
    EXPECT_NE(std::find(words.begin(), words.end(), names[k]), words.end());
}

/// A vocabulary of 2000 tokens, all of them words but those that are numbers.
text::Corpus made_up_corpus(const std::set<std::size_t>& not_words) {
  text::Corpus corpus;
  corpus.vocabulary = 2000;
  for (std::size_t k = 0; k < 2000; ++k) {
    std::string name = "word";
    for (std::size_t rest = k; rest > 0; rest /= 26) name += static_cast<char>('a' + rest % 26);
    corpus.names.push_back(not_words.contains(k) ? std::to_string(k) : name);
    corpus.counts.push_back(3000 - k);
  }
  return corpus;
}

TEST(ChooseProbe, TakesRanksNearAHundredthAThirtiethAndATenth) {
  const text::Corpus words = made_up_corpus({});
  const auto rank = [](const text::Corpus& corpus, const std::string& name) {
    return std::find(corpus.names.begin(), corpus.names.end(), name) - corpus.names.begin();
  };
  const auto ranks = [&](const text::Corpus& corpus) {
    std::vector<std::ptrdiff_t> found;
    for (const std::string& name : choose_probe(corpus)) found.push_back(rank(corpus, name));
    return found;
  };
  EXPECT_EQ(ranks(words), (std::vector<std::ptrdiff_t>{0, 1, 2, 20, 66, 200}));
  EXPECT_EQ(ranks(made_up_corpus({1, 20, 19, 21, 200, 201})),
            (std::vector<std::ptrdiff_t>{0, 1, 2, 18, 66, 199}));
  text::Corpus mostly_unused = made_up_corpus({});
  std::fill(mostly_unused.counts.begin() + 100, mostly_unused.counts.end(), 0);
  EXPECT_EQ(ranks(mostly_unused), (std::vector<std::ptrdiff_t>{0, 1, 2, 3, 4, 10}));
}

TEST(ProbeOf, TakesTheTokensThatTheQuestionNames) {
  TextQuestion question = small_question();
  question.probe = {"muza", "."};
  question.sentence = "Bana, deto unheard-of.";
  const transformer::Probe probe = probe_of(question, *small_corpus());
  EXPECT_EQ(names_of(*small_corpus(), probe.tokens), question.probe);
  EXPECT_EQ(probe.norms, probe.tokens);
  const auto names = names_of(*small_corpus(), probe.sentence);
  EXPECT_EQ(names,
            (std::vector<std::string>{"bana", "<unk>", "deto", "<unk>", "<unk>", "<unk>", "."}));
}

TEST(ProbeOf, NamesThatNoTokenHasAndSentencesWithoutTokensAreRefused) {
  const auto error_with = [](auto change) {
    TextQuestion question = small_question();
    change(question);
    return text_error_of([&] { static_cast<void>(probe_of(question, *small_corpus())); });
  };
  expect_refusal(error_with([](TextQuestion& q) {
                   q.probe = {"bana", "bano"};
                 }),
                 Code::bad_value, "did you mean 'bana'");
  expect_refusal(error_with([](TextQuestion& q) {
                   q.probe = {"bana", "bana"};
                 }),
                 Code::bad_value, "twice");
  expect_refusal(error_with([](TextQuestion& q) { q.sentence = "  "; }), Code::bad_value,
                 "sentence: 0 tokens");
  expect_refusal(error_with([](TextQuestion& q) {
                   for (int i = 0; i < 300; ++i) q.sentence += "bana ";
                 }),
                 Code::bad_value, "sentence: 300 tokens");
}

// Sentences of the text have ten words and a point.
TEST(ProbeOf, TheSentenceIsOneOfTheValidationPartThatFitsAContext) {
  TextQuestion question = small_question();
  question.context = 16;
  const auto sentence = names_of(*small_corpus(), probe_of(question, *small_corpus()).sentence);
  ASSERT_EQ(sentence.size(), 11U);
  EXPECT_EQ(sentence.back(), ".");
  EXPECT_EQ(std::count(sentence.begin(), sentence.end(), "."), 1);
  question.context = 8;
  EXPECT_EQ(probe_of(question, *small_corpus()).sentence,
            (std::vector<std::int32_t>(small_corpus()->validation.begin(),
                                       small_corpus()->validation.begin() + 8)));
}

TEST(ProbeOf, TheSentenceHasAsFewUnknownWordsAsThereAre) {
  TextQuestion question = small_question();
  question.context = 16;
  question.corpus.vocabulary = 8;
  const auto corpus = corpus_from(invented_text(6000, "TextTraining"), question);
  const auto unknown = [&](std::span<const std::int32_t> tokens) {
    const auto id = text::token_named(*corpus, "<unk>");
    return std::count(tokens.begin(), tokens.end(), id);
  };
  const auto point = text::token_named(*corpus, ".");
  const std::span<const std::int32_t> text = corpus->validation;
  std::ptrdiff_t fewest = 11;
  for (std::size_t i = 0; i + 11 < text.size(); ++i) {
    if (text[i] == point && text[i + 11] == point) {
      fewest = std::min(fewest, unknown(text.subspan(i + 1, 11)));
    }
  }
  EXPECT_EQ(unknown(probe_of(question, *corpus).sentence), fewest);
}

// ---- windows ------------------------------------------------------------------------------------

std::vector<std::int32_t> counting(std::size_t count) {
  std::vector<std::int32_t> text(count);
  for (std::size_t i = 0; i < count; ++i) text[i] = static_cast<std::int32_t>(i);
  return text;
}

TEST(WindowDraws, WindowOfAStepIsTheDrawOfThatNumber) {
  const std::vector<std::int32_t> text = counting(100);
  const WindowDraws draws(text, 9, 4, 5, 6);
  const Stream stream(5, "training/windows", 6);
  transformer::Windows windows;
  for (const std::uint64_t step : {7U, 0U, 3U}) {  // Property (1): in any order
    draws.draw(step, windows);
    ASSERT_EQ(windows.size(), 4U);
    for (std::size_t b = 0; b < 4; ++b) {
      const auto begin = static_cast<std::int32_t>(stream.uniform(4 * step + b) * 91.0);
      for (std::size_t i = 0; i < 10; ++i) {
        EXPECT_EQ(windows.window(b)[i], begin + static_cast<std::int32_t>(i));
      }
    }
  }
}

// 4 places, 40000 draws: a count is binomial with a deviation of √(40000 · 3/16) = 87.
TEST(WindowDraws, EveryPlaceIsEquallyLikely) {
  const std::vector<std::int32_t> text = counting(7);
  const WindowDraws draws(text, 3, 40'000, dewpoint::test::seed(), 0);
  transformer::Windows windows;
  draws.draw(0, windows);
  std::vector<double> counts(4);
  for (std::size_t i = 0; i < windows.size(); ++i) {
    counts[static_cast<std::size_t>(windows.window(i)[0])] += 1.0;
  }
  for (const double count : counts) {
    EXPECT_NEAR(count, 10'000.0, dewpoint::test::kSigmas * 87.0);
  }
}

TEST(EvenWindows, AreEvenlySpacedAndNoMoreThanThereArePlaces) {
  const transformer::Windows windows = even_windows(counting(107), 7, 30);
  ASSERT_EQ(windows.size(), 30U);
  EXPECT_EQ(windows.window(0)[0], 0);
  for (std::size_t i = 0; i + 1 < 30; ++i) {  // Property (2)
    const std::int32_t distance = windows.window(i + 1)[0] - windows.window(i)[0];
    EXPECT_TRUE(distance == 3 || distance == 4) << distance;
  }
  EXPECT_EQ(even_windows(counting(10), 7, 30).size(), 3U);
  EXPECT_EQ(even_windows(counting(8), 7, 30).size(), 1U);
  EXPECT_EQ(even_windows(counting(7), 7, 30).size(), 0U);
}

}  // namespace
}  // namespace dewpoint::experiments
