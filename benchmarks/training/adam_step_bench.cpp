// One full-batch Adam step of the training experiment, 100,000 sequences, d = 4, m = 256, float32,
// against what the machine allows (a triad that reads and writes the same weights and moments once,
// in cache) and against the same step taken sequence by sequence at the full width. One thread.
//
//     adam_step_bench PEERS_FOLDER [TORCH_PYTHON]
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "training/adam_step_bench.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h must come first.
#include <hwy/highway.h>

#include <cmath>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>

#include "dewpoint/core/blas.hpp"
#include "dewpoint/core/kernels.hpp"
#include "dewpoint/training/trainer.hpp"
#include "support/timing.hpp"
#include "training/per_sequence_step.hpp"

HWY_BEFORE_NAMESPACE();
namespace dewpoint::training::HWY_NAMESPACE {
namespace {

// Each of three arrays is read once and written once.
void triad(float* a, float* b, float* c, std::size_t n) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::ScalableTag<float> f;
  const auto scale = hn::Set(f, 1e-9F);
  for (std::size_t j = 0; j < n; j += hn::Lanes(f)) {
    const auto x = hn::Load(f, a + j);
    const auto y = hn::Load(f, b + j);
    const auto z = hn::Load(f, c + j);
    hn::Store(hn::MulAdd(scale, y, x), f, a + j);
    hn::Store(hn::MulAdd(scale, z, y), f, b + j);
    hn::Store(hn::MulAdd(scale, x, z), f, c + j);
  }
}

}  // namespace
}  // namespace dewpoint::training::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dewpoint::training {
namespace {
HWY_EXPORT(triad);

constexpr std::size_t kSequences = 100000;
constexpr std::size_t kContext = 19;
constexpr std::size_t kWidth = 256;
constexpr std::size_t kWeights = 2 * 4 * kWidth + 2 * kWidth * kWidth;
constexpr std::size_t kChunk = 1000;

struct Problem {
  SequenceSet sequences;
  std::unique_ptr<TokenLoss> loss;
  Parameters<double> start = initial_parameters(4, kWidth, 1.0 / kWidth, 1, 0);

