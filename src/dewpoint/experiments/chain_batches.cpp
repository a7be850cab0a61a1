#include "dewpoint/experiments/chain_batches.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>
#include <utility>

#include "dewpoint/core/error.hpp"
#include "dewpoint/core/random.hpp"
#include "dewpoint/training/layered_adam.hpp"
#include "dewpoint/training/sequences.hpp"

namespace dewpoint::experiments {

using transformer::Batch;
using transformer::Capacity;

// ---- histograms ---------------------------------------------------------------------------------

HistogramContexts::HistogramContexts(training::HistogramRows rows)
    : rows_(std::move(rows)), histograms_(groups_of(rows_)) {
  DEWPOINT_EXPECTS(rows_.size() >= 1);
}

double HistogramContexts::fill(const Matrix<double>& labels, Range contexts, Batch& batch) const {
  batch.tokens.clear();
  batch.log_counts.clear();
  batch.begins.assign(1, 0);
  batch.questions.clear();
  batch.asked.clear();
  for (std::size_t i = contexts.begin; i < contexts.end; ++i) {
    add_context(histograms_.groups[i], labels, batch);
  }
  double weight = 0.0;
  for (const transformer::Question& question : batch.questions) weight += question.weight;
  for (transformer::Question& question : batch.questions) question.weight /= weight;
  return weight;
}

void HistogramContexts::add_context(const Range& group, const Matrix<double>& labels,
                                    Batch& batch) const {
  const auto first = static_cast<std::uint32_t>(batch.rows());
  const std::size_t questions = batch.questions.size();
  for (std::size_t i = group.begin; i < group.end; ++i)
    ask(histograms_.order[i], labels, first, batch);
  if (batch.questions.size() == questions) return;
  const std::span<const double> counts = rows_.counts.row(histograms_.order[group.begin]);
  for (std::size_t token = 0; token < counts.size(); ++token) {
    if (counts[token] == 0.0) continue;
    batch.tokens.push_back(static_cast<std::int32_t>(token));
    batch.log_counts.push_back(std::log(counts[token]));
  }
  batch.begins.push_back(static_cast<std::uint32_t>(batch.rows()));
}

// The row of the last token stands behind those of the tokens before it that occur.
void HistogramContexts::ask(std::size_t row, const Matrix<double>& labels, std::uint32_t first,
                            Batch& batch) const {
  const std::span<const double> counts = rows_.counts.row(row).first(rows_.last[row]);
  const auto asked = first + static_cast<std::uint32_t>(std::count_if(
                                 counts.begin(), counts.end(), [](double n) { return n > 0.0; }));
  const std::size_t questions = batch.questions.size();
  for (std::size_t label = 0; label < labels.cols(); ++label) {
    if (!(labels(row, label) > 0.0)) continue;
    batch.questions.push_back({asked, static_cast<std::int32_t>(label), labels(row, label)});
  }
  if (batch.questions.size() > questions) batch.asked.push_back(asked);
}

namespace {

// ---- without mask -------------------------------------------------------------------------------

// Contexts of a part of the data set where batches are smaller.
constexpr std::size_t kFewestContexts = 64;

class CollapsedBatches final : public ChainBatches {
 public:
  CollapsedBatches(training::HistogramRows rows, const LayerQuestion& question,
                   std::uint64_t replica)
      : contexts_(std::move(rows)),
        batch_size_(question.batch),
        draws_(contexts_.rows(), question.batch, Stream(question.seed, "training/batch", replica)) {
    const training::HistogramRows& all = contexts_.rows();
    const std::size_t most = std::max(batch_size_, kFewestContexts);
    for (std::size_t first = 0; first < contexts_.size(); first += most) {
      WeighedBatch& part = parts_.emplace_back();
      const Range range{first, std::min(first + most, contexts_.size())};
      part.share = contexts_.fill(all.labels, range, part.batch) / all.weight;
    }
  }

