#include "dewpoint/observables/dew_point.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "dewpoint/core/error.hpp"

namespace dewpoint::observables {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// e^{−800} is zero; a larger exponent may be infinite and then its product with that zero is not.
constexpr double kVanished = 800.0;

/// e^{−x} for 0 ≤ x ≤ kVanished; zeros are not computed, which libraries do slowly.
double decayed(double exponent) { return exponent < 746.0 ? std::exp(-exponent) : 0.0; }

// Newton's last step. Its error is the square of this times half the curvature of the equation in
// log β over its slope, a number of order log n.
constexpr double kLastStep = 1e-9;

// Room for the rounding of a bound that may be the answer itself.
constexpr double kRoom = 1e-12;

// ---- reading scores -------------------------------------------------------------------------

void check_score(double score, const auto& place) {
  if (std::abs(score) <= kLargestScore) return;
  throw Error(Code::bad_value, fmt::format("{}: {} is not a finite number of size at most {:g}",
                                           place(), score, kLargestScore));
}

template <class Score>
void check_row(std::span<const Score> scores) {
  for (std::size_t j = 0; j < scores.size(); ++j) {
    check_score(static_cast<double>(scores[j]), [j] { return fmt::format("scores[{}]", j); });
  }
}

template <class Score>
void check_matrix(MatrixView<const Score> scores, std::size_t least_columns) {
  if (scores.cols() < least_columns) {
    throw Error(Code::bad_value, fmt::format("scores: {} keys per query are below {}",
                                             scores.cols(), least_columns));
  }
  for (std::size_t i = 0; i < scores.rows(); ++i) {
    for (std::size_t j = 0; j < scores.cols(); ++j) {
      check_score(static_cast<double>(scores(i, j)),
                  [i, j] { return fmt::format("scores({}, {})", i, j); });
    }
  }
}

template <class Score>
void check_pool(MatrixView<const Score> scores, std::size_t least_columns) {
  if (scores.rows() == 0) throw Error(Code::bad_value, "scores: 0 queries are below 1");
  check_matrix(scores, least_columns);
}

void check_ragged(std::span<const std::span<const double>> scores, std::size_t least_keys) {
  if (scores.empty()) throw Error(Code::bad_value, "scores: 0 queries are below 1");
  for (std::size_t i = 0; i < scores.size(); ++i) {
    if (scores[i].size() < least_keys) {
      throw Error(Code::bad_value, fmt::format("scores: {} keys of query {} are below {}",
                                               scores[i].size(), i, least_keys));
    }
    for (std::size_t j = 0; j < scores[i].size(); ++j)
      check_score(scores[i][j], [i, j] { return fmt::format("scores({}, {})", i, j); });
  }
}

template <class Score>
std::vector<double> gaps_of(std::span<const Score> scores) {
  const auto largest = static_cast<double>(*std::max_element(scores.begin(), scores.end()));
  std::vector<double> gaps(scores.size());
  std::transform(scores.begin(), scores.end(), gaps.begin(),
                 [largest](Score score) { return largest - static_cast<double>(score); });
  return gaps;
}

/// Gaps of one query with the winner's first and the runner-up's second.
template <class Score>
std::vector<double> ranked_gaps(std::span<const Score> scores) {
  std::vector<double> gaps = gaps_of(scores);
  std::iter_swap(gaps.begin(), std::min_element(gaps.begin(), gaps.end()));
  std::iter_swap(gaps.begin() + 1, std::min_element(gaps.begin() + 1, gaps.end()));
  return gaps;
}

// ---- the equation ---------------------------------------------------------------------------

/// What the others hold against what the runner-up lacks.
struct Balance {
  double log_ratio;  // log Σ_{others} e^{−βT_j} − log(1 − e^{−βT}): positive below the dew point
  double slope;  // −d log_ratio/d log β; at least 1 without a sink

