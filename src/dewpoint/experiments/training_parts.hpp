// What questions about training share: the optimiser, the small transformer that learns, the text
// that it learns from, and how long it learns. Each is described here, once.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "dewpoint/question/field.hpp"
#include "dewpoint/text/corpus.hpp"
#include "dewpoint/training/trainer.hpp"
#include "dewpoint/transformer/shape.hpp"

namespace dewpoint::experiments {

// ---- Adam ---------------------------------------------------------------------------------------

/// What is absent has the standard of training::AdamOptions.
struct AdamQuestion {
  std::optional<double> rate = training::AdamOptions{}.rate;
  std::optional<double> beta1, beta2, eps;
};

/// `about` says more of the rate.
template <class Visitor, class... About>
void describe(Visitor& visit, AdamQuestion& q, const About&... about) {
  using namespace question;  // NOLINT(google-build-using-namespace): the words of a description
  visit("rate", q.rate, above(0.0), "learning rate", about...);
  visit("beta1", q.beta1, between(0.0, 1.0), "decay of Adam's first moment", otherwise("0.9"));
  visit("beta2", q.beta2, between(0.0, 1.0), "decay of Adam's second moment", otherwise("0.999"));
  visit("eps", q.eps, at_least(1e-30), "Adam's epsilon", otherwise("1e-8"));
}

[[nodiscard]] training::AdamOptions adam_of(const AdamQuestion& question);
/// Nothing absent.
[[nodiscard]] AdamQuestion filled(const AdamQuestion& question);
/// Decays and epsilon absent where they are the standard ones.
[[nodiscard]] AdamQuestion resolved(AdamQuestion question);

/// Adam, and how long.
struct LearningQuestion {
  AdamQuestion adam;
  std::size_t steps = 20'000;
  std::size_t record_every = 50;
};

/// `about` says more of both counts.
template <class Visitor, class... About>
void describe(Visitor& visit, LearningQuestion& q, const About&... about) {
  using namespace question;  // NOLINT(google-build-using-namespace): the words of a description
  describe(visit, q.adam);
  visit("steps", q.steps, in(1.0, 1e9), "steps of Adam", about...);
  visit("record-every", q.record_every, in(1.0, 1e9), "steps between two looks", also("every"),
        formerly("record_every"), about...);
}

// ---- the model ----------------------------------------------------------------------------------

/// What the values of a layer are; words, so that they can be an axis.
enum class LayerValues { none, matrix };
[[nodiscard]] const std::vector<std::pair<std::string, LayerValues>>& words_of(LayerValues);
/// Where states are normed.
enum class LayerNorm { none, pre };
[[nodiscard]] const std::vector<std::pair<std::string, LayerNorm>>& words_of(LayerNorm);

/// transformer::Shape, and the size of the weights that it starts from.
struct ModelQuestion {
  std::size_t m = 256, layers = 1, heads = 1;
  bool residual = false;
  double branch = 1.0;
  LayerValues value = LayerValues::none;
  LayerNorm norm = LayerNorm::none;
  bool causal = false;
  double start = 1.0;
  std::optional<std::string> scaling = {};
};

/// `about` says more of the numbers of layers and heads.
template <class Visitor, class... About>
void describe(Visitor& visit, ModelQuestion& q, const About&... about) {
  using namespace question;  // NOLINT(google-build-using-namespace): the words of a description
  visit("m", q.m, in(1.0, 8192.0), "width of the model", also("width"), formerly("width"));
  visit("layers", q.layers, in(1.0, 64.0), "layers of attention", about...);
  visit("heads", q.heads, in(1.0, 8192.0), "heads of each layer, which divide its width", about...);
  visit("residual", q.residual, "add what goes into a layer to what comes out of it");
  visit("branch", q.branch, at_least(0.0), "factor of what a residual layer adds; 0 for 1/layers");
  visit("value", q.value, "values are states, or states times a value matrix");
  visit("norm", q.norm, "pre: states are normed before each layer and at the end",
        also("pre-norm"));
  visit("causal", q.causal, "positions see those before them only");
  visit("start", q.start, above(0.0), "deviation of the initial weights in units of 1/m");
  visit("scaling", q.scaling,
        "law of the logits of a causal model, a name of dewpoint scale explain; n0 is s unless "
        "given",
        formerly("law"), otherwise("constant"));
}

/// With the branch that 0 stands for.
[[nodiscard]] ModelQuestion resolved(ModelQuestion question);
/// Trained at contexts of `context` tokens. The vocabulary is its caller's. Throws
/// Error{bad_value} for a law of the logits that there is not.
[[nodiscard]] transformer::Shape shape_of(const ModelQuestion& question, std::size_t context);
/// Of the initial weights.
[[nodiscard]] double deviation_of(const ModelQuestion& question);

// ---- the text -----------------------------------------------------------------------------------

struct TextSource {
  std::optional<std::string> corpus;
  std::string tokenizer = "words";
  std::optional<std::size_t> vocabulary;
};

template <class Visitor>
void describe(Visitor& visit, TextSource& q) {
  using namespace question;  // NOLINT(google-build-using-namespace): the words of a description
  visit("corpus", q.corpus, file("text"),
        "text file to learn from, UTF-8, looked for where one runs");
  visit("tokenizer", q.tokenizer,
        "words, bpe (byte pairs, learned from it), or a tokenizer's file");
  visit("vocabulary", q.vocabulary, in(0.0, 1e6), "tokens V of words or bpe",
        otherwise("2000; of a tokenizer's file those it has"));
}

/// With a number of tokens. Throws Error{bad_value} where no text is named.
[[nodiscard]] TextSource resolved(TextSource source);
[[nodiscard]] text::CorpusQuestion corpus_of(const TextSource& resolved);

}  // namespace dewpoint::experiments