  // A step has at most as many contexts, and questions, as sequences.
  [[nodiscard]] Capacity capacity() const override {
    const training::HistogramRows& all = contexts_.rows();
    const std::size_t tokens = all.vocabulary;
    Capacity most{.rows = std::max(batch_size_ * std::min(tokens, all.context), tokens),
                  .contexts = batch_size_,
                  .asked = std::max(batch_size_, tokens),
                  .questions = std::max(batch_size_, tokens),
                  .context = tokens};
    for (const WeighedBatch& part : parts_) {
      most.rows = std::max(most.rows, part.batch.rows());
      most.contexts = std::max(most.contexts, part.batch.contexts());
      most.asked = std::max(most.asked, part.batch.asked.size());
      most.questions = std::max(most.questions, part.batch.questions.size());
    }
    return most;
  }
  [[nodiscard]] const Batch& of_step(std::uint64_t step) override {
    contexts_.fill(draws_.draw(step), {0, contexts_.size()}, batch_);
    return batch_;
  }
  [[nodiscard]] const std::vector<WeighedBatch>& all() const override { return parts_; }

 private:
  HistogramContexts contexts_;
  std::size_t batch_size_;
  training::BatchDraws draws_;
  Batch batch_;
  std::vector<WeighedBatch> parts_;
};

// ---- causal -------------------------------------------------------------------------------------

class SequenceBatches final : public ChainBatches {
 public:
  SequenceBatches(training::SequenceSet sequences, const LayerQuestion& question,
                  std::uint64_t replica)
      : sequences_(std::move(sequences)),
        batch_size_(question.batch),
        stream_(question.seed, "training/batch", replica) {
    windows_.context = sequences_.context;
    const std::size_t sample = std::min(kSample, sequences_.size());
    for (std::size_t first = 0; first < sample; first += batch_size_) {
      const std::size_t end = std::min(first + batch_size_, sample);
      windows_.tokens.clear();
      for (std::size_t i = first; i < end; ++i) append(i * sequences_.size() / sample);
      WeighedBatch& part = parts_.emplace_back();
      transformer::fill_explicit(windows_, transformer::Targets::last, part.batch);
      part.share = static_cast<double>(end - first) / static_cast<double>(sample);
    }
  }

  [[nodiscard]] Capacity capacity() const override {
    Capacity capacity =
        transformer::capacity_of(batch_size_, sequences_.context, transformer::Targets::last);
    for (std::size_t* rows :
         {&capacity.rows, &capacity.asked, &capacity.questions, &capacity.context}) {
      *rows = std::max(*rows, sequences_.vocabulary);
    }
    return capacity;
  }
  [[nodiscard]] const Batch& of_step(std::uint64_t step) override {
    windows_.tokens.clear();
    const auto all = static_cast<double>(sequences_.size());
    for (std::size_t b = 0; b < batch_size_; ++b) {
      const auto drawn = static_cast<std::size_t>(stream_.uniform(step * batch_size_ + b) * all);
      append(std::min(drawn, sequences_.size() - 1));
    }
    transformer::fill_explicit(windows_, transformer::Targets::last, batch_);
    return batch_;
  }
  [[nodiscard]] const std::vector<WeighedBatch>& all() const override { return parts_; }

 private:
  void append(std::size_t number) {
    const std::span<const std::uint8_t> sequence = sequences_.sequence(number);
    windows_.tokens.insert(windows_.tokens.end(), sequence.begin(), sequence.end());
  }

  training::SequenceSet sequences_;
  std::size_t batch_size_;
  Stream stream_;
  transformer::Windows windows_;
  Batch batch_;
  std::vector<WeighedBatch> parts_;
};

}  // namespace

std::unique_ptr<ChainBatches> chain_batches(const LayerQuestion& question, std::uint64_t replica,
                                            const RunContext& context) {
  training::SequenceSet sequences = training::sample_sequences(
      question.chain, question.context, question.sequences, question.seed, replica, context);
  if (question.shape.permutation_equivariant()) {
    return std::make_unique<CollapsedBatches>(training::collapse(sequences), question, replica);
  }
  return std::make_unique<SequenceBatches>(std::move(sequences), question, replica);
}

}  // namespace dewpoint::experiments
