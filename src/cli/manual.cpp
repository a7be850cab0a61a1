// dewpoint manual: the manual page, the shell completions and a description for programs, made from
// the options themselves.
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include "cli/commands.hpp"
#include "dewpoint/core/build_info.hpp"

namespace dewpoint::cli {
namespace {

// A verb that can be run, with its full name: "phase map".
struct Verb {
  std::string name;
  const CLI::App* app;
};

std::vector<const CLI::App*> visible_subcommands(const CLI::App& app) {
  std::vector<const CLI::App*> found;
  for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (!sub->get_group().empty()) found.push_back(sub);
  }
  return found;
}

void collect_verbs(const CLI::App& app, const std::string& prefix, std::vector<Verb>& verbs) {
  for (const CLI::App* sub : visible_subcommands(app)) {
    const std::string name = prefix + sub->get_name();
    if (visible_subcommands(*sub).empty()) verbs.push_back({name, sub});
    collect_verbs(*sub, name + " ", verbs);
  }
}

std::vector<Verb> verbs_of(const CLI::App& app) {
  std::vector<Verb> verbs;
  collect_verbs(app, "", verbs);
  return verbs;
}

std::vector<const CLI::Option*> options_of(const CLI::App& app) {
  return app.get_options([](const CLI::Option* o) { return o->nonpositional(); });
}

// --- manual page -------------------------------------------------------------------------------

// Text safe for troff: no line starts with a control character, hyphens stay hyphens.
std::string troff(const std::string& text) {
  std::string safe;
  for (const char c : text) {
    if (c == '\\') {
      safe += "\\e";
    } else if (c == '-') {
      safe += "\\-";
    } else {
      safe += c;
    }
  }
  const bool control = !safe.empty() && (safe.front() == '.' || safe.front() == '\'');
  return control ? "\\&" + safe : safe;
}

std::string option_heading(const CLI::Option& option) {
  std::string heading = option.get_name(false, true);
  for (std::size_t comma = 0; (comma = heading.find(',', comma)) != std::string::npos; comma += 2) {
    heading.replace(comma, 1, ", ");
  }
  if (option.get_items_expected_max() > 0) heading += " VALUE";
  return heading;
}

std::string man_page(const CLI::App& app) {
  std::string page = fmt::format(".TH DEWPOINT 1 \"{}\" \"dewpoint {}\" \"Dewpoint manual\"\n",
                                 commit_date(), version());
  page += ".SH NAME\ndewpoint \\- " + troff(app.get_description()) + "\n";
  page += ".SH SYNOPSIS\n.B dewpoint\n.I VERB\n.RI [ OPTION ...]\n";
  page +=
      ".SH DESCRIPTION\nSoftmax attention over n keys has an inverse temperature. Too warm, and "
      "all\n"
      "tokens average into one; too cold, and attention freezes onto a single key. Dewpoint "
      "measures\n"
      "where the boundary lies and compares it with theory. Without a verb it prints a short "
      "guide.\n";
  for (const Verb& verb : verbs_of(app)) {
    page +=
        ".SH " + troff("dewpoint " + verb.name) + "\n" + troff(verb.app->get_description()) + ".\n";
    for (const CLI::Option* option : options_of(*verb.app)) {
      page += ".TP\n.B " + troff(option_heading(*option)) + "\n" + troff(option->get_description());
      if (!option->get_default_str().empty()) page += " [" + troff(option->get_default_str()) + "]";
      page += "\n";
    }
    const std::string example = verb.app->get_footer();
    const std::size_t command = example.find("dewpoint");
    if (command != std::string::npos) {
      page += ".PP\nExample:\n.PP\n.nf\n.RS\n" + troff(example.substr(command)) + "\n.RE\n.fi\n";
    }
  }
  page +=
      ".SH EXIT STATUS\n.TP\n.B 0\nDone.\n.TP\n.B 1\nThe environment failed: no room, no "
      "permission, "
      "a missing tool.\n.TP\n.B 2\nThe command or a file must be changed; the message says how.\n"
      ".TP\n.B 129, 130, 143\nInterrupted: the terminal closed, Ctrl-C, SIGTERM.\n";
  return page;
}

// --- completions -------------------------------------------------------------------------------

std::string long_names(const CLI::App& app) {
  std::string names;
  for (const CLI::Option* option : options_of(app)) {
    for (const std::string& name : option->get_lnames()) names += " --" + name;
  }
  return names.empty() ? names : names.substr(1);
}

std::string child_names(const CLI::App& app) {
  std::string names;
  for (const CLI::App* sub : visible_subcommands(app)) names += " " + sub->get_name();
  return names.empty() ? names : names.substr(1);
}

// case arms "path) words" for every node of the tree of verbs.
void case_arms(const CLI::App& app, const std::string& path, std::string& arms) {
  const std::string words =
      child_names(app) + (child_names(app).empty() ? "" : " ") + long_names(app);
  arms += fmt::format("    '{}') candidates='{}' ;;\n", path, words);
  for (const CLI::App* sub : visible_subcommands(app)) {
    case_arms(*sub, path.empty() ? sub->get_name() : path + " " + sub->get_name(), arms);
  }
}

std::string bash_completion(const CLI::App& app) {
  std::string arms;
  case_arms(app, "", arms);
  return fmt::format(R"(# Completion of dewpoint for bash.
_dewpoint() {{
  local current="${{COMP_WORDS[COMP_CWORD]}}" path='' word candidates=''
  for word in "${{COMP_WORDS[@]:1:COMP_CWORD-1}}"; do
    case "$word" in -*) break ;; *) path="${{path:+$path }}$word" ;; esac
  done
  case "$path" in
{}  esac
  mapfile -t COMPREPLY < <(compgen -W "$candidates" -- "$current")
  [ "${{#COMPREPLY[@]}}" -gt 0 ] || mapfile -t COMPREPLY < <(compgen -f -- "$current")
}}
complete -F _dewpoint dewpoint
)",
                     arms);
}

