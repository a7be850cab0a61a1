#include "dewpoint/core/run_context.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cmath>
#include <fstream>
#include <stdexcept>
#include <vector>

namespace dewpoint {
namespace {

TEST(ParallelFor, VisitsEveryItemOnceWhateverTheThreads) {
  for (const int threads : {0, 1, 2, 7}) {
    std::vector<int> visits(1000, 0);
    parallel_for(visits.size(), {threads, {}, {}}, [&](std::size_t i) { ++visits[i]; });
    EXPECT_EQ(visits, std::vector<int>(1000, 1)) << threads;
  }
}

TEST(ParallelFor, ReportsProgressUpToTheTotal) {
  double last = 0.0;
  int calls = 0;
  const Progress progress = [&](double done, double total) {
    EXPECT_EQ(total, 50.0);
    EXPECT_EQ(done, last + 1.0);  // never two callers at a time
    last = done;
    ++calls;
  };
  parallel_for(50, {2, {}, progress}, [](std::size_t) {});
  EXPECT_EQ(calls, 50);
}

TEST(ParallelFor, StopsOnRequest) {
  for (const int threads : {1, 2}) {
    std::stop_source source;
    std::atomic<int> visited = 0;
    try {
      parallel_for(1000, {threads, source.get_token(), {}}, [&](std::size_t) {
        if (++visited == 5) source.request_stop();
      });
      FAIL() << "no error";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Code::stopped);
    }
    EXPECT_LT(visited, 1000);
  }
}

TEST(ParallelFor, PassesOnTheFailureOfABody) {
  EXPECT_THROW(parallel_for(10, {2, {}, {}},
                            [](std::size_t i) {
                              if (i == 7) throw std::runtime_error("seven");
                            }),
               std::runtime_error);
}

TEST(ParallelFor, NestedLoopsVisitEveryItem) {
  std::vector<int> visits(400, 0);
  const RunContext two{2, {}, {}};
  parallel_for(20, two, [&](std::size_t i) {
    parallel_for(20, two, [&](std::size_t j) { ++visits[20 * i + j]; });
  });
  EXPECT_EQ(visits, std::vector<int>(400, 1));
}

double resident_mebibytes() {
  double all = 0.0, resident = 0.0;
  std::ifstream("/proc/self/statm") >> all >> resident;
  return resident * static_cast<double>(sysconf(_SC_PAGESIZE)) / 0x1p20;
}

// An arena per loop would be 7 KiB each, 50 MiB here.
TEST(ParallelFor, ManyShortLoopsTakeNoMemory) {
  const auto loops = [](int count) {
    for (int k = 0; k < count; ++k) {
      parallel_for(8, {2, {}, {}},
                   [](std::size_t i) { static_cast<void>(std::sqrt(static_cast<double>(i))); });
    }
  };
  loops(500);  // threads and what they allocate at first
  const double before = resident_mebibytes();
  loops(7500);
  EXPECT_LT(resident_mebibytes(), before + 8.0);
}

}  // namespace
}  // namespace dewpoint
