#include "dewpoint/checkpoint/head_dump_writer.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "checkpoint/foreign_files.hpp"
#include "support/test_seed.hpp"

namespace dewpoint::checkpoint {
namespace {

using test::outcome;
using test::read_bytes;
using test::ScratchFolder;

constexpr std::size_t kLayers = 2, kHeads = 4, kKeyHeads = 2, kQueries = 5, kKeys = 7, kD = 3;

DumpPlan plan_of(ElementType type) {
  DumpPlan plan;
  plan.layers = kLayers;
  plan.shape = {0, kHeads, kKeyHeads, kQueries, kKeys, kD, kKeys - kQueries, false, true};
  plan.type = type;
  return plan;
}

DumpFacts some_facts() {
  DumpFacts facts;
  facts.scale = 1.0 / 3.0;
  facts.m_applied = 1.1;
  facts.window = 4;
  facts.softcap = 30.0;
  facts.model = "two \"layers\"";
  facts.text_sha256 = "abc";
  return facts;
}

// Queries (part 0) of a head, or keys (part 1) of a key head.
Matrix<float> numbers(std::size_t layer, std::size_t head, std::size_t part) {
  Matrix<float> matrix(part == 0 ? kQueries : kKeys, kD);
  const Stream draw = test::stream("HeadDumpWriter");
  for (std::size_t k = 0; k < matrix.size(); ++k) {
    matrix.data()[k] = static_cast<float>(draw.normal(((layer * 8 + head) * 2 + part) * 64 + k));
  }
  return matrix;
}

using HeadPlace = std::pair<std::size_t, std::size_t>;

std::vector<HeadPlace> all_heads() {
  std::vector<HeadPlace> heads;
  for (std::size_t l = 0; l < kLayers; ++l) {
    for (std::size_t h = 0; h < kHeads; ++h) heads.emplace_back(l, h);
  }
  return heads;
}

void write_dump(const std::filesystem::path& path, ElementType type,
                const std::vector<HeadPlace>& order) {
  HeadDumpWriter writer(path, plan_of(type), some_facts());
  for (const auto& [layer, head] : order) {
    writer.write(layer, head, numbers(layer, head, 0), numbers(layer, head / 2, 1),
                 0.5 * static_cast<double>(head));
  }
  writer.finish();
}

double largest_relative_error(const Matrix<float>& found, const Matrix<float>& exact) {
  EXPECT_EQ(found.rows(), exact.rows());
  double largest = 0.0;
  for (std::size_t k = 0; k < exact.size(); ++k) {
    largest = std::max(largest, std::abs(static_cast<double>(found.data()[k]) - exact.data()[k]) /
                                    std::abs(static_cast<double>(exact.data()[k])));
  }
  return largest;
}

// Properties (1) and (2). Rounding to the nearest of p bits is off by 2^-p at most: 11 bits of
// fraction in f16 (its subnormals, below 6e-5, are met by none of these draws), 8 in bf16.
TEST(HeadDumpWriter, WhatIsWrittenComesBackToThePrecisionOfItsType) {
  const ScratchFolder folder;
  const std::pair<ElementType, double> types[] = {{ElementType::f32, 0.0},
                                                  {ElementType::f16, std::ldexp(1.0, -11)},
                                                  {ElementType::bf16, std::ldexp(1.0, -8)}};
  for (const auto& [type, bound] : types) {
    write_dump(folder / "dump.safetensors", type, all_heads());
    const HeadDump dump = HeadDump::open(folder / "dump.safetensors");
    for (std::size_t l = 0; l < kLayers; ++l) {
      const DumpedLayer layer = dump.layer(l);
      for (std::size_t h = 0; h < kHeads; ++h) {
        EXPECT_LE(largest_relative_error(layer.queries[h], numbers(l, h, 0)), bound);
        EXPECT_LE(largest_relative_error(layer.keys[h / 2], numbers(l, h / 2, 1)), bound);
        EXPECT_EQ(layer.sinks[h], 0.5 * static_cast<double>(h));
      }
    }
  }
}

// Property (1).
TEST(HeadDumpWriter, FactsComeBack) {
  const ScratchFolder folder;
  write_dump(folder / "dump.safetensors", ElementType::bf16, all_heads());
  const HeadDump dump = HeadDump::open(folder / "dump.safetensors");
  const DumpFacts& facts = dump.facts();
  EXPECT_EQ(facts.scale, 1.0 / 3.0);
  EXPECT_EQ(facts.m_applied, 1.1);
  EXPECT_EQ(facts.window, 4U);
  EXPECT_EQ(facts.softcap, 30.0);
  EXPECT_EQ(facts.model, "two \"layers\"");
  EXPECT_EQ(facts.text_sha256, "abc");
  EXPECT_EQ(facts.rope, "post");
  EXPECT_TRUE(facts.warnings.empty());
  EXPECT_EQ(dump.shapes()[1].first_position, kKeys - kQueries);
}

// Property (3).
TEST(HeadDumpWriter, TheOrderOfHeadsDoesNotMatter) {
  const ScratchFolder folder;
  std::vector<HeadPlace> backward = all_heads();
  std::reverse(backward.begin(), backward.end());
  write_dump(folder / "a", ElementType::f16, all_heads());
  write_dump(folder / "b", ElementType::f16, backward);
  EXPECT_EQ(read_bytes(folder / "a"), read_bytes(folder / "b"));
}

TEST(HeadDumpWriter, NumbersBeyondTheTypeAreRefusedWithTheirPlace) {
  // The largest that is rounded to something finite, and the next float.
  const std::pair<ElementType, float> limits[] = {
      {ElementType::f16, std::nextafter(65520.0F, 0.0F)},
      {ElementType::bf16, std::nextafter(std::ldexp(511.0F, 119), 0.0F)},
      {ElementType::f32, std::numeric_limits<float>::max()}};
  const ScratchFolder folder;
  for (const auto& [type, largest] : limits) {
    HeadDumpWriter writer(folder / "dump", plan_of(type), some_facts());
    Matrix<float> queries(kQueries, kD);
    queries(4, 2) = largest;
    EXPECT_NO_THROW(writer.write(0, 0, queries, numbers(0, 0, 1), 0.0));
    queries(4, 2) = -std::nextafter(largest, std::numeric_limits<float>::infinity());
    const auto result = outcome([&] { writer.write(0, 1, queries, numbers(0, 0, 1), 0.0); });
    EXPECT_EQ(result.code, Code::bad_value);
    EXPECT_TRUE(result.message.starts_with("queries of layer 0, head 1, row 4, column 2: found -"))
        << result.message;
  }
}

TEST(HeadDumpWriter, AFileThatWasNotFinishedDoesNotAppear) {
  const ScratchFolder folder;
  { const HeadDumpWriter writer(folder / "dump", plan_of(ElementType::f32), some_facts()); }
  EXPECT_TRUE(folder.names().empty());
  EXPECT_EQ(outcome([] {
              HeadDumpWriter("/nowhere/dump", plan_of(ElementType::f32), some_facts());
            }).code,
            Code::unwritable_file);
}

}  // namespace
}  // namespace dewpoint::checkpoint
