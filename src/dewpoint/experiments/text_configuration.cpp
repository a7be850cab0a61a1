#include "dewpoint/experiments/text_configuration.hpp"

#include <fmt/format.h>
#define XXH_INLINE_ALL  // the header is the library
#include <xxhash.h>

#include <span>

#include "dewpoint/checkpoint/refusal.hpp"
#include "dewpoint/question/field.hpp"

namespace dewpoint::experiments {
namespace {

std::uint64_t hash_of(std::uint64_t before, const void* data, std::size_t size) {
  const std::uint64_t with_size = XXH3_64bits_withSeed(&size, sizeof size, before);
  return XXH3_64bits_withSeed(data, size, with_size);
}

/// Of both parts and of the names: another text, or another vocabulary, has another one.
std::string corpus_hash(const text::Corpus& corpus) {
  std::uint64_t hash = 0;
  for (const auto* part : {&corpus.training, &corpus.validation}) {
    hash = hash_of(hash, part->data(), std::span(*part).size_bytes());
  }
  for (const std::string& name : corpus.names) hash = hash_of(hash, name.data(), name.size());
  return fmt::format("{:016x}", hash);
}

std::string listed(const std::vector<std::int32_t>& tokens) {
  return fmt::format("{}", fmt::join(tokens, " "));
}

}  // namespace

bool sees_histograms(const TextQuestion& question) {
  if (question.contexts != Contexts::automatic) return question.contexts == Contexts::histograms;
  return question.shape.permutation_equivariant() && question.targets == transformer::Targets::last;
}

transformer::Metadata configuration_of(const TextQuestion& question, const text::Corpus& corpus,
                                       const transformer::Probe& probe, std::uint64_t replica) {
  return {{"adam", transformer::adam_text(question.adam)},
          {"seed", std::to_string(question.seed)},
          {"replica", std::to_string(replica)},
          {"context", std::to_string(question.context)},
          {"batch", std::to_string(question.batch)},
          {"targets", question::word_for(question.targets)},
          {"contexts", sees_histograms(question) ? "histograms" : "sequences"},
          {"init", fmt::format("{}", question.deviation)},
          {"probe", listed(probe.tokens)},
          {"sentence", listed(probe.sentence)},
          {"corpus", corpus_hash(corpus)},
          {"validation_windows", std::to_string(question.validation_windows)}};
}

void require_same_configuration(const std::string& name, const transformer::Metadata& found,
                                const transformer::Metadata& wanted) {
  for (const auto& [field, value] : wanted) {
    const auto other = found.find(field);
    if (other != found.end() && other->second == value) continue;
    const std::string there =
        other == found.end() ? "nothing" : fmt::format("'{}'", checkpoint::excerpt(other->second));
    throw checkpoint::to_error(Code::bad_value, name,
                               {field, there, fmt::format("'{}', as the run has it", value)});
  }
}

}  // namespace dewpoint::experiments
