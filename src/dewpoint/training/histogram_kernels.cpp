// Compiled once per instruction set: foreach_target.h includes this file again for each.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "dewpoint/training/histogram_kernels.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h must come first.
#include <hwy/highway.h>

#include <algorithm>
#include <limits>

#include "dewpoint/training/histogram_kernels.hpp"
#include "dewpoint/training/lane_numbers-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace dewpoint::training::HWY_NAMESPACE {
namespace {

// The rows of one last token. Algebra is Plain or Dual; kTokens is d, or 0 where d is not known
// when this is compiled.
template <class Real, class Algebra, std::size_t kTokens>
class GroupPass {
  using Tag = typename Algebra::Tag;
  using Vec = typename Algebra::Vec;
  using Number = typename Algebra::Number;
  static constexpr std::size_t kRoom = kTokens == 0 ? kMostTokens : kTokens;

 public:
  HWY_INLINE GroupPass(PassWorkspace<Real>& work, std::size_t last)
      : d_(kTokens == 0 ? work.vocabulary : kTokens),
        last_(last),
        lanes_(hn::Lanes(Tag())),
        residual_(work.residual),
        shared_(work.shared[last]),
        attention_(work.attention.data() + last * d_),
        attention_change_(work.attention_change.data() + last * d_),
        value_(work.value.data()),
        value_change_(work.value_change.data()),
        sums_(work.lanes.data()) {}

  // One vector of rows, its first number at `counts`: adds to the short sums.
  HWY_INLINE void add(const Real* HWY_RESTRICT counts) const {
    const Real* HWY_RESTRICT labels = counts + d_ * kLanePadding;
    Number share[kRoom];
    Number logits[kRoom];
    attend(counts, share);
    mix(share, logits);
    add_loss(labels, logits);
    add_slopes(share, logits);
  }

 private:
  HWY_INLINE Number attention(std::size_t j) const {
    return Algebra::constant(attention_ + j, attention_change_ + j);
  }
  HWY_INLINE Number value(std::size_t j, std::size_t k) const {
    const std::size_t at = j * d_ + k;
    return Algebra::constant(value_ + at, value_change_ + at);
  }

  // A_j
  HWY_INLINE void attend(const Real* HWY_RESTRICT counts, Number* HWY_RESTRICT share) const {
    const Tag tag;
    if (shared_) {
      for (std::size_t j = 0; j < d_; ++j) share[j] = attention(j);
    } else {
      exponentiate(counts, share);
    }
    Number total = Algebra::zero();
    for (std::size_t j = 0; j < d_; ++j) {
      share[j] = Algebra::scale(share[j], hn::Load(tag, counts + j * kLanePadding));
      total = Algebra::add(total, share[j]);
    }
    const Number inverse = Algebra::reciprocal(total);
    for (std::size_t j = 0; j < d_; ++j) share[j] = Algebra::multiply(share[j], inverse);
  }

  // exp(Φ_lj − max of Φ_l· over the tokens of the context); at most 1 for the others, which count
  // 0.
  HWY_INLINE void exponentiate(const Real* HWY_RESTRICT counts, Number* HWY_RESTRICT share) const {
    const Tag tag;
    const auto zero = hn::Zero(tag);
    auto top = hn::Set(tag, std::numeric_limits<Real>::lowest());
    for (std::size_t j = 0; j < d_; ++j) {
      share[j] = attention(j);
      const auto present = hn::Gt(hn::Load(tag, counts + j * kLanePadding), zero);
      top = hn::IfThenElse(present, hn::Max(top, Algebra::value(share[j])), top);
    }
    for (std::size_t j = 0; j < d_; ++j) {
      const Vec below = hn::Min(hn::Sub(Algebra::value(share[j]), top), zero);
      share[j] = Algebra::exponential(Algebra::with_value(share[j], below));
    }
  }

