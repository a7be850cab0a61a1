// What every experiment of the catalogue promises, held for all of them on small points.
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <limits>
#include <map>
#include <set>

#include "dewpoint/studies/experiment.hpp"
#include "studies/experiment_values.hpp"

namespace dewpoint::studies {
namespace {

using namespace dewpoint::test;  // NOLINT(google-build-using-namespace)

/// A text of some twenty words, each as often as its place in the alphabet is early. Tests of this
/// file may run side by side, so each process has its own.
class SmallText {
 public:
  SmallText() : path_(testing::TempDir() + fmt::format("dewpoint-small-text-{}.txt", ::getpid())) {
    std::ofstream out(path_);
    for (int k = 0; k < 4000; ++k) {
      const int rank = 20 * (k * 7919 % 4001) / 4001 * (k * 104729 % 4003) / 4003;
      out << "word" << static_cast<char>('a' + rank) << (k % 16 == 15 ? '\n' : ' ');
    }
  }
  SmallText(const SmallText&) = delete;
  SmallText& operator=(const SmallText&) = delete;
  ~SmallText() { std::remove(path_.c_str()); }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

const std::string& small_text() {
  static const SmallText text;
  return text.path();
}

/// Small points of every experiment, as a study file would give them.
const std::map<std::string, std::vector<Point>>& samples() {
  static const std::map<std::string, std::vector<Point>> all = {
      {"phase",
       {{{"n", 24.0}, {"d", 32.0}, {"rho", 0.4}, {"gamma", 1.5}},
        {{"n", 24.0}, {"rho", 0.4}, {"c", 1.2}, {"eta", "exact"}, {"tokens", "simplex"}},
        {{"n", 24.0}, {"d", 16.0}, {"beta", 3.0}, {"mask", "causal"}, {"alpha", 1.0}}}},
      {"depth",
       {{{"n", 16.0}, {"d", 24.0}, {"rho", 0.3}, {"gamma", 1.5}, {"layers", 3.0}},
        {{"n", 12.0}, {"d", 16.0}, {"c", 0.8}, {"layers", 2.0}, {"singular-values", 2.0}}}},
      {"lengths",
       {{{"n", 48.0}, {"d", 16.0}, {"n0", 24.0}, {"law", "yarn"}, {"eta", "exact"}},
        {{"n", 24.0}, {"n0", 12.0}, {"law", "ssmax"}, {"tokens", "simplex"}},
        {{"n", 40.0}, {"d", 8.0}, {"n0", 20.0}, {"law", "power"}, {"tokens", "sphere"}}}},
      {"variants",
       {{{"n", 40.0}, {"d", 16.0}, {"mask", "window:W"}, {"size", 12.0}, {"rows", 8.0}},
        {{"n", 24.0}, {"tokens", "simplex"}, {"attention", "off-by-one"}, {"mask", "causal"}},
        {{"n", 32.0}, {"d", 8.0}, {"tokens", "sphere"}, {"projections", "orthogonal:2"}},
        {{"n", 32.0}, {"d", 8.0}, {"attention", "features:8"}, {"rows", 4.0}}}},
      {"condense",
       {{{"n", 1e3}, {"t", 1.2}, {"draws", 20.0}},
        {{"n", 1e50}, {"beta", 7.0}, {"signal", 0.9}, {"draws", 20.0}},
        {{"n", 3.0}, {"planted", 2.0}, {"keys-dimension", 4.0}, {"draws", 20.0}}}},
      {"query",
       {{{"d", 3.0}, {"n", 1e5}, {"theta", 0.5}, {"draws", 10.0}},
        {{"d", 40.0}, {"n", 1e9}, {"edge", 1.5}, {"draws", 10.0}, {"ranks", 3.0}},
        {{"n", 4.0}, {"beta", 2.0}, {"draws", 10.0}}}},
      {"output",
       {{{"n", 300.0}, {"beta", 6.0}, {"draws", 4.0}},
        {{"keys", "vmf:d=3,kappa=2,angle=0.3"}, {"n", 300.0}, {"edge", 0.5}, {"draws", 4.0}}}},
      {"heat", {{{"n", 300.0}, {"draws", 4.0}}, {{"n", 300.0}, {"d", 3.0}, {"beta", 9.0}}}},
      {"harmonics",
       {{{"particles", 100.0}, {"beta", 20.0}, {"steps", 2.0}},
        {{"particles", 600.0}, {"beta", 10.0}, {"sphere", true}, {"residual", 0.5}}}},
      {"dew",
       {{{"n", 1e4}, {"draws", 10.0}, {"top", 16.0}},
        {{"law", "simplex"}, {"n", 50.0}, {"draws", 3.0}}}},
      {"train",
       {{{"m", 8.0}, {"steps", 20.0}, {"sequences", 200.0}, {"s", 5.0}},
        {{"optimiser", "flow"}, {"time", 3.0}, {"m", 4.0}, {"chain", "cycle"}},
        {{"pi", "0.2,0.8"},
         {"data", "exact"},
         {"optimiser", "descent"},
         {"steps", 10.0},
         {"m", 4.0}}}},
      {"train-text",
       {{{"corpus", small_text()},
         {"vocabulary", 20.0},
         {"m", 8.0},
         {"s", 4.0},
         {"batch", 8.0},
         {"steps", 20.0},
         {"record-every", 5.0}},
        {{"corpus", small_text()},
         {"vocabulary", 20.0},
         {"m", 8.0},
         {"layers", 2.0},
         {"heads", 2.0},
         {"residual", true},
         {"value", "matrix"},
         {"norm", "pre"},
         {"causal", true},
         {"loss", "all"},
         {"s", 4.0},
         {"batch", 8.0},
         {"steps", 10.0}}}},
      {"train-scaling",
       {{{"corpus", small_text()},
         {"vocabulary", 20.0},
         {"m", 8.0},
         {"s", 8.0},
         {"tokens", 64.0},
         {"scaling", "ssmax"},
         {"steps", 20.0},
         {"record-every", 10.0}},
        {{"corpus", small_text()},
         {"vocabulary", 20.0},
         {"m", 8.0},
         {"heads", 2.0},
         {"s", 16.0},
         {"tokens", 64.0},
         {"scaling", "power:d=4"},
         {"evaluations", "constant"},
         {"rate", 1e3},  // diverges
         {"steps", 20.0},
         {"record-every", 20.0}}}},
      {"train-layers",
       {{{"m", 8.0}, {"heads", 2.0}, {"steps", 12.0}, {"sequences", 200.0}, {"batch", 16.0}},
        {{"m", 4.0},
         {"layers", 3.0},
         {"branch", 0.0},
         {"value", "matrix"},
         {"norm", "pre"},
         {"steps", 5.0},
         {"sequences", 100.0},
         {"batch", 8.0}},
        {{"pi", "0.2,0.8"},
         {"m", 4.0},
         {"causal", true},
         {"s", 5.0},
         {"steps", 5.0},
         {"sequences", 100.0},
         {"batch", 8.0}}}},
      {"limit", {{{"draws", 20.0}, {"top", 64.0}}, {{"d", 6.0}, {"theta", 4.0}, {"ranks", 2.0}}}}};
  return all;
}

/// Just beyond each end of the range, no number at all, and a word that is none of its words.
std::vector<Value> refused_by(const Field& field) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (field.kind == Kind::flag) return {std::string("yes"), 1.0};
  if (!field.is_numeric()) {
    std::vector<Value> values = {1.0};
    if (!field.words.empty()) values.emplace_back(std::string("nosuchword"));
    return values;
  }
  std::vector<Value> values = {kInfinity, -kInfinity, std::nan(""), std::string("three")};
  const auto& [least, most, above, below] = field.range;
  const bool whole = field.kind == Kind::whole;
  if (std::isfinite(least))
    values.emplace_back(above ? least : whole ? least - 1.0 : std::nextafter(least, -kInfinity));
  if (std::isfinite(most))
    values.emplace_back(below ? most : whole ? most + 1.0 : std::nextafter(most, kInfinity));
  if (whole) values.emplace_back(std::max(least, 0.0) + 0.5);
  return values;
}

class EveryExperiment : public testing::TestWithParam<const Experiment*> {
 protected:
  [[nodiscard]] static const Experiment& experiment() { return *GetParam(); }
  [[nodiscard]] static const std::vector<Point>& given() {
    return samples().at(experiment().name());
  }
  [[nodiscard]] static std::vector<Point> points() {
    std::vector<Point> resolved;
    for (const Point& point : given()) resolved.push_back(experiment().resolved(point));
    return resolved;
  }
  [[nodiscard]] static std::set<std::string> parameter_names() {
    std::set<std::string> names;
    for (const Field& parameter : experiment().parameters()) names.insert(parameter.name);
    return names;
  }
};

TEST_P(EveryExperiment, IsFoundByItsName) {
  EXPECT_EQ(&experiment_named(experiment().name()), &experiment());
  EXPECT_FALSE(experiment().summary().empty());
  EXPECT_GE(experiment().schema(), 1);
}

TEST_P(EveryExperiment, HasParametersWithDistinctNamesAndAWordOnEach) {
  EXPECT_EQ(parameter_names().size(), experiment().parameters().size());
  for (const Field& parameter : experiment().parameters()) {
    EXPECT_FALSE(parameter.meaning.empty()) << parameter.name;
    EXPECT_EQ(parameter.meaning.find('\n'), std::string::npos) << parameter.name;
  }
  for (const Unit& unit : experiment().units()) {
    EXPECT_TRUE(parameter_names().contains(unit.name)) << unit.name;
    EXPECT_TRUE(parameter_names().contains(unit.stands_for)) << unit.stands_for;
  }
  for (const std::string& name : experiment().ladder()) {
    EXPECT_TRUE(parameter_names().contains(name)) << name;
  }
}

// Property (1) of resolved().
TEST_P(EveryExperiment, ResolvesAPointOnce) {
  for (const Point& point : points()) {
    EXPECT_EQ(canonical_text(experiment().resolved(point)), canonical_text(point));
    for (const auto& [name, value] : point) EXPECT_TRUE(parameter_names().contains(name)) << name;
  }
}

TEST_P(EveryExperiment, RefusesByNameWhatAFieldDoesNotTake) {
  for (const Field& field : experiment().parameters()) {
    for (const Value& value : refused_by(field)) {
      Point point = given().front();
      point[field.name] = value;
      try {
        (void)experiment().resolved(point);
        ADD_FAILURE() << field.name << " takes " << value_text(value);
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), Code::bad_value);
        const std::string text = error.what();
        EXPECT_EQ(text.find(field.name + ": "), 0U) << text;
        EXPECT_LE(text.size(), 300U) << text;
      }
    }
  }
}

