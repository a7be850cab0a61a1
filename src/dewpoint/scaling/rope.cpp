#include "dewpoint/scaling/rope.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <utility>

#include "dewpoint/core/error.hpp"

namespace dewpoint::scaling {
namespace {

constexpr double kTurn = 2.0 * std::numbers::pi;

constexpr std::array<std::pair<const char*, RopeKind>, 10> kNames = {
    {{"none", RopeKind::none},
     {"default", RopeKind::standard},
     {"linear", RopeKind::linear},
     {"dynamic", RopeKind::dynamic},
     {"ntk", RopeKind::ntk},
     {"llama3", RopeKind::llama3},
     {"yarn", RopeKind::yarn},
     {"longrope", RopeKind::longrope},
     {"su", RopeKind::longrope},
     {"deepseek_yarn", RopeKind::yarn}}};

std::size_t rotary_dimension(const RopeScaling& rope, std::size_t head_dimension) {
  const double share = static_cast<double>(head_dimension) * rope.rotary_share;
  const auto dimension = share >= 0.0 && share <= static_cast<double>(head_dimension)
                             ? static_cast<std::size_t>(share)
                             : 0;
  const bool stretches_base = rope.kind == RopeKind::dynamic || rope.kind == RopeKind::ntk;
  const std::size_t smallest = stretches_base ? 4 : 2;
  if (dimension >= smallest && dimension % 2 == 0) return dimension;
  throw Error(Code::bad_value,
              fmt::format("rotary dimension: {} x {} is not an even number of coordinates, {} or "
                          "more and no more than the head has",
                          head_dimension, rope.rotary_share, smallest));
}

void require_factor(const RopeScaling& rope) {
  if (rope.kind == RopeKind::standard || rope.kind == RopeKind::longrope) return;
  if (rope.factor >= 1.0 && std::isfinite(rope.factor)) return;
  throw Error(Code::bad_value,
              fmt::format("factor: {} is not a finite number >= 1 for rope_type {}", rope.factor,
                          name_of(rope.kind)));
}

std::vector<double> geometric(double base, std::size_t dimension) {
  if (!(base > 1.0) || !std::isfinite(base)) {
    throw Error(Code::bad_value, fmt::format("rope_theta: {} is not a finite number > 1", base));
  }
  std::vector<double> frequencies(dimension / 2);
  for (std::size_t k = 0; k < frequencies.size(); ++k)
    frequencies[k] = std::pow(base, -2.0 * static_cast<double>(k) / static_cast<double>(dimension));
  return frequencies;
}

// The base that turns the slowest pair `stretch` times slower and the fastest as before.
double stretched_base(double base, double stretch, std::size_t dimension) {
  const double d = static_cast<double>(dimension);
  return base * std::pow(stretch, d / (d - 2.0));
}

double dynamic_stretch(const RopeScaling& rope, std::size_t max_positions, std::size_t length) {
  if (max_positions == 0) {
    throw Error(Code::bad_value, "max_position_embeddings: rope_type dynamic cannot do without");
  }
  const double longest = static_cast<double>(max_positions);
  const double reached = std::max(static_cast<double>(length), longest);
  return rope.factor * reached / longest - (rope.factor - 1.0);
}

void bend_llama3(std::vector<double>& frequencies, const RopeScaling& rope, double original) {
  const double low = rope.low_frequency_factor, high = rope.high_frequency_factor;
  if (!(low > 0.0) || !(high > low)) {
    throw Error(Code::bad_value, fmt::format("low_freq_factor: {} is not between 0 and "
                                             "high_freq_factor, {}",
                                             low, high));
  }
  for (double& frequency : frequencies) {
    const double turns = original * frequency / kTurn;  // n0 in wavelengths
    const double kept = std::clamp((turns - low) / (high - low), 0.0, 1.0);
    frequency *= (1.0 - kept) / rope.factor + kept;
  }
}

// The pair, as a fraction of an index, that turns `turns` times within n0 tokens.
double pair_that_turns(double turns, const RopeScaling& rope, std::size_t dimension,
                       double original) {
  return static_cast<double>(dimension) * std::log(original / (kTurn * turns)) /
         (2.0 * std::log(rope.base));
}

void bend_yarn(std::vector<double>& frequencies, const RopeScaling& rope, double original) {
  const std::size_t dimension = 2 * frequencies.size();
  double first = pair_that_turns(rope.beta_fast, rope, dimension, original);
  double last = pair_that_turns(rope.beta_slow, rope, dimension, original);
  if (rope.truncate) {
    first = std::floor(first);
    last = std::ceil(last);
  }
  first = std::max(first, 0.0);
  last = std::min(last, static_cast<double>(dimension) - 1.0);
  if (first == last) last += 0.001;  // as published: a ramp of no width is a step
  for (std::size_t k = 0; k < frequencies.size(); ++k) {
    const double ramp = std::clamp((static_cast<double>(k) - first) / (last - first), 0.0, 1.0);
    frequencies[k] *= ramp / rope.factor + (1.0 - ramp);
  }
}

void divide_longrope(std::vector<double>& frequencies, const RopeScaling& rope, bool beyond) {
  const std::vector<double>& divisors = beyond ? rope.long_factor : rope.short_factor;
  if (divisors.size() != frequencies.size()) {
    throw Error(
        Code::bad_value,
        fmt::format("{}: {} numbers where a head has {} pairs of coordinates",
                    beyond ? "long_factor" : "short_factor", divisors.size(), frequencies.size()));
  }
  for (std::size_t k = 0; k < frequencies.size(); ++k) {
    if (!(divisors[k] > 0.0)) {
      throw Error(Code::bad_value,
                  fmt::format("{}: {} is not above 0", beyond ? "long_factor" : "short_factor",
                              divisors[k]));
    }
    frequencies[k] /= divisors[k];
  }
}

}  // namespace

std::size_t original_length(const RopeScaling& rope, std::size_t max_positions) {
  const std::size_t length = rope.original_length > 0 ? rope.original_length : max_positions;
  if (length > 0) return length;
  throw Error(Code::bad_value,
              fmt::format("original_max_position_embeddings: rope_type {} needs it, or "
                          "max_position_embeddings",
                          name_of(rope.kind)));
}

std::vector<double> rope_frequencies(const RopeScaling& rope, std::size_t head_dimension,
                                     std::size_t max_positions, std::size_t length) {
  if (rope.kind == RopeKind::none) return {};
  require_factor(rope);
  const std::size_t dimension = rotary_dimension(rope, head_dimension);
  double base = rope.base;
  if (rope.kind == RopeKind::ntk) base = stretched_base(base, rope.factor, dimension);
  if (rope.kind == RopeKind::dynamic)
    base = stretched_base(base, dynamic_stretch(rope, max_positions, length), dimension);
  std::vector<double> frequencies = geometric(base, dimension);
  if (rope.kind == RopeKind::linear)
    for (double& frequency : frequencies) frequency /= rope.factor;
  const auto original = [&] { return static_cast<double>(original_length(rope, max_positions)); };
  if (rope.kind == RopeKind::llama3) bend_llama3(frequencies, rope, original());
  if (rope.kind == RopeKind::yarn) bend_yarn(frequencies, rope, original());
  if (rope.kind == RopeKind::longrope)
    divide_longrope(frequencies, rope, static_cast<double>(length) > original());
  return frequencies;
}

const char* name_of(RopeKind kind) {
  for (const auto& [name, known] : kNames)
    if (known == kind) return name;
  return "";
}

RopeKind parse_rope_kind(const std::string& name) {
  for (const auto& [known, kind] : kNames)
    if (name == known) return kind;
  throw Error(Code::bad_value,
              fmt::format("rope_type: '{}' is unknown; allowed: default, linear, dynamic, ntk, "
                          "llama3, yarn, longrope, none",
                          name));
}

}  // namespace dewpoint::scaling
