#include "cli/certificate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>

#include "dewpoint/core/error.hpp"
#include "dewpoint/core/frame_json.hpp"

namespace dewpoint::cli {
namespace {

using claims::Comparison;
using claims::Relation;
using claims::Verdict;
using Json = nlohmann::ordered_json;

constexpr std::size_t kWidth = 100;

double allowed(const Comparison& comparison) {
  return claims::kSigmas * comparison.measured.standard_error + comparison.tolerance;
}

const char* symbol(Relation relation) {
  switch (relation) {
    case Relation::equals:
      return "=";
    case Relation::at_least:
      return "≥";
    case Relation::at_most:
      return "≤";
  }
  return "?";
}

const char* word(Relation relation) {
  switch (relation) {
    case Relation::equals:
      return "equals";
    case Relation::at_least:
      return "at least";
    case Relation::at_most:
      return "at most";
  }
  return "?";
}

const Comparison& nearest_to_failing(const std::vector<Comparison>& comparisons) {
  return *std::min_element(
      comparisons.begin(), comparisons.end(),
      [](const Comparison& a, const Comparison& b) { return margin(a) < margin(b); });
}

std::string predicted_text(const Comparison& comparison) {
  return fmt::format("{} {:.6g}", symbol(comparison.relation), comparison.predicted);
}

// With its error; where nothing is random, with what is allowed for rounding and finite length.
std::string measured_text(const Comparison& comparison) {
  if (comparison.measured.standard_error > 0.0) return to_string(comparison.measured);
  return fmt::format("{:.6g} (tolerance {:.1g})", comparison.measured.mean, comparison.tolerance);
}

// Columns on a terminal: every code point that we print is one wide.
std::size_t columns(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  }));
}

// Words in lines of at most kWidth columns, indented.
std::string wrapped(const std::string& text, std::size_t indent) {
  std::istringstream words(text);
  std::string result, line(indent, ' '), next;
  bool empty = true;
  while (words >> next) {
    if (!empty && columns(line) + 1 + columns(next) > kWidth) {
      result += line + "\n";
      line = std::string(indent + 2, ' ');
      empty = true;
    }
    line += (empty ? "" : " ") + next;
    empty = false;
  }
  return result + line + "\n";
}

std::string comparison_text(const std::vector<Comparison>& comparisons) {
  const Comparison& shown = nearest_to_failing(comparisons);
  const std::size_t more = comparisons.size() - 1;
  return fmt::format("{}: predicted {}, measured {}{}", shown.quantity, predicted_text(shown),
                     measured_text(shown), more > 0 ? fmt::format("; and {} more", more) : "");
}

// A bar would end the cell.
std::string cell(std::string text) {
  for (std::size_t at = text.find('|'); at != std::string::npos; at = text.find('|', at + 2)) {
    text.insert(at, 1, '\\');
  }
  return text;
}

Json as_json(const std::vector<Comparison>& comparisons) {
  Json list = Json::array();
  for (const Comparison& comparison : comparisons) {
    list.push_back({{"quantity", comparison.quantity},
                    {"relation", word(comparison.relation)},
                    {"predicted", comparison.predicted},
                    {"measured", to_json(comparison.measured)},
                    {"tolerance", comparison.tolerance},
                    {"holds", comparison.holds()}});
  }
  return list;
}

double number(const Json& value) {
  return value.is_null() ? std::numeric_limits<double>::quiet_NaN() : value.get<double>();
}

Relation relation_named(const std::string& name) {
  for (const Relation relation : {Relation::equals, Relation::at_least, Relation::at_most}) {
    if (name == word(relation)) return relation;
  }
  throw Error(Code::malformed_file, fmt::format("'{}' is no relation", name));
}

std::vector<Comparison> comparisons_from(const Json& list) {
  std::vector<Comparison> comparisons;
  for (const Json& one : list) {
    const Json& measured = one.at("measured");
    comparisons.push_back({one.at("quantity"),
                           number(one.at("predicted")),
                           relation_named(one.at("relation")),
                           {number(measured.at("mean")), number(measured.at("standard_error")),
                            measured.at("samples").get<std::uint64_t>()},
                           number(one.at("tolerance"))});
  }
  return comparisons;
}

