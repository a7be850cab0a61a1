// Compiled once per instruction set: foreach_target.h includes this file again for each.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "dewpoint/transformer/row_kernels.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h must come first.
#include <hwy/highway.h>

#include <cmath>
#include <limits>

#include "dewpoint/training/lane_numbers-inl.hpp"
#include "dewpoint/transformer/row_kernels.hpp"

HWY_BEFORE_NAMESPACE();
namespace dewpoint::transformer::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

template <class Real>
using WideTag = hn::ScalableTag<Real>;
template <class Real>
using OneTag = hn::CappedTag<Real, 1>;

// ---- products of rows ---------------------------------------------------------------------------

// Σ a b over kRows rows at once: one load of the vector serves all of them.
template <class Real, std::size_t kRows>
HWY_INLINE void dots(const Real* HWY_RESTRICT vector, const Real* const (&rows)[kRows],
                     std::size_t count, Real* HWY_RESTRICT out) {
  const WideTag<Real> wide;
  const std::size_t lanes = hn::Lanes(wide);
  hn::Vec<WideTag<Real>> even[kRows], odd[kRows];
  for (std::size_t k = 0; k < kRows; ++k) even[k] = odd[k] = hn::Zero(wide);
  std::size_t c = 0;
  for (; c + 2 * lanes <= count; c += 2 * lanes) {
    const auto left = hn::LoadU(wide, vector + c), right = hn::LoadU(wide, vector + c + lanes);
    for (std::size_t k = 0; k < kRows; ++k) {
      even[k] = hn::MulAdd(left, hn::LoadU(wide, rows[k] + c), even[k]);
      odd[k] = hn::MulAdd(right, hn::LoadU(wide, rows[k] + c + lanes), odd[k]);
    }
  }
  for (std::size_t k = 0; k < kRows; ++k) {
    Real sum = hn::GetLane(hn::SumOfLanes(wide, hn::Add(even[k], odd[k])));
    for (std::size_t rest = c; rest < count; ++rest) sum += vector[rest] * rows[k][rest];
    out[k] = sum;
  }
}

template <class Real>
HWY_INLINE void all_dots(std::span<const Real> vector, MatrixView<const Real> table,
                         RowNumbers rows, std::span<Real> out) {
  const auto row = [&](std::size_t k) { return table.data() + rows[k] * table.stride(); };
  std::size_t k = 0;
  for (; k + 4 <= rows.size(); k += 4) {
    const Real* const four[4] = {row(k), row(k + 1), row(k + 2), row(k + 3)};
    dots(vector.data(), four, vector.size(), out.data() + k);
  }
  for (; k < rows.size(); ++k) {
    const Real* const one[1] = {row(k)};
    dots(vector.data(), one, vector.size(), out.data() + k);
  }
}

// Columns [c, c + kVectors vectors) of the sum, held in registers over all rows.
template <std::size_t kVectors, class Tag, class Real>
HWY_INLINE void add_columns_of(Tag tag, std::span<const Real> weights, MatrixView<const Real> table,
                               RowNumbers rows, std::size_t c, Real* HWY_RESTRICT sum) {
  const std::size_t lanes = hn::Lanes(tag);
  hn::Vec<Tag> total[kVectors];
  for (std::size_t v = 0; v < kVectors; ++v) total[v] = hn::LoadU(tag, sum + c + v * lanes);
  for (std::size_t k = 0; k < rows.size(); ++k) {
    const auto weight = hn::Set(tag, weights[k]);
    const Real* HWY_RESTRICT row = table.data() + rows[k] * table.stride() + c;
    for (std::size_t v = 0; v < kVectors; ++v) {
      total[v] = hn::MulAdd(weight, hn::LoadU(tag, row + v * lanes), total[v]);
    }
  }
  for (std::size_t v = 0; v < kVectors; ++v) hn::StoreU(total[v], tag, sum + c + v * lanes);
}