  // z_k, less their maximum
  HWY_INLINE void mix(const Number* HWY_RESTRICT share, Number* HWY_RESTRICT logits) const {
    for (std::size_t k = 0; k < d_; ++k) {
      logits[k] = residual_ ? value(last_, k) : Algebra::zero();
    }
    for (std::size_t j = 0; j < d_; ++j) {
      for (std::size_t k = 0; k < d_; ++k) {
        logits[k] = Algebra::multiply_add(share[j], value(j, k), logits[k]);
      }
    }
    Vec top = Algebra::value(logits[0]);
    for (std::size_t k = 1; k < d_; ++k) top = hn::Max(top, Algebra::value(logits[k]));
    for (std::size_t k = 0; k < d_; ++k) logits[k] = Algebra::subtract_plain(logits[k], top);
  }

  // L += w log Σ exp z − Σ y z, and z_k becomes r_k = w p_k − y_k.
  HWY_INLINE void add_loss(const Real* HWY_RESTRICT labels, Number* HWY_RESTRICT logits) const {
    const Tag tag;
    Vec weight = hn::Zero(tag);
    Number total = Algebra::zero();
    Number labelled = Algebra::zero();
    for (std::size_t k = 0; k < d_; ++k) {
      const auto label = hn::Load(tag, labels + k * kLanePadding);
      weight = hn::Add(weight, label);
      labelled = Algebra::add(labelled, Algebra::scale(logits[k], label));
      logits[k] = Algebra::exponential(logits[k]);
      total = Algebra::add(total, logits[k]);
    }
    const Number loss =
        Algebra::subtract(Algebra::scale(Algebra::logarithm(total), weight), labelled);
    add_to(d_ * d_ + d_, Algebra::result(loss));
    const Number factor = Algebra::scale(Algebra::reciprocal(total), weight);
    for (std::size_t k = 0; k < d_; ++k) {
      const auto label = hn::Load(tag, labels + k * kLanePadding);
      logits[k] = Algebra::subtract_plain(Algebra::multiply(logits[k], factor), label);
    }
  }

  // ∂L/∂M += Bᵀ r, ∂L/∂Φ_lj += A_j (g_j − A·g) with g = M r
  HWY_INLINE void add_slopes(const Number* HWY_RESTRICT share,
                             const Number* HWY_RESTRICT excess) const {
    Number pull[kRoom];
    Number mean = Algebra::zero();
    for (std::size_t j = 0; j < d_; ++j) {
      Number part = share[j];
      if (residual_ && j == last_) part = Algebra::add_plain(part, hn::Set(Tag(), Real{1}));
      pull[j] = Algebra::zero();
      for (std::size_t k = 0; k < d_; ++k) {
        add_to(j * d_ + k, Algebra::result(Algebra::multiply(part, excess[k])));
        pull[j] = Algebra::multiply_add(value(j, k), excess[k], pull[j]);
      }
      mean = Algebra::multiply_add(share[j], pull[j], mean);
    }
    for (std::size_t j = 0; j < d_; ++j) {
      const Number lean = Algebra::subtract(pull[j], mean);
      add_to(d_ * d_ + j, Algebra::result(Algebra::multiply(share[j], lean)));
    }
  }

  HWY_INLINE void add_to(std::size_t sum, Vec term) const {
    const Tag tag;
    Real* HWY_RESTRICT at = sums_ + sum * lanes_;
    hn::Store(hn::Add(hn::Load(tag, at), term), tag, at);
  }

