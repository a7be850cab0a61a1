#include "dewpoint/checkpoint/head_dump.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "checkpoint/dump_files.hpp"
#include "checkpoint/foreign_files.hpp"

namespace dewpoint::checkpoint {
namespace {

using test::Outcome;
using test::outcome;
using test::ScratchFolder;
using test::small_set;
using test::TensorSet;

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

// --- names ---------------------------------------------------------------------------------------

TEST(HeadDumpNames, LayersComeInTheOrderOfTheirNumbers) {
  TensorSet set;
  for (const std::size_t layer : {10, 2, 0}) {
    set.add_exact(layer, 'q', 2, 3, 4);
    set.add_exact(layer, 'k', 1, 3, 4);
  }
  const HeadDump dump = set.dump();
  EXPECT_EQ(dump.layers(), (std::vector<std::size_t>{0, 2, 10}));
  EXPECT_EQ(dump.layer(10).queries[1](2, 3), test::exact_element(10, 'q', 1, 2, 3));
}

TEST(HeadDumpNames, HooksAfterTheRotationWin) {
  TensorSet set;
  set.add("blocks.0.attn.hook_q", {1, 5, 2, 4}, 1.0F);
  set.add("blocks.0.attn.hook_k", {1, 5, 2, 4}, 1.0F);
  set.add("blocks.0.attn.hook_rot_q", {1, 5, 2, 4}, 2.0F);
  set.add("blocks.0.attn.hook_rot_k", {1, 5, 2, 4}, 3.0F);
  set.add("blocks.0.hook_resid_pre", {1, 5, 8}, 4.0F);
  const HeadDump dump = set.dump();
  EXPECT_EQ(dump.facts().layout, "BNHD");
  EXPECT_EQ(dump.facts().rope, "post");
  EXPECT_TRUE(dump.facts().warnings.empty());
  EXPECT_EQ(dump.layer(0).queries[1](4, 3), 2.0F);
  EXPECT_EQ(dump.layer(0).keys[0](0, 0), 3.0F);
}

TEST(HeadDumpNames, HooksBeforeTheRotationAreReadWithAWarning) {
  TensorSet set;
  set.add("blocks.0.attn.hook_q", {1, 5, 2, 4});
  set.add("blocks.0.attn.hook_k", {1, 5, 2, 4});
  const HeadDump dump = set.dump();
  EXPECT_EQ(dump.facts().rope, "pre");
  ASSERT_EQ(dump.facts().warnings.size(), 1U);
  EXPECT_TRUE(dump.facts().warnings[0].starts_with("before-rotation: "));
  EXPECT_TRUE(set.dump({{"rope", "none"}}).facts().warnings.empty());
  DumpOptions options;
  options.rope = "none";
  EXPECT_EQ(set.dump({}, options).facts().rope, "none");
}

TEST(HeadDumpNames, BareNamesAreOneLayerWithValuesAndSinks) {
  TensorSet set;
  set.add("q", {2, 5, 4});
  set.add("k", {1, 5, 4});
  set.add("v", {1, 5, 3}, 2.0F);
  set.add("sink", {2}, [](std::size_t k) { return static_cast<float>(k) - 0.5F; });
  const HeadDump dump = set.dump();
  EXPECT_EQ(dump.layers(), std::vector<std::size_t>{0});
  EXPECT_TRUE(dump.layer(0).values.empty());
  const DumpedLayer layer = dump.layer(0, Values::read);
  EXPECT_EQ(layer.values.at(0).cols(), 3U);
  EXPECT_EQ(layer.sinks, (std::vector<double>{-0.5, 0.5}));
}

TEST(HeadDumpNames, QueryHeadsShareKeyHeadsInGroups) {
  TensorSet set;
  set.add_exact(0, 'q', 6, 3, 4);
  set.add_exact(0, 'k', 2, 3, 4);
  const DumpedLayer layer = set.dump().layer(0);
  std::vector<std::size_t> key_heads;
  for (std::size_t h = 0; h < 6; ++h) key_heads.push_back(layer.key_head(h));
  EXPECT_EQ(key_heads, (std::vector<std::size_t>{0, 0, 0, 1, 1, 1}));
}

// --- facts ---------------------------------------------------------------------------------------

TEST(HeadDumpFacts, AreReadFromMetadataAndOverriddenByOptions) {
  const TensorSet set = small_set();
  const DumpMetadata metadata{{"format", "dewpoint-qk"}, {"version", "1"},     {"layout", "HND"},
                              {"rope", "post"},          {"scale", "0.125"},   {"m_applied", "1.5"},
                              {"causal", "true"},        {"window", "4"},      {"softcap", "30"},
                              {"model", "tiny"},         {"text_sha256", "ab"}};
  const DumpFacts facts = set.dump(metadata).facts();
  EXPECT_EQ(facts.scale, 0.125);
  EXPECT_FALSE(facts.scale_assumed);
  EXPECT_EQ(facts.m_applied, 1.5);
  EXPECT_EQ(facts.window, 4U);
  EXPECT_EQ(facts.softcap, 30.0);
  EXPECT_EQ(facts.model + facts.text_sha256, "tinyab");
  EXPECT_TRUE(facts.warnings.empty());

  DumpOptions options;
  options.scale = 2.0;
  options.window = 0;
  options.causal = false;
  options.softcap = 0.0;
  const DumpFacts other = set.dump(metadata, options).facts();
  EXPECT_EQ(other.scale, 2.0);
  EXPECT_EQ(other.window, 0U);
  EXPECT_FALSE(other.causal);
  EXPECT_EQ(other.softcap, 0.0);
}

TEST(HeadDumpFacts, WithoutMetadataAreThoseOfAnOrdinaryHead) {
  const TensorSet set = small_set();
  const DumpFacts facts = set.dump({{"format", "pt"}}).facts();
  EXPECT_EQ(facts.scale, 0.5);  // 1/√4
  EXPECT_TRUE(facts.scale_assumed);
  EXPECT_TRUE(facts.causal);
  EXPECT_EQ(facts.layout, "HND");
}

TEST(HeadDumpFacts, WarnOfUnknownKeysAndOfAGuessedLayoutThatLooksWrong) {
  const TensorSet set = small_set();
  const auto warnings = set.dump({{"format", "dewpoint-qk"}, {"windw", "4"}}).facts().warnings;
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_EQ(warnings[0],
            "unknown-metadata: the key 'windw' is unknown and was ignored; did you mean 'window'?");
  TensorSet turned;
  turned.add("q", {64, 2, 4});
  turned.add("k", {64, 2, 4});
  ASSERT_EQ(turned.dump().facts().warnings.size(), 1U);
  EXPECT_TRUE(turned.dump().facts().warnings[0].starts_with("layout-assumed: "));
  EXPECT_TRUE(turned.dump({{"layout", "NHD"}}).facts().warnings.empty());
}

TEST(HeadDumpFacts, QueriesAreTheLastTokensUnlessPositionsSayOtherwise) {
  TensorSet set;
  set.add("q", {1, 3, 4});
  set.add("k", {1, 10, 4});
  EXPECT_EQ(set.dump().layer(0).first_position, 7U);
  EXPECT_EQ(set.dump({{"positions", "2:3"}}).layer(0).first_position, 2U);
}

TEST(HeadDumpFacts, OneTextOfABatchIsReadWhenItIsNamed) {
  TensorSet set;
  const auto number = [](std::size_t k) { return static_cast<float>(k); };
  set.add("q", {3, 1, 2, 2}, number);
  set.add("k", {3, 1, 2, 2}, number);
  DumpOptions options;
  options.batch = 2;
  const HeadDump dump = set.dump({}, options);
  EXPECT_EQ(dump.facts().batches, 3U);
  EXPECT_EQ(dump.layer(0).queries[0](0, 0), 8.0F);
}

// --- refusals ------------------------------------------------------------------------------------

struct Refused {
  const char* what;
  TensorSet set;
  DumpMetadata metadata;
  const char* message;  // what the one line must contain
};

TensorSet pair(test::Shape queries, test::Shape keys) {
  TensorSet set;
  set.add("layers.0.q", std::move(queries));
  set.add("layers.0.k", std::move(keys));
  return set;
}

TensorSet with(TensorSet set, const std::string& name, test::Shape shape, float value = 1.0F) {
  set.add(name, std::move(shape), value);
  return set;
}

TensorSet without_keys() {
  TensorSet set;
  set.add("layers.0.q", {1, 3, 4});
  return set;
}

TensorSet half_rotated() {
  TensorSet set;
  set.add("blocks.0.attn.hook_rot_q", {1, 3, 1, 4});
  set.add("blocks.0.attn.hook_k", {1, 3, 1, 4});
  return set;
}

TensorSet integers() {
  TensorSet set = pair({1, 3, 4}, {1, 3, 4});
  set.relabel("layers.0.q", ElementType::i32);
  return set;
}

std::vector<Refused> refused_dumps() {
  const test::Shape s{1, 3, 4};
  return {
      {"wrong rank", pair({3}, {3}), {}, "layers.0.q: found shape [3], allowed: 3 axes"},
      {"ranks differ", pair(s, {1, 1, 3, 4}), {}, "layers.0.k: found shape [1, 1, 3, 4]"},
      {"rank and layout", pair(s, s), {{"layout", "BHND"}}, "allowed: 4 axes, for layout BHND"},
      {"five axes", pair({1, 1, 1, 3, 4}, s), {}, "layers.0.q: found shape [1, 1, 1, 3, 4]"},
      {"no tokens", pair({1, 0, 4}, s), {}, "found shape [1, 0, 4], allowed: extents of at least"},
      {"heads", pair({3, 3, 4}, {2, 3, 4}), {}, "layers.0.k: found 2 heads, allowed: a divisor"},
      {"more key heads", pair(s, {2, 3, 4}), {}, "layers.0.k: found 2 heads, allowed: a divisor"},
      {"dimensions", pair(s, {1, 3, 5}), {}, "layers.0.k: found 5 coordinates, allowed: 4"},
      {"too few keys", pair({1, 4, 4}, s), {}, "layers.0.k: found 3 tokens, allowed: at least"},
      {"no keys", without_keys(), {}, "layers.0.k: found no such tensor, allowed: one beside"},
      {"half rotated", half_rotated(), {}, "blocks.0.attn.hook_rot_k: found no such tensor"},
      {"nothing", TensorSet{}, {}, "tensors: found no tensor, allowed: layers.{l}.q"},
      {"other names", with({}, "wte", {2, 2}), {}, "found 1 of other names, 'wte' the first"},
      {"two kinds",
       with(pair(s, s), "blocks.0.attn.hook_q", {1, 3, 1, 4}),
       {},
       "names: found 'blocks.0.attn.hook_q' beside 'layers.0.q', allowed: one kind"},
      {"bare beside own", with(pair(s, s), "q", s), {}, "names: found 'q' beside 'layers.0.q'"},
      {"integers", integers(), {}, "layers.0.q: found type i32, allowed: f16, bf16, f32 or f64"},
      {"batch", pair({2, 1, 3, 4}, {2, 1, 3, 4}), {}, "found a batch of 2 texts, allowed: one"},
      {"batches differ", pair({1, 1, 3, 4}, {2, 1, 3, 4}), {}, "found 2 texts in the batch"},
      {"values", with(pair(s, s), "layers.0.v", {1, 2, 4}), {}, "layers.0.v: found 2 tokens"},
      {"sinks", with(pair(s, s), "layers.0.sink", {2}), {}, "layers.0.sink: found shape [2]"},
      {"layout", pair(s, s), {{"layout", "DHN"}}, "metadata key 'layout': found 'DHN', allowed:"},
      {"window", pair(s, s), {{"window", "-1"}}, "metadata key 'window': found '-1', allowed:"},
      {"window type", pair(s, s), {{"window", "wide"}}, "metadata key 'window': found 'wide'"},
      {"two ways", pair(s, s), {{"window", "2"}, {"causal", "false"}}, "without causal order"},
      {"softcap", pair(s, s), {{"softcap", "0"}}, "metadata key 'softcap': found '0', allowed:"},
      {"scale", pair(s, s), {{"scale", "1/8"}}, "metadata key 'scale': found '1/8', allowed: a"},
      {"scale NaN", pair(s, s), {{"scale", "nan"}}, "metadata key 'scale': found 'nan'"},
      {"causal", pair(s, s), {{"causal", "yes"}}, "metadata key 'causal': found 'yes', allowed:"},
      {"rope", pair(s, s), {{"rope", "after"}}, "metadata key 'rope': found 'after', allowed: p"},
      {"lines", pair(s, s), {{"rope", "a\nb"}}, "metadata key 'rope': found 'a\\x0ab', allowed:"},
      {"positions", pair(s, s), {{"positions", "3"}}, "metadata key 'positions': found '3'"},
      {"beyond", pair(s, s), {{"positions", "1:3"}}, "metadata key 'positions': found 1:3"},
      {"huge", pair(s, s), {{"positions", "18446744073709551615:2"}}, "allowed: first:count"},
      {"version", pair(s, s), {{"format", "dewpoint-qk"}, {"version", "2"}}, "found '2', allow"},
  };
}

TEST(HeadDumpRefusals, AreOneLineThatNamesFilePlaceAndRemedy) {
  for (const Refused& refused : refused_dumps()) {
    const Outcome result = outcome([&] { static_cast<void>(refused.set.dump(refused.metadata)); });
    EXPECT_EQ(result.code, Code::malformed_file) << refused.what;
    EXPECT_TRUE(result.message.starts_with("dump.safetensors: ")) << result.message;
    EXPECT_NE(result.message.find(refused.message), std::string::npos)
        << refused.what << ": " << result.message;
    EXPECT_EQ(result.message.find('\n'), std::string::npos) << refused.what;
  }
}

TEST(HeadDumpRefusals, NameThePlaceOfANumberThatIsNotFinite) {
  for (const float bad : {kNaN, kInfinity, -kInfinity}) {
    TensorSet set;
    set.add("layers.3.q", {2, 3, 4},
            [bad](std::size_t k) { return k == 12 + 4 * 2 + 1 ? bad : 0.0F; });
    set.add("layers.3.k", {2, 3, 4});
    const HeadDump dump = set.dump();
    const Outcome result = outcome([&] { static_cast<void>(dump.layer(3)); });
    EXPECT_EQ(result.code, Code::malformed_file);
    EXPECT_NE(result.message.find("layers.3.q: found"), std::string::npos) << result.message;
    EXPECT_NE(result.message.find("in layer 3, head 1, row 2, column 1"), std::string::npos)
        << result.message;
  }
}

TEST(HeadDumpRefusals, NameTheHeadOfASinkThatIsNotFinite) {
  TensorSet set = pair({2, 3, 4}, {2, 3, 4});
  set.add("layers.0.sink", {2}, [](std::size_t k) { return k == 1 ? kNaN : 0.0F; });
  const HeadDump dump = set.dump();
  const Outcome result = outcome([&] { static_cast<void>(dump.layer(0)); });
  EXPECT_EQ(result.message,
            "dump.safetensors: layers.0.sink: found nan in layer 0, head 1, allowed: finite "
            "numbers");
}

TEST(HeadDumpRefusals, OfOptionsAreBadValues) {
  const TensorSet set = small_set();
  std::vector<DumpOptions> options(6);
  options[0].layout = "XYZ";
  options[1].rope = "sideways";
  options[2].scale = -1.0;
  options[3].scale = static_cast<double>(kNaN);
  options[4].softcap = -1.0;
  options[5].batch = 1;
  for (const DumpOptions& bad : options) {
    EXPECT_EQ(outcome([&] { static_cast<void>(set.dump({}, bad)); }).code, Code::bad_value);
  }
}

TEST(HeadDumpRefusals, AnAssumedScaleNeedsOneHeadDimension) {
  TensorSet set = pair({1, 3, 4}, {1, 3, 4});
  set.add("layers.1.q", {1, 3, 8});
  set.add("layers.1.k", {1, 3, 8});
  const Outcome result = outcome([&] { static_cast<void>(set.dump()); });
  EXPECT_NE(result.message.find("layers.1.q: found 8 coordinates"), std::string::npos);
  EXPECT_EQ(set.dump({{"scale", "0.25"}}).shapes()[1].dimension, 8U);
}

// --- files ---------------------------------------------------------------------------------------

TEST(HeadDumpFiles, AFolderMayHoldOneFilePerLayer) {
  const ScratchFolder folder;
  for (const std::size_t layer : {0, 2, 11}) {
    TensorSet set;
    const auto value = static_cast<float>(layer);
    set.add("q", {1, 3, 4}, value);
    set.add("k", {1, 3, 4});
    set.write(folder / ("layer_" + std::to_string(layer) + ".safetensors"), {{"scale", "0.5"}});
  }
  const HeadDump dump = HeadDump::open(folder / "");
  EXPECT_EQ(dump.layers(), (std::vector<std::size_t>{0, 2, 11}));
  EXPECT_EQ(dump.layer(11).queries[0](0, 0), 11.0F);
  EXPECT_EQ(dump.facts().scale, 0.5);
}

TEST(HeadDumpFiles, OfAFolderMustAgreeAndNameTheirLayers) {
  const ScratchFolder folder;
  const auto message = [&] {
    return outcome([&] { static_cast<void>(HeadDump::open(folder / "")); }).message;
  };
  EXPECT_NE(message().find("folder: found no file of a dump in it"), std::string::npos);
  TensorSet set;
  set.add("q", {1, 3, 4});
  set.add("k", {1, 3, 4});
  set.write(folder / "first.safetensors");
  EXPECT_NE(message().find("file name: found no number in it"), std::string::npos) << message();
  std::filesystem::rename(folder / "first.safetensors", folder / "a_1.safetensors");
  set.write(folder / "b_01.safetensors");
  EXPECT_NE(message().find("found it in two files"), std::string::npos) << message();
  set.write(folder / "b_01.safetensors", {{"scale", "1"}});
  set.write(folder / "a_1.safetensors", {{"scale", "2"}});
  EXPECT_NE(message().find("metadata: found others"), std::string::npos) << message();
}

TEST(HeadDumpFiles, ThatAreNotThereAreUnreadable) {
  EXPECT_EQ(outcome([] { static_cast<void>(HeadDump::open("/nowhere/dump.npz")); }).code,
            Code::unreadable_file);
}

}  // namespace
}  // namespace dewpoint::checkpoint