template <class Real>
HWY_INLINE void add_all_rows(std::span<const Real> weights, MatrixView<const Real> table,
                             RowNumbers rows, std::span<Real> sum) {
  const WideTag<Real> wide;
  const OneTag<Real> one;
  const std::size_t lanes = hn::Lanes(wide);
  Real* to = sum.data();
  std::size_t c = 0;
  for (; c + 8 * lanes <= sum.size(); c += 8 * lanes) {
    add_columns_of<8>(wide, weights, table, rows, c, to);
  }
  for (; c + lanes <= sum.size(); c += lanes) {
    add_columns_of<1>(wide, weights, table, rows, c, to);
  }
  for (; c < sum.size(); ++c) add_columns_of<1>(one, weights, table, rows, c, to);
}

template <class Real>
HWY_INLINE void add_one_row(Real factor, std::span<const Real> row, std::span<Real> sum) {
  const WideTag<Real> wide;
  const std::size_t lanes = hn::Lanes(wide);
  const auto by = hn::Set(wide, factor);
  std::size_t c = 0;
  for (; c + lanes <= sum.size(); c += lanes) {
    const auto before = hn::LoadU(wide, sum.data() + c);
    hn::StoreU(hn::MulAdd(by, hn::LoadU(wide, row.data() + c), before), wide, sum.data() + c);
  }
  for (; c < sum.size(); ++c) sum[c] += factor * row[c];
}

template <class Real>
HWY_INLINE Real one_dot(std::span<const Real> a, std::span<const Real> b) {
  const Real* const row[1] = {b.data()};
  Real sum;
  dots(a.data(), row, a.size(), &sum);
  return sum;
}

// ---- softmax ------------------------------------------------------------------------------------

// Additions in one lane of Real before a sum moves on to double: 16 of positive terms round by
// less than one unit in the last place.
constexpr std::size_t kRun = 16;

template <class Tag>
HWY_INLINE hn::Vec<Tag> exponential(Tag tag, hn::Vec<Tag> x, float real) {
  return training::HWY_NAMESPACE::exponential_of(tag, x, real);
}
// Highway's makes 0 of NaN.
template <class Tag>
HWY_INLINE hn::Vec<Tag> exponential(Tag tag, hn::Vec<Tag> x, double real) {
  return hn::IfThenElse(hn::IsNaN(x), x, training::HWY_NAMESPACE::exponential_of(tag, x, real));
}

template <class Real>
HWY_INLINE Real largest_of(std::span<const Real> scores) {
  const WideTag<Real> wide;
  const std::size_t lanes = hn::Lanes(wide);
  Real top = -std::numeric_limits<Real>::infinity();
  auto even = hn::Set(wide, top), odd = even;
  std::size_t j = 0;
  for (; j + 2 * lanes <= scores.size(); j += 2 * lanes) {
    even = hn::Max(even, hn::LoadU(wide, scores.data() + j));
    odd = hn::Max(odd, hn::LoadU(wide, scores.data() + j + lanes));
  }
  if (j > 0) top = hn::GetLane(hn::MaxOfLanes(wide, hn::Max(even, odd)));
  for (; j < scores.size(); ++j) top = HWY_MAX(top, scores[j]);
  return top;
}

// The lanes of a vector of Real, added up in double.
template <class Tag>
HWY_INLINE double wide_sum(Tag tag, hn::Vec<Tag> v) {
  HWY_ALIGN hn::TFromD<Tag> lanes[HWY_MAX_BYTES / sizeof(hn::TFromD<Tag>)];
  hn::Store(v, tag, lanes);
  double sum = 0.0;
  for (std::size_t i = 0; i < hn::Lanes(tag); ++i) sum += static_cast<double>(lanes[i]);
  return sum;
}