  [[nodiscard]] double step() const { return log_ratio / slope; }
};

Balance balance(const detail::Others& others, double scaled_runner_up) {
  const double mass = others.mass.total();
  if (mass == 0.0) return {-kInfinity, 1.0};
  return {std::log(mass) - std::log(-std::expm1(-scaled_runner_up)),
          others.exponent.total() / mass + scaled_runner_up / std::expm1(scaled_runner_up)};
}

Balance balance_at(std::span<const double> ranked, double beta) {
  detail::Others others;
  for (const double gap : ranked.subspan(2)) others.add(beta * gap);
  return balance(others, beta * ranked[1]);
}

/// Property (5): n − 1 competitors of the mean gap hold less than the real ones (Jensen), n − 1
/// competitors of the smallest gap more.
DewPointBracket outer_bracket(std::size_t n, double mean_gap, double smallest_gap) {
  const double log_competitors = std::log(static_cast<double>(n) - 1.0);
  return {log_competitors / mean_gap * (1.0 - kRoom),
          log_competitors / smallest_gap * (1.0 + kRoom)};
}

double mean_competitor_gap(std::span<const double> ranked) {
  const double share = 1.0 / (static_cast<double>(ranked.size()) - 1.0);
  double mean = 0.0;
  for (const double gap : ranked) mean += gap * share;
  return mean;
}

double geometric_mean(double x, double y) { return std::sqrt(x) * std::sqrt(y); }

// So many of the best keys give a first guess, where there are this many times more.
constexpr std::size_t kVanguard = 256, kWorthAVanguard = 4;

/// Newton's method from below, inside a bracket. The best keys alone condense earlier than all of
/// them, property (4), and not much: their dew point is where a long row starts.
double solve(std::span<double> ranked) {
  auto [lower, upper] = outer_bracket(ranked.size(), mean_competitor_gap(ranked), ranked[1]);
  if (ranked.size() >= kWorthAVanguard * kVanguard) {
    std::nth_element(ranked.begin() + 2, ranked.begin() + kVanguard, ranked.end());
    lower = std::max(lower, solve(ranked.first(kVanguard)) * (1.0 - kRoom));
  }
  double beta = lower;
  while (true) {
    const Balance now = balance_at(ranked, beta);
    if (std::abs(now.step()) <= kLastStep) return beta * std::exp(now.step());
    (now.log_ratio > 0.0 ? lower : upper) = beta;
    const double next = beta * std::exp(now.step());
    beta = lower < next && next < upper ? next : geometric_mean(lower, upper);
  }
}

template <class Score>
std::optional<double> dew_point_of_checked(std::span<const Score> scores) {
  if (scores.size() < 3) return {};
  std::vector<double> ranked = ranked_gaps(scores);
  return ranked[1] < kSmallestGap ? kInfinity : solve(ranked);
}

template <class Score>
std::optional<double> dew_point_of(std::span<const Score> scores) {
  check_row(scores);
  return dew_point_of_checked(scores);
}

// ---- beside a sink --------------------------------------------------------------------------

/// log(e^x + e^y), and the share of the second in the sum.
struct LogSum {
  double log_sum, second_share;
};

LogSum log_sum(double x, double y) {
  const double larger = std::max(x, y), smaller = std::min(x, y);
  if (smaller == -kInfinity) return {larger, y > x ? 1.0 : 0.0};
  return {larger + std::log1p(std::exp(smaller - larger)), 1.0 / (1.0 + std::exp(x - y))};
}

struct Sink {
  double logit;
  double best_score;  // s_max
};

/// The balance with the sink among the others; its slope may have either sign.
Balance balance_beside(const Sink& sink, std::span<const double> ranked, double beta) {
  detail::Others others;
  for (const double gap : ranked.subspan(2)) others.add(beta * gap);
  const double mass = others.mass.total(), runner_up = beta * ranked[1];
  const double scaled_score = beta * sink.best_score;
  const auto [log_held, sink_share] = log_sum(std::log(mass), sink.logit - scaled_score);
  const double mean_exponent = mass > 0.0 ? others.exponent.total() / mass : 0.0;
  return {log_held - std::log(-std::expm1(-runner_up)), (1.0 - sink_share) * mean_exponent +
                                                            sink_share * scaled_score +
                                                            runner_up / std::expm1(runner_up)};
}

/// Newton's method in β from the left. Both logarithms of the balance are convex in β.
double solve_beside(const Sink& sink, std::span<const double> ranked, double beta) {
  if (sink.best_score <= 0.0 && sink.logit >= 0.0) return kInfinity;
  while (std::isfinite(beta)) {
    const Balance now = balance_beside(sink, ranked, beta);
    if (!(now.slope > 0.0)) return kInfinity;
    beta *= 1.0 + now.step();
    if (now.step() <= kLastStep) return beta;
  }
  return kInfinity;
}

template <class Score>
std::vector<double> dew_points_of(MatrixView<const Score> scores, const RunContext& context) {
  check_matrix(scores, 3);
  std::vector<double> points(scores.rows());
  parallel_for(scores.rows(), context, [&](std::size_t i) {
    points[i] = dew_point_of_checked(std::span<const Score>(scores.row(i))).value();
  });
  return points;
}

}  // namespace

