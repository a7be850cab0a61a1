#include "dewpoint/experiments/loss_study.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "dewpoint/core/error.hpp"
#include "dewpoint/core/estimate.hpp"
#include "dewpoint/models/architecture.hpp"

namespace dewpoint::experiments {
namespace {

constexpr std::size_t kShortestWindow = 4;

// What is kept of one window under one rotation and multiplier; NaN: no such prediction.
struct WindowLoss {
  double last_half = 0.0;
  double all = 0.0;
  std::vector<double> by_n;  // per octave
};

double mean_of(std::span<const double> losses) {
  double sum = 0.0;
  for (const double loss : losses) sum += loss;
  return losses.empty() ? std::numeric_limits<double>::quiet_NaN()
                        : sum / static_cast<double>(losses.size());
}

// Ends of the octaves: longest, longest/2, ... down to 2.
std::vector<std::size_t> octaves_up_to(std::size_t longest) {
  std::vector<std::size_t> ends;
  for (std::size_t end = longest; end >= 2; end /= 2) ends.push_back(end);
  std::reverse(ends.begin(), ends.end());
  return ends;
}

// losses[p] is the prediction from position p, which sees p + 1 tokens.
WindowLoss summary_of(std::span<const double> losses, std::size_t length,
                      const std::vector<std::size_t>& octaves) {
  WindowLoss result;
  result.last_half = mean_of(losses.subspan(length / 2));
  result.all = mean_of(losses);
  for (const std::size_t end : octaves) {
    const std::size_t first = std::min(end / 2, losses.size());
    const std::size_t last = std::min(end, losses.size());
    result.by_n.push_back(mean_of(losses.subspan(first, last - first)));
  }
  return result;
}

void check(const LossQuestion& question) {
  if (question.lengths.empty() || question.ropes.empty() || question.multipliers.empty()) {
    throw Error(Code::bad_value,
                "loss: found an empty list, allowed: a length, a rotation and a multiplier");
  }
  if (question.sequences == 0) {
    throw Error(Code::bad_value, "sequences: found 0, allowed: at least 1");
  }
  for (const std::size_t length : question.lengths) {
    if (length >= kShortestWindow) continue;
    throw Error(Code::bad_value, fmt::format("length: found {} tokens, allowed: at least {}",
                                             length, kShortestWindow));
  }
}

// The losses of all windows, for every length, rotation and multiplier; multiplier 1 is one more of
// these where the question does not have it.
class LossTable {
 public:
  LossTable(const models::Decoder& decoder, const LossQuestion& question)
      : decoder_(decoder),
        question_(question),
        multipliers_(question.multipliers),
        octaves_(
            octaves_up_to(*std::max_element(question.lengths.begin(), question.lengths.end()))) {
    const auto one = std::find_if(multipliers_.begin(), multipliers_.end(),
                                  [](const LossMultiplier& m) { return m.constant == 1.0; });
    baseline_ = static_cast<std::size_t>(one - multipliers_.begin());
    if (one == multipliers_.end()) multipliers_.push_back(constant_multiplier(1.0));
    for (const std::size_t length : question.lengths) {
      windows_.push_back(
          token_windows(question.tokens, length, question.sequences, question.beginning_token)
              .tokens);
    }
    losses_.resize(question.lengths.size() * question.ropes.size() * multipliers_.size() *
                   question.sequences);
  }

  // Windows run side by side, each on one thread; a single one has all threads.
  void run(const RunContext& context) {
    ProgressTally tally(context.progress, total_tokens());
    const bool alone = question_.sequences == 1;
    const RunContext inner{alone ? context.threads : 1, context.stop, {}};
    const RunContext outer{alone ? 1 : context.threads, context.stop, {}};
    parallel_for(losses_.size(), outer, [&](std::size_t cell) {
      losses_[cell] = window_loss(cell, inner);
      tally.finish(static_cast<double>(question_.lengths[place_of(cell).length]));
    });
  }

  [[nodiscard]] const WindowLoss& at(std::size_t length, std::size_t rope, std::size_t multiplier,
                                     std::size_t window) const {
    return losses_[((length * question_.ropes.size() + rope) * multipliers_.size() + multiplier) *
                       question_.sequences +
                   window];
  }
  [[nodiscard]] std::size_t baseline() const { return baseline_; }
  [[nodiscard]] const std::vector<std::size_t>& octaves() const { return octaves_; }

 private:
  struct Place {
    std::size_t length, rope, multiplier, window;
  };

  [[nodiscard]] Place place_of(std::size_t cell) const {
    Place place{};
    place.window = cell % question_.sequences;
    cell /= question_.sequences;
    place.multiplier = cell % multipliers_.size();
    cell /= multipliers_.size();
    place.rope = cell % question_.ropes.size();
    place.length = cell / question_.ropes.size();
    return place;
  }

