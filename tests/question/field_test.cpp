// A question that is described once, by everything that is made from its description.
//
// SPDX-License-Identifier: Apache-2.0
#include "dewpoint/question/field.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "dewpoint/core/error.hpp"

namespace dewpoint::question {
namespace {

enum class Colour { red, green };
const std::vector<std::pair<std::string, Colour>>& words_of(Colour) {
  static const std::vector<std::pair<std::string, Colour>> words = {{"red", Colour::red},
                                                                    {"green", Colour::green}};
  return words;
}

struct Part {
  std::size_t count = 3;
};

template <class Visitor>
void describe(Visitor& visit, Part& part) {
  visit("count", part.count, in(1.0, 8.0), "how many", formerly("number_of"));
}

struct Sample {
  double weight = 0.5;
  std::optional<double> length;
  std::optional<double> area;
  Colour colour = Colour::green;
  std::string label = "none";
  std::optional<bool> rough;
  Numbers law{{0.75, 0.25}};
  std::optional<double> shade = 0.1;
  Part part;
};

template <class Visitor>
void describe(Visitor& visit, Sample& q) {
  visit("weight", q.weight, above(0.0, 1.0), "of a thing", grid("0.1,0.2"), live(0.1, 0.9));
  visit("length", q.length, at_least(0.0), "of a side", otherwise("1"));
  visit("area", q.area, above(0.0), "of all sides", instead_of("length"));
  visit("colour", q.colour, "of the thing");
  visit("label", q.label, "on the thing", fixed);
  visit("rough", q.rough, "the surface", only_with("area"));
  visit("law", q.law, "of everything");
  visit("shade", q.shade, in(0.0, 1.0), "of the colour");
  describe(visit, q.part);
}

const Field& field(const char* name) {
  const Field* found = find_field(fields_of<Sample>(), name);
  EXPECT_NE(found, nullptr) << name;
  return *found;
}

std::string refusal(const Point& given) {
  try {
    expect_consistent(fields_of<Sample>(), given);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::bad_value);
    return error.what();
  }
  return "";
}

TEST(Field, SaysWhatTheDescriptionSays) {
  EXPECT_EQ(names_of(fields_of<Sample>()),
            (std::vector<std::string>{"weight", "length", "area", "colour", "label", "rough", "law",
                                      "shade", "count"}));
  EXPECT_EQ(field("weight").standard, Value(0.5));
  EXPECT_EQ(field("weight").grid, "0.1,0.2");
  EXPECT_TRUE(field("weight").listed);
  EXPECT_EQ(field("weight").live->most, 0.9);
  EXPECT_EQ(field("length").standard, std::nullopt);
  EXPECT_EQ(field("length").otherwise, "1");
  EXPECT_EQ(field("colour").words, (std::vector<std::string>{"red", "green"}));
  EXPECT_EQ(field("colour").standard, Value("green"));
  EXPECT_EQ(field("count").kind, Kind::whole);
  EXPECT_EQ(&field("number_of"), &field("count"));
  EXPECT_EQ(field("law").standard, Value("0.75,0.25"));
  EXPECT_TRUE(field("weight").axis);
  for (const char* name : {"label", "rough", "law"}) EXPECT_FALSE(field(name).axis) << name;
}

TEST(Field, SaysWhatIsAllowed) {
  EXPECT_EQ(allowed_text(field("weight")), "a number in (0, 1]");
  EXPECT_EQ(allowed_text(field("length")), "a number of at least 0");
  EXPECT_EQ(allowed_text(field("area")), "a number above 0");
  EXPECT_EQ(allowed_text(field("count")), "a whole number in [1, 8]");
  EXPECT_EQ(allowed_text(field("colour")), "red, green");
  EXPECT_EQ(allowed_text(field("rough")), "true or false");
  EXPECT_EQ(range_text(between(0.0, 1e6)), "in (0, 1e6)");
}

TEST(Field, RefusesWhatIsOutsideAtBothEnds) {
  EXPECT_EQ(refusal({{"weight", 0.0}}), "weight: 0 is not a number in (0, 1]");
  EXPECT_EQ(refusal({{"weight", 1.5}}), "weight: 1.5 is not a number in (0, 1]");
  EXPECT_EQ(refusal({{"count", 0.0}}), "count: 0 is not a whole number in [1, 8]");
  EXPECT_EQ(refusal({{"count", 9.0}}), "count: 9 is not a whole number in [1, 8]");
  EXPECT_EQ(refusal({{"count", 2.5}}), "count: 2.5 is not a whole number in [1, 8]");
  EXPECT_EQ(refusal({{"length", -1e-9}}), "length: -1e-9 is not a number of at least 0");
  EXPECT_NE(refusal({{"weight", std::numeric_limits<double>::quiet_NaN()}}), "");
  EXPECT_EQ(refusal({{"weight", 1.0}, {"count", 8.0}, {"length", 0.0}}), "");
}

TEST(Field, RefusesWhatDoesNotFitTogether) {
  EXPECT_EQ(refusal({{"colour", "gren"}}),
            "colour: 'gren' is not known; did you mean 'green'? Allowed: red, green");
  EXPECT_EQ(refusal({{"wieght", 1.0}}).find("wieght: no such parameter; did you mean 'weight'?"),
            0U);
  EXPECT_EQ(refusal({{"weight", "heavy"}}), "weight: 'heavy' is not a number in (0, 1]");
  EXPECT_EQ(refusal({{"area", 2.0}, {"length", 1.0}}),
            "area: 2 is given beside length; allowed: one of them");
  EXPECT_EQ(refusal({{"rough", true}}), "rough: true is given without area");
  EXPECT_EQ(refusal({{"rough", false}}), "");
  EXPECT_EQ(refusal({{"rough", true}, {"area", 1.0}}), "");
}

TEST(Field, KnowsItsAlternatives) {
  const auto named = [](const char* name, const char* other) {
    Field field{name, Kind::number, {}, ""};
    field.instead_of = other;
    return field;
  };
  const Field length = named("length", ""), area = named("area", "length"),
              volume = named("volume", "length"), weight = named("weight", "");
  EXPECT_TRUE(are_alternatives(length, area));
  EXPECT_TRUE(are_alternatives(area, length));
  EXPECT_TRUE(are_alternatives(area, volume));
  EXPECT_FALSE(are_alternatives(area, area));
  EXPECT_FALSE(are_alternatives(length, weight));
  EXPECT_FALSE(are_alternatives(area, weight));
}

TEST(Field, ReadsTextsAsPeopleWriteThem) {
  EXPECT_EQ(parse_value(field("count"), "4e0"), Value(4.0));
  EXPECT_EQ(parse_value(field("weight"), "1e-3"), Value(0.001));
  EXPECT_EQ(parse_value(field("colour"), "red"), Value("red"));
  EXPECT_EQ(parse_value(field("law"), "0.50,0.5"), Value("0.5,0.5"));
  for (const char* text : {"", "abc", "1x", "inf", "nan", "1e400", "0.1 "}) {
    EXPECT_THROW((void)parse_value(field("weight"), text), Error) << text;
  }
  EXPECT_THROW((void)parse_value(field("law"), "0.5,,0.5"), Error);
}

// What verbs of the command line have beside a study's parameters.
struct Order {
  std::string place;
  std::vector<std::string> things = {"pen"};
  std::vector<std::string> notes;
  Grid weights{"1,2"};
  Counts sizes;
  int copies = 1;
  std::uint64_t seed = 1;
  double depth = 1.0;
};

template <class Visitor>
void describe(Visitor& visit, Order& q) {
  visit("place", q.place, positional, required, file("folder"), suggest({"here"}), "where to");
  visit("things", q.things, letter('t'), commas, one_of({"pen", "ink"}), "what");
  visit("notes", q.notes, "about it");
  visit("weights", q.weights, above(0.0, 8.0), "of them");
  visit("sizes", q.sizes, in(1.0, 9.0), "of them", group("Sizes"), suggest({"all"}));
  visit("copies", q.copies, in(0.0, 5.0), "of each");
  visit("seed", q.seed, as_seed, "of all random streams");
  visit("depth", q.depth, below(0.0, 2.0), "of the box", not_with("sizes"));
}

const Field& of_order(const char* name) { return *find_field(fields_of<Order>(), name); }

std::string order_refusal(const Point& given) {
  try {
    expect_consistent(fields_of<Order>(), given);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Field, SaysHowItIsGivenOnTheCommandLine) {
  const Field& place = of_order("place");
  EXPECT_TRUE(place.positional && place.required);
  EXPECT_EQ(place.standard, std::nullopt);
  EXPECT_EQ(place.file, "folder");
  EXPECT_EQ(place.suggestions, (std::vector<std::string>{"here"}));
  EXPECT_EQ(of_order("things").letter, 't');
  EXPECT_TRUE(of_order("things").commas);
  EXPECT_EQ(of_order("things").standard, Value(std::vector<std::string>{"pen"}));
  EXPECT_EQ(of_order("notes").standard, std::nullopt);
  EXPECT_EQ(of_order("sizes").group, "Sizes");
  EXPECT_EQ(of_order("copies").kind, Kind::whole);
  EXPECT_EQ(of_order("seed").kind, Kind::seed);
  EXPECT_EQ(range_text(of_order("depth").range), "in [0, 2)");
  for (const char* name : {"things", "weights", "seed"}) EXPECT_FALSE(of_order(name).axis) << name;
}

TEST(Field, ReadsListsAndSeeds) {
  EXPECT_EQ(parse_value(of_order("things"), "ink,pen"),
            Value(std::vector<std::string>{"ink", "pen"}));
  EXPECT_EQ(parse_value(of_order("notes"), "a,b"), Value(std::vector<std::string>{"a,b"}));
  EXPECT_THROW((void)parse_value(of_order("things"), "pen,inc"), Error);
  EXPECT_EQ(parse_value(of_order("weights"), "2:8:3"), Value("2:8:3"));
  for (const char* text : {"0,1", "1,9", "2,1", "1,,2", "abc"}) {
    EXPECT_THROW((void)parse_value(of_order("weights"), text), Error) << text;
  }
  EXPECT_EQ(parse_value(of_order("sizes"), "all"), Value("all"));
  for (const char* text : {"1.5", "al", "all,1", "10"}) {
    EXPECT_THROW((void)parse_value(of_order("sizes"), text), Error) << text;
  }
  EXPECT_EQ(parse_value(of_order("seed"), "18446744073709551615"), Value("18446744073709551615"));
  EXPECT_EQ(parse_value(of_order("seed"), "1e3"), Value("1000"));
  for (const char* text : {"-1", "1.5", "18446744073709551616", "1e20", "abc", ""}) {
    EXPECT_THROW((void)parse_value(of_order("seed"), text), Error) << text;
  }
}

TEST(Field, RefusesWhatAnotherTakesItsMeaningFrom) {
  EXPECT_EQ(order_refusal({{"depth", 1.0}, {"sizes", "1,2"}}),
            "depth: 1 is given beside sizes, where it means nothing");
  EXPECT_EQ(order_refusal({{"depth", 1.0}}), "");
  EXPECT_EQ(order_refusal({{"depth", 2.0}}), "depth: 2 is not a number in [0, 2)");
  EXPECT_EQ(order_refusal({{"weights", "1,9"}}), "weights: 9 is not a number in (0, 8]");
}

TEST(Question, KeepsEveryDigitOfASeed) {
  const auto order = question_of<Order>({{"seed", "18446744073709551615"},
                                         {"weights", "1:3:3"},
                                         {"sizes", "2,4"},
                                         {"copies", 3.0},
                                         {"things", std::vector<std::string>{"ink"}}});
  EXPECT_EQ(order.seed, 18446744073709551615U);
  EXPECT_EQ(order.weights.values(), (std::vector<double>{1.0, 2.0, 3.0}));
  EXPECT_EQ(order.sizes.values(), (std::vector<std::size_t>{2, 4}));
  EXPECT_EQ(order.copies, 3);
  EXPECT_EQ(order.things, (std::vector<std::string>{"ink"}));
  EXPECT_TRUE(order.notes.empty());
}

TEST(Question, BecomesAPointAndComesBack) {
  Sample sample;
  sample.weight = 0.25;
  sample.area = 4.0;
  sample.colour = Colour::red;
  sample.rough = true;
  sample.shade.reset();
  sample.part.count = 7;
  const Point point = point_of(sample);
  EXPECT_EQ(canonical_text(point),
            R"({"area":4,"colour":"red","count":7,"label":"none","law":"0.75,0.25",)"
            R"("rough":true,"weight":0.25})");
  const auto back = restored<Sample>(point);
  EXPECT_EQ(point_of(back), point);
  EXPECT_FALSE(back.shade);
}

// What a point does not name keeps its default when it is asked, and is absent when it is restored.
TEST(Question, HasItsDefaultsWhereNothingIsGiven) {
  const auto asked = question_of<Sample>({{"count", 5.0}});
  EXPECT_EQ(asked.part.count, 5U);
  EXPECT_EQ(asked.shade, 0.1);
  EXPECT_EQ(asked.colour, Colour::green);
  EXPECT_EQ(asked.law, (Numbers{{0.75, 0.25}}));
}

}  // namespace
}  // namespace dewpoint::question
