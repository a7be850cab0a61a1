#include "dewpoint/core/random.hpp"

#include <Random123/philox.h>

#include <algorithm>
#include <cstddef>
#include <unordered_set>

#include "dewpoint/core/error.hpp"
#include "dewpoint/core/random_kernels.hpp"
#include "dewpoint/core/random_transforms.hpp"

namespace dewpoint {
namespace {

using Words = std::array<std::uint32_t, 4>;

std::uint32_t low(std::uint64_t x) { return static_cast<std::uint32_t>(x); }
std::uint32_t high(std::uint64_t x) { return static_cast<std::uint32_t>(x >> 32); }

// FNV-1a: a stable 64-bit name of a stream's name.
std::uint64_t fnv1a(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (unsigned char c : text) hash = (hash ^ c) * 0x100000001b3ULL;
  return hash;
}

// Half h (0 or 1) of a block.
std::uint64_t half(const Words& words, std::size_t h) {
  return std::uint64_t{words[2 * h + 1]} << 32 | words[2 * h];
}

// Up to how many blocks the plain functions are as fast as setting vectors up: two of them take
// 61 ns, one vector of four to eight blocks 57 to 74 ns (AMD Zen 4, November 2026).
constexpr std::size_t kEmpiricalFewBlocks = 2;

// out[j] = one(first + j), where draws 2k and 2k + 1 come from block k: `two(k)` gives both, and
// `many(k, count, at)` writes those of `count` blocks.
template <class One, class Two, class Many>
void fill(std::uint64_t first, std::span<double> out, One one, Two two, Many many) {
  if (first % 2 == 1 && !out.empty()) {
    out[0] = one(first++);
    out = out.subspan(1);
  }
  const std::uint64_t block = first / 2;
  const std::size_t blocks = out.size() / 2;
  if (blocks > kEmpiricalFewBlocks) {
    many(block, blocks, out.data());
  } else {
    for (std::size_t k = 0; k < blocks; ++k) {
      const transforms::Pair pair = two(block + k);
      out[2 * k] = pair.first;
      out[2 * k + 1] = pair.second;
    }
  }
  if (out.size() % 2 == 1) out.back() = one(first + 2 * blocks);
}

}  // namespace

Words philox_block(const Words& counter, const std::array<std::uint32_t, 2>& key) {
  const r123::Philox4x32::ctr_type c{{counter[0], counter[1], counter[2], counter[3]}};
  const r123::Philox4x32::key_type k{{key[0], key[1]}};
  const auto r = r123::Philox4x32{}(c, k);
  return {r[0], r[1], r[2], r[3]};
}

Stream::Stream(std::uint64_t seed, std::string_view name, std::uint64_t replica)
    : replica_(replica) {
  const std::uint64_t hash = fnv1a(name);
  const Words mixed = philox_block({low(hash), high(hash), 0, 0}, {low(seed), high(seed)});
  key_ = {mixed[0], mixed[1]};
}

Words Stream::bits(std::uint64_t index) const {
  return philox_block({low(index), high(index), low(replica_), high(replica_)}, key_);
}

double Stream::uniform(std::uint64_t index) const {
  return transforms::open_uniform(half(bits(index / 2), index % 2));
}

double Stream::normal(std::uint64_t index) const {
  const Words words = bits(index / 2);
  const transforms::Pair pair = transforms::normal_pair(half(words, 0), half(words, 1));
  return index % 2 == 0 ? pair.first : pair.second;
}

void Stream::normals(std::uint64_t first, std::span<double> out) const {
  fill(
      first, out, [&](std::uint64_t index) { return normal(index); },
      [&](std::uint64_t block) {
        const Words words = bits(block);
        return transforms::normal_pair(half(words, 0), half(words, 1));
      },
      [&](std::uint64_t block, std::size_t count, double* at) {
        kernels::random_normals({key_, replica_, block, count}, at);
      });
}

double Stream::exponential(std::uint64_t index) const {
  return transforms::exponential(half(bits(index / 2), index % 2));
}

void Stream::exponentials(std::uint64_t first, std::span<double> out) const {
  fill(
      first, out, [&](std::uint64_t index) { return exponential(index); },
      [&](std::uint64_t block) {
        const Words words = bits(block);
        return transforms::Pair{transforms::exponential(half(words, 0)),
                                transforms::exponential(half(words, 1))};
      },
      [&](std::uint64_t block, std::size_t count, double* at) {
        kernels::random_exponentials({key_, replica_, block, count}, at);
      });
}

int Stream::rademacher(std::uint64_t index) const {
  const Words words = bits(index / 128);
  const auto bit = static_cast<unsigned>(index % 128);
  return ((words[bit / 32] >> (bit % 32)) & 1U) != 0 ? 1 : -1;
}

void Stream::rademachers(std::uint64_t first, std::span<float> out) const {
  Words words{};
  for (std::size_t j = 0; j < out.size(); ++j) {
    const std::uint64_t index = first + j;
    if (j == 0 || index % 128 == 0) words = bits(index / 128);
    const auto bit = static_cast<unsigned>(index % 128);
    out[j] = ((words[bit / 32] >> (bit % 32)) & 1U) != 0 ? 1.0F : -1.0F;
  }
}

// Floyd's algorithm: one draw per sample, no shuffled array of the whole population.
std::vector<std::size_t> sample_without_replacement(std::size_t population, std::size_t count,
                                                    const Stream& stream) {
  DEWPOINT_EXPECTS(count <= population);
  std::unordered_set<std::size_t> chosen;
  for (std::size_t j = population - count; j < population; ++j) {
    const auto pick = static_cast<std::size_t>(stream.uniform(j) * static_cast<double>(j + 1));
    if (!chosen.insert(pick).second) chosen.insert(j);
  }
  std::vector<std::size_t> sorted(chosen.begin(), chosen.end());
  std::sort(sorted.begin(), sorted.end());
  return sorted;
}

}  // namespace dewpoint
