#include "dewpoint/transformer/batch_index.hpp"

#include <numeric>

#include "dewpoint/core/error.hpp"

namespace dewpoint::transformer {

BatchIndex::BatchIndex(const Shape& shape, const Capacity& capacity, std::size_t kept_context)
    : layers_(shape.layers),
      heads_(shape.heads),
      kept_context_(kept_context),
      tokens_(shape.vocabulary, capacity.rows),
      asked_groups_(shape.vocabulary, capacity.asked),
      own_number_(capacity.rows) {
  std::iota(own_number_.begin(), own_number_.end(), 0U);
  asked_tokens_.reserve(capacity.asked);
  context_of_row_.reserve(capacity.rows);
  asked_begins_.reserve(capacity.contexts + 1);
  question_begins_.reserve(capacity.asked + 1);
  kept_begins_.reserve(capacity.contexts + 1);
}

void BatchIndex::build(const Batch& batch) {
  tokens_.group(batch.tokens);
  index_contexts(batch);
  index_questions(batch);
  if (layers_ > 1) {
    asked_groups_.separate(batch.asked.size());
    return;
  }
  asked_tokens_.clear();
  for (const std::uint32_t row : batch.asked) asked_tokens_.push_back(batch.tokens[row]);
  asked_groups_.group(asked_tokens_);
}

void BatchIndex::index_contexts(const Batch& batch) {
  context_of_row_.resize(batch.rows());
  asked_begins_.assign(1, 0U);
  kept_begins_.assign(1, 0U);
  std::uint32_t asked = 0;
  for (std::size_t c = 0; c < batch.contexts(); ++c) {
    const Range rows = batch.context(c);
    for (std::size_t r = rows.begin; r < rows.end; ++r) {
      context_of_row_[r] = static_cast<std::uint32_t>(c);
    }
    while (asked < batch.asked.size() && batch.asked[asked] < rows.end) ++asked;
    asked_begins_.push_back(asked);
    const std::size_t numbers =
        rows.size() > kept_context_ ? 0 : heads_ * rows.size() * rows.size();
    kept_begins_.push_back(kept_begins_.back() + numbers);
  }
}

void BatchIndex::index_questions(const Batch& batch) {
  question_begins_.assign(1, 0U);
  std::uint32_t question = 0;
  for (const std::uint32_t row : batch.asked) {
    while (question < batch.questions.size() && batch.questions[question].row <= row) ++question;
    question_begins_.push_back(question);
  }
}

}  // namespace dewpoint::transformer
