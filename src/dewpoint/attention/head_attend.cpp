#include <algorithm>
#include <cmath>
#include <numeric>

#include "dewpoint/attention/head.hpp"
#include "dewpoint/attention/head_strip.hpp"
#include "dewpoint/core/blas.hpp"
#include "dewpoint/core/head_kernels.hpp"

namespace dewpoint::attention {
namespace {

// Σ w and Σ w v of one query while its keys come in, relative to the largest score so far.
class OpenOutput {
 public:
  OpenOutput(const Head& head, const StripRow& row, const LogitMultiplier& multiplier,
             std::span<float> out)
      : head_(head),
        row_(row),
        slope_(checked_multiplier(multiplier, row.visible.size()) * head.scale),
        out_(out) {
    std::ranges::fill(out_, 0.0F);
  }

  // Turns the products of a block into weights, 0 for keys that the query does not see.
  void weigh(const ProductBlock& block, std::size_t index) {
    const Range seen = block.seen_by(row_);
    const std::span<float> scores = block.of(index, seen);
    if (head_.softcap > 0.0) {
      kernels::cap_scores(scores, static_cast<float>(slope_), static_cast<float>(head_.softcap),
                          scores);
    }
    raise(kernels::largest_score(scores));
    partition_ += kernels::weigh_scores(scores, largest_, static_cast<float>(unit()));
    std::ranges::fill(block.of(index, {block.keys.begin, seen.begin}), 0.0F);
    std::ranges::fill(block.of(index, {seen.end, block.keys.end}), 0.0F);
  }

  // A learned sink far above the scores would make its weight overflow: the larger is the origin.
  void close() {
    const double best = unit() * static_cast<double>(largest_);
    const double sink = head_.sink.value_or(-std::numeric_limits<double>::infinity());
    const double origin = std::max(best, sink);
    const double scale = std::exp(best - origin);
    multiply(scale / (scale * partition_ + std::exp(sink - origin)));
  }

 private:
  [[nodiscard]] double unit() const { return head_.softcap > 0.0 ? 1.0 : slope_; }

  void raise(float largest) {
    if (partition_ > 0.0 && largest <= largest_) return;
    if (partition_ > 0.0) {
      const double rise = static_cast<double>(largest) - static_cast<double>(largest_);
      const double factor = std::exp(-unit() * rise);
      partition_ *= factor;
      multiply(factor);
    }
    largest_ = largest;
  }

  void multiply(double factor) {
    for (float& x : out_) x *= static_cast<float>(factor);
  }

  const Head& head_;
  const StripRow& row_;
  double slope_;  // m τ
  std::span<float> out_;
  double partition_ = 0.0;
  float largest_ = 0.0F;
};

}  // namespace

void attend(const Head& head, const LogitMultiplier& multiplier, MatrixView<float> out,
            const RunContext& context) {
  check_head(head);
  DEWPOINT_EXPECTS(head.values.rows() == head.keys.rows());
  DEWPOINT_EXPECTS(out.rows() == head.queries.rows() && out.cols() == head.values.cols());
  std::vector<std::size_t> queries(head.queries.rows());
  std::iota(queries.begin(), queries.end(), std::size_t{0});
  const PackedKeys keys(head.keys);
  StripRooms rooms(kBlockKeys);
  parallel_for(strip_count(queries.size()), context, [&](std::size_t s) {
    const HeadStrip strip(head, keys, strip_queries(queries, s));
    std::vector<OpenOutput> outputs;
    for (const StripRow& row : strip.rows()) {
      outputs.emplace_back(head, row, multiplier, out.row(row.query));
    }
    const MatrixView<float> mixed =
        out.row_range({s * kStripQueries, s * kStripQueries + strip.rows().size()});
    rooms.with_room([&](MatrixView<float> room) {
      strip.for_each_block(room, false, [&](const ProductBlock& block) {
        for (std::size_t i = block.rows.begin; i < block.rows.end; ++i) outputs[i].weigh(block, i);
        add_ab(block.products, head.values.row_range(block.keys), mixed.row_range(block.rows));
      });
    });
    for (OpenOutput& output : outputs) output.close();
  });
}

}  // namespace dewpoint::attention
