#include "cli/commands.hpp"

#include <string_view>

#include "cli/number_options.hpp"
#include "dewpoint/core/build_info.hpp"

namespace dewpoint::cli {
namespace {

struct Command {
  std::string_view name;
  void (*add)(Program&);
};
constexpr Command kCommands[] = {{"phase", add_phase},         {"condense", add_condense},
                                 {"query", add_query},         {"dew", add_dew},
                                 {"train", add_train},         {"heads", add_heads},
                                 {"scale", add_scale},         {"checkpoint", add_checkpoint},
                                 {"predict", add_predict},     {"run", add_run},
                                 {"runs", add_runs},           {"show", add_show},
                                 {"export", add_export},       {"merge", add_merge},
                                 {"figure", add_figure},       {"report", add_report},
                                 {"reproduce", add_reproduce}, {"verify", add_verify},
                                 {"serve", add_serve},         {"doctor", add_doctor},
                                 {"manual", add_manual}};

void begin(Program& program) {
  program.app.name("dewpoint");
  program.app.set_version_flag("--version", version(), "Print version, commit, SIMD, BLAS, MPI");
  program.app.get_formatter()->column_width(34);
  program.app.require_subcommand(0, 1);
}

}  // namespace

void add_commands(Program& program) {
  begin(program);
  for (const Command& command : kCommands) command.add(program);
  read_numbers_alike(program.app);
}

void add_command(Program& program, const std::string& name) {
  begin(program);
  for (const Command& command : kCommands) {
    if (command.name == name) command.add(program);
  }
  read_numbers_alike(program.app);
}

void set_answer(Program& program, const bool& json, Ask ask) {
  program.ask = std::move(ask);
  program.action = [&program, &json] {
    const Answer answer = program.ask();
    print(answer, json);
    return answer.status;
  };
}

void add_common(CLI::App& verb, CommonOptions& options) {
  verb.add_option("--seed", options.seed, "Seed of all random streams; random: a fresh one")
      ->capture_default_str();
  verb.add_option("--threads", options.threads, "Threads, 0 for all; never changes a result")
      ->transform(whole_number(question::in(0.0, 4096.0)))
      ->capture_default_str();
  verb.add_flag("--json", options.json, "One JSON object on standard output");
}

void add_force(CLI::App& verb, bool& force) {
  verb.add_flag("--force", force, "Replace what is in the way, even if Dewpoint did not write it");
}

void add_example(CLI::App& verb, const std::string& command) {
  verb.footer("Example:\n  " + command);
}

}  // namespace dewpoint::cli
