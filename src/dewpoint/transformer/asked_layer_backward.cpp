#include <algorithm>
#include <array>
#include <limits>

#include "dewpoint/core/blas.hpp"
#include "dewpoint/transformer/asked_layer.hpp"
#include "dewpoint/transformer/row_kernels.hpp"
#include "dewpoint/transformer/row_norm.hpp"
#include "dewpoint/transformer/rows.hpp"

namespace dewpoint::transformer {
namespace {

constexpr std::uint32_t kNoGroup = std::numeric_limits<std::uint32_t>::max();
// Rows of a slope of weights, and states of one job.
constexpr std::size_t kSlopeRows = 128, kSlopeStates = 32;
// Contributions to a state that are added at once.
constexpr std::size_t kGathered = 128;

}  // namespace

template <class Real>
void AskedLayer<Real>::make_mixed_slopes(const LayerWeights<Real>& weights,
                                         const IndexedBatch<Real>& batch,
                                         MatrixView<const Real> out_slope, Range asked) {
  const View at = view(batch);
  const auto factor = static_cast<Real>(shape_.residual ? shape_.branch : 1.0);
  const MatrixView<Real>& scaled = shape_.value_matrix ? at.branch_slopes : at.mixed_slopes;
  for (std::size_t a = asked.begin; a < asked.end; ++a) {
    std::ranges::fill(scaled.row(a), Real{0});
    add_row(factor, out_slope.row(a), scaled.row(a));
  }
  if (!shape_.value_matrix) return;
  for (std::size_t head = 0; head < shape_.heads; ++head) {
    const MatrixView<const Real> slopes = scaled.block(asked, head_columns(head));
    multiply_abt(slopes, weights.value.view().block({0, shape_.width}, head_columns(head)),
                 at.mixed_slopes.block(asked, mixed_columns(head)));
  }
}

template <class Real>
void AskedLayer<Real>::retreat(const LayerInput<Real>& input, const IndexedBatch<Real>& batch,
                               std::size_t asked) {
  const View at = view(batch);
  const Reach seen = reach(input, batch, asked);
  const Range states{0, input.states.rows()};
  std::ranges::fill(at.absorbed_slopes.row(asked), Real{0});
  for (std::size_t head = 0; head < shape_.heads; ++head) {
    const std::size_t number = asked * shape_.heads + head;
    const std::span<Real> slopes = at.score_slopes.row(number).first(seen.rows.size());
    const Range query = absorbed_columns(head), mixed = mixed_columns(head);
    dot_rows(std::span<const Real>(at.mixed_slopes.row(asked)).subspan(mixed.begin, mixed.size()),
             input.states.block(states, value_columns(head)), seen.states, slopes);
    take_score_slopes(std::span<const Real>(at.weights.row(number)).first(slopes.size()), slopes);
    multipliers_.apply(seen.context, slopes);
    add_rows(std::span<const Real>(slopes), input.states, seen.states,
             at.absorbed_slopes.row(asked).subspan(query.begin, query.size()));
  }
}

template <class Real>
void AskedLayer<Real>::retreat_queries(const LayerWeights<Real>& weights,
                                       const IndexedBatch<Real>& batch, Range groups) {
  const View at = view(batch);
  const Range everything{0, shape_.width};
  for (std::size_t g = groups.begin; g < groups.end; ++g) {
    const std::span<Real> sum = at.group_absorbed_slopes.row(g);
    std::ranges::fill(sum, Real{0});
    for (const std::uint32_t asked : batch.index.asked_groups().members(g)) {
      add_row(Real{1}, std::span<const Real>(at.absorbed_slopes.row(asked)), sum);
    }
  }
  for (std::size_t head = 0; head < shape_.heads; ++head) {
    const MatrixView<const Real> slopes =
        at.group_absorbed_slopes.block(groups, absorbed_columns(head));
    multiply_ab(slopes, weights.key.view().block(everything, head_columns(head)),
                at.query_slopes.block(groups, head_columns(head)));
  }
  const MatrixView<const Real> query_slopes = at.query_slopes.row_range(groups);
  multiply_abt(query_slopes, weights.query.view(), at.group_state_slopes.row_range(groups));
}

template <class Real>
void AskedLayer<Real>::make_weight_slopes(const IndexedBatch<Real>& batch, Range rows,
                                          LayerWeights<Real>& slope) {
  const View at = view(batch);
  const Range groups{0, at.queries.rows()}, asked{0, at.mixed.rows()};
  const MatrixView<const Real> states = at.group_states.block(groups, rows);
  multiply_atb(states, MatrixView<const Real>(at.query_slopes), slope.query.view().row_range(rows));
  for (std::size_t head = 0; head < shape_.heads; ++head) {
    const std::size_t shift = absorbed_columns(head).begin;
    const Range part{shift + rows.begin, shift + rows.end};
    const MatrixView<const Real> absorbed = at.group_absorbed_slopes.block(groups, part);
    const MatrixView<const Real> queries = at.queries.block(groups, head_columns(head));
    multiply_atb(absorbed, queries, slope.key.view().block(rows, head_columns(head)));
    if (!shape_.value_matrix) continue;
    const MatrixView<const Real> mixed = at.mixed.block(asked, part);
    const MatrixView<const Real> given = at.branch_slopes.block(asked, head_columns(head));
    multiply_atb(mixed, given, slope.value.view().block(rows, head_columns(head)));
  }
}

// What the asked rows that see one of these rows send back to its state: shares of what they mixed,
// and through the scores.
template <class Real>
void AskedLayer<Real>::add_context_slopes(const IndexedBatch<Real>& batch, RowNumbers rows,
                                          std::span<Real> sum) {
  const View at = view(batch);
  std::array<std::uint32_t, kGathered> askers, groups, places;
  std::array<Real, kGathered> factors;
  std::size_t count = 0;
  const auto flush = [&] {
    const RowNumbers by_asker = std::span(askers).first(count);
    const RowNumbers by_group = std::span(groups).first(count);
    for (std::size_t head = 0; head < shape_.heads; ++head) {
      const Range values = value_columns(head), mixed = mixed_columns(head);
      const auto gather = [&](MatrixView<const Real> from) {
        for (std::size_t k = 0; k < count; ++k) {
          factors[k] = from(askers[k] * shape_.heads + head, places[k]);
        }
        return std::span<const Real>(factors).first(count);
      };
      add_rows(gather(at.weights),
               MatrixView<const Real>(at.mixed_slopes.block({0, at.mixed.rows()}, mixed)), by_asker,
               sum.subspan(values.begin, values.size()));
      add_rows(gather(at.score_slopes),
               MatrixView<const Real>(
                   at.absorbed.block({0, at.absorbed.rows()}, absorbed_columns(head))),
               by_group, sum);
    }
    count = 0;
  };
  for (const std::uint32_t row : rows) {
    const std::size_t context = batch.index.context_of_row()[row];
    const Range asked = batch.index.asked_in(context);
    for (std::size_t a = asked.begin; a < asked.end; ++a) {
      if (shape_.causal && row > batch.batch.asked[a]) continue;
      askers[count] = static_cast<std::uint32_t>(a);
      groups[count] = batch.index.asked_groups().group_of()[a];
      places[count] = row - batch.batch.begins[context];
      if (++count == kGathered) flush();
    }
  }
  flush();
}

template <class Real>
void AskedLayer<Real>::make_state_slope(const LayerInput<Real>& input,
                                        const IndexedBatch<Real>& batch,
                                        MatrixView<const Real> out_slope, std::size_t state,
                                        std::span<Real> sum) {
  const std::uint32_t group = group_of_state_[state];
  if (group == kNoGroup) {
    std::ranges::fill(sum, Real{0});
  } else {
    copy_row(view(batch).group_state_slopes.row(group), sum);
  }
  add_context_slopes(batch, batch.index.rows_of_state(input.layer, state), sum);
  if (shape_.pre_norm) retreat_norm(input.states.row(state), input.factors[state], sum);
  if (!shape_.residual || group == kNoGroup) return;
  for (const std::uint32_t asked : batch.index.asked_groups().members(group)) {
    add_row(Real{1}, out_slope.row(asked), sum);
  }
}

template <class Real>
void AskedLayer<Real>::number_groups(const LayerInput<Real>& input,
                                     const IndexedBatch<Real>& batch) {
  const TokenGroups& groups = batch.index.asked_groups();
  const RowNumbers states = batch.index.state_of_row(input.layer);
  std::fill_n(group_of_state_.begin(), input.states.rows(), kNoGroup);
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const std::uint32_t row = batch.batch.asked[groups.members(g).front()];
    group_of_state_[states[row]] = static_cast<std::uint32_t>(g);
  }
}

