#include "dewpoint/core/quantity.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

// The page as it is: its bytes become constants of this object file. ELF only, as in
// report/page_template.cpp.
__asm__(
    ".pushsection .rodata\n"
    ".global dewpoint_quantities_begin\n"
    ".hidden dewpoint_quantities_begin\n"
    ".global dewpoint_quantities_end\n"
    ".hidden dewpoint_quantities_end\n"
    "dewpoint_quantities_begin:\n"
    ".incbin \"" DEWPOINT_QUANTITIES
    "\"\n"
    "dewpoint_quantities_end:\n"
    ".popsection\n");

extern "C" {
[[gnu::visibility("hidden")]] extern const char dewpoint_quantities_begin[];
[[gnu::visibility("hidden")]] extern const char dewpoint_quantities_end[];
}

namespace dewpoint {
namespace {

// What stands before the next bar, without the spaces and backticks around it.
std::string next_cell(std::string_view& row) {
  constexpr std::string_view kAround = " `";
  const std::size_t bar = std::min(row.find('|'), row.size());
  std::string_view cell = row.substr(0, bar);
  row.remove_prefix(std::min(bar + 1, row.size()));
  const std::size_t first = cell.find_first_not_of(kAround);
  if (first == std::string_view::npos) return {};
  return std::string(cell.substr(first, cell.find_last_not_of(kAround) - first + 1));
}

Quantity quantity_of(std::string_view row) {
  Quantity quantity;
  for (std::string* cell : {&quantity.name, &quantity.symbol, &quantity.words, &quantity.definition,
                            &quantity.unit, &quantity.range, &quantity.meaning}) {
    *cell = next_cell(row);
  }
  return quantity;
}

// Rows begin with a name in backticks.
std::vector<Quantity> read(std::string_view page) {
  constexpr std::string_view kRow = "\n| `";
  std::vector<Quantity> all;
  for (std::size_t at = page.find(kRow); at != std::string_view::npos; at = page.find(kRow, at)) {
    at += 2;  // behind the first bar
    all.push_back(quantity_of(page.substr(at, page.find('\n', at) - at)));
  }
  return all;
}

std::string with_spaces(std::string_view name) {
  std::string text(name);
  std::replace(text.begin(), text.end(), '_', ' ');
  return text;
}

}  // namespace

const std::vector<Quantity>& quantities() {
  static const std::vector<Quantity> all =
      read({dewpoint_quantities_begin,
            static_cast<std::size_t>(dewpoint_quantities_end - dewpoint_quantities_begin)});
  return all;
}

const Quantity* find_quantity(std::string_view name) {
  const auto found = std::find_if(quantities().begin(), quantities().end(),
                                  [&](const Quantity& known) { return known.name == name; });
  return found == quantities().end() ? nullptr : &*found;
}

std::string title_of(std::string_view name) {
  const Quantity* known = find_quantity(name);
  if (known == nullptr) return with_spaces(name);
  return known->symbol.empty() ? known->words : known->words + " " + known->symbol;
}

std::string label_of(std::string_view name) {
  std::string label = title_of(name);
  const Quantity* known = find_quantity(name);
  if (known == nullptr) return label;
  if (!known->definition.empty()) label += " = " + known->definition;
  if (!known->unit.empty()) label += " (" + known->unit + ")";
  return label;
}

std::string symbol_of(std::string_view name) {
  const Quantity* known = find_quantity(name);
  return known == nullptr || known->symbol.empty() ? title_of(name) : known->symbol;
}

std::string meaning_of(std::string_view name) {
  const Quantity* known = find_quantity(name);
  return known == nullptr ? std::string() : known->meaning;
}

}  // namespace dewpoint
