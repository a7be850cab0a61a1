// The dew point over the number of keys, for several laws: `dewpoint dew`.
//
// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "dewpoint/core/frame_json.hpp"
#include "dewpoint/diagnosis/curve_verdict.hpp"
#include "dewpoint/diagnosis/verdict_json.hpp"
#include "dewpoint/experiments/dew.hpp"
#include "dewpoint/experiments/replication.hpp"
#include "dewpoint/scores/law_names.hpp"
#include "dewpoint/server/refusal.hpp"
#include "dewpoint/server/room.hpp"
#include "dewpoint/studies/law_edge.hpp"

namespace dewpoint::server {
namespace {

using experiments::DewCurve;
using Law = std::unique_ptr<scores::TopLaw>;

constexpr std::size_t kFirstDraws = 4;
constexpr std::size_t kCoarseDraws = 50;

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
             {with_verb_standard(
                  words_field("law",
                              Json::array({"gaussian:sigma=1", "sphere:d=5", "simplex:rho=0.5"}), 6,
                              "Laws of the scores"),
                  Json::array({"gaussian:sigma=1", "sphere:d=5", "simplex:rho=0.5"})),
              list_field("n", "1e2:1e15:14:log", 3.0, 1e300, 32, "Keys"),
              live(whole_field("draws", 400, 2.0, 4000.0, "Queries per length")),
              live(whole_field("top", 256, 3.0, 4096.0, "Best keys that are drawn one by one")),
              seed_field()}) {}

  void check(const Question& question) const override {
    const DewCurve curve = curve_of(question);
    for (const Law& law : laws_of(question)) experiments::check(curve, *law);
  }

  void answer(const Question& question, const RunContext& context,
              const Publish& publish) const override {
    const DewCurve asked = curve_of(question);
    const std::vector<Law> laws = laws_of(question);
    const RunContext quiet{context.threads, context.stop, {}};
    const bool coarse = asked.draws > 2 * kCoarseDraws;
    const std::size_t levels = coarse ? 3 : 1;
    if (coarse) {
      DewCurve few{every_fourth(asked.n), kFirstDraws, asked.top, asked.seed};
      publish({1, levels, measured(laws, few, Growth::not_yet, quiet).first});
      few = {asked.n, kCoarseDraws, asked.top, asked.seed};
      publish({2, levels, measured(laws, few, Growth::judged, quiet).first});
    }
    auto [json, frames] = measured(laws, asked, Growth::judged, context);
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

  static std::vector<Law> laws_of(const Question& question) {
    std::vector<Law> laws;
    for (const std::string& name : question.words("law")) {
      laws.push_back(scores::score_law(name));
      for (std::size_t k = 0; k + 1 < laws.size(); ++k) {
        if (laws[k]->name() != laws.back()->name()) continue;
        throw Refusal(400, "law: '" + name + "' is there twice", "law");
      }
    }
    if (laws.empty()) throw Refusal(400, "law: at least one is needed", "law");
    return laws;
  }

  // Whole numbers, as far as doubles tell them apart.
  static DewCurve curve_of(const Question& question) {
    DewCurve curve{question.list("n"), question.whole("draws"), question.whole("top"),
                   question.whole("seed")};
    for (double& n : curve.n) n = n < 0x1p53 ? std::round(n) : n;
    return curve;
  }
};

}  // namespace

std::unique_ptr<Room> make_dew_room() { return std::make_unique<DewRoom>(); }

}  // namespace dewpoint::server
