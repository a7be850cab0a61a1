// Softmax over N Gaussian scores at the cost of its 256 largest, against drawing all N of them.
//
// At the freezing point, β = √(2 log N), one draw and its weights should cost the same for N = 1e6,
// 1e12 and 1e30, within 1.5, and at N = 1e7 a thousand times less than brute force: Philox,
// Box-Muller and the exponential fused in vector registers, in double, nothing stored. Its random
// bits alone are timed too, because no brute force can do without them.
//
// The memory-free limits: for Stream::normals, the same loop without the exponential, with fused
// products and Highway's logarithm, of which 0.6 are claimed with arithmetic that gives the same
// bytes everywhere; for the exponential kernel, its rate on a buffer in the first-level cache.
//
// Both ways must first give the mean largest weight, to four standard errors of each other and of
// the exact integral.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "scores/top_scores_bench.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h must come first.
#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <numbers>

#include "dewpoint/core/estimate.hpp"
#include "dewpoint/core/kernels.hpp"
#include "dewpoint/core/random.hpp"
#include "dewpoint/scores/gaussian_law.hpp"
#include "dewpoint/scores/top_scores.hpp"
#include "dewpoint/theory/gaussian_extremes.hpp"
#include "support/timing.hpp"

#ifndef DEWPOINT_TOP_SCORES_BENCH_ONCE
#define DEWPOINT_TOP_SCORES_BENCH_ONCE
namespace dewpoint {

// Where the normal numbers of one draw come from, and how they are weighed.
struct BruteForce {
  std::array<std::uint32_t, 2> key;
  std::uint32_t replica;
  std::size_t pairs;  // N/2, a multiple of 16
  double inverse_temperature;
  double reference;  // weights are e^{β(s − reference)}
};

struct BruteSums {
  double partition;
  double largest;
};

}  // namespace dewpoint
#endif

HWY_BEFORE_NAMESPACE();
namespace dewpoint::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using Real = hn::ScalableTag<double>;
using Word = hn::ScalableTag<std::uint64_t>;
using RealVec = hn::Vec<Real>;
using WordVec = hn::Vec<Word>;

// Lower half of x times a 32-bit number.
HWY_INLINE WordVec multiply(WordVec x, std::uint64_t by) {
  const Word w;
#if HWY_TARGET == HWY_SCALAR
  return hn::Set(w, (hn::GetLane(x) & 0xFFFFFFFF) * by);
#else
  const hn::Repartition<std::uint32_t, Word> narrow;
  return hn::MulEven(hn::BitCast(narrow, x), hn::BitCast(narrow, hn::Set(w, by)));
#endif
}

struct RoundKeys {
  WordVec first[10], second[10];
};

HWY_INLINE RoundKeys round_keys(std::array<std::uint32_t, 2> key) {
  const Word w;
  RoundKeys keys;
  for (int round = 0; round < 10; ++round) {
    keys.first[round] = hn::Set(w, std::uint64_t{key[0]});
    keys.second[round] = hn::Set(w, std::uint64_t{key[1]});
    key[0] += 0x9E3779B9;
    key[1] += 0xBB67AE85;
  }
  return keys;
}

// A Philox block per lane: its two halves.
struct Block {
  WordVec first, second;
};

// Two vectors of blocks side by side, because the rounds of one wait for each other.
constexpr int kSide = 2;

