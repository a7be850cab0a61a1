// Compiled once per instruction set: foreach_target.h includes this file again for each.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "dewpoint/core/kernels.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h must come first.
#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "dewpoint/core/exp_nonpositive-inl.hpp"
#include "dewpoint/core/kernels.hpp"
#include "dewpoint/core/wide_sums-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace dewpoint::HWY_NAMESPACE {
namespace {

// The four sums of RowMoments, one partial sum per lane.
struct Sums {
  Vec weight, gap, squared_gap, weight_squared;
};

HWY_INLINE Sums zero_sums(Tag f) {
  const auto zero = hn::Zero(f);
  return {zero, zero, zero, zero};
}

HWY_INLINE void add_weight(Sums& sums, Vec weight, Vec gap) {
  const auto product = hn::Mul(gap, weight);
  sums.weight = hn::Add(sums.weight, weight);
  sums.gap = hn::Add(sums.gap, product);
  sums.squared_gap = hn::MulAdd(product, gap, sums.squared_gap);
  sums.weight_squared = hn::MulAdd(weight, weight, sums.weight_squared);
}

// The same in float64.
struct WideSums {
  WideVec weight, gap, squared_gap, weight_squared;
};

HWY_INLINE WideSums zero_wide_sums() {
  const auto zero = hn::Zero(kWide);
  return {zero, zero, zero, zero};
}

// Moves float32 sums to float64 and starts them anew.
HWY_INLINE void flush(Tag f, Sums& sums, WideSums& total) {
  total.weight = hn::Add(total.weight, widen(sums.weight));
  total.gap = hn::Add(total.gap, widen(sums.gap));
  total.squared_gap = hn::Add(total.squared_gap, widen(sums.squared_gap));
  total.weight_squared = hn::Add(total.weight_squared, widen(sums.weight_squared));
  sums = zero_sums(f);
}

HWY_INLINE RowMoments moments_of(const WideSums& sums) {
  return {reduce(sums.weight), reduce(sums.gap), reduce(sums.squared_gap),
          reduce(sums.weight_squared)};
}

HWY_INLINE void add_to_memory(Tag f, const Sums& sums, float* HWY_RESTRICT memory) {
  const std::size_t lanes = hn::Lanes(f);
  const auto add = [&](Vec v, float* at) { hn::Store(hn::Add(hn::Load(f, at), v), f, at); };
  add(sums.weight, memory);
  add(sums.gap, memory + lanes);
  add(sums.squared_gap, memory + 2 * lanes);
  add(sums.weight_squared, memory + 3 * lanes);
}

// Rows i..i+kRows of a block. Column sums are kept in memory (columns x 4 floats) and touched once
// per kRows rows; row sums stay in registers.
template <std::size_t kRows, bool kColumns>
HWY_INLINE void weigh_rows(const kernels::Weighing weighing, MatrixView<float> dots, std::size_t i,
                           const float* row_half, const float* HWY_RESTRICT col_half,
                           RowMoments* row_moments, float* HWY_RESTRICT column_sums) {
  const Tag f;
  const std::size_t lanes = hn::Lanes(f);
  const std::size_t cols = padded(dots.cols());
  const auto scale = hn::Set(f, -weighing.inverse_temperature);
  const auto shift = hn::Set(f, weighing.shift);
  Sums rows[kRows];
  WideSums totals[kRows];
  Vec own[kRows];
  float* HWY_RESTRICT line[kRows];
  for (std::size_t r = 0; r < kRows; ++r) {
    rows[r] = zero_sums(f);
    totals[r] = zero_wide_sums();
    own[r] = hn::Set(f, row_half[i + r]);
    line[r] = dots.data() + (i + r) * dots.stride();
  }
  for (std::size_t panel = 0; panel < cols; panel += kShort * lanes) {
    const std::size_t end = HWY_MIN(panel + kShort * lanes, cols);
    for (std::size_t j = panel; j < end; j += lanes) {
      const auto other = hn::LoadU(f, col_half + j);
      Sums column = zero_sums(f);
      for (std::size_t r = 0; r < kRows; ++r) {
        const auto dot = hn::Load(f, line[r] + j);
        const auto gap = hn::Max(hn::Sub(hn::Add(own[r], other), dot), hn::Zero(f));
        const auto weight = exp_nonpositive(f, hn::Mul(scale, gap));
        hn::Store(hn::Sub(weight, shift), f, line[r] + j);
        add_weight(rows[r], weight, gap);
        if (kColumns) add_weight(column, weight, gap);
      }
      if (kColumns) add_to_memory(f, column, column_sums + 4 * j);
    }
    for (std::size_t r = 0; r < kRows; ++r) flush(f, rows[r], totals[r]);
  }
  for (std::size_t r = 0; r < kRows; ++r) row_moments[i + r] += moments_of(totals[r]);
}

void accumulate(MatrixView<const float> part, MatrixView<double> total) {
  const hn::Rebind<float, decltype(kWide)> half;
  const std::size_t lanes = hn::Lanes(kWide);
  for (std::size_t i = 0; i < part.rows(); ++i) {
    const float* HWY_RESTRICT p = part.data() + i * part.stride();
    double* HWY_RESTRICT t = total.data() + i * total.stride();
    std::size_t j = 0;
    for (; j + lanes <= part.cols(); j += lanes) {
      const auto wide = hn::PromoteTo(kWide, hn::LoadU(half, p + j));
      hn::StoreU(hn::Add(hn::LoadU(kWide, t + j), wide), kWide, t + j);
    }
    for (; j < part.cols(); ++j) t[j] += static_cast<double>(p[j]);
  }
}

// Column sums in the order of add_to_memory, as moments per column.
void add_column_moments(const Matrix<double>& sums, std::span<RowMoments> col_moments) {
  const std::size_t lanes = hn::Lanes(Tag());
  for (std::size_t j = 0; j < col_moments.size(); ++j) {
    const double* s = sums.data() + 4 * (j / lanes * lanes) + j % lanes;
    col_moments[j] += {s[0], s[lanes], s[2 * lanes], s[3 * lanes]};
  }
}

template <bool kColumns>
void weigh_all(MatrixView<float> dots, kernels::Weighing weighing, const float* row_half,
               const float* col_half, RowMoments* row_moments, std::span<RowMoments> col_moments) {
  constexpr std::size_t kGroup = 2;
  Matrix<float> sums(1, kColumns ? 4 * padded(dots.cols()) : 0);
  Matrix<double> totals(1, sums.cols());
  for (std::size_t panel = 0; panel < dots.rows(); panel += kShort * kGroup) {
    const std::size_t end = HWY_MIN(panel + kShort * kGroup, dots.rows());
    std::size_t i = panel;
    for (; i + kGroup <= end; i += kGroup) {
      weigh_rows<kGroup, kColumns>(weighing, dots, i, row_half, col_half, row_moments, sums.data());
    }
    if (i < end) {
      weigh_rows<1, kColumns>(weighing, dots, i, row_half, col_half, row_moments, sums.data());
    }
    accumulate(sums, totals);
    std::fill_n(sums.data(), sums.size(), 0.0F);
  }
  if (kColumns) add_column_moments(totals, col_moments);
}

void weigh_block(MatrixView<float> dots, kernels::Weighing weighing,
                 std::span<const float> row_half, std::span<const float> col_half,
                 std::span<RowMoments> row_moments, std::span<RowMoments> col_moments) {
  if (col_moments.empty()) {
    weigh_all<false>(dots, weighing, row_half.data(), col_half.data(), row_moments.data(), {});
  } else {
    weigh_all<true>(dots, weighing, row_half.data(), col_half.data(), row_moments.data(),
                    col_moments.first(dots.cols()));
  }
}

void exp_gaps(MatrixView<const float> gaps, float beta, MatrixView<float> weights) {
  const Tag f;
  const std::size_t lanes = hn::Lanes(f);
  const auto scale = hn::Set(f, -beta);
  for (std::size_t i = 0; i < gaps.rows(); ++i) {
    const float* HWY_RESTRICT in = gaps.data() + i * gaps.stride();
    float* HWY_RESTRICT out = weights.data() + i * weights.stride();
    for (std::size_t j = 0; j < padded(gaps.cols()); j += lanes) {
      hn::Store(exp_nonpositive(f, hn::Mul(scale, hn::Load(f, in + j))), f, out + j);
    }
  }
}

void multiply(MatrixView<float> weights, MatrixView<const float> factor) {
  const Tag f;
  const std::size_t lanes = hn::Lanes(f);
  for (std::size_t i = 0; i < weights.rows(); ++i) {
    float* HWY_RESTRICT w = weights.data() + i * weights.stride();
    const float* HWY_RESTRICT m = factor.data() + i * factor.stride();
    for (std::size_t j = 0; j < padded(weights.cols()); j += lanes) {
      hn::Store(hn::Mul(hn::Load(f, w + j), hn::Load(f, m + j)), f, w + j);
    }
  }
}

// Moments of one row; weight_at(j) gives (and may store) the weights of columns j, j+1, ...
template <class WeightAt>
HWY_INLINE RowMoments moments_of_row(std::size_t cols, const float* HWY_RESTRICT gaps,
                                     WeightAt weight_at) {
  const Tag f;
  const std::size_t lanes = hn::Lanes(f);
  Sums sums = zero_sums(f);
  WideSums total = zero_wide_sums();
  for (std::size_t panel = 0; panel < cols; panel += kShort * lanes) {
    const std::size_t end = HWY_MIN(panel + kShort * lanes, cols);
    for (std::size_t j = panel; j < end; j += lanes) {
      add_weight(sums, weight_at(j), hn::Load(f, gaps + j));
    }
    flush(f, sums, total);
  }
  return moments_of(total);
}

void row_moments(MatrixView<const float> weights, MatrixView<const float> gaps,
                 std::span<RowMoments> moments) {
  const Tag f;
  for (std::size_t i = 0; i < weights.rows(); ++i) {
    const float* HWY_RESTRICT w = weights.data() + i * weights.stride();
    moments[i] = moments_of_row(padded(weights.cols()), gaps.data() + i * gaps.stride(),
                                [&](std::size_t j) { return hn::Load(f, w + j); });
  }
}

void multiply_with_moments(MatrixView<float> weights, MatrixView<const float> factor,
                           MatrixView<const float> gaps, std::span<RowMoments> moments) {
  const Tag f;
  for (std::size_t i = 0; i < weights.rows(); ++i) {
    float* HWY_RESTRICT w = weights.data() + i * weights.stride();
    const float* HWY_RESTRICT m = factor.data() + i * factor.stride();
    moments[i] =
        moments_of_row(padded(weights.cols()), gaps.data() + i * gaps.stride(), [&](std::size_t j) {
          const auto product = hn::Mul(hn::Load(f, w + j), hn::Load(f, m + j));
          hn::Store(product, f, w + j);
          return product;
        });
  }
}

void add_columns(MatrixView<const float> rows, std::span<double> sums) {
  for (std::size_t i = 0; i < rows.rows(); ++i) {
    accumulate(rows.row_range({i, i + 1}), {sums.data(), 1, sums.size(), sums.size()});
  }
}

void normalise_rows(MatrixView<const float> deviations, std::span<const float> shift,
                    std::span<const float> u, float c, MatrixView<float> out) {
  const Tag f;
  const std::size_t lanes = hn::Lanes(f);
  const std::size_t d = deviations.cols();
  const std::size_t whole = d / lanes * lanes;
  const float twice = 2.0F * c;
  for (std::size_t i = 0; i < deviations.rows(); ++i) {
    const float* HWY_RESTRICT in = deviations.data() + i * deviations.stride();
    float* HWY_RESTRICT row = out.data() + i * out.stride();
    auto sum = hn::Zero(f);  // Σ D (2 c u + D) = ‖c u + D‖² − c²
    for (std::size_t k = 0; k < whole; k += lanes) {
      const auto deviation = hn::Sub(hn::LoadU(f, in + k), hn::LoadU(f, shift.data() + k));
      const auto factor = hn::MulAdd(hn::Set(f, twice), hn::LoadU(f, u.data() + k), deviation);
      sum = hn::MulAdd(deviation, factor, sum);
    }
    float excess = hn::GetLane(hn::SumOfLanes(f, sum));
    for (std::size_t k = whole; k < d; ++k) {
      const float deviation = in[k] - shift[k];
      excess += deviation * (twice * u[k] + deviation);
    }
    const float length = std::sqrt(HWY_MAX(c * c + excess, 0.0F));
    const float pull = -excess / (c + length);
    const float scale = 1.0F / length;
    for (std::size_t k = 0; k < whole; k += lanes) {
      const auto deviation = hn::Sub(hn::LoadU(f, in + k), hn::LoadU(f, shift.data() + k));
      const auto moved = hn::MulAdd(hn::Set(f, pull), hn::LoadU(f, u.data() + k), deviation);
      hn::StoreU(hn::Mul(moved, hn::Set(f, scale)), f, row + k);
    }
    for (std::size_t k = whole; k < d; ++k) row[k] = (in[k] - shift[k] + pull * u[k]) * scale;
  }
}

void recentre_rows(MatrixView<float> rows, std::span<const float> shift,
                   std::span<float> half_squares) {
  const Tag f;
  const std::size_t lanes = hn::Lanes(f);
  const std::size_t d = rows.cols();
  const std::size_t whole = d / lanes * lanes;
  for (std::size_t i = 0; i < rows.rows(); ++i) {
    float* HWY_RESTRICT row = rows.data() + i * rows.stride();
    auto sum = hn::Zero(kWide);
    for (std::size_t k = 0; k < whole; k += lanes) {
      const auto moved = hn::Sub(hn::LoadU(f, row + k), hn::LoadU(f, shift.data() + k));
      hn::StoreU(moved, f, row + k);
      sum = hn::Add(sum, widen(hn::Mul(moved, moved)));
    }
    double square = reduce(sum);
    for (std::size_t k = whole; k < d; ++k) {
      row[k] -= shift[k];
      square += static_cast<double>(row[k]) * static_cast<double>(row[k]);
    }
    half_squares[i] = static_cast<float>(0.5 * square);
  }
}

HWY_INLINE kernels::PairSums pair_sums_inline(const float* HWY_RESTRICT dots, float half,
                                              const float* HWY_RESTRICT col_half,
                                              const float* HWY_RESTRICT inverse_gaps,
                                              Range columns) {
  const Tag f;
  const std::size_t lanes = hn::Lanes(f);
  const auto own = hn::Set(f, half);
  auto ratio = hn::Zero(kWide);
  auto smallest = hn::Set(f, std::numeric_limits<float>::max());
  auto largest = hn::Zero(f);
  std::size_t j = columns.begin;
  while (j + lanes <= columns.end) {
    auto part = hn::Zero(f);
    const std::size_t end = HWY_MIN(j + kShort * lanes, columns.end);
    for (; j + lanes <= end; j += lanes) {
      const auto sum = hn::Add(own, hn::LoadU(f, col_half + j));
      const auto gap = hn::Max(hn::Sub(sum, hn::LoadU(f, dots + j)), hn::Zero(f));
      part = hn::MulAdd(gap, hn::LoadU(f, inverse_gaps + j), part);
      smallest = hn::Min(smallest, gap);
      largest = hn::Max(largest, gap);
    }
    ratio = hn::Add(ratio, widen(part));
  }
  kernels::PairSums sums;
  sums.ratio = reduce(ratio);
  sums.smallest_gap = hn::GetLane(hn::MinOfLanes(f, smallest));
  sums.largest_gap = hn::GetLane(hn::MaxOfLanes(f, largest));
  for (; j < columns.end; ++j) {
    const float gap = HWY_MAX(half + col_half[j] - dots[j], 0.0F);
    sums.ratio += static_cast<double>(gap * inverse_gaps[j]);
    sums.smallest_gap = HWY_MIN(sums.smallest_gap, gap);
    sums.largest_gap = HWY_MAX(sums.largest_gap, gap);
  }
  return sums;
}

kernels::PairSums pair_sums(const float* dots, float half, const float* col_half,
                            const float* inverse_gaps, Range columns) {
  return pair_sums_inline(dots, half, col_half, inverse_gaps, columns);
}

kernels::PairSums upper_pair_sums(MatrixView<const float> dots, const float* half,
                                  MatrixView<const float> inverse_gaps) {
  kernels::PairSums sums;
  for (std::size_t i = 0; i < dots.rows(); ++i) {
    sums += pair_sums_inline(dots.data() + i * dots.stride(), half[i], half,
                             inverse_gaps.data() + i * inverse_gaps.stride(), {i + 1, dots.cols()});
  }
  return sums;
}

}  // namespace
}  // namespace dewpoint::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dewpoint {
namespace {
HWY_EXPORT(weigh_block);
HWY_EXPORT(exp_gaps);
HWY_EXPORT(multiply);
HWY_EXPORT(row_moments);
HWY_EXPORT(multiply_with_moments);
HWY_EXPORT(accumulate);
HWY_EXPORT(add_columns);
HWY_EXPORT(normalise_rows);
HWY_EXPORT(recentre_rows);
HWY_EXPORT(pair_sums);
HWY_EXPORT(upper_pair_sums);
}  // namespace

