// The questions that are made of the parts of layer_question.hpp.
#include "dewpoint/experiments/layer_question.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "dewpoint/core/error.hpp"
#include "dewpoint/experiments/depth_question.hpp"
#include "dewpoint/experiments/lengths_question.hpp"
#include "dewpoint/experiments/phase_question.hpp"
#include "dewpoint/experiments/variants_question.hpp"

namespace dewpoint::experiments {
namespace {

using question::canonical_text;
using question::Point;
using question::point_of;

template <class Action>
std::string complaint(const Action& action) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::bad_value);
    return error.what();
  }
  return "accepted";
}

std::string word(const char* text) { return text; }

// ---- resolving ----------------------------------------------------------------------------------

/// The point of the resolved question; that of the point read back and resolved again is the same.
template <class Question>
std::string settled(const Point& given) {
  const Point once = point_of(resolved(question::question_of<Question>(given)));
  const Point again = point_of(resolved(question::restored<Question>(once)));
  EXPECT_EQ(canonical_text(again), canonical_text(once));
  question::expect_consistent(question::fields_of<Question>(), once);
  return canonical_text(once);
}

// Property (1) of all of them, over laws of tokens, forms, temperatures and norms.
TEST(LayerQuestions, ResolvingAgainChangesNothing) {
  for (const std::string& law : tokens::law_names()) {
    const Point cloud = {{"tokens", law}, {"n", 32.0}};
    for (const Point& more :
         {Point{}, Point{{"beta", 3.7}, {"alpha", 0.5}}, Point{{"law", word("sqrt-log")}},
          Point{{"gamma", 0.0}, {"eta", word("exact")}, {"norm", word("gauss")}},
          Point{{"eta", word("mixed")}, {"eta-probes", 3.0}, {"rho", 0.25}, {"rho-inner", 0.5}},
          Point{{"eta", word("hutchinson")}, {"eta-error", 0.1}, {"common", word("fixed")}}}) {
      Point given = more;
      given.insert(cloud.begin(), cloud.end());
      settled<PhaseQuestion>(given);
      settled<DepthQuestion>(given);
    }
  }
  for (const Point& form : {Point{{"mask", word("window:7")}, {"attention", word("sink:1.5")}},
                            Point{{"projections", word("orthogonal:4")}, {"rope", 10.0}},
                            Point{{"attention", word("top:3")}, {"c", 0.7}}}) {
    settled<PhaseQuestion>(form);
    settled<DepthQuestion>(form);
  }
  settled<DepthQuestion>({{"singular-values", 2.0}, {"probes", 4.0}, {"norm", word("gauss")}});
  settled<DepthQuestion>({{"end-to-end", true}});
  settled<LengthsQuestion>({{"law", word("power")}, {"strength", 2.0}, {"eta", word("exact")}});
  settled<LengthsQuestion>({{"tokens", word("sphere")}, {"eta-most", 10.0}});
  settled<VariantsQuestion>({{"mask", word("window:W")}, {"size", 16.0}, {"rope", 100.0}});
  settled<VariantsQuestion>({{"attention", word("off-by-one")}, {"tokens", word("simplex")}});
}

TEST(LayerQuestions, AreTheirDefaultsWhereNothingIsSaid) {
  const std::string cloud = R"("d":64,"eta":"none","gamma":1,"mask":"none",)";
  EXPECT_EQ(settled<PhaseQuestion>({}), R"({"alpha":0,"common":"random",)" + cloud +
                                            R"("n":512,"rho":0.5,"rows":0,)"
                                            R"("tokens":"equicorrelated"})");
  EXPECT_EQ(settled<DepthQuestion>({}),
            R"({"alpha":0,"common":"random",)" + cloud.substr(0, cloud.find("\"mask")) +
                R"("layers":12,"mask":"none","n":256,"rescale":false,"rho":0.5,)"
                R"("singular-values":0,"tokens":"equicorrelated"})");
  EXPECT_EQ(settled<LengthsQuestion>({}),
            R"({"alpha":0,"common":"fixed","d":64,"eta":"none","law":"constant","n":4096,)"
            R"("n0":4096,"rho":0.5,"rows":1024,"tokens":"equicorrelated"})");
  EXPECT_EQ(settled<VariantsQuestion>({}),
            R"({"common":"fixed","d":64,"mask":"none","n":4096,"rho":0.5,"rows":256,)"
            R"("tokens":"equicorrelated"})");
}