// Philox4x32-10 with one 32-bit word per 64-bit lane. What multiplications leave in the upper
// halves is ignored by the next ones.
HWY_INLINE void philox(const WordVec (&index)[kSide], WordVec replica, const RoundKeys& keys,
                       Block (&blocks)[kSide]) {
  const Word w;
  WordVec c0[kSide], c1[kSide], c2[kSide], c3[kSide];
  for (int s = 0; s < kSide; ++s) {
    c0[s] = index[s];
    c2[s] = replica;
    c1[s] = c3[s] = hn::Zero(w);
  }
  for (int round = 0; round < 10; ++round) {
    for (int s = 0; s < kSide; ++s) {
      const WordVec p0 = multiply(c0[s], 0xD2511F53), p1 = multiply(c2[s], 0xCD9E8D57);
      c0[s] = hn::Xor(hn::Xor(hn::ShiftRight<32>(p1), c1[s]), keys.first[round]);
      c2[s] = hn::Xor(hn::Xor(hn::ShiftRight<32>(p0), c3[s]), keys.second[round]);
      c1[s] = p1;
      c3[s] = p0;
    }
  }
  const WordVec low = hn::Set(w, 0xFFFFFFFF);
  for (int s = 0; s < kSide; ++s) {
    blocks[s] = {hn::Or(hn::ShiftLeft<32>(c1[s]), hn::And(c0[s], low)),
                 hn::Or(hn::ShiftLeft<32>(c3[s]), hn::And(c2[s], low))};
  }
}

// (k + 1/2) 2⁻⁵² from the upper 52 bits, as Stream::uniform.
HWY_INLINE RealVec open_uniform(WordVec bits) {
  const Word w;
  const Real r;
  const auto mantissa = hn::Or(hn::ShiftRight<12>(bits), hn::Set(w, 0x3FF0000000000000));
  return hn::Sub(hn::BitCast(r, mantissa), hn::Set(r, 1.0 - 0x1p-53));
}

struct NormalPair {
  RealVec first, second;
};

// cos 2πv and sin 2πv: v is less than an eighth away from a multiple of 1/4, where Taylor's series
// is good to 1e-16 after eight terms.
HWY_INLINE NormalPair circle(RealVec v) {
  const Real r;
  const hn::RebindToSigned<Real> i;
  const RealVec quarter = hn::Round(hn::Mul(v, hn::Set(r, 4.0)));
  const RealVec angle =
      hn::Mul(hn::NegMulAdd(quarter, hn::Set(r, 0.25), v), hn::Set(r, 2.0 * std::numbers::pi));
  const RealVec square = hn::Mul(angle, angle);
  RealVec sine = hn::Set(r, -1.0 / 1307674368000.0), cosine = hn::Set(r, 1.0 / 20922789888000.0);
  for (const double c : {1.0 / 6227020800.0, -1.0 / 39916800.0, 1.0 / 362880.0, -1.0 / 5040.0,
                         1.0 / 120.0, -1.0 / 6.0, 1.0}) {
    sine = hn::MulAdd(sine, square, hn::Set(r, c));
  }
  for (const double c : {-1.0 / 87178291200.0, 1.0 / 479001600.0, -1.0 / 3628800.0, 1.0 / 40320.0,
                         -1.0 / 720.0, 1.0 / 24.0, -0.5, 1.0}) {
    cosine = hn::MulAdd(cosine, square, hn::Set(r, c));
  }
  sine = hn::Mul(sine, angle);
  const auto turn = hn::ConvertTo(i, quarter);
  const auto odd = hn::MaskFromVec(hn::BitCast(r, hn::Neg(hn::And(turn, hn::Set(i, 1)))));
  const RealVec x = hn::IfThenElse(odd, sine, cosine), y = hn::IfThenElse(odd, cosine, sine);
  const auto x_sign = hn::ShiftLeft<62>(hn::And(hn::Add(turn, hn::Set(i, 1)), hn::Set(i, 2)));
  const auto y_sign = hn::ShiftLeft<62>(hn::And(turn, hn::Set(i, 2)));
  return {hn::Xor(x, hn::BitCast(r, x_sign)), hn::Xor(y, hn::BitCast(r, y_sign))};
}

HWY_INLINE NormalPair box_muller(const Block& block) {
  const Real r;
  const RealVec radius = hn::Sqrt(hn::Mul(hn::Set(r, -2.0), hn::Log(r, open_uniform(block.first))));
  const NormalPair direction = circle(open_uniform(block.second));
  return {hn::Mul(radius, direction.first), hn::Mul(radius, direction.second)};
}

