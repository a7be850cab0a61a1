#include "cli/examination.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <mutex>
#include <nlohmann/json.hpp>

#include "cli/console.hpp"
#include "dewpoint/core/build_info.hpp"
#include "dewpoint/core/error.hpp"
#include "dewpoint/core/nearest_word.hpp"

namespace dewpoint::cli {
namespace {

using Json = nlohmann::ordered_json;

[[noreturn]] void refuse_id(const std::string& id, const Examination& examination) {
  std::vector<std::string> ids;
  for (const claims::Claim& claim : examination.claims()) ids.push_back(claim.id);
  std::string message = fmt::format("only: '{}' is not a row", id);
  if (const auto meant = nearest_word(id, ids))
    message += fmt::format("; did you mean '{}'?", *meant);
  throw Error(Code::bad_value, message + fmt::format(" ({} --list shows all)", examination.verb));
}

std::string command_for(const std::string& id, const Examination& examination) {
  std::string command = fmt::format("{} --only {}", examination.verb, id);
  if (examination.full) command += " --full";
  if (examination.seed != 1) command += fmt::format(" --seed {}", examination.seed);
  return command;
}

Examined examined(const claims::Claim& claim, const Examination& examination) {
  claims::Setting setting;
  setting.effort = examination.full ? claims::Effort::full : claims::Effort::quick;
  setting.seed = examination.seed;
  setting.context = {examination.threads, stop_token(), {}};
  const auto start = std::chrono::steady_clock::now();
  claims::Evidence evidence = claim.examine(setting);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  return {&claim, std::move(evidence), seconds.count(), command_for(claim.id, examination)};
}

}  // namespace

ClaimList chosen_claims(const Examination& examination, const std::vector<std::string>& only) {
  const std::vector<claims::Claim>& all = examination.claims();
  for (const std::string& id : only) {
    const auto is_it = [&id](const claims::Claim& claim) { return claim.id == id; };
    if (std::none_of(all.begin(), all.end(), is_it)) refuse_id(id, examination);
  }
  ClaimList result;
  for (const claims::Claim& claim : all) {
    const bool named = std::find(only.begin(), only.end(), claim.id) != only.end();
    if (only.empty() || named) result.push_back(&claim);
  }
  return result;
}

std::vector<Examined> examine(const Examination& examination, const ClaimList& wanted,
                              const std::function<void(const Examined&)>& finished) {
  std::vector<Examined> rows(wanted.size());
  std::mutex one_at_a_time;
  ProgressLine progress("verify");
  parallel_for(wanted.size(), {examination.threads, stop_token(), progress.callback()},
               [&](std::size_t i) {
                 rows[i] = examined(*wanted[i], examination);
                 const std::lock_guard lock(one_at_a_time);
                 if (finished) finished(rows[i]);
               });
  return rows;
}

std::string effort_name(const Examination& examination) {
  return examination.full ? "full" : "quick";
}

Json certificate_json(const Examination& examination, const std::vector<Examined>& rows) {
  Json list = Json::array();
  for (const Examined& row : rows) list.push_back(as_json(row));
  return {{"experiment", examination.verb.substr(examination.verb.find(' ') + 1)},
          {"version", version()},
          {"commit", commit()},
          {"seed", examination.seed},
          {"effort", effort_name(examination)},
          {"rows", list}};
}

std::string certificate_markdown(const Examination& examination,
                                 const std::vector<Examined>& rows) {
  return fmt::format("{}\n{}. Seed {}, {}, Dewpoint {}.\n", as_markdown(rows), summary(rows),
                     examination.seed, effort_name(examination), version());
}

bool any_fails(const std::vector<Examined>& rows) {
  return std::any_of(rows.begin(), rows.end(), [](const Examined& row) {
    return claims::verdict(row.evidence) == claims::Verdict::fails;
  });
}

}  // namespace dewpoint::cli
