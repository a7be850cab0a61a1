// The phase diagram of one layer, coarse to fine: `dewpoint phase map`.
//
// A cell of a map does not depend on the other cells, so a coarse map is a part of the fine one,
// and every level computes only what the one before lacks.
//
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>

#include "dewpoint/core/frame_json.hpp"
#include "dewpoint/experiments/phase_question.hpp"
#include "dewpoint/experiments/phase_replica.hpp"
#include "dewpoint/server/layer_fields.hpp"
#include "dewpoint/server/room.hpp"
#include "dewpoint/studies/phase_theory.hpp"

namespace dewpoint::server {
namespace {

using experiments::PhaseMap;

struct Strides {
  std::size_t rho;
  std::size_t gamma;
};
constexpr Strides kLevels[] = {{4, 8}, {2, 4}, {1, 1}};

std::vector<double> every(const std::vector<double>& values, std::size_t stride) {
  std::vector<double> some;
  for (std::size_t k = 0; k < values.size(); k += stride) some.push_back(values[k]);
  return some;
}

std::vector<double> without(const std::vector<double>& values, const std::vector<double>& known) {
  std::vector<double> others;
  std::copy_if(values.begin(), values.end(), std::back_inserter(others), [&](double value) {
    return std::find(known.begin(), known.end(), value) == known.end();
  });
  return others;
}

std::vector<double> both(std::vector<double> some, const std::vector<double>& others) {
  some.insert(some.end(), others.begin(), others.end());
  std::sort(some.begin(), some.end());
  return some;
}

/// Cells by place, growing from level to level.
class GrowingMap {
 public:
  explicit GrowingMap(const PhaseMap& map) : map_(map) {}

  void grow(const std::vector<double>& rhos, const std::vector<double>& gammas,
            const RunContext& context) {
    add(rhos_, without(gammas, gammas_), experiments::part_of(context, {0, 1}, 2));
    add(without(rhos, rhos_), both(gammas, without(gammas_, gammas)),
        experiments::part_of(context, {1, 2}, 2));
    rhos_ = both(rhos_, without(rhos, rhos_));
    gammas_ = both(gammas_, without(gammas, gammas_));
  }

  [[nodiscard]] Frame frame() const {
    Frame frame("phase_map");
    frame.add_dimension("n", {static_cast<double>(map_.n[0])});
    frame.add_dimension("d", {static_cast<double>(map_.d[0])});
    frame.add_dimension("rho", rhos_);
    frame.add_dimension("gamma", gammas_);
    for (std::size_t k = 0; k < names_.size(); ++k) {
      auto& cells = frame.add_variable(names_[k], {"n", "d", "rho", "gamma"}).cells;
      std::size_t place = 0;
      for (const double rho : rhos_) {
        for (const double gamma : gammas_) cells[place++] = cells_.at({rho, gamma})[k];
      }
    }
    return frame;
  }

 private:
  void add(const std::vector<double>& rhos, const std::vector<double>& gammas,
           const RunContext& context) {
    if (rhos.empty() || gammas.empty()) return;
    PhaseMap part = map_;
    part.rho = rhos;
    part.gamma = gammas;
    const Frame frame = experiments::phase_map(part, context);
    names_.clear();
    for (const Variable& variable : frame.variables()) {
      names_.push_back(variable.name);
      std::size_t place = 0;
      for (const double rho : rhos) {
        for (const double gamma : gammas) {
          cells_[{rho, gamma}].push_back(variable.cells[place++]);
        }
      }
    }
  }

  const PhaseMap& map_;
  std::vector<double> rhos_, gammas_;
  std::vector<std::string> names_;
  std::map<std::pair<double, double>, std::vector<Estimate>> cells_;
};

/// A map of one n and one d.
const std::vector<question::Field>& live_map() {
  static const std::vector<question::Field> fields = [] {
    std::vector<question::Field> live = live_layer(
        experiments::map_fields(), {"equicorrelated", "simplex", "two-level", "clustered"},
        {{"n", 2048.0}, {"replicas", 64.0}});
    for (question::Field& field : live) {
      if (field.name == "n" || field.name == "d") field.listed = false;
    }
    return live;
  }();
  return fields;
}

class PhaseRoom final : public Room {
 public:
  PhaseRoom()
      : Room("phase", "phase map", "One layer over rho and gamma",
             layer_fields(live_map(), experiments::Eta::none)) {}

  std::string command(const Question& question) const override {
    return effective_command(*this, question,
                             question.asked(live_map()).first<experiments::PhaseQuestion>().layer);
  }

  void check(const Question& question) const override {
    const PhaseMap map = map_of(question);
    const double cell = experiments::phase_cell_work(map.n[0], map.d[0], map.norm.has_value());
    require_live_work(
        cell * static_cast<double>(map.rho.size() * map.gamma.size() * map.replication.replicas),
        "n");
  }

  void answer(const Question& question, const RunContext& context,
              const Publish& publish) const override {
    const PhaseMap map = map_of(question);
    const std::size_t levels = std::size(kLevels);
    Frame theory;
    Json theory_json;  // takes as long as a coarse map, so the first level does without
    GrowingMap growing(map);
    for (std::size_t k = 0; k < levels; ++k) {
      if (k == 1) {
        theory = studies::critical_lines(map, {context.threads, context.stop, {}});
        theory_json = dewpoint::to_json(theory);
      }
      growing.grow(every(map.rho, kLevels[k].rho), every(map.gamma, kLevels[k].gamma),
                   experiments::part_of(context, {k, k + 1}, levels));
      Frame frame = growing.frame();
      Result result{k + 1, levels, {{"map", dewpoint::to_json(frame)}, {"theory", theory_json}}};
      if (k + 1 == levels) result.study = study_of(*this, question, {std::move(frame), theory});
      publish(std::move(result));
    }
  }

 private:
  static PhaseMap map_of(const Question& question) {
    return experiments::phase_map_of(question.asked(live_map()), question.whole("seed"));
  }
};

}  // namespace

std::unique_ptr<Room> make_phase_room() { return std::make_unique<PhaseRoom>(); }

}  // namespace dewpoint::server