  explicit Problem(std::size_t count) {
    const Chain chain = named_chain("lambda", {0.75, 0.19, 0.05, 0.01}, 0.8);
    sequences = sample_sequences(chain, kContext, count, 1, 0, {});
    loss = histogram_loss(collapse(sequences), {false, Precision::single_});
  }
};

double largest(const Matrix<double>& a) {
  double most = 0.0;
  for (std::size_t n = 0; n < a.size(); ++n) most = std::max(most, std::abs(a.data()[n]));
  return most;
}

double relative_difference(const Matrix<float>& a, double scale, const Matrix<double>& b) {
  double most = 0.0;
  for (std::size_t n = 0; n < b.size(); ++n) {
    most = std::max(most, std::abs(scale * static_cast<double>(a.data()[n]) - b.data()[n]));
  }
  return most / largest(b);
}

double loss_of(const TokenLoss& loss, const Trainer& trainer) {
  TokenMaps slope(4);
  return loss.slope(0, token_maps(trainer.parameters()), slope);
}

// Float32 rounds Φ, M and the slopes by 6e-8; ten steps of a loss near 1.
bool fused_agrees_with_plain(const Problem& problem) {
  const auto fused = adam(*problem.loss, problem.start, {}, Precision::single_);
  const auto plain = plain_adam(*problem.loss, problem.start, {});
  const RunContext run;
  if (!fused->advance(10, run) || !plain->advance(10, run)) return false;
  const double difference =
      std::abs(loss_of(*problem.loss, *fused) - loss_of(*problem.loss, *plain));
  fmt::print("  loss after 10 steps, fused float32 minus plain float64: {:.1e}\n", difference);
  return difference < 1e-6;
}

// One chunk sequence by sequence, and the same sequences as histograms. At weights of deviation
// 0.1, Φ and M are of order one and the gradients do not cancel: float32 products of 256 terms
// leave 1e-6. (At weights that have condensed, the one-by-one gradient of W0 is good to 1e-4 only.)
bool per_sequence_agrees(const Parameters<double>& weights, bench::Keys keys) {
  const Problem chunk(kChunk);
  const Parameters<float> rounded = to_single(weights);
  bench::PerSequenceStep step(rounded, kContext, kChunk, keys);
  step.add_chunk(chunk.sequences, 0);
  const auto loss = histogram_loss(collapse(chunk.sequences), {});
  TokenMaps slope(4);
  loss->slope(0, token_maps(to_double(rounded)), slope);
  const Parameters<double> expected = weight_gradient(to_double(rounded), slope);
  const Parameters<float>& found = step.gradient();
  const double most =
      std::max({relative_difference(found.embedding, 1.0 / kChunk, expected.embedding),
                relative_difference(found.unembedding, 1.0 / kChunk, expected.unembedding),
                relative_difference(found.query, 1.0 / kChunk, expected.query),
                relative_difference(found.key, 1.0 / kChunk, expected.key)});
  fmt::print("  gradient of {} sequences one by one, relative to histograms: {:.1e}\n", kChunk,
             most);
  return most < 1e-5;
}

double step_against_triad(const Problem& problem) {
  const RunContext run;
  const auto trainer = adam(*problem.loss, problem.start, {}, Precision::single_);
  TokenMaps slope(4);
  const TokenMaps at = token_maps(problem.start);
  Matrix<float> a(1, kWeights), b(1, kWeights), c(1, kWeights);
  std::fill_n(b.data(), kWeights, 1.0F);
  double step = 0.0;
  std::vector<dewpoint::bench::Contestant> race = {
      {"whole step", [&] { static_cast<void>(trainer->advance(++step, run)); }},
      {"  of which the pass over the data", [&] { problem.loss->slope(0, at, slope); }},
      {"triad over weights and moments", [&] {
         HWY_DYNAMIC_DISPATCH(triad)(a.data(), b.data(), c.data(), kWeights);
       }}};
  for (auto& contestant : race) {  // each in its own cache, as in a run of steps
    for (int warm = 0; warm < 20; ++warm) contestant.work();
    for (int round = 0; round < 2000; ++round) {
      contestant.seconds.push_back(dewpoint::bench::seconds_of(contestant.work));
    }
  }
  for (const auto& contestant : race) dewpoint::bench::print(contestant);
  const double ratio = race[0].best() / race[2].best();
  fmt::print("  step over triad: {:.2f}, claimed at most 2: {}\n", ratio,
             ratio <= 2.0 ? "holds" : "DOES NOT HOLD");
  return race[0].best();
}

void three_thousand_steps(const Problem& problem) {
  std::vector<double> seconds;
  for (int round = 0; round < 5; ++round) {
    const auto trainer = adam(*problem.loss, problem.start, {}, Precision::single_);
    const std::clock_t start = std::clock();
    if (!trainer->advance(3000, {})) std::abort();
    seconds.push_back(static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
  }
  const dewpoint::bench::Contestant runs{"3000 steps, CPU time, best of five", {}, seconds};
  dewpoint::bench::print(runs);
  fmt::print("  below one second: {}\n", runs.best() < 1.0 ? "holds" : "DOES NOT HOLD");
}

// Five chunks are timed and the best is taken for all of the data.
double per_sequence_seconds(const Problem& problem, const Parameters<double>& weights,
                            bench::Keys keys, const std::string& name) {
  const Parameters<float> rounded = to_single(weights);
  bench::PerSequenceStep step(rounded, kContext, kChunk, keys);
  std::size_t first = 0;
  std::vector<dewpoint::bench::Contestant> race = {{name, [&] {
                                                      step.add_chunk(problem.sequences, first);
                                                      first += kChunk;
                                                    }}};
  dewpoint::bench::race(race, 5);
  dewpoint::bench::print(race[0]);
  return race[0].best() * kSequences / kChunk;
}

void per_sequence(const Problem& problem, const Parameters<double>& weights, double fused) {
  fmt::print(
      "the same gradient sequence by sequence, chunks of {}, {}; best of five chunks, "
      "extrapolated to {} sequences\n",
      kChunk, blas_description(), kSequences);
  const double usual =
      per_sequence_seconds(problem, weights, bench::Keys::every_key, "keys of all tokens, a chunk");
  const double best =
      per_sequence_seconds(problem, weights, bench::Keys::reordered, "reordered, a chunk");
  fmt::print("  full batch: {:.2f} s; reordered {:.2f} s\n", usual, best);
  dewpoint::bench::claim("times faster than sequence by sequence", usual / fused, 10000.0);
  fmt::print("  times faster than the reordered one: {:.0f}\n", best / fused);
}

void against_torch(const std::string& folder, const std::optional<std::string>& python,
                   double fused) {
  if (!python) {
    fmt::print("PyTorch: not measured, no Python with PyTorch was named (DEWPOINT_TORCH_PYTHON)\n");
    return;
  }
  const auto output = std::filesystem::temp_directory_path() / "dewpoint-adam-step-torch.json";
  const std::string line = fmt::format(
      "OMP_NUM_THREADS=1 MKL_NUM_THREADS=1 {} {}/adam_step_torch.py --sequences {} "
      "--context {} --width {} --chunk {} > {}",
      *python, folder, kSequences, kContext, kWidth, kChunk, output.string());
  if (std::system(line.c_str()) != 0) {
    fmt::print("PyTorch: not measured, {} could not run adam_step_torch.py\n", *python);
    return;
  }
  std::ifstream file(output);
  const auto json = nlohmann::json::parse(file);
  const double seconds = json["seconds"];
  fmt::print("PyTorch {}: {:.2f} s a step, extrapolated from {} chunks of {}\n",
             json["torch"].get<std::string>(), seconds, json["chunks_timed"].get<int>(), kChunk);
  dewpoint::bench::claim("times faster than PyTorch", seconds / fused, 10000.0);
  std::filesystem::remove(output);
}

}  // namespace
}  // namespace dewpoint::training

int main(int argc, char** argv) {
  using namespace dewpoint::training;
  if (argc < 2) {
    fmt::print("usage: adam_step_bench PEERS_FOLDER [TORCH_PYTHON]\n");
    return 2;
  }
  const Problem problem(kSequences);
  fmt::print("one full-batch Adam step, {} sequences, d = 4, m = {}, float32 on {}, one thread\n",
             kSequences, kWidth, dewpoint::simd_target());
  const Parameters<double> weights = initial_parameters(4, kWidth, 0.1, 2, 0);
  if (!fused_agrees_with_plain(problem) || !per_sequence_agrees(weights, bench::Keys::every_key) ||
      !per_sequence_agrees(weights, bench::Keys::reordered)) {
    fmt::print("  the answers differ: not timed\n");
    return EXIT_FAILURE;
  }
  const double fused = step_against_triad(problem);
  three_thousand_steps(problem);
  per_sequence(problem, weights, fused);
  against_torch(argv[1], argc > 2 ? std::optional<std::string>(argv[2]) : std::nullopt, fused);
}
#endif  // HWY_ONCE
