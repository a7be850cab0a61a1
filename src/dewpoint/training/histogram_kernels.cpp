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

template <class Wide>
HWY_INLINE hn::Vec<Wide> widened(Wide wide, hn::Vec<hn::Rebind<float, Wide>> part) {
  return hn::PromoteTo(wide, part);
}
template <class Wide>
HWY_INLINE hn::Vec<Wide> widened(Wide /*wide*/, hn::Vec<Wide> part) {
  return part;
}

// Adds the lanes of a vector to as many doubles.
template <class Tag>
HWY_INLINE void add_wide(Tag tag, hn::Vec<Tag> term, double* HWY_RESTRICT totals) {
  const hn::ScalableTag<double> wide;
  const hn::Rebind<hn::TFromD<Tag>, decltype(wide)> narrow;
  HWY_ALIGN hn::TFromD<Tag> parts[kLanePadding];
  hn::Store(term, tag, parts);
  for (std::size_t i = 0; i < hn::Lanes(tag); i += hn::Lanes(wide)) {
    const auto part = widened(wide, hn::Load(narrow, parts + i));
    hn::Store(hn::Add(hn::Load(wide, totals + i), part), wide, totals + i);
  }
}

// A panel of rows of one last token on its way from counts to slopes.
template <class Real, class Number, std::size_t kRoom>
struct PanelOf {
  std::size_t size;               // vectors
  const Real* counts[kShortSum];  // of each vector; labels follow
  Number share[kRoom][kShortSum];
  Number excess[kRoom][kShortSum];  // z_k − z_0, then r_k; not for k = 0
};

// The rows of one last token. Algebra is Plain or Dual; kTokens is d, or 0 where d is not known
// when this is compiled.
template <class Real, class Algebra, std::size_t kTokens>
class GroupPass {
  using Tag = typename Algebra::Tag;
  using Vec = typename Algebra::Vec;
  using Number = typename Algebra::Number;
  static constexpr std::size_t kRoom = kTokens == 0 ? kMostTokens : kTokens;

 public:
  using Panel = PanelOf<Real, Number, kRoom>;

  HWY_INLINE GroupPass(PassWorkspace<Real>& work, std::size_t last)
      : d_(kTokens == 0 ? work.vocabulary : kTokens),
        last_(last),
        residual_(work.residual),
        shared_(work.shared[last]),
        bounded_(work.bounded),
        attention_(work.attention.data() + last * d_),
        attention_change_(work.attention_change.data() + last * d_),
        value_(work.value.data()),
        value_change_(work.value_change.data()),
        totals_(work.totals.data()) {}

