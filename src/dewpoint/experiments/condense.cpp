#include "dewpoint/experiments/condense.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <numeric>
#include <string>
#include <utility>

#include "dewpoint/core/error.hpp"
#include "dewpoint/core/random.hpp"
#include "dewpoint/core/unknown.hpp"
#include "dewpoint/experiments/replication.hpp"
#include "dewpoint/experiments/sample_statistics.hpp"
#include "dewpoint/scores/gaussian_law.hpp"
#include "dewpoint/scores/top_scores.hpp"

namespace dewpoint::experiments {
namespace {

constexpr std::size_t kMostRemembered = std::size_t{16} << 20;  // bytes of pilot draws

// ---- drawing --------------------------------------------------------------------------------

/// One softmax of a draw.
struct Softmax {
  scores::TopSample sample;
  std::array<double, kOrderedWeights> weights;
};

/// One draw: a softmax per load.
using Draw = std::vector<Softmax>;

/// The deviation of the scores of one draw: σ, or that of its query.
double drawn_deviation(const Condense& question, std::size_t draw) {
  if (!question.query_keys) return question.deviation;
  std::vector<double> query(question.query_keys->dimension);
  Stream(question.seed, "condense/query", draw).normals(0, query);
  const double square = std::inner_product(query.begin(), query.end(), query.begin(), 0.0);
  return score_deviation(question) * std::sqrt(square / static_cast<double>(query.size()));
}

Softmax weigh(const scores::GaussianLaw& law, const scores::TopScores& top, double beta,
              const Stream& stream) {
  Softmax softmax{scores::weigh_top_scores(law, top, beta, stream), {}};
  for (std::size_t rank = 0; rank < std::min(kOrderedWeights, top.depths.size()); ++rank) {
    softmax.weights[rank] =
        softmax.sample.largest_weight * std::exp(-beta * (top.depths[rank] - top.depths.front()));
  }
  return softmax;
}

Draw draw_one(const Condense& question, double n, std::size_t count, std::size_t replica) {
  const Stream stream(question.seed, "condense", replica);
  const scores::GaussianLaw law(drawn_deviation(question, replica));
  const scores::TopScores top = scores::draw_top_scores(law, std::log(n), count, stream);
  Draw draw;
  for (const double load : question.loads) {
    draw.push_back(weigh(law, top, inverse_temperature(question, n, load), stream));
  }
  return draw;
}

// ---- statistics -----------------------------------------------------------------------------

std::vector<double> values_of(std::size_t count, const std::function<double(std::size_t)>& value) {
  std::vector<double> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = value(i);
  return values;
}

/// log w_* = −log(1 + e^{log Z − βm}).
double log_planted_weight(double log_partition, double scaled_score) {
  const double excess = log_partition - scaled_score;
  return excess > 0.0 ? -excess - std::log1p(std::exp(-excess)) : -std::log1p(std::exp(excess));
}

/// e^value over the largest of all rows.
void exponentiate(std::vector<std::vector<double>>& rows) {
  double largest = -std::numeric_limits<double>::infinity();
  for (const auto& row : rows) {
    largest = std::max(largest, *std::max_element(row.begin(), row.end()));
  }
  for (auto& row : rows) {
    for (double& value : row) value = std::exp(value - largest);
  }
}

// ---- the frame ------------------------------------------------------------------------------

const char* key_dimension(const Condense& question) {
  return question.planted.empty() ? "signal" : "planted";
}

const std::vector<double>& keys_of(const Condense& question) {
  return question.planted.empty() ? question.signals : question.planted;
}

Frame empty_frame(const Condense& question) {
  Frame frame("condense");
  frame.add_dimension("n", question.n);
  frame.add_dimension("t", question.loads);
  std::vector<double> ranks(kOrderedWeights);
  std::iota(ranks.begin(), ranks.end(), 1.0);
  frame.add_dimension("rank", ranks);
  frame.add_variable("top_count", {"n"});
  for (const char* name :
       {"inverse_temperature", "largest_weight", "log_largest_weight", "participation",
        "rest_weight", "entropy", "mean_score", "log_partition", "log_partition_deviation",
        "log_mean_partition", "log_partition_bound", "largest_weight_bound", "retrieval_signal"}) {
    frame.add_variable(name, {"n", "t"});
  }
  frame.add_variable("ordered_weight", {"n", "t", "rank"});
  if (keys_of(question).empty()) return frame;
  const char* key = key_dimension(question);
  frame.add_dimension(key, keys_of(question));
  for (const char* name :
       {"planted_weight", "log_planted_weight", "median_planted_weight", "largest_noise_weight"}) {
    frame.add_variable(name, {"n", "t", key});
  }
  frame.add_variable("best_load", {"n", key});
  frame.add_variable("best_typical_load", {"n", key});
  return frame;
}

/// All draws of one N, and where their numbers go.
class Row {
 public:
  Row(const Condense& question, std::size_t index, std::size_t count, std::vector<Draw> draws,
      Frame& frame)
      : question_(question),
        index_(index),
        n_(question.n[index]),
        count_(count),
        draws_(std::move(draws)),
        frame_(frame) {}

