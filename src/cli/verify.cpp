// dewpoint verify: every statement of the papers that we check, and the corrections to them.
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/certificate.hpp"
#include "cli/commands.hpp"
#include "cli/console.hpp"
#include "dewpoint/core/build_info.hpp"
#include "dewpoint/core/error.hpp"
#include "dewpoint/core/nearest_word.hpp"

namespace dewpoint::cli {
namespace {

using Json = nlohmann::ordered_json;
using Claims = std::vector<claims::Claim>;

struct VerifyOptions {
  CommonOptions common;
  std::vector<std::string> only;
  bool full = false;
  bool markdown = false;
  bool list = false;
  const Claims& (*claims)() = claims::all_claims;
  std::string verb = "dewpoint verify";
};

[[noreturn]] void refuse_id(const std::string& id, const VerifyOptions& o) {
  std::vector<std::string> ids;
  for (const claims::Claim& claim : o.claims()) ids.push_back(claim.id);
  std::string message = fmt::format("only: '{}' is not a row", id);
  if (const auto meant = nearest_word(id, ids))
    message += fmt::format("; did you mean '{}'?", *meant);
  throw Error(Code::bad_value, message + fmt::format(" ({} --list shows all)", o.verb));
}

std::vector<const claims::Claim*> chosen(const VerifyOptions& o) {
  const Claims& all = o.claims();
  for (const std::string& id : o.only) {
    const auto is_it = [&id](const claims::Claim& claim) { return claim.id == id; };
    if (std::none_of(all.begin(), all.end(), is_it)) refuse_id(id, o);
  }
  std::vector<const claims::Claim*> result;
  for (const claims::Claim& claim : all) {
    const bool named = std::find(o.only.begin(), o.only.end(), claim.id) != o.only.end();
    if (o.only.empty() || named) result.push_back(&claim);
  }
  return result;
}

std::string command_for(const std::string& id, const VerifyOptions& o) {
  std::string command = fmt::format("{} --only {}", o.verb, id);
  if (o.full) command += " --full";
  if (o.common.seed != 1) command += fmt::format(" --seed {}", o.common.seed);
  return command;
}

Examined examine(const claims::Claim& claim, const VerifyOptions& o) {
  claims::Setting setting;
  setting.effort = o.full ? claims::Effort::full : claims::Effort::quick;
  setting.seed = o.common.seed;
  setting.context = {o.common.threads, stop_on_signals(), {}};
  const auto start = std::chrono::steady_clock::now();
  claims::Evidence evidence = claim.examine(setting);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  return {&claim, std::move(evidence), seconds.count(), command_for(claim.id, o)};
}

std::vector<Examined> examine_all(const std::vector<const claims::Claim*>& wanted,
                                  const VerifyOptions& o) {
  std::vector<Examined> rows(wanted.size());
  ProgressLine progress("verify");
  parallel_for(wanted.size(), {o.common.threads, stop_on_signals(), progress.callback()},
               [&](std::size_t i) { rows[i] = examine(*wanted[i], o); });
  return rows;
}

int print_list(const std::vector<const claims::Claim*>& wanted, bool json) {
  Json list = Json::array();
  for (const claims::Claim* claim : wanted) {
    list.push_back({{"id", claim->id}, {"place", claim->place}, {"statement", claim->statement}});
    if (!json) fmt::print("{}", as_text(*claim));
  }
  if (json) fmt::print("{}\n", Json{{"rows", list}}.dump(2));
  return 0;
}

void print_json(const std::vector<Examined>& rows, const VerifyOptions& o) {
  Json list = Json::array();
  for (const Examined& row : rows) list.push_back(as_json(row));
  const Json out = {{"experiment", o.verb.substr(o.verb.find(' ') + 1)},
                    {"version", version()},
                    {"seed", o.common.seed},
                    {"effort", o.full ? "full" : "quick"},
                    {"rows", list}};
  fmt::print("{}\n", out.dump(2));
}

int run_verify(const VerifyOptions& o) {
  const auto wanted = chosen(o);
  if (o.list) return print_list(wanted, o.common.json);
  const std::vector<Examined> rows = examine_all(wanted, o);
  if (o.common.json) {
    print_json(rows, o);
  } else if (o.markdown) {
    fmt::print("{}\n{}.\n", as_markdown(rows), summary(rows));
  } else {
    for (const Examined& row : rows) fmt::print("{}\n", as_text(row));
    fmt::print("{}.\n", summary(rows));
  }
  const bool failed = std::any_of(rows.begin(), rows.end(), [](const Examined& row) {
    return claims::verdict(row.evidence) == claims::Verdict::fails;
  });
  return failed ? 1 : 0;
}

void add_options(CLI::App& verb, VerifyOptions& o) {
  verb.add_option("--only", o.only, "This row alone; may be repeated")->allow_extra_args(false);
  verb.add_flag("--full", o.full, "Longer contexts and more clouds: minutes");
  auto* markdown = verb.add_flag("--markdown", o.markdown, "One table in Markdown");
  verb.add_flag("--list", o.list, "Name the rows, examine nothing");
  add_common(verb, o.common);
  markdown->excludes(verb.get_option("--json"));
}

}  // namespace

void add_verify(Program& program) {
  CLI::App* verb = program.app.add_subcommand(
      "verify", "Every statement of the papers that is checked: prediction, measurement, verdict");
  CLI::App* errata =
      verb->add_subcommand("errata", "The same for every correction that we list to the papers");
  const auto o = std::make_shared<VerifyOptions>(), e = std::make_shared<VerifyOptions>();
  e->claims = claims::all_errata;
  e->verb = "dewpoint verify errata";
  add_options(*verb, *o);
  add_options(*errata, *e);
  add_example(*verb, "dewpoint verify --only cas.theorem-2.1");
  add_example(*errata, "dewpoint verify errata --only erratum.1");
  verb->require_subcommand(0, 1);
  verb->callback([&program, verb, o] {
    if (!verb->get_subcommands().empty()) return;
    program.action = [o] { return run_verify(*o); };
  });
  errata->callback([&program, e] { program.action = [e] { return run_verify(*e); }; });
}

}  // namespace dewpoint::cli
