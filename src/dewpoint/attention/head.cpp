#include "dewpoint/attention/head.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>

#include "dewpoint/attention/head_strip.hpp"
#include "dewpoint/attention/row_dew_points.hpp"

namespace dewpoint::attention {
namespace {

// Softmax sums of one row while its scores come in, at several rates, relative to the largest score
// so far.
class RunningRow {
 public:
  RunningRow() = default;
  explicit RunningRow(std::vector<float> rates)
      : rates_(std::move(rates)), moments_(rates_.size()) {}

  void add(std::span<const float> scores) {
    if (scores.empty()) return;
    raise(kernels::largest_score(scores));
    for (std::size_t k = 0; k < rates_.size(); ++k) {
      moments_[k] +=
          kernels::score_moments(scores, largest_, rates_[k], k == 0 ? &plain_ : nullptr);
    }
    count_ += scores.size();
  }

  [[nodiscard]] std::size_t count() const { return count_; }
  [[nodiscard]] float largest() const { return largest_; }
  [[nodiscard]] const kernels::GapSums& plain() const { return plain_; }
  [[nodiscard]] const RowMoments& moments(std::size_t k) const { return moments_[k]; }

 private:
  // A new largest score moves all gaps by the same δ: Σ(y + rδ)e^{−y−rδ} and so on.
  void raise(float largest) {
    if (count_ > 0 && largest <= largest_) return;
    const double rise = static_cast<double>(largest) - static_cast<double>(largest_);
    largest_ = largest;
    if (count_ == 0) return;
    const auto n = static_cast<double>(count_);
    plain_.squared_gap += rise * (2.0 * plain_.gap + n * rise);
    plain_.gap += n * rise;
    for (std::size_t k = 0; k < rates_.size(); ++k) {
      RowMoments& m = moments_[k];
      const double shift = rise * static_cast<double>(rates_[k]), factor = std::exp(-shift);
      m.squared_gap = factor * (m.squared_gap + shift * (2.0 * m.gap + shift * m.partition));
      m.gap = factor * (m.gap + shift * m.partition);
      m.partition *= factor;
      m.weight_squared *= factor * factor;
    }
  }

  std::vector<float> rates_;
  std::vector<RowMoments> moments_;
  kernels::GapSums plain_;
  std::size_t count_ = 0;
  float largest_ = 0.0F;
};

double capped(double score, double cap) { return cap > 0.0 ? cap * std::tanh(score / cap) : score; }

// What is known of a finished row at one multiplier. `unit` is what a gap of the running row is in
// scores.
SoftmaxRow softmax_row(const RunningRow& row, std::size_t k, double unit) {
  SoftmaxRow result;
  if (row.count() == 0) return result;
  result.largest = unit * static_cast<double>(row.largest());
  result.rest = row.moments(k);
  result.plain_gap = unit * row.plain().gap;
  result.plain_squared_gap = unit * unit * row.plain().squared_gap;
  return result;
}

// One query. Without a cap all multipliers share their gaps; with one, each has scores of its own,
// and those at m = 1 replace the products.
class MeasuredRow {
 public:
  MeasuredRow(const Head& head, const StripRow& row, std::span<const LogitMultiplier> multipliers)
      : head_(head), row_(row), multipliers_(1, 1.0) {
    for (const LogitMultiplier& m : multipliers) {
      multipliers_.push_back(checked_multiplier(m, row.visible.size()));
    }
    if (head.softcap > 0.0) {
      running_.assign(multipliers_.size(), RunningRow({1.0F}));
    } else {
      std::vector<float> rates;
      for (const double m : multipliers_) rates.push_back(static_cast<float>(m * head.scale));
      running_.emplace_back(std::move(rates));
    }
  }

  void add(const ProductBlock& block, std::size_t index) {
    const Range seen = block.seen_by(row_);
    if (seen.size() == 0) return;
    const std::span<float> products = block.of(index, seen);
    if (seen.begin == 0) first_product_ = products[0];
    const std::size_t skipped = seen.begin == 0 ? 1 : 0;
    head_.softcap > 0.0 ? add_capped(products, skipped)
                        : running_[0].add(products.subspan(skipped));
  }

  // `scores`: those of all visible keys in the unit of the running row at m = 1, for dew points.
  [[nodiscard]] HeadRow finish(std::span<const float> scores) const {
    HeadRow result{row_.position, row_.visible.size(), {}, kUndefined, kUndefined};
    result.softmax.reserve(multipliers_.size());
    for (std::size_t k = 0; k < multipliers_.size(); ++k) result.softmax.push_back(softmax(k));
    check(result.softmax.front());
    if (scores.empty()) return result;
    const double unit = head_.softcap > 0.0 ? 1.0 : head_.scale;
    const auto first = first_product_ ? std::optional(scores[0]) : std::nullopt;
    const RowDewPoints points = row_dew_points(
        {scores.subspan(first ? 1 : 0), running_[0].plain(), running_[0].moments(0), unit}, first);
    result.dew_point = points.all / unit;
    result.dew_point_without_first = points.without_first / unit;
    return result;
  }

