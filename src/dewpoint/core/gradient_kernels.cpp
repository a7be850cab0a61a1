// Compiled once per instruction set: foreach_target.h includes this file again for each.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "dewpoint/core/gradient_kernels.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h must come first.
#include <hwy/highway.h>

#include <algorithm>

#include "dewpoint/core/gradient_kernels.hpp"
#include "dewpoint/core/kernels.hpp"
#include "dewpoint/core/wide_sums-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace dewpoint::HWY_NAMESPACE {
namespace {

// Rows that share a buffer of column sums, and columns of that buffer.
constexpr std::size_t kRowGroup = 32;
constexpr std::size_t kColumnGroup = 512;

struct RowSums {
  Vec blocks, spread, along, squared_overlap;
};

struct WideRowSums {
  WideVec blocks, spread, along, squared_overlap;
};

HWY_INLINE RowSums zero_sums(Tag f) {
  const auto zero = hn::Zero(f);
  return {zero, zero, zero, zero};
}

HWY_INLINE void flush(const RowSums& sums, WideRowSums& total) {
  total.blocks = hn::Add(total.blocks, widen(sums.blocks));
  total.spread = hn::Add(total.spread, widen(sums.spread));
  total.along = hn::Add(total.along, widen(sums.along));
  total.squared_overlap = hn::Add(total.squared_overlap, widen(sums.squared_overlap));
}

// Pointers to one row of a strip and to the columns below it, all at the same first column.
struct RowPointers {
  const float* gaps;
  const float* weights;
  const float* half_square;
  const float* along_centre;
  const float* inverse_square_norm;
  float* overlaps;
  float* columns;
};

// One vector of keys. With x_i = y_i − m_j:
//     ½‖x_i‖² = ½‖o_i‖² + ½‖μ_j‖² − ⟨o_i, μ_j⟩
//     ⟨x_i, P_i y_j⟩ = ⟨m_j, y_i − y_j⟩ − Δ ⟨m_j, y_i⟩,  ‖P_i y_j‖² = Δ (2 − Δ)
//     ⟨x_i, y_j⟩ = Σ_k A_jk Δ_jk − Δ.
HWY_INLINE void one_vector(Tag f, const kernels::BlockScale& scale,
                           const kernels::QueryTerms& query, const RowPointers& at, std::size_t k,
                           RowSums& sums) {
  // 2 is the largest gap of unit vectors: that of hidden keys would overflow with beta squared.
  const auto gap = hn::Min(hn::Load(f, at.gaps + k), hn::Set(f, 2.0F));
  const auto overlap = hn::Load(f, at.overlaps + k);
  const auto weight = hn::Mul(hn::Load(f, at.weights + k), hn::Set(f, query.share));
  const auto key_part = hn::Add(hn::Load(f, at.along_centre + k), overlap);  // ⟨m_j, o_i⟩
  const auto halves = hn::Add(hn::Load(f, at.half_square + k), hn::Set(f, query.half_square));
  const auto half_distance = hn::Max(hn::Sub(halves, overlap), hn::Zero(f));
  const auto on_key = hn::Add(hn::Set(f, query.centre_part), key_part);  // ⟨m_j, y_i⟩
  const auto lean = hn::NegMulAdd(gap, on_key, hn::Sub(key_part, hn::Set(f, query.self_overlap)));
  const auto tangent = hn::Mul(gap, hn::Sub(hn::Set(f, 2.0F), gap));
  const auto beta = hn::Set(f, scale.inverse_temperature);
  const auto bend = hn::MulAdd(hn::Mul(beta, half_distance), tangent, lean);
  const auto inside = hn::MulAdd(hn::Add(beta, beta), bend, hn::Set(f, scale.tangents));
  const auto block = hn::Mul(hn::Mul(weight, weight), inside);
  const auto score = hn::Sub(hn::Set(f, query.mean_gap), gap);
  const auto weighed_score = hn::Mul(weight, score);

  hn::Store(hn::Add(hn::Load(f, at.columns + k), block), f, at.columns + k);
  hn::Store(weighed_score, f, at.overlaps + k);
  sums.blocks = hn::MulAdd(block, hn::Load(f, at.inverse_square_norm + k), sums.blocks);
  sums.spread = hn::MulAdd(weight, hn::Add(half_distance, half_distance), sums.spread);
  sums.along = hn::MulAdd(weighed_score, score, sums.along);
  sums.squared_overlap = hn::MulAdd(hn::Mul(weight, overlap), overlap, sums.squared_overlap);
}

HWY_INLINE kernels::QuerySums one_row(const kernels::BlockScale& scale,
                                      const kernels::QueryTerms& query, const RowPointers& at,
                                      std::size_t count) {
  const Tag f;
  const std::size_t lanes = hn::Lanes(f);
  const auto zero = hn::Zero(kWide);
  WideRowSums total{zero, zero, zero, zero};
  for (std::size_t k = 0; k < count;) {
    RowSums sums = zero_sums(f);
    const std::size_t end = HWY_MIN(count, k + kShort * lanes);
    for (; k < end; k += lanes) one_vector(f, scale, query, at, k, sums);
    flush(sums, total);
  }
  return {reduce(total.blocks), reduce(total.spread), reduce(total.along),
          reduce(total.squared_overlap)};
}

void jacobian_rows(MatrixView<const float> gaps, MatrixView<const float> weights,
                   const kernels::BlockScale& scale, const kernels::KeyTerms& keys,
                   std::span<const kernels::QueryTerms> queries, MatrixView<float> overlaps,
                   std::span<kernels::QuerySums> sums, std::span<double> columns) {
  HWY_ALIGN float buffer[kColumnGroup];
  for (std::size_t first = 0; first < gaps.cols(); first += kColumnGroup) {
    const std::size_t count = HWY_MIN(kColumnGroup, gaps.cols() - first);
    for (std::size_t group = 0; group < gaps.rows(); group += kRowGroup) {
      std::fill_n(buffer, count, 0.0F);
      for (std::size_t j = group; j < HWY_MIN(gaps.rows(), group + kRowGroup); ++j) {
        const RowPointers at{gaps.data() + j * gaps.stride() + first,
                             weights.data() + j * weights.stride() + first,
                             keys.half_square.data() + first,
                             keys.along_centre.data() + first,
                             keys.inverse_square_norm.data() + first,
                             overlaps.data() + j * overlaps.stride() + first,
                             buffer};
        const kernels::QuerySums row = one_row(scale, queries[j], at, count);
        sums[j].blocks += row.blocks;
        sums[j].spread += row.spread;
        sums[j].along += row.along;
        sums[j].squared_overlap += row.squared_overlap;
      }
      const std::size_t real = HWY_MIN(count, columns.size() - HWY_MIN(first, columns.size()));
      for (std::size_t k = 0; k < real; ++k) columns[first + k] += static_cast<double>(buffer[k]);
    }
  }
}

void centre_and_weigh(MatrixView<const float> weights, std::span<const float> shares,
                      std::span<const float> shifts, MatrixView<float> values) {
  const Tag f;
  for (std::size_t j = 0; j < values.rows(); ++j) {
    const float* HWY_RESTRICT weight = weights.data() + j * weights.stride();
    float* HWY_RESTRICT value = values.data() + j * values.stride();
    const auto share = hn::Set(f, shares[j]);
    const auto shift = hn::Set(f, shifts[j]);
    for (std::size_t k = 0; k < values.cols(); k += hn::Lanes(f)) {
      const auto centred = hn::Sub(hn::Load(f, value + k), shift);
      hn::Store(hn::Mul(hn::Mul(hn::Load(f, weight + k), share), centred), f, value + k);
    }
  }
}

void row_products(MatrixView<const float> a, MatrixView<const float> b, std::span<double> sums) {
  const Tag f;
  const std::size_t lanes = hn::Lanes(f);
  for (std::size_t j = 0; j < a.rows(); ++j) {
    const float* HWY_RESTRICT x = a.data() + j * a.stride();
    const float* HWY_RESTRICT y = b.data() + j * b.stride();
    auto total = hn::Zero(kWide);
    for (std::size_t k = 0; k < a.cols();) {
      auto part = hn::Zero(f);
      const std::size_t end = HWY_MIN(a.cols(), k + kShort * lanes);
      for (; k < end; k += lanes) part = hn::MulAdd(hn::Load(f, x + k), hn::Load(f, y + k), part);
      total = hn::Add(total, widen(part));
    }
    sums[j] = reduce(total);
  }
}

}  // namespace
}  // namespace dewpoint::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dewpoint::kernels {
namespace {
HWY_EXPORT(jacobian_rows);
HWY_EXPORT(centre_and_weigh);
HWY_EXPORT(row_products);

[[maybe_unused]] bool is_padded(MatrixView<const float> m) {
  return m.cols() % kLanePadding == 0 && m.stride() % kLanePadding == 0;
}
}  // namespace

