#include "dewpoint/transformer/full_layer.hpp"

#include <algorithm>

#include "dewpoint/core/blas.hpp"
#include "dewpoint/transformer/costs.hpp"
#include "dewpoint/transformer/row_kernels.hpp"
#include "dewpoint/transformer/rows.hpp"

namespace dewpoint::transformer {
namespace {

// Numbers in P for any number of states up to `most`.
std::size_t most_projected(const Shape& shape, std::size_t most) {
  const std::size_t apart = projected_columns(shape, false);
  if (!merges_keys(shape, most)) return most * apart;
  return std::max(most * projected_columns(shape, true), shape.width * apart);
}

}  // namespace

// ---- memory -------------------------------------------------------------------------------------

template <class Real>
FullLayer<Real>::FullLayer(const Shape& shape, const Capacity& capacity, std::size_t layer,
                           std::size_t kept_context)
    : shape_(shape),
      fused_(shape.width * projected_columns(shape, false)),
      fused_slope_(shape.width * projected_columns(shape, false)),
      kept_(capacity.rows * std::min(capacity.context, kept_context) * shape.heads) {
  const std::size_t states = layer == 0 ? std::min(shape.vocabulary, capacity.rows) : capacity.rows;
  projected_ = Room<Real>(most_projected(shape, states));
}

template <class Real>
void FullLayer<Real>::expect_states(std::size_t states) {
  merged_ = merges_keys(shape_, states);
  columns_ = projected_columns(shape_, merged_);
}

template <class Real>
double FullLayer<Real>::operations(const Shape& shape, const Batch& batch, std::size_t states) {
  const bool merged = merges_keys(shape, states);
  const std::size_t m = shape.width;
  return 3.0 * product_cost(states, m, projected_columns(shape, merged)) +
         (merged ? 3.0 * product_cost(m, m, m) : 0.0) + 6.0 * context_product_cost(shape, batch);
}

// ---- W ------------------------------------------------------------------------------------------

template <class Real>
void FullLayer<Real>::fuse(const LayerWeights<Real>& weights, Range rows) {
  const std::size_t m = shape_.width;
  const MatrixView<Real> fused = fused_.view(m, columns_);
  if (merged_) {
    multiply_abt(weights.query.view().row_range(rows), weights.key.view(),
                 fused.block(rows, {0, m}));
  } else {
    copy_rows(weights.query.view().row_range(rows), fused.block(rows, {0, m}));
    copy_rows(weights.key.view().row_range(rows), fused.block(rows, {m, 2 * m}));
  }
  if (!shape_.value_matrix) return;
  copy_rows(weights.value.view().row_range(rows), fused.block(rows, {columns_ - m, columns_}));
}

template <class Real>
void FullLayer<Real>::separate(const LayerWeights<Real>& weights, LayerWeights<Real>& slope,
                               Range rows) {
  const std::size_t m = shape_.width;
  const MatrixView<const Real> fused = fused_slope_.view(m, columns_);
  if (merged_) {  // the slopes of A = B Cᵀ are ∂A C and ∂Aᵀ B
    multiply_ab(fused.block(rows, {0, m}), weights.key.view(), slope.query.view().row_range(rows));
    multiply_atb(fused.block({0, m}, rows), weights.query.view(), slope.key.view().row_range(rows));
  } else {
    copy_rows(fused.block(rows, {0, m}), slope.query.view().row_range(rows));
    copy_rows(fused.block(rows, {m, 2 * m}), slope.key.view().row_range(rows));
  }
  if (!shape_.value_matrix) return;
  copy_rows(fused.block(rows, {columns_ - m, columns_}), slope.value.view().row_range(rows));
}

// ---- contexts -----------------------------------------------------------------------------------

template <class Real>
std::span<Real> FullLayer<Real>::kept_of(const IndexedBatch<Real>& batch, std::size_t context) {
  const Range place = batch.index.kept(context);
  return {kept_.part(place.begin, 1, place.size()).data(), place.size()};
}

// Where rows are states they are read in their place. Before the first layer they are gathered.
template <class Real>
Operands<const Real> FullLayer<Real>::operands(const LayerInput<Real>& input, RowNumbers states,
                                               Range rows, Lane& lane) {
  const std::size_t m = shape_.width, n = rows.size();
  MatrixView<const Real> projected = projected_.view(input.states.rows(), columns_);
  MatrixView<const Real> own = input.states;
  if (input.layer == 0) {
    const MatrixView<Real> all = lane.gathered.view(n, columns_ + m);
    for (std::size_t i = 0; i < n; ++i) {
      const std::size_t state = states[rows.begin + i];
      copy_row(projected.row(state), all.row(i).first(columns_));
      copy_row(own.row(state), all.row(i).subspan(columns_));
    }
    projected = all.block({0, n}, {0, columns_});
    own = all.block({0, n}, {columns_, columns_ + m});
  } else {
    projected = projected.row_range(rows);
    own = own.row_range(rows);
  }
  return {projected.block({0, n}, {0, m}), merged_ ? own : projected.block({0, n}, {m, 2 * m}),
          shape_.value_matrix ? projected.block({0, n}, {columns_ - m, columns_}) : own};
}

template <class Real>
void FullLayer<Real>::attend(const LayerInput<Real>& input, const IndexedBatch<Real>& batch,
                             std::size_t context, Lane& lane, MatrixView<Real> out) {
  const Range rows = batch.batch.context(context);
  const RowNumbers states = batch.index.state_of_row(input.layer);
  const Operands<const Real> of = operands(input, states, rows, lane);
  const MatrixView<Real> target = out.row_range(rows);
  const MatrixView<Real> mixed =
      shape_.residual ? lane.mixed.view(rows.size(), shape_.width) : target;
  lane.attention.forward(of, batch.log_counts_of(rows), kept_of(batch, context), mixed);
  if (!shape_.residual) return;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::span<const Real> carried = input.carried.row(states[rows.begin + i]);
    if (carried.data() != target.row(i).data()) copy_row(carried, target.row(i));
    add_row(static_cast<Real>(shape_.branch), std::span<const Real>(mixed.row(i)), target.row(i));
  }
}

template <class Real>
void FullLayer<Real>::scores(const LayerInput<Real>& input, const IndexedBatch<Real>& batch,
                             std::size_t context, std::size_t head, LayerWorkspace<Real>& workspace,
                             MatrixView<Real> out) {
  Lane& lane = workspace.lanes.front();
  const Range rows = batch.batch.context(context);
  const RowNumbers states = batch.index.state_of_row(input.layer);
  lane.attention.scores(operands(input, states, rows, lane), batch.log_counts_of(rows), head, out);
}

template <class Real>
void FullLayer<Real>::forward(const LayerInput<Real>& input, const IndexedBatch<Real>& batch,
                              LayerWorkspace<Real>& workspace, const Crew& crew,
                              MatrixView<Real> out) {
  const std::size_t states = input.states.rows(), m = shape_.width;
  const MatrixView<const Real> fused = fused_.view(m, columns_);
  const MatrixView<Real> projected = projected_.view(states, columns_);
  crew.for_blocks(states, kStateBlock, product_cost(states, m, columns_), [&](Range block) {
    multiply_ab(input.states.row_range(block), fused, projected.row_range(block));
  });
  crew.on_lanes(workspace.lanes.size(), batch.batch.contexts(),
                2.0 * context_product_cost(shape_, batch.batch),
                [&](std::size_t lane, std::size_t context) {
                  attend(input, batch, context, workspace.lanes[lane], out);
                });
}

template class FullLayer<float>;
template class FullLayer<double>;

}  // namespace dewpoint::transformer
