// Many layers one after the other: `dewpoint phase depth`.
//
// SPDX-License-Identifier: Apache-2.0
#include "dewpoint/core/frame_json.hpp"
#include "dewpoint/experiments/depth_question.hpp"
#include "dewpoint/experiments/phase_replica.hpp"
#include "dewpoint/server/layer_fields.hpp"
#include "dewpoint/server/room.hpp"
#include "dewpoint/studies/depth_theory.hpp"

namespace dewpoint::server {
namespace {

using experiments::PhaseDepth;

class PhaseDepthRoom final : public Room {
 public:
  PhaseDepthRoom()
      : Room("phase-depth", "phase depth", "Many layers one after the other",
             {live_layer(experiments::depth_fields(), tokens::law_names(),
                         {{"n", 1024.0}, {"layers", 64.0}, {"replicas", 16.0}})}) {}

  std::string command(const Question& question) const override {
    return effective_command(question, question.asked().first<experiments::DepthQuestion>().layer);
  }

  void check(const Question& question) const override {
    const PhaseDepth depth = depth_of(question);
    const double layer =
        experiments::phase_cell_work(depth.cloud.n, depth.cloud.d, depth.norm.has_value());
    require_live_work(
        layer * static_cast<double>(depth.gamma.size() * depth.layers * depth.replication.replicas),
        "layers");
  }

  // One gamma first: a row of the frame does not depend on the others.
  void answer(const Question& question, const RunContext& context,
              const Publish& publish) const override {
    const PhaseDepth depth = depth_of(question);
    const bool coarse = depth.gamma.size() > 1;
    if (coarse) {
      PhaseDepth middle = depth;
      middle.gamma = {depth.gamma[depth.gamma.size() / 2]};
      publish(result_of(middle, {context.threads, context.stop, {}}, 1, 2).first);
    }
    auto [result, frames] = result_of(depth, context, coarse ? 2 : 1, coarse ? 2 : 1);
    result.study = study_of(*this, question, std::move(frames));
    publish(std::move(result));
  }

 private:
  static std::pair<Result, std::vector<Frame>> result_of(const PhaseDepth& depth,
                                                         const RunContext& context,
                                                         std::size_t level, std::size_t levels) {
    std::vector<Frame> frames = {experiments::phase_depth(depth, context)};
    const std::optional<Frame> theory = studies::depth_theory(depth);
    if (theory) frames.push_back(*theory);
    Json json = {{"depth", dewpoint::to_json(frames[0])},
                 {"theory", theory ? dewpoint::to_json(*theory) : Json()}};
    return {Result{level, levels, std::move(json)}, std::move(frames)};
  }

  static PhaseDepth depth_of(const Question& question) {
    return studies::phase_depth_of(question.asked(), question.seed());
  }
};

}  // namespace

std::unique_ptr<Room> make_phase_depth_room() { return std::make_unique<PhaseDepthRoom>(); }

}  // namespace dewpoint::server
