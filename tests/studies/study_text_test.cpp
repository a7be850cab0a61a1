#include "dewpoint/studies/study_text.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>

#include "dewpoint/studies/axis_values.hpp"
#include "dewpoint/studies/toml_tree.hpp"
#include "store/scratch_folder.hpp"
#include "studies/study_text_support.hpp"
#include "support/test_seed.hpp"

namespace dewpoint::studies {
namespace {

using test::find_test;
using test::kHead;
using test::parse;
using test::Texts;

constexpr const char* kFull = R"(title      = "A step, \"twice\""
experiment = "test"
seed       = 42
target     = { error = 0.01, most = 512 }

[parameters]
quiet = false
cost = 1e-3

[grid]                                           # not in the order of the alphabet
n   = [1, 2, 8]
law = ["late", "early"]
x   = { from = 0.25, to = 4, count = 5, scale = "log", unit = "critical" }

[refine]
levels = 2
along = ["x"]

[outputs]
study = "step.study"
exports = ["step.csv", "step.nc"]

[[outputs.figures]]
kind = "heatmap"
file = "step.png"
x = "x"
y = "n"

[[outputs.figures]]
file = "profile.svg"
observable = "profile"
x = "rank"
at = ["n=8", "x=1"]
fit = "log"
log_y = true
)";

TEST(StudyText, IsReadWithEverythingInIt) {
  const StudyText study = parse(kFull);
  EXPECT_EQ(study.title, "A step, \"twice\"");
  EXPECT_EQ(study.experiment, "test");
  EXPECT_EQ(study.seed, 42U);
  EXPECT_EQ(study.precision, (Precision{8, 0.01, "step", 512}));
  EXPECT_EQ(study.fixed, (Point{{"quiet", false}, {"cost", 0.001}}));
  ASSERT_EQ(study.grid.size(), 3U);
  EXPECT_EQ(study.grid[0], (GridAxis{"n", {1, 2, 8}, {}, false}));
  EXPECT_EQ(study.grid[1], (GridAxis{"law", {}, {"late", "early"}, false}));
  EXPECT_EQ(study.grid[2], (GridAxis{"c", {0.25, 0.5, 1, 2, 4}, {}, true}));
  EXPECT_EQ(study.refinement, (Refinement{"step", 2, {"c"}, 0.25}));
  EXPECT_EQ(study.study, "step.study");
  EXPECT_EQ(study.exports, (Texts{"step.csv", "step.nc"}));
  ASSERT_EQ(study.figures.size(), 2U);
  EXPECT_EQ(study.figures[0],
            (FigureOutput{"step.png", "heatmap", "", "c", "n", {}, false, false}));
  EXPECT_EQ(study.figures[1],
            (FigureOutput{
                "profile.svg", "auto", "profile", "rank", "", {"n=8", "c=1"}, false, true, "log"}));
}

TEST(StudyText, HasDefaultsForAllButTheExperiment) {
  const StudyText study = parse(kHead + "[parameters]\nx = 1");
  EXPECT_EQ(study.seed, 1U);
  EXPECT_EQ(study.precision, Precision{});
  EXPECT_TRUE(study.grid.empty());
  EXPECT_FALSE(study.refinement.has_value());
  EXPECT_EQ(study.study, "");
}

// --------------------------------------------------------------------------------- the way back

TEST(EffectiveText, IsThisForAStudyWithEverything) {
  EXPECT_EQ(effective_text(parse(kFull)), R"(title = "A step, \"twice\""
experiment = "test"
seed = 42
replicas = 8
target = { observable = "step", error = 0.01, most = 512 }

[parameters]
cost = 0.001
quiet = false

[grid]
n = [1, 2, 8]
law = ["late", "early"]
c = { values = [0.25, 0.5, 1, 2, 4], scale = "log" }

[refine]
observable = "step"
levels = 2
along = ["c"]
share = 0.25

[outputs]
study = "step.study"
exports = ["step.csv", "step.nc"]

[[outputs.figures]]
file = "step.png"
kind = "heatmap"
x = "c"
y = "n"
log_x = false
log_y = false

[[outputs.figures]]
file = "profile.svg"
kind = "auto"
observable = "profile"
x = "rank"
at = ["n=8", "c=1"]
fit = "log"
log_x = false
log_y = true
)");
}

/// A study drawn at random, with numbers of all sizes.
StudyText drawn_study(const Stream& draws) {
  std::uint64_t next = 0;
  const auto number = [&] {
    const double size = std::pow(10.0, std::round(12.0 * draws.normal(next++)));
    return draws.normal(next++) * size;
  };
  const auto chance = [&](double share) { return draws.uniform(next++) < share; };
  StudyText study;
  study.experiment = "test";
  if (chance(0.5)) study.title = "\xc3\xa9 \\ \"quoted\" # no comment";
  study.seed = (std::uint64_t{draws.bits(next)[0]} << 32) | draws.bits(next)[1];
  ++next;
  study.precision.replicas = 1 + draws.bits(next++)[0] % 1000;
  if (chance(0.5)) {
    study.precision = {8 + draws.bits(next++)[0] % 100, std::abs(number()) + 1e-300, "profile",
                       200 + draws.bits(next++)[0] % 1000};
  }
  if (chance(0.5)) study.fixed["quiet"] = chance(0.5);
  GridAxis axis{chance(0.5) ? "x" : "c", {}};
  axis.logarithmic = chance(0.5);
  for (int i = 0; i < 12; ++i)
    axis.values.push_back(axis.logarithmic ? std::abs(number()) : number());
  std::sort(axis.values.begin(), axis.values.end());
  if (chance(0.5)) study.grid.push_back({"law", {}, {"late", "early"}});
  study.grid.push_back(axis);
  if (chance(0.5)) study.grid.push_back({"n", {1, 1e6, 0x1p53, 0x1p60, 1e300}});
  if (chance(0.5)) study.refinement = Refinement{"step", 3, {axis.name}, draws.uniform(next++)};
  if (chance(0.5)) study.study = "out put/\xce\xb2.study";
  if (chance(0.5)) study.figures.push_back({"a.svg", "curve", "critical_x", axis.name, ""});
  return study;
}

// Property (1).
TEST(EffectiveText, ReadsBackAsTheSameStudyToTheLastBit) {
  for (std::uint64_t i = 0; i < 500; ++i) {
    const StudyText study = drawn_study(Stream(test::seed(), "EffectiveText/ReadsBack", i));
    const std::string text = effective_text(study);
    ASSERT_EQ(parse(text), study) << text;
    ASSERT_EQ(effective_text(parse(text)), text);
  }
}

TEST(EffectiveText, OfTheLongestAxisReadsBackToo) {
  const StudyText study = parse(kHead +
                                "[grid]\nn = [1, 2]\n"
                                "x = { from = 0.1, to = 1e9, count = 100000, scale = \"log\" }\n");
  EXPECT_EQ(parse(effective_text(study)), study);
}

TEST(StudyText, KeepsNumbersToTheLastBit) {
  const StudyText study = parse(kHead +
                                "[grid]\n"
                                "x = [-1e300, -0.0, 5e-324, 0.1, 0.30000000000000004, 1e300]\n"
                                "n = [1, 9007199254740992, 9223372036854774784, 1e300]\n");
  EXPECT_EQ(study.grid[0].values,
            (std::vector<double>{-1e300, 0.0, 5e-324, 0.1, 0.1 + 0.2, 1e300}));
  EXPECT_FALSE(std::signbit(study.grid[0].values[1]));
  EXPECT_EQ(study.grid[1].values, (std::vector<double>{1, 0x1p53, 0x1.fffffffffffffp62, 1e300}));
}

TEST(StudyText, HasASeedOfSixtyFourBits) {
  EXPECT_EQ(parse(kHead + "seed = \"18446744073709551615\"\nparameters.x = 1").seed,
            std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(parse(kHead + "seed = 9223372036854775807\nparameters.x = 1").seed, (1ULL << 63) - 1);
}

// -------------------------------------------------------------------------------------------- axes

std::vector<double> axis_of(const std::string& text, const std::string& name = "x") {
  const StudyText study =
      parse(kHead + (name == "x" ? "" : "parameters.x = 1\n") + "[grid]\n" + name + " = " + text);
  return study.grid.at(0).values;
}

TEST(GridAxis, HasManyForms) {
  using Values = std::vector<double>;
  EXPECT_EQ(axis_of("3"), Values{3});
  EXPECT_EQ(axis_of("[1, 2.5]"), (Values{1, 2.5}));
  EXPECT_EQ(axis_of("{ values = [1, 2] }"), (Values{1, 2}));
  EXPECT_EQ(axis_of("{ from = 0, to = 0.3, count = 4 }"), (Values{0, 0.1, 0.2, 0.3}));
  EXPECT_EQ(axis_of("{ from = -1, to = 2, count = 4, scale = \"linear\" }"), (Values{-1, 0, 1, 2}));
  EXPECT_EQ(axis_of("{ from = 1e-3, to = 10, count = 5, scale = \"log\" }"),
            (Values{0.001, 0.01, 0.1, 1, 10}));
  EXPECT_EQ(axis_of("{ from = 10, to = 1000, count = 4, scale = \"log\" }", "n"),
            (Values{10, 46, 215, 1000}));
  EXPECT_EQ(parse(kHead + "parameters.x = 1\ngrid.law = \"late\"").grid.at(0).words, Texts{"late"});
}

TEST(GridAxis, StandsForAnotherParameterInItsUnit) {
  const StudyText grid = parse(kHead + "[grid]\nx = { values = [1, 2], unit = \"critical\" }");
  EXPECT_EQ(grid.grid.at(0).name, "c");
  const StudyText fixed = parse(kHead + "[parameters]\nx = { value = 2, unit = \"critical\" }");
  EXPECT_EQ(fixed.fixed, (Point{{"c", 2.0}}));
}

// Properties (1) and (2) of spaced(), and what makes a grid portable: short decimals.
TEST(GridAxis, HasExactEndsAndShortNumbersBetween) {
  const auto twentieths = spaced(0.0, 0.95, 20, {});
  for (std::size_t i = 0; i < twentieths.size(); ++i) {
    EXPECT_EQ(twentieths[i], static_cast<double>(5 * i) / 100.0);
  }
  const Stream draws = test::stream("GridAxis/HasExactEnds");
  for (std::uint64_t i = 0; i < 200; ++i) {
    const double from = draws.exponential(2 * i);
    const double to = from + draws.exponential(2 * i + 1);
    for (const bool logarithmic : {false, true}) {
      const auto values = spaced(from, to, 17, {.logarithmic = logarithmic});
      EXPECT_EQ(values.front(), from);
      EXPECT_EQ(values.back(), to);
      EXPECT_TRUE(std::is_sorted(values.begin(), values.end()));
      for (std::size_t k = 1; k + 1 < values.size(); ++k) {
        const double share = static_cast<double>(k) / 16.0;
        const double plain =
            logarithmic ? from * std::pow(to / from, share) : from + (to - from) * share;
        // half a unit of the 12th digit of a number, at most 5e-12 of it; the 15th is much less
        EXPECT_NEAR(values[k], plain, 5.1e-12 * plain);
        EXPECT_LE(number_text(values[k]).size(), 18U);
      }
    }
  }
}

TEST(GridAxis, BearsTheLargestAndTheSmallestNumbers) {
  const double most = std::numeric_limits<double>::max();
  EXPECT_EQ(spaced(-most, most, 3, {}), (std::vector<double>{-most, 0.0, most}));
  EXPECT_EQ(spaced(0.0, 5e-324, 3, {}).back(), 5e-324);
  EXPECT_EQ(spaced(1e-300, 1e300, 3, {.logarithmic = true}),
            (std::vector<double>{1e-300, 1, 1e300}));
}

TEST(Between, IsTheMeanOrNothing) {
  EXPECT_EQ(between(0.15, 0.2, {}), 0.175);
  EXPECT_EQ(between(1.0, 4.0, {.logarithmic = true}), 2.0);
  EXPECT_EQ(between(1e300, 1e308, {.logarithmic = true}), 1e304);
  EXPECT_EQ(between(128.0, 256.0, {.logarithmic = true, .whole = true}), 181.0);
  EXPECT_EQ(between(1.0, 3.0, {.whole = true}), 2.0);
  EXPECT_EQ(between(1.0, 2.0, {.whole = true}), std::nullopt);
  EXPECT_EQ(between(1.0, std::nextafter(1.0, 2.0), {}), std::nullopt);
  const double third = std::nextafter(std::nextafter(1.0, 2.0), 2.0);
  EXPECT_EQ(between(1.0, third, {}), std::nextafter(1.0, 2.0));
}

// --------------------------------------------------------------------------------------- overrides

TEST(Overrides, ReplaceAddAndDescend) {
  const StudyText study = parse(
      kFull, {"grid.n=[64,128]", "replicas=16", "parameters.pieces=3", "title=One word",
              "grid.x.count=3", "outputs.study=runs/a.study", "refine.share=0.5", "grid.fail=-1"});
  EXPECT_EQ(study.grid.at(0), (GridAxis{"n", {64, 128}}));
  EXPECT_EQ(study.precision.replicas, 16U);
  EXPECT_EQ(number_of(study.fixed, "pieces"), 3.0);
  EXPECT_EQ(study.title, "One word");
  EXPECT_EQ(study.grid.at(2), (GridAxis{"c", {0.25, 1, 4}, {}, true}));
  EXPECT_EQ(study.study, "runs/a.study");
  EXPECT_EQ(study.refinement->share, 0.5);
  EXPECT_EQ(study.grid.at(3), (GridAxis{"fail", {-1}}));
}

TEST(Overrides, TakeWordsWithoutQuotes) {
  const StudyText study = parse(kHead, {"parameters.law=late", "grid.x=[1,2]"});
  EXPECT_EQ(word_of(study.fixed, "law"), "late");
  EXPECT_EQ(parse(kHead, {"grid.x=1", "experiment=test"}).experiment, "test");
  EXPECT_EQ(parse("", {"grid.x=1", "experiment='test'"}).experiment, "test");
}

TEST(Overrides, SwitchARefinementOff) {
  EXPECT_FALSE(parse(kFull, {"refine.levels=0"}).refinement.has_value());
}

TEST(Overrides, CountTheLastOfTwo) {
  EXPECT_EQ(parse(kHead, {"grid.x=1", "seed=3", "seed=4"}).seed, 4U);
}

// ------------------------------------------------------------------------------------------- files

TEST(StudyFile, IsReadAndNamesItsStudy) {
  const test::ScratchFolder folder;
  const auto file = folder / "my.steps.toml";
  std::ofstream(file) << kHead << "grid.x = [1, 2]\n";
  EXPECT_EQ(read_study_text(file, {}, find_test).study, "my.steps.study");
  EXPECT_EQ(read_study_text(file, {"outputs.study=a.study"}, find_test).study, "a.study");
  std::ofstream(file) << kHead << "\ngrid.y = 1\n";
  try {
    static_cast<void>(read_study_text(file, {}, find_test));
    FAIL();
  } catch (const Error& error) {
    EXPECT_TRUE(std::string(error.what()).starts_with(file.string() + ":3: grid.y: "))
        << error.what();
  }
}

TEST(StudyFile, HasAnEnd) {
  const test::ScratchFolder folder;
  const auto file = folder / "large.toml";
  std::ofstream(file) << kHead << "grid.x = 1\n" << std::string(kMostFileBytes, '#');
  try {
    static_cast<void>(read_study_text(file, {}, find_test));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::malformed_file);
    EXPECT_EQ(error.what(), file.string() + ": a study file of more than 1048576 bytes");
  }
}

TEST(StudyFile, ThatIsNotThereOrNoFileIsUnreadable) {
  const test::ScratchFolder folder;
  for (const auto& path : {folder / ".", folder / "none.toml"}) {
    try {
      static_cast<void>(read_study_text(path, {}, find_test));
      FAIL() << path;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Code::unreadable_file);
      EXPECT_TRUE(std::string(error.what()).ends_with("; allowed: a study file")) << error.what();
    }
  }
}

}  // namespace
}  // namespace dewpoint::studies
