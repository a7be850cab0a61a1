#include "dewpoint/server/question.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <set>

#include "dewpoint/experiments/layer_question.hpp"
#include "dewpoint/server/refusal.hpp"

namespace dewpoint::server {
namespace {

struct Asking {
  std::optional<std::string> input;
  std::size_t n = 512;
  double rho = 0.5;
  double alpha = 0.0;
  experiments::Eta eta = experiments::Eta::none;
  std::vector<std::string> schedules;
  std::string law = "gaussian";
  bool rescale = false;
  question::Numbers pi = {{0.7, 0.3}};
  std::optional<std::size_t> top;
  std::optional<double> bound;
  std::optional<std::size_t> probes;
};

template <class Visitor>
void describe(Visitor& visit, Asking& q) {
  using namespace question;  // NOLINT(google-build-using-namespace): the words of a description
  visit("input", q.input, "file", positional, file("heads"));
  visit("n", q.n, in(8.0, 1e6), "tokens", live(16.0, 2048.0));
  visit("rho", q.rho, below(0.0, 1.0), "correlations", grid("0:0.95:20"), live(0.999));
  visit("alpha", q.alpha, in(0.0, 100.0), "residual", otherwise("none"));
  visit("eta", q.eta, "norm");
  visit("schedule", q.schedules, "schedules");
  visit("law", q.law, "laws", grid("gaussian simplex"));
  visit("rescale", q.rescale, "rescale");
  visit("pi", q.pi, in(0.0, 1.0), "law");
  visit("top", q.top, in(1.0, 100.0), "top");
  visit("bound", q.bound, above(0.0), "bound", instead_of("top"));
  visit("probes", q.probes, in(1.0, 1e12), "probes", only_with("bound"));
}

struct Picture {
  std::size_t shown = 64;
};

template <class Visitor>
void describe(Visitor& visit, Picture& q) {
  visit("shown", q.shown, question::in(0.0, 256.0), "shown");
}

RoomFields fields() {
  return {question::fields_of<Asking>(),
          question::fields_of<Picture>(),
          {{"rho", 40}, {"schedule", 3}, {"pi", 4}}};
}

Question asked(const Json& question) { return {"phase map", fields(), question, "studies/"}; }

struct Refused {
  std::string message, field, command;
};

Refused refused(const Json& question) {
  try {
    (void)asked(question);
  } catch (const Refusal& refusal) {
    EXPECT_EQ(refusal.status(), 400);
    return {refusal.what(), refusal.field(), refusal.command()};
  }
  ADD_FAILURE() << question;
  return {};
}

Json field_named(const char* name) {
  for (const Json& field : fields().to_json()) {
    if (field["name"] == name) return field;
  }
  return {};
}

TEST(Question, FillsInEveryDefault) {
  const Question question = asked(Json::object());
  const auto all = question.asked().first<Asking>();
  EXPECT_EQ(all.n, 512u);
  EXPECT_EQ(question.asked().numbers("rho").size(), 20u);
  EXPECT_EQ(question.asked().words("law"), (std::vector<std::string>{"gaussian", "simplex"}));
  EXPECT_FALSE(all.top);
  EXPECT_EQ(question.seed(), 1u);
  EXPECT_EQ(question.here<Picture>().shown, 64u);
  EXPECT_EQ(question.command(), "dewpoint phase map --eta none");
}

// Properties (1) and (2).
TEST(Question, IsTheSameHoweverItIsWritten) {
  const Question one = asked({{"alpha", 1}, {"n", 64.0}, {"rho", {0.25, 0.5}}, {"pi", "0.7,0.3"}});
  const Question other = asked({{"rho", "2.5e-1,0.50"}, {"n", 64}, {"alpha", 1.0}});
  EXPECT_EQ(one.key(), other.key());
  EXPECT_EQ(one.key(), asked({{"rho", "0.25:0.5:2"}, {"n", 64}, {"alpha", 1}}).key());
  EXPECT_EQ(asked(one.values()).values().dump(), one.values().dump());
  EXPECT_EQ(one.command(), "dewpoint phase map --n 64 --rho 0.25,0.5 --alpha 1 --eta none");
}

TEST(Question, EveryFieldIsPartOfItsKey) {
  const Json others = {{"input", "a.npz"},       {"n", 513},
                       {"rho", "0:0.95:21"},     {"alpha", 1},
                       {"eta", "auto"},          {"schedule", {"log-n"}},
                       {"law", {"simplex"}},     {"rescale", true},
                       {"pi", "0.3,0.7"},        {"top", 3},
                       {"bound", 1e-300},        {"shown", 65},
                       {"seed", (1LL << 53) - 1}};
  std::set<std::string> keys = {asked(Json::object()).key()};
  for (const auto& [name, value] : others.items()) {
    EXPECT_TRUE(keys.insert(asked({{name, value}}).key()).second) << name;
  }
}

TEST(Question, ACommandCanBePasted) {
  const Question question = asked({{"input", "my file.npz"},
                                   {"schedule", {"log-n", "it's"}},
                                   {"law", {"sphere:d=5", "simplex"}},
                                   {"rescale", true},
                                   {"eta", "auto"},
                                   {"shown", 3},
                                   {"pi", {0.3, 0.7}},
                                   {"top", 7},
                                   {"seed", 9}});
  EXPECT_EQ(question.command(),
            "dewpoint phase map 'studies/my file.npz' --schedule log-n --schedule 'it'\\''s' --law "
            "sphere:d=5 --law simplex --rescale --pi 0.3,0.7 --top 7 --seed 9");
  EXPECT_EQ(question.command({"input", "schedule", "law"}),
            "dewpoint phase map --rescale --pi 0.3,0.7 --top 7 --seed 9");
  EXPECT_EQ(question.asked().first<Asking>().pi.values, (std::vector<double>{0.3, 0.7}));
  EXPECT_EQ(question.seed(), 9u);
}

TEST(Question, NamesFieldValueAndRange) {
  EXPECT_EQ(refused({{"alpha", -1}}).message, "alpha: -1 is not a number in [0, 100]");
  EXPECT_EQ(refused({{"n", 4}}).message, "n: 4 is not a whole number in [16, 2048]");
  EXPECT_EQ(refused({{"n", 16.5}}).message, "n: 16.5 is not a whole number in [16, 2048]");
  EXPECT_EQ(refused({{"n", "12"}}).message, "n: \"12\" is not a whole number in [16, 2048]");
  EXPECT_EQ(refused({{"alpha", "1e400"}}).message, "alpha: \"1e400\" is not a number in [0, 100]");
  EXPECT_EQ(refused({{"n", 4}}).field, "n");
  EXPECT_EQ(refused({{"eta", "aut"}}).message,
            "eta: 'aut' is not known; did you mean 'auto'? Allowed: none, auto, exact, mixed, "
            "hutchinson");
  EXPECT_EQ(refused({{"rho", 1}}).field, "rho");
  EXPECT_EQ(refused({{"rho", "0.5,0.2"}}).field, "rho");
  EXPECT_EQ(refused({{"rho", Json::array()}}).field, "rho");
  EXPECT_EQ(refused({{"rho", {{"a", 1}}}}).field, "rho");
  EXPECT_EQ(refused({{"pi", "0.5,,0.5"}}).field, "pi");
  EXPECT_EQ(refused({{"pi", "0.5,1.5"}}).field, "pi");
  EXPECT_EQ(refused({{"pi", ""}}).field, "pi");
  EXPECT_EQ(refused({{"law", {1, 2}}}).field, "law");
  EXPECT_EQ(refused({{"law", {"a", "a"}}}).message, "law: 'a' is there twice");
  EXPECT_EQ(refused({{"law", Json::array()}}).field, "law");
  EXPECT_EQ(refused({{"rescale", 1}}).message, "rescale: 1 is not true or false");
  EXPECT_EQ(refused({{"seed", -1}}).field, "seed");
  EXPECT_EQ(refused({{"gama", 1}}).field, "gama");
}

TEST(Question, FieldsFitTogether) {
  EXPECT_EQ(refused({{"bound", 0.5}, {"top", 3}}).field, "bound");
  EXPECT_EQ(refused({{"probes", 3}}).message, "probes: 3 is given without bound");
  EXPECT_NO_THROW(asked({{"probes", 3}, {"bound", 0.5}, {"top", nullptr}}));
}

TEST(Question, WhatIsTooLargeComesWithTheCommand) {
  const Refused many = refused({{"n", 100000}, {"alpha", 2}});
  EXPECT_EQ(many.message,
            "n: 100000 is more than the 2048 that are answered live; use the command line");
  EXPECT_EQ(many.command, "dewpoint phase map --n 100000 --alpha 2 --eta none");
  const Refused few = refused({{"n", 9}});
  EXPECT_EQ(few.message, "n: 9 is less than the 16 that are answered live; use the command line");
  EXPECT_EQ(few.command, "dewpoint phase map --n 9 --eta none");
  EXPECT_EQ(refused({{"rho", "0:0.9:41"}}).command, "dewpoint phase map --rho 0:0.9:41 --eta none");
  EXPECT_EQ(refused({{"rho", {0.5, 0.9999}}}).command,
            "dewpoint phase map --rho 0.5,0.9999 --eta none");
  EXPECT_EQ(refused({{"schedule", {"a", "b", "c", "d"}}}).command,
            "dewpoint phase map --eta none --schedule a --schedule b --schedule c --schedule d");
  // What is wrong comes first.
  EXPECT_EQ(refused({{"n", 100000}, {"alpha", -1}}).field, "alpha");
  EXPECT_EQ(refused({{"n", 100000}, {"top", 3}, {"bound", 1}}).field, "bound");
}

TEST(Question, FieldsAreAsThePageKnowsThem) {
  EXPECT_EQ(field_named("n"), Json::parse(R"({"name": "n", "kind": "whole", "default": 512,
      "meaning": "Tokens", "option": "--n", "least": 16.0, "most": 2048.0})"));
  EXPECT_EQ(field_named("rho"), Json::parse(R"({"name": "rho", "kind": "list",
      "default": "0:0.95:20", "meaning": "Correlations", "option": "--rho", "least": 0.0,
      "most": 0.999, "count": 40, "increasing": true})"));
  EXPECT_EQ(field_named("pi")["increasing"], false);
  EXPECT_EQ(field_named("pi")["default"], "0.7,0.3");
  EXPECT_EQ(field_named("alpha")["meaning"], "Residual [none]");
  EXPECT_EQ(field_named("input")["kind"], "file");
  EXPECT_EQ(field_named("input")["option"], "");
  EXPECT_EQ(field_named("schedule")["default"], Json::array());
  EXPECT_EQ(field_named("schedule")["count"], 3);
  EXPECT_EQ(field_named("law")["kind"], "words");
  EXPECT_EQ(field_named("law")["default"], Json({"gaussian", "simplex"}));
  EXPECT_EQ(field_named("law")["count"], kMostLiveWords);
  EXPECT_EQ(field_named("eta")["words"], Json({"none", "auto", "exact", "mixed", "hutchinson"}));
  EXPECT_EQ(field_named("rescale")["default"], false);
  EXPECT_EQ(field_named("bound")["most"], 1e300);  // JSON has no infinity
  EXPECT_EQ(field_named("shown")["option"], Json());
  EXPECT_EQ(field_named("seed")["default"], 1);
}

}  // namespace
}  // namespace dewpoint::server
