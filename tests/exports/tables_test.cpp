#include "dewpoint/exports/tables.hpp"

#include <gtest/gtest.h>

#include "exports/example_study.hpp"

namespace dewpoint::exports {
namespace {

Variable variable(std::string name, std::vector<Estimate> cells) {
  return {std::move(name), {"n"}, std::move(cells)};
}

TEST(RoleOf, IsReadFromSamplesAndNames) {
  const Estimate measured{1.0, 0.1, 4};
  const Estimate bare{1.0, 0.0, 0};
  EXPECT_EQ(role_of(variable("x", {{}, measured})), Role::measured);
  EXPECT_EQ(role_of(variable("x", {measured, bare})), Role::measured);
  EXPECT_EQ(role_of(variable("critical_weight", {measured})), Role::measured);
  EXPECT_EQ(role_of(variable("simplex_gamma", {{}, bare})), Role::predicted);
  EXPECT_EQ(role_of(variable("x_theory", {{1.0, 0.0, 1}})), Role::predicted);
}

// A study that has only begun has the columns it will end with.
TEST(RoleOf, OfAnEmptyVariableIsReadFromItsName) {
  EXPECT_EQ(role_of(variable("contraction", {{}, {}})), Role::measured);
  EXPECT_EQ(role_of(variable("critical_gamma", {{}, {}})), Role::predicted);
  EXPECT_EQ(role_of(variable("contraction_theory", {{}, {}})), Role::predicted);
}

std::vector<std::string> names_of(const Table& table) {
  std::vector<std::string> names;
  for (const TableVariable& v : table.variables) names.push_back(v.variable->name);
  return names;
}

TEST(TablesOf, PutsTheOneWithMostVariablesFirst) {
  const Frame frame = test::phase_frame();
  const std::vector<Table> tables = tables_of(frame);
  ASSERT_EQ(tables.size(), 4U);
  using Strings = std::vector<std::string>;
  EXPECT_EQ(names_of(tables[0]), (Strings{"contraction", "beta_dew", "contraction_theory"}));
  EXPECT_EQ(names_of(tables[1]), Strings{"top_count"});
  EXPECT_EQ(names_of(tables[2]), Strings{"weight"});
  EXPECT_EQ(names_of(tables[3]), Strings{"total"});
  EXPECT_TRUE(tables[3].dimensions.empty());
}

TEST(TablesOf, IsEmptyForAFrameWithoutVariables) {
  Frame frame("empty");
  frame.add_dimension("n", {1.0});
  EXPECT_TRUE(tables_of(frame).empty());
}

TEST(ForEachRow, VisitsKnownPlacesRowByRow) {
  const Frame frame = test::phase_frame();
  const std::vector<Table> tables = tables_of(frame);
  std::vector<std::vector<std::size_t>> visited;
  for_each_row(tables[0], [&](const Row& row) { visited.push_back(row.position); });
  EXPECT_EQ(visited,
            (std::vector<std::vector<std::size_t>>{{0, 0}, {0, 1}, {0, 2}, {1, 0}, {1, 2}}));
}

TEST(ForEachRow, FindsCellsWhateverTheOrderOfTheirDimensions) {
  Frame frame("turned");
  frame.add_dimension("a", {0.0, 1.0});
  frame.add_dimension("b", {0.0, 1.0, 2.0});
  frame.add_dimension("c", {0.0, 1.0, 2.0, 3.0});
  const std::vector<std::vector<std::string>> orders{
      {"a", "b", "c"}, {"c", "a", "b"}, {"b", "c", "a"}, {"c", "b", "a"}};
  for (std::size_t k = 0; k < orders.size(); ++k) {
    Variable& v = frame.add_variable("v" + std::to_string(k), orders[k]);
    for (std::size_t c = 0; c < v.cells.size(); ++c) v.cells[c] = {static_cast<double>(c), 0.0, 1};
  }
  const std::vector<Table> tables = tables_of(frame);
  ASSERT_EQ(tables.size(), 1U);
  std::size_t rows = 0;
  for_each_row(tables[0], [&](const Row& row) {
    ++rows;
    for (std::size_t k = 0; k < orders.size(); ++k) {
      std::vector<std::size_t> position;
      for (const std::string& name : orders[k]) {
        position.push_back(row.position[static_cast<std::size_t>(name[0] - 'a')]);
      }
      const Variable& v = frame.variables()[k];
      EXPECT_EQ(row.cells[k], &v.cells[frame.cell_index(v, position)]);
    }
  });
  EXPECT_EQ(rows, 24U);
}

}  // namespace
}  // namespace dewpoint::exports
