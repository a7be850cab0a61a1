// Contexts as a network sees them: rows of tokens, and predictions that are asked for.
//
// A row is a position with its token. Where the network is permutation-equivariant, positions of a
// context that hold the same token have the same state in every layer, so they can share one row:
// keys are then counted as often as they occur, which adds log n_j to their scores. A context is
// its histogram, and contexts with the same histogram are one, asked about the rows of their last
// tokens, for one label or several.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "dewpoint/core/matrix.hpp"

namespace dewpoint::transformer {

/// Windows of equal length: the context and then the label.
struct Windows {
  std::vector<std::int32_t> tokens;  // window after window
  std::size_t context = 0;           // s; a window has s + 1 tokens

  [[nodiscard]] std::size_t size() const { return tokens.size() / (context + 1); }
  [[nodiscard]] std::span<const std::int32_t> window(std::size_t i) const {
    return std::span(tokens).subspan(i * (context + 1), context + 1);
  }
};

/// Where predictions are made: after the whole context, or after every position of it (which needs
/// a causal mask, as the answer would be seen otherwise).
enum class Targets { last, all };
/// "last", "all".
[[nodiscard]] const std::vector<std::pair<std::string, Targets>>& words_of(Targets);

/// A label for the state of a row, with its share of the loss.
struct Question {
  std::uint32_t row;  // number within the batch
  std::int32_t label;
  double weight;

  bool operator==(const Question&) const = default;
};

/// One step's worth of contexts. Contexts own consecutive rows. Clearing keeps the memory.
struct Batch {
  std::vector<std::int32_t> tokens;   // of every row
  std::vector<double> log_counts;     // log n_j of every row; empty: all are 0
  std::vector<std::uint32_t> begins;  // first row of every context, and one beyond the last row
  std::vector<Question> questions;    // rows never decreasing; weights sum to 1
  std::vector<std::uint32_t> asked;   // rows of the questions, each once, increasing
  /// Where fill_collapsed() sorts; kept so that filling a batch again allocates nothing.
  struct Scratch {
    std::vector<std::int32_t> tokens;    // per window: its context in order, last token, label
    std::vector<std::uint32_t> order;    // of the windows
    std::vector<std::uint32_t> ends;     // of every token among the holders
    std::vector<std::uint32_t> holders;  // windows that hold token 0, then those that hold 1, ...
  } scratch;

  [[nodiscard]] std::size_t rows() const { return tokens.size(); }
  [[nodiscard]] std::size_t contexts() const { return begins.empty() ? 0 : begins.size() - 1; }
  [[nodiscard]] Range context(std::size_t i) const { return {begins[i], begins[i + 1]}; }
  [[nodiscard]] std::size_t longest_context() const;
};

/// One row per position, windows in their order; every question has the weight 1/(their number).
///
///   Domain      at least one window, context ≥ 1, fewer than 2³² rows.
void fill_explicit(const Windows& windows, Targets targets, Batch& batch);

/// The same with questions about the last `asked` positions of every context only.
///
///   Domain      as above; 1 ≤ asked ≤ context.
///   Properties  (1) with asked = 1 and asked = context what fill_explicit() makes for
///   Targets::last
///                   and Targets::all.
void fill_ends(const Windows& windows, std::size_t asked, Batch& batch);

/// One row per distinct token of a context, in order of token; contexts with the same histogram
/// once, in order of their sorted tokens. A question is about the last token of a context; equal
/// questions are one with the weight of all.
///
///   Domain      as above; memory grows with the largest token.
///   Properties  (1) any permutation-equivariant network has the same loss and gradient as with
///                   fill_explicit(windows, Targets::last).
///               (2) the order of windows, and of tokens within a context before its last, changes
///                   nothing in the batch.
///               (3) counts of the rows of a context sum to the length of the windows' context.
void fill_collapsed(const Windows& windows, Batch& batch);

}  // namespace dewpoint::transformer
