// Compiled once per instruction set: foreach_target.h includes this file again for each.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "dewpoint/core/head_kernels.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h must come first.
#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>

#include <algorithm>
#include <limits>

#include "dewpoint/core/exp_nonpositive-inl.hpp"
#include "dewpoint/core/head_kernels.hpp"
#include "dewpoint/core/wide_sums-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace dewpoint::HWY_NAMESPACE {
namespace {

constexpr float kNothing = -std::numeric_limits<float>::infinity();

// The last scores of a row, fewer than a vector, with `filler` behind them.
HWY_INLINE Vec load_tail(Tag f, std::span<const float> tail, float filler) {
  HWY_ALIGN float padded_tail[kLanePadding];
  std::fill_n(padded_tail, kLanePadding, filler);
  std::copy(tail.begin(), tail.end(), padded_tail);
  return hn::Load(f, padded_tail);
}

// kSums sums of positive terms: float32 for kHeadRun additions, then float64.
template <std::size_t kSums>
struct RunningSums {
  Vec run[kSums];
  WideVec total[kSums];

  HWY_INLINE explicit RunningSums(Tag f) {
    for (std::size_t k = 0; k < kSums; ++k) {
      run[k] = hn::Zero(f);
      total[k] = hn::Zero(kWide);
    }
  }
  HWY_INLINE void flush(Tag f) {
    for (std::size_t k = 0; k < kSums; ++k) {
      total[k] = hn::Add(total[k], widen(run[k]));
      run[k] = hn::Zero(f);
    }
  }
  HWY_INLINE void add(std::size_t k, Vec term) { run[k] = hn::Add(run[k], term); }
  HWY_INLINE void add(std::size_t k, Vec factor, Vec other) {
    run[k] = hn::MulAdd(factor, other, run[k]);
  }
};

// All scores into `sums`: add_to(sums, scores) for whole vectors, the rest with a mask.
template <std::size_t kSums, class AddTo, class AddMasked>
HWY_INLINE void sum_over(Tag f, std::span<const float> scores, RunningSums<kSums>& sums,
                         AddTo add_to, AddMasked add_masked) {
  const std::size_t lanes = hn::Lanes(f);
  const float* HWY_RESTRICT at = scores.data();
  const std::size_t whole = scores.size() / lanes * lanes;
  for (std::size_t run = 0; run < whole; run += kernels::kHeadRun * lanes) {
    const std::size_t end = HWY_MIN(run + kernels::kHeadRun * lanes, whole);
    for (std::size_t j = run; j < end; j += lanes) add_to(sums, hn::LoadU(f, at + j));
    sums.flush(f);
  }
  if (whole == scores.size()) return;
  const auto tail = scores.subspan(whole);
  add_masked(sums, load_tail(f, tail, 0.0F), hn::FirstN(f, tail.size()));
  sums.flush(f);
}

float largest_score(std::span<const float> scores) {
  const Tag f;
  const std::size_t lanes = hn::Lanes(f);
  const float* HWY_RESTRICT at = scores.data();
  auto even = hn::Set(f, kNothing), odd = even;
  std::size_t j = 0;
  for (; j + 2 * lanes <= scores.size(); j += 2 * lanes) {
    even = hn::Max(even, hn::LoadU(f, at + j));
    odd = hn::Max(odd, hn::LoadU(f, at + j + lanes));
  }
  for (; j + lanes <= scores.size(); j += lanes) even = hn::Max(even, hn::LoadU(f, at + j));
  if (j < scores.size()) even = hn::Max(even, load_tail(f, scores.subspan(j), kNothing));
  return hn::GetLane(hn::MaxOfLanes(f, hn::Max(even, odd)));
}

std::array<float, 3> three_largest(std::span<const float> scores) {
  const Tag f;
  const std::size_t lanes = hn::Lanes(f);
  auto first = hn::Set(f, kNothing), second = first, third = first;  // of each lane
  const auto insert = [&](Vec x) HWY_ATTR {
    const auto below_first = hn::Min(first, x);
    first = hn::Max(first, x);
    const auto below_second = hn::Min(second, below_first);
    second = hn::Max(second, below_first);
    third = hn::Max(third, below_second);
  };
  std::size_t j = 0;
  for (; j + lanes <= scores.size(); j += lanes) insert(hn::LoadU(f, scores.data() + j));
  if (j < scores.size()) insert(load_tail(f, scores.subspan(j), kNothing));

  HWY_ALIGN float candidates[3 * kLanePadding];
  hn::Store(first, f, candidates);
  hn::Store(second, f, candidates + lanes);
  hn::Store(third, f, candidates + 2 * lanes);
  std::array<float, 3> best{};
  std::partial_sort_copy(candidates, candidates + 3 * lanes, best.begin(), best.end(),
                         std::greater<>());
  return best;
}

// Sums 0..3 are those of RowMoments up to the sign of x = −y, sums 4 and 5 those of GapSums.
template <bool kPlain>
HWY_INLINE RowMoments moments_of_scores(std::span<const float> scores, float largest, float rate,
                                        kernels::GapSums* plain) {
  const Tag f;
  const auto best = hn::Set(f, largest), slope = hn::Set(f, rate);
  RunningSums<kPlain ? 6 : 4> sums(f);
  const auto add = [](auto& to, Vec depth, Vec x, Vec weight) HWY_ATTR {
    const auto product = hn::Mul(x, weight);
    to.add(0, weight);
    to.add(1, product);
    to.add(2, product, x);
    to.add(3, weight, weight);
    if constexpr (kPlain) {
      to.add(4, depth);
      to.add(5, depth, depth);
    }
  };
  sum_over(
      f, scores, sums,
      [&](auto& to, Vec score) HWY_ATTR {
        const auto depth = hn::Sub(score, best);
        const auto x = hn::Mul(slope, depth);
        add(to, depth, x, exp_nonpositive(f, x));
      },
      [&](auto& to, Vec score, hn::Mask<Tag> real) HWY_ATTR {
        const auto depth = hn::IfThenElseZero(real, hn::Sub(score, best));
        const auto x = hn::Mul(slope, depth);
        add(to, depth, x, hn::IfThenElseZero(real, exp_nonpositive(f, x)));
      });
  if constexpr (kPlain) {
    plain->gap -= reduce(sums.total[4]);
    plain->squared_gap += reduce(sums.total[5]);
  }
  return {reduce(sums.total[0]), -reduce(sums.total[1]), reduce(sums.total[2]),
          reduce(sums.total[3])};
}

RowMoments score_moments(std::span<const float> scores, float largest, float rate,
                         kernels::GapSums* plain) {
  if (plain == nullptr) return moments_of_scores<false>(scores, largest, rate, nullptr);
  return moments_of_scores<true>(scores, largest, rate, plain);
}

std::array<double, 5> power_sums(std::span<const float> scores, float reference, float rate) {
  const Tag f;
  const auto top = hn::Set(f, reference), slope = hn::Set(f, rate);
  RunningSums<5> sums(f);
  const auto add = [](auto& to, Vec x, Vec weight) HWY_ATTR {
    const auto square = hn::Mul(x, x);
    const auto first = hn::Mul(x, weight), second = hn::Mul(square, weight);
    to.add(0, weight);
    to.add(1, first);
    to.add(2, second);
    to.add(3, first, square);
    to.add(4, second, square);
  };
  const auto exponent = [&](Vec score) HWY_ATTR {
    return hn::Min(hn::Mul(slope, hn::Sub(score, top)), hn::Zero(f));
  };
  sum_over(
      f, scores, sums,
      [&](auto& to, Vec score) HWY_ATTR {
        const auto x = exponent(score);
        add(to, x, exp_nonpositive(f, x));
      },
      [&](auto& to, Vec score, hn::Mask<Tag> real) HWY_ATTR {
        const auto x = exponent(score);
        add(to, x, hn::IfThenElseZero(real, exp_nonpositive(f, x)));
      });
  return {reduce(sums.total[0]), -reduce(sums.total[1]), reduce(sums.total[2]),
          -reduce(sums.total[3]), reduce(sums.total[4])};
}

void cap_scores(std::span<const float> scores, float rate, float cap, std::span<float> out) {
  const Tag f;
  const std::size_t lanes = hn::Lanes(f);
  const auto inner = hn::Set(f, rate / cap), outer = hn::Set(f, cap);
  const auto capped = [&](Vec score)
                          HWY_ATTR { return hn::Mul(outer, hn::Tanh(f, hn::Mul(inner, score))); };
  std::size_t j = 0;
  for (; j + lanes <= scores.size(); j += lanes) {
    hn::StoreU(capped(hn::LoadU(f, scores.data() + j)), f, out.data() + j);
  }
  if (j == scores.size()) return;
  HWY_ALIGN float tail[kLanePadding];
  hn::Store(capped(load_tail(f, scores.subspan(j), 0.0F)), f, tail);
  std::copy_n(tail, scores.size() - j, out.data() + j);
}

double weigh_scores(std::span<float> scores, float largest, float rate) {
  const Tag f;
  const auto best = hn::Set(f, largest), slope = hn::Set(f, rate);
  const auto weight = [&](Vec score) HWY_ATTR {
    return exp_nonpositive(f, hn::Mul(slope, hn::Sub(score, best)));
  };
  RunningSums<1> sums(f);
  float* at = scores.data();
  sum_over(
      f, scores, sums,
      [&](auto& to, Vec score) HWY_ATTR {
        const auto w = weight(score);
        hn::StoreU(w, f, at);
        at += hn::Lanes(f);
        to.add(0, w);
      },
      [&](auto& to, Vec score, hn::Mask<Tag> real) HWY_ATTR {
        const auto w = hn::IfThenElseZero(real, weight(score));
        HWY_ALIGN float tail[kLanePadding];
        hn::Store(w, f, tail);
        std::copy_n(tail, scores.data() + scores.size() - at, at);
        to.add(0, w);
      });
  return reduce(sums.total[0]);
}

}  // namespace
}  // namespace dewpoint::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dewpoint {
namespace {
HWY_EXPORT(largest_score);
HWY_EXPORT(three_largest);
HWY_EXPORT(score_moments);
HWY_EXPORT(power_sums);
HWY_EXPORT(cap_scores);
HWY_EXPORT(weigh_scores);
}  // namespace