  HWY_INLINE void add(Panel& panel) const {
    for (std::size_t v = 0; v < panel.size; ++v) attend(panel, v);
    for (std::size_t v = 0; v < panel.size; ++v) mix(panel, v);
    add_losses(panel);
    add_value_slopes(panel);
    add_attention_slopes(panel);
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
  HWY_INLINE void attend(Panel& panel, std::size_t v) const {
    const Tag tag;
    const Real* HWY_RESTRICT counts = panel.counts[v];
    Number share[kRoom];
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
    for (std::size_t j = 0; j < d_; ++j) panel.share[j][v] = Algebra::multiply(share[j], inverse);
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

  // z_k − z_0
  HWY_INLINE void mix(Panel& panel, std::size_t v) const {
    for (std::size_t k = 1; k < d_; ++k) {
      Number logit = Algebra::multiply(panel.share[0][v], value(0, k));
      for (std::size_t j = 1; j < d_; ++j) {
        logit = Algebra::multiply_add(panel.share[j][v], value(j, k), logit);
      }
      panel.excess[k][v] = residual_ ? Algebra::add(logit, value(last_, k)) : logit;
    }
  }

  HWY_INLINE void add_losses(Panel& panel) const {
    Vec sum = hn::Zero(Tag());
    for (std::size_t v = 0; v < panel.size; ++v) {
      sum = hn::Add(sum,
                    Algebra::result(bounded_ ? predict<true>(panel, v) : predict<false>(panel, v)));
    }
    add_to(d_ * d_ + d_, sum);
  }

  // Returns w log Σ exp z − Σ y z; logits become r_k = w p_k − y_k. All relative to logit 0, or,
  // where its exponential may not be finite, to the largest one.
  template <bool kBounded>
  HWY_INLINE Number predict(Panel& panel, std::size_t v) const {
    const Tag tag;
    const Real* HWY_RESTRICT labels = panel.counts[v] + d_ * kLanePadding;
    Vec top = hn::Zero(tag);
    if (!kBounded) {
      for (std::size_t k = 1; k < d_; ++k) {
        top = hn::Max(top, Algebra::value(panel.excess[k][v]));
      }
    }
    Number total = Algebra::zero();
    Number labelled = Algebra::zero();
    total = Algebra::add_plain(
        total, kBounded ? hn::Set(tag, Real{1}) : Algebra::plain_exponential(hn::Neg(top)));
    for (std::size_t k = 1; k < d_; ++k) {
      const Number logit = panel.excess[k][v];
      const auto label = hn::Load(tag, labels + k * kLanePadding);
      labelled = Algebra::add(labelled, Algebra::scale(logit, label));
      panel.excess[k][v] =
          Algebra::exponential(kBounded ? logit : Algebra::subtract_plain(logit, top));
      total = Algebra::add(total, panel.excess[k][v]);
    }
    const auto weight = hn::Load(tag, labels);
    const Number factor = Algebra::scale(Algebra::reciprocal(total), weight);
    for (std::size_t k = 1; k < d_; ++k) {
      const auto label = hn::Load(tag, labels + k * kLanePadding);
      panel.excess[k][v] =
          Algebra::subtract_plain(Algebra::multiply(panel.excess[k][v], factor), label);
    }
    const Number height = Algebra::add_plain(Algebra::logarithm(total), top);
    return Algebra::subtract(Algebra::scale(height, weight), labelled);
  }

  // ∂L/∂M += Bᵀ r
  HWY_INLINE void add_value_slopes(const Panel& panel) const {
    for (std::size_t j = 0; j < d_; ++j) {
      const bool own = residual_ && j == last_;
      for (std::size_t k = 1; k < d_; ++k) {
        Number sum = Algebra::zero();
        for (std::size_t v = 0; v < panel.size; ++v) {
          sum = Algebra::multiply_add(panel.share[j][v], panel.excess[k][v], sum);
          if (own) sum = Algebra::add(sum, panel.excess[k][v]);
        }
        add_to(j * d_ + k, Algebra::result(sum));
      }
    }
  }

  // ∂L/∂Φ_lj += A_j (g_j − A·g) with g = M r, but not for j = 0
  HWY_INLINE void add_attention_slopes(Panel& panel) const {
    for (std::size_t v = 0; v < panel.size; ++v) lean(panel, v);
    for (std::size_t j = 1; j < d_; ++j) {
      Vec sum = hn::Zero(Tag());
      for (std::size_t v = 0; v < panel.size; ++v) {
        sum = hn::Add(sum, Algebra::result(panel.share[j][v]));
      }
      add_to(d_ * d_ + j, sum);
    }
  }

  // Shares become A_j (g_j − A·g).
  HWY_INLINE void lean(Panel& panel, std::size_t v) const {
    Number pull[kRoom];
    Number mean = Algebra::zero();
    for (std::size_t j = 0; j < d_; ++j) {
      pull[j] = Algebra::zero();
      for (std::size_t k = 1; k < d_; ++k) {
        pull[j] = Algebra::multiply_add(value(j, k), panel.excess[k][v], pull[j]);
      }
      mean = Algebra::multiply_add(panel.share[j][v], pull[j], mean);
    }
    for (std::size_t j = 1; j < d_; ++j) {
      panel.share[j][v] = Algebra::multiply(panel.share[j][v], Algebra::subtract(pull[j], mean));
    }
  }

  HWY_INLINE void add_to(std::size_t sum, Vec term) const {
    add_wide(Tag(), term, totals_ + sum * hn::Lanes(Tag()));
  }

  // Copies, not references: a store of a vector could change anything behind a reference.
  const std::size_t d_;
  const std::size_t last_;
  const bool residual_;
  const bool shared_;
  const bool bounded_;
  const Real* const attention_;
  const Real* const attention_change_;
  const Real* const value_;
  const Real* const value_change_;
  double* const totals_;
};

// The sum over lanes, which is started anew.
HWY_INLINE double take_total(double* HWY_RESTRICT total, std::size_t lanes) {
  double sum = 0.0;
  for (std::size_t i = 0; i < lanes; ++i) sum += total[i];
  std::fill_n(total, lanes, 0.0);
  return sum;
}

// A line of slopes from those beyond the first, with which they sum to zero.
HWY_INLINE void take_slopes(double* HWY_RESTRICT totals, std::size_t d, std::size_t lanes,
                            double* HWY_RESTRICT slopes) {
  slopes[0] = 0.0;
  for (std::size_t k = 1; k < d; ++k) {
    slopes[k] = take_total(totals + k * lanes, lanes);
    slopes[0] -= slopes[k];
  }
}

template <class Real, class Algebra, std::size_t kTokens>
void pass(const PackedRows<Real>& rows, PassWorkspace<Real>& work, PassSums& sums) {
  using Group = GroupPass<Real, Algebra, kTokens>;
  const std::size_t lanes = hn::Lanes(typename Algebra::Tag());
  const std::size_t d = rows.vocabulary();
  double* totals = work.totals.data();
  for (std::size_t last = 0; last < d; ++last) {
    const auto& group = rows.group(last);
    const Group vectors(work, last);
    typename Group::Panel panel;
    for (std::size_t row = 0; row < group.size;) {
      for (panel.size = 0; panel.size < kShortSum && row < group.size; row += lanes) {
        panel.counts[panel.size++] =
            rows.block(group.first_block + row / kLanePadding) + row % kLanePadding;
      }
      vectors.add(panel);
    }
    take_slopes(totals + d * d * lanes, d, lanes, sums.slope.attention.data() + last * d);
    sums.losses[last] = take_total(totals + (d * d + d) * lanes, lanes);
  }
  for (std::size_t j = 0; j < d; ++j) {
    take_slopes(totals + j * d * lanes, d, lanes, sums.slope.value.data() + j * d);
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
