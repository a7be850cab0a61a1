#include "cli/certificate_file.hpp"

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "cli/text_file.hpp"

namespace dewpoint::cli {
namespace {

using Json = nlohmann::ordered_json;
using Rows = std::map<std::string, Examined>;  // by id
using std::filesystem::path;

// What tells one examination from another.
constexpr const char* kHeading[] = {"experiment", "version", "commit", "seed", "effort"};

// Rows of a file that may be missing, damaged, or of another examination: it then has none.
Rows rows_of(const path& file, const Examination& examination) {
  std::ifstream in(file, std::ios::binary);
  const Json found = Json::parse(in, nullptr, false);
  if (!found.is_object() || !found.contains("rows") || !found["rows"].is_array()) return {};
  const Json expected = certificate_json(examination, {});
  for (const char* key : kHeading) {
    if (!found.contains(key) || found[key] != expected[key]) return {};
  }
  std::map<std::string, const claims::Claim*> known;
  for (const claims::Claim* claim : chosen_claims(examination)) known[claim->id] = claim;
  Rows rows;
  for (const Json& row : found["rows"]) {
    if (!row.is_object() || !row.contains("id") || !row["id"].is_string()) continue;
    const auto claim = known.find(row["id"].get<std::string>());
    if (claim == known.end()) continue;
    if (auto examined = examined_from(row, *claim->second)) rows[claim->first] = *examined;
  }
  return rows;
}

// In the order of the papers, as far as they are there.
std::vector<Examined> in_order(const Rows& rows, const Examination& examination) {
  std::vector<Examined> result;
  for (const claims::Claim* claim : chosen_claims(examination)) {
    if (const auto row = rows.find(claim->id); row != rows.end()) result.push_back(row->second);
  }
  return result;
}

std::string json_text(const Rows& rows, const Examination& examination) {
  return certificate_json(examination, in_order(rows, examination)).dump(2) + "\n";
}

}  // namespace

FileKind certificate_kind() {
  return marked_kind("a certificate of Dewpoint", "{\n  \"experiment\": \"verify", "\"effort\"");
}

FileKind certificate_table_kind() {
  return marked_kind("the table of a certificate", "| id | where | statement |", ", Dewpoint ");
}

std::optional<std::vector<Examined>> read_certificate(const CertificateFiles& files,
                                                      const Examination& examination) {
  std::vector<Examined> rows = in_order(rows_of(files.json(), examination), examination);
  if (rows.size() != examination.claims().size()) return std::nullopt;
  return rows;
}

std::vector<Examined> complete_certificate(const CertificateFiles& files,
                                           const Examination& examination, bool fresh) {
  Rows rows;
  if (!fresh) {
    rows = rows_of(files.part(), examination);
    rows.merge(rows_of(files.json(), examination));
  }
  ClaimList missing = chosen_claims(examination);
  std::erase_if(missing, [&](const claims::Claim* claim) { return rows.contains(claim->id); });
  (void)examine(examination, missing, [&](const Examined& row) {
    rows[row.claim->id] = row;
    write_text_file({files.part(), files.force}, certificate_kind(), json_text(rows, examination));
  });
  write_text_file({files.json(), files.force}, certificate_kind(), json_text(rows, examination));
  std::vector<Examined> all = in_order(rows, examination);
  write_text_file({files.markdown(), files.force}, certificate_table_kind(),
                  certificate_markdown(examination, all));
  std::filesystem::remove(files.part());
  return all;
}

}  // namespace dewpoint::cli
