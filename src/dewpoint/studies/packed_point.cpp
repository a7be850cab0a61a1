#include "dewpoint/studies/packed_point.hpp"

#include <algorithm>
#include <utility>

namespace dewpoint::studies {
namespace {

bool is_number(const Value& value) { return std::holds_alternative<double>(value); }

bool has_form(const Point& point, const Point& form) {
  return std::equal(point.begin(), point.end(), form.begin(), form.end(),
                    [](const auto& a, const auto& b) {
                      return a.first == b.first &&
                             (is_number(a.second) ? is_number(b.second) : a.second == b.second);
                    });
}

Point form_of(Point point) {
  for (auto& [name, value] : point) {
    if (is_number(value)) value = 0.0;
  }
  return point;
}

}  // namespace

PackedPoint::PackedPoint(const Point& point)
    : PackedPoint(std::make_shared<const Point>(form_of(point)), point) {}

PackedPoint::PackedPoint(std::shared_ptr<const Point> form, const Point& point)
    : form_(std::move(form)) {
  numbers_.reserve(static_cast<std::size_t>(std::count_if(
      point.begin(), point.end(), [](const auto& e) { return is_number(e.second); })));
  for (const auto& [name, value] : point) {
    if (const auto* number = std::get_if<double>(&value)) numbers_.push_back(*number);
  }
}

Point PackedPoint::unpacked() const {
  if (!form_) return {};
  Point point = *form_;
  auto number = numbers_.begin();
  for (auto& [name, value] : point) {
    if (is_number(value)) value = *number++;
  }
  return point;
}

PackedPoint PointPacker::packed(const Point& point) {
  if (!last_ || !has_form(point, *last_)) {
    Point form = form_of(point);
    auto& known = forms_[form];
    if (!known) known = std::make_shared<const Point>(std::move(form));
    last_ = known;
  }
  return {last_, point};
}

}  // namespace dewpoint::studies
