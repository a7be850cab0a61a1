// A strip: the scores of a few queries with all keys that any of them sees, and the weights that a
// softmax makes of them.
//
// Keys that no query of the strip sees take no room: the ranges that are seen lie side by side as
// columns, so a window with global tokens costs what its width costs. A row is gathered from its
// columns, worked on without gaps, and scattered back with zeros between; that is the same for
// every mask. Used with float32 (softmax_attention.cpp) and with double (softmax_derivative.cpp).
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "dewpoint/attention/variants/attention_kind.hpp"
#include "dewpoint/attention/variants/key_pattern.hpp"
#include "dewpoint/core/blas.hpp"
#include "dewpoint/core/head_kernels.hpp"
#include "dewpoint/core/matrix.hpp"

namespace dewpoint::attention {

/// Rows of a strip: enough for BLAS to reach its speed, fewer where n is so large that a strip
/// would take more than 64 MiB. A rule of n alone, so that no byte depends on threads.
template <class Real>
[[nodiscard]] std::size_t rows_of_strip(std::size_t n) {
  return std::clamp<std::size_t>((std::size_t{1} << 26) / (n * sizeof(Real)), 16, 256);
}

/// Strip s of n queries.
template <class Real>
[[nodiscard]] Range strip_of(std::size_t s, std::size_t n) {
  const std::size_t rows = rows_of_strip<Real>(n);
  return {s * rows, std::min(n, (s + 1) * rows)};
}
template <class Real>
[[nodiscard]] std::size_t strips_of(std::size_t n) {
  return (n + rows_of_strip<Real>(n) - 1) / rows_of_strip<Real>(n);
}

/// The keys of a strip as columns: some ranges of keys, side by side.
class KeyColumns {
 public:
  explicit KeyColumns(std::vector<Range> ranges) : ranges_(std::move(ranges)) {
    for (const Range& range : ranges_) {
      first_columns_.push_back(size_);
      size_ += range.size();
    }
  }

  [[nodiscard]] std::size_t size() const { return size_; }

  /// The column of a key of one of the ranges.
  [[nodiscard]] std::size_t column(std::size_t key) const {
    std::size_t r = 0;
    while (key >= ranges_[r].end) ++r;
    return first_columns_[r] + key - ranges_[r].begin;
  }

  /// Calls body(keys, columns) for each range, in parts of at most `most` keys.
  template <class Body>
  void for_each_range(std::size_t most, const Body& body) const {
    for (std::size_t r = 0; r < ranges_.size(); ++r) {
      for (std::size_t begin = ranges_[r].begin; begin < ranges_[r].end; begin += most) {
        const Range keys{begin, std::min(begin + most, ranges_[r].end)};
        const std::size_t first = first_columns_[r] + begin - ranges_[r].begin;
        body(keys, Range{first, first + keys.size()});
      }
    }
  }
  template <class Body>
  void for_each_range(const Body& body) const {
    for_each_range(size_, body);
  }

 private:
  std::vector<Range> ranges_;
  std::vector<std::size_t> first_columns_;
  std::size_t size_ = 0;
};

/// A copy of some rows.
template <class Real>
[[nodiscard]] Matrix<Real> rows_of(MatrixView<const Real> all, std::span<const std::size_t> rows) {
  Matrix<Real> some(rows.size(), all.cols());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::ranges::copy(all.row(rows[i]), some.row(i).begin());
  }
  return some;
}

/// Block (every row, some columns).
template <class Real>
[[nodiscard]] MatrixView<Real> columns_of(MatrixView<Real> strip, Range columns) {
  return strip.block({0, strip.rows()}, columns);
}

namespace detail {

inline float largest_of(std::span<const float> scores) { return kernels::largest_score(scores); }
inline double largest_of(std::span<const double> scores) {
  return *std::ranges::max_element(scores);
}

// scores ← e^{−β (largest − score)}; returns their sum.
inline double weigh(std::span<float> scores, float largest, double beta) {
  return kernels::weigh_scores(scores, largest, static_cast<float>(beta));
}
inline double weigh(std::span<double> scores, double largest, double beta) {
  double sum = 0.0;
  for (double& score : scores) sum += score = std::exp(-beta * (largest - score));
  return sum;
}

}  // namespace detail

