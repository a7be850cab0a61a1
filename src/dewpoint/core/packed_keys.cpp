// Compiled once per instruction set: foreach_target.h includes this file again for each.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "dewpoint/core/packed_keys.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h must come first.
#include <hwy/highway.h>

#include "dewpoint/core/packed_keys.hpp"
#include "dewpoint/core/wide_sums-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace dewpoint::HWY_NAMESPACE {
namespace {

constexpr std::size_t kLanes = hn::MaxLanes(Tag());
constexpr std::size_t kVectors = kLanePadding / kLanes;  // of one panel
// Rows at a time: twelve sums are enough to keep two multipliers busy and fit into 16 registers.
constexpr std::size_t kTileRows = kVectors < 12 ? 12 / kVectors : 1;

// kRows queries, `stride` apart, and the keys of one panel.
template <std::size_t kRows>
HWY_INLINE void multiply_tile(const float* HWY_RESTRICT queries, std::size_t stride,
                              const float* HWY_RESTRICT panel, std::size_t dimension,
                              float* HWY_RESTRICT out, std::size_t out_stride) {
  const Tag f;
  Vec sums[kRows][kVectors];
  for (auto& row : sums) {
    for (Vec& sum : row) sum = hn::Zero(f);
  }
  for (std::size_t k = 0; k < dimension; ++k) {
    Vec keys[kVectors];
    for (std::size_t v = 0; v < kVectors; ++v) {
      keys[v] = hn::Load(f, panel + k * kLanePadding + v * kLanes);
    }
    for (std::size_t r = 0; r < kRows; ++r) {
      const auto query = hn::Set(f, queries[r * stride + k]);
      for (std::size_t v = 0; v < kVectors; ++v) {
        sums[r][v] = hn::MulAdd(query, keys[v], sums[r][v]);
      }
    }
  }
  for (std::size_t r = 0; r < kRows; ++r) {
    for (std::size_t v = 0; v < kVectors; ++v) {
      hn::StoreU(sums[r][v], f, out + r * out_stride + v * kLanes);
    }
  }
}

void multiply_panels(MatrixView<const float> queries, MatrixView<const float> panels,
                     MatrixView<float> products) {
  const std::size_t d = queries.cols(), in = queries.stride(), to = products.stride();
  for (std::size_t p = 0; p < panels.rows(); ++p) {
    const float* panel = panels.data() + p * panels.stride();
    const float* query = queries.data();
    float* out = products.data() + p * kLanePadding;
    std::size_t left = queries.rows();
    for (; left >= kTileRows; left -= kTileRows) {
      multiply_tile<kTileRows>(query, in, panel, d, out, to);
      query += kTileRows * in;
      out += kTileRows * to;
    }
    for (; left > 0; --left) {
      multiply_tile<1>(query, in, panel, d, out, to);
      query += in;
      out += to;
    }
  }
}

}  // namespace
}  // namespace dewpoint::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dewpoint {
namespace {
HWY_EXPORT(multiply_panels);
}  // namespace

PackedKeys::PackedKeys(MatrixView<const float> keys)
    : size_(keys.rows()),
      dimension_(keys.cols()),
      panels_(padded(keys.rows()) / kLanePadding, keys.cols() * kLanePadding) {
  for (std::size_t j = 0; j < size_; ++j) {
    float* panel = panels_.row(j / kLanePadding).data() + j % kLanePadding;
    for (const float x : keys.row(j)) {
      *panel = x;
      panel += kLanePadding;
    }
  }
}

void PackedKeys::multiply(MatrixView<const float> queries, Range keys,
                          MatrixView<float> products) const {
  DEWPOINT_EXPECTS(queries.cols() == dimension_ && keys.end <= size_);
  DEWPOINT_EXPECTS(keys.begin % kLanePadding == 0);
  DEWPOINT_EXPECTS(products.rows() == queries.rows() && products.cols() == keys.size());
  DEWPOINT_EXPECTS(products.stride() >= padded(keys.size()));
  const Range panels{keys.begin / kLanePadding, padded(keys.end) / kLanePadding};
  HWY_DYNAMIC_DISPATCH(multiply_panels)(queries, panels_.view().row_range(panels), products);
}

}  // namespace dewpoint
#endif  // HWY_ONCE
