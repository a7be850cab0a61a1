#include "dewpoint/experiments/text_training.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <numeric>
#include <utility>

#include "dewpoint/checkpoint/refusal.hpp"
#include "dewpoint/experiments/text_configuration.hpp"
#include "dewpoint/experiments/text_probe.hpp"
#include "dewpoint/experiments/text_windows.hpp"
#include "dewpoint/experiments/training_run.hpp"
#include "dewpoint/transformer/model_folder.hpp"

namespace dewpoint::experiments {
namespace {

using transformer::AdamState;
using transformer::Look;
using transformer::Shape;
using transformer::Windows;

constexpr const char* kStateName = "state.safetensors";
constexpr const char* kLossSum = "loss_sum";

const TextQuestion& checked(const TextQuestion& question) {
  check(question);
  return question;
}

Shape shape_on(const TextQuestion& question, const text::Corpus& corpus) {
  Shape shape = question.shape;
  shape.vocabulary = corpus.vocabulary;
  transformer::check(shape);
  const auto require_window = [&](const char* part, std::size_t tokens) {
    if (window_places(tokens, question.context) > 0) return;
    throw Error(Code::bad_value,
                fmt::format("s: {} needs a {} part of at least {} tokens, and it has {}",
                            question.context, part, least_tokens(question), tokens));
  };
  require_window("training", corpus.training.size());
  require_window("validation", corpus.validation.size());
  return shape;
}

AdamState<float> start_of(const TextQuestion& question, const Shape& shape, std::uint64_t replica) {
  const double deviation =
      question.deviation > 0.0 ? question.deviation : 1.0 / static_cast<double>(shape.width);
  return {shape, transformer::initial_weights<float>(shape, deviation, question.seed, replica)};
}

store::Attachment attachment_of(const std::string& name, const std::string& content) {
  const auto bytes = std::as_bytes(std::span(content));
  return {name, {bytes.begin(), bytes.end()}};
}

/// A finite number as text that gives back the same double.
double exact_number(const transformer::Metadata& metadata, const char* field) {
  const auto found = metadata.find(field);
  const std::string text = found == metadata.end() ? "" : found->second;
  double value = 0.0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc{} && end == text.data() + text.size() && std::isfinite(value)) {
    return value;
  }
  throw checkpoint::to_error(Code::malformed_file, kStateName,
                             {field, "'" + checkpoint::excerpt(text) + "'", "a finite number"});
}

}  // namespace

struct TextRun::Parts {
  TextQuestion question;
  std::shared_ptr<const text::Corpus> corpus;
  Shape shape;
  transformer::Probe probe;
  transformer::Metadata configuration;
  bool histograms;
  WindowDraws draws;
  Windows validation;
  AdamState<float> state;
  transformer::Network<float> network;

  // Memory of a step.
  Windows windows;
  transformer::Batch batch;
  transformer::Weights<float> gradient;

  std::vector<Look> looks;
  double loss_sum = 0.0;  // of the batches since the last look
  std::vector<double> batch_losses;
  std::optional<std::uint64_t> diverged;
  double seconds = 0.0;
  double tokens_seen = 0.0;

  Parts(const TextQuestion& asked, std::shared_ptr<const text::Corpus> shared,
        std::uint64_t replica)
      : question(checked(asked)),
        corpus(std::move(shared)),
        shape(shape_on(question, *corpus)),
        probe(probe_of(question, *corpus)),
        configuration(configuration_of(question, *corpus, probe, replica)),
        histograms(sees_histograms(question)),
        draws(corpus->training, question.context, question.batch, question.seed, replica),
        validation(even_windows(corpus->validation, question.context, question.validation_windows)),
        state(start_of(question, shape, replica)),
        network(shape,
                transformer::capacity_of(question.batch, question.context, question.targets)),
        gradient(shape) {}

  void fill(const Windows& from) {
    if (histograms) {
      transformer::fill_collapsed(from, batch);
    } else {
      transformer::fill_explicit(from, question.targets, batch);
    }
  }

  /// False where the loss of the batch means nothing; then nothing has changed.
  bool step(const RunContext& context) {
    draws.draw(state.done, windows);
    fill(windows);
    const double loss = network.gradient(state.weights, batch, gradient, context);
    if (!is_sound(loss)) return false;
    transformer::adam_step(question.adam, gradient, state, context);
    loss_sum += loss;
    batch_losses.push_back(loss);
    tokens_seen += static_cast<double>(question.batch * question.context);
    return true;
  }

  [[nodiscard]] bool is_validation_time() const {
    return state.done % question.validate_every == 0 || state.done == question.steps;
  }
  [[nodiscard]] bool is_look_time() const {
    return state.done % question.every == 0 || is_validation_time();
  }

  /// Mean over the windows for validation, as many at a time as a batch has.
  double validation_loss(const RunContext& context) {
    const std::size_t count = validation.size(), length = question.context + 1;
    if (count == 0) return kUnknown;
    double sum = 0.0;
    for (std::size_t begin = 0; begin < count; begin += question.batch) {
      const std::size_t end = std::min(begin + question.batch, count);
      windows.context = question.context;
      windows.tokens.assign(validation.tokens.begin() + static_cast<std::ptrdiff_t>(begin * length),
                            validation.tokens.begin() + static_cast<std::ptrdiff_t>(end * length));
      fill(windows);
      sum += static_cast<double>(end - begin) * network.loss(state.weights, batch, context);
    }
    return sum / static_cast<double>(count);
  }

