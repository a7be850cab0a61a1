// dewpoint manual: the manual page, the shell completions and a description for programs, made from
// the options themselves.
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "cli/verbs.hpp"
#include "dewpoint/core/build_info.hpp"

namespace dewpoint::cli {
namespace {

// A verb that can be run, with its full name: "phase map".
struct Node {
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

void collect_verbs(const CLI::App& app, const std::string& prefix, std::vector<Node>& verbs) {
  for (const CLI::App* sub : visible_subcommands(app)) {
    const std::string name = prefix + sub->get_name();
    if (visible_subcommands(*sub).empty()) verbs.push_back({name, sub});
    collect_verbs(*sub, name + " ", verbs);
  }
}

std::vector<Node> verbs_of(const CLI::App& app) {
  std::vector<Node> verbs;
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
  for (const Node& verb : verbs_of(app)) {
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

// One option or argument, as a shell offers it.
struct Offer {
  std::vector<std::string> names;  // "--output", "-o"; none: an argument without a name
  std::string about;
  bool takes_value = false;
  bool commas = false;
  std::string file;                // the kind that it names; empty: none
  std::vector<std::string> words;  // values, all of them or those worth offering
};

// A verb with what may follow it, and the names of the verbs below it.
struct Offers {
  std::string name;  // "scale explain"; empty: the program
  std::string about;
  std::vector<std::string> verbs;
  std::vector<Offer> offers;
};

const question::Field* field_of(const CLI::Option& option, const Program& program) {
  const auto found = program.fields.find(&option);
  return found == program.fields.end() ? nullptr : found->second;
}

Offer offer_of(const CLI::Option& option, const Program& program) {
  Offer offer;
  for (const std::string& name : option.get_lnames()) offer.names.push_back("--" + name);
  for (const std::string& name : option.get_snames()) offer.names.push_back("-" + name);
  if (option.get_positional()) offer.names.clear();
  offer.about = option.get_description();
  offer.takes_value = option.get_items_expected_max() > 0;
  if (const question::Field* field = field_of(option, program)) {
    offer.commas = field->commas;
    offer.file = field->file;
    offer.words = field->words.empty() ? field->suggestions : field->words;
  }
  return offer;
}

void collect_offers(const CLI::App& app, const Program& program, const std::string& name,
                    std::vector<Offers>& all) {
  Offers offers{name, app.get_description(), {}, {}};
  for (const CLI::App* sub : visible_subcommands(app)) offers.verbs.push_back(sub->get_name());
  for (const CLI::Option* option : app.get_options()) {
    offers.offers.push_back(offer_of(*option, program));
  }
  all.push_back(std::move(offers));
  for (const CLI::App* sub : visible_subcommands(app)) {
    collect_offers(*sub, program, name.empty() ? sub->get_name() : name + " " + sub->get_name(),
                   all);
  }
}

std::vector<Offers> offers_of(const Program& program) {
  std::vector<Offers> all;
  collect_offers(program.app, program, "", all);
  return all;
}

// "files", "folders" or nothing: what the shell itself completes.
const char* paths_of(const Offer& offer) {
  return offer.file.empty() ? "" : offer.file == "folder" ? "folders" : "files";
}

// Case arms of bash and zsh: what follows a verb, and the values of its options.
//   'scale explain') verbs='' flags='--json' options='--engine --n -o' ;;
//   'scale explain --engine') choices='hf vllm' paths='' commas=',' ;;
std::string verb_arms(const std::vector<Offers>& all) {
  std::string arms;
  for (const Offers& verb : all) {
    std::vector<std::string> flags, options;
    for (const Offer& offer : verb.offers) {
      std::vector<std::string>& names = offer.takes_value ? options : flags;
      names.insert(names.end(), offer.names.begin(), offer.names.end());
    }
    arms += fmt::format("    '{}') verbs='{}' flags='{}' options='{}' ;;\n", verb.name,
                        fmt::join(verb.verbs, " "), fmt::join(flags, " "), fmt::join(options, " "));
  }
  return arms;
}

std::string value_arms(const std::vector<Offers>& all) {
  std::string arms;
  for (const Offers& verb : all) {
    for (const Offer& offer : verb.offers) {
      if (!offer.takes_value || (offer.words.empty() && offer.file.empty())) continue;
      std::vector<std::string> cases;
      for (const std::string& name : offer.names)
        cases.push_back("'" + verb.name + " " + name + "'");
      if (cases.empty()) cases.push_back("'" + verb.name + " <'");
      arms += fmt::format("    {}) choices='{}' paths='{}' commas='{}' ;;\n", fmt::join(cases, "|"),
                          fmt::join(offer.words, " "), paths_of(offer), offer.commas ? "," : "");
    }
  }
  return arms;
}

std::string bash_completion(const Program& program) {
  const std::vector<Offers> all = offers_of(program);
  return fmt::format(R"(# Completion of dewpoint for bash.
_dewpoint_verb() {{  # VERB: sets verbs, flags, options
  verbs='' flags='' options=''
  case "$1" in
{}  esac
}}
_dewpoint_values() {{  # VERB and OPTION, or < for an argument: sets choices, paths, commas
  choices='' paths='' commas=''
  case "$1" in
{}  esac
}}
_dewpoint() {{
  local current="${{COMP_WORDS[COMP_CWORD]}}" verb='' option='' before='' place=1 word
  local verbs flags options choices paths commas
  _dewpoint_verb ''
  while [ "$place" -lt "$COMP_CWORD" ]; do
    word="${{COMP_WORDS[place]}}"
    case " $verbs " in *" $word "*) ;; *) break ;; esac
    verb="${{verb:+$verb }}$word"
    _dewpoint_verb "$verb"
    place=$((place + 1))
  done
  for word in "${{COMP_WORDS[@]:place:COMP_CWORD-place}}"; do  # does an option wait for its value?
    case "$word" in
      =) continue ;;
      -?*) [ -z "$option" ] || [ "${{word#--}}" != "$word" ] || {{ option=''; continue; }} ;;
      *) option=''; continue ;;
    esac
    case " $options " in *" $word "*) option="$word" ;; *) option='' ;; esac
  done
  [ "$current" != '=' ] || current=''
  if [ -n "$option" ]; then
    _dewpoint_values "$verb $option"
  elif [ "${{current#-}}" != "$current" ]; then
    choices="$options $flags" paths='' commas=''
  else
    _dewpoint_values "$verb <"
    [ "$place" -lt "$COMP_CWORD" ] || choices="$choices${{verbs:+ $verbs}}"
    [ -n "$choices$paths$current" ] || choices="$options $flags"
  fi
  case "$commas$current" in ,*,*) before="${{current%,*}},"; current="${{current##*,}}" ;; esac
  mapfile -t COMPREPLY < <(compgen -P "$before" -W "$choices" -- "$current")
  [ -z "$paths" ] || compopt -o filenames 2> /dev/null
  case "$paths" in
    files) mapfile -t -O "${{#COMPREPLY[@]}}" COMPREPLY < <(compgen -f -- "$current") ;;
    folders) mapfile -t -O "${{#COMPREPLY[@]}}" COMPREPLY < <(compgen -d -- "$current") ;;
  esac
}}
complete -F _dewpoint dewpoint
)",
                     verb_arms(all), value_arms(all));
}

