#include "dewpoint/studies/text_studies.hpp"

#include <map>
#include <mutex>
#include <string>
#include <tuple>

namespace dewpoint::studies {
namespace {

using SharedCorpus = std::shared_ptr<const text::Corpus>;

/// Texts that were read, by what was asked of them.
class CorpusShelf {
 public:
  SharedCorpus corpus(const text::CorpusQuestion& asked, std::size_t least_tokens) {
    const std::lock_guard lock(mutex_);  // a second reader waits for the first
    SharedCorpus& found = corpora_[{asked.file.string(), asked.tokenizer, asked.vocabulary}];
    if (!found) {
      found = std::make_shared<const text::Corpus>(text::read_corpus(asked, least_tokens));
    }
    return found;
  }

 private:
  using Asked = std::tuple<std::string, std::string, std::size_t>;
  std::mutex mutex_;
  std::map<Asked, SharedCorpus> corpora_;
};

}  // namespace

SharedCorpus shelved_corpus(const text::CorpusQuestion& question, std::size_t least_tokens) {
  static CorpusShelf shelf;
  return shelf.corpus(question, least_tokens);
}

Dimension look_dimension(const experiments::LearningQuestion& learning) {
  Dimension steps{"step", {}};
  for (std::size_t step = 0; step < learning.steps; step += learning.record_every) {
    steps.coordinates.push_back(static_cast<double>(step));
  }
  steps.coordinates.push_back(static_cast<double>(learning.steps));
  return steps;
}

}  // namespace dewpoint::studies