  void fill() {
    frame_.variable("top_count").cells[index_] = {static_cast<double>(count_), 0.0, 0};
    for (std::size_t t = 0; t < question_.loads.size(); ++t) {
      fill_weights(t);
      fill_partition(t);
      fill_ordered_weights(t);
      for (std::size_t key = 0; key < keys_of(question_).size(); ++key) fill_planted(t, key);
    }
    for (std::size_t key = 0; key < keys_of(question_).size(); ++key) fill_best_load(key);
  }

 private:
  [[nodiscard]] double beta(std::size_t t) const {
    return inverse_temperature(question_, n_, question_.loads[t]);
  }

  [[nodiscard]] std::vector<double> over_draws(
      std::size_t t, const std::function<double(const Softmax&)>& value) const {
    return values_of(draws_.size(), [&](std::size_t i) { return value(draws_[i][t]); });
  }

  [[nodiscard]] std::vector<double> log_planted(std::size_t t, std::size_t key) const {
    const double scaled = beta(t) * planted_score(question_, n_, key);
    return over_draws(t, [scaled](const Softmax& softmax) {
      return log_planted_weight(softmax.sample.log_partition, scaled);
    });
  }

  Estimate& cell(const char* name, std::size_t t) {
    return frame_.variable(name).cells[index_ * question_.loads.size() + t];
  }

  Estimate& cell(const char* name, std::size_t t, std::size_t key) {
    return frame_.variable(name)
        .cells[(index_ * question_.loads.size() + t) * keys_of(question_).size() + key];
  }

  void fill_weights(std::size_t t) {
    const auto mean = [&](const char* name, double scores::TopSample::*field) {
      cell(name, t) = mean_of(over_draws(t, [=](const Softmax& s) { return s.sample.*field; }));
    };
    mean("largest_weight", &scores::TopSample::largest_weight);
    mean("participation", &scores::TopSample::participation);
    mean("rest_weight", &scores::TopSample::rest_weight);
    mean("log_partition_bound", &scores::TopSample::log_partition_bound);
    mean("largest_weight_bound", &scores::TopSample::largest_weight_bound);
    cell("log_largest_weight", t) =
        mean_of(over_draws(t, [](const Softmax& s) { return -s.sample.log_relative_partition; }));
    cell("mean_score", t) = mean_of(
        over_draws(t, [](const Softmax& s) { return s.sample.top_score - s.sample.mean_gap; }));
  }