 private:
  static constexpr double kUndefined = std::numeric_limits<double>::quiet_NaN();

  // m = 1 comes last: its scores replace the products, that of the first key too.
  void add_capped(std::span<float> products, std::size_t skipped) {
    const auto cap = static_cast<float>(head_.softcap);
    std::array<float, kBlockKeys> room;
    for (std::size_t k = multipliers_.size(); k-- > 0;) {
      const auto scores = k == 0 ? products : std::span<float>(room.data(), products.size());
      kernels::cap_scores(products, static_cast<float>(multipliers_[k] * head_.scale), cap, scores);
      running_[k].add(scores.subspan(skipped));
    }
  }

  [[nodiscard]] SoftmaxRow softmax(std::size_t k) const {
    const double slope = multipliers_[k] * head_.scale;
    SoftmaxRow result =
        head_.softcap > 0.0 ? softmax_row(running_[k], 0, 1.0) : softmax_row(running_[0], k, slope);
    if (first_product_) {
      result.first = capped(slope * static_cast<double>(*first_product_), head_.softcap);
    }
    if (head_.sink) result.sink = *head_.sink;
    return result;
  }

  // A number that is not finite anywhere in the row is left in these two.
  void check(const SoftmaxRow& row) const {
    const bool first_is_fine = !first_product_ || std::isfinite(row.first);
    if (first_is_fine && std::isfinite(row.plain_squared_gap)) return;
    throw Error(Code::bad_value,
                fmt::format("head: query {} has scores that are not numbers of size below 1e18",
                            row_.query));
  }

  const Head& head_;
  const StripRow& row_;
  std::vector<double> multipliers_;  // the first is 1
  std::vector<RunningRow> running_;
  std::optional<float> first_product_;
};

class Measurement {
 public:
  Measurement(const Head& head, std::span<const LogitMultiplier> multipliers, bool dew_points)
      : head_(head), multipliers_(multipliers), dew_points_(dew_points) {}

  [[nodiscard]] std::vector<HeadRow> strip(const HeadStrip& strip, MatrixView<float> room) const {
    std::vector<MeasuredRow> rows;
    rows.reserve(strip.rows().size());
    for (const StripRow& row : strip.rows()) rows.emplace_back(head_, row, multipliers_);
    strip.for_each_block(room, dew_points_, [&](const ProductBlock& block) {
      for (std::size_t i = block.rows.begin; i < block.rows.end; ++i) rows[i].add(block, i);
    });
    std::vector<HeadRow> results;
    results.reserve(rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      std::span<const float> scores;
      const Range visible = strip.rows()[i].visible;
      if (dew_points_) {
        scores = room.row(i).subspan(visible.begin - strip.keys().begin, visible.size());
      }
      results.push_back(rows[i].finish(scores));
    }
    return results;
  }

 private:
  const Head& head_;
  std::span<const LogitMultiplier> multipliers_;
  bool dew_points_;
};

// Columns that the widest strip needs: HeadStrip::keys() at its largest.
std::size_t widest_strip(const Head& head, std::span<const std::size_t> queries) {
  const auto visible = [&](std::size_t query) {
    return head.mask.visible(head.first_position + query, head.keys.rows());
  };
  std::size_t widest = 0;
  for (std::size_t s = 0; s < strip_count(queries.size()); ++s) {
    const auto some = strip_queries(queries, s);
    widest = std::max(widest, visible(some.back()).end - visible(some.front()).begin);
  }
  return widest + kLanePadding;
}

}  // namespace

std::vector<HeadRow> measure_rows(const Head& head, std::span<const std::size_t> queries,
                                  std::span<const LogitMultiplier> multipliers, bool dew_points,
                                  const RunContext& context) {
  check_head(head);
  const Measurement measurement(head, multipliers, dew_points);
  const PackedKeys keys(head.keys);
  StripRooms rooms(dew_points ? widest_strip(head, queries) : kBlockKeys);
  std::vector<HeadRow> results(queries.size());
  parallel_for(strip_count(queries.size()), context, [&](std::size_t s) {
    const HeadStrip strip(head, keys, strip_queries(queries, s));
    rooms.with_room([&](MatrixView<float> room) {
      std::ranges::move(measurement.strip(strip, room),
                        results.begin() + static_cast<std::ptrdiff_t>(s * kStripQueries));
    });
  });
  return results;
}

ScoreRow score_row(const Head& head, std::size_t query) {
  check_head(head);
  const std::size_t position = head.first_position + query;
  const Range visible = head.mask.visible(position, head.keys.rows());
  ScoreRow result{position, visible.begin, {}};
  const std::span<const float> q = head.queries.row(query);
  for (std::size_t j = visible.begin; j < visible.end; ++j) {
    const std::span<const float> k = head.keys.row(j);
    const double product = std::inner_product(q.begin(), q.end(), k.begin(), 0.0, std::plus<>(),
                                              [](double x, double y) { return x * y; });
    result.scores.push_back(capped(head.scale * product, head.softcap));
  }
  return result;
}

}  // namespace dewpoint::attention
