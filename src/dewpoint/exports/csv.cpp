#include <fmt/format.h>

#include <cmath>
#include <fstream>
#include <optional>
#include <utility>

#include "dewpoint/core/csv_field.hpp"
#include "dewpoint/core/quantity.hpp"
#include "dewpoint/exports/content.hpp"
#include "dewpoint/exports/provenance.hpp"
#include "dewpoint/exports/tables.hpp"
#include "dewpoint/exports/text.hpp"

namespace dewpoint::exports {
namespace {

namespace fs = std::filesystem;

std::string field_of(double value) { return std::isnan(value) ? "" : number_text(value); }

std::vector<std::string> axis_fields(const Dimension& dimension) {
  std::vector<std::string> fields;
  for (const std::string& label : dimension.labels) fields.push_back(csv_field(clean_text(label)));
  if (!dimension.labels.empty()) return fields;
  for (const double value : dimension.coordinates) fields.push_back(field_of(value));
  return fields;
}

// The number of samples behind all measured variables of the row, if it is one number.
std::optional<std::uint64_t> common_samples(const Table& table, const Row& row) {
  std::optional<std::uint64_t> common;
  for (std::size_t k = 0; k < table.variables.size(); ++k) {
    if (table.variables[k].role == Role::predicted) continue;
    if (common.value_or(row.cells[k]->samples) != row.cells[k]->samples) return {};
    common = row.cells[k]->samples;
  }
  return common;
}

bool samples_agree(const Table& table) {
  bool agree = true;
  for_each_row(table,
               [&](const Row& row) { agree = agree && common_samples(table, row).has_value(); });
  return agree;
}

// "mean of contraction λ: mean ratio of ...".
std::string about(const std::string& role, const std::string& name) {
  if (find_quantity(name) == nullptr) return role;
  return fmt::format("{} of {}: {}", role, label_of(name), meaning_of(name));
}

class CsvTable {
 public:
  explicit CsvTable(const Table& table) : table_(table) {
    Names names;
    for (const Dimension* dimension : table.dimensions) {
      axes_.push_back(names.claim(clean_text(dimension->name)));
    }
    std::vector<const Variable*> variables;
    bool measured = false;
    for (const TableVariable& v : table.variables) {
      variables.push_back(v.variable);
      measured = measured || v.role == Role::measured;
    }
    names_ = claim_names(variables, names, &clean_text);
    if (measured && samples_agree(table)) samples_ = names.claim("samples");
  }

  [[nodiscard]] std::string text() const {
    std::string text = fmt::format("{}\n", fmt::join(header(), ","));
    std::vector<std::vector<std::string>> axes;
    for (const Dimension* dimension : table_.dimensions) axes.push_back(axis_fields(*dimension));
    for_each_row(table_, [&](const Row& row) { append_row(text, axes, row); });
    return text;
  }

  /// What each column is, for the JSON beside the table.
  [[nodiscard]] Json described() const {
    Json meanings = Json::object();
    for (const auto& [name, meaning] : columns()) meanings[name] = meaning;
    return meanings;
  }

 private:
  using Columns = std::vector<std::pair<std::string, std::string>>;  // name and meaning

  [[nodiscard]] Columns columns() const {
    Columns columns;
    for (const std::string& axis : axes_) columns.emplace_back(axis, about("axis", axis));
    for (const auto& [mean, error, samples] : names_) {
      columns.emplace_back(mean, about(error.empty() ? "prediction" : "mean", mean));
      if (error.empty()) continue;
      columns.emplace_back(error, "standard error of " + mean);
      if (samples_.empty()) columns.emplace_back(samples, "samples of " + mean);
    }
    if (!samples_.empty()) columns.emplace_back(samples_, "samples of every mean");
    return columns;
  }

  [[nodiscard]] std::vector<std::string> header() const {
    std::vector<std::string> fields;
    for (const auto& column : columns()) fields.push_back(csv_field(column.first));
    return fields;
  }

  void append_row(std::string& text, const std::vector<std::vector<std::string>>& axes,
                  const Row& row) const {
    for (std::size_t k = 0; k < axes.size(); ++k) text.append(axes[k][row.position[k]]) += ',';
    for (std::size_t k = 0; k < names_.size(); ++k) {
      const Estimate& cell = *row.cells[k];
      text.append(field_of(cell.mean)) += ',';
      if (names_[k].error.empty()) continue;
      text.append(field_of(cell.standard_error)) += ',';
      if (samples_.empty()) text.append(std::to_string(cell.samples)) += ',';
    }
    if (!samples_.empty()) text.append(std::to_string(*common_samples(table_, row))) += ',';
    text.back() = '\n';
  }

  const Table& table_;
  std::vector<std::string> axes_;
  std::vector<VariableNames> names_;
  std::string samples_;  // name of the one column of samples; empty: each variable has its own
};

// "n-rank", or "scalars" for a table without dimensions.
std::string dimensions_part(const Table& table) {
  std::vector<std::string> parts;
  for (const Dimension* dimension : table.dimensions) parts.push_back(file_part(dimension->name));
  return parts.empty() ? "scalars" : fmt::format("{}", fmt::join(parts, "-"));
}

// map.csv and "rho" make map-rho.csv.
fs::path with_suffix(const fs::path& target, const std::string& suffix) {
  fs::path file = target;
  return file.replace_filename(target.stem().string() + suffix + target.extension().string());
}

constexpr const char* kTables = "tables";

std::string first_line(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::string line;
  std::getline(in, line);
  return line;
}

// A table is ours when the description beside it names it, with the columns that it has.
bool is_described(const fs::path& table, const fs::path& description) try {
  if (!description_kind().is_ours(description)) return false;
  std::ifstream in(description, std::ios::binary);
  const Json tables = Json::parse(in).at(kTables);
  std::vector<std::string> fields;
  for (const auto& [column, meaning] :
       tables.at(clean_text(table.filename().string())).at("columns").items()) {
    fields.push_back(csv_field(column));
  }
  return first_line(table) == fmt::format("{}", fmt::join(fields, ","));
} catch (const Json::exception&) {
  return false;
}

}  // namespace

fs::path description_of(const fs::path& target) {
  fs::path file = target;
  return file += ".json";
}

FileKind description_kind() {
  const std::string beginning = "{\n  \"study\": {\n    \"experiment\": ";
  return marked_kind("the description of a study's tables", beginning, beginning);
}

FileKind csv_kind(const fs::path& target) {
  return {"a table of a study", [description = description_of(target)](const fs::path& table) {
            return is_described(table, description);
          }};
}

std::vector<FileContent> csv_files(const Selection& selection) {
  std::vector<FileContent> files;
  const FileKind kind = csv_kind(selection.target);
  Json described = Json::object();
  Names names;
  for (const Frame* frame : selection.frames) {
    const std::string of_frame =
        selection.frames.size() == 1 ? "" : fmt::format("-{}", file_part(frame->name()));
    const std::vector<Table> tables = tables_of(*frame);
    for (std::size_t k = 0; k < tables.size(); ++k) {
      const std::string of_table = k == 0 ? "" : fmt::format("-{}", dimensions_part(tables[k]));
      const CsvTable table(tables[k]);
      const fs::path file = with_suffix(selection.target, names.claim(of_frame + of_table));
      files.push_back({file, table.text(), kind});
      described[clean_text(file.filename().string())] = {{"frame", clean_text(frame->name())},
                                                         {"columns", table.described()}};
    }
  }
  files.push_back({description_of(selection.target),
                   to_page({{"study", provenance(selection.study)}, {kTables, described}}),
                   description_kind()});
  return files;
}

}  // namespace dewpoint::exports
