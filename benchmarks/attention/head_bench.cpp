// Statistics of one real-sized head, n = 16384, d = 64, causal, float32, one thread: moments alone
// against the matrix products that they need, moments and then everything with dew points and four
// multipliers against a row-blocked NumPy script; then what eight heads of n = 131072 take in
// memory. CPU seconds, so that other work on the machine does not count.
//
//     head_bench PEERS_FOLDER PYTHON [--all-rows]
//
// --all-rows measures every row of the eight long heads (minutes) instead of every 64th.
#include <sys/resource.h>

#include <cmath>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>

#include "dewpoint/attention/head_reference.hpp"
#include "dewpoint/attention/head_strip.hpp"
#include "dewpoint/core/blas.hpp"
#include "dewpoint/core/random.hpp"
#include "support/npy_file.hpp"
#include "support/timing.hpp"

namespace dewpoint::attention {
namespace {

constexpr std::size_t kKeys = 16384;
constexpr std::size_t kLongKeys = 131072;
constexpr std::size_t kLongHeads = 8;
constexpr std::size_t kDimension = 64;
const RunContext kOneThread{1, {}, {}};

// Scores are N(0, 1): moderate attention, dew points near √(2 log n).
struct NormalHead {
  std::vector<double> numbers;
  Matrix<float> queries, keys;

  NormalHead(std::size_t n, std::uint64_t replica)
      : numbers(2 * n * kDimension), queries(n, kDimension), keys(n, kDimension) {
    Stream(1, "head_bench", replica).normals(0, numbers);
    for (std::size_t k = 0; k < n * kDimension; ++k) {
      queries.data()[k] = static_cast<float>(numbers[k]);
      keys.data()[k] = static_cast<float>(numbers[n * kDimension + k]);
    }
  }
  [[nodiscard]] Head head() const {
    Head head;
    head.queries = queries;
    head.keys = keys;
    head.scale = 1.0 / std::sqrt(static_cast<double>(kDimension));
    return head;
  }
};

std::vector<std::size_t> every(std::size_t step, std::size_t n) {
  std::vector<std::size_t> rows;
  for (std::size_t i = step - 1; i < n; i += step) rows.push_back(i);
  return rows;
}

const std::vector<double> kFactors = {0.8, 1.25, 1.5};  // beside 1

std::vector<LogitMultiplier> multipliers() {
  std::vector<LogitMultiplier> result;
  for (const double m : kFactors) result.emplace_back([m](std::size_t) { return m; });
  return result;
}

double cpu_seconds_of(const std::function<void()>& work) {
  const std::clock_t start = std::clock();
  work();
  return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
}

// ---- answers --------------------------------------------------------------------------------

double relative(double x, double y) { return std::abs(x - y) / std::max(std::abs(y), 1e-30); }

double difference(const SoftmaxRow& a, const SoftmaxRow& b) {
  return std::max({std::abs(a.largest - b.largest), std::abs(a.first - b.first),
                   relative(a.rest.partition, b.rest.partition), relative(a.rest.gap, b.rest.gap),
                   relative(a.rest.squared_gap, b.rest.squared_gap),
                   relative(a.rest.weight_squared, b.rest.weight_squared),
                   relative(a.plain_gap, b.plain_gap),
                   relative(a.plain_squared_gap, b.plain_squared_gap)});
}

// Float32 products of size 5 are off by 1e-6 and so are weights. A dew point inherits the relative
// error of the gap of its runner-up; a row in a thousand has one of 0.001.
bool agrees_with_reference(const Head& head) {
  const std::vector<std::size_t> rows = every(1024, kKeys);
  const auto found = measure_rows(head, rows, multipliers(), true, kOneThread);
  const auto truth = reference_rows(head, rows, multipliers(), true);
  double moments = 0.0, dew_points = 0.0;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    for (std::size_t k = 0; k < truth[r].softmax.size(); ++k) {
      moments = std::max(moments, difference(found[r].softmax[k], truth[r].softmax[k]));
    }
    dew_points =
        std::max({dew_points, relative(found[r].dew_point, truth[r].dew_point),
                  relative(found[r].dew_point_without_first, truth[r].dew_point_without_first)});
  }
  fmt::print(
      "  largest difference from the reference in {} rows: moments {:.1e}, dew points {:.1e}\n",
      rows.size(), moments, dew_points);
  return moments < 1e-5 && dew_points < 1e-3;
}

// ---- against the products -------------------------------------------------------------------

// The same blocks by SGEMM, and nothing else.
void products_alone(const Head& head) {
  Matrix<float> room(kStripQueries, kBlockKeys + kLanePadding);
  for (std::size_t i = 0; i < kKeys; i += kStripQueries) {
    const Range rows{i, std::min(kKeys, i + kStripQueries)};
    for (std::size_t j = 0; j < rows.end; j += kBlockKeys) {
      const Range keys{j, std::min(rows.end, j + kBlockKeys)};
      multiply_abt(head.queries.row_range(rows), head.keys.row_range(keys),
                   room.view().block({0, rows.size()}, {0, keys.size()}));
    }
  }
}

// ---- against NumPy --------------------------------------------------------------------------

struct PeerResult {
  double seconds;
  std::string version;
  nlohmann::json samples;  // by row
};

class Peer {
 public:
  Peer(std::string folder, std::string python, const NormalHead& head)
      : folder_(std::move(folder)), python_(std::move(python)) {
    const std::span<const double> all = head.numbers;
    bench::write_npy(queries_, all.first(all.size() / 2), kKeys);
    bench::write_npy(keys_, all.last(all.size() / 2), kKeys);
  }
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;
  ~Peer() {
    for (const auto& file : {queries_, keys_, output_}) std::filesystem::remove(file);
  }