std::optional<double> dew_point(std::span<const double> scores) { return dew_point_of(scores); }
std::optional<double> dew_point(std::span<const float> scores) { return dew_point_of(scores); }

std::optional<double> dew_point_beside_sink(std::span<const double> scores, double sink_logit) {
  check_row(scores);
  if (std::isnan(sink_logit) || sink_logit == kInfinity) {
    throw Error(Code::bad_value, fmt::format("sink: a logit of {} is not below +inf", sink_logit));
  }
  if (scores.size() < 3) return {};
  std::vector<double> ranked = ranked_gaps(scores);
  if (ranked[1] < kSmallestGap) return kInfinity;
  const double without = solve(ranked);
  if (sink_logit == -kInfinity) return without;
  const Sink sink{sink_logit, *std::max_element(scores.begin(), scores.end())};
  const double floor = sink.best_score > 0.0 ? sink.logit / sink.best_score : 0.0;
  return solve_beside(sink, ranked, std::max(without, floor));
}

std::vector<double> dew_points(MatrixView<const double> scores, const RunContext& context) {
  return dew_points_of(scores, context);
}
std::vector<double> dew_points(MatrixView<const float> scores, const RunContext& context) {
  return dew_points_of(scores, context);
}

// ---- sums -----------------------------------------------------------------------------------

namespace detail {

/// One step of Neumaier's compensated summation.
void BlockSum::flush() {
  const double next = sum_ + block_;
  lost_ += std::abs(sum_) >= std::abs(block_) ? (sum_ - next) + block_ : (block_ - next) + sum_;
  sum_ = next;
  block_ = 0.0;
  count_ = 0;
}

void Others::add(double scaled_gap) {
  const double bounded = std::min(scaled_gap, kVanished);
  const double weight = decayed(bounded);
  mass.add(weight);
  exponent.add(bounded * weight);
}

}  // namespace detail

// ---- scores that arrive in pieces -----------------------------------------------------------

namespace {

// The survey compares R with 1. R carries one rounding per score: fewer than this in all for up to
// 4e9 scores.
constexpr double kSurveyError = 1e-6;

// Competitors beyond e^{−60} would have to be 1e20 to move R by the survey's error.
constexpr double kSurveyReach = 60.0;

std::vector<double> geometric_grid(const DewPointGrid& grid) {
  DEWPOINT_EXPECTS(0.0 < grid.lowest && grid.lowest < grid.highest && grid.points >= 2);
  std::vector<double> betas(grid.points);
  const double ratio = std::log(grid.highest / grid.lowest);
  for (std::size_t g = 0; g < grid.points; ++g) {
    const double share = static_cast<double>(g) / (static_cast<double>(grid.points) - 1.0);
    betas[g] = grid.lowest * std::exp(ratio * share);
  }
  return betas;
}

/// A node of the equation as a point of its inverse: log β as a function of the log ratio.
struct InversePoint {
  double log_beta;
  Balance balance;
};

/// log β where the ratio is 1, by the cubic through two points and their slopes; the middle if that
/// is not between them.
double interpolate(const InversePoint& below, const InversePoint& above) {
  const double width = above.balance.log_ratio - below.balance.log_ratio;
  const double t = -below.balance.log_ratio / width, r = 1.0 - t;
  const double guess =
      r * r * ((1.0 + 2.0 * t) * below.log_beta - t * width / below.balance.slope) +
      t * t * ((1.0 + 2.0 * r) * above.log_beta + r * width / above.balance.slope);
  const bool inside = below.log_beta < guess && guess < above.log_beta;
  return inside ? guess : 0.5 * (below.log_beta + above.log_beta);
}

}  // namespace

