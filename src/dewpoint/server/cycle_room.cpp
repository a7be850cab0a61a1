// Focus and dilution while a model trains: `dewpoint train`.
//
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <mutex>

#include "dewpoint/core/frame_json.hpp"
#include "dewpoint/experiments/training_options.hpp"
#include "dewpoint/server/job.hpp"
#include "dewpoint/server/refusal.hpp"
#include "dewpoint/server/room.hpp"
#include "dewpoint/training/recorder.hpp"
#include "dewpoint/training/stages.hpp"

namespace dewpoint::server {
namespace {

using experiments::TrainingRun;
using experiments::TrainQuestion;

constexpr double kMostRecords = 4000.0;
constexpr std::size_t kMostShownRecords = 200;  // of a run that is under way
constexpr std::chrono::milliseconds kShownEvery{300};

std::vector<training::Record> thinned(std::span<const training::Record> records) {
  const std::size_t stride = 1 + records.size() / kMostShownRecords;
  std::vector<training::Record> some;
  for (std::size_t i = 0; i < records.size(); i += stride) some.push_back(records[i]);
  if ((records.size() - 1) % stride != 0) some.push_back(records.back());
  return some;
}

Json frames_json(const std::vector<Frame>& frames) {
  Json all = Json::object();
  for (const Frame& frame : frames) all[frame.name()] = means_json(frame);
  return all;
}

Json run_json(const TrainQuestion& question, double time, bool complete, Json frames) {
  return {{"complete", complete},
          {"time", time},
          {"until", question.run.until},
          {"best_loss", experiments::best_loss(question.run)},
          {"frames", std::move(frames)}};
}

std::vector<Field> cycle_fields() {
  Field law = list_field("pi", "0.75,0.19,0.05,0.01", 1e-12, 1.0, 12, "Stationary law; sum 1");
  law.increasing = false;
  return {
      word_field("chain", "lambda", {"lambda", "metropolis", "birth-death", "cycle"}, "Chain"),
      law,
      number_field("lambda", 0.8, 0.0, 0.999, "How often a token repeats"),
      word_field("optimiser", "adam", {"adam", "descent", "flow"}, "Optimiser"),
      word_field("data", nullptr, {"sampled", "exact", "population"}, "How the chain is seen"),
      live(whole_field("s", nullptr, 1.0, 64.0, "Context length [19]")),
      live(whole_field("sequences", nullptr, 1.0, 1e6, "Sequences that are drawn [100000]")),
      live(whole_field("batch", nullptr, 0.0, 1e6, "Sequences per step, 0 for all [0]")),
      live(whole_field("m", nullptr, 1.0, 512.0, "Width of the model [256; 16 of a flow]")),
      number_field("init", nullptr, 1e-9, 10.0, "Deviation of the initial weights [1/m]"),
      flag_field("residual", "Add what goes into a layer to what comes out"),
      number_field("rate", nullptr, 1e-9, 10.0, "Learning rate [1.5e-4; descent 0.1]"),
      live(whole_field("steps", nullptr, 1.0, 20000.0, "Steps [3000]")),
      live(number_field("time", nullptr, 1e-3, 2000.0, "Time of a flow [200]")),
      number_field("record-every", nullptr, 1e-6, 20000.0, "Between two records [5; flow 0.25]"),
      number_field("rise", nullptr, 1e-3, 0.999, "Rise of attention that counts as a cycle"),
      seed_field()};
}

class CycleRoom final : public Room {
 public:
  CycleRoom() : Room("cycle", "train", "Training: focus and dilution", cycle_fields()) {}

  void check(const Question& question) const override {
    const TrainQuestion asked = training_of(question);
    const double records = asked.run.until / asked.run.every;
    if (records > kMostRecords) {
      throw TooLarge("record-every: makes more than 4000 records; record more rarely",
                     "record-every");
    }
    if (asked.run.data == experiments::TrainingData::exact) require_few_histograms(asked);
  }

  void answer(const Question& question, const RunContext& context,
              const Publish& publish) const override {
    const TrainQuestion asked = training_of(question);
    const RunContext quiet{context.threads, context.stop, {}};
    TrainingRun run(asked.run, 0, quiet);
    train(asked, run, context, publish);
    if (run.diverged()) throw experiments::divergence(asked.run, run);
    const training::Stages stages = training::find_stages(run.records(), asked.thresholds);
    publish({1, 2,
             run_json(asked, run.time(), true,
                      frames_json(experiments::training_frames(asked.run, run, stages)))});
    run.revisit(stages, quiet);  // weights at the stages, as the verb keeps them
    Result result{2, 2, {}};
    result.study = experiments::train_study(asked, run, stages, question.command());
    result.json = run_json(asked, run.time(), true, frames_json(result.study->frames));
    publish(std::move(result));
  }

 private:
  // Shows the run every now and then.
  static void train(const TrainQuestion& asked, TrainingRun& run, const RunContext& context,
                    const Publish& publish) {
    auto last = Clock::now() - kShownEvery;
    run.advance(context, [&](std::span<const training::Record> records) {
      if (Clock::now() - last < kShownEvery || records.empty()) return;
      const Frame frame = training::trajectory_frame(thinned(records));
      publish({1, 0, run_json(asked, records.back().time, false, frames_json({frame}))});
      last = Clock::now();
    });
  }

  // The exact expectation has a row per histogram: binomial(s + d − 1, d − 1) of them.
  static void require_few_histograms(const TrainQuestion& asked) {
    const double d = static_cast<double>(asked.run.chain.vocabulary());
    const double s = static_cast<double>(asked.run.context);
    const double rows = std::exp(std::lgamma(s + d) - std::lgamma(d) - std::lgamma(s + 1.0));
    if (rows <= 1e5) return;
    throw TooLarge("s: the exact expectation has too many rows to be live", "s");
  }

  static TrainQuestion training_of(const Question& question) {
    experiments::TrainOptions options;
    options.chain.name = question.text("chain");
    options.chain.stationary = question.list("pi");
    options.chain.persistence = question.number("lambda");
    options.optimiser = question.text("optimiser");
    if (question.given("data")) options.data = question.text("data");
    options.context = question.optional_number("s");
    options.sequences = question.optional_number("sequences");
    options.batch = question.optional_number("batch");
    options.width = question.optional_number("m");
    options.deviation = question.optional_number("init");
    options.residual = question.flag("residual");
    options.rate = question.optional_number("rate");
    options.steps = question.optional_number("steps");
    options.time = question.optional_number("time");
    options.every = question.optional_number("record-every");
    options.rise = question.optional_number("rise");
    return experiments::question_of(options, question.whole("seed"));
  }
};

}  // namespace

std::unique_ptr<Room> make_cycle_room() { return std::make_unique<CycleRoom>(); }

}  // namespace dewpoint::server
