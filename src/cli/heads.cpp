// dewpoint heads: is each head of a real model diffuse, critical or condensed, and how does that
// move with the context? From a dump of queries and keys, or from a checkpoint that reads a text.
//
// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <memory>

#include "cli/heads_measurement.hpp"
#include "cli/heads_text.hpp"
#include "cli/study_record.hpp"
#include "cli/terminal_style.hpp"
#include "cli/verbs.hpp"
#include "dewpoint/checkpoint/head_dump_writer.hpp"
#include "dewpoint/core/error.hpp"
#include "dewpoint/report/head_figures.hpp"

namespace dewpoint::cli {
namespace {

struct HeadsVerb {
  HeadsQuestion question;
  diagnosis::DumpQuestion dump;
  WrittenStudy output;
  bool map = false;
};

template <class Visitor>
void describe_text(Visitor& visit, HeadsQuestion& q) {
  using namespace question;  // NOLINT(google-build-using-namespace): the words of a description
  describe(visit, q.text);
  visit("length", q.length, at_least(1.0), "tokens per sequence", otherwise("as trained"),
        kTextForCheckpoint);
  visit("sequences", q.sequences, in(1.0, 1e5), "windows of the text", kTextForCheckpoint);
  visit("rope", q.rope, suggest(rotation_words()),
        "rotation: own, ntk, yarn, yarn-bare (turns only), linear or dynamic; ntk:4 for a factor",
        kTextForCheckpoint);
  visit("perplexity", q.perplexity, "next-token loss by position, per multiplier",
        kTextForCheckpoint);
  visit("dump", q.dump_output, file("dump"), "write queries and keys of the first sequence here",
        kTextForCheckpoint);
}

template <class Visitor>
void describe(Visitor& visit, HeadsVerb& verb) {
  using namespace question;  // NOLINT(google-build-using-namespace): the words of a description
  HeadsQuestion& q = verb.question;
  visit("input", q.input, positional, file("heads"),
        "dump (.safetensors, .npz, folder with q.npy and k.npy) or checkpoint (folder with "
        "config.json, llama2.c .bin)");
  describe(visit, q.survey);
  describe(visit, verb.output);
  visit("map", verb.map, "draw the map of phases in the terminal");
  describe_text(visit, q);
  describe(visit, verb.dump);
  describe(visit, q.common);
}

HeadsQuestion question_of(const HeadsVerb& o, const Given& given) {
  HeadsQuestion question = o.question;
  if (given.heads != nullptr) {
    question.given = given.heads;
    question.input = "arrays";
  }
  if (question.input.empty()) {
    throw Error(Code::bad_value,
                "input: a dump of queries and keys (.safetensors, .npz) or a checkpoint is needed");
  }
  question.dump = diagnosis::options_of(o.dump);
  question.force = o.output.force;
  return question;
}

store::StudyRecord study_of(const HeadsQuestion& question, const HeadsMeasurement& found,
                            const std::string& command) {
  store::StudyRecord study = begin_study("heads", question.common.seed, command);
  study.parameters = found.parameters;
  study.parameters.emplace_back("input", question.input);
  study.frames.push_back(diagnosis::frame_of_heads(found.heads, found.options).renamed("heads"));
  if (found.loss) study.frames.push_back(*found.loss);
  const std::string warnings = warnings_text(found);
  const auto bytes = std::as_bytes(std::span(warnings));
  study.attachments.push_back({"warnings", {bytes.begin(), bytes.end()}});
  return study;
}

Answer heads_answer(const HeadsVerb& o, const Program& program) {
  const OutputFile output(o.output.file, o.output.force);
  if (o.output.wanted()) require_study_place(output, "heads");
  if (!o.question.dump_output.empty()) {
    require_writable(output.beside(o.question.dump_output), checkpoint::dump_kind());
  }
  const HeadsQuestion question = question_of(o, program.given);
  const HeadsMeasurement found = measure_heads(question);
  const store::StudyRecord study = study_of(question, found, program.command_line);
  if (o.output.wanted()) store::write_study(output, study);
  Answer answer{heads_json(question, found, study.frames.front()), ""};
  answer.json["study"] = o.output.wanted() ? Json(o.output.file) : Json();
  answer.text = heads_text(question, found);
  if (o.map) {
    answer.text +=
        "\n" + report::terminal_text(report::figure_of_head_map(study, "phase"), terminal_style());
  }
  answer.text += warnings_text(found);
  if (o.output.wanted()) {
    answer.text += fmt::format("\nstudy   {}\nnext    dewpoint figure {} -o heads.svg\n",
                               o.output.file, o.output.file);
  }
  return answer;
}

}  // namespace

Verb heads_verb() {
  return verb_of<HeadsVerb>(
      "heads", "Real heads: diffuse, critical or condensed? From a dump or a checkpoint",
      "dewpoint heads model.bin --text stories.txt --beta 0.8,1.2 -o heads.study", heads_answer);
}

}  // namespace dewpoint::cli
