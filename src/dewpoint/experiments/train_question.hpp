// What can be asked of training one attention layer on a Markov chain, and the run that answers.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "dewpoint/experiments/training_parts.hpp"
#include "dewpoint/experiments/training_run.hpp"
#include "dewpoint/question/field.hpp"
#include "dewpoint/store/study.hpp"

namespace dewpoint::experiments {

// ---- the chain ----------------------------------------------------------------------------------

struct ChainQuestion {
  question::Numbers pi = {{0.75, 0.19, 0.05, 0.01}};
  std::optional<double> lambda = 0.8;
  std::string chain = "lambda";
};

template <class Visitor>
void describe(Visitor& visit, ChainQuestion& q) {
  using namespace question;  // NOLINT(google-build-using-namespace): the words of a description
  visit("pi", q.pi, "stationary law of the tokens, which sums to 1");
  visit("lambda", q.lambda, between(0.0, 1.0), "how often a token repeats, for the chain lambda");
  visit("chain", q.chain,
        "one of lambda, metropolis, birth-death, cycle; verbs take a file of a row-stochastic "
        "matrix too");
}

/// One of the four, or that of a file. Throws Error{bad_value} naming the field, or the file and
/// what is wrong in it.
[[nodiscard]] training::Chain chain_of(const ChainQuestion& question);
/// For points of studies, which are the whole question: what a file held would not be in them.
/// Throws Error{bad_value} unless the chain is one of the four.
void require_named(const ChainQuestion& question);
/// pi from the most frequent token to the rarest: two orders of one law are one question.
[[nodiscard]] ChainQuestion sorted(ChainQuestion question);

// ---- the question -------------------------------------------------------------------------------

struct TrainQuestion {
  ChainQuestion chain;
  std::optional<TrainingData> data;
  std::optional<std::size_t> s, sequences, batch;
  std::optional<std::size_t> m;
  std::optional<double> init;
  bool residual = false;
  std::optional<double> score_scale = 1.0;
  Optimiser optimiser = Optimiser::adam;
  AdamQuestion adam{.rate = {}, .beta1 = {}, .beta2 = {}, .eps = {}};
  std::optional<bool> double_precision;
  std::optional<std::size_t> steps;
  std::optional<double> time, record_every;
  std::optional<double> rtol, atol;
  std::optional<training::FlowMethod> method;
  std::optional<double> rise;
};

template <class Visitor>
void describe(Visitor& visit, TrainQuestion& q) {
  using namespace question;  // NOLINT(google-build-using-namespace): the words of a description
  describe(visit, q.chain);
  visit("data", q.data, "sequences, their expectation, or the limit of long contexts",
        otherwise("sampled; population for a flow"));
  visit("s", q.s, in(1.0, 1e4), "context length", also("context"), otherwise("19"), live(64.0));
  visit("sequences", q.sequences, in(1.0, 1e8), "sequences that are drawn", otherwise("100000"),
        live(1e6));
  visit("batch", q.batch, in(0.0, 1e8), "sequences per step, 0 for all", otherwise("0"), live(1e6));
  visit("m", q.m, in(1.0, 8192.0), "width of the model", also("width"),
        otherwise("256; 16 for a flow"), live(512.0));
  visit("init", q.init, at_least(0.0), "deviation of the initial weights",
        otherwise("1/m; 0.001 for a flow"));
  visit("residual", q.residual, "add what goes into a layer to what comes out of it");
  visit("score-scale", q.score_scale, above(0.0, 1e6), "factor on the scores of attention");
  visit("optimiser", q.optimiser, "descent is plain gradient descent, flow its limit");
  describe(visit, q.adam, otherwise("1.5e-4; 0.1 for descent"));
  visit("double", q.double_precision, "Adam in double instead of single precision");
  visit("steps", q.steps, in(1.0, 1e12), "steps of adam and descent", otherwise("3000"),
        live(20000.0));
  visit("time", q.time, above(0.0), "time of a flow", otherwise("200"), live(2000.0));
  visit("record-every", q.record_every, above(0.0), "steps, or time, between two records",
        formerly("record_every"), also("every"), otherwise("5; 0.25 for a flow"));
  visit("rtol", q.rtol, in(1e-14, 0.01), "relative tolerance of a flow", otherwise("1e-8"));
  visit("atol", q.atol, in(1e-14, 0.01), "absolute tolerance of a flow", otherwise("1e-12"));
  visit("method", q.method, "method of a flow; auto is Adams, then BDF", otherwise("auto"));
  visit("rise", q.rise, between(0.0, 1.0), "how far attention must rise to count as a cycle",
        otherwise("0.1; 0.02 for descent, 0.005 for a flow"));
}

/// Complete, with the optimiser's own standards; pi from the most frequent token to the rarest;
/// without what these data and this chain have no use for. Throws Error{bad_value} naming what
/// belongs to another optimiser, or does not fit the rest.
///   Properties  (1) resolved(resolved(q)) = resolved(q).
[[nodiscard]] TrainQuestion resolved(TrainQuestion question);
/// The same where the chain is known, whatever has become of its file.
[[nodiscard]] TrainQuestion resolved(TrainQuestion question, const training::Chain& chain);

/// For those who ask once: a study may sweep over data, where sequences matter to some. Throws
/// Error{bad_value} naming what is given and has no effect.
void refuse_idle(const TrainQuestion& question);

// ---- the run ------------------------------------------------------------------------------------

/// A complete question, its run and how its stages are looked for.
struct Training {
  TrainQuestion asked;
  TrainingQuestion run;
  training::StageThresholds thresholds;
};

/// Resolved first; throws as that does.
[[nodiscard]] Training training_of(const TrainQuestion& question, std::uint64_t seed);
/// Of a complete question whose chain is known.
[[nodiscard]] Training training_of(const TrainQuestion& complete, training::Chain chain,
                                   std::uint64_t seed);

inline constexpr const char* kTrain = "train";  // the experiment of a run

/// The run as a study: what was asked, recorded and found, and the state to go on from.
[[nodiscard]] store::StudyRecord train_study(const Training& training, const TrainingRun& run,
                                             const training::Stages& stages,
                                             const std::string& command);

}  // namespace dewpoint::experiments
