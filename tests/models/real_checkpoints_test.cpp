// Two small trained models: stories260K of llama2.c, which tells children's stories, and capp-gpt2,
// which plans how a part is manufactured.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <set>

#include "checkpoint/foreign_files.hpp"
#include "dewpoint/checkpoint/npy.hpp"
#include "dewpoint/models/decoder.hpp"
#include "dewpoint/models/reference_decoder.hpp"
#include "dewpoint/text/tokenizer.hpp"
#include "models/tiny_models.hpp"
#include "support/matrices.hpp"

namespace dewpoint::models {
namespace {

using test::largest_difference;

std::filesystem::path data(const std::string& name) {
  return std::filesystem::path(DEWPOINT_DATA) / name;
}

constexpr std::size_t kStoriesInner = 172;  // longest product of the model

class Stories : public test::NumPyFiles {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(data("stories260K"))) GTEST_SKIP() << "no folder stories260K";
    NumPyFiles::SetUp();
  }

  static std::filesystem::path model() { return data("stories260K/stories260K.bin"); }

  // The first tokens of the story that the model tells by itself.
  static std::vector<int> story(std::size_t count) {
    std::vector<int> tokens{1};
    const auto told = Decoder::open(model()).generate({1}, count - 1);
    tokens.insert(tokens.end(), told.begin(), told.end());
    return tokens;
  }
};

// llama2.c with temperature 0 and 200 steps prints the 200 tokens that follow the beginning of a
// text, stops early at another beginning, and ends the line.
TEST_F(Stories, TellsTheStoryThatLlama2cTells) {
  const auto told = Decoder::open(model()).generate({1}, 200, 1);
  const auto tokenizer = text::open_tokenizer(data("stories260K/tok512.model"));
  EXPECT_EQ(tokenizer->decode(told) + "\n",
            test::read_bytes(data("stories260K/greedy_200.expected.txt")));
}

TEST_F(Stories, HasTheLogitsOfAnIndependentProgram) {
  const auto tokens = story(60);
  test::write_bytes(folder_ / "tokens.txt", fmt::format("{}\n", fmt::join(tokens, "\n")));
  const std::string script = std::string(DEWPOINT_MODELS_TESTS) + "/oracle.py";
  run(
      fmt::format("import runpy, sys\nsys.argv = ['{0}', '{1}', 'tokens.txt', 'logits.npy']\n"
                  "runpy.run_path('{0}', run_name='__main__')\n",
                  script, std::filesystem::absolute(model()).string()));
  const auto expected = checkpoint::read_npy_matrix(folder_ / "logits.npy");

  // Both are double; sums of up to 172 terms of size 100 at most, in five layers.
  EXPECT_LT(test::largest_difference(expected, reference_logits(model(), tokens)), 1e-10);

  const Decoder decoder = Decoder::open(model());
  decoder.save(folder_ / "saved");
  const double bound = test::rounding_bound(folder_ / "saved", tokens, kStoriesInner);
  EXPECT_LT(bound, 0.02);
  const auto found = decoder.logits(decoder.hidden_states(tokens));
  EXPECT_LE(largest_difference(found, expected), bound);
}

// Saved as a Llama, rows of W_q and W_k change places, so products are added in another order: both
// passes round, each within the bound.
TEST_F(Stories, SavedAsALlamaIsTheSameModel) {
  const auto tokens = story(60);
  const Decoder original = Decoder::open(model());
  original.save(folder_ / "saved");
  const Decoder saved = Decoder::open(folder_ / "saved");
  EXPECT_FALSE(saved.config().rotates_pairs);
  EXPECT_LT(test::largest_difference(reference_logits(model(), tokens),
                                     reference_logits(folder_ / "saved", tokens)),
            1e-10);

  const auto expected = original.logits(original.hidden_states(tokens));
  const auto found = saved.logits(saved.hidden_states(tokens));
  Matrix<double> wide(expected.rows(), expected.cols());
  std::copy_n(expected.data(), expected.size(), wide.data());
  EXPECT_LE(largest_difference(found, wide),
            2.0 * test::rounding_bound(folder_ / "saved", tokens, kStoriesInner));

  // From here on nothing changes places, and not a bit differs.
  saved.save(folder_ / "again");
  const Decoder again = Decoder::open(folder_ / "again");
  const auto repeated = again.logits(again.hidden_states(tokens));
  EXPECT_EQ(std::vector(repeated.data(), repeated.data() + repeated.size()),
            std::vector(found.data(), found.data() + found.size()));
}

// More tokens than a block of rows: threads take part.
TEST_F(Stories, DoesNotDependOnThreads) {
  const auto tokens = story(300);
  const Decoder decoder = Decoder::open(model());
  RunContext one;
  one.threads = 1;
  RunContext two;
  two.threads = 2;
  const auto a = decoder.hidden_states(tokens, {}, one);
  const auto b = decoder.hidden_states(tokens, {}, two);
  EXPECT_EQ(std::vector(a.data(), a.data() + a.size()), std::vector(b.data(), b.data() + b.size()));
  EXPECT_EQ(decoder.next_token_losses(tokens, a, one), decoder.next_token_losses(tokens, b, two));
}

// What the tokens of capp-gpt2 are, by token_mappings.json: six features of a part, each with its
// own range of ids; processes that make a part; processes that finish it; marks.
struct Feature {
  int first, last;
};
constexpr Feature kFeatures[] = {{0, 6}, {7, 13}, {14, 15}, {16, 19}, {20, 23}, {24, 28}};
constexpr int kFirstPrimary = 29, kFirstSecondary = 36, kStart = 49, kEndOfChain = 50,
              kEndOfSequence = 51;

