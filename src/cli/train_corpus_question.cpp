#include "cli/train_corpus_question.hpp"

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <utility>

#include "cli/query_keys.hpp"
#include "cli/study_parameters.hpp"
#include "dewpoint/core/error.hpp"

namespace dewpoint::cli {
namespace {

using experiments::TextQuestion;
using transformer::Targets;

const std::map<std::string, Targets> kTargetNames = {{"last", Targets::last},
                                                     {"all", Targets::all}};

const char* target_name(Targets targets) { return targets == Targets::last ? "last" : "all"; }

bool is_made_here(const std::string& tokenizer) {
  return tokenizer == "words" || tokenizer == "bpe";
}

template <class Target, class Given>
void take(Target& target, const std::optional<Given>& given) {
  if (given) target = static_cast<Target>(*given);
}

/// A count of an option, as it was given.
template <class Count>
void take_count(Count& target, const char* option, const std::optional<double>& given,
                double most) {
  if (given) target = static_cast<Count>(whole_number(option, *given, 1.0, most));
}

void take_model(TextQuestion& question, const CorpusOptions& options, const SharedOptions& shared) {
  transformer::Shape& shape = question.shape;
  take(shape.width, shared.m);
  take_count(shape.layers, "layers", options.layers, 64.0);
  take_count(shape.heads, "heads", options.heads, 8192.0);
  shape.residual = shared.residual;
  if (options.branch && !shape.residual) {
    throw Error(Code::bad_value, "branch: without --residual there is no branch to scale");
  }
  if (options.branch) shape.branch = *options.branch;
  shape.value_matrix = options.value_matrix;
  shape.causal = options.causal;
  shape.pre_norm = options.pre_norm;
  const double start = options.start.value_or(1.0);
  if (!(std::isfinite(start) && start > 0.0)) {
    throw Error(Code::bad_value, fmt::format("start: {:g} is not a number above 0", start));
  }
  question.deviation = start / static_cast<double>(shape.width);
}

void take_windows(TextQuestion& question, const CorpusOptions& options,
                  const SharedOptions& shared) {
  take(question.context, shared.s);
  take(question.batch, shared.batch);
  question.targets = kTargetNames.at(options.loss);
  if (question.targets == Targets::all && !options.causal) {
    throw Error(Code::bad_value,
                "loss: 'all' needs --causal, as every answer but the last would be seen; allowed "
                "without it: last");
  }
  if (options.scaling.empty()) return;
  question.shape.scaling = transformer::scaling_text(options.scaling, question.context);
}

}  // namespace

void CorpusOptions::add_to(CLI::App& verb) {
  verb.add_option(
      "--corpus", corpus,
      "Text file to train on instead of a chain (UTF-8); its s is 32, batch 256, steps 20000 "
      "and record-every 50 unless given");
  verb.add_option("--tokenizer", tokenizer,
                  "Of a text: words, bpe (byte pairs, learned from it), or a tokenizer's file")
      ->capture_default_str();
  verb.add_option("--vocabulary", vocabulary, "Tokens of words or bpe [2000]");
  verb.add_option("--layers", layers, "Layers of a model of text [1]");
  verb.add_option("--heads", heads, "Heads of a layer, which divide its width [1]");
  verb.add_option("--branch", branch, "What a residual layer adds is multiplied by this [1]");
  verb.add_flag("--value", value_matrix, "Layers have a value matrix");
  verb.add_flag("--causal", causal, "Positions see those before them only");
  verb.add_flag("--pre-norm", pre_norm, "States are normed before each layer and at the end");
  verb.add_option("--loss", loss, "Predict after the last token of a context, or after all")
      ->check(CLI::IsMember({"last", "all"}))
      ->capture_default_str();
  verb.add_option("--scaling", scaling,
                  "Law of the logits of a causal model, m(n) for a query that sees n tokens, by a "
                  "name of dewpoint scale explain; n0 is s unless given [constant]");
  verb.add_option("--start", start, "Deviation of the initial weights of text, times m [1]");
  verb.add_option("--validate-every", validate_every, "Steps between two validation losses [500]");
  verb.add_option(
      "--probe", probe,
      "Tokens whose attention is followed, frequent ones first, comma-separated (\\, is "
      "a comma) [three frequent and three of medium frequency]");
  verb.add_option("--sentence", sentence, "Test sentence [one from the end of the text]");
  verb.add_option("--checkpoint", checkpoint,
                  "File (.safetensors) for weights and moments, every 30 s and at the end");
  verb.add_option("--model", model, "Folder for the trained model, for dewpoint heads");
}

void take_text_steps(TextQuestion& question, const CorpusOptions& options,
                     const SharedOptions& shared) {
  take(question.adam.rate, shared.rate);
  take(question.adam.first_decay, shared.beta1);
  take(question.adam.second_decay, shared.beta2);
  take(question.adam.epsilon, shared.eps);
  take(question.steps, shared.steps);
  take(question.every, shared.record_every);
  take_count(question.validate_every, "validate-every", options.validate_every, 1e9);
}

TextQuestion text_question_of(const CorpusOptions& options, const SharedOptions& shared,
                              std::uint64_t seed) {
  TextQuestion question;
  question.corpus.file = options.corpus;
  question.corpus.tokenizer = options.tokenizer;
  if (!is_made_here(options.tokenizer)) question.corpus.vocabulary = 0;
  take_count(question.corpus.vocabulary, "vocabulary", options.vocabulary, 1e6);
  take_model(question, options, shared);
  take_windows(question, options, shared);
  take_text_steps(question, options, shared);
  if (!options.probe.empty()) question.probe = names_in(options.probe);
  question.sentence = options.sentence;
  question.seed = seed;
  experiments::check(question);
  return question;
}

TextPairs text_parameters_of(const TextQuestion& question) {
  TextPairs all = {{"corpus", question.corpus.file.string()},
                   {"tokenizer", question.corpus.tokenizer}};
  const auto add = [&](const char* name, const auto& value) {
    all.emplace_back(name, fmt::format("{}", value));
  };
  const transformer::Shape& shape = question.shape;
  add("vocabulary", question.corpus.vocabulary);
  add("s", question.context);
  add("batch", question.batch);
  add("m", shape.width);
  add("layers", shape.layers);
  add("heads", shape.heads);
  add("residual", shape.residual);
  if (shape.residual) add("branch", shape.branch);
  add("value", shape.value_matrix);
  add("causal", shape.causal);
  add("pre-norm", shape.pre_norm);
  if (!shape.scaling.empty()) add("scaling", shape.scaling);
  add("loss", target_name(question.targets));
  add("init", question.deviation);
  add("rate", question.adam.rate);
  add("beta1", question.adam.first_decay);
  add("beta2", question.adam.second_decay);
  add("eps", question.adam.epsilon);
  add("steps", question.steps);
  add("record-every", question.every);
  add("validate-every", question.validate_every);
  if (!question.probe.empty()) add("probe", names_text(question.probe));
  if (!question.sentence.empty()) add("sentence", question.sentence);
  return all;
}

TextQuestion text_question_from(const store::StudyRecord& study, const std::string& file) {
  const StudyParameters parameters(study, file);
  TextQuestion question;
  question.corpus.file = parameters.text("corpus");
  question.corpus.tokenizer = parameters.text("tokenizer");
  question.corpus.vocabulary = parameters.count("vocabulary");
  question.context = parameters.count("s");
  question.batch = parameters.count("batch");
  transformer::Shape& shape = question.shape;
  shape.width = parameters.count("m");
  shape.layers = parameters.count("layers");
  shape.heads = parameters.count("heads");
  shape.residual = parameters.flag("residual");
  if (shape.residual) shape.branch = parameters.number("branch");
  shape.value_matrix = parameters.flag("value");
  shape.causal = parameters.flag("causal");
  shape.pre_norm = parameters.flag("pre-norm");
  if (parameters.has("scaling")) shape.scaling = parameters.text("scaling");
  question.targets = parameters.word("loss", kTargetNames);
  question.deviation = parameters.number("init");
  question.adam.rate = parameters.number("rate");
  question.adam.first_decay = parameters.number("beta1");
  question.adam.second_decay = parameters.number("beta2");
  question.adam.epsilon = parameters.number("eps");
  question.steps = parameters.count("steps");
  question.every = parameters.count("record-every");
  question.validate_every = parameters.count("validate-every");
  if (parameters.has("probe")) question.probe = names_in(parameters.text("probe"));
  if (parameters.has("sentence")) question.sentence = parameters.text("sentence");
  question.seed = study.seed;
  experiments::check(question);
  return question;
}

std::string names_text(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) {
    if (!text.empty()) text += ',';
    for (const char sign : name) {
      if (sign == ',' || sign == '\\') text += '\\';
      text += sign;
    }
  }
  return text;
}

std::vector<std::string> names_in(const std::string& text) {
  std::vector<std::string> names{""};
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == ',') {
      names.emplace_back();
    } else {
      if (text[i] == '\\' && i + 1 < text.size()) ++i;
      names.back() += text[i];
    }
  }
  for (const std::string& name : names) {
    if (!name.empty()) continue;
    throw Error(Code::bad_value,
                fmt::format("probe: '{}' has an empty name; a comma is written as \\,", text));
  }
  return names;
}

}  // namespace dewpoint::cli
