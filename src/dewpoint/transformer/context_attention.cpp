#include "dewpoint/transformer/context_attention.hpp"

#include <algorithm>

#include "dewpoint/core/blas.hpp"
#include "dewpoint/transformer/network.hpp"
#include "dewpoint/transformer/row_kernels.hpp"

namespace dewpoint::transformer {

// Some queries of one head, and the keys that any of them sees: the first `keys.end` rows.
template <class Real>
struct ContextAttention<Real>::Strip {
  std::size_t context;  // rows of it
  std::size_t head;
  Range columns, queries, keys;
  bool causal;

  [[nodiscard]] std::size_t seen_by(std::size_t i) const {
    return causal ? queries.begin + i + 1 : context;
  }
};

template <class Real>
ContextAttention<Real>::ContextAttention(const Shape& shape, std::size_t longest)
    : heads_(shape.heads),
      head_width_(shape.head_width()),
      causal_(shape.causal),
      multipliers_(shape, longest),
      weights_(longest * std::min(longest, kKeptContext)),
      slopes_(longest * std::min(longest, kKeptContext)) {}

template <class Real>
template <class Body>
void ContextAttention<Real>::for_strips(std::size_t rows, bool kept, const Body& body) const {
  const std::size_t step = kept ? rows : kKeptContext;
  for (std::size_t head = 0; head < heads_; ++head) {
    for (std::size_t begin = 0; begin < rows; begin += step) {
      const Range queries{begin, std::min(rows, begin + step)};
      body(
          Strip{rows, head, columns_of(head), queries, {0, causal_ ? queries.end : rows}, causal_});
    }
  }
}

template <class Real>
MatrixView<Real> ContextAttention<Real>::weights_of(const Strip& strip, std::span<Real> kept) {
  if (kept.empty()) return weights_.view(strip.queries.size(), strip.keys.size());
  const std::size_t n = strip.context;
  return {kept.data() + strip.head * n * n, n, n, n};
}

template <class Real>
void ContextAttention<Real>::score_strip(const Strip& strip, const Operands<const Real>& of,
                                         std::span<const Real> log_counts,
                                         MatrixView<Real> scores) const {
  multiply_abt(of.query.block(strip.queries, strip.columns),
               of.key.block(strip.keys, strip.columns), scores);
  for (std::size_t i = 0; i < scores.rows(); ++i) {
    const std::span<Real> seen = scores.row(i).first(strip.seen_by(i));
    multipliers_.apply(strip.context, seen);
    if (!log_counts.empty()) add_row(Real{1}, log_counts.first(seen.size()), seen);
  }
}

template <class Real>
void ContextAttention<Real>::weigh_strip(const Strip& strip, const Operands<const Real>& of,
                                         std::span<const Real> log_counts,
                                         MatrixView<Real> weights) const {
  score_strip(strip, of, log_counts, weights);
  for (std::size_t i = 0; i < weights.rows(); ++i) {
    const std::size_t seen = strip.seen_by(i);
    weigh(weights.row(i).first(seen));
    std::ranges::fill(weights.row(i).subspan(seen), Real{0});
  }
}

template <class Real>
void ContextAttention<Real>::scores(const Operands<const Real>& of,
                                    std::span<const Real> log_counts, std::size_t head,
                                    MatrixView<Real> out) const {
  const std::size_t n = of.query.rows();
  score_strip({n, head, columns_of(head), {0, n}, {0, n}, causal_}, of, log_counts, out);
}

template <class Real>
void ContextAttention<Real>::take_slopes(const Strip& strip, MatrixView<const Real> weights,
                                         MatrixView<Real> slopes) const {
  for (std::size_t i = 0; i < slopes.rows(); ++i) {
    const std::size_t seen = strip.seen_by(i);
    take_score_slopes(weights.row(i).first(seen), slopes.row(i).first(seen));
    multipliers_.apply(strip.context, slopes.row(i).first(seen));
    std::ranges::fill(slopes.row(i).subspan(seen), Real{0});
  }
}

template <class Real>
void ContextAttention<Real>::forward(const Operands<const Real>& of,
                                     std::span<const Real> log_counts, std::span<Real> kept,
                                     MatrixView<Real> out) {
  for_strips(of.query.rows(), !kept.empty(), [&](const Strip& strip) {
    const MatrixView<Real> weights = weights_of(strip, kept);
    weigh_strip(strip, of, log_counts, weights);
    multiply_ab(MatrixView<const Real>(weights), of.value.block(strip.keys, strip.columns),
                out.block(strip.queries, strip.columns));
  });
}

template <class Real>
void ContextAttention<Real>::backward(const Operands<const Real>& of,
                                      std::span<const Real> log_counts, std::span<Real> kept,
                                      MatrixView<const Real> out_slope,
                                      const Operands<Real>& slopes) {
  for_strips(of.query.rows(), !kept.empty(), [&](const Strip& strip) {
    const MatrixView<Real> weights = weights_of(strip, kept);
    if (kept.empty()) weigh_strip(strip, of, log_counts, weights);
    const MatrixView<const Real> given = out_slope.block(strip.queries, strip.columns);
    const MatrixView<Real> by_score = slopes_.view(weights.rows(), weights.cols());
    multiply_abt(given, of.value.block(strip.keys, strip.columns), by_score);
    take_slopes(strip, weights, by_score);

    const MatrixView<const Real> fixed_weights = weights, fixed_slopes = by_score;
    add_atb(fixed_weights, given, slopes.value.block(strip.keys, strip.columns));
    multiply_ab(fixed_slopes, of.key.block(strip.keys, strip.columns),
                slopes.query.block(strip.queries, strip.columns));
    add_atb(fixed_slopes, of.query.block(strip.queries, strip.columns),
            slopes.key.block(strip.keys, strip.columns));
  });
}

template class ContextAttention<float>;
template class ContextAttention<double>;

}  // namespace dewpoint::transformer
