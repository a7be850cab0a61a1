#include <algorithm>

#include "dewpoint/core/blas.hpp"
#include "dewpoint/transformer/costs.hpp"
#include "dewpoint/transformer/full_layer.hpp"
#include "dewpoint/transformer/row_kernels.hpp"
#include "dewpoint/transformer/row_norm.hpp"
#include "dewpoint/transformer/rows.hpp"

namespace dewpoint::transformer {
namespace {

constexpr std::size_t kTokenBlock = 32;

std::size_t states_per_part(std::size_t states) {
  const std::size_t even = (states + kParts - 1) / kParts;
  return std::max(kPartStates, (even + 63) / 64 * 64);
}

template <class Real>
void sum_members(MatrixView<const Real> rows, RowNumbers members, std::span<Real> sum) {
  std::ranges::fill(sum, Real{0});
  for (const std::uint32_t member : members) add_row(Real{1}, rows.row(member), sum);
}

}  // namespace

template <class Real>
void FullLayer<Real>::retreat(const LayerInput<Real>& input, const IndexedBatch<Real>& batch,
                              std::size_t context, Lane& lane, LayerWorkspace<Real>& workspace) {
  const std::size_t m = shape_.width, all = batch.batch.rows();
  const Range rows = batch.batch.context(context);
  const MatrixView<Real> slope = workspace.slope.view(all, m).row_range(rows);
  const MatrixView<Real> direct = workspace.state_slope.view(all, m).row_range(rows);
  const MatrixView<Real> projected = workspace.projected_slope.view(all, columns_).row_range(rows);
  clear_rows(projected.block({0, rows.size()}, {m, columns_}));
  if (shape_.residual && !shape_.pre_norm) {
    copy_rows<Real>(slope, direct);
  } else {
    clear_rows(direct);
  }

  const auto part = [&](std::size_t end) {
    return projected.block({0, rows.size()}, {end - m, end});
  };
  const Operands<Real> slopes{part(m), merged_ ? direct : part(2 * m),
                              shape_.value_matrix ? part(columns_) : direct};
  MatrixView<Real> mixed_slope = slope;
  if (shape_.residual && shape_.branch != 1.0) {
    mixed_slope = lane.mixed.view(rows.size(), m);
    clear_rows(mixed_slope);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      add_row(static_cast<Real>(shape_.branch), std::span<const Real>(slope.row(i)),
              mixed_slope.row(i));
    }
  }
  const RowNumbers states = batch.index.state_of_row(input.layer);
  lane.attention.backward(operands(input, states, rows, lane), batch.log_counts_of(rows),
                          kept_of(batch, context), mixed_slope, slopes);
}

template <class Real>
void FullLayer<Real>::sum_over_tokens(const IndexedBatch<Real>& batch,
                                      LayerWorkspace<Real>& workspace, const Crew& crew) const {
  const std::size_t m = shape_.width, rows = batch.batch.rows();
  const TokenGroups& tokens = batch.index.tokens();
  const MatrixView<Real> projected = workspace.token_projected.view(tokens.size(), columns_);
  const MatrixView<Real> direct = workspace.token_slope.view(tokens.size(), m);
  crew.for_blocks(tokens.size(), kTokenBlock, pass_cost(rows, columns_ + m), [&](Range block) {
    for (std::size_t g = block.begin; g < block.end; ++g) {
      const RowNumbers members = tokens.members(g);
      sum_members(MatrixView<const Real>(workspace.projected_slope.view(rows, columns_)), members,
                  projected.row(g));
      sum_members(MatrixView<const Real>(workspace.state_slope.view(rows, m)), members,
                  direct.row(g));
      if (!carries_slopes()) continue;
      sum_members(MatrixView<const Real>(workspace.slope.view(rows, m)), members,
                  workspace.token_carried.view(tokens.size(), m).row(g));
    }
  });
}

