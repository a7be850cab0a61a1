#include "cli/commands.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include "cli/verbs.hpp"
#include "dewpoint/core/build_info.hpp"

namespace dewpoint::cli {
namespace {

struct Entry {
  std::string_view name;  // the first word
  Verb (*verb)();
};

// In the order of the help, a verb before those below it.
constexpr Entry kVerbs[] = {{"phase", phase_verb},
                            {"phase", phase_point_verb},
                            {"phase", phase_map_verb},
                            {"phase", phase_depth_verb},
                            {"condense", condense_verb},
                            {"query", query_verb},
                            {"query", query_point_verb},
                            {"query", query_heat_verb},
                            {"query", query_harmonics_verb},
                            {"query", query_output_verb},
                            {"dew", dew_verb},
                            {"train", train_verb},
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
  if (*verb.example != '\0') app->footer(fmt::format("Example:\n  {}", verb.example));
  verb.add(program, *app);
}

struct AsJson {
  bool json = false;
};

template <class Visitor>
void describe(Visitor& visit, AsJson& q) {
  describe_json(visit, q.json);
}

// Those that say how a text looks.
std::vector<question::Field> texts_alone(const std::vector<question::Field>& fields) {
  std::vector<question::Field> some;
  std::ranges::copy_if(fields, std::back_inserter(some),
                       [](const question::Field& field) { return field.not_with == "json"; });
  return some;
}

}  // namespace

Program::Program()
    : root(std::make_unique<CLI::App>(
          "An instrument for the phase transitions of softmax attention.")),
      app(*root) {}

Program::~Program() = default;

void add_commands(Program& program) {
  begin(program);
  for (const Entry& entry : kVerbs) add_verb(program, entry.verb());
}

void add_command(Program& program, const std::string& name) {
  begin(program);
  for (const Entry& entry : kVerbs) {
    if (entry.name == name) add_verb(program, entry.verb());
  }
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

Verb verb_of(const char* name, const char* about, const char* example,
             const std::vector<question::Field>& fields, Answering answer) {
  const auto add = [&fields, answer = std::move(answer)](Program& program, CLI::App& verb) {
    const auto options = std::make_shared<QuestionOptions>(program, verb, fields);
    const auto as_json =
        std::make_shared<QuestionOptions>(program, verb, question::fields_of<AsJson>());
    set_call(verb, [&program, &fields, options, as_json, answer] {
      program.ask = [&program, options, answer] { return answer(*options, program); };
      program.action = [&program, &fields, options, as_json] {
        const bool json = as_json->asked().first<AsJson>().json;
        if (json)
          options->refuse(texts_alone(fields), "is given beside json, where it means nothing");
        const Answer answered = program.ask();
        print(answered, json);
        return answered.status;
      };
    });
  };
  return {name, about, example, add};
}

Verb verb_of(const char* name, const char* about, const char* example,
             const std::vector<question::Field>& fields, Doing act) {
  const auto add = [&fields, act = std::move(act)](Program& program, CLI::App& verb) {
    const auto options = std::make_shared<QuestionOptions>(program, verb, fields);
    set_call(verb, [&program, options, act] {
      program.action = [&program, options, act] { return act(*options, program); };
    });
  };
  return {name, about, example, add};
}

}  // namespace dewpoint::cli
