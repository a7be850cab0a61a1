// dewpoint verify: every statement of the papers that we check, and the corrections to them.
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "cli/examination.hpp"
#include "cli/verbs.hpp"

namespace dewpoint::cli {
namespace {

/// Of the papers' statements, or of the corrections to them.
struct VerifyVerb {
  Common common;
  std::vector<std::string> only;
  bool full = false;
  bool markdown = false;
  bool list = false;
};
struct ErrataVerb : VerifyVerb {};

std::vector<std::string> ids_of(const std::vector<claims::Claim>& claims) {
  std::vector<std::string> ids;
  for (const claims::Claim& claim : claims) ids.push_back(claim.id);
  return ids;
}

template <class Visitor>
void describe_rows(Visitor& visit, VerifyVerb& q, const std::vector<claims::Claim>& rows) {
  using namespace question;  // NOLINT(google-build-using-namespace): the words of a description
  visit("only", q.only, suggest(ids_of(rows)), "this row alone; may be repeated");
  visit("full", q.full, "longer contexts and more clouds: minutes");
  visit("markdown", q.markdown, "one table in Markdown", not_with("json"));
  visit("list", q.list, "name the rows, examine nothing");
  describe(visit, q.common);
}

template <class Visitor>
void describe(Visitor& visit, VerifyVerb& q) {
  describe_rows(visit, q, claims::all_claims());
}

template <class Visitor>
void describe(Visitor& visit, ErrataVerb& q) {
  describe_rows(visit, q, claims::all_errata());
}

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

Answer answer_of(Examination examination, const VerifyVerb& o) {
  examination.full = o.full;
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

Answer verify_answer(const VerifyVerb& o) { return answer_of({}, o); }

Answer errata_answer(const ErrataVerb& o) {
  Examination examination;
  examination.claims = claims::all_errata;
  examination.verb = "dewpoint verify errata";
  return answer_of(examination, o);
}

}  // namespace

Verb verify_verb() {
  return verb_of<VerifyVerb>(
      "verify", "Every statement of the papers that is checked: prediction, measurement, verdict",
      "dewpoint verify --only cas.theorem-2.1", verify_answer);
}

Verb verify_errata_verb() {
  return verb_of<ErrataVerb>("verify errata",
                             "The same for every correction that we list to the papers",
                             "dewpoint verify errata --only erratum.1", errata_answer);
}

}  // namespace dewpoint::cli
