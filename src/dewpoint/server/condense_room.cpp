// Softmax over up to 1e300 Gaussian scores: `dewpoint condense`.
//
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "dewpoint/core/frame_json.hpp"
#include "dewpoint/experiments/condense_question.hpp"
#include "dewpoint/experiments/replication.hpp"
#include "dewpoint/server/refusal.hpp"
#include "dewpoint/server/room.hpp"
#include "dewpoint/studies/condense_theory.hpp"

namespace dewpoint::server {
namespace {

using experiments::Condense;
using experiments::CondenseQuestion;

constexpr std::size_t kCoarseDraws = 50;

constexpr std::size_t kMostLiveCells = 4096;

class CondenseRoom final : public Room {
 public:
  CondenseRoom()
      : Room("condense", "condense", "Softmax over Gaussian scores, and a planted key",
             {question::fields_of<CondenseQuestion>()}) {}

  void check(const Question& question) const override {
    const Condense asked = condense_of(question);
    const std::size_t keys = std::max<std::size_t>(1, asked.signals.size() + asked.planted.size());
    if (asked.n.size() * asked.loads.size() * keys > kMostLiveCells) {
      throw TooLarge("n: more than 4096 combinations of n, t and keys", "n");
    }
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
    return experiments::condense_of(question.asked(), question.seed());
  }
};

}  // namespace

std::unique_ptr<Room> make_condense_room() { return std::make_unique<CondenseRoom>(); }

}  // namespace dewpoint::server