// ---- temperatures -------------------------------------------------------------------------------

// A complete question keeps its unit, so that a verb computes with the very number it was given.
TEST(Temperatures, AreThoseThatWereAskedFor) {
  const auto beta = [](const Point& given) {
    Point point = given;
    point["n"] = 48.0;
    return inverse_temperature_of(completed(question::question_of<PhaseQuestion>(point)).layer);
  };
  const double log_n = std::log(48.0);
  EXPECT_EQ(beta({{"beta", 4.1}}), 4.1);
  EXPECT_EQ(beta({{"gamma", 1.3}}), 1.3 * log_n);
  EXPECT_EQ(beta({{"c", 0.9}, {"rho", 0.25}}), 0.9 / 0.75 * log_n);
  EXPECT_EQ(beta({{"law", word("sqrt-log")}, {"strength", 2.0}}), 2.0 * std::sqrt(2.0 * log_n));
  EXPECT_EQ(beta({}), log_n);
  EXPECT_EQ(complaint([&] {
              beta({{"law", word("constant")}, {"strength", 1e9}});
            }),
            "strength: 1e+09 gives beta = 1e+09, which is above 1e8");
}

// ---- the Jacobian norm --------------------------------------------------------------------------

TEST(Eta, NamesEveryMethod) {
  for (const auto& [name, eta] : words_of(Eta{})) {
    const auto options = norm_of({.eta = eta, .eta_error = 0.3, .eta_probes = 5});
    EXPECT_EQ(options.has_value(), eta != Eta::none);
    if (!options) continue;
    EXPECT_EQ(attention::name_of(options->method), name);
    EXPECT_EQ(options->target_error, 0.3);
    EXPECT_EQ(options->probes, 5U);
  }
}

// ---- what has no effect -------------------------------------------------------------------------

TEST(RefuseIdle, NamesWhatHasNoEffect) {
  const auto said = [](const Point& given) {
    std::vector<std::string> names;
    for (const auto& [name, value] : given) names.push_back(name);
    return complaint(
        [&] { refuse_idle(names, completed(question::question_of<PhaseQuestion>(given)).layer); });
  };
  EXPECT_EQ(said({{"tokens", word("sphere")}, {"rho", 0.5}}),
            "rho: is given, but tokens 'sphere' have none");
  EXPECT_EQ(said({{"cluster-size", 4.0}}),
            "cluster-size: is given, but tokens 'equicorrelated' have none");
  EXPECT_EQ(said({{"tokens", word("two-level")}, {"n", 32.0}, {"common", word("fixed")}}),
            "common: is given, but tokens 'two-level' have none");
  EXPECT_EQ(said({{"norm", word("gauss")}}),
            "norm: is given, but nothing looks at norms: alpha is 0 and eta none");
  EXPECT_EQ(said({{"eta-error", 0.1}}), "eta-error: is given, but eta none has none");
  EXPECT_EQ(said({{"eta", word("mixed")}, {"eta-error", 0.1}, {"eta-probes", 2.0}}),
            "eta-error: is given, but eta-probes says how many");
  for (const Point& used :
       {Point{{"rho", 0.5}, {"common", word("fixed")}, {"attention", word("softmax")}},
        Point{{"tokens", word("clustered")}, {"cluster-size", 8.0}, {"rho-inner", 0.9}},
        Point{{"norm", word("gauss")}, {"alpha", 0.1}}, Point{{"c", 1.0}, {"rope", 0.0}},
        Point{{"eta", word("mixed")}, {"eta-probes", 2.0}, {"norm", word("gauss")}}}) {
    EXPECT_EQ(said(used), "accepted") << canonical_text(used);
  }
}

// ---- maps ---------------------------------------------------------------------------------------

TEST(Maps, HaveListsOfFourFieldsAndNoOtherTemperature) {
  std::vector<std::string> lists;
  for (const question::Field& field : map_fields()) {
    if (field.listed) lists.push_back(field.name);
  }
  EXPECT_EQ(lists, (std::vector<std::string>{"n", "d", "rho", "gamma"}));
  EXPECT_EQ(question::find_field(map_fields(), "beta"), nullptr);
  EXPECT_EQ(question::find_field(map_fields(), "rows"), nullptr);
}

}  // namespace
}  // namespace dewpoint::experiments