// scores ← e^(score − top), and their sum.
template <class Real>
HWY_INLINE double exponentiate(std::span<Real> scores, Real top) {
  const WideTag<Real> wide;
  const OneTag<Real> one;
  const std::size_t lanes = hn::Lanes(wide);
  const auto best = hn::Set(wide, top);
  Real* HWY_RESTRICT at = scores.data();
  double sum = 0.0;
  std::size_t j = 0;
  while (j + lanes <= scores.size()) {
    const std::size_t end = HWY_MIN(scores.size() / lanes * lanes, j + kRun * lanes);
    auto run = hn::Zero(wide);
    for (; j < end; j += lanes) {
      const auto power = exponential(wide, hn::Sub(hn::LoadU(wide, at + j), best), Real{});
      hn::StoreU(power, wide, at + j);
      run = hn::Add(run, power);
    }
    sum += wide_sum(wide, run);
  }
  for (; j < scores.size(); ++j) {
    at[j] = hn::GetLane(exponential(one, hn::Set(one, at[j] - top), Real{}));
    sum += static_cast<double>(at[j]);
  }
  return sum;
}

template <class Real>
HWY_INLINE void scale(std::span<Real> numbers, Real factor) {
  const WideTag<Real> wide;
  const std::size_t lanes = hn::Lanes(wide);
  const auto by = hn::Set(wide, factor);
  Real* HWY_RESTRICT at = numbers.data();
  std::size_t j = 0;
  for (; j + lanes <= numbers.size(); j += lanes) {
    hn::StoreU(hn::Mul(hn::LoadU(wide, at + j), by), wide, at + j);
  }
  for (; j < numbers.size(); ++j) at[j] *= factor;
}

template <class Real>
HWY_INLINE double weigh_row(std::span<Real> scores, Real total) {
  const Real top = largest_of(std::span<const Real>(scores));
  const double sum = exponentiate(scores, top);
  scale(scores, static_cast<Real>(static_cast<double>(total) / sum));
  return static_cast<double>(top) + std::log(sum);
}

template <class Real>
HWY_INLINE void slopes_of_row(std::span<const Real> weights, std::span<Real> slopes) {
  const WideTag<Real> wide;
  const std::size_t lanes = hn::Lanes(wide);
  const Real mean = one_dot(weights, std::span<const Real>(slopes));
  const auto centre = hn::Set(wide, mean);
  const Real* HWY_RESTRICT weight = weights.data();
  Real* HWY_RESTRICT slope = slopes.data();
  std::size_t j = 0;
  for (; j + lanes <= slopes.size(); j += lanes) {
    const auto excess = hn::Sub(hn::LoadU(wide, slope + j), centre);
    hn::StoreU(hn::Mul(hn::LoadU(wide, weight + j), excess), wide, slope + j);
  }
  for (; j < slopes.size(); ++j) slope[j] = weight[j] * (slope[j] - mean);
}

// ---- one name per type, for the dispatch --------------------------------------------------------

using Singles = std::span<const float>;
using Doubles = std::span<const double>;

void single_dots(Singles vector, MatrixView<const float> table, RowNumbers rows,
                 std::span<float> out) {
  all_dots(vector, table, rows, out);
}
void double_dots(Doubles vector, MatrixView<const double> table, RowNumbers rows,
                 std::span<double> out) {
  all_dots(vector, table, rows, out);
}
void single_add_rows(Singles weights, MatrixView<const float> table, RowNumbers rows,
                     std::span<float> sum) {
  add_all_rows(weights, table, rows, sum);
}
void double_add_rows(Doubles weights, MatrixView<const double> table, RowNumbers rows,
                     std::span<double> sum) {
  add_all_rows(weights, table, rows, sum);
}
void single_add_row(float factor, Singles row, std::span<float> sum) {
  add_one_row(factor, row, sum);
}
void double_add_row(double factor, Doubles row, std::span<double> sum) {
  add_one_row(factor, row, sum);
}
float single_dot(Singles a, Singles b) { return one_dot(a, b); }
double double_dot(Doubles a, Doubles b) { return one_dot(a, b); }
double single_weigh(std::span<float> scores, float total) { return weigh_row(scores, total); }
double double_weigh(std::span<double> scores, double total) { return weigh_row(scores, total); }
void single_slopes(Singles weights, std::span<float> slopes) { slopes_of_row(weights, slopes); }
void double_slopes(Doubles weights, std::span<double> slopes) { slopes_of_row(weights, slopes); }

}  // namespace
}  // namespace dewpoint::transformer::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dewpoint::transformer {
namespace {
HWY_EXPORT(single_dots);
HWY_EXPORT(double_dots);
HWY_EXPORT(single_add_rows);
HWY_EXPORT(double_add_rows);
HWY_EXPORT(single_add_row);
HWY_EXPORT(double_add_row);
HWY_EXPORT(single_dot);
HWY_EXPORT(double_dot);
HWY_EXPORT(single_weigh);
HWY_EXPORT(double_weigh);
HWY_EXPORT(single_slopes);
HWY_EXPORT(double_slopes);
}  // namespace

