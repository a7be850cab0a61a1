#include "dewpoint/core/frame.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "dewpoint/core/error.hpp"

namespace dewpoint {
namespace {

template <class Items>
auto* find_by_name(Items& items, std::string_view name) {
  auto it = std::find_if(items.begin(), items.end(), [&](auto& item) { return item.name == name; });
  return it == items.end() ? nullptr : &*it;
}

template <class Items>
auto& get_by_name(Items& items, std::string_view kind, std::string_view name) {
  auto* item = find_by_name(items, name);
  if (item == nullptr) {
    throw Error(Code::bad_value, "no " + std::string(kind) + " named '" + std::string(name) + "'");
  }
  return *item;
}

}  // namespace

Frame Frame::renamed(std::string name) const {
  Frame copy = *this;
  copy.name_ = std::move(name);
  return copy;
}

void Frame::add_dimension(std::string name, std::vector<double> coordinates) {
  DEWPOINT_EXPECTS(find_by_name(dimensions_, name) == nullptr);
  dimensions_.push_back({std::move(name), std::move(coordinates)});
}

void Frame::add_labelled_dimension(std::string name, std::vector<std::string> labels) {
  std::vector<double> coordinates(labels.size());
  std::iota(coordinates.begin(), coordinates.end(), 0.0);
  add_dimension(std::move(name), std::move(coordinates));
  dimensions_.back().labels = std::move(labels);
}

Variable& Frame::add_variable(std::string name, std::vector<std::string> dimensions) {
  DEWPOINT_EXPECTS(find_by_name(variables_, name) == nullptr);
  std::size_t cells = 1;
  for (const auto& d : dimensions) cells *= dimension(d).coordinates.size();
  variables_.push_back({std::move(name), std::move(dimensions), std::vector<Estimate>(cells)});
  return variables_.back();
}

const Dimension& Frame::dimension(std::string_view name) const {
  return get_by_name(dimensions_, "dimension", name);
}
const Variable& Frame::variable(std::string_view name) const {
  return get_by_name(variables_, "variable", name);
}
Variable& Frame::variable(std::string_view name) {
  return get_by_name(variables_, "variable", name);
}
const Variable* Frame::find_variable(std::string_view name) const {
  return find_by_name(variables_, name);
}

std::size_t Frame::cell_index(const Variable& variable,
                              const std::vector<std::size_t>& position) const {
  DEWPOINT_EXPECTS(position.size() == variable.dimensions.size());
  std::size_t index = 0;
  for (std::size_t k = 0; k < position.size(); ++k) {
    const std::size_t extent = dimension(variable.dimensions[k]).coordinates.size();
    DEWPOINT_EXPECTS(position[k] < extent);
    index = index * extent + position[k];
  }
  return index;
}

}  // namespace dewpoint
