#include "dewpoint/studies/schedule.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "studies/test_experiment.hpp"
#include "support/test_seed.hpp"

namespace dewpoint::studies {
namespace {

using test::TestExperiment;

constexpr std::size_t kPositions = TestExperiment::kValues;

// A cell whose every position has `replicas` values, half of them at +deviation, half at
// −deviation.
store::SweepCell cell_with(std::uint64_t replicas, double deviation) {
  store::SweepCell cell;
  cell.replicas = replicas;
  cell.moments.resize(kPositions);
  for (RunningMoments& moments : cell.moments) {
    for (std::uint64_t r = 0; r < replicas; ++r) moments.add(r % 2 == 0 ? deviation : -deviation);
  }
  return cell;
}

Precision target(std::uint64_t fewest, double error, std::uint64_t most) {
  return {fewest, error, "profile", most};
}

TEST(Demand, IsTheNumberOfReplicasOrWhatIsThereAlready) {
  const Demand demand({16, 0.0, "", 4096}, {});
  EXPECT_EQ(demand.replicas(cell_with(0, 1.0), false), 16U);
  EXPECT_EQ(demand.replicas(cell_with(5, 1.0), false), 16U);
  EXPECT_EQ(demand.replicas(cell_with(16, 1.0), false), 16U);
  EXPECT_EQ(demand.replicas(cell_with(40, 1.0), false), 40U);
}

TEST(Demand, IsOneReplicaWhereNothingIsRandom) {
  for (const double error : {0.0, 0.1}) {
    const Demand demand({16, error, "", 4096}, {1, 3});
    EXPECT_EQ(demand.replicas(cell_with(0, 0.0), true), 1U);
    EXPECT_EQ(demand.replicas(cell_with(1, 0.0), true), 1U);
  }
}

// The standard error of n values ±1 is 1/√(n − 1), or less where n is odd: 0.2 is reached with 26
// values, so at the look after 32 of them.
TEST(Demand, DoublesUntilTheErrorIsSmallEnough) {
  const Demand demand(target(8, 0.2, 4096), {1, 3});
  const auto expected = [](std::uint64_t have) -> std::uint64_t {
    if (have < 8) return 8;
    if (have < 16) return 16;
    if (have <= 32) return 32;
    return have <= 64 ? 64 : 128;
  };
  for (std::uint64_t have = 0; have < 100; ++have) {
    const std::uint64_t replicas = demand.replicas(cell_with(have, 1.0), false);
    EXPECT_EQ(replicas, expected(have)) << have;
    EXPECT_GE(replicas, have);  // property (1)
  }
}

TEST(Demand, LooksAtTheWorstPositionOfItsObservableOnly) {
  store::SweepCell cell = cell_with(8, 0.0);
  const Demand demand(target(8, 0.2, 4096), {1, 3});
  cell.moments[0] = cell_with(8, 1.0).moments[0];
  EXPECT_EQ(demand.replicas(cell, false), 8U);
  cell.moments[3] = cell_with(8, 1.0).moments[0];
  EXPECT_EQ(demand.replicas(cell, false), 16U);
}

TEST(Demand, EndsAtTheMostThatIsAllowed) {
  const Demand demand(target(8, 1e-9, 20), {1, 3});
  EXPECT_EQ(demand.replicas(cell_with(8, 1.0), false), 16U);
  EXPECT_EQ(demand.replicas(cell_with(16, 1.0), false), 20U);
  EXPECT_EQ(demand.replicas(cell_with(20, 1.0), false), 20U);
  EXPECT_EQ(demand.replicas(cell_with(25, 1.0), false), 25U);
  EXPECT_EQ(Demand(target(8, 1e-9, 3), {1, 3}).replicas(cell_with(0, 1.0), false), 3U);
}

TEST(Demand, AsksForNothingWhereAValueIsNotANumber) {
  store::SweepCell cell = cell_with(8, 0.0);
  cell.moments[2].add(std::numeric_limits<double>::quiet_NaN());
  EXPECT_EQ(Demand(target(8, 0.1, 4096), {1, 3}).replicas(cell, false), 8U);
}

TEST(RangeOf, FindsTheValuesOfAnObservableOrNamesThoseThereAre) {
  const auto observables = TestExperiment().observables({});
  EXPECT_EQ(positions_of(observables), kPositions);
  EXPECT_EQ(range_of(observables, "profile").first, 1U);
  EXPECT_EQ(range_of(observables, "profile").count, 3U);
  try {
    (void)range_of(observables, "steps");
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "observable = \"steps\": not measured; allowed: step, profile");
  }
}

std::vector<PlannedCell> cells_at(const std::vector<Point>& points) {
  std::vector<PlannedCell> cells;
  for (const Point& point : points) {
    PlannedCell& cell = cells.emplace_back();
    cell.packed = PackedPoint(TestExperiment().resolved(point));
  }
  return cells;
}

TEST(Tiles, JoinCellsThatDifferInTheLadderOnlyAndLackTheSame) {
  const auto cells = cells_at({{{"x", 1.0}},
                               {{"x", 1.0}, {"n", 8.0}},
                               {{"x", 2.0}},
                               {{"x", 2.0}, {"n", 8.0}},
                               {{"x", 3.0}},
                               {{"x", 4.0}}});
  const std::vector<Tile> tiles = tiles_of(
      TestExperiment(), cells, {{0, 0, 4}, {1, 0, 4}, {2, 0, 4}, {3, 2, 4}, {4, 0, 8}, {5, 0, 4}});
  using Indices = std::vector<std::size_t>;
  ASSERT_EQ(tiles.size(), 4U);
  EXPECT_EQ(tiles[0].cells, (Indices{0, 2, 5}));
  EXPECT_EQ(tiles[1].cells, (Indices{1}));
  EXPECT_EQ(tiles[2].cells, (Indices{3}));
  EXPECT_EQ(tiles[2].from, 2U);
  EXPECT_EQ(tiles[3].cells, (Indices{4}));
  EXPECT_EQ(tiles[3].to, 8U);
  EXPECT_DOUBLE_EQ(tiles[0].work, 3 * TestExperiment().work(cells[0].point()));
}

class TwoStepExperiment final : public TestExperiment {
 public:
  [[nodiscard]] std::vector<std::string> ladder() const override { return {"x", "n"}; }
};

// Rows of 3, 3 and 40 cells of one n each, and one of another law.
TEST(Tiles, JoinShortRowsThatDifferInOtherStepsOfTheLadder) {
  std::vector<Point> points;
  std::vector<Need> needs;
  for (std::size_t x = 0; x < 40; ++x) {
    for (const double n : {4.0, 8.0, 16.0}) {
      if (n < 16.0 && x >= 3) continue;
      needs.push_back({points.size(), 0, 2});
      points.push_back({{"x", static_cast<double>(x)}, {"n", n}});
    }
  }
  needs.push_back({points.size(), 0, 2});
  points.push_back({{"x", 1.0}, {"n", 4.0}, {"law", std::string("late")}});
  const auto cells = cells_at(points);
  const std::vector<Tile> tiles = tiles_of(TwoStepExperiment(), cells, needs);
  ASSERT_EQ(tiles.size(), 3U);
  EXPECT_EQ(tiles[0].cells, (std::vector<std::size_t>{0, 3, 6, 1, 4, 7}));
  EXPECT_EQ(tiles[1].cells.size(), 40U);
  EXPECT_EQ(tiles[2].cells, std::vector<std::size_t>{46});
  EXPECT_DOUBLE_EQ(tiles[0].work, 6 * TestExperiment().work(cells[0].point()));
}

TEST(Tiles, AreAtMost64CellsAndSinglesWhereReplicasHaveParts) {
  std::vector<Point> whole, divided;
  std::vector<Need> needs;
  for (std::size_t i = 0; i < 150; ++i) {
    whole.push_back({{"x", static_cast<double>(i)}});
    divided.push_back({{"x", static_cast<double>(i)}, {"pieces", 3.0}});
    needs.push_back({i, 0, 1});
  }
  std::vector<std::size_t> sizes;
  for (const Tile& tile : tiles_of(TestExperiment(), cells_at(whole), needs)) {
    sizes.push_back(tile.cells.size());
  }
  EXPECT_EQ(sizes, (std::vector<std::size_t>{64, 64, 22}));
  const std::vector<Tile> singles = tiles_of(TestExperiment(), cells_at(divided), needs);
  ASSERT_EQ(singles.size(), 150U);
  EXPECT_EQ(singles[7].parts, 3U);
}

Tile tile_of(std::size_t cell, std::uint64_t from, std::uint64_t to, double work,
             std::size_t parts = 1) {
  Tile tile;
  tile.cells = {cell};
  tile.from = from;
  tile.to = to;
  tile.work = work;
  tile.parts = parts;
  return tile;
}

TEST(Schedule, HandsOutEveryReplicaAndEveryPartOnce) {
  const Stream stream = test::stream("Schedule/HandsOutEveryReplicaAndEveryPartOnce");
  Schedule schedule(3, 3, kPositions);
  std::map<std::size_t, std::multiset<std::uint64_t>> seen, expected;
  double work = 0.0;
  for (std::size_t cell = 0; cell < 60; ++cell) {
    const auto bits = stream.bits(cell);
    const std::uint64_t from = bits[0] % 5, to = from + 1 + bits[1] % 40;
    const std::size_t parts = cell % 4 == 0 ? 1 + bits[2] % 4 : 1;
    schedule.add(tile_of(cell, from, to, 1.0 + bits[3] % 10, parts));
    work += (1.0 + bits[3] % 10) * static_cast<double>(to - from);
    for (std::uint64_t unit = from * parts; unit < to * parts; ++unit) expected[cell].insert(unit);
  }
  EXPECT_NEAR(schedule.work_left(), work, 1e-9 * work);
  std::vector<Piece> out;
  for (std::uint64_t i = 100; !schedule.empty() || !out.empty(); ++i) {
    const auto bits = stream.bits(i);
    if (bits[0] % 3 != 0 || out.empty()) {
      if (auto piece = schedule.next()) out.push_back(std::move(*piece));
      continue;
    }
    std::swap(out[bits[1] % out.size()], out.back());
    const Piece& piece = out.back();
    for (std::uint64_t r = piece.first; r < piece.first + piece.replicas; ++r) {
      const std::size_t parts = piece.tile->parts;
      seen[piece.tile->cells[0]].insert(r * parts + piece.part.value_or(0));
    }
    schedule.done(piece, 0.001 * piece.work() * (1 + bits[2] % 100));
    out.pop_back();
  }
  EXPECT_EQ(seen, expected);
  EXPECT_EQ(schedule.work_left(), 0.0);
  EXPECT_FALSE(schedule.next().has_value());
}

TEST(Schedule, BeginsWithTheLargestExpectedCost) {
  Schedule schedule(1, 1, kPositions);
  schedule.add(tile_of(0, 0, 1, 5.0));
  schedule.add(tile_of(1, 3, 4, 9.0));
  schedule.add(tile_of(2, 0, 1, 5.0));
  schedule.add(tile_of(3, 0, 4, 2.0));
  std::vector<std::size_t> order;
  while (const auto piece = schedule.next()) {
    if (order.empty() || order.back() != piece->tile->cells[0]) {
      order.push_back(piece->tile->cells[0]);
    }
  }
  EXPECT_EQ(order, (std::vector<std::size_t>{1, 3, 0, 2}));
}

// One replica takes 1 ms. Before that is known a piece is one replica; on a tile's own rate it is
// 0.2 s, on another's a tenth of that; and the end is shared by the threads.
TEST(Schedule, CutsPiecesByWhatWasMeasured) {
  Schedule schedule(2, 2, kPositions);
  schedule.add(tile_of(0, 0, 1001, 1.0));
  schedule.add(tile_of(1, 0, 900, 1.0));
  const Piece first = *schedule.next();
  EXPECT_EQ(first.replicas, 1U);
  schedule.done(first, 0.001);
  std::vector<std::uint64_t> sizes;
  while (const auto piece = schedule.next()) {
    EXPECT_LE(static_cast<double>(piece->replicas), 0.001 + Schedule::kPieceSeconds / 0.001);
    if (piece->tile->cells[0] == 1 && sizes.size() >= 5) {
      EXPECT_LE(static_cast<double>(piece->replicas),
                0.001 + Schedule::kGuess * Schedule::kPieceSeconds / 0.001);
    }
    sizes.push_back(piece->replicas);
  }
  ASSERT_GT(sizes.size(), 6U);
  EXPECT_EQ(sizes[0], 200U);
  EXPECT_EQ(sizes.back(), 1U);
}

TEST(Schedule, LimitsWhatAPieceBringsBack) {
  Schedule schedule(1, 1, 1000);
  schedule.add(tile_of(0, 0, 1'000'000, 1.0));
  schedule.done(*schedule.next(), 1e-9);
  EXPECT_EQ(schedule.next()->replicas, Schedule::kPieceValues / 1000);
}

TEST(Schedule, DividesTheThreadsWhenFewPiecesAreLeft) {
  Schedule schedule(8, 8, kPositions);
  for (std::size_t cell = 0; cell < 3; ++cell) schedule.add(tile_of(cell, 0, 1, 1.0));
  const Piece first = *schedule.next(), second = *schedule.next(), third = *schedule.next();
  EXPECT_EQ(first.threads, 2);
  EXPECT_EQ(second.threads, 3);
  EXPECT_EQ(third.threads, 3);
  schedule.done(second, 1.0);
  schedule.add(tile_of(3, 0, 2, 1.0));
  EXPECT_EQ(schedule.next()->threads, 1);  // three idle threads for two replicas
  EXPECT_EQ(schedule.next()->threads, 2);

  Schedule ranks(8, 2, kPositions);  // no task may use more threads than a rank has
  ranks.add(tile_of(0, 0, 1, 1.0));
  EXPECT_EQ(ranks.next()->threads, 2);
}

TEST(Arrivals, ComeOutInTheOrderOfTheReplicas) {
  const Stream stream = test::stream("Arrivals/ComeOutInTheOrderOfTheReplicas");
  std::vector<Arrival> pieces;
  std::uint64_t end = 5;
  for (std::uint64_t i = 0; i < 40; ++i) {
    Arrival& piece = pieces.emplace_back();
    piece.first = end;
    piece.replicas = 1 + stream.bits(i)[0] % 4;
    for (std::uint64_t r = 0; r < piece.replicas; ++r) {
      piece.values.push_back(static_cast<double>(end++));
    }
  }
  for (std::size_t i = pieces.size(); i > 1; --i) {
    std::swap(pieces[i - 1], pieces[stream.bits(100 + i)[0] % i]);
  }
  Arrivals arrivals(5);
  double next = 5.0;
  for (Arrival& piece : pieces) {
    arrivals.add(std::move(piece));
    while (const auto arrival = arrivals.next()) {
      for (const double value : arrival->values) EXPECT_EQ(value, next++);
    }
    EXPECT_EQ(static_cast<double>(arrivals.next_replica()), next);
  }
  EXPECT_EQ(arrivals.next_replica(), end);
}

TEST(Arrivals, CompleteAReplicaWhenItsLastPartIsThere) {
  Arrivals arrivals(0);
  const auto part = [](double value) {
    TaskResult result;
    result.values = {value};
    return result;
  };
  EXPECT_FALSE(arrivals.add_part(1, 2, 3, part(2.0)));
  EXPECT_FALSE(arrivals.add_part(0, 0, 3, part(9.0)));
  EXPECT_FALSE(arrivals.add_part(1, 0, 3, part(0.0)));
  ASSERT_TRUE(arrivals.add_part(1, 1, 3, part(1.0)));
  const std::vector<TaskResult> parts = arrivals.take_parts(1);
  ASSERT_EQ(parts.size(), 3U);
  for (std::size_t p = 0; p < 3; ++p) EXPECT_EQ(parts[p].values[0], static_cast<double>(p));
}

}  // namespace
}  // namespace dewpoint::studies