  [[nodiscard]] double total_tokens() const {
    double tokens = 0.0;
    for (const std::size_t length : question_.lengths) tokens += static_cast<double>(length);
    const std::size_t runs_per_length = losses_.size() / question_.lengths.size();
    return tokens * static_cast<double>(runs_per_length);
  }

  [[nodiscard]] WindowLoss window_loss(std::size_t cell, const RunContext& context) const {
    const Place place = place_of(cell);
    const std::size_t length = question_.lengths[place.length];
    const RopeVariant& rope = question_.ropes[place.rope];
    models::ForwardOptions options;
    if (rope.at) options.rope = rope.at(length);
    options.multiplier = multipliers_[place.multiplier].value;
    const std::span<const int> window = windows_[place.length][place.window];
    const Matrix<float> hidden = decoder_.hidden_states(window, options, context);
    return summary_of(decoder_.next_token_losses(window, hidden, context), length, octaves_);
  }

  const models::Decoder& decoder_;
  const LossQuestion& question_;
  std::vector<LossMultiplier> multipliers_;
  std::size_t baseline_ = 0;
  std::vector<std::size_t> octaves_;
  std::vector<std::vector<std::vector<int>>> windows_;  // per length
  std::vector<WindowLoss> losses_;
};

void add_multipliers(Frame& frame, const std::vector<LossMultiplier>& multipliers) {
  std::vector<double> constants;
  std::vector<std::string> names;
  for (const LossMultiplier& multiplier : multipliers) {
    names.push_back(multiplier.name);
    if (multiplier.constant) constants.push_back(*multiplier.constant);
  }
  if (constants.size() == multipliers.size()) {
    frame.add_dimension("multiplier", std::move(constants));
  } else {
    frame.add_labelled_dimension("multiplier", std::move(names));
  }
}

Frame empty_frame(const LossQuestion& question, const std::vector<std::size_t>& octaves) {
  Frame frame("loss");
  frame.add_dimension("length", {question.lengths.begin(), question.lengths.end()});
  std::vector<std::string> ropes;
  for (const RopeVariant& rope : question.ropes) ropes.push_back(rope.name);
  frame.add_labelled_dimension("rope", std::move(ropes));
  add_multipliers(frame, question.multipliers);
  frame.add_dimension("n", {octaves.begin(), octaves.end()});
  for (const char* name : {"loss", "loss_all", "loss_change"}) {
    frame.add_variable(name, {"length", "rope", "multiplier"});
  }
  frame.add_variable("loss_by_n", {"length", "rope", "multiplier", "n"});
  return frame;
}

// Mean over windows of a number of each.
Estimate over_windows(std::size_t windows, const std::function<double(std::size_t)>& number) {
  RunningMoments moments;
  for (std::size_t w = 0; w < windows; ++w) {
    if (!std::isnan(number(w))) moments.add(number(w));
  }
  return moments.samples() == 0 ? Estimate{} : moments.estimate();
}

void fill(Frame& frame, const LossTable& table, const LossQuestion& question, std::size_t l,
          std::size_t r, std::size_t m) {
  const std::size_t windows = question.sequences;
  const std::size_t cell = frame.cell_index(frame.variable("loss"), {l, r, m});
  const auto at = [&](std::size_t w) -> const WindowLoss& { return table.at(l, r, m, w); };
  frame.variable("loss").cells[cell] =
      over_windows(windows, [&](std::size_t w) { return at(w).last_half; });
  frame.variable("loss_all").cells[cell] =
      over_windows(windows, [&](std::size_t w) { return at(w).all; });
  frame.variable("loss_change").cells[cell] = over_windows(windows, [&](std::size_t w) {
    return at(w).last_half - table.at(l, r, table.baseline(), w).last_half;
  });
  for (std::size_t k = 0; k < table.octaves().size(); ++k) {
    frame.variable("loss_by_n").cells[cell * table.octaves().size() + k] =
        over_windows(windows, [&](std::size_t w) { return at(w).by_n[k]; });
  }
}

}  // namespace

LossMultiplier constant_multiplier(double value) {
  return {fmt::format("{}", value), [value](std::size_t) { return value; }, value};
}

Frame study_loss(const models::Decoder& decoder, const LossQuestion& question,
                 const RunContext& context) {
  check(question);
  models::require_causal(decoder.config());
  LossTable table(decoder, question);
  table.run(context);
  Frame frame = empty_frame(question, table.octaves());
  for (std::size_t l = 0; l < question.lengths.size(); ++l) {
    for (std::size_t r = 0; r < question.ropes.size(); ++r) {
      for (std::size_t m = 0; m < question.multipliers.size(); ++m) {
        fill(frame, table, question, l, r, m);
      }
    }
  }
  return frame;
}

}  // namespace dewpoint::experiments
