// Contraction and Jacobian norm of one cloud, n = 2048, d = 64, below, at and above the transition,
// against reverse-mode Hutchinson probes to the same error of 1 % (benchmarks/peers), one thread
// each. Then the map of both at n = 512 that a paper's figure needs, on all cores.
//
//     jacobian_norm_bench PEERS_FOLDER PYTHON [TORCH_PYTHON]
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>

#include "dewpoint/experiments/phase.hpp"
#include "dewpoint/studies/recorded_run.hpp"
#include "dewpoint/tokens/cloud.hpp"
#include "support/npy_file.hpp"
#include "support/timing.hpp"

namespace dewpoint {
namespace {

constexpr double kTarget = 0.01;

struct PeerResult {
  std::vector<double> seconds;
  double contraction;
  double norm;
  double error;  // relative
  int probes;
};

std::optional<PeerResult> run_peer(const std::string& command, double beta,
                                   const std::filesystem::path& folder) {
  const std::filesystem::path output = folder / "peer.json";
  const std::string line = fmt::format(
      "OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 MKL_NUM_THREADS=1 {} --tokens {} --beta {} "
      "--target {} > {}",
      command, (folder / "tokens.npy").string(), beta, kTarget, output.string());
  if (std::system(line.c_str()) != 0) return std::nullopt;
  std::ifstream file(output);
  const auto json = nlohmann::json::parse(file);
  return PeerResult{json["seconds"].get<std::vector<double>>(), json["contraction"], json["norm"],
                    json["error"], json["probes"]};
}

struct Peer {
  std::string name;
  std::string command;
};

// Compares one peer at one temperature. Returns whether the answers agree.
bool compare(const Peer& peer, double c, double beta, const Frame& frame,
             const bench::Contestant& ours, const std::filesystem::path& folder) {
  const auto result = run_peer(peer.command, beta, folder);
  if (!result) {
    fmt::print("  {}: could not be run\n", peer.name);
    return false;
  }
  const double contraction = frame.variable("contraction").cells[0].mean;
  const double norm = frame.variable("jacobian_norm").cells[0].mean;
  // The peer's float32 gaps 1 − cos carry an absolute error of 1e-7 or so, 1e-4 of λ at c = 0.2;
  // its norm is uncertain by its own error and ours by kTarget at most.
  if (std::abs(result->contraction / contraction - 1.0) > 1e-3 ||
      std::abs(result->norm / norm - 1.0) > 5.0 * std::hypot(result->error, kTarget)) {
    fmt::print("  {}: λ {} and η {} against {} and {}: not compared\n", peer.name,
               result->contraction, result->norm, contraction, norm);
    return false;
  }
  const bench::Contestant contestant{
      fmt::format("{}, {} probes", peer.name, result->probes), {}, result->seconds};
  bench::print(contestant);
  bench::claim(fmt::format("c = {}: times faster than {}", c, peer.name),
               contestant.best() / ours.best(), c == 0.2 ? 15.0 : 1.0);
  return true;
}

bool point_against_peers(const std::vector<Peer>& peers, const std::filesystem::path& folder) {
  experiments::PhasePoint point;
  point.cloud.n = 2048;
  point.cloud.d = 64;
  const TokenCloud cloud = tokens::make_cloud(tokens::resolved(point.cloud), point.seed, 0);
  bench::write_npy(folder / "tokens.npy", {cloud.directions.data(), cloud.directions.size()}, 2048);
  const RunContext one_thread{1, {}, {}};
  bool all_agree = true;
  for (const double c : {0.2, 0.6, 1.0, 3.0}) {
    point.inverse_temperature = c * std::log(2048.0) / (1.0 - point.cloud.rho);
    std::optional<Frame> frame;
    std::vector<bench::Contestant> ours = {{fmt::format("dewpoint phase point, c = {}", c), [&] {
                                              frame = experiments::phase_point(point, one_thread);
                                            }}};
    bench::race(ours, 7);
    const double norm = frame->variable("jacobian_norm").cells[0].mean;
    const double error = frame->variable("norm_sampling_error").cells[0].mean;
    fmt::print("lambda and eta, n = 2048, d = 64, c = {}: eta = {:.6g} with error {:.2g} %\n", c,
               norm, 100.0 * error / norm);
    bench::print(ours[0]);
    if (error > kTarget * norm) {
      fmt::print("  the error is above its target: not compared\n");
      all_agree = false;
      continue;
    }
    for (const Peer& peer : peers) {
      all_agree = compare(peer, c, point.inverse_temperature, *frame, ours[0], folder) && all_agree;
    }
  }
  return all_agree;
}

void map_of_both_figures() {
  studies::StudyText map;
  map.experiment = "phase";
  map.precision.replicas = 8;
  map.fixed = {{"eta", std::string("auto")}};
  map.grid = {{"d", {8.0, 64.0, 512.0}}, {"rho", {}}, {"gamma", {}}};
  for (int k = 0; k < 40; ++k) map.grid[1].values.push_back(k / 41.0);
  for (int k = 1; k <= 40; ++k) map.grid[2].values.push_back(0.2 * k);
  const double seconds = bench::seconds_of([&] { (void)studies::run_in_memory(map, 0, ""); });
  fmt::print("40 x 40 map of lambda and eta, n = 512, d = 8, 64, 512, 8 clouds: {:.0f} s\n",
             seconds);
  bench::claim("minutes below ten", 10.0 - seconds / 60.0, 0.0);
}

}  // namespace
}  // namespace dewpoint

int main(int argc, char** argv) {
  using namespace dewpoint;
  if (argc < 3) {
    fmt::print("usage: jacobian_norm_bench PEERS_FOLDER PYTHON [TORCH_PYTHON]\n");
    return 2;
  }
  const auto folder = std::filesystem::temp_directory_path() / "dewpoint-jacobian-norm-bench";
  std::filesystem::create_directories(folder);
  const std::string numpy = fmt::format("{} {}/norm_numpy.py", argv[2], argv[1]);
  std::vector<Peer> peers = {{"NumPy float32", numpy + " --dtype float32"},
                             {"NumPy float64", numpy + " --dtype float64"}};
  if (argc > 3) {
    peers.push_back({"PyTorch float32", fmt::format("{} {}/norm_torch.py", argv[3], argv[1])});
  }
  const bool all_agree = point_against_peers(peers, folder);
  std::filesystem::remove_all(folder);
  map_of_both_figures();
  return all_agree ? EXIT_SUCCESS : EXIT_FAILURE;
}