DewPointStream::DewPointStream(const DewPointGrid& grid)
    : grid_(geometric_grid(grid)),
      mass_(grid_.size(), 0.0),
      largest_(-kInfinity),
      second_(-kInfinity) {}

void DewPointStream::push(std::span<const double> chunk) { push_any(chunk); }
void DewPointStream::push(std::span<const float> chunk) { push_any(chunk); }

template <class Score>
void DewPointStream::push_any(std::span<const Score> chunk) {
  DEWPOINT_EXPECTS(!done_);
  for (const Score entry : chunk) {
    const auto score = static_cast<double>(entry);
    check_score(score, [this] { return fmt::format("scores[{}]", seen_); });
    passes_ == 0 ? survey(score) : evaluate(score);
    ++seen_;
  }
}

void DewPointStream::survey(double score) {
  const bool first = seen_ == 0, wins = score > largest_;
  const double gap = first ? 0.0 : std::abs(largest_ - score);
  for (std::size_t g = 0; g < grid_.size() && !first; ++g) {
    const double weight = grid_[g] * gap < kSurveyReach ? std::exp(-grid_[g] * gap) : 0.0;
    if (!wins && weight == 0.0) break;  // and at every larger β
    mass_[g] = wins ? (mass_[g] + 1.0) * weight : mass_[g] + weight;
  }
  // The mean gap of all scores so far: a new winner moves all others down and has gap 0 itself.
  const double added = wins ? 0.0 : gap;
  if (wins) mean_gap_ += gap;
  mean_gap_ += (added - mean_gap_) / (static_cast<double>(seen_) + 1.0);
  second_ = wins ? largest_ : std::max(second_, score);
  largest_ = std::max(largest_, score);
}

void DewPointStream::evaluate(double score) {
  if (!met_largest_ && score == largest_) {
    met_largest_ = true;
  } else if (!met_second_ && score == second_) {
    met_second_ = true;
  } else {
    for (Node& node : nodes_) node.others.add(node.beta * (largest_ - score));
  }
}

void DewPointStream::end_pass() {
  DEWPOINT_EXPECTS(!done_);
  passes_ == 0 ? end_survey() : end_refinement();
  ++passes_;
  seen_ = 0;
  met_largest_ = met_second_ = false;
}

void DewPointStream::end_survey() {
  count_ = seen_;
  const double smallest_gap = largest_ - second_;
  done_ = count_ < 3 || smallest_gap < kSmallestGap;
  bracket_ = {kInfinity, kInfinity};
  answer_ = kInfinity;
  if (done_) return;
  const auto n = static_cast<double>(count_);
  bracket_ = outer_bracket(count_, mean_gap_ * (n / (n - 1.0)), smallest_gap);
  for (std::size_t g = 0; g < grid_.size(); ++g) {
    if (mass_[g] > 1.0 + kSurveyError) bracket_.lower = std::max(bracket_.lower, grid_[g]);
    if (mass_[g] < 1.0 - kSurveyError) bracket_.upper = std::min(bracket_.upper, grid_[g]);
  }
  place_nodes(geometric_mean(bracket_.lower, bracket_.upper));
}

/// Nodes at both ends and, from either side, at an eighth of the distance of the one before.
void DewPointStream::place_nodes(double guess) {
  const double down = std::log(bracket_.lower / guess), up = std::log(bracket_.upper / guess);
  constexpr std::size_t middle = kNodes / 2;
  double share = 1.0;
  for (std::size_t k = 0; k < middle; ++k, share *= 0.125) {
    nodes_[k] = {guess * std::exp(share * down), {}};
    nodes_[kNodes - 1 - k] = {guess * std::exp(share * up), {}};
  }
  nodes_[middle] = {guess, {}};
}