TEST_P(EveryExperiment, NamesItsNumbersOnce) {
  for (const Point& point : points()) {
    std::map<std::string, std::size_t> positions;
    for (const Observable& observable : experiment().observables(point)) {
      EXPECT_TRUE(positions.emplace(observable.name, positions_of(observable)).second)
          << observable.name;
    }
    EXPECT_TRUE(positions.contains(experiment().order_parameter()));
    std::set<std::string> predicted_names;
    for (const Observable& prediction : experiment().predictions(point)) {
      EXPECT_TRUE(predicted_names.insert(prediction.name).second) << prediction.name;
      if (prediction.name.rfind("critical_", 0) == 0) {
        const std::string axis = prediction.name.substr(9, prediction.name.find("_at_") - 9);
        EXPECT_TRUE(parameter_names().contains(axis)) << prediction.name;
        continue;
      }
      const std::size_t end = prediction.name.rfind("_theory");
      ASSERT_NE(end, std::string::npos) << prediction.name;
      const auto found = positions.find(prediction.name.substr(0, end));
      ASSERT_NE(found, positions.end()) << prediction.name;
      EXPECT_EQ(positions_of(prediction), found->second) << prediction.name;
    }
  }
}

TEST_P(EveryExperiment, GivesAsManyNumbersAsItNames) {
  for (const Point& point : points()) {
    const auto values = experiment().measure(std::span(&point, 1), seed(), 0, {});
    ASSERT_EQ(values.size(), 1U);
    EXPECT_EQ(values[0].size(), positions_of(experiment().observables(point)));
    EXPECT_EQ(experiment().predict(point).size(), positions_of(experiment().predictions(point)));
    EXPECT_TRUE(std::isfinite(experiment().work(point)) && experiment().work(point) > 0.0);
    EXPECT_GE(experiment().parts(point), 1U);
  }
}