std::string zsh_completion(const Program& program) {
  const std::vector<Offers> all = offers_of(program);
  return fmt::format(R"(#compdef dewpoint
# Completion of dewpoint for zsh.
_dewpoint_verb() {{  # VERB: sets verbs, flags, options
  verbs='' flags='' options=''
  case "$1" in
{}  esac
}}
_dewpoint_values() {{  # VERB and OPTION, or < for an argument: sets choices, paths, commas
  choices='' paths='' commas=''
  case "$1" in
{}  esac
}}
_dewpoint() {{
  local current="$words[CURRENT]" verb='' option='' word verbs flags options choices paths commas
  local -i place=2
  _dewpoint_verb ''
  while (( place < CURRENT )); do
    word="$words[place]"
    [[ " $verbs " == *" $word "* ]] || break
    verb="${{verb:+$verb }}$word"
    _dewpoint_verb "$verb"
    (( place++ ))
  done
  for word in "${{(@)words[place,CURRENT-1]}}"; do  # does an option wait for its value?
    if [[ "$word" != -?* || ( -n "$option" && "$word" != --* ) ]]; then
      option=''
    elif [[ " $options " == *" $word "* ]]; then
      option="$word"
    else
      option=''
    fi
  done
  if [[ -z "$option" && "$current" == --*=* ]]; then
    option="${{current%%=*}}"
    compset -P '*='
  fi
  if [[ -n "$option" ]]; then
    _dewpoint_values "$verb $option"
  elif [[ "$current" == -* ]]; then
    choices="$options $flags" paths='' commas=''
  else
    _dewpoint_values "$verb <"
    (( place < CURRENT )) || choices="$choices${{verbs:+ $verbs}}"
    [[ -n "$choices$paths$current" ]] || choices="$options $flags"
  fi
  [[ -z "$commas" ]] || compset -P '*,'
  compadd -- ${{=choices}}
  case "$paths" in
    files) _files ;;
    folders) _files -/ ;;
  esac
}}
_dewpoint "$@"
)",
                     verb_arms(all), value_arms(all));
}