namespace kernels {

float largest_score(std::span<const float> scores) {
  return HWY_DYNAMIC_DISPATCH(largest_score)(scores);
}

std::array<float, 3> three_largest(std::span<const float> scores) {
  return HWY_DYNAMIC_DISPATCH(three_largest)(scores);
}

RowMoments score_moments(std::span<const float> scores, float largest, float rate, GapSums* plain) {
  DEWPOINT_EXPECTS(rate >= 0.0F);
  return HWY_DYNAMIC_DISPATCH(score_moments)(scores, largest, rate, plain);
}

std::array<double, 5> power_sums(std::span<const float> scores, float reference, float rate) {
  DEWPOINT_EXPECTS(rate >= 0.0F);
  return HWY_DYNAMIC_DISPATCH(power_sums)(scores, reference, rate);
}

void cap_scores(std::span<const float> scores, float rate, float cap, std::span<float> out) {
  DEWPOINT_EXPECTS(cap > 0.0F && out.size() == scores.size());
  HWY_DYNAMIC_DISPATCH(cap_scores)(scores, rate, cap, out);
}

double weigh_scores(std::span<float> scores, float largest, float rate) {
  DEWPOINT_EXPECTS(rate >= 0.0F);
  return HWY_DYNAMIC_DISPATCH(weigh_scores)(scores, largest, rate);
}

}  // namespace kernels
}  // namespace dewpoint
#endif  // HWY_ONCE
