#include "dewpoint/studies/task_bytes.hpp"

#include <cstring>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "dewpoint/core/error.hpp"

namespace dewpoint::studies {
namespace {

class Writer {
 public:
  template <class Number>
  void number(Number value) {
    static_assert(std::is_arithmetic_v<Number>);
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  void text(const std::string& value) {
    number(static_cast<std::uint64_t>(value.size()));
    bytes_ += value;
  }
  void numbers(const std::vector<double>& values) {
    number(static_cast<std::uint64_t>(values.size()));
    bytes_.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(double));
  }
  void point(const Point& point) {
    number(static_cast<std::uint64_t>(point.size()));
    for (const auto& [name, value] : point) {
      text(name);
      number(static_cast<std::uint8_t>(value.index()));
      std::visit([this](const auto& held) { this->value(held); }, value);
    }
  }
  [[nodiscard]] std::string take() { return std::move(bytes_); }

 private:
  void value(double held) { number(held); }
  void value(bool held) { number(held); }
  void value(const std::string& held) { text(held); }
  void value(const std::vector<std::string>&) { DEWPOINT_EXPECTS(false); }  // never of a point

  std::string bytes_;
};

class Reader {
 public:
  explicit Reader(std::string_view bytes) : left_(bytes) {}

  template <class Number>
  Number number() {
    Number value;
    std::memcpy(&value, piece(sizeof value).data(), sizeof value);
    return value;
  }
  // Of things that take at least `size` bytes each: more than there are bytes for is an error.
  std::size_t count(std::size_t size) {
    const auto value = number<std::uint64_t>();
    if (value > left_.size() / size) refuse();
    return static_cast<std::size_t>(value);
  }
  bool flag() {
    const auto value = number<std::uint8_t>();
    if (value > 1) refuse();
    return value == 1;
  }
  Code code() {
    const auto value = number<std::uint8_t>();
    if (value > static_cast<std::uint8_t>(Code::stopped)) refuse();
    return static_cast<Code>(value);
  }
  std::string text() { return std::string(piece(count(1))); }
  std::vector<double> numbers() {
    std::vector<double> values(count(sizeof(double)));
    const std::string_view raw = piece(values.size() * sizeof(double));
    if (!raw.empty()) std::memcpy(values.data(), raw.data(), raw.size());
    return values;
  }
  Point point() {
    Point point;
    const std::size_t size = count(sizeof(std::uint64_t));
    for (std::size_t i = 0; i < size; ++i) {
      std::string name = text();
      point.insert_or_assign(std::move(name), value());
    }
    return point;
  }
  void end() const {
    if (!left_.empty()) refuse();
  }
  [[noreturn]] static void refuse() {
    throw Error(Code::malformed_file, "a message between two ranks is damaged");
  }

 private:
  Value value() {
    switch (number<std::uint8_t>()) {
      case 0:
        return number<double>();
      case 1:
        return text();
      case 2:
        return flag();
      default:
        refuse();
    }
  }
  std::string_view piece(std::size_t size) {
    if (size > left_.size()) refuse();
    const std::string_view taken = left_.substr(0, size);
    left_.remove_prefix(size);
    return taken;
  }

  std::string_view left_;
};

}  // namespace

std::string to_bytes(const Task& task) {
  Writer writer;
  writer.number(task.id);
  writer.number(task.first_replica);
  writer.number(task.replicas);
  writer.number(task.part.has_value());
  writer.number(static_cast<std::uint64_t>(task.part.value_or(0)));
  writer.number(task.threads);
  writer.number(task.predicts);
  writer.number(static_cast<std::uint64_t>(task.points.size()));
  for (const Point& point : task.points) writer.point(point);
  return writer.take();
}

Task task_from_bytes(std::string_view bytes) {
  Reader reader(bytes);
  Task task;
  task.id = reader.number<std::uint64_t>();
  task.first_replica = reader.number<std::uint64_t>();
  task.replicas = reader.number<std::uint64_t>();
  const bool has_part = reader.flag();
  const auto part = reader.number<std::uint64_t>();
  if (has_part) task.part = part;
  task.threads = reader.number<int>();
  task.predicts = reader.flag();
  task.points.resize(reader.count(sizeof(std::uint64_t)));
  for (Point& point : task.points) point = reader.point();
  reader.end();
  return task;
}

std::string to_bytes(const TaskResult& result) {
  Writer writer;
  writer.number(result.id);
  writer.numbers(result.values);
  writer.numbers(result.predictions);
  writer.number(result.seconds);
  writer.number(result.rank);
  writer.text(result.failure);
  writer.number(static_cast<std::uint8_t>(result.failure_code));
  writer.number(result.stopped);
  return writer.take();
}

TaskResult result_from_bytes(std::string_view bytes) {
  Reader reader(bytes);
  TaskResult result;
  result.id = reader.number<std::uint64_t>();
  result.values = reader.numbers();
  result.predictions = reader.numbers();
  result.seconds = reader.number<double>();
  result.rank = reader.number<int>();
  result.failure = reader.text();
  result.failure_code = reader.code();
  result.stopped = reader.flag();
  reader.end();
  return result;
}

}  // namespace dewpoint::studies