void dot_rows(std::span<const float> vector, MatrixView<const float> table, RowNumbers rows,
              std::span<float> out) {
  DEWPOINT_EXPECTS(vector.size() == table.cols() && out.size() == rows.size());
  HWY_DYNAMIC_DISPATCH(single_dots)(vector, table, rows, out);
}
void dot_rows(std::span<const double> vector, MatrixView<const double> table, RowNumbers rows,
              std::span<double> out) {
  DEWPOINT_EXPECTS(vector.size() == table.cols() && out.size() == rows.size());
  HWY_DYNAMIC_DISPATCH(double_dots)(vector, table, rows, out);
}

void add_rows(std::span<const float> weights, MatrixView<const float> table, RowNumbers rows,
              std::span<float> sum) {
  DEWPOINT_EXPECTS(weights.size() == rows.size() && sum.size() == table.cols());
  HWY_DYNAMIC_DISPATCH(single_add_rows)(weights, table, rows, sum);
}
void add_rows(std::span<const double> weights, MatrixView<const double> table, RowNumbers rows,
              std::span<double> sum) {
  DEWPOINT_EXPECTS(weights.size() == rows.size() && sum.size() == table.cols());
  HWY_DYNAMIC_DISPATCH(double_add_rows)(weights, table, rows, sum);
}

void add_row(float factor, std::span<const float> row, std::span<float> sum) {
  DEWPOINT_EXPECTS(row.size() == sum.size());
  HWY_DYNAMIC_DISPATCH(single_add_row)(factor, row, sum);
}
void add_row(double factor, std::span<const double> row, std::span<double> sum) {
  DEWPOINT_EXPECTS(row.size() == sum.size());
  HWY_DYNAMIC_DISPATCH(double_add_row)(factor, row, sum);
}

float dot(std::span<const float> a, std::span<const float> b) {
  DEWPOINT_EXPECTS(a.size() == b.size());
  return HWY_DYNAMIC_DISPATCH(single_dot)(a, b);
}
double dot(std::span<const double> a, std::span<const double> b) {
  DEWPOINT_EXPECTS(a.size() == b.size());
  return HWY_DYNAMIC_DISPATCH(double_dot)(a, b);
}

double weigh(std::span<float> scores, float total) {
  return HWY_DYNAMIC_DISPATCH(single_weigh)(scores, total);
}
double weigh(std::span<double> scores, double total) {
  return HWY_DYNAMIC_DISPATCH(double_weigh)(scores, total);
}

void take_score_slopes(std::span<const float> weights, std::span<float> slopes) {
  DEWPOINT_EXPECTS(weights.size() == slopes.size());
  HWY_DYNAMIC_DISPATCH(single_slopes)(weights, slopes);
}
void take_score_slopes(std::span<const double> weights, std::span<double> slopes) {
  DEWPOINT_EXPECTS(weights.size() == slopes.size());
  HWY_DYNAMIC_DISPATCH(double_slopes)(weights, slopes);
}

}  // namespace dewpoint::transformer
#endif  // HWY_ONCE
