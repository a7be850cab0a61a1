#include "dewpoint/studies/corpus_parameters.hpp"

#include <map>
#include <mutex>
#include <string>
#include <tuple>

#include "dewpoint/core/error.hpp"
#include "dewpoint/studies/parameter_checks.hpp"

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

std::vector<Field> corpus_parameters() {
  using enum Kind;
  return {
      {"corpus", word, {}, "path of the text, UTF-8; relative to where the study is run"},
      {"tokenizer", word, Value("words"), "words, bpe, or the path of a tokenizer"},
      {"vocabulary", whole, Value(2000.0), "tokens V; 0 with a tokenizer's path: those it has"}};
}

text::CorpusQuestion corpus_at(const Point& point) {
  if (!has(point, "corpus") || word_of(point, "corpus").empty()) {
    throw Error(Code::bad_value, "corpus: is missing; allowed: the path of a text");
  }
  text::CorpusQuestion question;
  question.file = word_of(point, "corpus");
  question.tokenizer = word_of(point, "tokenizer");
  question.vocabulary = whole_between(point, "vocabulary", 0.0, 1e6);
  return question;
}

SharedCorpus shelved_corpus(const text::CorpusQuestion& question, std::size_t least_tokens) {
  static CorpusShelf shelf;
  return shelf.corpus(question, least_tokens);
}

Dimension look_dimension(const Point& point) {
  Dimension steps{"step", {}};
  const double last = number_of(point, "steps"), every = number_of(point, "record_every");
  for (double step = 0.0; step < last; step += every) steps.coordinates.push_back(step);
  steps.coordinates.push_back(last);
  return steps;
}

}  // namespace dewpoint::studies
