// An experiment for tests of studies: cheap, with everything that a real one has.
//
// A step at x = 1 (or 2, for the law "late") that sharpens with n,
//
//     step = tanh((x − critical)·n) + noise,    profile_r = exp(−r·x) + noise,  r = 1, 2, 3,
//
// with normal noise of deviation kNoise from a Stream of (seed, replica) addressed by x. `c` is x
// in units of the critical one. `cost` is how many milliseconds a replica keeps its thread busy,
// `pieces` into how many parts it is divided, and `fail` the replica that throws.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "dewpoint/core/error.hpp"
#include "dewpoint/core/random.hpp"
#include "dewpoint/core/run_context.hpp"
#include "dewpoint/studies/experiment.hpp"

namespace dewpoint::test {

class TestExperiment : public studies::Experiment {
 public:
  using Point = studies::Point;

  static constexpr double kNoise = 0.1;
  static constexpr std::size_t kRanks = 3;
  static constexpr std::size_t kValues = 1 + kRanks;  // step, then the profile

  explicit TestExperiment(int schema = 1) : schema_(schema) {}

  [[nodiscard]] std::string name() const override { return "test"; }
  [[nodiscard]] std::string summary() const override { return "a step that sharpens with n"; }
  [[nodiscard]] int schema() const override { return schema_; }
  [[nodiscard]] std::string order_parameter() const override { return "step"; }
  [[nodiscard]] std::vector<studies::Unit> units() const override {
    return {{"x", "critical", "c"}};
  }
  [[nodiscard]] std::vector<std::string> ladder() const override { return {"x"}; }

  [[nodiscard]] const std::vector<studies::Field>& parameters() const override {
    using studies::Kind;
    using studies::Value;
    static const std::vector<studies::Field> all = {
        {"x", Kind::number, {}, "where; any number, or c instead"},
        {"c", Kind::number, {}, "x in units of the critical one, instead of x"},
        {"n", Kind::whole, Value{4.0}, "sharpness; at least 1"},
        {"law", Kind::word, Value{"early"}, "early or late", true, {"early", "late"}},
        {"quiet", Kind::flag, Value{false}, "no noise", false},
        {"cost", Kind::number, Value{0.0}, "milliseconds per replica; 0 or more"},
        {"pieces", Kind::whole, Value{1.0}, "parts of a replica; at least 1", false},
        {"fail", Kind::whole, Value{-1.0}, "the replica that throws; -1: none"},
    };
    return all;
  }

  [[nodiscard]] Point resolved(const Point& given) const override {
    Point point = studies::with_defaults(given, parameters());
    if (studies::has(point, "c")) {
      if (studies::has(point, "x")) refuse("c: x is given too; allowed: one of them");
      point["x"] = studies::number_of(point, "c") * critical(point);
      point.erase("c");
    }
    if (!studies::has(point, "x")) refuse("x: missing; allowed: a number, or c instead");
    if (studies::number_of(point, "n") < 1.0) refuse("n: less than 1");
    if (studies::number_of(point, "cost") < 0.0) refuse("cost: less than 0");
    if (studies::number_of(point, "pieces") < 1.0) refuse("pieces: less than 1");
    return point;
  }

  [[nodiscard]] std::vector<studies::Observable> observables(const Point&) const override {
    return {{"step"}, {"profile", {{"rank", {1.0, 2.0, 3.0}}}}};
  }
  [[nodiscard]] std::vector<studies::Observable> predictions(const Point&) const override {
    return {{"step_theory"}, {"critical_x"}};
  }
  [[nodiscard]] std::vector<double> predict(const Point& point) const override {
    return {expected_step(point), critical(point)};
  }
  [[nodiscard]] bool deterministic(const Point& point) const override {
    return studies::flag_of(point, "quiet");
  }
  [[nodiscard]] double work(const Point& point) const override {
    return 0.001 + studies::number_of(point, "cost");
  }

  [[nodiscard]] std::vector<std::vector<double>> measure(std::span<const Point> tile,
                                                         std::uint64_t seed, std::uint64_t replica,
                                                         const RunContext& context) const override {
    std::vector<std::vector<double>> values;
    for (const Point& point : tile) {
      std::vector<std::vector<double>> all_parts;
      for (std::size_t part = 0; part < parts(point); ++part) {
        all_parts.push_back(measure_part(point, seed, replica, part, context));
      }
      values.push_back(join(point, seed, replica, all_parts));
    }
    return values;
  }

  [[nodiscard]] std::size_t parts(const Point& point) const override {
    return studies::count_of(point, "pieces");
  }

  /// One measurement of all values; each part has its own noise and its share of the cost.
  [[nodiscard]] std::vector<double> measure_part(const Point& point, std::uint64_t seed,
                                                 std::uint64_t replica, std::size_t part,
                                                 const RunContext& context) const override {
    if (static_cast<double>(replica) == studies::number_of(point, "fail")) refuse("fail: as asked");
    keep_busy(studies::number_of(point, "cost") / static_cast<double>(parts(point)), context);
    const double x = studies::number_of(point, "x");
    std::vector<double> values = {expected_step(point)};
    for (std::size_t r = 1; r <= kRanks; ++r)
      values.push_back(std::exp(-static_cast<double>(r) * x));
    if (deterministic(point)) return values;
    const Stream noise(seed ^ std::bit_cast<std::uint64_t>(x), "test/noise", replica);
    for (std::size_t k = 0; k < values.size(); ++k) {
      values[k] += kNoise * noise.normal(part * kValues + k);
    }
    return values;
  }

  /// The mean of the parts.
  [[nodiscard]] std::vector<double> join(
      const Point&, std::uint64_t, std::uint64_t,
      const std::vector<std::vector<double>>& all_parts) const override {
    std::vector<double> sum(kValues, 0.0);
    for (const auto& part : all_parts) {
      for (std::size_t k = 0; k < kValues; ++k) sum[k] += part[k];
    }
    for (double& value : sum) value /= static_cast<double>(all_parts.size());
    return sum;
  }

  [[nodiscard]] static double critical(const Point& point) {
    return studies::word_of(point, "law") == "late" ? 2.0 : 1.0;
  }
  [[nodiscard]] static double expected_step(const Point& point) {
    return std::tanh((studies::number_of(point, "x") - critical(point)) *
                     studies::number_of(point, "n"));
  }

 private:
  [[noreturn]] static void refuse(const std::string& message) {
    throw Error(Code::bad_value, message);
  }

  /// Spins, as real work does, and gives up when it is told to stop.
  static void keep_busy(double milliseconds, const RunContext& context) {
    using Clock = std::chrono::steady_clock;
    const auto end = Clock::now() + std::chrono::duration<double, std::milli>(milliseconds);
    do {
      context.throw_if_stopped();
    } while (Clock::now() < end);
  }

  int schema_;
};

}  // namespace dewpoint::test
