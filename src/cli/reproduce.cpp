// dewpoint reproduce: the figures and the claims of the papers, measured anew, in one page.
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "cli/console.hpp"
#include "cli/long_studies.hpp"
#include "cli/reproduction.hpp"
#include "cli/verbs.hpp"
#include "dewpoint/core/error.hpp"

namespace dewpoint::cli {
namespace {

struct ReproduceVerb {
  Common common;
  ReproduceOptions options;
  bool full = false;       // which it is without being told
  bool no_verify = false;  // options.verify, the other way round
  bool json = false;
};

std::vector<std::string> study_words() {
  std::vector<std::string> words;
  for (const FigureStudy& study : all_figure_studies()) words.push_back(study.name);
  for (const std::string& name : long_study_names()) words.push_back(name);
  return words;
}

template <class Visitor>
void describe(Visitor& visit, ReproduceVerb& q) {
  using namespace question;  // NOLINT(google-build-using-namespace): the words of a description
  ReproduceOptions& o = q.options;
  visit("quick", o.quick, "few replicas: about three minutes on two cores");
  visit("full", q.full, "enough replicas for small errors: half an hour (the default)",
        instead_of("quick"));
  visit("output", o.output, letter('o'), file("folder"),
        "folder: report.html, figures, data, studies");
  visit("only", o.only, suggest(study_words()),
        "measure only this study, several times if wanted: cc-retrieval, ..");
  visit("long", o.run_long, "the long studies too, at last: hours");
  visit("fresh", o.fresh, "measure again what the folder has already");
  visit("no-verify", q.no_verify, "leave the certificate out");
  describe_force(visit, o.force);
  describe(visit, q.common);
  describe_json(visit, q.json);
}

// The page is written before hours of long studies, and again after them.
void make_everything(Reproduction& reproduction) {
  reproduction.make_studies_and_certificate();
  reproduction.write_report();
  if (reproduction.run_long_studies()) reproduction.write_report();
}

int say_reproduction_interrupted(const Reproduction& reproduction,
                                 const ReproduceOptions& options) {
  fmt::print(stderr, "dewpoint: interrupted; {}\n", reproduction.kept());
  if (options.fresh) {
    fmt::print(stderr, "dewpoint: the same command without --fresh continues\n");
  } else {
    fmt::print(stderr, "dewpoint: the same command continues: {}\n", options.command);
  }
  return 128 + received_signal();
}

int run_reproduce(const ReproduceVerb& o, const Program& program) {
  ReproduceOptions options = o.options;
  options.seed = o.common.seed;
  options.threads = o.common.threads;
  options.verify = !o.no_verify;
  options.command = program.command_line;
  Reproduction reproduction(options);
  try {
    make_everything(reproduction);
  } catch (const Error& error) {
    if (error.code() != Code::stopped) throw;
    return say_reproduction_interrupted(reproduction, options);
  }
  fmt::print("{}", o.json ? reproduction.json().dump() + "\n" : reproduction.text());
  return reproduction.good() ? 0 : 1;
}

}  // namespace

Verb reproduce_verb() {
  return verb_of<ReproduceVerb>(
      "reproduce", "Every figure and claim of the papers, measured anew, in one page; resumable",
      "dewpoint reproduce --quick -o dewpoint-out", run_reproduce);
}

}  // namespace dewpoint::cli
