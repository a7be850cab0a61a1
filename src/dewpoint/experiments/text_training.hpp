// One training run on real text, from its question to what was seen.
//
// Windows of s + 1 tokens are drawn from the training part of a corpus, a batch of them for every
// step of Adam; the model predicts the last token of each, or every token from the one before it.
// The run of (question, replica) is a function of these and of the corpus alone, whatever the
// number of threads. It can be stopped, kept as bytes and gone on with to the same end.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "dewpoint/core/error.hpp"
#include "dewpoint/core/frame.hpp"
#include "dewpoint/core/run_context.hpp"
#include "dewpoint/experiments/retraction.hpp"
#include "dewpoint/store/study.hpp"
#include "dewpoint/text/corpus.hpp"
#include "dewpoint/training/trainer.hpp"
#include "dewpoint/transformer/probe.hpp"
#include "dewpoint/transformer/state_file.hpp"

namespace dewpoint::experiments {

/// How a permutation-equivariant network sees its windows. Automatic: as histograms where it is one
/// and is asked for the last token alone. The two give the same loss and gradient but for
/// roundings.
enum class Contexts { automatic, histograms, sequences };

struct TextQuestion {
  text::CorpusQuestion corpus;
  transformer::Shape shape;  // vocabulary is taken from the corpus
  double deviation = 0.0;    // of the initial weights; 0: 1/m

  std::size_t context = 32;  // s
  std::size_t batch = 256;
  transformer::Targets targets = transformer::Targets::last;
  Contexts contexts = Contexts::automatic;
  training::AdamOptions adam;

  std::uint64_t steps = 20'000;
  std::uint64_t every = 50;               // steps between two looks
  std::uint64_t validate_every = 500;     // steps between two validation losses, and at the end
  std::size_t validation_windows = 2048;  // evenly spaced in the validation part
  std::vector<std::string> probe;         // names of tokens; empty: chosen, see choose_probe()
  std::string sentence;                   // of the test; empty: one from the validation part

  std::uint64_t seed = 1;
};

/// Throws Error{bad_value} naming the option, its value and what is allowed. What depends on the
/// corpus, names of tokens and the sentence, is checked when a run is made.
void check(const TextQuestion& question);

/// What read_corpus() must find in each part: a window and its label.
[[nodiscard]] std::size_t least_tokens(const TextQuestion& question);

/// The three most frequent tokens and three of medium frequency (ranks near V/100, V/30 and V/10
/// that are words of at least three letters, V counting the tokens that the training part has),
/// names. Fewer where the text has fewer.
[[nodiscard]] std::vector<std::string> choose_probe(const text::Corpus& corpus);
inline constexpr std::size_t kProbeTokens = 6;  // at most

class TextRun {
 public:
  /// Draws the weights. The corpus is shared between replicas. Throws Error{bad_value} for a
  /// question that check() refuses, a corpus too short for one window, a name in the probe that no
  /// token has, and a sentence that cannot be shown.
  TextRun(const TextQuestion& question, std::shared_ptr<const text::Corpus> corpus,
          std::uint64_t replica);
  ~TextRun();
  TextRun(const TextRun&) = delete;
  TextRun& operator=(const TextRun&) = delete;

  /// Is called after every look.
  using Watcher = std::function<void(const TextRun& run)>;
  /// Trains to question.steps, and looks at step 0, at multiples of `every` and of
  /// `validate_every`, and at the end. Stops early where the loss of a batch is no longer finite,
  /// or above kDiverged times that of guessing: diverged(). A stop asked for by the context throws
  /// Error{stopped} between two steps; what was seen stays. Progress is told after every look.
  ///
  ///   Properties  (1) equal bytes of weights and looks for any number of threads.
  ///               (2) stopped, kept, restored and gone on with, the same bytes as without.
  ///               (3) going on to more steps gives the weights of the longer run; its looks may
  ///                   have one more, that at the end of the shorter one.
  void advance(const RunContext& context, const Watcher& watcher = {});

  [[nodiscard]] std::uint64_t done() const;
  [[nodiscard]] std::optional<std::uint64_t> diverged() const;
  [[nodiscard]] std::span<const transformer::Look> looks() const;
  /// Of every step that was taken here, in order; what restore() goes on from is not among them.
  [[nodiscard]] std::span<const double> batch_losses() const;
  [[nodiscard]] const text::Corpus& corpus() const;
  [[nodiscard]] const transformer::Shape& shape() const;
  [[nodiscard]] const transformer::AdamState<float>& state() const;
  [[nodiscard]] const TextQuestion& question() const;
  [[nodiscard]] const transformer::Probe& probe() const;
  /// Tokens of contexts that were trained on, per second of advance(); 0 before.
  [[nodiscard]] double tokens_per_second() const;

  /// "state.safetensors" (but not of a run that diverged), "looks", and the files of the
  /// vocabulary. The metadata of the state say all that must agree for going on: see restore().
  [[nodiscard]] std::vector<store::Attachment> attachments() const;
  /// Goes on from these. Throws Error{malformed_file} when they are not of such a run, and
  /// Error{bad_value} when they are of another configuration: one line with the first field that
  /// differs and both values. May differ: steps, every, validate_every. A refusal changes nothing.
  void restore(const store::StudyRecord& study);

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

/// What a run comes to, NaN where it was not seen. Focus: the largest mean attention of the medium
/// tokens to the most frequent one, transformer::focus_of(), with a step where it is above that of
/// an even share by StageThresholds::rise of what is left to 1; dilution: the first step after that
/// where it is below half of it; retractions as training::retractions_of(), deepest, per followed
/// token. Losses are the last ones measured.
struct TextNumbers {
  double final_loss, validation_loss, focus_peak, focus_step, dilution_step, final_focus,
      final_self_share, rank_one;
  std::vector<double> retraction;
};
[[nodiscard]] TextNumbers text_numbers(std::span<const transformer::Look> looks);

/// All frames of a run: "text run" (transformer::looks_frame); "vocabulary" over token (labels):
/// "count", "frequency", of the kShownTokens most frequent ones, and over nothing "tokens" (V),
/// "training_tokens", "validation_tokens" and "unigram_entropy"; "retraction" over token (labels):
/// from, until, depth of the deepest.
///
///   Domain      a run with at least one look.
[[nodiscard]] std::vector<Frame> text_frames(const TextRun& run);

inline constexpr std::size_t kShownTokens = 100;

/// The model as a folder that `dewpoint heads` and other programs open: config.json,
/// model.safetensors, the files of the vocabulary.
void save_model_folder(const TextRun& run, const OutputFile& folder);

}  // namespace dewpoint::experiments