  void fill_partition(std::size_t t) {
    const double inverse = beta(t);
    cell("inverse_temperature", t) = {inverse, 0.0, 0};
    cell("entropy", t) = mean_of(over_draws(t, [inverse](const Softmax& s) {
      return s.sample.log_relative_partition + inverse * s.sample.mean_gap;
    }));
    const std::vector<double> logs =
        over_draws(t, [](const Softmax& s) { return s.sample.log_partition; });
    cell("log_partition", t) = mean_of(logs);
    cell("log_partition_deviation", t) = deviation_of(logs);
    cell("log_mean_partition", t) = log_mean_exp(logs);
    const double unit = 2.0 * question_.loads[t] * std::log(n_);
    const Estimate median = median_of(logs);
    cell("retrieval_signal", t) = {median.mean / unit, median.standard_error / unit,
                                   median.samples};
  }

  void fill_ordered_weights(std::size_t t) {
    auto& cells = frame_.variable("ordered_weight").cells;
    const std::size_t first = (index_ * question_.loads.size() + t) * kOrderedWeights;
    for (std::size_t rank = 0; rank < kOrderedWeights; ++rank) {
      const bool drawn = rank < count_ || static_cast<double>(count_) >= n_;
      cells[first + rank] =
          drawn ? mean_of(over_draws(t, [rank](const Softmax& s) { return s.weights[rank]; }))
                : Estimate{kUnknown, kUnknown, 0};
    }
  }

  void fill_planted(std::size_t t, std::size_t key) {
    const std::vector<double> logs = log_planted(t, key);
    std::vector<double> weights = logs;
    for (double& weight : weights) weight = std::exp(weight);
    cell("log_planted_weight", t, key) = mean_of(logs);
    cell("planted_weight", t, key) = mean_of(weights);
    cell("median_planted_weight", t, key) = median_of(weights);
    cell("largest_noise_weight", t, key) = mean_of(values_of(logs.size(), [&](std::size_t i) {
      return -std::expm1(logs[i]) * draws_[i][t].sample.largest_weight;
    }));
  }

  void fill_best_load(std::size_t key) {
    std::vector<std::vector<double>> logs;
    for (std::size_t t = 0; t < question_.loads.size(); ++t) logs.push_back(log_planted(t, key));
    const std::size_t at = index_ * keys_of(question_).size() + key;
    frame_.variable("best_typical_load").cells[at] = best_argument(question_.loads, logs);
    exponentiate(logs);
    frame_.variable("best_load").cells[at] = best_argument(question_.loads, logs);
  }

