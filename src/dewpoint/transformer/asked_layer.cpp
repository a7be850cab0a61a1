#include "dewpoint/transformer/asked_layer.hpp"

#include "dewpoint/core/blas.hpp"
#include "dewpoint/transformer/costs.hpp"
#include "dewpoint/transformer/row_kernels.hpp"
#include "dewpoint/transformer/rows.hpp"

namespace dewpoint::transformer {
// ---- memory -------------------------------------------------------------------------------------

template <class Real>
AskedLayer<Real>::AskedLayer(const Shape& shape, const Capacity& capacity)
    : shape_(shape),
      multipliers_(shape, capacity.context),
      longest_(capacity.context),
      mixed_width_(shape.value_matrix ? shape.heads * shape.width : shape.width),
      group_states_(capacity.asked * shape.width),
      queries_(capacity.asked * shape.width),
      absorbed_(capacity.asked * shape.heads * shape.width),
      weights_(capacity.asked * shape.heads * capacity.context),
      score_slopes_(capacity.asked * shape.heads * capacity.context),
      mixed_(capacity.asked * mixed_width_),
      mixed_slopes_(capacity.asked * mixed_width_),
      branch_slopes_(capacity.asked * shape.width),
      absorbed_slopes_(capacity.asked * shape.heads * shape.width),
      group_absorbed_slopes_(capacity.asked * shape.heads * shape.width),
      query_slopes_(capacity.asked * shape.width),
      group_state_slopes_(capacity.asked * shape.width),
      group_of_state_(capacity.rows) {}

template <class Real>
auto AskedLayer<Real>::view(const IndexedBatch<Real>& batch) -> View {
  const std::size_t asked = batch.batch.asked.size(), groups = batch.index.asked_groups().size();
  const std::size_t m = shape_.width, heads = shape_.heads;
  return {group_states_.view(groups, m),
          queries_.view(groups, m),
          absorbed_.view(groups, heads * m),
          weights_.view(asked * heads, longest_),
          score_slopes_.view(asked * heads, longest_),
          mixed_.view(asked, mixed_width_),
          mixed_slopes_.view(asked, mixed_width_),
          branch_slopes_.view(asked, m),
          absorbed_slopes_.view(asked, heads * m),
          group_absorbed_slopes_.view(groups, heads * m),
          query_slopes_.view(groups, m),
          group_state_slopes_.view(groups, m)};
}

template <class Real>
double AskedLayer<Real>::operations(const Shape& shape, const Batch& batch, std::size_t groups) {
  const std::size_t m = shape.width, asked = batch.asked.size();
  const double queries = 6.0 * product_cost(groups, m, m);
  const double values = shape.value_matrix ? 3.0 * product_cost(asked, m, m) : 0.0;
  const std::size_t value_columns = shape.value_matrix ? shape.heads * m : m;
  // Scores and their two slopes; mixtures and their two slopes.
  return queries + values + 3.0 * asked_product_cost(shape, batch, shape.heads * m) +
         3.0 * asked_product_cost(shape, batch, value_columns);
}

template <class Real>
Range AskedLayer<Real>::head_columns(std::size_t head) const {
  return {head * shape_.head_width(), (head + 1) * shape_.head_width()};
}

template <class Real>
Range AskedLayer<Real>::value_columns(std::size_t head) const {
  return shape_.value_matrix ? Range{0, shape_.width} : head_columns(head);
}

template <class Real>
Range AskedLayer<Real>::absorbed_columns(std::size_t head) const {
  return {head * shape_.width, (head + 1) * shape_.width};
}

template <class Real>
Range AskedLayer<Real>::mixed_columns(std::size_t head) const {
  return shape_.value_matrix ? absorbed_columns(head) : head_columns(head);
}

template <class Real>
auto AskedLayer<Real>::reach(const LayerInput<Real>& input, const IndexedBatch<Real>& batch,
                             std::size_t asked) const -> Reach {
  const std::size_t row = batch.batch.asked[asked];
  Range rows = batch.batch.context(batch.index.context_of_row()[row]);
  const std::size_t context = rows.size();
  if (shape_.causal) rows.end = row + 1;
  return {rows, batch.index.state_of_row(input.layer).subspan(rows.begin, rows.size()), context};
}

// ---- forth --------------------------------------------------------------------------------------

template <class Real>
void AskedLayer<Real>::make_queries(const LayerWeights<Real>& weights,
                                    const LayerInput<Real>& input, const IndexedBatch<Real>& batch,
                                    Range groups) {
  const View at = view(batch);
  const Range everything{0, shape_.width};
  const RowNumbers states = batch.index.state_of_row(input.layer);
  for (std::size_t g = groups.begin; g < groups.end; ++g) {
    const std::uint32_t row = batch.batch.asked[batch.index.asked_groups().members(g).front()];
    copy_row(input.states.row(states[row]), at.group_states.row(g));
  }
  const MatrixView<const Real> own = at.group_states.row_range(groups);
  const MatrixView<const Real> key = weights.key.view();
  multiply_ab(own, weights.query.view(), at.queries.row_range(groups));
  for (std::size_t head = 0; head < shape_.heads; ++head) {
    const MatrixView<const Real> queries = at.queries.block(groups, head_columns(head));
    multiply_abt(queries, key.block(everything, head_columns(head)),
                 at.absorbed.block(groups, absorbed_columns(head)));
  }
}

template <class Real>
void AskedLayer<Real>::attend(const LayerInput<Real>& input, const IndexedBatch<Real>& batch,
                              std::size_t asked) {
  const View at = view(batch);
  const Reach seen = reach(input, batch, asked);
  const std::size_t group = batch.index.asked_groups().group_of()[asked];
  const std::span<const Real> log_counts = batch.log_counts_of(seen.rows);
  const Range states{0, input.states.rows()};
  std::ranges::fill(at.mixed.row(asked), Real{0});
  for (std::size_t head = 0; head < shape_.heads; ++head) {
    const std::span<Real> shares =
        at.weights.row(asked * shape_.heads + head).first(seen.rows.size());
    const Range query = absorbed_columns(head), mixed = mixed_columns(head);
    dot_rows(std::span<const Real>(at.absorbed.row(group)).subspan(query.begin, query.size()),
             input.states, seen.states, shares);
    multipliers_.apply(seen.context, shares);
    if (!log_counts.empty()) add_row(Real{1}, log_counts, shares);
    weigh(shares);
    add_rows(std::span<const Real>(shares), input.states.block(states, value_columns(head)),
             seen.states, at.mixed.row(asked).subspan(mixed.begin, mixed.size()));
  }
}

template <class Real>
void AskedLayer<Real>::write_out(const LayerWeights<Real>& weights, const LayerInput<Real>& input,
                                 const IndexedBatch<Real>& batch, Range asked,
                                 MatrixView<Real> out) {
  const View at = view(batch);
  // O, first in a place of its own.
  MatrixView<const Real> mixed = at.mixed.row_range(asked);
  if (shape_.value_matrix) {
    const MatrixView<Real> product = at.branch_slopes.row_range(asked);
    for (std::size_t head = 0; head < shape_.heads; ++head) {
      multiply_ab(mixed.block({0, asked.size()}, mixed_columns(head)),
                  weights.value.view().block({0, shape_.width}, head_columns(head)),
                  product.block({0, asked.size()}, head_columns(head)));
    }
    mixed = product;
  }
  const RowNumbers states = batch.index.state_of_row(input.layer);
  for (std::size_t i = 0; i < asked.size(); ++i) {
    const std::span<Real> target = out.row(asked.begin + i);
    if (!shape_.residual) {
      copy_row(mixed.row(i), target);
      continue;
    }
    const std::size_t state = states[batch.batch.asked[asked.begin + i]];
    copy_row(input.carried.row(state), target);
    add_row(static_cast<Real>(shape_.branch), mixed.row(i), target);
  }
}

template <class Real>
void AskedLayer<Real>::forward(const LayerWeights<Real>& weights, const LayerInput<Real>& input,
                               const IndexedBatch<Real>& batch, const Crew& crew,
                               MatrixView<Real> out) {
  const std::size_t asked = batch.batch.asked.size(), groups = batch.index.asked_groups().size();
  const double cost = operations(shape_, batch.batch, groups) / 3.0;
  crew.for_blocks(groups, kProductRows, cost,
                  [&](Range block) { make_queries(weights, input, batch, block); });
  crew.for_blocks(asked, kAskedBlock, cost, [&](Range block) {
    for (std::size_t a = block.begin; a < block.end; ++a) attend(input, batch, a);
    if (!shape_.value_matrix) write_out(weights, input, batch, block, out);
  });
  if (!shape_.value_matrix) return;
  crew.for_blocks(asked, kProductRows, cost,
                  [&](Range block) { write_out(weights, input, batch, block, out); });
}

template class AskedLayer<float>;
template class AskedLayer<double>;

}  // namespace dewpoint::transformer
