// Softmax over up to 1e300 Gaussian scores: `dewpoint condense`.
//
// SPDX-License-Identifier: Apache-2.0
#include "dewpoint/core/frame_json.hpp"
#include "dewpoint/experiments/condense.hpp"
#include "dewpoint/experiments/replication.hpp"
#include "dewpoint/server/refusal.hpp"
#include "dewpoint/server/room.hpp"
#include "dewpoint/studies/condense_theory.hpp"

namespace dewpoint::server {
namespace {

using experiments::Condense;

constexpr std::size_t kCoarseDraws = 50;

class CondenseRoom final : public Room {
 public:
  CondenseRoom()
      : Room("condense", "condense", "Softmax over Gaussian scores, and a planted key",
             {list_field("n", "1e2,1e6,1e30", 2.0, 1e300, 8, "Scores per query"),
              list_field("t", "0.2:3:15", 1e-6, 100.0, 64, "Loads beta/beta_c"),
              list_field("signal", nullptr, -10.0, 10.0, 8,
                         "Plant a key of score s sigma sqrt(2 log N)"),
              list_field("planted", nullptr, -1e6, 1e6, 8, "Plant a key of this score"),
              number_field("sigma", 1.0, 1e-50, 1e50, "Standard deviation of a score"),
              live(whole_field("draws", 2000, 2.0, 20000.0, "Rows of scores to average over")),
              number_field("bound", 1e-3, 1e-6, 1.0, "Wanted error bound of the law of log Z"),
              whole_field("keys-dimension", nullptr, 1.0, 1e6,
                          "Scores of Gaussian keys and queries in this dimension"),
              flag_field("unscaled", "Without the factor 1/sqrt(d); needs keys-dimension"),
              seed_field()}) {}

  void check(const Question& question) const override {
    if (question.given("signal") && question.given("planted")) {
      throw Refusal(400, "planted: excludes signal; give one of them", "planted");
    }
    if (question.flag("unscaled") && !question.given("keys-dimension")) {
      throw Refusal(400, "unscaled: needs keys-dimension", "unscaled");
    }
    experiments::check(condense_of(question));
  }

  // Few draws first, then all of them; theory, which takes longest, comes last.
  void answer(const Question& question, const RunContext& context,
              const Publish& publish) const override {
    const Condense asked = condense_of(question);
    const RunContext quiet{context.threads, context.stop, {}};
    const bool coarse = asked.draws > 2 * kCoarseDraws;
    const std::size_t levels = coarse ? 3 : 2;
    if (coarse) {
      Condense few = asked;
      few.draws = kCoarseDraws;
      publish({1, levels, json_of(few.draws, experiments::condense(few, quiet), nullptr)});
    }
    Frame frame = experiments::condense(asked, experiments::part_of(context, {0, 1}, 2));
    publish({levels - 1, levels, json_of(asked.draws, frame, nullptr)});
    Frame theory = studies::condense_theory(asked, experiments::part_of(context, {1, 2}, 2));
    Result result{levels, levels, json_of(asked.draws, frame, dewpoint::to_json(theory))};
    result.study = study_of(*this, question, {std::move(frame), std::move(theory)});
    publish(std::move(result));
  }

 private:
  static Json json_of(std::size_t draws, const Frame& frame, const Json& theory) {
    return {{"draws", draws}, {"condense", dewpoint::to_json(frame)}, {"theory", theory}};
  }

  static Condense condense_of(const Question& question) {
    Condense condense;
    condense.n = question.list("n");
    condense.loads = question.list("t");
    if (question.given("signal")) condense.signals = question.list("signal");
    if (question.given("planted")) condense.planted = question.list("planted");
    condense.deviation = question.number("sigma");
    condense.draws = question.whole("draws");
    condense.bound = question.number("bound");
    if (question.given("keys-dimension")) {
      condense.query_keys =
          experiments::QueryKeys{question.whole("keys-dimension"), !question.flag("unscaled")};
    }
    condense.seed = question.whole("seed");
    return condense;
  }
};

}  // namespace

std::unique_ptr<Room> make_condense_room() { return std::make_unique<CondenseRoom>(); }

}  // namespace dewpoint::server
