// dewpoint reproduce: the figures and the claims of the papers, measured anew, in one page.
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "cli/commands.hpp"
#include "cli/console.hpp"
#include "cli/reproduction.hpp"
#include "dewpoint/core/error.hpp"

namespace dewpoint::cli {
namespace {

struct ReproduceCommand {
  CommonOptions common;
  ReproduceOptions options;
  bool full = false;       // which it is without being told
  bool no_verify = false;  // options.verify, the other way round
};

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

int run_reproduce(const ReproduceCommand& o, const std::string& command) {
  ReproduceOptions options = o.options;
  options.seed = o.common.seed;
  options.threads = o.common.threads;
  options.verify = !o.no_verify;
  options.command = command;
  Reproduction reproduction(options);
  try {
    make_everything(reproduction);
  } catch (const Error& error) {
    if (error.code() != Code::stopped) throw;
    return say_reproduction_interrupted(reproduction, options);
  }
  fmt::print("{}", o.common.json ? reproduction.json().dump() + "\n" : reproduction.text());
  return reproduction.good() ? 0 : 1;
}

}  // namespace

void add_reproduce(Program& program) {
  CLI::App* verb = program.app.add_subcommand(
      "reproduce", "Every figure and claim of the papers, measured anew, in one page; resumable");
  const auto o = std::make_shared<ReproduceCommand>();
  ReproduceOptions& options = o->options;
  CLI::Option* quick =
      verb->add_flag("--quick", options.quick, "Few replicas: about three minutes on two cores");
  verb->add_flag("--full", o->full, "Enough replicas for small errors: half an hour (the default)")
      ->excludes(quick);
  verb->add_option("-o,--output", options.output, "Folder: report.html, figures, data, studies")
      ->capture_default_str();
  verb->add_option("--only", options.only,
                   "Measure only this study, several times if wanted: cc-retrieval, ..")
      ->allow_extra_args(false);
  verb->add_flag("--long", options.run_long, "The long studies too, at last: hours");
  verb->add_flag("--fresh", options.fresh, "Measure again what the folder has already");
  verb->add_flag("--no-verify", o->no_verify, "Leave the certificate out");
  add_force(*verb, options.force);
  add_common(*verb, o->common);
  add_example(*verb, "dewpoint reproduce --quick -o dewpoint-out");
  verb->callback([&program, o] {
    program.action = [&program, o] { return run_reproduce(*o, program.command_line); };
  });
}

}  // namespace dewpoint::cli