void jacobian_rows(MatrixView<const float> gaps, MatrixView<const float> weights,
                   const BlockScale& scale, const KeyTerms& keys,
                   std::span<const QueryTerms> queries, MatrixView<float> overlaps,
                   std::span<QuerySums> sums, std::span<double> columns) {
  DEWPOINT_EXPECTS(is_padded(gaps) && is_padded(weights) && is_padded(overlaps));
  DEWPOINT_EXPECTS(gaps.cols() == weights.cols() && gaps.cols() == overlaps.cols());
  DEWPOINT_EXPECTS(keys.half_square.size() >= gaps.cols());
  DEWPOINT_EXPECTS(keys.along_centre.size() >= gaps.cols());
  DEWPOINT_EXPECTS(keys.inverse_square_norm.size() >= gaps.cols());
  DEWPOINT_EXPECTS(queries.size() >= gaps.rows() && sums.size() >= gaps.rows());
  HWY_DYNAMIC_DISPATCH(jacobian_rows)
  (gaps, weights, scale, keys, queries, overlaps, sums, columns);
}

void centre_and_weigh(MatrixView<const float> weights, std::span<const float> shares,
                      std::span<const float> shifts, MatrixView<float> values) {
  DEWPOINT_EXPECTS(is_padded(weights) && is_padded(values) && weights.cols() == values.cols());
  DEWPOINT_EXPECTS(shares.size() >= values.rows() && shifts.size() >= values.rows());
  HWY_DYNAMIC_DISPATCH(centre_and_weigh)(weights, shares, shifts, values);
}

void row_products(MatrixView<const float> a, MatrixView<const float> b, std::span<double> sums) {
  DEWPOINT_EXPECTS(is_padded(a) && is_padded(b) && a.cols() == b.cols());
  DEWPOINT_EXPECTS(sums.size() >= a.rows() && b.rows() >= a.rows());
  HWY_DYNAMIC_DISPATCH(row_products)(a, b, sums);
}

}  // namespace dewpoint::kernels
#endif  // HWY_ONCE
