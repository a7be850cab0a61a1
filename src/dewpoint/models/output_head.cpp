#include "dewpoint/models/output_head.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "dewpoint/core/blas.hpp"
#include "dewpoint/models/row_blocks.hpp"

namespace dewpoint::models {
namespace {

constexpr std::size_t kVocabularyBlock = 4096;

void for_vocabulary_blocks(std::size_t vocabulary, const std::function<void(Range)>& body) {
  for (std::size_t first = 0; first < vocabulary; first += kVocabularyBlock) {
    body({first, std::min(vocabulary, first + kVocabularyBlock)});
  }
}

// Of one token's product with the head.
double operations(const Matrix<float>& head) { return 2.0 * static_cast<double>(head.size()); }

// What is known of a token's logits after some blocks of the vocabulary.
struct TokenLoss {
  RunningLogSum total;
  double target = 0.0;
};

void take_block(std::span<const float> logits, Range vocabulary, std::size_t target,
                TokenLoss& loss) {
  for (const float logit : logits) loss.total.add(static_cast<double>(logit));
  if (target >= vocabulary.begin && target < vocabulary.end) {
    loss.target = static_cast<double>(logits[target - vocabulary.begin]);
  }
}

}  // namespace

void RunningLogSum::add(double value) {
  if (sum_ == 0.0) {
    largest_ = value;
    sum_ = 1.0;
  } else if (value <= largest_) {
    sum_ += std::exp(value - largest_);
  } else {
    sum_ = sum_ * std::exp(largest_ - value) + 1.0;
    largest_ = value;
  }
}

double RunningLogSum::value() const {
  return sum_ == 0.0 ? -std::numeric_limits<double>::infinity() : largest_ + std::log(sum_);
}

Matrix<float> output_logits(const Weights& weights, std::size_t vocabulary,
                            MatrixView<const float> hidden, const RunContext& context) {
  Matrix<float> logits(hidden.rows(), vocabulary);
  for_vocabulary_blocks(vocabulary, [&](Range words) {
    const Matrix<float> head = weights.head(words);
    for_row_blocks(hidden.rows(), operations(head), context, [&](Range rows) {
      multiply_abt(hidden.row_range(rows), head, logits.view().block(rows, words));
    });
  });
  return logits;
}

std::vector<double> output_losses(const Weights& weights, std::size_t vocabulary,
                                  MatrixView<const float> hidden, std::span<const int> targets,
                                  const RunContext& context) {
  DEWPOINT_EXPECTS(hidden.rows() == targets.size());
  std::vector<TokenLoss> tokens(targets.size());
  for_vocabulary_blocks(vocabulary, [&](Range words) {
    const Matrix<float> head = weights.head(words);
    for_row_blocks(hidden.rows(), operations(head), context, [&](Range rows) {
      Matrix<float> logits(rows.size(), words.size());
      multiply_abt(hidden.row_range(rows), head, logits);
      for (std::size_t i = 0; i < rows.size(); ++i) {
        const std::size_t token = rows.begin + i;
        take_block(logits.row(i), words, static_cast<std::size_t>(targets[token]), tokens[token]);
      }
    });
  });
  std::vector<double> losses;
  for (const TokenLoss& token : tokens) losses.push_back(token.total.value() - token.target);
  return losses;
}

}  // namespace dewpoint::models