std::size_t count(const std::vector<Examined>& rows, Verdict wanted) {
  return static_cast<std::size_t>(std::count_if(
      rows.begin(), rows.end(),
      [wanted](const Examined& row) { return claims::verdict(row.evidence) == wanted; }));
}

}  // namespace

double margin(const Comparison& comparison) {
  const double excess = comparison.measured.mean - comparison.predicted;
  const double room = allowed(comparison);
  if (std::isnan(excess) || std::isnan(room)) return -1.0;
  if (comparison.relation == Relation::equals) {
    return room > 0.0 ? 1.0 - std::abs(excess) / room : (excess == 0.0 ? 1.0 : -1.0);
  }
  const double inside = (comparison.relation == Relation::at_least ? excess : -excess) + room;
  const double scale = std::max(std::abs(comparison.predicted), 1e-300);
  return std::min(1.0, inside / scale);
}

std::string as_text(const claims::Claim& claim) {
  return claim.id + "\n" + wrapped(claim.place + ": " + claim.statement, 4);
}

std::string as_text(const Examined& row) {
  const claims::Evidence& evidence = row.evidence;
  std::string text = fmt::format("{:<24} {:<66} {:>5.1f} s\n", row.claim->id,
                                 claims::name_of(claims::verdict(evidence)), row.seconds);
  text += wrapped(row.claim->place + ": " + row.claim->statement, 4);
  text += wrapped(evidence.parameters, 4);
  if (!evidence.statement.empty()) text += wrapped(comparison_text(evidence.statement), 4);
  if (!evidence.as_printed.empty()) {
    text += wrapped("as printed: " + comparison_text(evidence.as_printed), 4);
  }
  return text + "    " + row.command + "\n";
}

std::string as_markdown(const std::vector<Examined>& rows) {
  std::string text =
      "| id | where | statement | parameters | quantity | predicted | measured | verdict | seconds "
      "| command |\n|---|---|---|---|---|---|---|---|---|---|\n";
  for (const Examined& row : rows) {
    const std::vector<Comparison>& all = row.evidence.statement;
    const Comparison* shown = all.empty() ? nullptr : &nearest_to_failing(all);
    const std::string more = all.size() > 1 ? fmt::format(" (and {} more)", all.size() - 1) : "";
    text += fmt::format("| {} | {} | {} | {} | {} | {} | {} | {} | {:.1f} | `{}` |\n",
                        row.claim->id, cell(row.claim->place), cell(row.claim->statement),
                        cell(row.evidence.parameters), shown ? cell(shown->quantity) + more : "",
                        shown ? predicted_text(*shown) : "", shown ? measured_text(*shown) : "",
                        claims::name_of(claims::verdict(row.evidence)), row.seconds, row.command);
  }
  return text;
}

Json as_json(const Examined& row) {
  return {{"id", row.claim->id},
          {"place", row.claim->place},
          {"statement", row.claim->statement},
          {"parameters", row.evidence.parameters},
          {"verdict", claims::name_of(claims::verdict(row.evidence))},
          {"comparisons", as_json(row.evidence.statement)},
          {"as_printed", as_json(row.evidence.as_printed)},
          {"seconds", row.seconds},
          {"command", row.command}};
}

std::optional<Examined> examined_from(const Json& row, const claims::Claim& claim) try {
  claims::Evidence evidence{row.at("parameters"), comparisons_from(row.at("comparisons")),
                            comparisons_from(row.at("as_printed"))};
  const std::string stated = row.at("verdict");
  evidence.reproduces = stated != claims::name_of(Verdict::does_not_reproduce);
  if (row.at("id") != claim.id || claims::name_of(claims::verdict(evidence)) != stated) {
    return std::nullopt;
  }
  return Examined{&claim, std::move(evidence), row.at("seconds"), row.at("command")};
} catch (const Json::exception&) {
  return std::nullopt;
} catch (const Error&) {
  return std::nullopt;
}

std::string summary(const std::vector<Examined>& rows) {
  return fmt::format("{} {}: {} hold, {} hold as corrected, {} do not reproduce, {} fail",
                     rows.size(), rows.size() == 1 ? "row" : "rows", count(rows, Verdict::holds),
                     count(rows, Verdict::holds_as_corrected),
                     count(rows, Verdict::does_not_reproduce), count(rows, Verdict::fails));
}

}  // namespace dewpoint::cli
