#include "dewpoint/experiments/head_study.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "checkpoint/foreign_files.hpp"
#include "dewpoint/checkpoint/head_dump_writer.hpp"
#include "dewpoint/experiments/head_capture.hpp"
#include "experiments/measured_rows.hpp"
#include "experiments/tiny_decoder.hpp"
#include "support/test_seed.hpp"

namespace dewpoint::experiments {
namespace {

using checkpoint::DumpFacts;
using checkpoint::ElementType;
using checkpoint::HeadDump;

constexpr std::size_t kLayers = 2, kHeads = 4, kKeyHeads = 2, kTokens = 160, kDimension = 16;

// Standard normal queries (part 0) of a head, or keys (part 1) of a key head.
Matrix<float> drawn(std::size_t layer, std::size_t head, std::uint64_t part) {
  Matrix<float> matrix(kTokens, kDimension);
  const Stream draw = test::stream("HeadStudy");
  const std::uint64_t first = ((layer * kHeads + head) * 2 + part) * matrix.size();
  for (std::size_t k = 0; k < matrix.size(); ++k) {
    matrix.data()[k] = static_cast<float>(draw.normal(first + k));
  }
  return matrix;
}

DumpFacts facts_with(const std::function<void(DumpFacts&)>& change) {
  DumpFacts facts;
  facts.scale = 0.25;
  change(facts);
  return facts;
}

void write_drawn(const std::filesystem::path& path, ElementType type, const DumpFacts& facts) {
  checkpoint::DumpPlan plan;
  plan.layers = kLayers;
  plan.shape = {0, kHeads, kKeyHeads, kTokens, kTokens, kDimension, 0, false, true};
  plan.type = type;
  checkpoint::HeadDumpWriter writer(path, plan, facts);
  for (std::size_t layer = 0; layer < kLayers; ++layer) {
    for (std::size_t head = 0; head < kHeads; ++head) {
      writer.write(layer, head, drawn(layer, head, 0), drawn(layer, head / 2, 1), 0.5);
    }
  }
  writer.finish();
}

HeadPlan small_plan() {
  HeadPlan plan;
  plan.bin_ends = {20, 40, 80, 160};
  plan.rows_per_bin = 24;
  plan.score_rows_per_bin = 3;
  plan.score_rows_last_bin = 5;
  plan.multipliers = {{"1.5", [](std::size_t) { return 1.5; }}};
  return plan;
}

using Bits = std::vector<std::vector<std::uint64_t>>;

Bits bits_of_heads(const HeadSource& source, const HeadPlan& plan, int threads = 0) {
  Bits bits;
  measure_heads(source, plan,
                [&](std::size_t layer, std::size_t head, MeasuredHead&& measured) {
                  bits.push_back(test::bits_of(measured));
                  bits.push_back({layer, head});
                },
                {threads, {}, {}});
  return bits;
}

Bits bits_of_file(const std::filesystem::path& path) {
  const HeadDump dump = HeadDump::open(path);
  return bits_of_heads(heads_of(dump), small_plan());
}

// The same numbers in other containers: exact ones give the same statistics to the last bit.
class HeadStudyOfFiles : public test::NumPyFiles {};

TEST_F(HeadStudyOfFiles, EveryContainerOfTheSameFloatsGivesTheSameBits) {
  write_drawn(folder_ / "f32.safetensors", ElementType::f32, facts_with([](DumpFacts&) {}));
  run(R"(
import json, struct
data = open('f32.safetensors', 'rb').read()
length, = struct.unpack('<Q', data[:8])
header = json.loads(data[8:8 + length])
facts = header.pop('__metadata__')
arrays = {name: np.frombuffer(data[8 + length:][slice(*t['data_offsets'])], '<f4').reshape(t['shape'])
          for name, t in header.items()}
text = np.frombuffer(json.dumps(facts).encode(), np.uint8)
np.savez('stored.npz', **arrays, metadata=text)
np.savez_compressed('deflated.npz', **arrays, metadata=text)
np.savez('double.npz', **{k: v.astype('f8') for k, v in arrays.items()}, metadata=text)
facts['layout'] = 'BNHD'
text = np.frombuffer(json.dumps(facts).encode(), np.uint8)
np.savez('turned.npz', **{k: v if v.ndim == 1 else v.transpose(1, 0, 2)[None]
                          for k, v in arrays.items()}, metadata=text)
)");
  const Bits expected = bits_of_file(folder_ / "f32.safetensors");
  ASSERT_EQ(expected.size(), 2 * kLayers * kHeads);
  for (const char* name : {"stored.npz", "deflated.npz", "double.npz", "turned.npz"}) {
    EXPECT_EQ(bits_of_file(folder_ / name), expected) << name;
  }
}

// f(β) = log Σ_j e^{β(s_j − s_max)}, which is log 2 at the dew point.
double log_sum(const std::vector<double>& scores, double beta) {
  const double largest = *std::max_element(scores.begin(), scores.end());
  double sum = 0.0;
  for (const double score : scores) sum += std::exp(beta * (score - largest));
  return std::log(sum);
}

// E: how far a score of query i can be off, τ Σ_c |q_c k_c| times the relative error of a product.
double score_error(const attention::Head& head, std::size_t query, double relative) {
  double largest = 0.0;
  for (std::size_t j = 0; j <= query; ++j) {
    double sum = 0.0;
    for (std::size_t c = 0; c < kDimension; ++c) {
      sum += std::abs(static_cast<double>(head.queries(query, c)) * head.keys(j, c));
    }
    largest = std::max(largest, head.scale * sum * relative);
  }
  return largest;
}

// Elements off by a factor 1 ± u make every score wrong by at most E with relative error 2u + u²,
// plus (d + 2) roundings of float32. f then differs by at most 2βE for any β: the sum of
// exponentials by βE in its logarithm, and s_max by E. So the dew point β' of the rounded numbers
// has |f(β') − log 2| <= 2β'E in the exact ones, however flat f is there.
TEST(HeadStudy, HalfPrecisionMovesDewPointsByNoMoreThanItsRounding) {
  const test::ScratchFolder folder;
  const std::pair<ElementType, double> types[] = {{ElementType::bf16, std::ldexp(1.0, -8)},
                                                  {ElementType::f16, std::ldexp(1.0, -11)}};
  for (const auto& [type, unit] : types) {
    write_drawn(folder / "dump.safetensors", type, facts_with([](DumpFacts&) {}));
    const HeadDump dump = HeadDump::open(folder / "dump.safetensors");
    const double relative = 2.0 * unit + unit * unit + (kDimension + 2.0) * std::ldexp(1.0, -24);
    std::size_t compared = 0;
    measure_dump(dump, small_plan(), [&](std::size_t layer, std::size_t h, MeasuredHead&& found) {
      const Matrix<float> queries = drawn(layer, h, 0), keys = drawn(layer, h / 2, 1);
      attention::Head exact;
      exact.queries = queries;
      exact.keys = keys;
      exact.scale = 0.25;
      for (const HeadRow& row : found.rows) {
        const double beta = row.dew_point;
        const auto scores = attention::score_row(exact, row.position).scores;
        EXPECT_LE(std::abs(log_sum(scores, beta) - std::log(2.0)),
                  2.0 * beta * score_error(exact, row.position, relative));
        ++compared;
      }
    });
    EXPECT_EQ(compared, kLayers * kHeads * (10 + 20 + 24 + 24));
  }
}

TEST(HeadStudy, HeadsHaveTheMaskScaleCapAndSinkOfTheirDump) {
  const test::ScratchFolder folder;
  const auto head_with = [&](const std::function<void(DumpFacts&)>& change) {
    write_drawn(folder / "dump.safetensors", ElementType::f32, facts_with(change));
    const HeadDump dump = HeadDump::open(folder / "dump.safetensors");
    const checkpoint::DumpedLayer layer = dump.layer(1);
    const attention::Head head = head_of(layer, dump.facts(), 3);
    EXPECT_EQ(head.keys.data(), layer.keys[1].data());
    EXPECT_EQ(head.queries.data(), layer.queries[3].data());
    EXPECT_EQ(head.scale, 0.25);
    EXPECT_EQ(head.sink, 0.5);
    return std::tuple(head.mask, head.softcap, longest_context(dump));
  };
  using attention::Mask;
  EXPECT_EQ(head_with([](DumpFacts&) {}), std::tuple(Mask::causal(), 0.0, kTokens));
  EXPECT_EQ(head_with([](DumpFacts& f) { f.window = 7; }), std::tuple(Mask::window(7), 0.0, 7U));
  EXPECT_EQ(head_with([](DumpFacts& f) { f.causal = false; }),
            std::tuple(Mask::none(), 0.0, kTokens));
  EXPECT_EQ(head_with([](DumpFacts& f) { f.softcap = 20.0; }),
            std::tuple(Mask::causal(), 20.0, kTokens));
}

// Property (1) of measure_heads.
TEST(HeadStudy, DoesNotDependOnTheNumberOfThreads) {
  const test::ScratchFolder folder;
  write_drawn(folder / "dump.safetensors", ElementType::f32, facts_with([](DumpFacts&) {}));
  const HeadDump dump = HeadDump::open(folder / "dump.safetensors");
  EXPECT_EQ(bits_of_heads(heads_of(dump), small_plan(), 1),
            bits_of_heads(heads_of(dump), small_plan(), 3));
}

TEST(HeadStudy, ReportsEveryHeadAndStopsOnRequest) {
  const test::TinyDecoder decoder;
  const std::vector<int> tokens = test::tiny_tokens(48);
  std::vector<double> progress;
  std::stop_source stop;
  RunContext context{1, stop.get_token(), [&](double done, double total) {
                       progress.push_back(done / total);
                       if (done == 3.0) stop.request_stop();
                     }};
  const auto result = test::outcome([&] {
    measure_decoder(
        *decoder, tokens, {}, small_plan(), [](std::size_t, std::size_t, MeasuredHead&&) {},
        context);
  });
  EXPECT_EQ(result.message, "stopped on request");
  EXPECT_EQ(progress, (std::vector<double>{1.0 / 8.0, 2.0 / 8.0, 3.0 / 8.0}));
}

// Property (1) of capture_heads.
TEST(HeadStudy, ThroughADumpIsTheSameAsDirectlyFromTheDecoder) {
  const test::TinyDecoder decoder;
  const std::vector<int> tokens = test::tiny_tokens(160);
  const test::ScratchFolder folder;
  capture_heads(*decoder, tokens, {}, {"tiny", "abc"}, ElementType::f32,
                folder / "dump.safetensors");
  const HeadDump dump = HeadDump::open(folder / "dump.safetensors");
  EXPECT_EQ(dump.facts().model, "tiny");
  EXPECT_EQ(dump.facts().m_applied, 1.0);
  EXPECT_EQ(dump.facts().rope, "post");
  EXPECT_EQ(dump.shapes()[0].key_heads, 2U);
  EXPECT_EQ(bits_of_heads(heads_of(dump), small_plan()),
            bits_of_heads(heads_of(*decoder, tokens), small_plan()));
}

// Property (2): YaRN multiplies queries and keys by 1 + 0.1 log(factor).
TEST(HeadStudy, ADumpSaysWhatTheRotationMultiplied) {
  const test::TinyDecoder decoder;
  const std::vector<int> tokens = test::tiny_tokens(160);
  const test::ScratchFolder folder;
  models::ForwardOptions options;
  options.rope = (*decoder).config().attention.rope;
  options.rope->kind = scaling::RopeKind::yarn;
  options.rope->factor = 4.0;
  options.rope->original_length = 40;
  capture_heads(*decoder, tokens, options, {}, ElementType::f32, folder / "dump.safetensors");
  const double multiplier = 1.0 + 0.1 * std::log(4.0);
  // Its square, by way of a root and a square again: four roundings.
  EXPECT_NEAR(HeadDump::open(folder / "dump.safetensors").facts().m_applied,
              multiplier * multiplier, 4 * 2.3e-16 * multiplier * multiplier);
}

TEST(HeadStudy, AMultiplierOfTheRunChangesLaterLayersOnly) {
  const test::TinyDecoder decoder;
  const std::vector<int> tokens = test::tiny_tokens(160);
  models::ForwardOptions options;
  options.multiplier = [](std::size_t) { return 1.5; };
  const Bits plain = bits_of_heads(heads_of(*decoder, tokens), small_plan());
  const Bits multiplied = bits_of_heads(heads_of(*decoder, tokens, options), small_plan());
  ASSERT_EQ(plain.size(), multiplied.size());
  EXPECT_EQ(plain.front(), multiplied.front());
  EXPECT_NE(plain[plain.size() - 2], multiplied[plain.size() - 2]);
}

}  // namespace
}  // namespace dewpoint::experiments
