#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "dewpoint/experiments/option_checks.hpp"
#include "dewpoint/experiments/text_training.hpp"

namespace dewpoint::experiments {
namespace {

constexpr std::size_t kMostTextContext = 100'000;
constexpr std::size_t kMostTextBatch = 1U << 20;
constexpr std::size_t kMostTextRows = 1U << 28;
constexpr std::uint64_t kMostTextSteps = 1'000'000'000;
constexpr std::uint64_t kMostLooks = 100'000;
constexpr std::size_t kMostProbeTokens = 64;

void require_between(const char* field, std::uint64_t value, std::uint64_t least,
                     std::uint64_t most) {
  if (value >= least && value <= most) return;
  throw Error(Code::bad_value,
              fmt::format("{}: {} is not between {} and {}", field, value, least, most));
}

void check_model(const TextQuestion& question) {
  transformer::Shape shape = question.shape;
  shape.vocabulary = std::max<std::size_t>(question.corpus.vocabulary, 2);
  transformer::check(shape);
  require_option(std::isfinite(question.deviation) && question.deviation >= 0.0, "init",
                 question.deviation, "0 (for 1/m) or above");
}

void check_windows(const TextQuestion& question) {
  require_between("s", question.context, 1, kMostTextContext);
  require_between("batch", question.batch, 1, kMostTextBatch);
  require_between("batch", question.batch, 1, kMostTextRows / question.context);
  const bool all = question.targets == transformer::Targets::all;
  if (all && !question.shape.causal) {
    throw Error(Code::bad_value,
                "loss: all needs a causal mask; without one every answer but the last is seen");
  }
  if (question.contexts == Contexts::histograms && (question.shape.causal || all)) {
    throw Error(Code::bad_value,
                "contexts: histograms need a model without a mask that is asked for the last "
                "token; allowed: sequences");
  }
}

void check_looks(const TextQuestion& question) {
  require_between("steps", question.steps, 1, kMostTextSteps);
  const std::uint64_t least = std::max<std::uint64_t>(1, question.steps / kMostLooks);
  require_between("record-every", question.every, least, kMostTextSteps);
  require_between("validate-every", question.validate_every, least, kMostTextSteps);
  DEWPOINT_EXPECTS(question.validation_windows >= 1);
  if (!question.probe.empty()) {
    require_between("probe", question.probe.size(), 2, kMostProbeTokens);
  }
}

}  // namespace

void check(const TextQuestion& question) {
  check_model(question);
  check_windows(question);
  check_adam(question.adam);
  check_looks(question);
}

std::size_t least_tokens(const TextQuestion& question) { return question.context + 1; }

}  // namespace dewpoint::experiments