  [[nodiscard]] std::optional<PeerResult> run(const std::string& options) const {
    const std::string line = fmt::format(
        "OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 {} {}/head_statistics.py --queries {} --keys {} "
        "{} > {}",
        python_, folder_, queries_.string(), keys_.string(), options, output_.string());
    if (std::system(line.c_str()) != 0) return std::nullopt;
    std::ifstream file(output_);
    const auto json = nlohmann::json::parse(file);
    return PeerResult{json["seconds"], json["numpy"], json["samples"]};
  }

 private:
  std::string folder_, python_;
  std::filesystem::path place_ = std::filesystem::temp_directory_path();
  std::filesystem::path queries_ = place_ / "dewpoint-head-bench-q.npy";
  std::filesystem::path keys_ = place_ / "dewpoint-head-bench-k.npy";
  std::filesystem::path output_ = place_ / "dewpoint-head-bench.json";
};

// The script's own float32 sums over 16384 keys are good to 1e-5 or so, its dew points to 1e-4.
bool same_answers(const PeerResult& peer, const std::vector<HeadRow>& rows) {
  double worst = 0.0;
  for (const auto& [name, sample] : peer.samples.items()) {
    const HeadRow& row = rows[std::stoul(name)];
    const SoftmaxRow& softmax = row.softmax.back();
    const auto& sums = sample["softmax"].back();
    worst = std::max({worst, relative(sums[0], softmax.rest.partition),
                      relative(sums[2], softmax.rest.squared_gap)});
    if (!sample.contains("dew_point")) continue;
    worst = std::max({worst, 0.1 * relative(sample["dew_point"], row.dew_point),
                      0.1 * relative(sample["without_first"], row.dew_point_without_first)});
  }
  return worst < 1e-4;
}

struct Task {
  std::string name;
  std::string options;  // of the script
  std::vector<LogitMultiplier> multipliers;
  bool dew_points;
  int rounds;
  double claimed;
};

// In turns.
void against_numpy(const Task& task, const Head& head, const Peer& peer) {
  const std::vector<std::size_t> all = every(1, kKeys);
  bench::Contestant ours{task.name, {}}, theirs{"the same in NumPy, blocks of 64 rows", {}};
  for (int round = 0; round < task.rounds; ++round) {
    std::vector<HeadRow> rows;
    ours.seconds.push_back(cpu_seconds_of(
        [&] { rows = measure_rows(head, all, task.multipliers, task.dew_points, kOneThread); }));
    const auto result = peer.run(task.options);
    if (!result || !same_answers(*result, rows)) {
      fmt::print("  NumPy: {}\n", result ? "answers differ, not compared" : "could not be run");
      std::exit(EXIT_FAILURE);
    }
    theirs.seconds.push_back(result->seconds);
    if (round == 0) fmt::print("  NumPy {}\n", result->version);
  }
  bench::print(ours);
  bench::print(theirs);
  bench::claim("times faster than NumPy", theirs.best() / ours.best(), task.claimed);
}

void against_products(const Head& head) {
  const std::vector<std::size_t> all = every(1, kKeys);
  bench::Contestant moments{"moments of every row", {}},
      products{"the same products by SGEMM, nothing else", {}};
  for (int round = 0; round < 6; ++round) {
    moments.seconds.push_back(
        cpu_seconds_of([&] { (void)measure_rows(head, all, {}, false, kOneThread); }));
    products.seconds.push_back(cpu_seconds_of([&] { products_alone(head); }));
  }
  bench::print(moments);
  bench::print(products);
  bench::claim("rate of the statistics over that of their products",
               products.best() / moments.best(), 0.55);
}

// ---- long context ---------------------------------------------------------------------------

double peak_mebibytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024.0;
}

