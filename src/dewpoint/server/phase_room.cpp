// The phase diagram of one layer, coarse to fine: `dewpoint phase map`.
//
// A coarse map is a part of the fine one, and every level computes only the cells that the one
// before lacks.
//
// SPDX-License-Identifier: Apache-2.0
#include <stop_token>

#include "dewpoint/core/frame_json.hpp"
#include "dewpoint/experiments/phase_question.hpp"
#include "dewpoint/server/layer_fields.hpp"
#include "dewpoint/server/room.hpp"
#include "dewpoint/studies/local_workers.hpp"
#include "dewpoint/studies/phase_map_study.hpp"
#include "dewpoint/studies/recorded_run.hpp"

namespace dewpoint::server {
namespace {

struct Strides {
  std::size_t rho;
  std::size_t gamma;
};
constexpr Strides kLevels[] = {{4, 8}, {2, 4}, {1, 1}};

studies::GridAxis every(const studies::GridAxis& axis, std::size_t stride) {
  studies::GridAxis some{axis.name, {}};
  for (std::size_t k = 0; k < axis.size(); k += stride) some.values.push_back(axis.values[k]);
  return some;
}

studies::StudyText at_level(studies::StudyText map, std::size_t level) {
  map.grid[2] = every(map.grid[2], kLevels[level].rho);
  map.grid[3] = every(map.grid[3], kLevels[level].gamma);
  return map;
}

studies::RunOptions run_options(const RunContext& context) {
  studies::RunOptions options;
  options.stop = context.stop;
  if (!context.progress) return options;
  options.progress = [&context](const studies::RunProgress& now) {
    const double all = now.work_done + now.work_left;
    if (all > 0.0) context.progress(now.work_done, all);
  };
  return options;
}

/// A map of one n and one d.
RoomFields live_map() {
  RoomFields fields{live_layer(experiments::map_fields(),
                               {"equicorrelated", "simplex", "two-level", "clustered"},
                               {{"n", 2048.0}, {"replicas", 64.0}})};
  for (question::Field& field : fields.question) {
    if (field.name == "n" || field.name == "d") field.listed = false;
  }
  return fields;
}

class PhaseRoom final : public Room {
 public:
  PhaseRoom() : Room("phase", "phase map", "One layer over rho and gamma", live_map()) {}

  std::string command(const Question& question) const override {
    return effective_command(question, question.asked().first<experiments::PhaseQuestion>().layer);
  }

  void check(const Question& question) const override {
    require_live_work(studies::work_of_map(map_of(question)), "n");
  }

  void answer(const Question& question, const RunContext& context,
              const Publish& publish) const override {
    const studies::StudyText map = map_of(question);
    const auto workers = studies::local_workers(studies::experiment_named(map.experiment), map.seed,
                                                context.threads);
    // The runner looks now and then whether to stop; the next question does not wait for that.
    const std::stop_callback at_once(context.stop, [&] { workers->stop(); });
    store::CellMemory cells;
    const std::size_t levels = std::size(kLevels);
    for (std::size_t k = 0; k < levels; ++k) {
      const RunContext part = experiments::part_of(context, {k, k + 1}, levels);
      studies::RunOptions options = run_options(part);
      options.predictions = k > 0;  // they take as long as a coarse map
      store::StudyRecord record =
          studies::run_in_memory(at_level(map, k), *workers, question.command(), cells, options);
      Result result{k + 1, levels, {{"map", dewpoint::to_json(record.frames.at(0))}}};
      if (k + 1 == levels) result.study = study_of(*this, question, std::move(record.frames));
      publish(std::move(result));
    }
  }

 private:
  static studies::StudyText map_of(const Question& question) {
    return studies::phase_map_study(question.asked(), question.seed());
  }
};

}  // namespace

std::unique_ptr<Room> make_phase_room() { return std::make_unique<PhaseRoom>(); }

}  // namespace dewpoint::server
