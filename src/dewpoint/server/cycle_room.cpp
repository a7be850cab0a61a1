// Focus and dilution while a model trains: `dewpoint train`.
//
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <mutex>

#include "dewpoint/core/frame_json.hpp"
#include "dewpoint/experiments/train_question.hpp"
#include "dewpoint/server/job.hpp"
#include "dewpoint/server/refusal.hpp"
#include "dewpoint/server/room.hpp"
#include "dewpoint/training/recorder.hpp"
#include "dewpoint/training/stages.hpp"

namespace dewpoint::server {
namespace {

using experiments::Training;
using experiments::TrainingRun;
using experiments::TrainQuestion;

constexpr double kMostRecords = 4000.0;
constexpr std::size_t kMostLiveTokens = 12;
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

Json run_json(const Training& question, double time, bool complete, Json frames) {
  return {{"complete", complete},
          {"time", time},
          {"until", question.run.until},
          {"best_loss", experiments::best_loss(question.run)},
          {"frames", std::move(frames)}};
}

// As the question says, but no files of the server are read, and laws are short.
RoomFields cycle_fields() {
  RoomFields fields{question::fields_of<TrainQuestion>(), {}, {{"pi", kMostLiveTokens}}};
  for (question::Field& field : fields.question) {
    if (field.name == "chain") field.words = training::chain_names();
  }
  return fields;
}

class CycleRoom final : public Room {
 public:
  CycleRoom() : Room("cycle", "train", "Training: focus and dilution", cycle_fields()) {}

  void check(const Question& question) const override {
    const Training asked = training_of(question);
    const double records = asked.run.until / asked.run.every;
    if (records > kMostRecords) {
      throw TooLarge("record-every: makes more than 4000 records; record more rarely",
                     "record-every");
    }
    if (asked.run.data == experiments::TrainingData::exact) require_few_histograms(asked);
  }

  void answer(const Question& question, const RunContext& context,
              const Publish& publish) const override {
    const Training asked = training_of(question);
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
  static void train(const Training& asked, TrainingRun& run, const RunContext& context,
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
  static void require_few_histograms(const Training& asked) {
    const double d = static_cast<double>(asked.run.chain.vocabulary());
    const double s = static_cast<double>(asked.run.context);
    const double rows = std::exp(std::lgamma(s + d) - std::lgamma(d) - std::lgamma(s + 1.0));
    if (rows <= 1e5) return;
    throw TooLarge("s: the exact expectation has too many rows to be live", "s");
  }

  static Training training_of(const Question& question) {
    const auto asked = question.asked().first<TrainQuestion>();
    experiments::refuse_idle(asked);
    return experiments::training_of(asked, question.seed());
  }
};

}  // namespace

std::unique_ptr<Room> make_cycle_room() { return std::make_unique<CycleRoom>(); }

}  // namespace dewpoint::server
