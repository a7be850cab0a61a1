// Compiled once per instruction set: foreach_target.h includes this file again for each.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "dewpoint/core/random_kernels.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h must come first.
#include <hwy/highway.h>

#include <algorithm>

#include "dewpoint/core/random_kernels.hpp"
#include "dewpoint/core/random_transforms.hpp"

HWY_BEFORE_NAMESPACE();
namespace dewpoint::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using Real = hn::ScalableTag<double>;
using Word = hn::ScalableTag<std::uint64_t>;
using RealVec = hn::Vec<Real>;
using WordVec = hn::Vec<Word>;
constexpr Real kReal;
constexpr Word kWord;

using kernels::RandomBlocks;

// ---- Philox -------------------------------------------------------------------------------------

// The product of the lower 32 bits of each lane with a 32-bit number.
HWY_INLINE WordVec multiply(WordVec x, std::uint64_t by) {
#if HWY_TARGET == HWY_SCALAR
  return hn::Set(kWord, (hn::GetLane(x) & 0xFFFFFFFF) * by);
#else
  const hn::Repartition<std::uint32_t, Word> narrow;
  return hn::MulEven(hn::BitCast(narrow, x), hn::BitCast(narrow, hn::Set(kWord, by)));
#endif
}

constexpr int kRounds = 10;

struct RoundKeys {
  WordVec first[kRounds], second[kRounds];
};

HWY_INLINE RoundKeys round_keys(std::array<std::uint32_t, 2> key) {
  RoundKeys keys;
  for (int round = 0; round < kRounds; ++round) {
    keys.first[round] = hn::Set(kWord, std::uint64_t{key[0]});
    keys.second[round] = hn::Set(kWord, std::uint64_t{key[1]});
    key[0] += 0x9E3779B9;
    key[1] += 0xBB67AE85;
  }
  return keys;
}

// A block per lane: its two halves.
struct Block {
  WordVec first, second;
};

// Philox4x32-10 with one 32-bit word per lane, for kSide vectors of blocks side by side, because
// the rounds of one wait for each other. What multiplications leave in the upper halves of lanes is
// ignored by the next ones.
template <int kSide>
HWY_INLINE void philox(const WordVec (&index)[kSide], std::uint64_t replica, const RoundKeys& keys,
                       Block (&blocks)[kSide]) {
  WordVec c0[kSide], c1[kSide], c2[kSide], c3[kSide];
  for (int s = 0; s < kSide; ++s) {
    c0[s] = index[s];
    c1[s] = hn::ShiftRight<32>(index[s]);
    c2[s] = hn::Set(kWord, replica);
    c3[s] = hn::Set(kWord, replica >> 32);
  }
  for (int round = 0; round < kRounds; ++round) {
    for (int s = 0; s < kSide; ++s) {
      const WordVec p0 = multiply(c0[s], 0xD2511F53), p1 = multiply(c2[s], 0xCD9E8D57);
      c0[s] = hn::Xor3(hn::ShiftRight<32>(p1), c1[s], keys.first[round]);
      c2[s] = hn::Xor3(hn::ShiftRight<32>(p0), c3[s], keys.second[round]);
      c1[s] = p1;
      c3[s] = p0;
    }
  }
  const WordVec low = hn::Set(kWord, 0xFFFFFFFF);
  for (int s = 0; s < kSide; ++s) {
    blocks[s] = {hn::Or(hn::ShiftLeft<32>(c1[s]), hn::And(c0[s], low)),
                 hn::Or(hn::ShiftLeft<32>(c3[s]), hn::And(c2[s], low))};
  }
}

// ---- the formulas of random_transforms.cpp, line by line ----------------------------------------

HWY_INLINE WordVec word(std::uint64_t x) { return hn::Set(kWord, x); }
HWY_INLINE RealVec real(double x) { return hn::Set(kReal, x); }
HWY_INLINE RealVec as_real(WordVec x) { return hn::BitCast(kReal, x); }

// a x + c in two roundings.
HWY_INLINE RealVec times_plus(RealVec a, RealVec x, double c) {
  return hn::Add(hn::Mul(a, x), real(c));
}

