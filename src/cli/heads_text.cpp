#include "cli/heads_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "cli/dew_scores.hpp"
#include "dewpoint/core/build_info.hpp"
#include "dewpoint/core/frame_json.hpp"

namespace dewpoint::cli {
namespace {

using diagnosis::HeadDiagnosis;
using diagnosis::PhaseVerdict;

/// A statistic of the longest context, at the first multiplier or without one.
const Estimate& last_of(const HeadDiagnosis& head, const char* name, std::size_t multiplier = 0) {
  const Variable& variable = head.statistics.variable(name);
  const std::size_t multipliers =
      variable.dimensions.size() == 2 ? head.statistics.dimension("multiplier").labels.size() : 1;
  return variable.cells[variable.cells.size() - multipliers + multiplier];
}

std::string verdict_of(const PhaseVerdict& verdict) {
  if (!verdict.phase) return "cannot tell";
  return fmt::format("{} ({:.0f} %)", name_of(*verdict.phase), 100.0 * verdict.probability);
}

const diagnosis::HeadGrowth* growth_of(const HeadDiagnosis& head) {
  if (head.along_rows && head.along_rows->verdict.law) return &*head.along_rows;
  if (head.thinned) return &*head.thinned;
  return head.along_rows ? &*head.along_rows : nullptr;
}

std::string law_of(const HeadDiagnosis& head) {
  const diagnosis::HeadGrowth* growth = growth_of(head);
  if (growth == nullptr) return "-";
  return growth->verdict.law ? name_of(*growth->verdict.law) : "cannot tell";
}

Json record_of(const HeadDiagnosis& head) {
  return {{"layer", fmt::format("{}", head.layer)},
          {"head", fmt::format("{}", head.head)},
          {"keys", fmt::format("{:.0f}", last_of(head, "keys").mean)},
          {"phase", short_text(last_of(head, "phase_without_sink"))},
          {"dew", short_text(last_of(head, "dew_point_without_sink"))},
          {"read", fmt::format("{:.4g}", last_of(head, "effective_keys_without_sink").mean)},
          {"largest", fmt::format("{:.3f}", last_of(head, "largest_weight_without_sink").mean)},
          {"first", fmt::format("{:.3f}", last_of(head, "first_mass").mean)},
          {"verdict", verdict_of(head.verdicts_without_first.front())},
          {"law", law_of(head)}};
}

std::string counts_text(const HeadsMeasurement& found) {
  std::string text;
  for (std::size_t k = 0; k < found.options.multipliers.size(); ++k) {
    std::map<std::string, std::size_t> counts;
    for (const HeadDiagnosis& head : found.heads) {
      const auto& phase = head.verdicts_without_first[k].phase;
      ++counts[phase ? name_of(*phase) : "cannot tell"];
    }
    std::vector<std::string> parts;
    for (const auto& [name, count] : counts) parts.push_back(fmt::format("{} {}", count, name));
    text +=
        fmt::format("logits × {:<10} {}\n", found.options.multipliers[k], fmt::join(parts, ", "));
  }
  return text;
}

/// Losses by octave of the position, a column per multiplier.
std::string loss_text(const Frame& loss) {
  const std::vector<double>& ends = loss.dimension("n").coordinates;
  const Dimension& multipliers = loss.dimension("multiplier");
  const std::vector<Estimate>& cells = loss.variable("loss_by_n").cells;
  Json records = Json::array();
  std::vector<Column> columns = {{"n", "tokens seen, up to"}};
  for (std::size_t k = 0; k < multipliers.coordinates.size(); ++k) {
    const std::string name = multipliers.labels.empty()
                                 ? fmt::format("{:g}", multipliers.coordinates[k])
                                 : multipliers.labels[k];
    columns.push_back({std::to_string(k), fmt::format("loss × {}", name)});
  }
  for (std::size_t i = 0; i < ends.size(); ++i) {
    Json record = {{"n", fmt::format("{:g}", ends[i])}};
    for (std::size_t k = 0; k < multipliers.coordinates.size(); ++k) {
      record[std::to_string(k)] = short_text(cells[k * ends.size() + i]);
    }
    records.push_back(std::move(record));
  }
  return "\n" + to_text(records, columns);
}

}  // namespace

std::string heads_text(const HeadsQuestion& question, const HeadsMeasurement& found) {
  std::string text = fmt::format("{}: {} heads\n", question.input, found.heads.size());
  for (const auto& [name, value] : found.parameters) text += fmt::format("{:<12}{}\n", name, value);
  Json records = Json::array();
  for (const HeadDiagnosis& head : found.heads) records.push_back(record_of(head));
  text +=
      "\nlongest contexts, without sinks:\n" + to_text(records, {{"layer", "layer"},
                                                                 {"head", "head"},
                                                                 {"keys", "n"},
                                                                 {"phase", "phase τ"},
                                                                 {"dew", "β_dew"},
                                                                 {"read", "keys read"},
                                                                 {"largest", "w_max"},
                                                                 {"first", "first key"},
                                                                 {"verdict", "verdict", true},
                                                                 {"law", "β_dew grows as", true}});
  text += "\n" + counts_text(found);
  if (found.loss) text += loss_text(*found.loss);
  return text;
}

std::string warnings_text(const HeadsMeasurement& found) {
  std::map<std::string, std::vector<std::string>> heads;  // by id
  std::map<std::string, std::string> sentences;           // the first of each
  for (const HeadDiagnosis& head : found.heads) {
    for (const std::string& warning : head.warnings) {
      const std::string id = warning.substr(0, warning.find(':'));
      heads[id].push_back(fmt::format("{}.{}", head.layer, head.head));
      sentences.emplace(id, warning);
    }
  }
  std::string text;
  for (const std::string& note : found.notes) text += fmt::format("warning {}\n", note);
  for (const auto& [id, sentence] : sentences) {
    const std::vector<std::string>& which = heads[id];
    const std::size_t shown = std::min<std::size_t>(which.size(), 8);
    text += fmt::format("warning {} [{} head{}: {}{}]\n", sentence, which.size(),
                        which.size() == 1 ? "" : "s",
                        fmt::join(which.begin(), which.begin() + static_cast<long>(shown), " "),
                        shown < which.size() ? " .." : "");
  }
  return text;
}

Json heads_json(const HeadsQuestion& question, const HeadsMeasurement& found, const Frame& heads) {
  Json list = Json::array(), parameters = Json::object();
  for (const HeadDiagnosis& head : found.heads) {
    list.push_back(diagnosis::to_json(head, found.options.multipliers));
  }
  for (const auto& [name, value] : found.parameters) parameters[name] = value;
  return {{"experiment", "heads"},
          {"version", version()},
          {"seed", question.common.seed},
          {"input", question.input},
          {"parameters", parameters},
          {"notes", found.notes},
          {"heads", list},
          {"result", to_json(heads)},
          {"loss", found.loss ? Json(to_json(*found.loss)) : Json()}};
}

}  // namespace dewpoint::cli