/// The scores of one query while they become weights, in memory that is used again.
template <class Real>
class RowScores {
 public:
  RowScores(const Softmax& softmax, const KeyColumns& columns)
      : softmax_(softmax), columns_(columns) {}

  /// Takes the scores of the visible keys out of a row of the strip, and keeps those that will
  /// have weight.
  void take(const VisibleKeys& seen, std::span<const Real> row) {
    scores_.resize(seen.size());
    Real* to = scores_.data();
    for (const KeyRun& run : seen.runs()) {
      const Real* from = row.data() + columns_.column(run.begin);
      if (run.stride == 1) {
        to = std::copy_n(from, run.size(), to);
      } else {
        for (std::size_t place = 0; place < run.size(); ++place) *to++ = from[place * run.stride];
      }
    }
    keep_largest();
  }

  /// Those with weight, in the order of their keys.
  [[nodiscard]] std::span<Real> kept() { return scores_; }
  [[nodiscard]] Real largest() const { return detail::largest_of(scores_); }
  /// Whether key 0 is visible and has weight: it is the first then.
  [[nodiscard]] bool keeps_first(const VisibleKeys& seen) const {
    return seen.runs().front().begin == 0 && (places_.empty() || places_.front() == 0);
  }

  /// Scores become weights relative to `largest`; returns their sum.
  double weigh(Real largest, double beta) {
    return detail::weigh(std::span<Real>(scores_), largest, beta);
  }

  /// Puts the weights back into the row: 0 for all other keys.
  void put(const VisibleKeys& seen, std::span<Real> row) {
    std::ranges::fill(row, Real{0});
    spread_kept(seen.size());
    const Real* from = scores_.data();
    for (const KeyRun& run : seen.runs()) {
      Real* to = row.data() + columns_.column(run.begin);
      for (std::size_t place = 0; place < run.size(); ++place) to[place * run.stride] = *from++;
    }
  }

 private:
  // Of equal scores the earlier stays.
  void keep_largest() {
    places_.clear();
    const std::size_t kept = softmax_.kept(scores_.size());
    if (kept == scores_.size()) return;
    places_.resize(scores_.size());
    std::iota(places_.begin(), places_.end(), std::size_t{0});
    const auto end_of_kept = places_.begin() + static_cast<std::ptrdiff_t>(kept);
    std::nth_element(places_.begin(), end_of_kept, places_.end(),
                     [&](std::size_t a, std::size_t b) {
                       return scores_[a] > scores_[b] || (scores_[a] == scores_[b] && a < b);
                     });
    places_.resize(kept);
    std::ranges::sort(places_);
    for (std::size_t i = 0; i < kept; ++i) scores_[i] = scores_[places_[i]];
    scores_.resize(kept);
  }

  // Undoes keep_largest: from the last, so that nothing is overwritten before it has moved.
  void spread_kept(std::size_t visible) {
    if (places_.empty()) return;
    scores_.resize(visible, Real{0});
    for (std::size_t i = places_.size(); i-- > 0;) {
      const Real weight = std::exchange(scores_[i], Real{0});
      scores_[places_[i]] = weight;
    }
  }

  const Softmax& softmax_;
  const KeyColumns& columns_;
  std::vector<Real> scores_;
  std::vector<std::size_t> places_;  // of the kept ones among the visible; empty: all are kept
};

/// What a row's weights, relative to e^{β largest}, have to be multiplied with to be normalised.
[[nodiscard]] inline double share_of(const Softmax& softmax, double partition,
                                     double largest_logit) {
  const auto& sink = softmax.sink_logit();
  return 1.0 / (sink ? partition + std::exp(*sink - largest_logit) : partition);
}

}  // namespace dewpoint::attention