void DewPointStream::end_refinement() {
  if (seen_ != count_ || !met_largest_ || !met_second_) {
    throw Error(Code::bad_value,
                fmt::format("scores: pass {} brought other scores than the first", passes_ + 1));
  }
  std::array<InversePoint, kNodes> points;
  for (std::size_t k = 0; k < kNodes; ++k) {
    const double beta = nodes_[k].beta;
    points[k] = {std::log(beta), balance(nodes_[k].others, beta * (largest_ - second_))};
    const double step = points[k].balance.step();
    if (std::abs(step) > kLastStep) continue;
    done_ = true;
    answer_ = beta * std::exp(step);
    return;
  }
  const auto above = std::find_if(points.begin() + 1, points.end() - 1,
                                  [](const InversePoint& p) { return p.balance.log_ratio < 0.0; });
  const double guess = std::exp(interpolate(above[-1], above[0]));
  bracket_ = {std::exp(above[-1].log_beta), std::exp(above[0].log_beta)};
  place_nodes(guess);
}

std::optional<DewPointBracket> DewPointStream::bracket() const {
  DEWPOINT_EXPECTS(passes_ > 0);
  if (count_ < 3) return {};
  return bracket_;
}

std::optional<double> DewPointStream::dew_point() const {
  DEWPOINT_EXPECTS(done_);
  if (count_ < 3) return {};
  return answer_;
}

std::optional<double> dew_point_in_passes(const std::function<void(const ScoreReceiver&)>& replay,
                                          const DewPointGrid& grid) {
  DewPointStream stream(grid);
  while (!stream.done()) {
    replay([&stream](std::span<const double> chunk) { stream.push(chunk); });
    stream.end_pass();
  }
  return stream.dew_point();
}

// ---- companions -----------------------------------------------------------------------------

namespace {

/// Σw² of one row, and its derivative in log β.
struct RowParticipation {
  double value;
  double slope;
};

RowParticipation row_participation(std::span<const double> gaps, double beta) {
  detail::BlockSum partition, squares, exponent, squared_exponent;
  for (const double gap : gaps) {
    const double scaled = std::min(beta * gap, kVanished);
    const double weight = decayed(scaled);
    partition.add(weight);
    squares.add(weight * weight);
    exponent.add(scaled * weight);
    squared_exponent.add(scaled * weight * weight);
  }
  const double z = partition.total(), value = squares.total() / (z * z);
  return {value, 2.0 * value * (exponent.total() / z - squared_exponent.total() / squares.total())};
}

/// The rows of a matrix, or rows of different lengths.
template <class Score>
class Rows {
 public:
  explicit Rows(MatrixView<const Score> matrix) {
    for (std::size_t i = 0; i < matrix.rows(); ++i) rows_.push_back(matrix.row(i));
  }
  explicit Rows(std::span<const std::span<const Score>> ragged)
      : rows_(ragged.begin(), ragged.end()) {}

  [[nodiscard]] std::size_t size() const { return rows_.size(); }
  [[nodiscard]] std::span<const Score> operator[](std::size_t i) const { return rows_[i]; }

 private:
  std::vector<std::span<const Score>> rows_;
};

/// The mean over rows, added in the order of rows.
template <class Score>
class PooledParticipation {
 public:
  PooledParticipation(const Rows<Score>& scores, const RunContext& context)
      : scores_(scores), context_(context), rows_(scores.size()) {
    context_.progress = {};  // how many evaluations there will be is not known
  }

  RowParticipation operator()(double beta) {
    parallel_for(rows_.size(), context_,
                 [&](std::size_t i) { rows_[i] = row_participation(gaps_of(scores_[i]), beta); });
    RowParticipation mean{0.0, 0.0};
    for (const RowParticipation& row : rows_) {
      mean.value += row.value / static_cast<double>(rows_.size());
      mean.slope += row.slope / static_cast<double>(rows_.size());
    }
    return mean;
  }

 private:
  const Rows<Score>& scores_;
  RunContext context_;
  std::vector<RowParticipation> rows_;
};

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return 0.5 * *middle + 0.5 * *std::max_element(values.begin(), middle);
}

/// What frozen rows say before any temperature is tried.
struct FrozenRows {
  double participation = 0.0;          // mean of Σw² at β = ∞: one over the number of ties
  std::vector<double> runner_up_gaps;  // of the rows without ties
};

template <class Score>
FrozenRows frozen_rows(const Rows<Score>& scores) {
  FrozenRows frozen;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    const std::vector<double> gaps = ranked_gaps(scores[i]);
    const auto winners =
        std::count_if(gaps.begin(), gaps.end(), [](double gap) { return gap < kSmallestGap; });
    frozen.participation +=
        1.0 / (static_cast<double>(winners) * static_cast<double>(scores.size()));
    if (winners == 1) frozen.runner_up_gaps.push_back(gaps[1]);
  }
  return frozen;
}