RowMoments& RowMoments::operator+=(const RowMoments& other) {
  partition += other.partition;
  gap += other.gap;
  squared_gap += other.squared_gap;
  weight_squared += other.weight_squared;
  return *this;
}

namespace kernels {

PairSums::PairSums() : smallest_gap(std::numeric_limits<float>::max()), largest_gap(0.0F) {}

PairSums& PairSums::operator+=(const PairSums& other) {
  ratio += other.ratio;
  smallest_gap = HWY_MIN(smallest_gap, other.smallest_gap);
  largest_gap = HWY_MAX(largest_gap, other.largest_gap);
  return *this;
}

void weigh_block(MatrixView<float> dots, Weighing weighing, std::span<const float> row_half,
                 std::span<const float> col_half, std::span<RowMoments> row_moments,
                 std::span<RowMoments> col_moments) {
  DEWPOINT_EXPECTS(dots.stride() % kLanePadding == 0);
  DEWPOINT_EXPECTS(weighing.inverse_temperature >= kLeastInverseTemperature);
  DEWPOINT_EXPECTS(row_half.size() >= dots.rows() && row_moments.size() >= dots.rows());
  DEWPOINT_EXPECTS(col_half.size() >= padded(dots.cols()));
  DEWPOINT_EXPECTS(col_moments.empty() || col_moments.size() >= dots.cols());
  HWY_DYNAMIC_DISPATCH(weigh_block)
  (dots, weighing, row_half, col_half, row_moments, col_moments);
}

void exp_gaps(MatrixView<const float> gaps, float inverse_temperature, MatrixView<float> weights) {
  DEWPOINT_EXPECTS(gaps.stride() % kLanePadding == 0 && weights.stride() % kLanePadding == 0);
  DEWPOINT_EXPECTS(inverse_temperature >= kLeastInverseTemperature);
  HWY_DYNAMIC_DISPATCH(exp_gaps)(gaps, inverse_temperature, weights);
}

void multiply(MatrixView<float> weights, MatrixView<const float> factor) {
  DEWPOINT_EXPECTS(weights.stride() % kLanePadding == 0 && factor.stride() % kLanePadding == 0);
  HWY_DYNAMIC_DISPATCH(multiply)(weights, factor);
}

void row_moments(MatrixView<const float> weights, MatrixView<const float> gaps,
                 std::span<RowMoments> moments) {
  DEWPOINT_EXPECTS(moments.size() >= weights.rows());
  HWY_DYNAMIC_DISPATCH(row_moments)(weights, gaps, moments);
}

void multiply_with_moments(MatrixView<float> weights, MatrixView<const float> factor,
                           MatrixView<const float> gaps, std::span<RowMoments> moments) {
  DEWPOINT_EXPECTS(moments.size() >= weights.rows());
  HWY_DYNAMIC_DISPATCH(multiply_with_moments)(weights, factor, gaps, moments);
}

void accumulate(MatrixView<const float> part, MatrixView<double> total) {
  DEWPOINT_EXPECTS(part.rows() == total.rows() && part.cols() == total.cols());
  HWY_DYNAMIC_DISPATCH(accumulate)(part, total);
}

void add_columns(MatrixView<const float> rows, std::span<double> sums) {
  DEWPOINT_EXPECTS(rows.cols() == sums.size());
  HWY_DYNAMIC_DISPATCH(add_columns)(rows, sums);
}

void normalise_rows(MatrixView<const float> deviations, std::span<const float> shift,
                    std::span<const float> u, float c, MatrixView<float> out) {
  DEWPOINT_EXPECTS(shift.size() == deviations.cols() && u.size() == deviations.cols());
  DEWPOINT_EXPECTS(out.rows() == deviations.rows() && out.cols() == deviations.cols());
  HWY_DYNAMIC_DISPATCH(normalise_rows)(deviations, shift, u, c, out);
}

void recentre_rows(MatrixView<float> rows, std::span<const float> shift,
                   std::span<float> half_squares) {
  DEWPOINT_EXPECTS(shift.size() == rows.cols() && half_squares.size() >= rows.rows());
  HWY_DYNAMIC_DISPATCH(recentre_rows)(rows, shift, half_squares);
}

PairSums pair_sums(const float* dots, float half, const float* col_half, const float* inverse_gaps,
                   Range columns) {
  return HWY_DYNAMIC_DISPATCH(pair_sums)(dots, half, col_half, inverse_gaps, columns);
}

PairSums upper_pair_sums(MatrixView<const float> dots, const float* half,
                         MatrixView<const float> inverse_gaps) {
  DEWPOINT_EXPECTS(dots.rows() <= dots.cols());
  return HWY_DYNAMIC_DISPATCH(upper_pair_sums)(dots, half, inverse_gaps);
}

}  // namespace kernels

std::vector<std::string> simd_targets() {
  std::vector<std::string> names;
  for (const int64_t target : hwy::SupportedAndGeneratedTargets()) {
    names.emplace_back(hwy::TargetName(target));
  }
  return names;
}

std::string simd_target() { return simd_targets().front(); }

void force_simd_target(const std::string& name) {
  hwy::SetSupportedTargetsForTest(0);
  for (const int64_t target : hwy::SupportedAndGeneratedTargets()) {
    if (name == hwy::TargetName(target)) hwy::SetSupportedTargetsForTest(target);
  }
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

}  // namespace dewpoint
#endif  // HWY_ONCE
