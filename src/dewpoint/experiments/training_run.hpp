// One training run, from its question to its record.
//
// A question is everything that decides the result: the chain, how its data are seen, the model,
// the optimiser, how long, and what is written down. The run of (question, replica) is a function
// of these alone, whatever the number of threads. It can be stopped, kept as bytes and gone on
// with.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "dewpoint/core/error.hpp"
#include "dewpoint/core/frame.hpp"
#include "dewpoint/core/run_context.hpp"
#include "dewpoint/store/study.hpp"
#include "dewpoint/training/chain.hpp"
#include "dewpoint/training/flow.hpp"
#include "dewpoint/training/recorder.hpp"
#include "dewpoint/training/stages.hpp"
#include "dewpoint/training/trainer.hpp"

namespace dewpoint::experiments {

/// How the chain is seen by the loss.
enum class TrainingData {
  sampled,     // sequences drawn once
  exact,       // the expectation over all sequences of this length
  population,  // contexts so long that their histogram is π, [FD, Eq (5)]
};

enum class Optimiser { adam, descent, flow };

/// "adam", "descent", "flow" and "sampled", "exact", "population": as options and files say them.
[[nodiscard]] const std::vector<std::pair<std::string, Optimiser>>& words_of(Optimiser);
[[nodiscard]] const std::vector<std::pair<std::string, TrainingData>>& words_of(TrainingData);

struct TrainingQuestion {
  training::Chain chain;
  TrainingData data = TrainingData::sampled;
  std::size_t context = 19;  // s: tokens before the label
  std::size_t sequences = 100'000;
  std::size_t batch = 0;  // sequences per step; 0: all of them

  std::size_t width = 256;  // m
  bool residual = false;
  double score_scale = 1.0;  // on the scores of attention
  double deviation = 0.0;    // of the initial weights; 0: 1/m

  Optimiser optimiser = Optimiser::adam;
  training::AdamOptions adam;  // rate is also that of gradient descent
  training::FlowOptions flow;
  training::Precision precision = training::Precision::single_;  // of Adam

  double until = 3000.0;        // steps, or the t of the flow
  double every = 5.0;           // between two records
  std::vector<double> moments;  // at which weights and cosines are kept, increasing

  std::uint64_t seed = 1;  // of data and weights
};

/// Where every optimiser starts from: rate, duration, interval of records, data.
[[nodiscard]] TrainingQuestion standard_question(Optimiser optimiser);

/// ρ with which cycles are counted: 0.1 for Adam, 0.02 for descent, 0.005 for flow.
[[nodiscard]] training::StageThresholds standard_thresholds(Optimiser optimiser);
/// Focus starts where s_k has risen by this share of ρ.
inline constexpr double kStartOfRise = 0.2;

/// The least loss that any model can have on these data: a best_loss() of the chain.
[[nodiscard]] double best_loss(const TrainingQuestion& question);

/// Throws Error{bad_value} naming the option, its value and what is allowed.
void check(const TrainingQuestion& question);

/// A model that is this many times worse than guessing, log d, is not learning.
inline constexpr double kDiverged = 10.0;

class TrainingRun {
 public:
  /// Draws the data and the weights.
  TrainingRun(const TrainingQuestion& question, std::uint64_t replica, const RunContext& context);
  ~TrainingRun();
  TrainingRun(const TrainingRun&) = delete;
  TrainingRun& operator=(const TrainingRun&) = delete;

  /// Is called after every record; the records so far.
  using Watcher = std::function<void(std::span<const training::Record> records)>;

  /// Trains to question.until and records. Stops early where the loss is no longer finite, or above
  /// kDiverged times that of guessing; says so in diverged(). A stop asked for by the context
  /// throws Error{stopped}; what was recorded stays.
  void advance(const RunContext& context, const Watcher& watcher = {});

  /// Keeps weights and cosines at the stages after all: trains once more, up to the last of them.
  void revisit(const training::Stages& stages, const RunContext& context);

  [[nodiscard]] double time() const;
  /// When the loss was no longer finite, or too large; the records end before that.
  [[nodiscard]] std::optional<double> diverged() const;
  [[nodiscard]] std::span<const training::Record> records() const;
  [[nodiscard]] std::span<const training::Condensation> moments() const;
  /// Of a gradient flow; nothing for the others.
  [[nodiscard]] const training::GradientFlow* flow() const;
  /// Distinct (last token, histogram) rows; 0 where the data are not histograms of sequences.
  [[nodiscard]] std::size_t rows() const;

  /// Everything that is needed to go on from the last record, under the names "state", "records"
  /// and "moments"; and the weights at every kept moment and at the end as .npy files of doubles,
  /// "200/W0.npy".
  [[nodiscard]] std::vector<store::Attachment> attachments() const;
  /// Goes on from these. Throws Error{malformed_file} when they are not of such a run.
  void restore(const store::StudyRecord& study);

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

/// Stages as numbers by name, NaN where they were not seen: what studies average. Scalars
/// "final_loss", "condensation", "focus", "peak", "peak_value", "half_dilution", "new_direction",
/// "cycles"; over cycles "cycle_start", "cycle_peak", "cycle_peak_value", "cycle_half"; over tokens
/// "retraction" (depth of the deepest). A peak value is the largest share seen, cycle or not.
struct TrainingNumbers {
  std::vector<std::string> names;  // of the scalars
  std::vector<double> scalars;
  std::vector<double> start, peak, peak_value, half;  // per cycle
  std::vector<double> retraction;                     // per token
};
[[nodiscard]] TrainingNumbers training_numbers(std::span<const training::Record> records,
                                               const training::Stages& stages);

/// The numbers of replicas 0, 1, ..., each trained on a thread of its own. Throws Error{bad_value}
/// where one diverges.
[[nodiscard]] std::vector<TrainingNumbers> train_replicas(
    const TrainingQuestion& question, const training::StageThresholds& thresholds,
    std::size_t replicas, const RunContext& context);

/// Frame "runs" of these: over run, over (run, cycle) and over (run, token).
[[nodiscard]] Frame runs_frame(std::span<const TrainingNumbers> runs);

/// The error of a run that diverged: when, with which rate, and what is left of it.
[[nodiscard]] Error divergence(const TrainingQuestion& question, const TrainingRun& run);

/// Times worth looking at: 0, condensation, the first focus, every peak, the new direction, the
/// end; increasing, each once.
[[nodiscard]] std::vector<double> stage_moments(std::span<const training::Record> records,
                                                const training::Stages& stages);

/// Frames of a run: "trajectory", "condensation" (where moments were kept), "stages", "cycles",
/// "retraction", "data" (stationary over token, transition over (token, next)).
[[nodiscard]] std::vector<Frame> training_frames(const TrainingQuestion& question,
                                                 const TrainingRun& run,
                                                 const training::Stages& stages);

}  // namespace dewpoint::experiments