template <class Real>
void FullLayer<Real>::finish_states(const LayerInput<Real>& input, const StateSlopes& slopes,
                                    Range states) {
  const MatrixView<const Real> fused = fused_.view(shape_.width, columns_);
  add_abt(slopes.projected.row_range(states), fused, slopes.states.row_range(states));
  if (!shape_.pre_norm) return;
  for (std::size_t i = states.begin; i < states.end; ++i) {
    const std::span<Real> slope = slopes.states.row(i);
    retreat_norm(input.states.row(i), input.factors[i], slope);
    if (shape_.residual) add_row(Real{1}, slopes.carried.row(i), slope);
  }
}

template <class Real>
void FullLayer<Real>::add_partials(std::size_t parts, LayerWorkspace<Real>& workspace,
                                   const Crew& crew) {
  const std::size_t numbers = shape_.width * columns_;
  const MatrixView<const Real> partial = workspace.partial.view(parts, numbers);
  const MatrixView<Real> sum = fused_slope_.view(1, numbers);
  crew.for_blocks(numbers, 1U << 14U, pass_cost(parts, numbers), [&](Range block) {
    const std::span<Real> target = sum.row(0).subspan(block.begin, block.size());
    copy_row(partial.row(0).subspan(block.begin, block.size()), target);
    for (std::size_t part = 1; part < parts; ++part) {
      add_row(Real{1}, partial.row(part).subspan(block.begin, block.size()), target);
    }
  });
}

template <class Real>
void FullLayer<Real>::retreat_projection(const LayerInput<Real>& input, const StateSlopes& slopes,
                                         LayerWorkspace<Real>& workspace, const Crew& crew) {
  const std::size_t m = shape_.width, states = input.states.rows();
  const std::size_t step = states_per_part(states), parts = (states + step - 1) / step;
  const std::size_t blocks = (states + kStateBlock - 1) / kStateBlock;
  const double cost = 2.0 * product_cost(states, m, columns_);
  crew.for_each(parts + blocks, cost, [&](std::size_t job) {
    if (job < parts) {
      const Range part{job * step, std::min(states, (job + 1) * step)};
      multiply_atb(input.states.row_range(part), slopes.projected.row_range(part),
                   workspace.partial.part(job * m * columns_, m, columns_));
    } else {
      const std::size_t begin = (job - parts) * kStateBlock;
      finish_states(input, slopes, {begin, std::min(states, begin + kStateBlock)});
    }
  });
  add_partials(parts, workspace, crew);
}

template <class Real>
void FullLayer<Real>::backward(const LayerInput<Real>& input, const IndexedBatch<Real>& batch,
                               LayerWorkspace<Real>& workspace, const Crew& crew) {
  const std::size_t m = shape_.width, rows = batch.batch.rows(), states = input.states.rows();
  crew.on_lanes(workspace.lanes.size(), batch.batch.contexts(),
                4.0 * context_product_cost(shape_, batch.batch),
                [&](std::size_t lane, std::size_t context) {
                  retreat(input, batch, context, workspace.lanes[lane], workspace);
                });
  if (input.layer == 0) {
    sum_over_tokens(batch, workspace, crew);
    const MatrixView<const Real> carried =
        carries_slopes() ? workspace.token_carried.view(states, m) : MatrixView<Real>();
    retreat_projection(input,
                       {workspace.token_projected.view(states, columns_),
                        workspace.token_slope.view(states, m), carried},
                       workspace, crew);
    return;
  }
  retreat_projection(input,
                     {workspace.projected_slope.view(rows, columns_),
                      workspace.state_slope.view(rows, m), workspace.slope.view(rows, m)},
                     workspace, crew);
  std::swap(workspace.slope, workspace.state_slope);
}

template void FullLayer<float>::backward(const LayerInput<float>&, const IndexedBatch<float>&,
                                         LayerWorkspace<float>&, const Crew&);
template void FullLayer<double>::backward(const LayerInput<double>&, const IndexedBatch<double>&,
                                          LayerWorkspace<double>&, const Crew&);

}  // namespace dewpoint::transformer
