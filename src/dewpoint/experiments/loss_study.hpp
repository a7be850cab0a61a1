// What a multiplier of the logits does to a real model: its loss on text, at several lengths.
//
// The loss of one prediction is −log p(next token), in nats. For every length the text is cut into
// windows, each window runs through the model once per rotation and multiplier, and the same
// windows serve all of them. How hard a window is to predict is by far the largest noise, and it
// drops out of the difference to multiplier 1, window by window: loss_change has a much smaller
// error than the two losses it is the difference of.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dewpoint/attention/head.hpp"
#include "dewpoint/core/frame.hpp"
#include "dewpoint/core/run_context.hpp"
#include "dewpoint/models/decoder.hpp"
#include "dewpoint/scaling/rope.hpp"
#include "dewpoint/text/tokenizer.hpp"

namespace dewpoint::experiments {

/// A rotation, which may depend on the length that the model is asked to read; nothing: the model's
/// own.
struct RopeVariant {
  std::string name;
  std::function<std::optional<scaling::RopeScaling>(std::size_t length)> at;  // empty: nothing
};

/// A multiplier on top of what the model applies.
struct LossMultiplier {
  std::string name;
  attention::LogitMultiplier value;  // empty: 1
  std::optional<double> constant;    // where it is one
};
[[nodiscard]] LossMultiplier constant_multiplier(double value);

struct LossQuestion {
  std::vector<std::size_t> lengths;  // tokens of a window, at least 4, increasing
  std::vector<RopeVariant> ropes = {{"as trained", {}}};
  std::vector<LossMultiplier> multipliers = {constant_multiplier(1.0)};
  std::size_t sequences = 16;          // windows per length; more: smaller errors
  std::vector<int> tokens;             // the text that windows are cut from
  std::optional<int> beginning_token;  // windows begin with it; nothing: with any token
};

/// Frame "loss" over length, rope (labelled), multiplier (numbers where all are constants, else
/// labelled) and n (upper ends of octaves, the last the longest length):
///
///   loss         over (length, rope, multiplier): mean over the predictions from the last half of
///                the positions, p ≥ length/2
///   loss_all     the same over all predictions
///   loss_change  of loss, against multiplier 1 in the same windows
///   loss_by_n    over (length, rope, multiplier, n): mean over the predictions that see more than
///                n/2 and up to n tokens; no samples where a window has none
///
/// A sample is a window; errors are those of the mean over windows.
///
///   Domain      Error{bad_value} for a length below 4, an empty list, no windows, a text too short
///               for them, a model without a causal mask, and whatever the decoder refuses.
///   Properties  (1) equal bytes for any number of threads.
///               (2) loss_change is exactly 0 at multiplier 1, with error 0.
///               (3) multiplier 1 is computed for the comparison even where nobody asks for it.
[[nodiscard]] Frame study_loss(const models::Decoder& decoder, const LossQuestion& question,
                               const RunContext& context = {});

/// Windows of a stream, and how they begin.
struct TokenWindows {
  std::vector<std::vector<int>> tokens;
  std::string begin;  // "at beginnings of texts", "anywhere" or "anywhere, behind token 1"
};

/// Disjoint windows of a stream, spread over it: window k begins at the first place at or after
/// k/count of the stream, after window k−1, where the beginning token stands (if one is given).
/// Where there are too few such places, as in one long text, windows are cut anywhere instead, and
/// the beginning token is put before each that does not have it already.
///
///   Domain      length ≥ 1; Error{bad_value} when the stream ends before the last window does.
[[nodiscard]] TokenWindows token_windows(std::span<const int> tokens, std::size_t length,
                                         std::size_t count, std::optional<int> beginning = {});

/// Stories one after the other, each behind the beginning token: the text is cut at the separator,
/// blanks and line ends around a story are dropped, and what is empty then is no story. An empty
/// separator leaves the text whole.
[[nodiscard]] std::vector<int> story_stream(const text::Tokenizer& tokenizer,
                                            std::string_view stories, std::string_view separator,
                                            int beginning);

}  // namespace dewpoint::experiments