HWY_INLINE RealVec polynomial(const std::array<double, 7>& terms, RealVec z) {
  RealVec sum = real(terms[6]);
  for (std::size_t power = 6; power-- > 0;) sum = times_plus(sum, z, terms[power]);
  return sum;
}

HWY_INLINE RealVec log_polynomial(RealVec z) {
  constexpr auto& q = transforms::kLogTerms;
  const RealVec y = hn::Mul(z, z);
  const RealVec even = times_plus(times_plus(times_plus(real(q[6]), y, q[4]), y, q[2]), y, q[0]);
  const RealVec odd = times_plus(times_plus(real(q[5]), y, q[3]), y, q[1]);
  return hn::Add(hn::Mul(odd, z), even);
}

HWY_INLINE RealVec open_uniform(WordVec bits) {
  const WordVec above_one = hn::Or(hn::ShiftRight<12>(bits), word(transforms::kOneBits));
  return hn::Sub(as_real(above_one), real(1.0 - 0x1p-53));
}

HWY_INLINE RealVec exponential(WordVec bits) {
  const WordVec parts = hn::Sub(hn::BitCast(kWord, open_uniform(bits)),
                                word(transforms::kRootHalfBits - transforms::kOneBits));
  const RealVec minus_e =
      hn::Sub(real(0x1p52 + 1023.0),
              as_real(hn::Or(hn::ShiftRight<52>(parts), word(transforms::kTwo52Bits))));
  const RealVec m = as_real(
      hn::Add(hn::And(parts, word(transforms::kMantissa)), word(transforms::kRootHalfBits)));
  const RealVec s = hn::Div(hn::Sub(m, real(1.0)), hn::Add(m, real(1.0)));
  const RealVec z = hn::Mul(s, s);
  return hn::Sub(hn::Mul(minus_e, real(transforms::kLog2)),
                 hn::Mul(s, times_plus(z, log_polynomial(z), 2.0)));
}

struct NormalPair {
  RealVec first, second;
};

HWY_INLINE NormalPair normal_pair(const Block& block) {
  const RealVec radius = hn::Sqrt(hn::Mul(real(2.0), exponential(block.first)));

  const WordVec turned = hn::Add(block.second, word(std::uint64_t{1} << 61));
  const WordVec rest = hn::And(hn::ShiftRight<11>(turned), word(transforms::kQuarterMask));
  const RealVec w = hn::Sub(as_real(hn::Or(rest, word(transforms::kHalfBits))), real(0.625));
  const RealVec z = hn::Mul(w, w);
  const RealVec cosine = times_plus(polynomial(transforms::kCosineTerms, z), z, 1.0);
  const RealVec sine = hn::Mul(polynomial(transforms::kSineTerms, z), w);

  // The upper bits of `turned` are 2 and 1 of the quarter: y is negative in quarters 2 and 3, x in
  // 1 and 2, where the two bits differ.
  const auto odd = hn::RebindMask(kReal, hn::TestBit(turned, word(std::uint64_t{1} << 62)));
  const RealVec x = hn::IfThenElse(odd, sine, cosine), y = hn::IfThenElse(odd, cosine, sine);
  const WordVec sign = word(std::uint64_t{1} << 63);
  const RealVec x_sign = as_real(hn::And(hn::Xor(turned, hn::Add(turned, turned)), sign));
  const RealVec y_sign = as_real(hn::And(turned, sign));
  return {hn::Mul(radius, hn::Xor(x, x_sign)), hn::Mul(radius, hn::Xor(y, y_sign))};
}

// ---- loops --------------------------------------------------------------------------------------

struct Words {
  using Number = std::uint64_t;
  HWY_INLINE Block operator()(const Block& block) const { return block; }
};

struct Exponentials {
  using Number = double;
  HWY_INLINE NormalPair operator()(const Block& block) const {
    return {exponential(block.first), exponential(block.second)};
  }
};

struct Normals {
  using Number = double;
  HWY_INLINE NormalPair operator()(const Block& block) const { return normal_pair(block); }
};

