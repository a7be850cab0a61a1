// Questions about training transformers, on a text or on a chain: what is complete, what is absent,
// what a run gets.
//
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>

#include "dewpoint/core/error.hpp"
#include "dewpoint/experiments/stored_question.hpp"
#include "dewpoint/experiments/train_layers_question.hpp"
#include "dewpoint/experiments/train_scaling_question.hpp"
#include "dewpoint/experiments/train_text_question.hpp"

namespace dewpoint::experiments {
namespace {

using question::canonical_text;
using question::Point;
using question::point_of;
using question::question_of;

template <class Question>
Question complete(const Point& given) {
  return resolved(question_of<Question>(given));
}

template <class Question>
std::string refusal(const Point& given) {
  try {
    (void)complete<Question>(given);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

const Point kText = {{"corpus", "text.txt"}};

Point text_with(const Point& more) {
  Point point = kText;
  for (const auto& [name, value] : more) point[name] = value;
  return point;
}

// Property (1) of resolved(), also by way of a point.
template <class Question>
void expect_resolved_once(const Point& given) {
  const Question once = complete<Question>(given);
  const std::string text = canonical_text(point_of(once));
  EXPECT_EQ(canonical_text(point_of(resolved(once))), text);
  EXPECT_EQ(canonical_text(point_of(question::restored<Question>(point_of(once)))), text);
}

TEST(TrainTextQuestion, IsResolvedOnce) {
  for (const Point& more :
       {Point{}, Point{{"beta1", 0.9}, {"eps", 1e-7}, {"validate-every", 500.0}},
        Point{{"causal", true}, {"loss", "all"}, {"scaling", "ssmax"}, {"probe", "a,b"}},
        Point{{"residual", true}, {"layers", 3.0}, {"branch", 0.0}, {"norm", "pre"}},
        Point{{"tokenizer", "bpe"}, {"start", 0.3}, {"m", 24.0}, {"validate-every", 7.0}}}) {
    expect_resolved_once<TrainTextQuestion>(text_with(more));
    expect_resolved_once<TrainScalingQuestion>(
        text_with({{"scaling", "power:d=4"}, {"evaluations", ""}, {"branch", 0.0}}));
  }
}

TEST(TrainLayersQuestion, IsResolvedOnce) {
  for (const Point& given :
       {Point{}, Point{{"pi", "0.1,0.9"}, {"chain", "cycle"}, {"branch", 0.0}, {"beta2", 0.999}},
        Point{{"causal", true}, {"scaling", "log-n"}, {"value", "matrix"}}}) {
    expect_resolved_once<TrainLayersQuestion>(given);
  }
}

// Points of earlier versions, by the names that they have in keys: what was added since is absent
// where it has its standard.
TEST(TrainTextQuestion, HasThePointThatItHad) {
  const std::string text =
      R"({"batch":256,"branch":1,"causal":false,"corpus":"text.txt","heads":1,"layers":1,)"
      R"("loss":"last","m":256,"norm":"none","rate":0.00015,"record-every":50,"residual":false,)"
      R"("s":32,"start":1,"steps":20000,"tokenizer":"words","value":"none","vocabulary":2000})";
  EXPECT_EQ(canonical_text(point_of(complete<TrainTextQuestion>(kText))), text);
  EXPECT_EQ(canonical_text(point_of(complete<TrainTextQuestion>(text_with(
                {{"beta1", 0.9}, {"beta2", 0.999}, {"eps", 1e-8}, {"scaling", "constant"}})))),
            text);
}

TEST(TrainLayersQuestion, HasThePointThatItHad) {
  EXPECT_EQ(
      canonical_text(point_of(complete<TrainLayersQuestion>({}))),
      R"({"batch":256,"branch":1,"causal":false,"chain":"lambda","heads":1,"lambda":0.8,"layers":2,)"
      R"("m":256,"norm":"none","pi":"0.75,0.19,0.05,0.01","rate":0.00015,"record-every":10,)"
      R"("residual":true,"s":19,"sequences":100000,"start":1,"steps":1500,"value":"none"})");
}

TEST(TrainScalingQuestion, HasThePointThatItHad) {
  EXPECT_EQ(
      canonical_text(point_of(complete<TrainScalingQuestion>(kText))),
      R"({"branch":1,"causal":true,"corpus":"text.txt","evaluations":"constant log-n llama-4 yarn",)"
      R"("heads":4,"layers":2,"m":128,"norm":"pre","rate":0.001,"record-every":100,"residual":true,)"
      R"("s":128,"scaling":"constant","start":4,"steps":2000,"target":5,"tokenizer":"words",)"
      R"("tokens":4096,"value":"matrix","vocabulary":2000})");
}

TEST(TrainTextQuestion, EveryPartReachesTheRun) {
  const TextQuestion run = run_of(complete<TrainTextQuestion>(text_with({{"tokenizer", "bpe"},
                                                                         {"vocabulary", 300.0},
                                                                         {"s", 8.0},
                                                                         {"batch", 16.0},
                                                                         {"m", 24.0},
                                                                         {"layers", 3.0},
                                                                         {"heads", 4.0},
                                                                         {"residual", true},
                                                                         {"branch", 0.0},
                                                                         {"value", "matrix"},
                                                                         {"norm", "pre"},
                                                                         {"causal", true},
                                                                         {"start", 3.0},
                                                                         {"scaling", "ssmax"},
                                                                         {"loss", "all"},
                                                                         {"rate", 0.01},
                                                                         {"beta1", 0.8},
                                                                         {"beta2", 0.98},
                                                                         {"eps", 1e-6},
                                                                         {"steps", 40.0},
                                                                         {"record-every", 5.0},
                                                                         {"validate-every", 20.0},
                                                                         {"probe", "a,\\,,b"},
                                                                         {"sentence", "a b."}})),
                                  7);
  EXPECT_EQ(run.corpus.file, "text.txt");
  EXPECT_EQ(run.corpus.tokenizer, "bpe");
  EXPECT_EQ(run.corpus.vocabulary, 300U);
  EXPECT_EQ(run.context, 8U);
  EXPECT_EQ(run.batch, 16U);
  EXPECT_EQ(run.shape, (transformer::Shape{.width = 24,
                                           .layers = 3,
                                           .heads = 4,
                                           .residual = true,
                                           .branch = 1.0 / 3.0,
                                           .value_matrix = true,
                                           .causal = true,
                                           .pre_norm = true,
                                           .scaling = "ssmax:n0=8"}));
  EXPECT_EQ(run.deviation, 0.125);
  EXPECT_EQ(run.targets, transformer::Targets::all);
  EXPECT_EQ(run.adam.rate, 0.01);
  EXPECT_EQ(run.adam.first_decay, 0.8);
  EXPECT_EQ(run.adam.second_decay, 0.98);
  EXPECT_EQ(run.adam.epsilon, 1e-6);
  EXPECT_EQ(run.steps, 40U);
  EXPECT_EQ(run.every, 5U);
  EXPECT_EQ(run.validate_every, 20U);
  EXPECT_EQ(run.probe, (std::vector<std::string>{"a", ",", "b"}));
  EXPECT_EQ(run.sentence, "a b.");
  EXPECT_EQ(run.seed, 7U);
}

TEST(TrainTextQuestion, HasTheTokensOfATokenizersFile) {
  EXPECT_EQ(complete<TrainTextQuestion>(text_with({{"tokenizer", "t.json"}})).source.vocabulary,
            0U);
  EXPECT_EQ(complete<TrainTextQuestion>(text_with({{"tokenizer", "bpe"}})).source.vocabulary,
            2000U);
}

TEST(TrainTextQuestion, IsKeptAndReadBack) {
  const auto asked = complete<TrainTextQuestion>(
      text_with({{"start", 0.3}, {"scaling", "ssmax"}, {"causal", true}, {"probe", "a,b"}}));
  const auto stored = stored_parameters(filled(asked));
  const auto read = stored_question<TrainTextQuestion>({stored.begin(), stored.end()});
  EXPECT_EQ(canonical_text(point_of(resolved(read))), canonical_text(point_of(asked)));
  EXPECT_EQ(read.learning.adam.beta1, 0.9);
  EXPECT_THROW((void)stored_question<TrainTextQuestion>({{"nosuch", "1"}}), Error);
  EXPECT_THROW((void)stored_question<TrainTextQuestion>({{"m", "many"}}), Error);
}

TEST(TrainQuestions, WhatDoesNotFitIsRefusedByName) {
  const auto refused = [](const std::string& told, const std::string& begin) {
    EXPECT_TRUE(told.starts_with(begin)) << told;
  };
  refused(refusal<TrainTextQuestion>({}), "corpus: is missing");
  refused(refusal<TrainTextQuestion>({{"corpus", ""}}), "corpus: is missing");
  refused(refusal<TrainScalingQuestion>({}), "corpus: is missing");
  refused(refusal<TrainTextQuestion>(text_with({{"heads", 3.0}})), "heads: 3 ");
  refused(refusal<TrainTextQuestion>(text_with({{"branch", 0.5}})), "branch: 0.5 ");
  refused(refusal<TrainTextQuestion>(text_with({{"loss", "all"}})), "loss: all ");
  refused(refusal<TrainTextQuestion>(text_with({{"scaling", "ssmax"}})), "scaling: 'ssmax:n0=32'");
  refused(refusal<TrainTextQuestion>(text_with({{"probe", "a,,b"}})), "probe: 'a,,b' ");
  refused(refusal<TrainScalingQuestion>(text_with({{"causal", false}})), "loss: all ");
  refused(refusal<TrainScalingQuestion>(text_with({{"evaluations", "nosuch"}})), "scaling: ");
  refused(refusal<TrainLayersQuestion>({{"batch", 2e5}}), "batch: 200000 ");
  refused(refusal<TrainLayersQuestion>({{"chain", "ring"}}), "chain: 'ring' ");
}

}  // namespace
}  // namespace dewpoint::experiments
