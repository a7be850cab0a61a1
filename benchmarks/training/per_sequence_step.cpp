#include "training/per_sequence_step.hpp"

#include <algorithm>
#include <cmath>

#include "dewpoint/core/blas.hpp"

namespace dewpoint::training::bench {
namespace {

// Simple loops that the compiler vectorises; eight partial sums, since it may not reorder one.
float dot(const float* a, const float* b, std::size_t n) {
  float sums[8] = {};
  std::size_t j = 0;
  for (; j + 8 <= n; j += 8) {
    for (std::size_t k = 0; k < 8; ++k) sums[k] += a[j + k] * b[j + k];
  }
  float sum = 0.0F;
  for (; j < n; ++j) sum += a[j] * b[j];
  for (const float part : sums) sum += part;
  return sum;
}

void add(float factor, const float* from, std::size_t n, float* to) {
  for (std::size_t j = 0; j < n; ++j) to[j] += factor * from[j];
}

void add(const Matrix<float>& from, Matrix<float>& to) {
  add(1.0F, from.data(), from.size(), to.data());
}

void softmax(std::span<float> values) {
  const float most = *std::max_element(values.begin(), values.end());
  float sum = 0.0F;
  for (float& value : values) sum += value = std::exp(value - most);
  for (float& value : values) value /= sum;
}

void clear(Matrix<float>& matrix) { std::fill_n(matrix.data(), matrix.size(), 0.0F); }

}  // namespace

PerSequenceStep::PerSequenceStep(const Parameters<float>& weights, std::size_t context,
                                 std::size_t chunk, Keys keys)
    : weights_(weights),
      context_(context),
      chunk_(chunk),
      width_(weights.width()),
      keys_(keys),
      gradient_(weights.vocabulary(), width_),
      tokens_(chunk * context, width_),
      tokens_slope_(chunk * context, width_),
      last_(chunk, width_),
      last_slope_(chunk, width_),
      query_(chunk, width_),
      query_slope_(chunk, width_),
      probe_(chunk, width_),
      probe_slope_(chunk, width_),
      attention_(chunk, context),
      mean_(chunk, width_),
      mean_slope_(chunk, width_),
      logits_(chunk, weights.vocabulary()),
      square_(width_, width_),
      outer_(width_, weights.vocabulary()),
      indicator_(chunk * context, weights.vocabulary()),
      embedding_(weights.vocabulary(), width_) {
  if (keys_ == Keys::every_key) {
    keys_all_ = Matrix<float>(chunk * context, width_);
    keys_slope_ = Matrix<float>(chunk * context, width_);
  }
}

void PerSequenceStep::add_chunk(const SequenceSet& sequences, std::size_t first) {
  embed(sequences, first);
  score();
  attend();
  output(sequences, first);
  backward_attention();
  backward_scores();
  scatter(sequences, first);
}

void PerSequenceStep::embed(const SequenceSet& sequences, std::size_t first) {
  for (std::size_t b = 0; b < chunk_; ++b) {
    const auto sequence = sequences.sequence(first + b);
    for (std::size_t t = 0; t < context_; ++t) {
      std::copy_n(weights_.embedding.row(sequence[t]).data(), width_, token(tokens_, b, t));
    }
    std::copy_n(token(tokens_, b, context_ - 1), width_, last_.row(b).data());
  }
}

void PerSequenceStep::score() {
  multiply_ab(last_, weights_.query, query_);
  if (keys_ == Keys::every_key) {
    multiply_ab(tokens_, weights_.key, keys_all_);
  } else {
    multiply_abt(query_, weights_.key, probe_);
  }
  const bool all = keys_ == Keys::every_key;
  for (std::size_t b = 0; b < chunk_; ++b) {
    const float* const question = all ? query_.row(b).data() : probe_.row(b).data();
    for (std::size_t t = 0; t < context_; ++t) {
      attention_(b, t) = dot(question, token(all ? keys_all_ : tokens_, b, t), width_);
    }
  }
}

void PerSequenceStep::attend() {
  clear(mean_);
  for (std::size_t b = 0; b < chunk_; ++b) {
    softmax(attention_.row(b));
    for (std::size_t t = 0; t < context_; ++t) {
      add(attention_(b, t), token(tokens_, b, t), width_, mean_.row(b).data());
    }
  }
}

// Logits, their slopes, and what W1 and the mean get from them.
void PerSequenceStep::output(const SequenceSet& sequences, std::size_t first) {
  multiply_ab(mean_, weights_.unembedding, logits_);
  for (std::size_t b = 0; b < chunk_; ++b) {
    softmax(logits_.row(b));
    logits_(b, sequences.sequence(first + b)[context_]) -= 1.0F;
  }
  multiply_atb(mean_, logits_, outer_);
  add(outer_, gradient_.unembedding);
  multiply_abt(logits_, weights_.unembedding, mean_slope_);
}

// ∂L/∂A_t = ∂L/∂mean · Z_t, then through the softmax; Z_t gets A_t ∂L/∂mean.
void PerSequenceStep::backward_attention() {
  clear(tokens_slope_);
  std::vector<float> slope(context_);
  for (std::size_t b = 0; b < chunk_; ++b) {
    const float* const from_mean = mean_slope_.row(b).data();
    float average = 0.0F;
    for (std::size_t t = 0; t < context_; ++t) {
      slope[t] = dot(from_mean, token(tokens_, b, t), width_);
      average += attention_(b, t) * slope[t];
      add(attention_(b, t), from_mean, width_, token(tokens_slope_, b, t));
    }
    for (std::size_t t = 0; t < context_; ++t) attention_(b, t) *= slope[t] - average;
  }
}

void PerSequenceStep::backward_scores() {
  if (keys_ == Keys::every_key) {
    clear(query_slope_);
    clear(keys_slope_);
    for (std::size_t b = 0; b < chunk_; ++b) {
      for (std::size_t t = 0; t < context_; ++t) {
        add(attention_(b, t), token(keys_all_, b, t), width_, query_slope_.row(b).data());
        add(attention_(b, t), query_.row(b).data(), width_, token(keys_slope_, b, t));
      }
    }
    multiply_atb(tokens_, keys_slope_, square_);
    add(square_, gradient_.key);
    multiply_abt(keys_slope_, weights_.key, keys_all_);
    add(keys_all_, tokens_slope_);
  } else {
    clear(probe_slope_);
    for (std::size_t b = 0; b < chunk_; ++b) {
      for (std::size_t t = 0; t < context_; ++t) {
        add(attention_(b, t), token(tokens_, b, t), width_, probe_slope_.row(b).data());
        add(attention_(b, t), probe_.row(b).data(), width_, token(tokens_slope_, b, t));
      }
    }
    multiply_atb(probe_slope_, query_, square_);
    add(square_, gradient_.key);
    multiply_ab(probe_slope_, weights_.key, query_slope_);
  }
  multiply_atb(last_, query_slope_, square_);
  add(square_, gradient_.query);
  multiply_abt(query_slope_, weights_.query, last_slope_);
}

// Every token hands its slope to its row of W0: a product with the indicator of the tokens, which
// BLAS sums in blocks; one by one, ten thousand float32 additions would lose two digits.
void PerSequenceStep::scatter(const SequenceSet& sequences, std::size_t first) {
  clear(indicator_);
  for (std::size_t b = 0; b < chunk_; ++b) {
    const auto sequence = sequences.sequence(first + b);
    for (std::size_t t = 0; t < context_; ++t) indicator_(b * context_ + t, sequence[t]) = 1.0F;
    add(1.0F, last_slope_.row(b).data(), width_, token(tokens_slope_, b, context_ - 1));
  }
  multiply_atb(indicator_, tokens_slope_, embedding_);
  add(embedding_, gradient_.embedding);
}

}  // namespace dewpoint::training::bench
