#include "dewpoint/experiments/training_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "dewpoint/checkpoint/npy_writer.hpp"
#include "dewpoint/core/error.hpp"
#include "dewpoint/training/histograms.hpp"
#include "dewpoint/training/scaled_loss.hpp"
#include "dewpoint/training/sequences.hpp"

namespace dewpoint::experiments {
namespace {

using training::Parameters;
using training::TokenLoss;

struct Data {
  std::unique_ptr<TokenLoss> loss;
  std::size_t rows = 0;
};

Data sampled_data(const TrainingQuestion& question, std::uint64_t replica,
                  const training::LossOptions& options, const RunContext& context) {
  const training::SequenceSet sequences = training::sample_sequences(
      question.chain, question.context, question.sequences, question.seed, replica, context);
  const training::HistogramRows rows = training::collapse(sequences);
  if (question.batch == 0) return {training::histogram_loss(rows, options), rows.size()};
  return {training::minibatch_loss(sequences, question.batch, question.seed, replica, options),
          rows.size()};
}

Data data_of(const TrainingQuestion& question, std::uint64_t replica, const RunContext& context) {
  const training::LossOptions options{question.residual, question.precision};
  if (question.data == TrainingData::population) {
    return {training::population_loss(question.chain, options), 0};
  }
  if (question.data == TrainingData::sampled) {
    return sampled_data(question, replica, options, context);
  }
  const training::HistogramRows rows = training::exact_rows(question.chain, question.context);
  return {training::histogram_loss(rows, options), rows.size()};
}

Parameters<double> start_of(const TrainingQuestion& question, std::uint64_t replica) {
  const double deviation =
      question.deviation > 0.0 ? question.deviation : 1.0 / static_cast<double>(question.width);
  return training::initial_parameters(question.chain.vocabulary(), question.width, deviation,
                                      question.seed, replica);
}

/// The first multiple of `every` after `time`, at most `until`.
double next_record(double time, double every, double until) {
  double count = std::floor(time / every);
  while (count * every <= time) ++count;  // a quotient may be rounded down
  return std::min(count * every, until);
}

void attach_matrix(std::vector<store::Attachment>& attachments, double time, const char* name,
                   const Matrix<double>& matrix) {
  const std::string bytes = checkpoint::npy_bytes(std::span(matrix.data(), matrix.size()),
                                                  {matrix.rows(), matrix.cols()});
  const auto raw = std::as_bytes(std::span(bytes));
  attachments.push_back({fmt::format("{}/{}.npy", time, name), {raw.begin(), raw.end()}});
}

void attach_weights(std::vector<store::Attachment>& attachments, double time,
                    const Parameters<double>& weights) {
  attach_matrix(attachments, time, "W0", weights.embedding);
  attach_matrix(attachments, time, "W1", weights.unembedding);
  attach_matrix(attachments, time, "WQ", weights.query);
  attach_matrix(attachments, time, "WK", weights.key);
}

}  // namespace

struct TrainingRun::Parts {
  TrainingQuestion question;
  std::uint64_t replica;
  Data data;
  std::unique_ptr<training::Trainer> trainer;
  training::GradientFlow* flow = nullptr;  // the trainer, where it is one
  std::vector<training::Record> records;
  std::vector<training::Condensation> moments;
  std::vector<store::Attachment> kept;  // weights at the moments
  Parameters<double> latest;            // at the last record
  std::optional<double> diverged;

  Parts(const TrainingQuestion& asked, std::uint64_t number, const RunContext& context)
      : question(asked), replica(number), data(data_of(asked, number, context)) {
    data.loss = training::scaled_loss(std::move(data.loss), question.score_scale);
    Parameters<double> start = start_of(question, replica);
    if (question.optimiser == Optimiser::flow) {
      auto made = training::gradient_flow(*data.loss, start, question.flow);
      flow = made.get();
      trainer = std::move(made);
    } else if (question.optimiser == Optimiser::descent) {
      trainer = training::gradient_descent(*data.loss, start, question.adam.rate);
    } else {
      trainer = training::adam(*data.loss, start, question.adam, question.precision);
    }
  }

  /// The next time at which there is something to write down.
  [[nodiscard]] double next_stop() const {
    const double time = trainer->time();
    double next = next_record(time, question.every, question.until);
    for (const double moment : question.moments) {
      if (moment > time) next = std::min(next, moment);
    }
    return next;
  }

