// What is looked at while a model learns from text, [FD, Figure 3]: attention of chosen tokens over
// a short list of them, norms of embeddings, how much of W0 one direction explains.
//
// Attention is that of a context which shows each token of the list once, so that it depends on the
// weights alone: for one layer and one head it is softmax(Φ) with Φ = W0 WQ (W0 WK)ᵀ restricted to
// the list.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "dewpoint/core/frame.hpp"
#include "dewpoint/core/matrix.hpp"
#include "dewpoint/core/output_file.hpp"
#include "dewpoint/core/run_context.hpp"
#include "dewpoint/core/unknown.hpp"
#include "dewpoint/transformer/network.hpp"

namespace dewpoint::transformer {

/// What to look at.
struct Probe {
  std::vector<std::int32_t> tokens;    // a context that shows each of these once, in this order
  std::vector<std::int32_t> norms;     // tokens whose embeddings are followed
  std::vector<std::int32_t> sentence;  // one context as it stands in the text; may be empty
};

/// A list of n tokens names the frequent ones first, the most frequent one before all: those of
/// medium frequency are its second half, from this place on. (3 of 6, 3 of 7, 1 of 2.)
[[nodiscard]] constexpr std::size_t first_medium(std::size_t n) { return (n + 1) / 2; }

/// One look. Attention is averaged over heads only where it says so.
struct Look {
  double step = 0.0;
  double loss = kUnknown;             // of the batches since the last look, mean; NaN: none
  double validation_loss = kUnknown;  // NaN: not measured at this step
  std::vector<Matrix<double>>
      attention;              // per layer and head (layer-major): query x key of the probe
  std::vector<double> norms;  // |W0_i| of Probe::norms
  double rank_one = 0.0;      // σ₁²/Σσ² of W0
  double embedding_size = 0.0, unembedding_size = 0.0;  // |W0|_F, |W1|_F
  std::vector<double> query_size, key_size;             // |WQ|_F, |WK|_F per layer
  double gradient_size = kUnknown;     // |gradient|_F of the last batch; NaN: there was none
  std::vector<double> self_attention;  // per position of the sentence, mean over layers and heads
};

/// A look at these weights (loss, validation_loss and gradient_size are left to the caller).
/// self_attention of a position is its attention to all positions that hold its own token.
///
///   Domain      at least two tokens in the probe, each once; all tokens below V.
///   Accuracy    norms and sizes are sums in double. rank_one to training::kLeadingValueError, from
///               WᵀW in double. Attention to that of Network<Real>. Weights that are not finite
///               make NaNs.
///   Properties  (1) rows of attention sum to 1, but for roundings.
///               (2) equal bytes for any number of threads.
///               (3) a matrix of zeros has rank_one 0.
template <class Real>
[[nodiscard]] Look look_at(double step, const Shape& shape, const Weights<Real>& weights,
                           const Probe& probe, const RunContext& context = {});

/// Mean attention of the medium tokens to the first of the list, over all layers and heads.
[[nodiscard]] double focus_of(const Look& look);
/// And to themselves.
[[nodiscard]] double self_share_of(const Look& look);

/// |W|_F over all matrices, summed in double in the order of matrices_of(): the size of a gradient.
template <class Real>
[[nodiscard]] double size_of(const Weights<Real>& weights);

/// Frame "text run" of looks in order of time: dimensions step, layer, head, query, key (labels:
/// the probe's tokens), token (labels: those of Probe::norms), position (labels: "0 The", "1 dog",
/// ..., the words of `sentence_labels` with their places; absent without a sentence); variables
/// named as the fields of Look: over (step, layer, head, query, key) "attention"; over (step,
/// token) "norms"; over (step, layer) "query_size" and "key_size"; over (step, position)
/// "self_attention"; the others over (step), and with them "focus" and "self_share", those of
/// focus_of() and self_share_of(). Values that are NaN have no samples.
///
///   Domain      at least one look, all of one shape and one probe.
[[nodiscard]] Frame looks_frame(std::span<const Look> looks, const Shape& shape,
                                const std::vector<std::string>& probe_labels,
                                const std::vector<std::string>& norm_labels,
                                const std::vector<std::string>& sentence_labels);

/// As bytes of this machine and back, for going on with a run: a mark and a version, then sizes,
/// then numbers; every bit of every number comes back. Bytes that are too few, too many or of
/// another kind or version throw Error{malformed_file}.
///
///   Domain      looks of one shape and one probe.
[[nodiscard]] std::vector<std::byte> to_bytes(std::span<const Look> looks);
/// Files of such bytes.
[[nodiscard]] FileKind looks_kind();
[[nodiscard]] std::vector<Look> looks_from(std::span<const std::byte> bytes);

}  // namespace dewpoint::transformer
