#include <fmt/format.h>

#include <cmath>

#include "dewpoint/exports/content.hpp"
#include "dewpoint/exports/provenance.hpp"
#include "dewpoint/exports/tables.hpp"
#include "dewpoint/exports/text.hpp"

namespace dewpoint::exports {
namespace {

// One object on one line. Infinite numbers are null, and remembered until it ends.
class Object {
 public:
  explicit Object(std::string& text) : text_(text) { text_ += '{'; }

  void key(std::string_view escaped) {
    if (!first_) text_ += ',';
    first_ = false;
    text_.append(escaped) += ':';
  }

  /// `name` is what the number is called among the infinite ones.
  void number(double value, const std::string& name) {
    text_ += std::isfinite(value) ? number_text(value) : "null";
    if (std::isinf(value)) infinite_[name] = value > 0.0 ? 1 : -1;
  }

  void close() {
    if (!infinite_.empty()) {
      key("\"infinite\"");
      text_ += to_text(infinite_);
    }
    text_ += "}\n";
  }

 private:
  std::string& text_;
  Json infinite_ = Json::object();
  bool first_ = true;
};

struct Key {
  std::string name;
  std::string escaped;
};

class JsonTable {
 public:
  JsonTable(const Frame& frame, const Table& table)
      : table_(table), frame_(escaped(clean_text(frame.name()))) {
    Names names;
    names.claim("frame");
    names.claim("infinite");
    const auto claim = [&](const std::string& wanted) {
      const std::string name = names.claim(clean_text(wanted));
      return Key{name, escaped(name)};
    };
    for (const Dimension* dimension : table.dimensions) axes_.push_back(claim(dimension->name));
    for (const TableVariable& v : table.variables) variables_.push_back(claim(v.variable->name));
  }

  void append_to(std::string& text) const {
    for_each_row(table_, [&](const Row& row) { append_row(text, row); });
  }

 private:
  static std::string escaped(const std::string& text) { return to_text(Json(text)); }

  void append_row(std::string& text, const Row& row) const {
    Object object(text);
    object.key("\"frame\"");
    text += frame_;
    for (std::size_t k = 0; k < axes_.size(); ++k) {
      object.key(axes_[k].escaped);
      append_coordinate(text, object, k, row.position[k]);
    }
    for (std::size_t k = 0; k < variables_.size(); ++k) {
      object.key(variables_[k].escaped);
      append_cell(text, object, k, *row.cells[k]);
    }
    object.close();
  }

  void append_coordinate(std::string& text, Object& object, std::size_t axis,
                         std::size_t position) const {
    const Dimension& dimension = *table_.dimensions[axis];
    if (dimension.labels.empty()) {
      object.number(dimension.coordinates[position], axes_[axis].name);
    } else {
      text += escaped(clean_text(dimension.labels[position]));
    }
  }

  void append_cell(std::string& text, Object& object, std::size_t variable,
                   const Estimate& cell) const {
    const std::string& name = variables_[variable].name;
    if (table_.variables[variable].role == Role::predicted) {
      object.number(cell.mean, name);
      return;
    }
    text += "{\"mean\":";
    object.number(cell.mean, name);
    text += ",\"se\":";
    object.number(cell.standard_error, name + ".se");
    text += fmt::format(",\"samples\":{}}}", cell.samples);
  }

  const Table& table_;
  std::string frame_;
  std::vector<Key> axes_;
  std::vector<Key> variables_;
};

}  // namespace

FileContent jsonl_file(const Selection& selection) {
  std::string text = to_text({{"study", provenance(selection.study)}}) + "\n";
  for (const Frame* frame : selection.frames) {
    for (const Table& table : tables_of(*frame)) JsonTable(*frame, table).append_to(text);
  }
  return {selection.target, std::move(text), jsonl_kind()};
}

FileKind jsonl_kind() {
  const std::string beginning = R"({"study":{"experiment":)";
  return marked_kind("JSON lines of a study", beginning, beginning);
}

}  // namespace dewpoint::exports