TEST_P(EveryExperiment, IsAFunctionOfPointSeedAndReplica) {
  for (const Point& point : points()) {
    const auto values = [&](std::uint64_t from, std::uint64_t replica, int threads) {
      return experiment()
          .measure(std::span(&point, 1), from, replica,
                   {.threads = threads, .stop = {}, .progress = {}})
          .front();
    };
    const std::vector<double> first = values(seed(), 1, 1);
    EXPECT_TRUE(same_bytes(values(seed(), 1, 2), first)) << canonical_text(point);
    const bool alike = experiment().deterministic(point);
    EXPECT_EQ(same_bytes(values(seed(), 2, 1), first), alike) << canonical_text(point);
    EXPECT_EQ(same_bytes(values(seed() + 1, 1, 1), first), alike) << canonical_text(point);
  }
}

// Points beside a point on the ladder: half as much, and twice as much.
TEST_P(EveryExperiment, GivesOnALadderWhatItGivesAlone) {
  if (experiment().ladder().empty()) return;
  const std::string name = experiment().ladder().front();
  for (const Point& point : points()) {
    if (experiment().parts(point) > 1) continue;
    std::vector<Point> tile{point, point, point};
    tile[0][name] = 2.0 * number_of(point, name);
    tile[2][name] = 0.5 * number_of(point, name);
    for (const Point& one : tile) {
      ASSERT_EQ(canonical_text(experiment().resolved(one)), canonical_text(one));
    }
    expect_no_effect_of_tile(experiment(), tile);
  }
}

std::string name_of_case(const testing::TestParamInfo<const Experiment*>& info) {
  std::string name = info.param->name();
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Catalogue, EveryExperiment, testing::ValuesIn(experiments()),
                         name_of_case);

TEST(Catalogue, HasASampleHereForEachOfItsNamesAndNoOther) {
  std::set<std::string> names, sampled;
  for (const Experiment* experiment : experiments()) names.insert(experiment->name());
  for (const auto& [name, points] : samples()) sampled.insert(name);
  EXPECT_EQ(names, sampled);
  EXPECT_EQ(names.size(), experiments().size());
}

TEST(Catalogue, SuggestsTheNearestName) {
  try {
    (void)experiment_named("condens");
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("'condense'"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace dewpoint::studies
