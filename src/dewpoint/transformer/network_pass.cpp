#include "dewpoint/transformer/network_pass.hpp"

#include <algorithm>

#include "dewpoint/transformer/costs.hpp"
#include "dewpoint/transformer/row_norm.hpp"
#include "dewpoint/transformer/rows.hpp"

namespace dewpoint::transformer {
namespace {

// Rows of a matrix of weights, and states or tokens, of one job.
constexpr std::size_t kWeightRows = 128, kRowBlock = 64;

std::size_t distinct_tokens(std::span<const std::int32_t> tokens, std::size_t vocabulary) {
  std::vector<bool> present(vocabulary);
  for (const std::int32_t token : tokens) present[static_cast<std::size_t>(token)] = true;
  return static_cast<std::size_t>(std::ranges::count(present, true));
}

std::size_t distinct_asked(const Batch& batch, std::size_t vocabulary) {
  std::vector<std::int32_t> tokens;
  for (const std::uint32_t row : batch.asked) tokens.push_back(batch.tokens[row]);
  return distinct_tokens(tokens, vocabulary);
}

bool fits(const Batch& batch, const Capacity& capacity) {
  return batch.rows() <= capacity.rows && batch.contexts() <= capacity.contexts &&
         batch.asked.size() <= capacity.asked && batch.questions.size() <= capacity.questions &&
         batch.longest_context() <= capacity.context;
}

}  // namespace

template <class Real>
NetworkPass<Real>::NetworkPass(const Shape& shape, const Capacity& capacity,
                               std::size_t kept_context, bool few_asked)
    : shape_(shape),
      capacity_(capacity),
      index_(shape, capacity, kept_context),
      levels_(shape.layers),
      workspace_(shape, capacity, shape.layers - (few_asked ? 1U : 0U)),
      output_(shape, capacity),
      asked_states_(capacity.asked * shape.width),
      asked_slope_(capacity.asked * shape.width) {
  const std::size_t m = shape.width, tokens = std::min(shape.vocabulary, capacity.rows);
  for (std::size_t layer = 0; layer < shape.layers; ++layer) {
    const std::size_t states = layer == 0 ? tokens : capacity.rows;
    levels_[layer].states = Room<Real>(states * m);
    if (shape.pre_norm) levels_[layer].factors.resize(states);
    if (few_asked && layer + 1 == shape.layers) continue;
    full_.emplace_back(shape, capacity, layer, kept_context);
  }
  if (few_asked) last_.emplace(shape, capacity);
  if (shape.pre_norm) token_carried_ = Room<Real>(tokens * m);
  if (!few_asked || (shape.pre_norm && shape.layers > 1)) {
    row_carried_ = Room<Real>(capacity.rows * m);
  }
  if (shape.pre_norm) asked_factors_.resize(capacity.asked);
  log_counts_.reserve(capacity.rows);
}

template <class Real>
double NetworkPass<Real>::operations(const Batch& batch) const {
  const std::size_t tokens = distinct_tokens(batch.tokens, shape_.vocabulary);
  double total = OutputLoss<Real>::operations(shape_, batch.asked.size());
  for (std::size_t layer = 0; layer < full_.size(); ++layer) {
    total += FullLayer<Real>::operations(shape_, batch, layer == 0 ? tokens : batch.rows());
  }
  if (!last_) return total;
  const std::size_t groups =
      shape_.layers > 1 ? batch.asked.size() : distinct_asked(batch, shape_.vocabulary);
  return total + AskedLayer<Real>::operations(shape_, batch, groups);
}

// ---- views --------------------------------------------------------------------------------------

template <class Real>
IndexedBatch<Real> NetworkPass<Real>::indexed(const Batch& batch) const {
  return {batch, index_, log_counts_};
}

template <class Real>
LayerInput<Real> NetworkPass<Real>::input(std::size_t layer) {
  const std::size_t states = index_.states(layer), m = shape_.width;
  LayerInput<Real> result;
  result.layer = layer;
  result.states = levels_[layer].states.view(states, m);
  result.carried = result.states;
  if (!shape_.pre_norm) return result;
  result.carried = (layer == 0 ? token_carried_ : row_carried_).view(states, m);
  result.factors = std::span<const Real>(levels_[layer].factors).first(states);
  return result;
}

template <class Real>
MatrixView<Real> NetworkPass<Real>::asked_states(const Batch& batch) {
  return asked_states_.view(batch.asked.size(), shape_.width);
}

// ---- forth --------------------------------------------------------------------------------------

template <class Real>
void NetworkPass<Real>::take_in(const Batch& batch) {
  DEWPOINT_EXPECTS(fits(batch, capacity_));
  DEWPOINT_EXPECTS(batch.contexts() > 0 && !batch.asked.empty());
  DEWPOINT_EXPECTS(batch.log_counts.empty() || shape_.permutation_equivariant());
  index_.build(batch);
  log_counts_.clear();
  for (const auto log_count : batch.log_counts) {
    log_counts_.push_back(static_cast<Real>(log_count));
  }
  for (std::size_t layer = 0; layer < full_.size(); ++layer) {
    full_[layer].expect_states(index_.states(layer));
  }
}

template <class Real>
void NetworkPass<Real>::fuse(const Weights<Real>& at, const Crew& crew) {
  const std::size_t m = shape_.width, blocks = (m + kWeightRows - 1) / kWeightRows;
  crew.for_each(full_.size() * blocks, pass_cost(full_.size() * m, m), [&](std::size_t job) {
    const std::size_t layer = job / blocks, first = job % blocks * kWeightRows;
    full_[layer].fuse(at.layers[layer], {first, std::min(m, first + kWeightRows)});
  });
}

template <class Real>
void NetworkPass<Real>::embed(const Weights<Real>& at, const Crew& crew) {
  const std::span<const std::int32_t> tokens = index_.tokens().tokens();
  Room<Real>& room = shape_.pre_norm ? token_carried_ : levels_[0].states;
  const MatrixView<Real> rows = room.view(tokens.size(), shape_.width);
  crew.for_blocks(tokens.size(), kRowBlock, pass_cost(rows.rows(), rows.cols()), [&](Range block) {
    for (std::size_t i = block.begin; i < block.end; ++i) {
      const auto token = static_cast<std::size_t>(tokens[i]);
      copy_row(at.embedding.row(token), rows.row(i));
    }
  });
}

template <class Real>
void NetworkPass<Real>::normalise_level(std::size_t layer, const Crew& crew) {
  if (!shape_.pre_norm) return;
  const LayerInput<Real> level = input(layer);
  const std::size_t states = level.states.rows();
  const MatrixView<Real> normed = levels_[layer].states.view(states, shape_.width);
  crew.for_blocks(states, kRowBlock, pass_cost(states, shape_.width), [&](Range block) {
    for (std::size_t i = block.begin; i < block.end; ++i) {
      levels_[layer].factors[i] = normalise_row(level.carried.row(i), normed.row(i));
    }
  });
}

// The states that logits are made from: with pre-norm, normed.
template <class Real>
void NetworkPass<Real>::finish_asked(const Batch& batch, const Crew& crew) {
  if (last_ && !shape_.pre_norm) return;
  const MatrixView<Real> states = asked_states(batch);
  crew.for_blocks(states.rows(), kRowBlock, pass_cost(states.rows(), states.cols()),
                  [&](Range block) {
                    for (std::size_t i = block.begin; i < block.end; ++i) {
                      const std::span<Real> state = states.row(i);
                      if (!last_) {
                        const MatrixView<Real> all = row_carried_.view(batch.rows(), shape_.width);
                        copy_row(all.row(batch.asked[i]), state);
                      }
                      if (!shape_.pre_norm) continue;
                      asked_factors_[i] = normalise_row(std::span<const Real>(state), state);
                    }
                  });
}

template <class Real>
void NetworkPass<Real>::forward(const Weights<Real>& at, const Batch& batch, const Crew& crew) {
  take_in(batch);
  fuse(at, crew);
  embed(at, crew);
  normalise_level(0, crew);
  const IndexedBatch<Real> known = indexed(batch);
  for (std::size_t layer = 0; layer < full_.size(); ++layer) {
    const bool is_last = layer + 1 == shape_.layers;
    Room<Real>& room = is_last || shape_.pre_norm ? row_carried_ : levels_[layer + 1].states;
    full_[layer].forward(input(layer), known, workspace_, crew,
                         room.view(batch.rows(), shape_.width));
    if (!is_last) normalise_level(layer + 1, crew);
  }
  if (last_) {
    const std::size_t layer = shape_.layers - 1;
    last_->forward(at.layers[layer], input(layer), known, crew, asked_states(batch));
  }
  finish_asked(batch, crew);
}

template <class Real>
double NetworkPass<Real>::loss(const Weights<Real>& at, const Batch& batch, const Crew& crew) {
  return output_.loss(at.unembedding, asked_states(batch), indexed(batch), crew);
}

// ---- and back -----------------------------------------------------------------------------------

// From the slopes of normed states to those of states, in their place.
template <class Real>
void NetworkPass<Real>::retreat_asked_norms(const Batch& batch, const Crew& crew) {
  if (!shape_.pre_norm) return;
  const MatrixView<Real> slopes = asked_slope_.view(batch.asked.size(), shape_.width);
  const MatrixView<const Real> states = asked_states(batch);
  crew.for_blocks(slopes.rows(), kRowBlock, pass_cost(slopes.rows(), slopes.cols()),
                  [&](Range block) {
                    for (std::size_t i = block.begin; i < block.end; ++i) {
                      retreat_norm(states.row(i), asked_factors_[i], slopes.row(i));
                    }
                  });
}

// Rows that are not asked for have no slope after the last layer.
template <class Real>
void NetworkPass<Real>::spread_asked_slopes(const Batch& batch, const Crew& crew) {
  const MatrixView<const Real> slopes = asked_slope_.view(batch.asked.size(), shape_.width);
  const MatrixView<Real> all = workspace_.slope.view(batch.rows(), shape_.width);
  crew.for_blocks(batch.contexts(), 1, pass_cost(all.rows(), all.cols()), [&](Range block) {
    clear_rows(all.row_range(batch.context(block.begin)));
    const Range asked = index_.asked_in(block.begin);
    for (std::size_t i = asked.begin; i < asked.end; ++i) {
      copy_row(slopes.row(i), all.row(batch.asked[i]));
    }
  });
}

// From the slopes of the asked states to those of all rows, through the last layer if only asked
// rows have gone through it.
template <class Real>
void NetworkPass<Real>::start_back(const Weights<Real>& at, const Batch& batch, const Crew& crew,
                                   Weights<Real>& gradient) {
  retreat_asked_norms(batch, crew);
  if (!last_) {
    spread_asked_slopes(batch, crew);
    return;
  }
  const std::size_t m = shape_.width, layer = shape_.layers - 1;
  Room<Real>& room = layer == 0 ? workspace_.token_slope : workspace_.slope;
  last_->backward(at.layers[layer], input(layer), indexed(batch),
                  asked_slope_.view(batch.asked.size(), m), crew, gradient.layers[layer],
                  room.view(index_.states(layer), m));
}

template <class Real>
void NetworkPass<Real>::write_embedding_slope(const Crew& crew, Matrix<Real>& slope) {
  const std::span<const std::int32_t> tokens = index_.tokens().tokens();
  const MatrixView<const Real> given = workspace_.token_slope.view(tokens.size(), shape_.width);
  crew.for_blocks(slope.rows(), kRowBlock, pass_cost(slope.rows(), slope.cols()), [&](Range block) {
    const auto first = std::ranges::lower_bound(tokens, static_cast<std::int32_t>(block.begin));
    auto next = static_cast<std::size_t>(first - tokens.begin());
    for (std::size_t token = block.begin; token < block.end; ++token) {
      if (next < tokens.size() && static_cast<std::size_t>(tokens[next]) == token) {
        copy_row(given.row(next++), slope.row(token));
      } else {
        std::ranges::fill(slope.row(token), Real{0});
      }
    }
  });
}

template <class Real>
void NetworkPass<Real>::separate(const Weights<Real>& at, const Crew& crew,
                                 Weights<Real>& gradient) {
  const std::size_t m = shape_.width, blocks = (m + kWeightRows - 1) / kWeightRows;
  crew.for_each(full_.size() * blocks, pass_cost(full_.size() * m, m), [&](std::size_t job) {
    const std::size_t layer = job / blocks, first = job % blocks * kWeightRows;
    full_[layer].separate(at.layers[layer], gradient.layers[layer],
                          {first, std::min(m, first + kWeightRows)});
  });
}

template <class Real>
double NetworkPass<Real>::backward(const Weights<Real>& at, const Batch& batch, const Crew& crew,
                                   Weights<Real>& gradient) {
  const double loss =
      output_.gradient(at.unembedding, asked_states(batch), indexed(batch), crew,
                       gradient.unembedding, asked_slope_.view(batch.asked.size(), shape_.width));
  start_back(at, batch, crew, gradient);
  for (std::size_t layer = full_.size(); layer-- > 0;) {
    full_[layer].backward(input(layer), indexed(batch), workspace_, crew);
  }
  write_embedding_slope(crew, gradient.embedding);
  separate(at, crew, gradient);
  return loss;
}

template class NetworkPass<float>;
template class NetworkPass<double>;

}  // namespace dewpoint::transformer
