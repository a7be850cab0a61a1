// The dew point over the number of keys, for several laws: `dewpoint dew`.
//
// SPDX-License-Identifier: Apache-2.0
#include "dewpoint/core/frame_json.hpp"
#include "dewpoint/diagnosis/curve_verdict.hpp"
#include "dewpoint/diagnosis/verdict_json.hpp"
#include "dewpoint/experiments/dew_question.hpp"
#include "dewpoint/experiments/replication.hpp"
#include "dewpoint/server/refusal.hpp"
#include "dewpoint/server/room.hpp"
#include "dewpoint/studies/law_edge.hpp"

namespace dewpoint::server {
namespace {

using experiments::DewCurve;
using experiments::DewCurves;
using experiments::DewQuestion;
using Law = std::unique_ptr<scores::TopLaw>;

constexpr std::size_t kFirstDraws = 4;
constexpr std::size_t kCoarseDraws = 50;

constexpr std::size_t kMostLiveCells = 192;

/// And the last one.
std::vector<double> every_fourth(const std::vector<double>& values) {
  std::vector<double> some;
  for (std::size_t k = 0; k < values.size(); k += 4) some.push_back(values[k]);
  if (some.back() != values.back()) some.push_back(values.back());
  return some;
}

/// The law of growth takes longer than a few draws, which could not tell it anyway.
enum class Growth { judged, not_yet };

Json growth_json(const Frame& curve, Growth growth, bool participation) {
  if (growth == Growth::not_yet) return nullptr;
  return diagnosis::to_json(diagnosis::judge_curve(curve, participation));
}

Json law_json(const scores::TopLaw& law, const Frame& curve, const std::vector<double>& n,
              Growth growth) {
  Json edges = Json::array();
  for (const double length : n) {
    const auto edge = studies::edge_of(law, length);
    edges.push_back(edge ? Json(*edge) : Json());
  }
  return {{"law", law.name()},
          {"curve", dewpoint::to_json(curve)},
          {"beta_edge", edges},
          {"growth",
           {{"beta_pr", growth_json(curve, growth, true)},
            {"beta_dew", growth_json(curve, growth, false)}}}};
}

class DewRoom final : public Room {
 public:
  DewRoom()
      : Room("dew", "dew", "Dew point over the number of keys",
             {question::fields_of<DewQuestion>()}) {}

  void check(const Question& question) const override {
    const DewCurves asked = dew_of(question);
    if (asked.laws.size() * asked.curve.n.size() > kMostLiveCells) {
      throw TooLarge("n: more than 192 combinations of laws and n", "n");
    }
  }

  void answer(const Question& question, const RunContext& context,
              const Publish& publish) const override {
    const DewCurves asked = dew_of(question);
    const DewCurve& curve = asked.curve;
    const RunContext quiet{context.threads, context.stop, {}};
    const bool coarse = curve.draws > 2 * kCoarseDraws;
    const std::size_t levels = coarse ? 3 : 1;
    if (coarse) {
      DewCurve few{every_fourth(curve.n), kFirstDraws, curve.top, curve.seed};
      publish({1, levels, measured(asked.laws, few, Growth::not_yet, quiet).first});
      few = {curve.n, kCoarseDraws, curve.top, curve.seed};
      publish({2, levels, measured(asked.laws, few, Growth::judged, quiet).first});
    }
    auto [json, frames] = measured(asked.laws, curve, Growth::judged, context);
    Result result{levels, levels, std::move(json)};
    result.study = study_of(*this, question, std::move(frames));
    publish(std::move(result));
  }

 private:
  static std::pair<Json, std::vector<Frame>> measured(const std::vector<Law>& laws,
                                                      const DewCurve& curve, Growth growth,
                                                      const RunContext& context) {
    Json reports = Json::array();
    std::vector<Frame> frames;
    for (std::size_t k = 0; k < laws.size(); ++k) {
      const Frame frame = experiments::dew_curve(
          *laws[k], curve, experiments::part_of(context, {k, k + 1}, laws.size()));
      reports.push_back(law_json(*laws[k], frame, curve.n, growth));
      frames.push_back(frame.renamed("dew " + laws[k]->name()));
    }
    return {{{"draws", curve.draws}, {"laws", reports}}, std::move(frames)};
  }

  static DewCurves dew_of(const Question& question) {
    return experiments::dew_of(question.asked(), question.seed());
  }
};

}  // namespace

std::unique_ptr<Room> make_dew_room() { return std::make_unique<DewRoom>(); }

}  // namespace dewpoint::server