void long_context(std::size_t step) {
  std::vector<NormalHead> heads;
  for (std::size_t h = 0; h < kLongHeads; ++h) {
    heads.emplace_back(kLongKeys, h + 1);
    heads.back().numbers = {};
  }
  const std::vector<std::size_t> rows = every(step, kLongKeys);
  const double before = peak_mebibytes();
  double scores = 0.0;
  const double seconds = cpu_seconds_of([&] {
    for (const NormalHead& head : heads) {
      for (const HeadRow& row : measure_rows(head.head(), rows, multipliers(), true, kOneThread)) {
        scores += static_cast<double>(row.keys);
      }
    }
  });
  const double beyond = peak_mebibytes() - before;
  fmt::print(
      "{} heads of {} keys, {} rows each, dew points and four multipliers: {:.1f} s, {:.2f} ns a "
      "score\n  peak memory beyond the inputs: {:.0f} MiB, claimed below 1024: {}\n",
      kLongHeads, kLongKeys, rows.size(), seconds, 1e9 * seconds / scores, beyond,
      beyond < 1024.0 ? "holds" : "DOES NOT HOLD");
}

}  // namespace
}  // namespace dewpoint::attention

int main(int argc, char** argv) {
  using namespace dewpoint::attention;
  if (argc < 3) {
    fmt::print("usage: head_bench PEERS_FOLDER PYTHON [--all-rows]\n");
    return 2;
  }
  const NormalHead normal(kKeys, 0);
  const Head head = normal.head();
  fmt::print("one causal head, n = {}, d = {}, one thread, {}, {}\n", kKeys, kDimension,
             dewpoint::simd_target(), dewpoint::blas_description());
  if (!agrees_with_reference(head)) {
    fmt::print("  the answers differ: not timed\n");
    return EXIT_FAILURE;
  }
  against_products(head);
  const Peer peer(argv[1], argv[2], normal);
  against_numpy({"moments of every row", "--multipliers 1", {}, false, 6, 2.5}, head, peer);
  against_numpy({"with dew points and four multipliers",
                 "--dew-points --multipliers 1 0.8 1.25 1.5", multipliers(), true, 2, 8.0},
                head, peer);
  long_context(argc > 3 && std::string(argv[3]) == "--all-rows" ? 1 : 64);
}