// Calls visit(block) for every vector of blocks.
template <class Visit>
HWY_INLINE void for_each_block(const BruteForce& brute, Visit visit) {
  const Word w;
  const RoundKeys keys = round_keys(brute.key);
  const WordVec replica = hn::Set(w, std::uint64_t{brute.replica});
  const std::size_t lanes = hn::Lanes(w);
  for (std::uint64_t at = 0; at < brute.pairs; at += kSide * lanes) {
    const WordVec index[kSide] = {hn::Iota(w, at), hn::Iota(w, at + lanes)};
    Block blocks[kSide];
    philox(index, replica, keys, blocks);
    for (const Block& block : blocks) visit(block);
  }
}

std::uint64_t philox_alone(const BruteForce& brute) {
  const Word w;
  WordVec all = hn::Zero(w);
  for_each_block(brute, [&](const Block& b) { all = hn::Xor(all, hn::Xor(b.first, b.second)); });
  return hn::GetLane(all);
}

double normals_alone(const BruteForce& brute) {
  const Real r;
  RealVec sum = hn::Zero(r);
  for_each_block(brute, [&](const Block& block) {
    const NormalPair pair = box_muller(block);
    sum = hn::Add(sum, hn::MulAdd(pair.first, pair.first, pair.second));
  });
  return hn::GetLane(hn::SumOfLanes(r, sum));
}

BruteSums softmax_sums(const BruteForce& brute) {
  const Real r;
  const RealVec beta = hn::Set(r, brute.inverse_temperature);
  const RealVec shift = hn::Set(r, brute.inverse_temperature * brute.reference);
  RealVec sum = hn::Zero(r), largest = hn::Set(r, -9.0);
  for_each_block(brute, [&](const Block& block) {
    const NormalPair pair = box_muller(block);
    largest = hn::Max(largest, hn::Max(pair.first, pair.second));
    sum = hn::Add(sum, hn::Exp(r, hn::MulSub(beta, pair.first, shift)));
    sum = hn::Add(sum, hn::Exp(r, hn::MulSub(beta, pair.second, shift)));
  });
  return {hn::GetLane(hn::SumOfLanes(r, sum)), hn::GetLane(hn::MaxOfLanes(r, largest))};
}

}  // namespace
}  // namespace dewpoint::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dewpoint {
HWY_EXPORT(philox_alone);
HWY_EXPORT(normals_alone);
HWY_EXPORT(softmax_sums);

