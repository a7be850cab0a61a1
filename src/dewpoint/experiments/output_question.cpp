#include "dewpoint/experiments/output_question.hpp"

#include <fmt/format.h>

#include <cmath>

#include "dewpoint/core/error.hpp"
#include "dewpoint/experiments/option_checks.hpp"
#include "dewpoint/scores/law_names.hpp"

namespace dewpoint::experiments {
namespace {

std::unique_ptr<scores::KeyLaw> law_of(const std::string& keys) try {
  return scores::key_law(keys);
} catch (const Error& error) {
  throw Error(error.code(), fmt::format("keys: {}", error.what()));
}

void resolve_temperature(OutputQuestion& q) {
  if (!q.edge) {
    q.beta = q.beta.value_or(10.0);
    return;
  }
  const auto scores = scores_of(q.keys);
  require_option(scores.has_value(), "edge", *q.edge,
                 fmt::format("known for keys {}; allowed: beta", q.keys));
  const double log_n = std::log(static_cast<double>(q.n));
  const double unit = std::exp(log_n + scores->depth->log_density(scores->depth->quantile(-log_n)));
  q.beta = *q.edge * unit;
  require_option(std::isfinite(*q.beta), "edge", *q.edge, "small enough for a finite beta");
  q.edge.reset();
}

}  // namespace

OutputQuestion resolved(OutputQuestion q) {
  const auto law = law_of(q.keys);
  q.keys = law->name();
  resolve_temperature(q);
  check(output_of({&q, 1}), *law);
  return q;
}

KeyOutput output_of(std::span<const OutputQuestion> tile) {
  KeyOutput output;
  output.keys = tile.front().n;
  output.draws = tile.front().draws;
  for (const OutputQuestion& question : tile) {
    output.inverse_temperatures.push_back(*question.beta);
  }
  return output;
}

std::optional<KeyScores> scores_of(const std::string& keys) {
  const scores::LawText text(keys, scores::key_law_names());
  if (text.name() == "gaussian-keys") return KeyScores{std::make_shared<NormalDepth>(1.0), 0.0};
  if (text.name() == "subsphere" && text.number("noise") > 0.0) return {};
  const auto law = scores::score_law(keys);
  const auto* tail = dynamic_cast<const scores::TailLaw*>(law.get());
  if (tail == nullptr) return {};
  return KeyScores{tail->distribution(), law->origin()};
}

}  // namespace dewpoint::experiments
