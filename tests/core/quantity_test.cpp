#include "dewpoint/core/quantity.hpp"

#include <gtest/gtest.h>

#include <set>

namespace dewpoint {
namespace {

TEST(Quantity, TheTableIsReadWhole) {
  std::set<std::string> names;
  for (const Quantity& quantity : quantities()) {
    EXPECT_TRUE(names.insert(quantity.name).second) << quantity.name << " stands twice";
    EXPECT_NE(quantity.words, "") << quantity.name;
    EXPECT_NE(quantity.meaning, "") << quantity.name;
    EXPECT_TRUE(quantity.range.empty() || quantity.is_fraction()) << quantity.name;
    for (const std::string& cell : {quantity.name, quantity.words, quantity.meaning}) {
      EXPECT_EQ(cell.find_first_of("|`\n"), std::string::npos) << cell;
    }
  }
  EXPECT_GT(names.size(), 70U);
  EXPECT_EQ(quantities().front().name, "n");
  EXPECT_TRUE(names.contains("m"));  // the last row
}

TEST(Quantity, LabelsHaveSymbolDefinitionAndUnit) {
  EXPECT_EQ(label_of("contraction"), "contraction λ");
  EXPECT_EQ(label_of("rho"), "correlation ρ");
  EXPECT_EQ(label_of("gamma"), "scale γ = β / log n");
  EXPECT_EQ(title_of("gamma"), "scale γ");
  EXPECT_EQ(symbol_of("gamma"), "γ");
  EXPECT_EQ(label_of("entropy"), "entropy H (nats)");
  EXPECT_EQ(symbol_of("layer"), "layer");
  EXPECT_EQ(meaning_of("self_mass"), "weight of a token on itself");
  EXPECT_TRUE(find_quantity("contraction")->is_fraction());
  EXPECT_FALSE(find_quantity("jacobian_norm")->is_fraction());
}

TEST(Quantity, OtherNamesStandForThemselves) {
  EXPECT_EQ(find_quantity("my_own_number"), nullptr);
  EXPECT_EQ(label_of("my_own_number"), "my own number");
  EXPECT_EQ(symbol_of("my_own_number"), "my own number");
  EXPECT_EQ(meaning_of("my_own_number"), "");
}

}  // namespace
}  // namespace dewpoint
