// A 20 x 32 phase map at n = 512, d = 64 against the scripts of benchmarks/peers, one thread each.
//
//     phase_map_bench PEERS_FOLDER PYTHON [TORCH_PYTHON]
//
// The peers get the same noise through .npy files; their contraction must agree cell by cell before
// anything is compared.
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>

#include "dewpoint/core/grid.hpp"
#include "dewpoint/studies/recorded_run.hpp"
#include "dewpoint/tokens/equicorrelated.hpp"
#include "support/npy_file.hpp"
#include "support/timing.hpp"

namespace dewpoint {
namespace {

constexpr std::size_t kTokens = 512;
constexpr std::size_t kDimension = 64;
constexpr std::uint64_t kSeed = 1;

struct PeerResult {
  std::vector<double> seconds;
  std::vector<double> contraction;
};

std::optional<PeerResult> run_peer(const std::string& command,
                                   const std::filesystem::path& folder) {
  const std::filesystem::path output = folder / "peer.json";
  const std::string line = fmt::format(
      "OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 MKL_NUM_THREADS=1 {} --noise {} --common {} > {}",
      command, (folder / "noise.npy").string(), (folder / "common.npy").string(), output.string());
  if (std::system(line.c_str()) != 0) return std::nullopt;
  std::ifstream file(output);
  const auto json = nlohmann::json::parse(file);
  PeerResult result;
  result.seconds = json["seconds"].get<std::vector<double>>();
  for (const auto& row : json["contraction"]) {
    for (const auto& cell : row) result.contraction.push_back(cell.get<double>());
  }
  return result;
}

struct Peer {
  std::string name;
  std::string command;
  double tolerance;  // largest difference of a contraction
  double claim;      // at least so many times faster; 0: only reported
};

}  // namespace
}  // namespace dewpoint

int main(int argc, char** argv) {
  using namespace dewpoint;
  if (argc < 3) {
    fmt::print("usage: phase_map_bench PEERS_FOLDER PYTHON [TORCH_PYTHON]\n");
    return 2;
  }
  const auto folder = std::filesystem::temp_directory_path() / "dewpoint-phase-map-bench";
  std::filesystem::create_directories(folder);
  const tokens::EquicorrelatedNoise noise(kTokens, kDimension, tokens::Common::random, kSeed, 0);
  bench::write_npy(folder / "noise.npy", {noise.noise().data(), kTokens * kDimension}, kTokens);
  bench::write_npy(folder / "common.npy", noise.common(), 1);

  studies::StudyText map;  // the peers have no Jacobian norm; jacobian_norm_bench.cpp
  map.experiment = "phase";
  map.seed = kSeed;
  map.fixed = {{"n", static_cast<double>(kTokens)}, {"d", static_cast<double>(kDimension)}};
  map.grid = {{"rho", parse_grid("rho", "0:0.95:20")}, {"gamma", parse_grid("gamma", "0.25:8:32")}};
  std::optional<Frame> frame;
  std::vector<bench::Contestant> ours = {
      {"dewpoint phase map", [&] { frame = studies::run_in_memory(map, 1, "").frames.at(0); }}};
  bench::race(ours, 5);
  fmt::print("20 x 32 phase map, n = {}, d = {}, one cloud, one thread each\n", kTokens,
             kDimension);
  bench::print(ours[0]);
  const double cells = 640.0;
  fmt::print("  {:.3f} ms per cell, with all ten observables of a row\n",
             1e3 * ours[0].best() / cells);

  // float64 peers agree to float32 rounding of our products; float32 peers lose digits of 1 − cos
  // as ρ → 1 themselves.
  const std::string numpy = fmt::format("{} {}/phase_numpy.py", argv[2], argv[1]);
  std::vector<Peer> peers = {
      {"NumPy float64, plain", numpy + " --dtype float64 --repeats 3", 1e-4, 15.0},
      {"NumPy float32, plain", numpy + " --dtype float32 --repeats 3", 1e-2, 9.0},
      {"NumPy float64, hoisted by hand", numpy + " --hoisted --dtype float64 --repeats 3", 1e-4,
       0.0},
      {"NumPy float32, hoisted by hand", numpy + " --hoisted --dtype float32 --repeats 3", 1e-2,
       0.0}};
  if (argc > 3) {
    const std::string torch = fmt::format("{} {}/phase_torch.py", argv[3], argv[1]);
    peers.push_back({"PyTorch float32", torch + " --dtype float32 --repeats 3", 1e-2, 0.0});
    peers.push_back({"PyTorch float64", torch + " --dtype float64 --repeats 3", 1e-4, 0.0});
  }
  const auto& contraction = frame->variable("contraction").cells;
  bool all_agree = true;
  for (const Peer& peer : peers) {
    const auto result = run_peer(peer.command, folder);
    if (!result || result->contraction.size() != contraction.size()) {
      fmt::print("  {}: could not be run\n", peer.name);
      all_agree = false;
      continue;
    }
    double worst = 0.0;
    for (std::size_t c = 0; c < contraction.size(); ++c) {
      worst = std::max(worst, std::abs(result->contraction[c] - contraction[c].mean));
    }
    if (worst > peer.tolerance) {
      fmt::print("  {}: contraction differs by {}: not compared\n", peer.name, worst);
      all_agree = false;
      continue;
    }
    const bench::Contestant contestant{peer.name, {}, result->seconds};
    bench::print(contestant);
    const double ratio = contestant.best() / ours[0].best();
    if (peer.claim > 0.0) {
      bench::claim(fmt::format("times faster than {}", peer.name), ratio, peer.claim);
    } else {
      fmt::print("  times faster than {}: {:.2f}\n", peer.name, ratio);
    }
  }
  std::filesystem::remove_all(folder);
  return all_agree ? EXIT_SUCCESS : EXIT_FAILURE;
}