namespace {

constexpr std::size_t kTop = 256;
constexpr std::size_t kDraws = 10'000;
constexpr double kBruteScores = 1e7;
constexpr std::size_t kBruteDraws = 200;

double freezing_beta(double log_n) { return std::sqrt(2.0 * log_n); }

Estimate top_weight(double log_n, std::size_t draws) {
  const scores::GaussianLaw law;
  RunningMoments weight;
  for (std::size_t i = 0; i < draws; ++i) {
    const Stream stream(1, "bench/top-scores", i);
    const scores::TopScores top = scores::draw_top_scores(law, log_n, kTop, stream);
    weight.add(scores::weigh_top_scores(law, top, freezing_beta(log_n), stream).largest_weight);
  }
  return weight.estimate();
}

BruteForce brute_force(double scores, std::uint32_t replica) {
  const double beta = freezing_beta(std::log(scores));
  return {{0x9216d5d9, 0x8979fb1b}, replica, static_cast<std::size_t>(scores / 2.0), beta, beta};
}

double brute_weight(const BruteForce& brute) {
  const BruteSums sums = HWY_DYNAMIC_DISPATCH(softmax_sums)(brute);
  return std::exp(brute.inverse_temperature * (sums.largest - brute.reference)) / sums.partition;
}

Estimate brute_weight(double scores, std::size_t draws) {
  RunningMoments weight;
  for (std::size_t i = 0; i < draws; ++i) {
    weight.add(brute_weight(brute_force(scores, static_cast<std::uint32_t>(i))));
  }
  return weight.estimate();
}

// One draw of 2¹⁶ scores, number by number with the standard library. A normal number errs by some
// units in its last place; times β that stays below 1e-13 of a weight.
bool kernel_agrees_with_plain_arithmetic() {
  const BruteForce brute = brute_force(0x1p16, 5);
  double sum = 0.0, largest = -9.0;
  for (std::uint32_t block = 0; block < brute.pairs; ++block) {
    const auto words = philox_block({block, 0, brute.replica, 0}, brute.key);
    const auto uniform = [&](std::size_t h) {
      const std::uint64_t wide = std::uint64_t{words[2 * h + 1]} << 32 | words[2 * h];
      return (static_cast<double>(wide >> 12) + 0.5) * 0x1p-52;
    };
    const double radius = std::sqrt(-2.0 * std::log(uniform(0)));
    const double angle = 2.0 * std::numbers::pi * uniform(1);
    for (const double score : {radius * std::cos(angle), radius * std::sin(angle)}) {
      sum += std::exp(brute.inverse_temperature * (score - brute.reference));
      largest = std::max(largest, score);
    }
  }
  const BruteSums fast = HWY_DYNAMIC_DISPATCH(softmax_sums)(brute);
  fmt::print("  brute force against plain arithmetic: relative error {:.1e}\n",
             std::abs(fast.partition / sum - 1.0));
  return std::abs(fast.partition / sum - 1.0) < 1e-12 && std::abs(fast.largest - largest) < 1e-13;
}

// What Stream::normals draws in one request, number by number with the standard library, which errs
// by 2π times a rounding of the angle.
bool normals_agree_with_plain_arithmetic() {
  const Stream stream(1, "bench/normals");
  std::vector<double> normals(1 << 16);
  stream.normals(0, normals);
  double worst = 0.0;
  for (std::size_t i = 0; i < normals.size(); i += 2) {
    const double radius = std::sqrt(-2.0 * std::log(stream.uniform(i)));
    const double angle = 2.0 * std::numbers::pi * stream.uniform(i + 1);
    worst = std::max({worst, std::abs(normals[i] - radius * std::cos(angle)),
                      std::abs(normals[i + 1] - radius * std::sin(angle))});
  }
  fmt::print("  Stream::normals against plain arithmetic: error {:.1e}\n", worst);
  return worst < 1e-13;
}

bool within_four(const char* what, const Estimate& a, const Estimate& b) {
  const double error = std::hypot(a.standard_error, b.standard_error);
  const double sigmas = std::abs(a.mean - b.mean) / error;
  fmt::print("  {}: {} and {}, {:.1f} standard errors apart\n", what, to_string(a), to_string(b),
             sigmas);
  return sigmas < 4.0;
}

bool answers_agree() {
  const double log_n = std::log(kBruteScores);
  const Estimate top = top_weight(log_n, kDraws), brute = brute_weight(kBruteScores, kBruteDraws);
  const Estimate exact{theory::mean_largest_weight(log_n, freezing_beta(log_n)), 0.0, 1};
  fmt::print("mean largest weight at N = {:.0e}: exactly {:.6f}\n", kBruteScores, exact.mean);
  bool agree = kernel_agrees_with_plain_arithmetic();
  agree &= normals_agree_with_plain_arithmetic();
  agree &= within_four("top 256, brute force", top, brute);
  agree &= within_four("top 256, exact", top, exact);
  agree &= within_four("brute force, exact", brute, exact);
  return agree;
}

void race_draws() {
  std::vector<bench::Contestant> race;
  for (const double scores : {1e6, 1e12, 1e30, kBruteScores}) {
    race.push_back({fmt::format("{} draws, top {} of {:.0e}", kDraws, kTop, scores),
                    [=] { (void)top_weight(std::log(scores), kDraws); }});
  }
  volatile double sink = 0.0;
  race.push_back({fmt::format("one draw, brute force, all {:.0e}", kBruteScores),
                  [&] { sink = brute_weight(brute_force(kBruteScores, 0)); }});
  race.push_back({"its random bits alone", [&] {
                    const auto bits =
                        HWY_DYNAMIC_DISPATCH(philox_alone)(brute_force(kBruteScores, 0));
                    sink = static_cast<double>(bits);
                  }});
  bench::race(race, 5);
  for (const auto& contestant : race) bench::print(contestant);
  const auto [least, most] = std::minmax({race[0].best(), race[1].best(), race[2].best()});
  bench::claim("cheapest/dearest of N = 1e6, 1e12, 1e30", least / most, 1.0 / 1.5);
  const double draw = race[3].best() / kDraws;
  bench::claim("brute force/top scores at N = 1e7, per draw", race[4].best() / draw, 1000.0);
  fmt::print("  its random bits alone/top scores: {:.0f}\n", race[5].best() / draw);
}

// Rates of the parts. Buffers of 16 KiB stay in the first-level cache; 128 MiB do not stay in any.
void race_parts() {
  constexpr std::size_t small = 1 << 11, large = 1 << 24;
  std::vector<double> scores(large);
  Matrix<float> gaps(1, 2 * large), weights(1, 2 * large);
  const Stream stream(1, "bench/normals");
  const BruteForce brute = brute_force(large, 0);
  const auto exponentials = [&](std::size_t n) {
    for (std::size_t done = 0; done < large; done += n) {
      kernels::exp_gaps({gaps.data(), 1, n, n}, 1.0F, {weights.data(), 1, n, n});
    }
  };
  volatile double sink = 0.0;
  std::vector<bench::Contestant> race = {
      {"Stream::normals, to memory", [&] { stream.normals(0, scores); }},
      {"Stream::normals, in cache",
       [&] {
         for (std::size_t first = 0; first < large; first += small) {
           stream.normals(first, {scores.data(), small});
         }
       }},
      {"vectorised Philox and Box-Muller, in registers",
       [&] { sink = HWY_DYNAMIC_DISPATCH(normals_alone)(brute); }},
      {"vectorised Philox alone, in registers",
       [&] { sink = static_cast<double>(HWY_DYNAMIC_DISPATCH(philox_alone)(brute)); }},
      {"exponential kernel (float32), to memory", [&] { exponentials(large); }},
      {"exponential kernel (float32), in cache", [&] { exponentials(small); }}};
  bench::race(race, 3);
  for (const auto& contestant : race) {
    fmt::print("  {:<48} {:>7.2f} ns each   median/min {:.2f}\n", contestant.name,
               1e9 * contestant.best() / large, contestant.spread());
  }
  const auto share = [&](const char* what, std::size_t limit, std::size_t part) {
    fmt::print("  {}: {:.0f} %\n", what, 100.0 * race[limit].best() / race[part].best());
  };
  share("Stream::normals to memory, of its rate in cache", 1, 0);
  bench::claim("Stream::normals in cache, of the vectorised limit", race[2].best() / race[1].best(),
               0.6);
  share("Philox alone, of the vectorised normals", 3, 2);
  share("exponentials to memory, of their rate in cache", 5, 4);
}

}  // namespace
}  // namespace dewpoint

int main() {
  using namespace dewpoint;
  if (!answers_agree()) {
    fmt::print("the answers disagree: not timed\n");
    return EXIT_FAILURE;
  }
  fmt::print("softmax at t = 1, one thread, {}\n", simd_target());
  race_draws();
  fmt::print("its parts\n");
  race_parts();
}
#endif  // HWY_ONCE
