// Training on text: the same bytes whatever happens on the way, and something is learned.
//
// SPDX-License-Identifier: Apache-2.0
#include "dewpoint/experiments/text_training.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <thread>

#include "dewpoint/experiments/text_windows.hpp"
#include "dewpoint/transformer/reference.hpp"
#include "experiments/text_cases.hpp"
#include "transformer/model_cases.hpp"

namespace dewpoint::experiments {
namespace {

using namespace dewpoint::experiments::test;  // NOLINT(google-build-using-namespace)
using transformer::Look;

std::vector<double> steps_of(const TextRun& run) {
  std::vector<double> steps;
  for (const Look& look : run.looks()) steps.push_back(look.step);
  return steps;
}

/// Kinds of models and of windows.
std::vector<TextQuestion> some_questions() {
  std::vector<TextQuestion> all(5, small_question());
  all[1].shape.layers = 2;
  all[1].shape.heads = 4;
  all[1].shape.value_matrix = true;
  all[2].contexts = Contexts::sequences;
  all[2].shape.residual = false;
  all[3].shape.causal = true;
  all[3].targets = transformer::Targets::all;
  all[4] = all[3];
  all[4].shape.scaling = "ssmax:n0=8";
  return all;
}

// ---- a function of question and replica ---------------------------------------------------------

TEST(TextRun, ThreadsChangeNoByte) {  // Property (1)
  for (const TextQuestion& question : some_questions()) {
    const auto one = finished_text(question, 0, 1);
    expect_same_attachments(*one, *finished_text(question, 0, 2));
    expect_same_attachments(*one, *finished_text(question, 0, 5));
  }
}

TEST(TextRun, ReplicasHaveWeightsAndWindowsOfTheirOwn) {
  TextQuestion question = small_question();
  question.steps = 1;
  const auto first = finished_text(question, 0), second = finished_text(question, 1);
  EXPECT_NE(first->looks()[0].embedding_size, second->looks()[0].embedding_size);
  expect_same_attachments(*first, *finished_text(question, 0));
}

TEST(TextRun, LooksAreAtMultiplesOfBothIntervalsAndAtTheEnd) {
  TextQuestion question = small_question();
  question.steps = 57;
  question.every = 20;
  question.validate_every = 25;
  const auto run = finished_text(question);
  EXPECT_EQ(steps_of(*run), (std::vector<double>{0, 20, 25, 40, 50, 57}));
  std::vector<double> validated;
  for (const Look& look : run->looks()) {
    if (!std::isnan(look.validation_loss)) validated.push_back(look.step);
  }
  EXPECT_EQ(validated, (std::vector<double>{0, 25, 50, 57}));
  EXPECT_TRUE(std::isnan(run->looks()[0].loss));
  EXPECT_TRUE(std::isnan(run->looks()[0].gradient_size));
  for (const Look& look : run->looks().subspan(1)) {
    EXPECT_GT(look.loss, 0.0);
    EXPECT_GT(look.gradient_size, 0.0);
  }
}

TEST(TextRun, AWatcherSeesEveryLookAndProgressRises) {
  TextRun run(small_question(), small_corpus(), 0);
  std::vector<std::size_t> seen;
  std::vector<double> shares;
  EXPECT_EQ(run.tokens_per_second(), 0.0);
  run.advance({1, {}, [&](double done, double total) { shares.push_back(done / total); }},
              [&](const TextRun& watched) { seen.push_back(watched.looks().size()); });
  EXPECT_EQ(seen, (std::vector<std::size_t>{1, 2, 3, 4, 5, 6, 7}));
  EXPECT_TRUE(std::is_sorted(shares.begin(), shares.end()));
  EXPECT_EQ(shares.back(), 1.0);
  EXPECT_GT(run.tokens_per_second(), 0.0);
}

// ---- stop and resume ----------------------------------------------------------------------------

TEST(TextRun, StoppedAndResumedIsTheUninterruptedRun) {  // Property (2)
  for (const TextQuestion& question : some_questions()) {
    std::stop_source source;
    TextRun first(question, small_corpus(), 0);
    const Error error = text_error_of([&] {
      first.advance({1, source.get_token(), {}}, [&](const TextRun& run) {
        if (run.done() == 30) source.request_stop();
      });
    });
    EXPECT_EQ(error.code(), Code::stopped);
    EXPECT_EQ(first.looks().size(), 4U);
    TextRun second(question, small_corpus(), 0);
    second.restore(study_of(first));
    EXPECT_EQ(second.done(), 30U);
    second.advance({});
    expect_same_attachments(*finished_text(question), second);
  }
}

// The stop comes from outside at a moment that nobody chose, between two looks: the losses since
// the last look are kept too.
TEST(TextRun, AStopBetweenTwoLooksLosesNoStep) {
  TextQuestion question = small_question();
  question.steps = 1'000'000'000;
  question.every = question.validate_every = 1'000'000'000;
  std::stop_source source;
  TextRun first(question, small_corpus(), 0);
  const std::jthread timer([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    source.request_stop();
  });
  const Error error = text_error_of([&] { first.advance({1, source.get_token(), {}}); });
  EXPECT_EQ(error.code(), Code::stopped);
  EXPECT_EQ(first.looks().size(), 1U);
  question.steps = first.done() + 20;
  TextRun second(question, small_corpus(), 0);
  second.restore(study_of(first));
  second.advance({});
  expect_same_attachments(*finished_text(question), second);
}

TEST(TextRun, ALongerRunGoesOnWithAShorterOne) {  // Property (3)
  TextQuestion question = small_question();
  const auto straight = finished_text(question);
  question.steps = 33;
  const auto half = finished_text(question);
  question.steps = 60;
  TextRun longer(question, small_corpus(), 0);
  longer.restore(study_of(*half));
  longer.advance({});
  EXPECT_EQ(study_of(*straight).attachments[0].bytes, study_of(longer).attachments[0].bytes);
  EXPECT_EQ(steps_of(longer), (std::vector<double>{0, 10, 20, 30, 33, 40, 50, 60}));
}

TEST(TextRun, TheStateOfAnotherConfigurationIsRefused) {
  const auto run = finished_text(small_question());
  struct Other {
    const char* field;
    void (*change)(TextQuestion&);
  };
  const Other others[] = {
      {"width", [](TextQuestion& q) { q.shape.width = 24; }},
      {"residual", [](TextQuestion& q) { q.shape.residual = false; }},
      {"batch", [](TextQuestion& q) { q.batch = 33; }},
      {"context", [](TextQuestion& q) { q.context = 9; }},
      {"contexts", [](TextQuestion& q) { q.contexts = Contexts::sequences; }},
      {"adam", [](TextQuestion& q) { q.adam.rate = 0.02; }},
      {"init", [](TextQuestion& q) { q.deviation = 0.2; }},
      {"seed", [](TextQuestion& q) { q.seed += 1; }},
      {"probe",
       [](TextQuestion& q) {
         q.probe = {"bana", "bare"};
       }},
      {"sentence", [](TextQuestion& q) { q.sentence = "bana bare"; }},
      {"validation_windows", [](TextQuestion& q) { q.validation_windows = 99; }},
  };
  for (const Other& other : others) {
    TextQuestion question = small_question();
    other.change(question);
    TextRun into(question, small_corpus(), 0);
    const Error error = text_error_of([&] { into.restore(study_of(*run)); });
    expect_refusal(error, Code::bad_value, std::string(other.field) + ": found");
    EXPECT_TRUE(into.looks().empty());
    EXPECT_EQ(into.done(), 0U);
  }
  TextRun replica(small_question(), small_corpus(), 1);
  expect_refusal(text_error_of([&] { replica.restore(study_of(*run)); }), Code::bad_value,
                 "replica");
}

TEST(TextRun, TheStateOfAnotherLawOfTheLogitsIsRefused) {
  TextQuestion question = small_question();
  question.shape.causal = true;
  question.targets = transformer::Targets::all;
  TextQuestion scaled = question;
  scaled.shape.scaling = transformer::scaling_text("ssmax", question.context);
  const auto run = finished_text(question), other = finished_text(scaled);
  EXPECT_NE(run->looks().back().loss, other->looks().back().loss);
  TextRun into(scaled, small_corpus(), 0), back(question, small_corpus(), 0);
  expect_refusal(text_error_of([&] { into.restore(study_of(*run)); }), Code::bad_value,
                 R"(scaling: found "constant", allowed: "ssmax:n0=8")");
  expect_refusal(text_error_of([&] { back.restore(study_of(*other)); }), Code::bad_value,
                 "scaling: found");
  into.restore(study_of(*other));
  EXPECT_EQ(into.done(), scaled.steps);
}

TEST(TextRun, KeepsTheLossOfEveryBatch) {
  const auto run = finished_text(small_question());
  ASSERT_EQ(run->batch_losses().size(), run->question().steps);
  const Look& last = run->looks().back();
  const auto since = static_cast<std::size_t>(last.step - run->looks().rbegin()[1].step);
  double sum = 0.0;
  for (const double loss : run->batch_losses().last(since)) sum += loss;
  EXPECT_DOUBLE_EQ(sum / static_cast<double>(since), last.loss);
}

TEST(TextRun, TheStateOfAnotherCorpusIsRefused) {
  const auto run = finished_text(small_question());
  TextQuestion fewer = small_question();
  fewer.corpus.vocabulary = 20;
  const std::string text = invented_text(6000, "TextTraining");
  TextRun cut(fewer, corpus_from(text, fewer), 0);
  expect_refusal(text_error_of([&] { cut.restore(study_of(*run)); }), Code::bad_value,
                 "vocabulary");
  std::vector<std::string> words = invented_words();
  words[17] += "x";
  const std::string renamed = invented_text(6000, "TextTraining", words);
  TextRun other(small_question(), corpus_from(renamed, small_question()), 0);
  expect_refusal(text_error_of([&] { other.restore(study_of(*run)); }), Code::bad_value, "corpus");
}

TEST(TextRun, DamagedAttachmentsAreRefused) {
  const auto run = finished_text(small_question());
  const auto expect_refused = [](const store::StudyRecord& study, const char* part) {
    TextRun into(small_question(), small_corpus(), 0);
    expect_refusal(text_error_of([&] { into.restore(study); }), Code::malformed_file, part);
    EXPECT_EQ(into.done(), 0U);
  };
  store::StudyRecord study = study_of(*run);
  ASSERT_EQ(study.attachments[0].name, "state.safetensors");
  ASSERT_EQ(study.attachments[1].name, "looks");
  study.attachments[0].bytes.pop_back();
  expect_refused(study, "state.safetensors");
  study = study_of(*run);
  study.attachments[1].bytes.pop_back();
  expect_refused(study, "looks");
  study.attachments[1].bytes = transformer::to_bytes(run->looks().subspan(1));
  expect_refused(study, "looks");  // the first one is missing
  study.attachments[1].bytes = transformer::to_bytes({});
  expect_refused(study, "looks");
}

// ---- what is computed ---------------------------------------------------------------------------

// Single precision against double: logits of the start are below 1, out of sums of at most 2 m
// products, so that a loss is off by less than (4 m + 10) ε.
TEST(TextRun, TheValidationLossIsTheMeanOverEvenlySpacedWindows) {
  for (TextQuestion question : some_questions()) {
    question.steps = 1;
    const TextRun start(question, small_corpus(), 0);
    const auto weights = transformer::test::converted<double>(start.shape(), start.state().weights);
    const double expected = transformer::reference_loss<double>(
        start.shape(), weights, even_windows(small_corpus()->validation, question.context, 100),
        question.targets);
    EXPECT_NEAR(finished_text(question)->looks()[0].validation_loss, expected,
                74.0 * std::numeric_limits<float>::epsilon());
  }
}

TEST(TextRun, TheLossOfALookIsTheMeanOverTheStepsBeforeIt) {
  TextQuestion question = small_question();
  question.every = 1;
  const auto fine = finished_text(question);
  question.every = 10;
  const auto coarse = finished_text(question);
  for (std::size_t i = 1; i < coarse->looks().size(); ++i) {
    double sum = 0.0;
    for (std::size_t k = 10 * i - 9; k <= 10 * i; ++k) sum += fine->looks()[k].loss;
    EXPECT_NEAR(coarse->looks()[i].loss, sum / 10.0, 1e-14 * sum);
    EXPECT_EQ(coarse->looks()[i].gradient_size, fine->looks()[10 * i].gradient_size);
  }
}

// With ε = 1 Adam divides by about 1, so that a step is at most rate · 2 δ off where gradients are
// off by δ. Sums over the V tokens, the rows of the batch and the width round V + s · batch + 3 m
// times; the absolute values of what is summed are less than 1 together, as weights are below 1/2.
// Slopes of such small weights change by less than 5 per unit, so that an error made in the first
// of ten steps has grown by (1 + 5 rate)^10 < 2 in the last.
TEST(TextRun, HistogramsAndSequencesAgree) {
  TextQuestion question = small_question();
  question.steps = 10;
  question.adam.epsilon = 1.0;
  const auto start = TextRun(question, small_corpus(), 0).state().weights;
  const auto histograms = finished_text(question);
  question.contexts = Contexts::sequences;
  const auto sequences = finished_text(question);
  const double roundings = 32.0 + 8.0 * 32.0 + 3.0 * 16.0;
  const double slope_error = 0.5 * roundings * std::numeric_limits<float>::epsilon();
  const double bound = 2.0 * 10.0 * question.adam.rate * 2.0 * slope_error;
  const auto& found = histograms->state().weights;
  EXPECT_LT(transformer::test::largest_difference(found, sequences->state().weights), bound);
  EXPECT_GT(transformer::test::largest_difference(found, start), 100.0 * bound);
}

// Half of what one word says about the next one is enough.
TEST(TextRun, LearnsMoreThanHowFrequentWordsAre) {
  TextQuestion question = small_question();
  question.steps = 400;
  question.every = question.validate_every = 100;
  const auto run = finished_text(question);
  const double ignorance = text::unigram_entropy(*small_corpus());
  EXPECT_LT(run->looks().back().validation_loss, 0.5 * (ignorance + succession_entropy()));
  EXPECT_GT(run->looks()[0].validation_loss, ignorance);
}

TEST(TextRun, ARateThatDivergesIsFound) {
  TextQuestion question = small_question();
  question.adam.rate = 1e6;
  question.every = 1;
  const auto run = finished_text(question);
  ASSERT_TRUE(run->diverged());
  EXPECT_LT(*run->diverged(), question.steps);
  EXPECT_EQ(run->attachments()[0].name, "looks");
  const auto before = transformer::to_bytes(run->looks());
  run->advance({});
  EXPECT_EQ(transformer::to_bytes(run->looks()), before);
}

// One step of a size that makes the loss meaningless, and no batch after it to show that.
TEST(TextRun, ALastStepThatDivergesIsFound) {
  TextQuestion question = small_question();
  question.adam.rate = 1e6;
  question.steps = 1;
  const auto run = finished_text(question);
  ASSERT_TRUE(run->diverged());
  EXPECT_EQ(*run->diverged(), 0U);
  EXPECT_EQ(run->looks().size(), 1U);
  EXPECT_EQ(run->attachments()[0].name, "looks");
}

// ---- frames and folder --------------------------------------------------------------------------

TEST(TextFrames, HaveTheShapesSaid) {
  const auto run = finished_text(some_questions()[1]);
  const std::vector<Frame> frames = text_frames(*run);
  ASSERT_EQ(frames.size(), 3U);
  const Frame& looks = frames[0];
  EXPECT_EQ(looks.name(), "text run");
  EXPECT_EQ(looks.variable("attention").cells.size(), 7U * 2 * 4 * 6 * 6);
  EXPECT_EQ(looks.variable("norms").cells.size(), 7U * 6);
  EXPECT_EQ(looks.variable("self_attention").cells.size(), 7U * run->probe().sentence.size());
  EXPECT_EQ(looks.dimension("query").labels, choose_probe(run->corpus()));

  const Frame& vocabulary = frames[1];
  EXPECT_EQ(vocabulary.name(), "vocabulary");
  EXPECT_EQ(vocabulary.dimension("token").labels, run->corpus().names);
  double sum = 0.0;
  for (const Estimate& one : vocabulary.variable("frequency").cells) sum += one.mean;
  EXPECT_NEAR(sum, 1.0, 32.0 * std::numeric_limits<double>::epsilon());
  EXPECT_EQ(vocabulary.variable("tokens").cells[0].mean, 32.0);
  EXPECT_EQ(vocabulary.variable("unigram_entropy").cells[0].mean,
            text::unigram_entropy(run->corpus()));

  const Frame& retraction = frames[2];
  EXPECT_EQ(retraction.name(), "retraction");
  const TextNumbers numbers = text_numbers(run->looks());
  for (std::size_t k = 0; k < 6; ++k) {
    const Estimate& depth = retraction.variable("depth").cells[k];
    EXPECT_EQ(depth.samples == 0, std::isnan(numbers.retraction[k]));
    if (depth.samples > 0) {
      EXPECT_EQ(depth.mean, numbers.retraction[k]);
    }
  }
}

TEST(TextRun, AStudyKeepsItAndTheVocabulary) {
  const auto run = finished_text(small_question());
  const dewpoint::test::ScratchFolder folder;
  store::StudyRecord study = study_of(*run);
  study.frames = text_frames(*run);
  store::write_study(folder / "text.study", study);
  TextQuestion longer = small_question();
  longer.steps = 80;
  TextRun gone_on(longer, small_corpus(), 0);
  gone_on.restore(store::read_study(folder / "text.study"));
  EXPECT_EQ(gone_on.done(), 60U);
  EXPECT_EQ(study.attachments.back().name, "token_mappings.json");
}

TEST(SaveModelFolder, WritesAModelAndItsVocabulary) {
  const auto run = finished_text(small_question());
  const dewpoint::test::ScratchFolder folder;
  save_model_folder(*run, folder / "model");
  for (const char* name : {"config.json", "model.safetensors", "token_mappings.json"}) {
    EXPECT_TRUE(std::filesystem::exists(folder / "model" / name)) << name;
  }
}

}  // namespace
}  // namespace dewpoint::experiments
