#include "dewpoint/models/decoder_layer.hpp"

#include <algorithm>
#include <optional>

#include "dewpoint/models/row_blocks.hpp"

namespace dewpoint::models {
namespace {

// Operations of a product by a matrix with so many rows and columns, per token.
double operations(std::size_t rows, std::size_t columns) {
  return 2.0 * static_cast<double>(rows) * static_cast<double>(columns);
}

void copy(MatrixView<const float> in, MatrixView<float> out) {
  for (std::size_t i = 0; i < in.rows(); ++i) {
    std::copy_n(in.row(i).begin(), in.cols(), out.row(i).begin());
  }
}

// As they are, where the model has no norm.
void normalise_if(const std::optional<Norm>& norm, MatrixView<const float> in,
                  MatrixView<float> out) {
  norm ? normalise(*norm, in, out) : copy(in, out);
}

Range columns_of(std::size_t head, std::size_t d) { return {head * d, (head + 1) * d}; }

// Rows of `out` become the vectors of one head: projected, normed where the model does so.
void project(const Linear& linear, const std::optional<Norm>& norm, std::size_t head,
             MatrixView<const float> in, MatrixView<float> out) {
  apply(linear, columns_of(head, out.cols()), in, out);
  if (norm) normalise(*norm, out, out);
}

// Its values: projected, or its own columns of what comes in.
void make_values(const std::optional<Linear>& linear, std::size_t head, MatrixView<const float> in,
                 MatrixView<float> out) {
  if (linear) return project(*linear, {}, head, in, out);
  copy(in.block({0, in.rows()}, columns_of(head, out.cols())), out);
}

void turn(const RotationTable* rotation, Range positions, MatrixView<float> rows) {
  if (rotation == nullptr) return;
  for (std::size_t i = 0; i < rows.rows(); ++i) rotation->turn(positions.begin + i, rows.row(i));
}

void scale_query(const LayerScheme& scheme, std::size_t position, std::span<float> query) {
  const QueryFactors factors = query_factors(scheme, position);
  for (std::size_t k = 0; k < query.size(); ++k) {
    const bool rotary = k < scheme.rotation.rotary_dimension();
    query[k] *= static_cast<float>(rotary ? factors.rotary : factors.other);
  }
}

void scale_queries(const LayerScheme& scheme, Range positions, MatrixView<float> queries) {
  if (scheme.rotary.empty() && scheme.other.empty()) return;
  for (std::size_t i = 0; i < queries.rows(); ++i) {
    scale_query(scheme, positions.begin + i, queries.row(i));
  }
}

void make_queries(const LayerWeights& weights, const LayerTask& task, std::size_t head,
                  Workspace& space, const RunContext& context) {
  const double work = operations(space.queries.cols(), space.normed.cols());
  for_row_blocks(space.normed.rows(), work, context, [&](Range rows) {
    const auto queries = space.queries.view().row_range(rows);
    const auto in = space.normed.view().row_range(rows);
    project(weights.query, weights.query_norm, head, in, queries);
    turn(task.rotation, rows, queries);
    scale_queries(*task.scheme, rows, queries);
  });
}

void make_keys_and_values(const LayerWeights& weights, const LayerTask& task, std::size_t key_head,
                          Workspace& space, const RunContext& context) {
  const double work = 2.0 * operations(space.keys.cols(), space.normed.cols());
  for_row_blocks(space.normed.rows(), work, context, [&](Range rows) {
    const auto keys = space.keys.view().row_range(rows);
    const auto in = space.normed.view().row_range(rows);
    project(weights.key, weights.key_norm, key_head, in, keys);
    turn(task.rotation, rows, keys);
    make_values(weights.value, key_head, in, space.values.view().row_range(rows));
  });
}

attention::Head head_of(const LayerTask& task, const Workspace& space) {
  attention::Head head;
  head.queries = space.queries;
  head.keys = space.keys;
  head.values = space.values;
  head.mask = task.scheme->mask;
  head.scale = task.scheme->scale;
  head.softcap = task.scheme->softcap;
  return head;
}

void run_head(std::size_t head, const LayerTask& task, Workspace& space,
              const RunContext& context) {
  const attention::Head scores = head_of(task, space);
  task.visit(head, scores);
  if (!task.attend) return;
  const std::size_t d = space.queries.cols();
  const auto out = space.mixed.view().block({0, space.mixed.rows()}, columns_of(head, d));
  const double work = 2.0 * operations(out.rows(), out.rows()) * static_cast<double>(d);
  attention::attend(scores, *task.multiplier, out, quiet_context(context, work));
}

// x ← x + c·change, or the change alone where there is no residual connection.
void join(const checkpoint::DecoderParts& parts, MatrixView<const float> change,
          MatrixView<float> x) {
  if (!parts.residual) return copy(change, x);
  const auto branch = static_cast<float>(parts.branch);
  for (std::size_t i = 0; i < x.rows(); ++i) {
    const auto from = change.row(i);
    const auto to = x.row(i);
    for (std::size_t k = 0; k < to.size(); ++k) to[k] += branch * from[k];
  }
}

void multiply(std::span<const float> factors, std::span<float> values) {
  for (std::size_t k = 0; k < values.size(); ++k) values[k] *= factors[k];
}

// W_down f(W_up y), or W_down (f(W_gate y) ∘ W_up y), y = norm(x), joined to x.
void feed_forward(const FeedForward& weights, const Architecture& model, MatrixView<float> x) {
  Matrix<float> normed(x.rows(), x.cols());
  normalise_if(weights.norm, x, normed);
  Matrix<float> inner(x.rows(), model.intermediate);
  apply(weights.up, normed, inner);
  if (!weights.gate) {
    activate(model.activation, {inner.data(), inner.size()});
  } else {
    Matrix<float> gate(x.rows(), model.intermediate);
    apply(*weights.gate, normed, gate);
    activate(model.activation, {gate.data(), gate.size()});
    multiply({gate.data(), gate.size()}, {inner.data(), inner.size()});
  }
  apply(weights.down, inner, normed);
  join(model.parts, normed, x);
}

// What the heads found goes into x, then the feed-forward, for some rows. The normed states are
// not needed any more: their place takes the product.
void finish_rows(const LayerWeights& weights, const Architecture& model, Range rows,
                 Workspace& space, MatrixView<float> x) {
  MatrixView<const float> change = space.mixed.view().row_range(rows);
  if (weights.output) {
    const auto product = space.normed.view().row_range(rows);
    apply(*weights.output, change, product);
    change = product;
  }
  join(model.parts, change, x.row_range(rows));
  if (weights.feed_forward) feed_forward(*weights.feed_forward, model, x.row_range(rows));
}

}  // namespace

Workspace::Workspace(const Architecture& architecture, std::size_t n)
    : normed(n, architecture.hidden),
      mixed(n, architecture.heads * architecture.head_dimension),
      queries(n, architecture.head_dimension),
      keys(n, architecture.head_dimension),
      values(n, architecture.head_dimension) {}

void run_layer(const LayerWeights& weights, const LayerTask& task, Workspace& space,
               MatrixView<float> x, const RunContext& context) {
  const Architecture& model = *task.architecture;
  const double norm_work = operations(5, model.hidden);
  for_row_blocks(x.rows(), norm_work, context, [&](Range rows) {
    normalise_if(weights.attention_norm, x.row_range(rows), space.normed.view().row_range(rows));
  });
  for (std::size_t head = 0; head < model.heads; ++head) {
    if (head % model.group() == 0) {
      make_keys_and_values(weights, task, head / model.group(), space, context);
    }
    make_queries(weights, task, head, space, context);
    run_head(head, task, space, context);
  }
  if (!task.attend) return;
  const double work = operations(model.hidden, space.mixed.cols() + 3 * model.intermediate);
  for_row_blocks(x.rows(), work, context,
                 [&](Range rows) { finish_rows(weights, model, rows, space, x); });
}

}  // namespace dewpoint::models