  // Copies, not references: a store of a vector could change anything behind a reference.
  const std::size_t d_;
  const std::size_t last_;
  const std::size_t lanes_;
  const bool residual_;
  const bool shared_;
  const Real* const attention_;
  const Real* const attention_change_;
  const Real* const value_;
  const Real* const value_change_;
  Real* const sums_;
};

template <class Wide>
HWY_INLINE hn::Vec<Wide> widened(Wide wide, hn::Vec<hn::Rebind<float, Wide>> part) {
  return hn::PromoteTo(wide, part);
}
template <class Wide>
HWY_INLINE hn::Vec<Wide> widened(Wide /*wide*/, hn::Vec<Wide> part) {
  return part;
}

// Moves the short sums to double and starts them anew; `count` is a multiple of the lanes.
template <class Real>
HWY_INLINE void flush(PassWorkspace<Real>& work, std::size_t count) {
  const hn::ScalableTag<double> wide;
  const hn::Rebind<Real, decltype(wide)> narrow;
  Real* HWY_RESTRICT from = work.lanes.data();
  double* HWY_RESTRICT to = work.totals.data();
  for (std::size_t i = 0; i < count; i += hn::Lanes(wide)) {
    const auto part = hn::Load(narrow, from + i);
    hn::Store(hn::Add(hn::Load(wide, to + i), widened(wide, part)), wide, to + i);
    hn::Store(hn::Zero(narrow), narrow, from + i);
  }
}

HWY_INLINE double take_total(double* HWY_RESTRICT total, std::size_t lanes) {
  double sum = 0.0;
  for (std::size_t i = 0; i < lanes; ++i) sum += total[i];
  std::fill_n(total, lanes, 0.0);
  return sum;
}

template <class Real, class Algebra, std::size_t kTokens>
void pass(const PackedRows<Real>& rows, PassWorkspace<Real>& work, PassSums& sums) {
  const std::size_t lanes = hn::Lanes(typename Algebra::Tag());
  const std::size_t d = rows.vocabulary();
  const std::size_t count = (d * d + d + 1) * lanes;
  double* totals = work.totals.data();
  for (std::size_t last = 0; last < d; ++last) {
    const auto& group = rows.group(last);
    const GroupPass<Real, Algebra, kTokens> vectors(work, last);
    for (std::size_t panel = 0; panel < group.size; panel += kShortSum * lanes) {
      const std::size_t end = HWY_MIN(panel + kShortSum * lanes, group.size);
      for (std::size_t row = panel; row < end; row += lanes) {
        vectors.add(rows.block(group.first_block + row / kLanePadding) + row % kLanePadding);
      }
      flush(work, count);
    }
    for (std::size_t j = 0; j < d; ++j) {
      sums.slope.attention.data()[last * d + j] = take_total(totals + (d * d + j) * lanes, lanes);
    }
    sums.losses[last] = take_total(totals + (d * d + d) * lanes, lanes);
  }
  for (std::size_t i = 0; i < d * d; ++i) {
    sums.slope.value.data()[i] = take_total(totals + i * lanes, lanes);
  }
}

template <class Real, class Algebra>
void pass_of_any(const PackedRows<Real>& rows, PassWorkspace<Real>& work, PassSums& sums) {
  switch (rows.vocabulary()) {
    case 2:
      return pass<Real, Algebra, 2>(rows, work, sums);
    case 3:
      return pass<Real, Algebra, 3>(rows, work, sums);
    case 4:
      return pass<Real, Algebra, 4>(rows, work, sums);
    default:
      return pass<Real, Algebra, 0>(rows, work, sums);
  }
}

void slope_single(const PackedRows<float>& rows, PassWorkspace<float>& work, PassSums& sums) {
  pass_of_any<float, Plain<float>>(rows, work, sums);
}
void slope_double(const PackedRows<double>& rows, PassWorkspace<double>& work, PassSums& sums) {
  pass_of_any<double, Plain<double>>(rows, work, sums);
}
void change_along(const PackedRows<double>& rows, PassWorkspace<double>& work, PassSums& sums) {
  pass_of_any<double, Dual<double>>(rows, work, sums);
}

}  // namespace
}  // namespace dewpoint::training::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dewpoint::training {
namespace {
HWY_EXPORT(slope_single);
HWY_EXPORT(slope_double);
HWY_EXPORT(change_along);
}  // namespace

namespace kernels {

void slope(const PackedRows<float>& rows, PassWorkspace<float>& work, PassSums& sums) {
  HWY_DYNAMIC_DISPATCH(slope_single)(rows, work, sums);
}
void slope(const PackedRows<double>& rows, PassWorkspace<double>& work, PassSums& sums) {
  HWY_DYNAMIC_DISPATCH(slope_double)(rows, work, sums);
}
void change(const PackedRows<double>& rows, PassWorkspace<double>& work, PassSums& sums) {
  HWY_DYNAMIC_DISPATCH(change_along)(rows, work, sums);
}

}  // namespace kernels
}  // namespace dewpoint::training
#endif  // HWY_ONCE