std::string fish_quote(const std::string& text) {
  std::string safe;
  for (const char c : text) {
    if (c == '\'' || c == '\\') safe += '\\';
    safe += c;
  }
  return "'" + safe + "'";
}

// -x: a value and no files; -r -F: a value, files too; nothing: a flag.
std::string fish_value(const Offer& offer) {
  if (!offer.takes_value) return "";
  std::string text = offer.file.empty() ? " -x" : " -r -F";
  if (offer.file == "folder") return " -x -a '(__fish_complete_directories)'";
  return offer.words.empty() ? text : text + fmt::format(" -a '{}'", fmt::join(offer.words, " "));
}

std::string fish_line(const std::string& place, const Offer& offer) {
  std::string line = "complete -c dewpoint " + place;
  if (offer.names.empty()) {  // an argument: its words, beside the files that fish offers itself
    if (offer.words.empty()) return "";
    if (offer.file.empty()) line += " -f";
    return line +
           fmt::format(" -a '{}' -d {}\n", fmt::join(offer.words, " "), fish_quote(offer.about));
  }
  for (const std::string& name : offer.names) {
    line += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
  }
  return line + fish_value(offer) + " -d " + fish_quote(offer.about) + "\n";
}

std::string fish_completion(const Program& program) {
  const std::vector<Offers> all = offers_of(program);
  std::string names, lines;
  for (const Offers& verb : all) names += verb.name.empty() ? "" : " " + fish_quote(verb.name);
  for (const Offers& verb : all) {
    const std::string place = "-n \"__dewpoint_at '" + verb.name + "'\"";
    for (const std::string& below : verb.verbs) {
      const std::string name = verb.name.empty() ? below : verb.name + " " + below;
      const auto found =
          std::find_if(all.begin(), all.end(), [&](const Offers& one) { return one.name == name; });
      lines += fmt::format("complete -c dewpoint {} -f -a {} -d {}\n", place, below,
                           fish_quote(found->about));
    }
    for (const Offer& offer : verb.offers) lines += fish_line(place, offer);
  }
  return fmt::format(R"(# Completion of dewpoint for fish.
set -g __dewpoint_verbs{}
function __dewpoint_at # whether this verb is on the command line, and none below it
    set -l verb ''
    for word in (commandline -opc)[2..-1]
        set -l next (string trim -- "$verb $word")
        contains -- $next $__dewpoint_verbs; or break
        set verb $next
    end
    test "$verb" = "$argv[1]"
end
{})",
                     names, lines);
}

// --- description -------------------------------------------------------------------------------

