#include "dewpoint/models/decoder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "dewpoint/models/decoder_layer.hpp"
#include "dewpoint/models/layer_scheme.hpp"
#include "dewpoint/models/model.hpp"
#include "dewpoint/models/output_head.hpp"
#include "dewpoint/models/row_blocks.hpp"
#include "dewpoint/models/saving.hpp"

namespace dewpoint::models {
namespace {

// Layers that rotate alike share their table.
class RotationTables {
 public:
  RotationTables(std::size_t n, const RunContext& context)
      : n_(n), context_{context.threads, context.stop, {}} {}

  // Null where nothing rotates.
  const RotationTable* of(const Rotation& rotation) {
    if (rotation.frequencies.empty()) return nullptr;
    for (const auto& table : tables_) {
      if (table->rotation() == rotation) return table.get();
    }
    tables_.push_back(std::make_unique<RotationTable>(rotation, n_, context_));
    return tables_.back().get();
  }

 private:
  std::size_t n_;
  RunContext context_;
  std::vector<std::unique_ptr<RotationTable>> tables_;
};

// What one forward pass carries from layer to layer.
class ForwardPass {
 public:
  ForwardPass(const Model& model, std::span<const int> tokens, const ForwardOptions& options,
              const RunContext& context)
      : model_(&model),
        options_(&options),
        context_(&context),
        quiet_{context.threads, context.stop, {}},
        tally_(context.progress,
               static_cast<double>(model.architecture.layers * model.architecture.heads)),
        schemes_(layer_schemes(model.config, options.rope, tokens.size())),
        tables_(tokens.size(), context),
        space_(model.architecture, tokens.size()),
        x_(tokens.size(), model.architecture.hidden) {
    model.weights.embed(tokens, x_);
  }

  void run_layer(std::size_t layer) {
    context_->throw_if_stopped();
    const bool last = layer + 1 == model_->architecture.layers;
    LayerTask task{.architecture = &model_->architecture,
                   .scheme = &schemes_[layer],
                   .rotation = tables_.of(schemes_[layer].rotation),
                   .multiplier = &options_->multiplier,
                   .visit = [&](std::size_t head,
                                const attention::Head& scores) { visit(layer, head, scores); },
                   .attend = options_->attend || !last};
    models::run_layer(model_->weights.layer(layer, quiet_), task, space_, x_, quiet_);
  }

  Matrix<float> finish() {
    const std::optional<Norm> norm = model_->weights.last_norm();
    const double work = 10.0 * static_cast<double>(x_.cols());
    for_row_blocks(x_.rows(), work, quiet_, [&](Range rows) {
      if (norm) normalise(*norm, x_.view().row_range(rows), x_.view().row_range(rows));
    });
    check_finite();
    return std::move(x_);
  }

 private:
  void visit(std::size_t layer, std::size_t head, const attention::Head& scores) {
    context_->throw_if_stopped();
    if (options_->visit) options_->visit(layer, head, scores);
    tally_.finish(1.0);
  }

  void check_finite() const {
    for (std::size_t i = 0; i < x_.rows(); ++i) {
      const auto row = x_.row(i);
      if (std::all_of(row.begin(), row.end(), [](float x) { return std::isfinite(x); })) continue;
      throw Error(Code::malformed_file,
                  fmt::format("{}: hidden state of token {}: found a number that is not finite, "
                              "allowed: weights that float32 can work with",
                              model_->config.file, i));
    }
  }

  const Model* model_;
  const ForwardOptions* options_;
  const RunContext* context_;
  RunContext quiet_;
  ProgressTally tally_;
  std::vector<LayerScheme> schemes_;
  RotationTables tables_;
  Workspace space_;
  Matrix<float> x_;
};

}  // namespace

struct Decoder::Parts {
  Model model;
};

Decoder::Decoder(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
Decoder::~Decoder() = default;
Decoder::Decoder(Decoder&&) noexcept = default;
Decoder& Decoder::operator=(Decoder&&) noexcept = default;

Decoder Decoder::open(const std::filesystem::path& path) {
  return Decoder(std::make_unique<Parts>(Parts{open_model(path)}));
}

const checkpoint::ModelConfig& Decoder::config() const { return parts_->model.config; }

Matrix<float> Decoder::hidden_states(std::span<const int> tokens, const ForwardOptions& options,
                                     const RunContext& context) const {
  check_tokens(parts_->model, tokens);
  ForwardPass pass(parts_->model, tokens, options, context);
  const std::size_t layers = parts_->model.architecture.layers;
  for (std::size_t layer = 0; layer < layers; ++layer) pass.run_layer(layer);
  return options.attend ? pass.finish() : Matrix<float>{};
}

Matrix<float> Decoder::logits(MatrixView<const float> hidden, const RunContext& context) const {
  return output_logits(parts_->model.weights, parts_->model.architecture.vocabulary, hidden,
                       context);
}

std::vector<double> Decoder::next_token_losses(std::span<const int> tokens,
                                               MatrixView<const float> hidden,
                                               const RunContext& context) const {
  DEWPOINT_EXPECTS(tokens.size() == hidden.rows());
  require_causal(parts_->model.config);
  check_tokens(parts_->model, tokens);
  return output_losses(parts_->model.weights, parts_->model.architecture.vocabulary,
                       hidden.row_range({0, tokens.size() - 1}), tokens.subspan(1), context);
}

std::vector<int> Decoder::generate(std::vector<int> prompt, std::size_t count,
                                   std::optional<int> stop, const RunContext& context) const {
  const RunContext quiet{context.threads, context.stop, {}};
  ProgressTally tally(context.progress, static_cast<double>(count));
  std::vector<int> made;
  while (made.size() < count) {
    const Matrix<float> hidden = hidden_states(prompt, {}, quiet);
    const Matrix<float> last = logits(hidden.view().row_range({prompt.size() - 1, prompt.size()}));
    const auto row = last.row(0);
    const int next = static_cast<int>(std::max_element(row.begin(), row.end()) - row.begin());
    if (stop && next == *stop) break;
    made.push_back(next);
    prompt.push_back(next);
    tally.finish(1.0);
  }
  return made;
}

void Decoder::save(const OutputFile& folder) const { save_model(parts_->model, folder); }

}  // namespace dewpoint::models