  /// A loss that means something; NaN is none.
  [[nodiscard]] bool is_sound(double loss) const {
    return loss <= kDiverged * std::log(static_cast<double>(shape.vocabulary));
  }
  [[nodiscard]] bool is_sound(const Look& seen) const {
    const bool measured = is_validation_time() && validation.size() > 0;
    const double sizes = std::accumulate(seen.query_size.begin(), seen.query_size.end(), 0.0) +
                         std::accumulate(seen.key_size.begin(), seen.key_size.end(), 0.0) +
                         seen.embedding_size + seen.unembedding_size;
    return std::isfinite(sizes) && (!measured || is_sound(seen.validation_loss));
  }

  /// What is seen is kept, unless the last step has made nonsense of the weights.
  void look(const RunContext& context) {
    const auto now = static_cast<double>(state.done);
    const double steps = looks.empty() ? now : now - looks.back().step;
    Look seen = transformer::look_at(now, shape, state.weights, probe, context);
    if (steps > 0.0) {
      seen.loss = loss_sum / steps;
      seen.gradient_size = transformer::size_of(gradient);
    }
    if (is_validation_time()) seen.validation_loss = validation_loss(context);
    if (!is_sound(seen)) {
      diverged = state.done - 1;
      return;
    }
    looks.push_back(std::move(seen));
    loss_sum = 0.0;
  }

  [[nodiscard]] bool has_sizes(const Look& look) const {
    return look.attention.size() == shape.layers * shape.heads &&
           look.attention[0].rows() == probe.tokens.size() &&
           look.norms.size() == probe.norms.size() && look.query_size.size() == shape.layers &&
           look.self_attention.size() == probe.sentence.size();
  }

  /// The first one at step 0, then in order of time and not after the state.
  void require_fitting(std::span<const Look> found, std::uint64_t done) const {
    bool fits = !found.empty() || done == 0;
    for (std::size_t i = 0; i < found.size() && fits; ++i) {
      const bool in_order = i == 0 ? found[i].step == 0.0 : found[i].step > found[i - 1].step;
      fits = in_order && found[i].step <= static_cast<double>(done) && has_sizes(found[i]);
    }
    if (fits) return;
    throw Error(Code::malformed_file,
                fmt::format("looks: they are not those of the run in {}", kStateName));
  }
};

TextRun::TextRun(const TextQuestion& question, std::shared_ptr<const text::Corpus> corpus,
                 std::uint64_t replica)
    : parts_(std::make_unique<Parts>(question, std::move(corpus), replica)) {}

TextRun::~TextRun() = default;

void TextRun::advance(const RunContext& context, const Watcher& watcher) {
  Parts& parts = *parts_;
  // A stop within a step would leave half of the weights moved.
  const RunContext within{context.threads, {}, {}};
  const auto look = [&] {
    parts.look(within);
    if (parts.diverged) return;
    if (watcher) watcher(*this);
    if (context.progress) {
      context.progress(static_cast<double>(done()), static_cast<double>(parts.question.steps));
    }
  };
  auto before = std::chrono::steady_clock::now();
  if (parts.looks.empty()) look();
  while (parts.state.done < parts.question.steps && !parts.diverged) {
    context.throw_if_stopped();
    if (!parts.step(within)) {
      parts.diverged = parts.state.done;
      break;
    }
    const auto after = std::chrono::steady_clock::now();
    parts.seconds += std::chrono::duration<double>(after - before).count();
    before = after;
    if (parts.is_look_time()) look();
  }
}

std::uint64_t TextRun::done() const { return parts_->state.done; }
std::optional<std::uint64_t> TextRun::diverged() const { return parts_->diverged; }
std::span<const Look> TextRun::looks() const { return parts_->looks; }
std::span<const double> TextRun::batch_losses() const { return parts_->batch_losses; }
const text::Corpus& TextRun::corpus() const { return *parts_->corpus; }
const Shape& TextRun::shape() const { return parts_->shape; }
const AdamState<float>& TextRun::state() const { return parts_->state; }
const TextQuestion& TextRun::question() const { return parts_->question; }
const transformer::Probe& TextRun::probe() const { return parts_->probe; }

double TextRun::tokens_per_second() const {
  return parts_->seconds > 0.0 ? parts_->tokens_seen / parts_->seconds : 0.0;
}

std::vector<store::Attachment> TextRun::attachments() const {
  std::vector<store::Attachment> all;
  if (!parts_->diverged) {
    transformer::Metadata metadata = parts_->configuration;
    metadata[kLossSum] = fmt::format("{}", parts_->loss_sum);
    all.push_back({kStateName, transformer::state_bytes(parts_->shape, parts_->state, metadata)});
  }
  all.push_back({"looks", transformer::to_bytes(parts_->looks)});
  for (const auto& [name, content] : parts_->corpus->files) {
    all.push_back(attachment_of(name, content));
  }
  return all;
}

void TextRun::restore(const store::StudyRecord& study) {
  Parts& parts = *parts_;
  transformer::StateFile file = transformer::read_state(study.attachment(kStateName), kStateName);
  transformer::require_same_shape(kStateName, file.shape, parts.shape);
  require_same_configuration(kStateName, file.metadata, parts.configuration);
  const double loss_sum = exact_number(file.metadata, kLossSum);
  std::vector<Look> looks = transformer::looks_from(study.attachment("looks"));
  parts.require_fitting(looks, file.state.done);

  parts.state = std::move(file.state);
  parts.looks = std::move(looks);
  parts.loss_sum = loss_sum;
  parts.batch_losses.clear();
  parts.diverged.reset();
}

void save_model_folder(const TextRun& run, const OutputFile& folder) {
  transformer::write_model_folder(folder, run.shape(), run.state().weights, run.question().context,
                                  run.corpus().files);
}

}  // namespace dewpoint::experiments