  const Condense& question_;
  std::size_t index_;
  double n_;
  std::size_t count_;
  std::vector<Draw> draws_;
  Frame& frame_;
};

// ---- what may be asked ----------------------------------------------------------------------

void require(bool allowed, const char* field, double value, const std::string& range) {
  if (!allowed) throw Error(Code::bad_value, fmt::format("{}: {} is not {}", field, value, range));
}

void require_some(const std::vector<double>& values, const char* field) {
  if (values.empty()) {
    throw Error(Code::bad_value,
                fmt::format("{}: the list is empty; allowed: a number or more", field));
  }
}

void check_lists(const Condense& question) {
  require_some(question.n, "n");
  require_some(question.loads, "t");
  for (const double n : question.n) {
    require(n >= 2.0 && n <= 1e300, "n", n, "a number in [2, 1e300]");
    require(n >= 0x1p53 || n == std::floor(n), "n", n, "a whole number");
  }
  for (const double load : question.loads)
    require(load > 0.0 && load <= 1000.0, "t", load, "a number in (0, 1000]");
  for (const double signal : question.signals)
    require(std::abs(signal) <= 1e6, "signal", signal, "a finite number in [-1e6, 1e6]");
  for (const double score : question.planted)
    require(std::abs(score) <= 1e100, "planted", score, "a finite number in [-1e100, 1e100]");
  if (!question.signals.empty() && !question.planted.empty()) {
    throw Error(Code::bad_value, "planted: given beside signals; allowed: one of the two");
  }
}

}  // namespace

void check(const Condense& question) {
  check_lists(question);
  require(question.deviation >= 1e-50 && question.deviation <= 1e50, "sigma", question.deviation,
          "a number in [1e-50, 1e50]");
  require(question.draws >= 2 && question.draws <= 10'000'000, "draws",
          static_cast<double>(question.draws), "a whole number in [2, 1e7]");
  require(question.bound > 0.0 && question.bound <= 1.0, "bound", question.bound,
          "a number in (0, 1]");
  const double most = std::min(1e6, *std::min_element(question.n.begin(), question.n.end()));
  require(static_cast<double>(question.top) <= most, "top", static_cast<double>(question.top),
          fmt::format("a whole number in [1, {}], at most every n", most));
  if (!question.query_keys) return;
  const auto dimension = static_cast<double>(question.query_keys->dimension);
  require(dimension >= 1.0 && dimension <= 1e6, "keys-dimension", dimension,
          "a whole number in [1, 1e6]");
}

double score_deviation(const Condense& question) {
  if (!question.query_keys || question.query_keys->scaled) return question.deviation;
  return question.deviation * std::sqrt(static_cast<double>(question.query_keys->dimension));
}

double inverse_temperature(const Condense& question, double n, double load) {
  return load * std::sqrt(2.0 * std::log(n)) / score_deviation(question);
}

double planted_score(const Condense& question, double n, std::size_t key) {
  if (!question.planted.empty()) return question.planted[key];
  return question.signals[key] * score_deviation(question) * std::sqrt(2.0 * std::log(n));
}

TopCounts::Row& TopCounts::row(const Condense& question, double n) {
  if (bytes_ > kMostRemembered) {
    rows_.clear();
    bytes_ = 0;
  }
  const double deviation = score_deviation(question);
  const std::tuple key(deviation, n, question.bound, question.seed);
  const auto found = rows_.find(key);
  if (found != rows_.end()) return found->second;
  scores::TopCountChoice choice(std::make_shared<scores::GaussianLaw>(deviation), std::log(n),
                                {.bound = question.bound}, question.seed);
  return rows_.emplace(key, Row{std::move(choice), {}}).first->second;
}

std::optional<std::size_t> TopCounts::enough(Row& row, double inverse_temperature) {
  const auto [found, is_new] = row.known.try_emplace(inverse_temperature);
  if (is_new) {
    const std::size_t before = row.choice.bytes();
    found->second = row.choice.of(inverse_temperature);
    bytes_ += row.choice.bytes() - before + sizeof(*found);
  }
  return found->second;
}

std::size_t TopCounts::of(const Condense& question, double n) {
  if (question.top > 0) return question.top;
  Row& same_n = row(question, n);
  std::size_t count = static_cast<std::size_t>(std::min(n, double{kOrderedWeights}));
  for (const double load : question.loads) {
    const auto least = enough(same_n, inverse_temperature(question, n, load));
    if (!least) {
      throw Error(Code::bad_value,
                  fmt::format("bound: {} is not met by {} scores at n = {}, t = {}; allowed: a "
                              "larger bound, or --top",
                              question.bound, scores::TopCountSearch{}.most, n, load));
    }
    count = std::max(count, *least);
  }
  return count;
}

Frame condense(const Condense& question, const RunContext& context) {
  check(question);
  TopCounts chosen;
  std::vector<std::size_t> counts;
  for (const double n : question.n) counts.push_back(chosen.of(question, n));
  Frame frame = empty_frame(question);
  for (std::size_t index = 0; index < question.n.size(); ++index) {
    std::vector<Draw> draws(question.draws);
    const RunContext part = part_of(context, {index, index + 1}, question.n.size());
    parallel_for(draws.size(), part, [&](std::size_t i) {
      draws[i] = draw_one(question, question.n[index], counts[index], i);
    });
    Row(question, index, counts[index], std::move(draws), frame).fill();
  }
  return frame;
}

}  // namespace dewpoint::experiments
