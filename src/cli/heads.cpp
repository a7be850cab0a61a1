// dewpoint heads: is each head of a real model diffuse, critical or condensed, and how does that
// move with the context? From a dump of queries and keys, or from a checkpoint that reads a text.
//
// SPDX-License-Identifier: Apache-2.0
#include "cli/heads.hpp"

#include <fmt/format.h>

#include <memory>

#include "cli/heads_measurement.hpp"
#include "cli/heads_text.hpp"
#include "cli/number_options.hpp"
#include "cli/study_record.hpp"
#include "cli/terminal_style.hpp"
#include "dewpoint/checkpoint/head_dump_writer.hpp"
#include "dewpoint/core/error.hpp"
#include "dewpoint/report/head_figures.hpp"

namespace dewpoint::cli {
namespace {

struct HeadsOptions {
  HeadsQuestion question;
  std::string layout;
  double scale = 0.0;
  bool no_causal = false;
  std::size_t window = 0;
  double softcap = 0.0;
  std::string output;
  bool map = false;
  const CLI::Option* scale_option = nullptr;
  const CLI::Option* window_option = nullptr;
  const CLI::Option* softcap_option = nullptr;
};

HeadsQuestion question_of(const HeadsOptions& o, const Given& given) {
  HeadsQuestion question = o.question;
  if (given.heads != nullptr) {
    question.given = given.heads;
    question.input = "arrays";
  }
  if (question.input.empty()) {
    throw Error(Code::bad_value,
                "input: a dump of queries and keys (.safetensors, .npz) or a checkpoint is needed");
  }
  if (!o.layout.empty()) question.dump.layout = o.layout;
  if (o.scale_option->count() > 0) question.dump.scale = o.scale;
  if (o.no_causal) question.dump.causal = false;
  if (o.window_option->count() > 0) question.dump.window = o.window;
  if (o.softcap_option->count() > 0) question.dump.softcap = o.softcap;
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

Answer heads_answer(const HeadsOptions& o, const Program& program) {
  const OutputFile output(o.output, o.question.force);
  if (!o.output.empty()) require_study_place(output, "heads");
  if (!o.question.dump_output.empty()) {
    require_writable(output.beside(o.question.dump_output), checkpoint::dump_kind());
  }
  const HeadsQuestion question = question_of(o, program.given);
  const HeadsMeasurement found = measure_heads(question);
  const store::StudyRecord study = study_of(question, found, program.command_line);
  if (!o.output.empty()) store::write_study(output, study);
  Answer answer{heads_json(question, found, study.frames.front()), ""};
  answer.json["study"] = o.output.empty() ? Json() : Json(o.output);
  answer.text = heads_text(question, found);
  if (o.map) {
    answer.text +=
        "\n" + report::terminal_text(report::figure_of_head_map(study, "phase"), terminal_style());
  }
  answer.text += warnings_text(found);
  if (!o.output.empty()) {
    answer.text +=
        fmt::format("\nstudy   {}\nnext    dewpoint figure {} -o heads.svg\n", o.output, o.output);
  }
  return answer;
}

void add_dump_options(CLI::App& verb, HeadsOptions& o) {
  const char* group = "What a dump does not say itself";
  verb.add_option("--layout", o.layout, "HND, NHD, BHND or BNHD: heads, tokens, coordinates")
      ->group(group);
  o.scale_option =
      verb.add_option("--scale", o.scale, "Factor of <q,k>; default 1/sqrt(d)")->group(group);
  verb.add_flag("--no-causal", o.no_causal, "Every query sees every key")->group(group);
  o.window_option =
      verb.add_option("--window", o.window, "A query sees its last so many keys; 0: all")
          ->group(group);
  o.softcap_option =
      verb.add_option("--softcap", o.softcap, "Scores are c tanh(s/c)")->group(group);
}

void add_options(CLI::App& verb, HeadsOptions& o) {
  HeadsQuestion& q = o.question;
  verb.add_option("input", q.input,
                  "Dump (.safetensors, .npz, folder with q.npy and k.npy) or checkpoint (folder "
                  "with config.json, llama2.c .bin)");
  verb.add_option("--beta", q.betas, "Also as if the logits were multiplied: a list");
  verb.add_option("--schedule", q.schedules,
                  "Also under a schedule: yarn, log-n, llama-4, ssmax, ..; several if wanted")
      ->allow_extra_args(false);
  verb.add_option("--train-length", q.train_length,
                  "Length that schedules start from; default: the model's own")
      ->transform(whole_number(question::at_least(1.0)));
  verb.add_option("--rows", q.rows, "Queries per octave of n: more give smaller errors")
      ->transform(whole_number(question::in(16.0, 1e7)))
      ->capture_default_str();
  verb.add_option("--replicates", q.replicates, "Redrawn heads for the errors")
      ->transform(whole_number(question::in(20.0, 1e5)))
      ->capture_default_str();
  verb.add_option("-o,--output", o.output, "Study file");
  add_force(verb, o.question.force);
  verb.add_flag("--map", o.map, "Draw the map of phases in the terminal");
  q.text.add_to(verb);
  const char* group = "Text for a checkpoint";
  verb.add_option("--length", q.length, "Tokens per sequence; default: as trained")
      ->group(group)
      ->transform(whole_number(question::at_least(1.0)));
  verb.add_option("--sequences", q.sequences, "Windows of the text")
      ->group(group)
      ->transform(whole_number(question::in(1.0, 1e5)))
      ->capture_default_str();
  verb.add_option("--rope", q.rope,
                  "own, ntk, yarn, yarn-bare (turns only), linear or dynamic; ntk:4 for a factor")
      ->group(group)
      ->capture_default_str();
  verb.add_flag("--perplexity", q.perplexity, "Next-token loss by position, per multiplier")
      ->group(group);
  verb.add_option("--dump", q.dump_output, "Write queries and keys of the first sequence here")
      ->group(group);
  add_dump_options(verb, o);
}

}  // namespace

void add_heads(Program& program) {
  CLI::App* verb = program.app.add_subcommand(
      "heads", "Real heads: diffuse, critical or condensed? From a dump or a checkpoint");
  verb->require_subcommand(0, 1);
  const auto o = std::make_shared<HeadsOptions>();
  add_options(*verb, *o);
  add_common(*verb, o->question.common);
  add_example(*verb, "dewpoint heads model.bin --text stories.txt --beta 0.8,1.2 -o heads.study");
  verb->callback([&program, verb, o] {
    if (!verb->get_subcommands().empty()) return;
    set_answer(program, o->question.common.json,
               [&program, o] { return heads_answer(*o, program); });
  });
  add_heads_sweep(program, *verb);
}

}  // namespace dewpoint::cli
