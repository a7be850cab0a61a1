#include <algorithm>

#include "dewpoint/experiments/text_probe.hpp"
#include "dewpoint/experiments/text_training.hpp"

namespace dewpoint::experiments {
namespace {

Estimate exact_cell(double value) { return {value, 0.0, 1}; }

Frame vocabulary_frame(const text::Corpus& corpus) {
  std::vector<std::int32_t> tokens = tokens_by_count(corpus);
  tokens.resize(std::min(tokens.size(), kShownTokens));
  const auto all = static_cast<double>(corpus.training.size());
  Frame frame("vocabulary");
  frame.add_labelled_dimension("token", names_of(corpus, tokens));
  frame.add_variable("count", {"token"});
  frame.add_variable("frequency", {"token"});
  for (std::size_t k = 0; k < tokens.size(); ++k) {
    const auto count = static_cast<double>(corpus.counts[static_cast<std::size_t>(tokens[k])]);
    frame.variable("count").cells[k] = exact_cell(count);
    frame.variable("frequency").cells[k] = exact_cell(count / all);
  }
  const auto add = [&](const char* name, double value) {
    frame.add_variable(name).cells[0] = exact_cell(value);
  };
  add("tokens", static_cast<double>(corpus.vocabulary));
  add("training_tokens", all);
  add("validation_tokens", static_cast<double>(corpus.validation.size()));
  add("unigram_entropy", text::unigram_entropy(corpus));
  return frame;
}

Frame retraction_frame(std::span<const transformer::Look> looks,
                       const std::vector<std::string>& labels) {
  Frame frame("retraction");
  frame.add_labelled_dimension("token", labels);
  for (const char* name : {"from", "until", "depth"}) frame.add_variable(name, {"token"});
  for (std::size_t k = 0; k < labels.size(); ++k) {
    const auto deepest = deepest_retraction(looks, k);
    if (!deepest) continue;
    frame.variable("from").cells[k] = exact_cell(deepest->from);
    frame.variable("until").cells[k] = exact_cell(deepest->until);
    frame.variable("depth").cells[k] = exact_cell(deepest->depth());
  }
  return frame;
}

}  // namespace

std::vector<Frame> text_frames(const TextRun& run) {
  const text::Corpus& corpus = run.corpus();
  const std::vector<std::string> followed = names_of(corpus, run.probe().norms);
  return {transformer::looks_frame(run.looks(), run.shape(), names_of(corpus, run.probe().tokens),
                                   followed, names_of(corpus, run.probe().sentence)),
          vocabulary_frame(corpus), retraction_frame(run.looks(), followed)};
}

}  // namespace dewpoint::experiments
