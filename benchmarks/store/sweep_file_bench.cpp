// A study of 100,000 cells with 8 measured variables and one prediction each: what the store costs.
//
// The writer may take 5 % of the time of cells that compute for 1 ms, so 50 µs per cell, first
// puts and replacements alike. Opening to go on, setting the plan again, reading every number and
// looking at the progress are what a person waits for; all of opening and resuming stays under a
// second, a look at the progress under 0.2 s.
//
// The file must first give back every number bit for bit.
#include <unistd.h>

#include <bit>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "dewpoint/core/random.hpp"
#include "dewpoint/store/study.hpp"
#include "dewpoint/store/sweep_file.hpp"
#include "support/timing.hpp"

namespace dewpoint::bench {
namespace {

using namespace dewpoint::store;

constexpr std::size_t kRows = 250;
constexpr std::size_t kColumns = 400;
constexpr std::size_t kCells = kRows * kColumns;
constexpr std::size_t kVariables = 8;

std::vector<double> steps(std::size_t count) {
  std::vector<double> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = 0.125 * static_cast<double>(i);
  return values;
}

SweepPlan plan() {
  SweepPlan plan;
  plan.axes = {{"rho", steps(kRows)}, {"gamma", steps(kColumns)}};
  for (std::size_t i = 0; i < kVariables; ++i) plan.measured.push_back({fmt::format("v{}", i)});
  plan.predicted = {{"v0_theory"}};
  const Stream keys(1, "bench/keys");
  for (std::size_t i = 0; i < kCells; ++i) {
    const auto word = keys.bits(i);  // as a hash would scatter them
    plan.places.push_back(
        {{i / kColumns, i % kColumns},
         fmt::format("{:08x}{:08x}{:08x}{:08x}", word[0], word[1], word[2], word[3]),
         fmt::format(R"({{"d":64,"gamma":{},"n":512,"rho":{},"tokens":"sphere"}})",
                     0.125 * static_cast<double>(i % kColumns),
                     0.125 * static_cast<double>(i / kColumns))});
  }
  return plan;
}

SweepCell cell(std::size_t number, std::uint64_t replicas) {
  SweepCell result;
  result.replicas = replicas;
  for (std::size_t i = 0; i < kVariables; ++i) {
    const double value = 1.0 / static_cast<double>(1 + number * kVariables + i);
    result.moments.emplace_back(replicas, value, value * value);
  }
  result.predictions = {static_cast<double>(number)};
  return result;
}

bool same(const SweepCell& a, const SweepCell& b) {
  const auto same_bits = [](double x, double y) {
    return std::bit_cast<std::uint64_t>(x) == std::bit_cast<std::uint64_t>(y);
  };
  bool equal = a.replicas == b.replicas && a.moments.size() == b.moments.size() &&
               a.predictions == b.predictions;
  for (std::size_t i = 0; equal && i < a.moments.size(); ++i) {
    equal = same_bits(a.moments[i].mean(), b.moments[i].mean()) &&
            same_bits(a.moments[i].squared_deviations(), b.moments[i].squared_deviations());
  }
  return equal;
}

void put_all(SweepFile& file, const SweepPlan& plan, std::uint64_t replicas) {
  for (std::size_t i = 0; i < kCells; ++i) {
    file.put(plan.places[i].key, cell(i, replicas), {replicas - 1, replicas, 1e-3, 0});
  }
  file.flush();
}

bool gives_back_everything(const std::filesystem::path& path, const SweepPlan& plan,
                           std::uint64_t replicas) {
  const auto cells = read_cells_if_present(path);
  if (cells.size() != kCells) return false;
  for (std::size_t i = 0; i < kCells; ++i) {
    const auto found = cells.find(plan.places[i].key);
    if (found == cells.end() || !same(found->second, cell(i, replicas))) return false;
  }
  return true;
}

void claim_below(const std::string& what, double seconds, double at_most) {
  fmt::print("  {:<44} {:>8.0f} ms, ", what, 1e3 * seconds);
  claim("target / time", at_most / seconds, 1.0);
}

void run(const std::filesystem::path& path) {
  const SweepPlan grid = plan();
  const SweepHead head{"bench", {}, 1, "0", "bench", "", ""};
  double first = 0.0, again = 0.0;
  {
    SweepFile file(path, head);
    fmt::print("{} cells of {} variables\n", kCells, kVariables);
    claim_below("set_plan, new", seconds_of([&] { file.set_plan(grid); }), 1.0);
    first = seconds_of([&] { put_all(file, grid, 1); });
    again = seconds_of([&] { put_all(file, grid, 2); });
    fmt::print("  close {:.0f} ms\n", 1e3 * seconds_of([&] { file.close(); }));
  }
  if (!gives_back_everything(path, grid, 2)) {
    fmt::print("the file does not give back what was put: not timed\n");
    std::exit(1);
  }
  const double megabytes = 1e-6 * static_cast<double>(std::filesystem::file_size(path));
  fmt::print("  {:.1f} MB; {:.0f} cells/s new, {:.0f} cells/s replaced\n", megabytes,
             kCells / first, kCells / again);
  claim_below("writing, against 5 % of 1 ms cells, new", first, 5e-5 * kCells);
  claim_below("writing, against 5 % of 1 ms cells, replaced", again, 5e-5 * kCells);

  std::vector<Contestant> looks = {
      {"open to go on, and read all cells",
       [&] {
         SweepFile file(path, head);
         static_cast<void>(file.cells());
         file.close();
       }},
      {"open to go on, read all cells, set the plan",
       [&] {
         SweepFile file(path, head);
         static_cast<void>(file.cells());
         file.set_plan(grid);
         file.close();
       }},
      {"summarise", [&] { static_cast<void>(summarise(path)); }},
      {"read_study", [&] { static_cast<void>(read_study(path)); }},
  };
  race(looks, 5);
  const double targets[] = {0.7, 1.0, 0.2, 1.0};
  for (std::size_t i = 0; i < looks.size(); ++i) {
    print(looks[i]);
    claim_below(looks[i].name, looks[i].best(), targets[i]);
  }
}

}  // namespace
}  // namespace dewpoint::bench

int main() {
  const auto folder =
      std::filesystem::temp_directory_path() / fmt::format("dewpoint-bench-{}", ::getpid());
  std::filesystem::create_directories(folder);
  dewpoint::bench::run(folder / "bench.study");
  std::filesystem::remove_all(folder);
}
