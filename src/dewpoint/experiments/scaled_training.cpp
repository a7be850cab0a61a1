#include "dewpoint/experiments/scaled_training.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "dewpoint/core/unknown.hpp"
#include "dewpoint/experiments/longer_contexts.hpp"
#include "dewpoint/experiments/text_windows.hpp"

namespace dewpoint::experiments {
namespace {

using transformer::Look;
using transformer::Windows;

// Of a normal law, the deviation in units of the median distance from the median.
constexpr double kDeviationOfMedian = 1.4826;

// The middle one, or the mean of the two.
double middle_of(std::vector<double>& numbers) {
  const std::size_t half = numbers.size() / 2;
  const auto middle = numbers.begin() + static_cast<std::ptrdiff_t>(half);
  std::nth_element(numbers.begin(), middle, numbers.end());
  if (numbers.size() % 2 == 1) return *middle;
  return 0.5 * (*middle + *std::max_element(numbers.begin(), middle));
}

bool is_spike(std::span<const double> before, double loss) {
  std::vector<double> some(before.begin(), before.end());
  const double median = middle_of(some);
  for (double& one : some) one = std::abs(one - median);
  return loss - median > kSpikeDeviations * kDeviationOfMedian * middle_of(some);
}

std::vector<std::vector<double>> longer_losses(const ScaledQuestion& question, const TextRun& run,
                                               const Windows& windows, const RunContext& context) {
  const bool lost = run.diverged().has_value();
  std::vector<std::string> laws = {run.shape().scaling};
  laws.insert(laws.end(), question.evaluations.begin(), question.evaluations.end());
  std::vector<std::vector<double>> losses;
  for (std::size_t k = 0; k < laws.size(); ++k) {
    const auto same =
        std::find(laws.begin(), laws.begin() + static_cast<std::ptrdiff_t>(k), laws[k]);
    if (const auto done = static_cast<std::size_t>(same - laws.begin()); done < k) {
      losses.push_back(losses[done]);
      continue;
    }
    transformer::Shape shape = run.shape();
    shape.scaling = laws[k];
    std::vector<double>& of_law = losses.emplace_back();
    for (const std::size_t factor : kLengthFactors) {
      of_law.push_back(lost ? kUnknown
                            : loss_given(shape, run.state().weights, windows, question.text.context,
                                         factor, context));
    }
  }
  return losses;
}

}  // namespace

void check(const ScaledQuestion& question) {
  check(question.text);
  for (const std::string& law : question.evaluations) {
    TextQuestion under = question.text;
    under.shape.scaling = law;
    check(under);
  }
}

ScaledRecord scaled_run(const ScaledQuestion& question, std::shared_ptr<const text::Corpus> corpus,
                        std::uint64_t replica, const RunContext& context) {
  check(question);
  const std::span<const std::int32_t> validation = corpus->validation;
  const Windows longer = longer_windows(validation, question.text.context);
  const Windows measured = even_windows(validation, question.text.context, kPhaseWindows);
  const RunContext within{context.threads, context.stop, {}};

  TextRun run(question.text, std::move(corpus), replica);
  ScaledRecord record;
  run.advance(within, [&](const TextRun& now) {
    record.heads.push_back(head_phases(now.shape(), now.state().weights, measured, within));
  });
  record.looks.assign(run.looks().begin(), run.looks().end());
  record.batch_losses.assign(run.batch_losses().begin(), run.batch_losses().end());
  record.diverged = run.diverged();
  record.longer = longer_losses(question, run, longer, within);
  return record;
}

double steps_to(std::span<const Look> looks, double target) {
  for (std::size_t i = 0; i < looks.size(); ++i) {
    const double loss = looks[i].validation_loss;
    if (!(loss <= target)) continue;
    if (i == 0) return looks[i].step;
    const double before = looks[i - 1].validation_loss, from = looks[i - 1].step;
    if (!(before > loss)) return looks[i].step;
    return from + (looks[i].step - from) * (before - target) / (before - loss);
  }
  return kUnknown;
}

std::size_t spikes_in(std::span<const double> losses) {
  std::size_t spikes = 0;
  for (std::size_t i = kSpikeWindow; i < losses.size(); ++i) {
    spikes += is_spike(losses.subspan(i - kSpikeWindow, kSpikeWindow), losses[i]) ? 1 : 0;
  }
  return spikes;
}

}  // namespace dewpoint::experiments
