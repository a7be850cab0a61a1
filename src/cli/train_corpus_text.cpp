#include "cli/train_corpus_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "cli/question_options.hpp"
#include "cli/study_record.hpp"
#include "dewpoint/core/unknown.hpp"

namespace dewpoint::cli {
namespace {

using experiments::TextNumbers;
using experiments::TextRun;
using experiments::TrainTextQuestion;

/// 1234567 as 1,234,567.
std::string with_commas(double count) {
  std::string digits_text = fmt::format("{:.0f}", count);
  for (auto place = static_cast<std::ptrdiff_t>(digits_text.size()) - 3; place > 0; place -= 3) {
    digits_text.insert(static_cast<std::size_t>(place), ",");
  }
  return digits_text;
}

std::size_t weights_of(const TextRun& run) {
  std::size_t count = 0;
  for (const auto* matrix : transformer::matrices_of(run.state().weights)) count += matrix->size();
  return count;
}

std::string corpus_line(const TextRun& run) {
  const experiments::TextQuestion& question = run.question();
  const text::Corpus& corpus = run.corpus();
  return fmt::format("text {}: {} tokens to train on and {} to validate, V = {} ({}{})\n",
                     question.corpus.file.string(),
                     with_commas(static_cast<double>(corpus.training.size())),
                     with_commas(static_cast<double>(corpus.validation.size())), corpus.vocabulary,
                     question.corpus.tokenizer == "words" ? "words, " : "", corpus.style);
}

std::string model_line(const TextRun& run) {
  const experiments::TextQuestion& question = run.question();
  const bool last = question.targets == transformer::Targets::last;
  return fmt::format(
      "{}, m = {}, {} weights from N(0, {:.3g}²); contexts of {} tokens, {} at a time, loss after "
      "{}; Adam, rate {:g}, {} steps; seed {}\n",
      transformer::name_of(run.shape()), run.shape().width,
      with_commas(static_cast<double>(weights_of(run))), question.deviation, question.context,
      question.batch, last ? "the last token" : "every token", question.adam.rate, question.steps,
      question.seed);
}

std::string step_text(double step) {
  return std::isnan(step) ? "not seen" : fmt::format("{:g}", step);
}

std::string numbers_text(const TextRun& run, const TextNumbers& numbers) {
  Json rows = Json::array();
  const std::string end = fmt::format("{}", run.done());
  const auto add = [&](const char* name, double value, const std::string& step,
                       const std::string& meaning) {
    rows.push_back({{"name", name},
                    {"value", std::isnan(value) ? "-" : fmt::format("{:.4f}", value)},
                    {"step", step},
                    {"meaning", meaning}});
  };
  const auto& probe = run.probe().tokens;
  const std::string first = run.corpus().names[static_cast<std::size_t>(probe.front())];
  add("training loss", numbers.final_loss, end, "nats per token, batches since the last look");
  add("validation loss", numbers.validation_loss, end, "on windows that were not trained on");
  add("unigram entropy", text::unigram_entropy(run.corpus()), "", "loss of the tokens' law alone");
  add("focus", numbers.focus_peak, step_text(numbers.focus_step),
      fmt::format("largest attention of medium-frequency tokens to '{}'", first));
  const bool diluted = !std::isnan(numbers.dilution_step);
  add("dilution", diluted ? 0.5 * numbers.focus_peak : kUnknown, step_text(numbers.dilution_step),
      "it has fallen below half of that");
  add("focus at the end", numbers.final_focus, end, "what is left of it");
  add("self share", numbers.final_self_share, end, "attention of these tokens to themselves");
  add("rank one", numbers.rank_one, end, "share of W0 along one direction");
  return to_text(
      rows,
      {{"name", "", true}, {"value", "value"}, {"step", "step"}, {"meaning", "what it is", true}});
}

struct NamedRetraction {
  std::string token;
  training::Retraction retraction;
};

std::vector<NamedRetraction> retractions_in(const TextRun& run) {
  std::vector<NamedRetraction> found;
  const auto& followed = run.probe().norms;
  for (std::size_t k = 0; k < followed.size(); ++k) {
    const auto deepest = experiments::deepest_retraction(run.looks(), k);
    if (!deepest) continue;
    found.push_back({run.corpus().names[static_cast<std::size_t>(followed[k])], *deepest});
  }
  return found;
}

std::string retractions_line(const std::vector<NamedRetraction>& all) {
  std::vector<std::string> texts;
  for (const auto& [token, one] : all) {
    texts.push_back(fmt::format("'{}' from {:g} to {:g} (-{:.0f} %)", token, one.from, one.until,
                                100.0 * one.depth()));
  }
  return texts.empty() ? "no embedding that is followed retracts\n"
                       : fmt::format("embeddings retract: {}\n", fmt::join(texts, ", "));
}

Json names_json(const TextRun& run, const std::vector<std::int32_t>& tokens) {
  Json names = Json::array();
  for (const std::int32_t token : tokens) {
    names.push_back(run.corpus().names[static_cast<std::size_t>(token)]);
  }
  return names;
}

Json run_json(const TrainTextQuestion& asked, const TextRun& run, const TextNumbers& numbers,
              const std::vector<NamedRetraction>& retractions) {
  Json retracted = Json::array();
  for (const auto& [token, one] : retractions) {
    retracted.push_back(
        {{"token", token}, {"from", one.from}, {"until", one.until}, {"depth", one.depth()}});
  }
  const text::Corpus& corpus = run.corpus();
  return {{"experiment", "train text"},
          {"version", full_version()},
          {"seed", run.question().seed},
          {"parameters", parameters_json(question::fields_of<TrainTextQuestion>(), {},
                                         question::point_of(filled(asked)))},
          {"corpus",
           {{"style", corpus.style},
            {"vocabulary", corpus.vocabulary},
            {"training_tokens", corpus.training.size()},
            {"validation_tokens", corpus.validation.size()},
            {"unigram_entropy", text::unigram_entropy(corpus)}}},
          {"probe", names_json(run, run.probe().tokens)},
          {"focus",
           {{"peak", known(numbers.focus_peak)},
            {"step", known(numbers.focus_step)},
            {"dilution_step", known(numbers.dilution_step)},
            {"end", known(numbers.final_focus)}}},
          {"retractions", retracted},
          {"end",
           {{"step", run.done()},
            {"loss", known(numbers.final_loss)},
            {"validation_loss", known(numbers.validation_loss)},
            {"self_share", known(numbers.final_self_share)},
            {"rank_one", known(numbers.rank_one)}}}};
}

}  // namespace

Answer text_run_answer(const TrainTextQuestion& asked, const TextRun& run) {
  const TextNumbers numbers = experiments::text_numbers(run.looks());
  const std::vector<NamedRetraction> retractions = retractions_in(run);
  const std::string speed =
      run.tokens_per_second() > 0.0
          ? fmt::format("{} tokens per second\n", with_commas(run.tokens_per_second()))
          : "";
  return {run_json(asked, run, numbers, retractions), corpus_line(run) + model_line(run) + "\n" +
                                                          numbers_text(run, numbers) + "\n" +
                                                          retractions_line(retractions) + speed};
}

}  // namespace dewpoint::cli
