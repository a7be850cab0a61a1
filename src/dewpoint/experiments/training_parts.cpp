#include "dewpoint/experiments/training_parts.hpp"

#include "dewpoint/core/error.hpp"

namespace dewpoint::experiments {
namespace {

void drop(std::optional<double>& member, double standard) {
  if (member == standard) member.reset();
}

bool is_made_here(const std::string& tokenizer) {
  return tokenizer == "words" || tokenizer == "bpe";
}

}  // namespace

// ---- Adam ---------------------------------------------------------------------------------------

training::AdamOptions adam_of(const AdamQuestion& question) {
  const training::AdamOptions standard;
  return {question.rate.value_or(standard.rate), question.beta1.value_or(standard.first_decay),
          question.beta2.value_or(standard.second_decay), question.eps.value_or(standard.epsilon)};
}

AdamQuestion filled(const AdamQuestion& question) {
  const training::AdamOptions adam = adam_of(question);
  return {adam.rate, adam.first_decay, adam.second_decay, adam.epsilon};
}

AdamQuestion resolved(AdamQuestion question) {
  const training::AdamOptions standard;
  if (!question.rate) question.rate = standard.rate;
  drop(question.beta1, standard.first_decay);
  drop(question.beta2, standard.second_decay);
  drop(question.eps, standard.epsilon);
  return question;
}

// ---- the model ----------------------------------------------------------------------------------

const std::vector<std::pair<std::string, LayerValues>>& words_of(LayerValues) {
  static const std::vector<std::pair<std::string, LayerValues>> words = {
      {"none", LayerValues::none}, {"matrix", LayerValues::matrix}};
  return words;
}

const std::vector<std::pair<std::string, LayerNorm>>& words_of(LayerNorm) {
  static const std::vector<std::pair<std::string, LayerNorm>> words = {{"none", LayerNorm::none},
                                                                       {"pre", LayerNorm::pre}};
  return words;
}

ModelQuestion resolved(ModelQuestion question) {
  if (question.branch == 0.0) {
    question.branch = question.residual ? 1.0 / static_cast<double>(question.layers) : 1.0;
  }
  return question;
}

transformer::Shape shape_of(const ModelQuestion& question, std::size_t context) {
  transformer::Shape shape;
  shape.width = question.m;
  shape.layers = question.layers;
  shape.heads = question.heads;
  shape.residual = question.residual;
  shape.branch = resolved(question).branch;
  shape.value_matrix = question.value == LayerValues::matrix;
  shape.causal = question.causal;
  shape.pre_norm = question.norm == LayerNorm::pre;
  if (question.scaling) shape.scaling = transformer::scaling_text(*question.scaling, context);
  return shape;
}

double deviation_of(const ModelQuestion& question) {
  return question.start / static_cast<double>(question.m);
}

// ---- the text -----------------------------------------------------------------------------------

TextSource resolved(TextSource source) {
  if (source.corpus.value_or("").empty()) {
    throw Error(Code::bad_value, "corpus: is missing; allowed: the path of a text");
  }
  if (!source.vocabulary) {
    source.vocabulary = is_made_here(source.tokenizer) ? text::CorpusQuestion{}.vocabulary : 0;
  }
  return source;
}

text::CorpusQuestion corpus_of(const TextSource& resolved) {
  text::CorpusQuestion question;
  question.file = resolved.corpus.value_or("");
  question.tokenizer = resolved.tokenizer;
  question.vocabulary = resolved.vocabulary.value_or(question.vocabulary);
  return question;
}

}  // namespace dewpoint::experiments
