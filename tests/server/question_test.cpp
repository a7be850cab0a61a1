#include "dewpoint/server/question.hpp"

#include <gtest/gtest.h>

#include "dewpoint/server/refusal.hpp"

namespace dewpoint::server {
namespace {

std::vector<Field> fields() {
  Field law = list_field("pi", "0.7,0.3", 0.0, 1.0, 4, "Law");
  law.increasing = false;
  Field input = word_field("input", nullptr, {}, "File");
  input.kind = FieldKind::file;
  input.option.clear();
  return {input,
          live(whole_field("n", 512, 8.0, 2048.0, "Tokens")),
          list_field("rho", "0:0.95:20", 0.0, 0.999, 40, "Correlations"),
          number_field("alpha", 0.0, 0.0, 100.0, "Residual"),
          with_verb_standard(word_field("eta", "none", {"none", "auto"}, "Norm"), "auto"),
          words_field("law", Json::array(), 3, "Laws"),
          flag_field("rescale", "Rescale"),
          law,
          whole_field("top", nullptr, 1.0, 100.0, "Top"),
          only_here(whole_field("shown", 64, 0.0, 256.0, "Shown")),
          seed_field()};
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

TEST(Question, FillsInEveryDefault) {
  const Question question = asked(Json::object());
  EXPECT_EQ(question.whole("n"), 512u);
  EXPECT_EQ(question.list("rho").size(), 20u);
  EXPECT_FALSE(question.given("top"));
  EXPECT_EQ(question.command(), "dewpoint phase map --eta none");
}

// Properties (1) and (2).
TEST(Question, IsTheSameHoweverItIsWritten) {
  const Question one = asked({{"alpha", 1}, {"n", 64.0}, {"rho", {0.25, 0.5}}});
  const Question other = asked({{"rho", "0.25,0.5"}, {"n", 64}, {"alpha", 1.0}});
  EXPECT_EQ(one.values().dump(), other.values().dump());
  EXPECT_EQ(asked(one.values()).values().dump(), one.values().dump());
  EXPECT_EQ(one.command(), "dewpoint phase map --n 64 --rho 0.25,0.5 --alpha 1 --eta none");
}

TEST(Question, ACommandCanBePasted) {
  const Question question = asked({{"input", "my file.npz"},
                                   {"law", {"sphere:d=5", "it's"}},
                                   {"rescale", true},
                                   {"eta", "auto"},
                                   {"shown", 3},
                                   {"pi", {0.3, 0.7}},
                                   {"top", 7}});
  EXPECT_EQ(question.command(),
            "dewpoint phase map 'studies/my file.npz' --law sphere:d=5 --law 'it'\\''s' --rescale "
            "--pi 0.3,0.7 --top 7");
  EXPECT_EQ(question.list("pi"), (std::vector<double>{0.3, 0.7}));
}

TEST(Question, NamesFieldValueAndRange) {
  EXPECT_EQ(refused({{"alpha", -1}}).message, "alpha: -1 is not in [0, 100]");
  EXPECT_EQ(refused({{"n", 9.5}}).message, "n: 9.5 is not a whole number in [8, 2048]");
  EXPECT_EQ(refused({{"n", "12"}}).message, "n: \"12\" is not a whole number in [8, 2048]");
  EXPECT_EQ(refused({{"alpha", "1e400"}}).message, "alpha: \"1e400\" is not a number in [0, 100]");
  EXPECT_EQ(refused({{"n", 4}}).field, "n");
  EXPECT_EQ(refused({{"eta", "aut"}}).message,
            "eta: 'aut' is not known; did you mean 'auto'? Allowed: none, auto");
  EXPECT_EQ(refused({{"rho", "0.5,0.2"}}).field, "rho");
  EXPECT_EQ(refused({{"rho", Json::array()}}).field, "rho");
  EXPECT_EQ(refused({{"rho", {{"a", 1}}}}).field, "rho");
  EXPECT_EQ(refused({{"pi", "0.5,,0.5"}}).field, "pi");
  EXPECT_EQ(refused({{"pi", ""}}).field, "pi");
  EXPECT_EQ(refused({{"law", {1, 2}}}).field, "law");
  EXPECT_EQ(refused({{"law", {"a", "b", "c", "d"}}}).field, "law");
  EXPECT_EQ(refused({{"rescale", 1}}).field, "rescale");
  EXPECT_EQ(refused({{"seed", -1}}).field, "seed");
  EXPECT_EQ(refused({{"gama", 1}}).field, "gama");
}

TEST(Question, WhatIsTooLargeComesWithTheCommand) {
  const Refused many = refused({{"n", 100000}, {"alpha", 2}});
  EXPECT_EQ(many.message,
            "n: 100000 is more than the 2048 that are answered live; use the command line");
  EXPECT_EQ(many.command, "dewpoint phase map --n 100000 --alpha 2 --eta none");
  EXPECT_EQ(refused({{"rho", "0:0.9:41"}}).command, "dewpoint phase map --rho 0:0.9:41 --eta none");
  EXPECT_EQ(refused({{"n", 100000}, {"alpha", -1}}).field, "alpha");  // what is wrong comes first
}

}  // namespace
}  // namespace dewpoint::server