template <class Real>
void AskedLayer<Real>::backward(const LayerWeights<Real>& weights, const LayerInput<Real>& input,
                                const IndexedBatch<Real>& batch, MatrixView<const Real> out_slope,
                                const Crew& crew, LayerWeights<Real>& slope,
                                MatrixView<Real> state_slope) {
  const std::size_t asked = batch.batch.asked.size(), groups = batch.index.asked_groups().size();
  const double cost = operations(shape_, batch.batch, groups) / 3.0;
  number_groups(input, batch);
  if (shape_.value_matrix) {
    crew.for_blocks(asked, kProductRows, cost,
                    [&](Range block) { make_mixed_slopes(weights, batch, out_slope, block); });
  }
  crew.for_blocks(asked, kAskedBlock, cost, [&](Range block) {
    if (!shape_.value_matrix) make_mixed_slopes(weights, batch, out_slope, block);
    for (std::size_t a = block.begin; a < block.end; ++a) retreat(input, batch, a);
  });
  crew.for_blocks(groups, kProductRows, cost,
                  [&](Range block) { retreat_queries(weights, batch, block); });
  const std::size_t m = shape_.width, slopes = (m + kSlopeRows - 1) / kSlopeRows;
  const std::size_t states = input.states.rows();
  crew.for_each(slopes + (states + kSlopeStates - 1) / kSlopeStates, cost, [&](std::size_t job) {
    if (job < slopes) {
      const std::size_t first = job * kSlopeRows;
      make_weight_slopes(batch, {first, std::min(m, first + kSlopeRows)}, slope);
      return;
    }
    const std::size_t first = (job - slopes) * kSlopeStates;
    for (std::size_t s = first; s < std::min(states, first + kSlopeStates); ++s) {
      make_state_slope(input, batch, out_slope, s, state_slope.row(s));
    }
  });
}

template void AskedLayer<float>::backward(const LayerWeights<float>&, const LayerInput<float>&,
                                          const IndexedBatch<float>&, MatrixView<const float>,
                                          const Crew&, LayerWeights<float>&, MatrixView<float>);
template void AskedLayer<double>::backward(const LayerWeights<double>&, const LayerInput<double>&,
                                           const IndexedBatch<double>&, MatrixView<const double>,
                                           const Crew&, LayerWeights<double>&, MatrixView<double>);

}  // namespace dewpoint::transformer
