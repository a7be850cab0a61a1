#include "cli/commands.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <string_view>

#include "cli/number_options.hpp"
#include "cli/verbs.hpp"
#include "dewpoint/core/build_info.hpp"

namespace dewpoint::cli {
namespace {

// A verb that is described, or the function of one that declares its options itself.
struct Entry {
  std::string_view name;  // the first word
  Verb (*verb)() = nullptr;
  void (*add)(Program&) = nullptr;
};

// In the order of the help, a verb before those below it.
constexpr Entry kVerbs[] = {{"phase", nullptr, add_phase},
                            {"condense", nullptr, add_condense},
                            {"query", nullptr, add_query},
                            {"dew", nullptr, add_dew},
                            {"train", nullptr, add_train},
                            {"heads", heads_verb},
                            {"heads", heads_sweep_verb},
                            {"scale", scale_verb},
                            {"scale", scale_explain_verb},
                            {"scale", scale_fit_verb},
                            {"checkpoint", checkpoint_verb},
                            {"checkpoint", checkpoint_generate_verb},
                            {"checkpoint", checkpoint_export_verb},
                            {"predict", predict_verb},
                            {"predict", predict_layer_verb},
                            {"predict", predict_variant_verb},
                            {"predict", predict_bounds_verb},
                            {"predict", predict_phases_verb},
                            {"predict", predict_critical_verb},
                            {"predict", predict_depth_verb},
                            {"predict", predict_scaling_verb},
                            {"predict", predict_condense_verb},
                            {"predict", predict_query_verb},
                            {"predict", predict_softmax_verb},
                            {"predict", predict_dew_verb},
                            {"predict", predict_heat_verb},
                            {"predict", predict_train_verb},
                            {"run", run_verb},
                            {"runs", runs_verb},
                            {"show", show_verb},
                            {"export", export_verb},
                            {"merge", merge_verb},
                            {"figure", figure_verb},
                            {"report", report_verb},
                            {"reproduce", reproduce_verb},
                            {"verify", verify_verb},
                            {"verify", verify_errata_verb},
                            {"serve", serve_verb},
                            {"doctor", doctor_verb},
                            {"manual", manual_verb}};

void begin(Program& program) {
  program.app.name("dewpoint");
  program.app.set_version_flag("--version", version(), "Print version, commit, SIMD, BLAS, MPI");
  program.app.get_formatter()->column_width(34);
  program.app.require_subcommand(0, 1);
}

// "scale explain" goes below "scale", which is there already.
void add_verb(Program& program, const Verb& verb) {
  CLI::App* parent = &program.app;
  std::string name = verb.name;
  for (std::size_t space = 0; (space = name.find(' ')) != std::string::npos;) {
    parent = parent->get_subcommand(name.substr(0, space));
    name = name.substr(space + 1);
  }
  CLI::App* app = parent->add_subcommand(name, verb.about);
  parent->require_subcommand(0, 1);
  if (verb.hidden) app->group("");
  if (*verb.example != '\0') add_example(*app, verb.example);
  verb.add(program, *app);
}

void add(Program& program, const Entry& entry) {
  if (entry.verb == nullptr) {
    entry.add(program);
  } else {
    add_verb(program, entry.verb());
  }
}

}  // namespace

Program::Program()
    : root(std::make_unique<CLI::App>(
          "An instrument for the phase transitions of softmax attention.")),
      app(*root) {}

Program::~Program() = default;

void add_commands(Program& program) {
  begin(program);
  for (const Entry& entry : kVerbs) add(program, entry);
  read_numbers_alike(program.app);
}

void add_command(Program& program, const std::string& name) {
  begin(program);
  for (const Entry& entry : kVerbs) {
    if (entry.name == name) add(program, entry);
  }
  read_numbers_alike(program.app);
}

void set_call(CLI::App& verb, const std::function<void()>& call) {
  verb.callback([&verb, call] {
    if (verb.get_subcommands().empty()) call();
  });
}

Verb group_of(const char* name, const char* about, bool hidden) {
  const auto add = [](Program& program, CLI::App& group) {
    set_call(group, [&program, &group] {
      program.action = [&group] {
        fmt::print("{}", group.help("dewpoint"));
        return 0;
      };
    });
  };
  return {name, about, "", add, hidden};
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
