// What is wrong with a study file, and how it is said.
//
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "dewpoint/studies/axis_values.hpp"
#include "dewpoint/studies/study_text.hpp"
#include "dewpoint/studies/toml_tree.hpp"
#include "studies/study_text_support.hpp"

namespace dewpoint::studies {
namespace {

using test::kHead;
using test::parse;
using test::refusal;
using test::Texts;

struct BadText {
  std::string text;  // after the head
  std::string message;
};

TEST(StudyText, SaysWhatIsWrongAndWhere) {
  const std::vector<BadText> all = {
      {"grid.xx = 1",
       "study.toml:2: grid.xx: no parameter of 'test'; allowed: x, c, n, law, quiet, cost, pieces, "
       "fail"},
      {"gird.x = 1",
       "study.toml:2: gird: unknown key; did you mean 'grid'? Allowed: title, experiment, seed, "
       "replicas, target, parameters, grid, refine, outputs"},
      {"[grid]\nn = 1\nlwa = \"late\"",
       "study.toml:4: grid.lwa: no parameter of 'test'; did you mean 'law'? Allowed: x, c, n, law, "
       "quiet, cost, pieces, fail"},
      {"[parameters]\nfuel = 1",
       "study.toml:3: parameters.fuel: no parameter of 'test'; allowed: x, c, n, law, quiet, cost, "
       "pieces, fail"},
      {"parameters.x = \"one\"",
       "study.toml:2: parameters.x: found 'one'; allowed: a number: where; any number, or c "
       "instead"},
      {"parameters.n = 2.5",
       "study.toml:2: parameters.n: found 2.5; allowed: a whole number: sharpness; at least 1"},
      {"parameters.n = 9007199254740993",
       "study.toml:2: parameters.n: found 9007199254740993; allowed: whole numbers up to 2^53, and "
       "those above that a double holds"},
      {"parameters.law = \"latte\"",
       "study.toml:2: parameters.law: found 'latte'; did you mean 'late'? Allowed: early, late"},
      {"parameters.law = 3", "study.toml:2: parameters.law: found 3; allowed: early, late"},
      {"parameters.quiet = 1",
       "study.toml:2: parameters.quiet: found 1; allowed: true or false: no noise"},
      {"parameters.x = [1, 2]",
       "study.toml:2: parameters.x: found a list of 2; allowed: a number: where; any number, or c "
       "instead"},
      {"parameters.x = { value = 2, unit = \"crit\" }",
       "study.toml:2: parameters.x.unit: found 'crit'; allowed: critical"},
      {"parameters.n = { value = 2, unit = \"critical\" }",
       "study.toml:2: parameters.n.unit: 'n' is given in no other units"},
      {"parameters.x = { valu = 2 }",
       "study.toml:2: parameters.x.valu: unknown key; did you mean 'value'? Allowed: value, unit"},
      {"parameters.x = { unit = \"critical\" }",
       "study.toml:2: parameters.x: value is missing; allowed: a number: x in units of the "
       "critical one, instead of x"},
      {"[parameters]\nc = 1\nx = { value = 2, unit = \"critical\" }",
       "study.toml:4: parameters.x: 'c' is given twice"},
      {"[parameters]\nc = 1\n[grid]\nx = { values = [2], unit = \"critical\" }",
       "study.toml:5: grid.x: 'c' is in [parameters] too; allowed: in one of them"},
      {"[grid]\nc = 1\nx = { values = [2], unit = \"critical\" }",
       "study.toml:4: grid.x: 'c' is given twice"},
      {"parameters.x = inf", "study.toml:2: parameters.x: found inf; allowed: finite numbers"},
      {"parameters.x = nan", "study.toml:2: parameters.x: found nan; allowed: finite numbers"},
      {"parameters.x = 2026-11-16",
       "study.toml:2: parameters.x: found a date or a time; allowed: texts, numbers, true, false, "
       "lists and tables"},
      {"parameters.x = 07:32:00",
       "study.toml:2: parameters.x: found a date or a time; allowed: texts, numbers, true, false, "
       "lists and tables"},
      {"title = \"\"\"two\nlines\"\"\"",
       "study.toml:2: title: found 'two\\x0alines'; allowed: texts of one line, without tabs and "
       "control characters"},
      {"title = 4", "study.toml:2: title: found 4; allowed: a text in quotes, not empty"},
      {"title = \"\"", "study.toml:2: title: found ''; allowed: a text in quotes, not empty"},
      {"seed = -1",
       "study.toml:2: seed: found -1; allowed: a whole number from 0 to 18446744073709551615"},
      {"seed = 1.5",
       "study.toml:2: seed: found 1.5; allowed: a whole number from 0 to 18446744073709551615"},
      {"seed = \"12\"",
       "study.toml:2: seed: found '12'; allowed: a whole number from 0 to 18446744073709551615"},
      {"grid.x = 1\nreplicas = 0",
       "study.toml:3: replicas: found 0; allowed: a whole number from 1 to 1000000000"},
      {"grid.x = 1\nreplicas = true",
       "study.toml:3: replicas: found true; allowed: a whole number from 1 to 1000000000"},
      {"[grid]\nx = [1, 3,\n  2]",
       "study.toml:4: grid.x: found 2 after 3; allowed: numbers that increase"},
      {"grid.x = []", "study.toml:2: grid.x: found a list of 0; allowed: 1 to 100000 values"},
      {"grid.x = [1, \"two\"]",
       "study.toml:2: grid.x: found 'two'; allowed: a number: where; any number, or c instead"},
      {"grid.x = { from = 1, to = 2 }",
       "study.toml:2: grid.x: count is missing; allowed: from, to and count, or values"},
      {"grid.x = { from = 2, to = 2, count = 3 }",
       "study.toml:2: grid.x.to: found 2; allowed: more than from = 2"},
      {"grid.x = { from = 1, to = 2, count = 1 }",
       "study.toml:2: grid.x.count: found 1; allowed: a whole number from 2 to 100000"},
      {"grid.x = { from = 1, to = 2, count = 3, scale = \"logarithmic\" }",
       "study.toml:2: grid.x.scale: found 'logarithmic'; allowed: linear, log"},
      {"grid.x = { from = 0, to = 2, count = 3, scale = \"log\" }",
       "study.toml:2: grid.x.from: found 0; allowed: above 0, where scale = \"log\""},
      {"grid.x = { from = 1, to = 2, step = 0.1 }",
       "study.toml:2: grid.x.step: unknown key; allowed: from, to, count, scale, unit, values"},
      {"grid.x = { values = [1], count = 3 }",
       "study.toml:2: grid.x.count: unknown key; allowed: values, scale, unit"},
      {"grid.x = { values = [-1, 1], scale = \"log\" }",
       "study.toml:2: grid.x.values: found -1; allowed: numbers above 0, where scale = \"log\""},
      {"grid.n = { from = 1, to = 4, count = 9 }",
       "study.toml:2: grid.n.count: found 9; allowed: as many as there are different whole numbers "
       "between 1 and 4"},
      {"grid.law = [\"late\", \"late\"]",
       "study.toml:2: grid.law: 'late' is named twice; allowed: each word once"},
      {"grid.law = { from = 1, to = 2, count = 2 }",
       "study.toml:2: grid.law: found a table; allowed: a list of words"},
      {"grid.law = { values = [\"late\"], scale = \"log\" }",
       "study.toml:2: grid.law.scale: 'law' is no number"},
      {"grid.quiet = [true, false]",
       "study.toml:2: grid.quiet: 'quiet' cannot be an axis; allowed: one value in [parameters]"},
      {"grid.pieces = [1, 2]",
       "study.toml:2: grid.pieces: 'pieces' cannot be an axis; allowed: one value in [parameters]"},
      {"[grid]\nx = { from = 0, to = 1, count = 10000 }\ncost = { from = 0, to = 1, count = 1001 }",
       "study.toml:2: grid: 10010000 cells; allowed: at most 10000000"},
      {"title = \"" + std::string(4097, 'x') + "\"\nparameters.x = 1",
       "study.toml:2: title: 4097 bytes; allowed: at most 4096"},
      {"grid = 3", "study.toml:2: grid: found 3; allowed: a table"},
      {"grid.n = 1", "study.toml: x: missing; allowed: a number, or c instead"},
      {"parameters.x = 1\ntarget = 0.1", "study.toml:3: target: found 0.1; allowed: a table"},
      {"parameters.x = 1\ntarget = { most = 100 }",
       "study.toml:3: target: error is missing; allowed: a number above 0"},
      {"parameters.x = 1\ntarget = { error = 0 }",
       "study.toml:3: target.error: found 0; allowed: a number above 0"},
      {"parameters.x = 1\ntarget = { error = 1, most = 4 }",
       "study.toml:3: target.most: found 4; allowed: a whole number from 8 to 1000000000"},
      {"parameters.x = 1\ntarget = { error = 1, observable = \"stepp\" }",
       "study.toml:3: target.observable: found 'stepp'; did you mean 'step'? Allowed: step, "
       "profile"},
      {"parameters.x = 1\nreplicas = 4\ntarget = { error = 1 }",
       "study.toml:3: replicas: found 4; allowed: with a target, at least 8"},
      {"parameters.x = 1\nrefine.levels = 1",
       "study.toml:3: refine: no axis of [grid] has two numbers or more"},
      {"grid.x = [1, 2]\nrefine.level = 1",
       "study.toml:3: refine.level: unknown key; did you mean 'levels'? Allowed: observable, "
       "levels, along, share"},
      {"grid.x = [1, 2]\nrefine.levels = 17",
       "study.toml:3: refine.levels: found 17; allowed: a whole number from 0 to 16"},
      {"grid.x = [1, 2]\nrefine.share = 0",
       "study.toml:3: refine.share: found 0; allowed: a number above 0, at most 1"},
      {"grid.x = [1, 2]\nrefine.along = [\"law\"]",
       "study.toml:3: refine.along: found 'law'; allowed: x"},
      {"grid.x = [1, 2]\nrefine.along = [\"x\", \"x\"]",
       "study.toml:3: refine.along: found 'x'; allowed: each axis once"},
      {"grid.x = [1, 2]\nrefine.along = []",
       "study.toml:3: refine.along: found a list of 0; allowed: at least one axis"},
      {"grid.x = 1\noutputs.exports = [\"a.csv\", \"b.xls\"]",
       "study.toml:3: outputs.exports: found 'b.xls'; allowed: files that end in .csv, .jsonl, "
       ".npz, .nc"},
      {"grid.x = 1\noutputs.exports = \"a.csv\"",
       "study.toml:3: outputs.exports: found 'a.csv'; allowed: a list of files"},
      {"grid.x = 1\noutputs = { study = \"a.csv\", exports = [\"a.csv\"] }",
       "study.toml:3: outputs.exports: found 'a.csv'; allowed: each file once"},
      {"grid.x = 1\n[[outputs.figures]]\nkind = \"curve\"",
       "study.toml:3: outputs.figures: file is missing; allowed: a file of .svg, .png or .pdf"},
      {"grid.x = 1\n[[outputs.figures]]\nfile = \"a.gif\"",
       "study.toml:4: outputs.figures.file: found 'a.gif'; allowed: files that end in .svg, .png, "
       ".pdf"},
      {"grid.x = 1\n[[outputs.figures]]\nfile = \"a.svg\"\ncolor = \"red\"",
       "study.toml:5: outputs.figures.color: unknown key; allowed: file, kind, observable, x, y, "
       "at, fit, log_x, log_y"},
      {"grid.x = 1\n[[outputs.figures]]\nfile = \"a.svg\"\nfit = \"line\"",
       "study.toml:5: outputs.figures.fit: found 'line'; allowed: power, log, log-power"},
      {"grid.x = 1\n[[outputs.figures]]\nfile = \"a.svg\"\nobservable = \"entropy\"",
       "study.toml:5: outputs.figures.observable: found 'entropy'; allowed: step, profile, "
       "step_theory, critical_x"},
      {"grid.x = 1\n[[outputs.figures]]\nfile = \"a.svg\"\nx = \"n\"",
       "study.toml:5: outputs.figures.x: found 'n'; allowed: x, rank"},
      {"grid.x = 1\n[[outputs.figures]]\nfile = \"a.svg\"\nat = [\"n=2\"]",
       "study.toml:5: outputs.figures.at: no axis 'n'; allowed: x, rank"},
      {"grid.x = 1\n[[outputs.figures]]\nfile = \"a.svg\"\nat = [\"x\"]",
       "study.toml:5: outputs.figures.at: found 'x'; allowed: a list of conditions, as in "
       "[\"n=512\"]"},
      {"grid.x = 1\n[[outputs.figures]]\nfile = \"a.svg\"\nlog_x = \"yes\"",
       "study.toml:5: outputs.figures.log_x: found 'yes'; allowed: true or false"},
      {"grid.x = 1\ngrid.x = 2",
       "study.toml:3: not TOML: Error while parsing key-value pair: cannot redefine existing "
       "integer 'grid.x'"},
      {"grid.x = [1, 2",
       "study.toml:2: not TOML: Error while parsing array: encountered end-of-file"},
      {"grid.x = ",
       "study.toml:2: not TOML: Error while parsing key-value pair: encountered end-of-file"},
      {"\"\\u0007\" = 1",
       "study.toml:2: \\x07: unknown key; allowed: title, experiment, seed, replicas, target, "
       "parameters, grid, refine, outputs"},
  };
  for (const BadText& bad : all) EXPECT_EQ(refusal(kHead + bad.text), bad.message) << bad.text;
}

TEST(StudyText, RefusesTablesWithoutAName) {
  for (const std::string header : {"[(a]", "[[=", "[[[a]]]", "[", "[[", "[]", "[ .a]"}) {
    EXPECT_TRUE(refusal(kHead + header).starts_with("study.toml:2: not TOML: ")) << header;
  }
}

TEST(StudyText, HasNoControlCharacters) {
  EXPECT_EQ(refusal(kHead + "[" + std::string(1, '\0') + "[pa$"),
            "study.toml:2: not TOML: a control character, \\x00");
  EXPECT_EQ(refusal(kHead + "title = \"\x1b[31m\""),
            "study.toml:2: not TOML: a control character, \\x1b");
  EXPECT_EQ(parse("experiment = \"test\"\r\n\tgrid.x = 1\r\n").grid.size(), 1U);
}

TEST(StudyText, HasForeignLettersInQuotesAndCommentsOnly) {
  const StudyText study = parse("\xef\xbb\xbf" + kHead +
                                "title = \"\xce\xb2 \\\" \xce\xb2\"  # \xce\xb2 'and \xce\xb2\n"
                                "grid.x = 1 # \xce\xb2\n[outputs]\n"
                                "study = '''\xce\xb2'''''\n"
                                "exports = [\"\"\"\"\xce\xb2.csv\"\"\"]");
  EXPECT_EQ(study.title, "\xce\xb2 \" \xce\xb2");
  EXPECT_EQ(study.study, "\xce\xb2''");
  EXPECT_EQ(study.exports, Texts{"\"\xce\xb2.csv"});
  for (const std::string bad : {"\xce\xb2 = 1", "[\xc7\xa6]", "grid.x = 0N'''\xcf\xa0'''"}) {
    EXPECT_TRUE(refusal(kHead + bad).starts_with("study.toml:2: not TOML: "))
        << refusal(kHead + bad);
  }
}

TEST(StudyText, KeepsTildes) {
  EXPECT_EQ(parse(kHead + "grid.x = 1\ntitle = \"~ ~ce~b2 ~~7e\"").title, "~ ~ce~b2 ~~7e");
  EXPECT_EQ(refusal(kHead + "title = \"\\u007ece\""),
            "study.toml:2: found \\u007e; allowed: ~ as it is");
}

TEST(StudyText, IsInUtf8) {
  const Texts foreign = {"\xff",
                         "\x80",
                         "\xc0\xaf",
                         "\xe0\x80\xaf",
                         "\xed\xa0\x80",
                         "\xf0\x80\x80\x80",
                         "\xf4\x90\x80\x80",
                         "\xe2\x82"};
  for (const std::string& bytes : foreign) {
    EXPECT_EQ(refusal(kHead + "title = \"" + bytes + "\""),
              "study.toml:2: not TOML: no text in UTF-8");
    EXPECT_NE(refusal(kHead + "grid.x = 1", {"title=" + bytes}), std::string());
  }
  const std::string proper =
      "\xc2\x80 \xdf\xbf \xe0\xa0\x80 \xef\xbf\xbd \xf0\x90\x80\x80 \xf4\x8f\xbf\xbf";
  EXPECT_EQ(parse(kHead + "grid.x = 1\ntitle = \"" + proper + "\"").title, proper);
}

TEST(StudyText, NeedsAnExperimentThatExists) {
  EXPECT_EQ(refusal(""),
            "study.toml: experiment: missing; allowed: the name of an experiment, in quotes");
  EXPECT_EQ(refusal("experiment = \"tset\""),
            "study.toml:1: experiment: no experiment 'tset'; did you mean 'test'? Allowed: test");
  EXPECT_EQ(refusal("experiment = \"Test\""),
            "study.toml:1: experiment: no experiment 'Test'; did you mean 'test'? Allowed: test");
}

struct BadOverride {
  std::string override;
  std::string message;
};

TEST(Overrides, SayWhatIsWrongWithThem) {
  const std::vector<BadOverride> all = {
      {"replicas", "override 'replicas': allowed: key=value, as in replicas=4 or grid.n=[64,128]"},
      {"replicas=",
       "override 'replicas=': allowed: key=value, as in replicas=4 or grid.n=[64,128]"},
      {"=4", "override '=4': an empty key; allowed: key=value, as in replicas=4"},
      {"grid..x=4", "override 'grid..x=4': an empty key; allowed: key=value, as in replicas=4"},
      {"replicas=4x",
       "override 'replicas=4x': replicas: found '4x'; allowed: a whole number from 1 to "
       "1000000000"},
      {"grid.gama=3",
       "override 'grid.gama=3': grid.gama: no parameter of 'test'; allowed: x, c, n, law, quiet, "
       "cost, pieces, fail"},
      {"grid.law=[early,late]",
       "override 'grid.law=[early,late]': not TOML: Error while parsing value: could not determine "
       "value type; words in a list need quotes"},
      {"grid.x=[1",
       "override 'grid.x=[1': not TOML: Error while parsing array: encountered end-of-file; words "
       "in a list need quotes"},
      {"seed.x=1", "override 'seed.x=1': nothing is called 'x' within a value that is no table"},
      {"parameters.cost=inf",
       "override 'parameters.cost=inf': parameters.cost: found inf; allowed: finite numbers"},
      {"parameters.cost=2026-11-16",
       "override 'parameters.cost=2026-11-16': parameters.cost: found a date or a time; allowed: "
       "texts, numbers, true, false, lists and tables"},
      {"title=two\nlines", "override 'title=two\\x0alines': allowed: one line of text"},
      {"refine.levels=1",
       "override 'refine.levels=1': refine: no axis of [grid] has two numbers or more"},
  };
  for (const BadOverride& bad : all) {
    EXPECT_EQ(refusal(kHead + "seed = 1\ngrid.x = 1", {bad.override}), bad.message) << bad.override;
  }
}

TEST(StudyText, RefusesTooMuch) {
  EXPECT_EQ(refusal(std::string(kMostTomlBytes + 1, '#')),
            "study.toml: 16777217 bytes; allowed: at most 16777216");
  std::string deep = "a";
  for (int i = 0; i < 100'000; ++i) deep += ".a";
  EXPECT_EQ(refusal(deep + " = 1"), "study.toml:1: more than 64 dots in a line");
  EXPECT_EQ(refusal("\n[" + deep + "]"), "study.toml:2: more than 64 dots in a line");
  std::string digits = "1";
  for (int i = 0; i < 100'000; ++i) digits += ".1";
  EXPECT_EQ(refusal(digits + " = 1"), "study.toml:1: more than 64 dots in a line");
  EXPECT_NE(refusal("x = " + std::string(100'000, '[')), std::string());
}

TEST(StudyText, TakesLongListsOfDecimalsOnOneLine) {
  std::string text = kHead + "grid.x = [";
  for (int i = 0; i < 5000; ++i) text += number_text(i + 0.5) + ", ";
  EXPECT_EQ(parse(text + "]").grid.at(0).values.size(), 5000U);
}

}  // namespace
}  // namespace dewpoint::studies