std::string zsh_completion(const CLI::App& app) {
  std::string arms;
  case_arms(app, "", arms);
  return fmt::format(R"(#compdef dewpoint
# Completion of dewpoint for zsh.
_dewpoint() {{
  local path='' word candidates=''
  for word in "${{(@)words[2,CURRENT-1]}}"; do
    case "$word" in -*) break ;; *) path="${{path:+$path }}$word" ;; esac
  done
  case "$path" in
{}  esac
  compadd -- ${{=candidates}}
  _files
}}
_dewpoint "$@"
)",
                     arms);
}

std::string fish_quote(const std::string& text) {
  std::string safe;
  for (const char c : text) safe += c == '\'' ? std::string("\\'") : std::string(1, c);
  return "'" + safe + "'";
}

void fish_lines(const CLI::App& app, const std::string& condition, std::string& lines) {
  for (const CLI::Option* option : options_of(app)) {
    for (const std::string& name : option->get_lnames()) {
      lines += fmt::format("complete -c dewpoint {}-l {} -d {}\n", condition, name,
                           fish_quote(option->get_description()));
    }
  }
  for (const CLI::App* sub : visible_subcommands(app)) {
    const std::string here =
        condition.empty() ? std::string("-n __fish_use_subcommand ") : condition;
    lines += fmt::format("complete -c dewpoint -f {}-a {} -d {}\n", here, sub->get_name(),
                         fish_quote(sub->get_description()));
    fish_lines(*sub, fmt::format("-n '__fish_seen_subcommand_from {}' ", sub->get_name()), lines);
  }
}

std::string fish_completion(const CLI::App& app) {
  std::string lines = "# Completion of dewpoint for fish.\n";
  fish_lines(app, "", lines);
  return lines;
}

// --- description -------------------------------------------------------------------------------

// What a value is: "number", "whole", "text" or "flag".
std::string kind_of(const CLI::Option& option) {
  if (option.get_items_expected_max() == 0) return "flag";
  const std::string type =
      option.get_type_name().substr(0, option.get_type_name().find_first_of(": "));
  if (type == "FLOAT") return "number";
  return type == "UINT" || type == "INT" ? "whole" : "text";
}

std::string kind_of(const question::Field& field) {
  switch (field.kind) {
    case question::Kind::number:
      return "number";
    case question::Kind::whole:
      return "whole";
    case question::Kind::flag:
      return "flag";
    case question::Kind::word:
    case question::Kind::numbers:
      break;
  }
  return "text";
}

Json describe(const CLI::Option& option, const question::Field* field) {
  Json words = Json::array();
  if (field != nullptr) words = field->words;
  const bool listed = field != nullptr && field->listed;
  const bool words_listed = listed && field->kind == question::Kind::word;
  const bool list =
      (listed && !words_listed) || (field != nullptr && field->kind == question::Kind::numbers);
  return {
      {"name", option.get_positional() ? option.get_name(true) : option.get_lnames().front()},
      {"kind", field != nullptr ? kind_of(*field) : kind_of(option)},
      {"list", list},
      {"words", words},
      {"default", field != nullptr && !list && !field->standard ? "" : option.get_default_str()},
      {"about", option.get_description()},
      {"positional", option.get_positional()},
      {"required", option.get_required()},
      {"several", words_listed || option.get_items_expected_max() > 1},
      {"commas", option.get_delimiter() == ','}};
}

Json describe(const Verb& verb, const Program& program) {
  Json options = Json::array();
  for (const CLI::Option* option : verb.app->get_options()) {
    if (!option->check_lname("help") && !option->check_lname("json")) {
      const auto found = program.fields.find(option);
      options.push_back(describe(*option, found == program.fields.end() ? nullptr : found->second));
    }
  }
  return {{"verb", verb.name}, {"about", verb.app->get_description()}, {"options", options}};
}

void collect_all(const CLI::App& app, const Program& program, const std::string& prefix,
                 Json& verbs) {
  for (const CLI::App* sub : visible_subcommands(app)) {
    const std::string name = prefix + sub->get_name();
    verbs.push_back(describe(Verb{name, sub}, program));
    collect_all(*sub, program, name + " ", verbs);
  }
}

/// [{"verb": "phase point", "about", "options": [{"name": "n", "kind": "whole", "list", "words",
/// "default": "512", "about", "positional", "required", "several", "commas"}]}].
std::string description(const Program& program) {
  Json verbs = Json::array();
  collect_all(program.app, program, "", verbs);
  return verbs.dump(1) + "\n";
}

}  // namespace

void add_manual(Program& program) {
  CLI::App* verb = program.app.add_subcommand(
      "manual", "Print the manual page, a shell completion or all options as JSON");
  const auto kind = std::make_shared<std::string>("man");
  verb->add_option("kind", *kind, "man, bash, zsh, fish or json")
      ->check(CLI::IsMember({"man", "bash", "zsh", "fish", "json"}))
      ->capture_default_str();
  add_example(*verb, "dewpoint manual man");
  verb->callback([&program, kind] {
    program.action = [&program, kind] {
      const CLI::App& app = program.app;
      if (*kind == "man") fmt::print("{}", man_page(app));
      if (*kind == "bash") fmt::print("{}", bash_completion(app));
      if (*kind == "zsh") fmt::print("{}", zsh_completion(app));
      if (*kind == "fish") fmt::print("{}", fish_completion(app));
      if (*kind == "json") fmt::print("{}", description(program));
      return 0;
    };
  });
}

}  // namespace dewpoint::cli