// What a value is: a number, a whole number, a text, a flag; a seed is a whole number or "random".
std::string kind_of(const question::Field& field) {
  switch (field.kind) {
    case question::Kind::number:
    case question::Kind::numbers:
    case question::Kind::grid:
      return "number";
    case question::Kind::whole:
    case question::Kind::counts:
      return "whole";
    case question::Kind::seed:
      return "seed";
    case question::Kind::flag:
      return "flag";
    case question::Kind::word:
    case question::Kind::words:
      break;
  }
  return field.file.empty() ? "text" : "file";
}

Json range_json(const question::Range& range) {
  const auto end = [](double x) { return std::isfinite(x) ? Json(x) : Json(); };
  if (!std::isfinite(range.least) && !std::isfinite(range.most)) return nullptr;
  return {{"least", end(range.least)},
          {"most", end(range.most)},
          {"above", range.above},
          {"below", range.below}};
}

// As a value: a number, a word, true or false, a list of words; null where nothing is given.
Json default_json(const question::Field& field) {
  if (!field.grid.empty()) return field.grid;
  if (!field.standard || *field.standard == question::Value("")) return nullptr;
  const Json value = std::visit([](const auto& held) { return Json(held); }, *field.standard);
  const bool is_whole = kind_of(field) == "whole" || kind_of(field) == "seed";
  return is_whole && value.is_number() ? Json(static_cast<std::int64_t>(value.get<double>()))
                                       : value;
}

Json describe(const CLI::Option& option, const Program& program) {
  const question::Field& field = *program.fields.at(&option);
  const bool words = field.listed && field.kind == question::Kind::word;  // one each time
  return {{"name", field.name},
          {"kind", kind_of(field)},
          {"list", field.is_list() && !words},
          {"range", range_json(field.range)},
          {"words", field.words},
          {"suggestions", field.suggestions},
          {"default", default_json(field)},
          {"otherwise", field.otherwise},
          {"about", option.get_description()},
          {"positional", option.get_positional()},
          {"required", option.get_required()},
          {"several", words || option.get_items_expected_max() > 1},
          {"commas", field.commas}};
}

Json describe(const Node& verb, const Program& program) {
  Json options = Json::array();
  for (const CLI::Option* option : verb.app->get_options()) {
    if (!option->check_lname("help") && !option->check_lname("json")) {
      options.push_back(describe(*option, program));
    }
  }
  return {{"verb", verb.name},
          {"about", verb.app->get_description()},
          {"example", verb.app->get_footer()},
          {"options", options}};
}

void collect_all(const CLI::App& app, const Program& program, const std::string& prefix,
                 Json& verbs) {
  for (const CLI::App* sub : visible_subcommands(app)) {
    const std::string name = prefix + sub->get_name();
    verbs.push_back(describe(Node{name, sub}, program));
    collect_all(*sub, program, name + " ", verbs);
  }
}

/// [{"verb": "predict layer", "about", "example", "options": [{"name": "rho", "kind": "number",
/// "list", "range": {"least": 0, "most": 1, "above": false, "below": true}, "words",
/// "suggestions", "default", "otherwise", "about", "positional", "required", "several",
/// "commas"}]}].
std::string description(const Program& program) {
  Json verbs = Json::array();
  collect_all(program.app, program, "", verbs);
  return verbs.dump(1) + "\n";
}

// --- the verb ----------------------------------------------------------------------------------

struct ManualVerb {
  std::string kind = "man";
};

template <class Visitor>
void describe(Visitor& visit, ManualVerb& q) {
  visit("kind", q.kind, question::positional,
        question::one_of({"man", "bash", "zsh", "fish", "json"}), "what is printed");
}

int print_manual(const ManualVerb& q, const Program& program) {
  if (q.kind == "man") fmt::print("{}", man_page(program.app));
  if (q.kind == "bash") fmt::print("{}", bash_completion(program));
  if (q.kind == "zsh") fmt::print("{}", zsh_completion(program));
  if (q.kind == "fish") fmt::print("{}", fish_completion(program));
  if (q.kind == "json") fmt::print("{}", description(program));
  return 0;
}

}  // namespace

Verb manual_verb() {
  return verb_of<ManualVerb>("manual",
                             "Print the manual page, a shell completion or all options as JSON",
                             "dewpoint manual man", print_manual);
}

}  // namespace dewpoint::cli
