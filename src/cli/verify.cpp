// dewpoint verify: every statement of the papers that we check, and the corrections to them.
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "cli/commands.hpp"
#include "cli/examination.hpp"

namespace dewpoint::cli {
namespace {

struct VerifyOptions {
  CommonOptions common;
  std::vector<std::string> only;
  bool markdown = false;
  bool list = false;
  Examination examination;
};

Answer claim_list(const ClaimList& wanted) {
  Answer answer{{{"rows", Json::array()}}, ""};
  for (const claims::Claim* claim : wanted) {
    answer.json["rows"].push_back(
        {{"id", claim->id}, {"place", claim->place}, {"statement", claim->statement}});
    answer.text += as_text(*claim);
  }
  return answer;
}

std::string certificate_text(const Examination& examination, const std::vector<Examined>& rows) {
  std::string text;
  for (const Examined& row : rows) text += as_text(row) + "\n";
  return text + fmt::format("seed {}\n{}.\n", examination.seed, summary(rows));
}

Answer verify_answer(const VerifyOptions& o) {
  Examination examination = o.examination;
  examination.seed = o.common.seed;
  examination.threads = o.common.threads;
  const ClaimList wanted = chosen_claims(examination, o.only);
  if (o.list) return claim_list(wanted);
  const std::vector<Examined> rows = examine(examination, wanted);
  return {
      certificate_json(examination, rows),
      o.markdown ? certificate_markdown(examination, rows) : certificate_text(examination, rows),
      {},
      false,
      any_fails(rows) ? 1 : 0};
}

void add_options(CLI::App& verb, VerifyOptions& o) {
  verb.add_option("--only", o.only, "This row alone; may be repeated")->allow_extra_args(false);
  verb.add_flag("--full", o.examination.full, "Longer contexts and more clouds: minutes");
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
  e->examination.claims = claims::all_errata;
  e->examination.verb = "dewpoint verify errata";
  add_options(*verb, *o);
  add_options(*errata, *e);
  add_example(*verb, "dewpoint verify --only cas.theorem-2.1");
  add_example(*errata, "dewpoint verify errata --only erratum.1");
  verb->require_subcommand(0, 1);
  verb->callback([&program, verb, o] {
    if (!verb->get_subcommands().empty()) return;
    set_answer(program, o->common.json, [o] { return verify_answer(*o); });
  });
  errata->callback(
      [&program, e] { set_answer(program, e->common.json, [e] { return verify_answer(*e); }); });
}

}  // namespace dewpoint::cli