/// Newton's method in log β inside a bracket that first has to be found.
template <class Score>
double participation_point_of(const Rows<Score>& scores, const RunContext& context) {
  const FrozenRows frozen = frozen_rows(scores);
  if (frozen.participation <= 0.5 + kParticipationError) return kInfinity;

  PooledParticipation mean(scores, context);
  double lower = 0.0, upper = kInfinity, beta = 1.0 / median(frozen.runner_up_gaps);
  while (true) {
    const RowParticipation now = mean(beta);
    const double missing = 0.5 - now.value, step = missing / now.slope;
    if (missing == 0.0) return beta;
    if (std::abs(step) <= kLastStep) return beta * std::exp(step);
    (missing > 0.0 ? lower : upper) = beta;
    if (upper <= lower * (1.0 + kDewPointError)) return beta;
    const double next = beta * std::exp(std::clamp(step, -2.0, 2.0));
    const bool bracketed = lower > 0.0 && upper < kInfinity;
    const bool inside = lower < next && next < upper;
    beta = inside || !bracketed ? next : geometric_mean(lower, upper);
  }
}

/// max_{k≥2} log k/T_(k) over sorted gaps.
double accumulation_of_sorted(std::span<const double> gaps) {
  double largest = 0.0;
  for (std::size_t k = 1; k < gaps.size(); ++k) {
    largest = std::max(largest, std::log(static_cast<double>(k) + 1.0) / gaps[k]);
  }
  return largest;
}

// So many of the best keys tell which others matter for Λ.
constexpr std::size_t kLeaders = 32;

/// What the leaders give is reached again only by gaps T with log n/T above it: no other gap needs
/// sorting.
template <class Score>
std::optional<double> accumulation_scale_of(std::span<const Score> scores) {
  if (scores.size() < 2) return {};
  std::vector<double> gaps = gaps_of(scores);
  const std::size_t count = std::min(gaps.size(), kLeaders);
  const auto leaders = gaps.begin() + static_cast<std::ptrdiff_t>(count);
  std::nth_element(gaps.begin(), leaders - 1, gaps.end());
  std::sort(gaps.begin(), leaders);
  if (gaps[1] < kSmallestGap) return kInfinity;
  const double reached = accumulation_of_sorted({gaps.begin(), leaders});
  const double limit = std::log(static_cast<double>(gaps.size())) / reached;
  const auto end = std::partition(leaders, gaps.end(), [&](double gap) { return gap <= limit; });
  std::sort(leaders, end);
  return accumulation_of_sorted({gaps.begin(), end});
}

template <class Score>
double median_accumulation_scale_of(MatrixView<const Score> scores, const RunContext& context) {
  check_pool(scores, 2);
  std::vector<double> scales(scores.rows());
  parallel_for(scores.rows(), context, [&](std::size_t i) {
    scales[i] = accumulation_scale_of(std::span<const Score>(scores.row(i))).value();
  });
  return median(scales);
}

}  // namespace

double participation_point(MatrixView<const double> scores, const RunContext& context) {
  check_pool(scores, 3);
  return participation_point_of(Rows(scores), context);
}
double participation_point(MatrixView<const float> scores, const RunContext& context) {
  check_pool(scores, 3);
  return participation_point_of(Rows(scores), context);
}
double participation_point(std::span<const std::span<const double>> scores,
                           const RunContext& context) {
  check_ragged(scores, 3);
  return participation_point_of(Rows<double>(scores), context);
}

std::optional<double> accumulation_scale(std::span<const double> scores) {
  check_row(scores);
  return accumulation_scale_of(scores);
}
std::optional<double> accumulation_scale(std::span<const float> scores) {
  check_row(scores);
  return accumulation_scale_of(scores);
}

double median_accumulation_scale(MatrixView<const double> scores, const RunContext& context) {
  return median_accumulation_scale_of(scores, context);
}
double median_accumulation_scale(MatrixView<const float> scores, const RunContext& context) {
  return median_accumulation_scale_of(scores, context);
}

}  // namespace dewpoint::observables