  [[nodiscard]] bool is_record(double time) const {
    return time == question.until || std::round(time / question.every) * question.every == time;
  }

  /// False where the loss is not finite, or too large.
  bool write_down() {
    const double time = trainer->time();
    Parameters<double> weights = trainer->parameters();
    if (is_record(time)) {
      training::Record record =
          training::record_of(time, weights, *data.loss, question.chain.stationary);
      if (!(record.loss <= kDiverged * std::log(static_cast<double>(weights.vocabulary())))) {
        return false;
      }
      if (flow != nullptr) record.conserved_drift = flow->conserved_drift();
      records.push_back(std::move(record));
    }
    if (std::binary_search(question.moments.begin(), question.moments.end(), time)) {
      keep_moment(time, weights);
    }
    if (is_record(time)) latest = std::move(weights);
    return true;
  }

  void keep_moment(double time, const Parameters<double>& weights) {
    moments.push_back(training::condensation_of(time, weights));
    attach_weights(kept, time, weights);
  }
};

TrainingRun::TrainingRun(const TrainingQuestion& question, std::uint64_t replica,
                         const RunContext& context)
    : parts_(std::make_unique<Parts>(question, replica, context)) {}

TrainingRun::~TrainingRun() = default;

void TrainingRun::advance(const RunContext& context, const Watcher& watcher) {
  Parts& parts = *parts_;
  RunContext quiet = context;
  quiet.progress = {};
  if (parts.records.empty()) (void)parts.write_down();
  while (parts.trainer->time() < parts.question.until && !parts.diverged) {
    context.throw_if_stopped();
    if (!parts.trainer->advance(parts.next_stop(), quiet) || !parts.write_down()) {
      parts.diverged = parts.trainer->time();
    }
    if (watcher) watcher(parts.records);
    if (context.progress) context.progress(parts.trainer->time(), parts.question.until);
  }
}

void TrainingRun::revisit(const training::Stages& stages, const RunContext& context) {
  Parts& parts = *parts_;
  TrainingQuestion& question = parts.question;
  question.moments = stage_moments(parts.records, stages);
  const std::vector<double> earlier(question.moments.begin(), question.moments.end() - 1);
  TrainingQuestion again = question;
  again.moments = earlier;
  again.until = earlier.back();
  TrainingRun past(again, parts.replica, context);
  past.advance({context.threads, context.stop, {}});
  parts.moments = std::move(past.parts_->moments);
  parts.kept = std::move(past.parts_->kept);
  parts.keep_moment(parts.records.back().time, parts.latest);
}

double TrainingRun::time() const { return parts_->trainer->time(); }
std::optional<double> TrainingRun::diverged() const { return parts_->diverged; }
std::span<const training::Record> TrainingRun::records() const { return parts_->records; }
std::span<const training::Condensation> TrainingRun::moments() const { return parts_->moments; }
const training::GradientFlow* TrainingRun::flow() const { return parts_->flow; }
std::size_t TrainingRun::rows() const { return parts_->data.rows; }

std::vector<store::Attachment> TrainingRun::attachments() const {
  std::vector<store::Attachment> all;
  if (!parts_->diverged) all.push_back({"state", parts_->trainer->state()});
  all.push_back({"records", training::to_bytes(parts_->records)});
  all.push_back({"moments", training::to_bytes(parts_->moments)});
  all.insert(all.end(), parts_->kept.begin(), parts_->kept.end());
  const double end = parts_->diverged ? parts_->records.back().time : parts_->trainer->time();
  const bool end_is_kept = !parts_->moments.empty() && parts_->moments.back().time == end;
  if (!end_is_kept) {
    attach_weights(all, end, parts_->diverged ? parts_->latest : parts_->trainer->parameters());
  }
  return all;
}

void TrainingRun::restore(const store::StudyRecord& study) {
  parts_->trainer->restore(study.attachment("state"));
  parts_->records = training::records_from_bytes(study.attachment("records"));
  parts_->moments = training::condensations_from_bytes(study.attachment("moments"));
  parts_->kept.clear();
  for (const store::Attachment& one : study.attachments) {
    const bool at_moment = std::any_of(
        parts_->moments.begin(), parts_->moments.end(),
        [&](const auto& moment) { return one.name.starts_with(fmt::format("{}/", moment.time)); });
    if (at_moment) parts_->kept.push_back(one);
  }
  parts_->latest = parts_->trainer->parameters();
}

}  // namespace dewpoint::experiments
