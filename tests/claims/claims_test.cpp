#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <ostream>
#include <regex>
#include <set>
#include <string>

#include "dewpoint/claims/claim.hpp"
#include "support/test_seed.hpp"

namespace dewpoint::claims {

// How GoogleTest names a parameter.
void PrintTo(const Claim& claim, std::ostream* out) { *out << claim.id; }

namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

Comparison comparison(Relation relation, double predicted, double measured, double error,
                      double tolerance) {
  return {"something", predicted, relation, {measured, error, 16}, tolerance};
}

TEST(Comparison, AllowsTheToleranceAndSoManyStandardErrors) {
  // 5.6 · 0.01 + 0.1 = 0.156
  EXPECT_TRUE(comparison(Relation::equals, 1.0, 1.155, 0.01, 0.1).holds());
  EXPECT_TRUE(comparison(Relation::equals, 1.0, 0.845, 0.01, 0.1).holds());
  EXPECT_FALSE(comparison(Relation::equals, 1.0, 1.157, 0.01, 0.1).holds());
  EXPECT_FALSE(comparison(Relation::equals, 1.0, 0.843, 0.01, 0.1).holds());
}

TEST(Comparison, OneSidedRelationsLookAtOneSideOnly) {
  EXPECT_TRUE(comparison(Relation::at_least, 1.0, 7.0, 0.0, 0.1).holds());
  EXPECT_TRUE(comparison(Relation::at_least, 1.0, 0.95, 0.0, 0.1).holds());
  EXPECT_FALSE(comparison(Relation::at_least, 1.0, 0.85, 0.0, 0.1).holds());
  EXPECT_TRUE(comparison(Relation::at_most, 1.0, -7.0, 0.0, 0.1).holds());
  EXPECT_TRUE(comparison(Relation::at_most, 1.0, 1.05, 0.0, 0.1).holds());
  EXPECT_FALSE(comparison(Relation::at_most, 1.0, 1.15, 0.0, 0.1).holds());
}

TEST(Comparison, ANumberThatIsNoneNeverHolds) {
  for (const Relation relation : {Relation::equals, Relation::at_least, Relation::at_most}) {
    EXPECT_FALSE(comparison(relation, kNaN, 1.0, 0.0, 0.1).holds());
    EXPECT_FALSE(comparison(relation, 1.0, kNaN, 0.0, 0.1).holds());
    EXPECT_FALSE(comparison(relation, 1.0, 1.0, kNaN, 0.1).holds());
    EXPECT_FALSE(comparison(relation, 1.0, 1.0, 0.0, kNaN).holds());
  }
}

TEST(Verdict, NeedsEveryComparisonOfTheStatement) {
  const Comparison good = comparison(Relation::equals, 1.0, 1.0, 0.0, 0.1);
  const Comparison bad = comparison(Relation::equals, 1.0, 2.0, 0.0, 0.1);
  EXPECT_EQ(verdict({"", {good, good}, {}}), Verdict::holds);
  EXPECT_EQ(verdict({"", {good, bad}, {}}), Verdict::fails);
  EXPECT_EQ(verdict({"", {}, {}}), Verdict::fails) << "no evidence is no support";
}

TEST(Verdict, ACorrectionMustBeNeeded) {
  const Comparison good = comparison(Relation::equals, 1.0, 1.0, 0.0, 0.1);
  const Comparison bad = comparison(Relation::equals, 1.0, 2.0, 0.0, 0.1);
  EXPECT_EQ(verdict({"", {good}, {bad}}), Verdict::holds_as_corrected);
  EXPECT_EQ(verdict({"", {good}, {good, bad}}), Verdict::holds_as_corrected);
  EXPECT_EQ(verdict({"", {good}, {good}}), Verdict::fails);
  EXPECT_EQ(verdict({"", {bad}, {bad}}), Verdict::fails);
}

TEST(Verdict, AFindingNeedsBothSides) {
  const Comparison good = comparison(Relation::equals, 1.0, 1.0, 0.0, 0.1);
  const Comparison bad = comparison(Relation::equals, 1.0, 2.0, 0.0, 0.1);
  EXPECT_EQ(verdict({"", {good}, {bad}, false}), Verdict::does_not_reproduce);
  EXPECT_EQ(verdict({"", {bad}, {bad}, false}), Verdict::fails);
  EXPECT_EQ(verdict({"", {good}, {good}, false}), Verdict::fails);
  EXPECT_EQ(verdict({"", {good}, {}, false}), Verdict::fails) << "nothing printed is refuted";
}

TEST(Verdict, HasAName) {
  EXPECT_EQ(name_of(Verdict::holds), "holds");
  EXPECT_EQ(name_of(Verdict::holds_as_corrected), "holds as corrected");
  EXPECT_EQ(name_of(Verdict::does_not_reproduce), "does not reproduce");
  EXPECT_EQ(name_of(Verdict::fails), "fails");
}

TEST(AllClaims, HaveDistinctIdsThatCanBeTyped) {
  std::set<std::string> ids;
  for (const Claim& claim : all_claims()) {
    EXPECT_TRUE(ids.insert(claim.id).second) << claim.id;
    EXPECT_TRUE(std::regex_match(claim.id, std::regex("[a-z0-9.-]+"))) << claim.id;
    EXPECT_FALSE(claim.place.empty()) << claim.id;
    EXPECT_EQ(claim.statement.back(), '.') << claim.id;
    EXPECT_EQ(claim.statement.find('\n'), std::string::npos) << claim.id;
  }
}

TEST(AllClaims, CoverTheTheoremsAndLemmasOfCriticalAttentionScaling) {
  std::set<std::string> ids;
  for (const Claim& claim : all_claims()) ids.insert(claim.id);
  for (const char* name :
       {"theorem-2.1", "theorem-2.3", "theorem-2.4",  "theorem-2.5",  "theorem-c.2",  "lemma-a.1",
        "lemma-a.2",   "lemma-a.3",   "lemma-a.4",    "lemma-b.1",    "lemma-b.2",    "lemma-b.3",
        "lemma-b.4",   "lemma-b.5",   "lemma-b.6",    "lemma-b.7",    "lemma-b.8",    "lemma-b.9",
        "lemma-b.10",  "lemma-c.1",   "table-1.yarn", "table-1.qwen", "table-1.ssmax"}) {
    EXPECT_TRUE(ids.count(std::string("cas.") + name)) << name;
  }
}

// ---- every row ----------------------------------------------------------------------------------

class EveryClaim : public testing::TestWithParam<Claim> {
 protected:
  [[nodiscard]] Evidence quick() const {
    Setting setting;
    setting.seed = test::seed();
    return GetParam().examine(setting);
  }
};

// The measurements that a comparison must not accept: a tenth too large or too small where it is an
// equality, a tenth of the bound beyond it where it is an inequality.
std::vector<double> corruptions(const Comparison& comparison) {
  const double tenth = 0.1 * std::abs(comparison.predicted);
  switch (comparison.relation) {
    case Relation::equals:
      return {1.1 * comparison.measured.mean, 0.9 * comparison.measured.mean};
    case Relation::at_least:
      return {comparison.predicted - tenth};
    case Relation::at_most:
      return {comparison.predicted + tenth};
  }
  return {};
}

// One test, not three, because an examination takes seconds.
TEST_P(EveryClaim, HoldsAndWouldFailOnACorruptedMeasurement) {
  const Evidence evidence = quick();
  EXPECT_NE(verdict(evidence), Verdict::fails);
  EXPECT_FALSE(evidence.parameters.empty());
  for (const Comparison& comparison : evidence.statement) {
    EXPECT_TRUE(comparison.holds())
        << comparison.quantity << ": predicted " << comparison.predicted << ", measured "
        << comparison.measured.mean << ", tolerance " << comparison.tolerance;
  }
  for (const Comparison& printed : evidence.as_printed) {
    EXPECT_FALSE(printed.holds()) << printed.quantity << " needs no correction";
  }

  for (std::size_t k = 0; k < evidence.statement.size(); ++k) {
    for (const double value : corruptions(evidence.statement[k])) {
      Evidence corrupted = evidence;
      corrupted.statement[k].measured.mean = value;
      EXPECT_EQ(verdict(corrupted), Verdict::fails)
          << evidence.statement[k].quantity << " accepts " << value << " for "
          << evidence.statement[k].predicted;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Claims, EveryClaim, testing::ValuesIn(all_claims()),
                         [](const testing::TestParamInfo<Claim>& row) {
                           return std::regex_replace(row.param.id, std::regex("[.-]"), "_");
                         });

}  // namespace
}  // namespace dewpoint::claims