// Which block of a vector's blocks is in which lane: 0, 2, 1, 3 of four, 0, 4, 1, 5, 2, 6, 3, 7 of
// eight, so that interleaving the halves of blocks within each 16 bytes puts them into their order.
HWY_INLINE WordVec lane_order() {
  const WordVec lane = hn::Iota(kWord, 0);
  const WordVec odd = hn::Sub(hn::Zero(kWord), hn::And(lane, word(1)));
  return hn::Add(hn::ShiftRight<1>(lane), hn::And(odd, word(hn::Lanes(kWord) / 2)));
}

// first[0], second[0], first[1], second[1], ... of the blocks in their order.
template <class Tag>
HWY_INLINE void store_pairs(Tag tag, hn::Vec<Tag> first, hn::Vec<Tag> second,
                            hn::TFromD<Tag>* out) {
#if HWY_TARGET == HWY_SCALAR
  hn::StoreU(first, tag, out);
  hn::StoreU(second, tag, out + 1);
#else
  hn::StoreU(hn::InterleaveLower(tag, first, second), tag, out);
  hn::StoreU(hn::InterleaveUpper(tag, first, second), tag, out + hn::Lanes(tag));
#endif
}

// kSide vectors of blocks from number `at` on.
template <int kSide, class Transform>
HWY_INLINE void some_blocks(const RandomBlocks& blocks, const RoundKeys& keys, std::uint64_t at,
                            typename Transform::Number* out) {
  const hn::ScalableTag<typename Transform::Number> tag;
  const std::size_t lanes = hn::Lanes(tag);
  const WordVec order = lane_order();
  WordVec index[kSide];
  Block bits[kSide];
  for (int s = 0; s < kSide; ++s) index[s] = hn::Add(word(at + s * lanes), order);
  philox(index, blocks.replica, keys, bits);
  for (int s = 0; s < kSide; ++s) {
    const auto pair = Transform{}(bits[s]);
    store_pairs(tag, pair.first, pair.second, out + 2 * s * lanes);
  }
}

template <class Transform>
HWY_INLINE void all_blocks(const RandomBlocks& blocks, typename Transform::Number* out) {
  using Number = typename Transform::Number;
  constexpr int kSide = 2;
  const std::size_t lanes = hn::Lanes(kWord);
  const RoundKeys keys = round_keys(blocks.key);
  std::size_t done = 0;
  for (; done + kSide * lanes <= blocks.count; done += kSide * lanes) {
    some_blocks<kSide, Transform>(blocks, keys, blocks.first + done, out + 2 * done);
  }
  while (done < blocks.count) {
    HWY_ALIGN Number buffer[2 * HWY_MAX_BYTES / sizeof(Number)];
    some_blocks<1, Transform>(blocks, keys, blocks.first + done, buffer);
    const std::size_t taken = std::min(lanes, blocks.count - done);
    std::copy_n(buffer, 2 * taken, out + 2 * done);
    done += taken;
  }
}

void random_words(const RandomBlocks& blocks, std::uint64_t* out) {
  all_blocks<Words>(blocks, out);
}
void random_exponentials(const RandomBlocks& blocks, double* out) {
  all_blocks<Exponentials>(blocks, out);
}
void random_normals(const RandomBlocks& blocks, double* out) { all_blocks<Normals>(blocks, out); }

}  // namespace
}  // namespace dewpoint::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dewpoint {
namespace {
HWY_EXPORT(random_words);
HWY_EXPORT(random_exponentials);
HWY_EXPORT(random_normals);
}  // namespace

namespace kernels {

void random_words(const RandomBlocks& blocks, std::uint64_t* out) {
  HWY_DYNAMIC_DISPATCH(random_words)(blocks, out);
}
void random_exponentials(const RandomBlocks& blocks, double* out) {
  HWY_DYNAMIC_DISPATCH(random_exponentials)(blocks, out);
}
void random_normals(const RandomBlocks& blocks, double* out) {
  HWY_DYNAMIC_DISPATCH(random_normals)(blocks, out);
}

}  // namespace kernels
}  // namespace dewpoint
#endif  // HWY_ONCE
