#include "scores.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "array.hpp"
#include "dewpoint/core/error.hpp"
#include "dewpoint/observables/dew_point.hpp"

namespace dewpoint::python {
namespace {

using checkpoint::ElementType;

/// Scores as rows of float64 or float32, in place where they are that already.
class Scores {
 public:
  explicit Scores(const py::object& object) : array_(array_of(object, "scores", {1, 2})) {
    if (array_.type == ElementType::f64 || array_.type == ElementType::f32) return;
    if (array_.rank() == 1) {
      array_.shape.insert(array_.shape.begin(), 1);
      array_.strides.insert(array_.strides.begin(), 0);
      one_row_ = true;
    }
    copy_ = matrix_of(array_);
  }

  [[nodiscard]] bool is_vector() const { return array_.rank() == 1 || one_row_; }

  /// f of a view of the rows, without Python's lock where they are many.
  template <class Function>
  auto with_rows(const Function& f) const {
    if (array_.elements() < kWorthUnlocking) return call(f);
    const py::gil_scoped_release unlocked;
    return call(f);
  }

 private:
  static constexpr std::size_t kWorthUnlocking = 8192;

  template <class Function>
  auto call(const Function& f) const {
    if (copy_.rows() > 0) return f(MatrixView<const double>(copy_.view()));
    if (array_.type == ElementType::f32) return f(view_of<float>(array_));
    return f(view_of<double>(array_));
  }

  Array array_;
  Matrix<double> copy_;  // of other types
  bool one_row_ = false;
};

double dew_point_of(const Scores& scores) {
  return scores.with_rows([](const auto& rows) {
    return observables::dew_point(rows.row(0)).value_or(std::numeric_limits<double>::quiet_NaN());
  });
}

std::vector<double> dew_points_of(const Scores& scores, int threads) {
  return scores.with_rows([&](const auto& rows) {
    return observables::dew_points(rows, RunContext{threads, {}, {}});
  });
}

/// Where results go that the caller has room for.
void write_out(const std::vector<double>& numbers, const py::object& out) {
  const Array room = array_of(out, "out", {1});
  if (!room.writable) throw py::value_error("out: is read-only");
  if (room.type != ElementType::f64) throw py::type_error("out: allowed: float64");
  if (room.elements() != numbers.size()) {
    throw py::value_error(
        fmt::format("out: {} numbers for {} rows of scores", room.elements(), numbers.size()));
  }
  std::copy(numbers.begin(), numbers.end(), reinterpret_cast<double*>(room.data));
}

py::object dew(const py::object& object, int threads, const py::object& out) {
  const Scores scores(object);
  if (scores.is_vector()) {
    if (!out.is_none()) throw py::value_error("out: is for a matrix of scores");
    return py::float_(dew_point_of(scores));
  }
  std::vector<double> numbers = dew_points_of(scores, threads);
  if (!out.is_none()) {
    write_out(numbers, out);
    return out;
  }
  const auto count = static_cast<py::ssize_t>(numbers.size());
  return py::cast(to_array(std::move(numbers), {count}));
}

double participation(const py::object& object, int threads) {
  const Scores scores(object);
  return scores.with_rows([&](const auto& rows) {
    return observables::participation_point(rows, RunContext{threads, {}, {}});
  });
}

double accumulation(const py::object& object, int threads) {
  const Scores scores(object);
  return scores.with_rows([&](const auto& rows) {
    return observables::median_accumulation_scale(rows, RunContext{threads, {}, {}});
  });
}

}  // namespace

void bind_scores(py::module_& module) {
  module.def("dew", &dew, py::arg("scores"), py::arg("threads") = 0, py::arg("out") = py::none());
  module.def("participation", &participation, py::arg("scores"), py::arg("threads") = 0);
  module.def("accumulation", &accumulation, py::arg("scores"), py::arg("threads") = 0);
}

}  // namespace dewpoint::python