bool is_primary(int token) { return token >= kFirstPrimary && token < kFirstSecondary; }
bool is_secondary(int token) { return token >= kFirstSecondary && token < kStart; }

// Empty, or what is wrong: chains of one primary process and any secondary ones, each closed by its
// mark; no two chains begin with the same process.
std::string fault_of(std::span<const int> tokens) {
  std::set<int> begun;
  bool inside = false;
  for (const int token : tokens) {
    if (!inside && !is_primary(token)) return fmt::format("chain begins with {}", token);
    if (!inside && !begun.insert(token).second) return fmt::format("two chains with {}", token);
    if (inside && !is_secondary(token) && token != kEndOfChain) {
      return fmt::format("{} inside a chain", token);
    }
    inside = token != kEndOfChain;
  }
  if (inside) return "the last chain is open";
  return begun.empty() ? "no chain" : "";
}

class ProcessChains : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(data("capp-gpt2"))) GTEST_SKIP() << "no folder capp-gpt2";
    decoder_.emplace(Decoder::open(data("capp-gpt2")));
  }

  // A prompt is the features of a part, then the start of its chains.
  static std::vector<int> random_part(const Stream& draws, std::size_t number) {
    std::vector<int> prompt;
    for (std::size_t k = 0; k < std::size(kFeatures); ++k) {
      const int values = kFeatures[k].last - kFeatures[k].first + 1;
      prompt.push_back(kFeatures[k].first +
                       static_cast<int>(draws.uniform(number * 6 + k) * values));
    }
    prompt.push_back(kStart);
    return prompt;
  }

  // Mean loss of `made` and the end of the sequence, after the prompt.
  [[nodiscard]] double loss_of(std::vector<int> prompt, std::span<const int> made) const {
    const auto given = static_cast<std::ptrdiff_t>(prompt.size());
    prompt.insert(prompt.end(), made.begin(), made.end());
    prompt.push_back(kEndOfSequence);
    const auto losses = decoder_->next_token_losses(prompt, decoder_->hidden_states(prompt));
    return std::accumulate(losses.begin() + (given - 1), losses.end(), 0.0) /
           static_cast<double>(made.size() + 1);
  }

  std::optional<Decoder> decoder_;
};

TEST_F(ProcessChains, StartTokenAloneIsContinuedByValidChains) {
  const auto made = decoder_->generate({kStart}, 60, kEndOfSequence);
  ASSERT_LT(made.size(), 60U) << "the sequence does not end";
  EXPECT_EQ(fault_of(made), "");
  EXPECT_LT(loss_of({kStart}, made), 0.25 * std::log(53.0));
}

// Sixty parts of the 7840 that the features can describe, the same in every run.
TEST_F(ProcessChains, EveryPartGetsValidChainsFarBelowUniformLoss) {
  const Stream draws(1, "ProcessChains");
  double total = 0.0;
  std::set<int> first_processes;
  for (std::size_t number = 0; number < 60; ++number) {
    const auto prompt = random_part(draws, number);
    const auto made = decoder_->generate(prompt, 80, kEndOfSequence);
    ASSERT_LT(made.size(), 80U) << "the sequence does not end";
    EXPECT_EQ(fault_of(made), "") << fmt::format("{} | {}", fmt::join(prompt, " "),
                                                 fmt::join(made, " "));
    first_processes.insert(made[0]);
    total += loss_of(prompt, made);
  }
  EXPECT_LT(total / 60.0, 0.1 * std::log(53.0));
  EXPECT_GE(first_processes.size(), 3U) << "the chains do not depend on the part";
}

// A rule of the workshop, read off the names of the tokens: a thread in a hole is tapped or milled,
// and a part without holes and threads is neither.
TEST_F(ProcessChains, ThreadsAreCutWhereThereAreThreads) {
  const int holes_none = 7, holes_normal_threaded = 9, threads_no = 15;
  const int thread_milling = 40, tapping = 41;
  const auto cuts_threads = [&](int geometry, int holes) {
    const auto made =
        decoder_->generate({geometry, holes, threads_no, 17, 21, 25, kStart}, 80, kEndOfSequence);
    return std::count(made.begin(), made.end(), thread_milling) +
           std::count(made.begin(), made.end(), tapping);
  };
  for (int geometry = 0; geometry < 7; ++geometry) {
    EXPECT_EQ(cuts_threads(geometry, holes_none), 0) << geometry;
    EXPECT_GT(cuts_threads(geometry, holes_normal_threaded), 0) << geometry;
  }
}

TEST_F(ProcessChains, AgreesWithTheReference) {
  const Stream draws(1, "ProcessChains");
  auto tokens = random_part(draws, 3);
  const auto made = decoder_->generate(tokens, 80, kEndOfSequence);
  tokens.insert(tokens.end(), made.begin(), made.end());
  const auto expected = reference_logits(data("capp-gpt2"), tokens);
  const double bound = test::rounding_bound(data("capp-gpt2"), tokens, 256);
  EXPECT_LT(bound, 0.02);
  EXPECT_LE(largest_difference(decoder_->logits(decoder_->hidden_states(tokens)), expected), bound);
}

}  // namespace
}  // namespace dewpoint::models
