// One query over keys on a sphere: `dewpoint query point`; in three dimensions also one draw of the
// keys themselves.
//
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "dewpoint/core/frame_json.hpp"
#include "dewpoint/core/random.hpp"
#include "dewpoint/experiments/query_question.hpp"
#include "dewpoint/scores/keys.hpp"
#include "dewpoint/server/refusal.hpp"
#include "dewpoint/server/room.hpp"
#include "dewpoint/studies/query_theory.hpp"

namespace dewpoint::server {
namespace {

using experiments::Query;
using experiments::QueryQuestion;

constexpr std::size_t kCoarseDraws = 20;

constexpr std::size_t kMostLiveCells = 192;

/// β of every temperature at the first n.
std::vector<double> inverse_temperatures(const Query& query) {
  const auto scales = experiments::query_scales(query.dimension, std::log(query.n[0]));
  std::vector<double> betas;
  for (const double value : query.temperatures) {
    betas.push_back(experiments::inverse_temperature(query.unit, value, scales));
  }
  return betas;
}

/// Softmax of β⟨q, k⟩ with q = e_1, relative to the nearest key.
void add_weights(const Matrix<double>& keys, double beta, std::vector<double>& weights) {
  double best = keys(0, 0);
  for (std::size_t i = 1; i < keys.rows(); ++i) best = std::max(best, keys(i, 0));
  double sum = 0.0;
  const std::size_t first = weights.size();
  for (std::size_t i = 0; i < keys.rows(); ++i) {
    weights.push_back(std::exp(beta * (keys(i, 0) - best)));
    sum += weights.back();
  }
  for (std::size_t i = first; i < weights.size(); ++i) weights[i] /= sum;
}

/// Keys of one draw and their weights at every temperature.
std::vector<Array> drawn_sphere(const Query& query) {
  const auto n = static_cast<std::size_t>(query.n[0]);
  Matrix<double> keys(n, 3);
  scores::SphereKeys(3).draw(0, keys.view(), Stream(query.seed, "explorer/sphere"));
  Array places{"keys", {n, 3}, std::vector<double>(keys.data(), keys.data() + 3 * n)};
  Array weights{"weights", {query.temperatures.size(), n}, {}};
  for (const double beta : inverse_temperatures(query)) add_weights(keys, beta, weights.numbers);
  return {std::move(places), std::move(weights)};
}

struct Picture {
  std::size_t shown = 1000;
};

template <class Visitor>
void describe(Visitor& visit, Picture& q) {
  visit("shown", q.shown, question::in(0.0, 4096.0), "keys of the picture, in three dimensions");
}

class QueryRoom final : public Room {
 public:
  QueryRoom()
      : Room("query", "query point", "One query over keys on a sphere",
             {question::fields_of<QueryQuestion>(), question::fields_of<Picture>()}) {}

  void check(const Question& question) const override {
    const Query asked = query_of(question);
    if (asked.n.size() * asked.temperatures.size() > kMostLiveCells) {
      throw TooLarge("n: more than 192 combinations of n and temperature", "n");
    }
  }

  void answer(const Question& question, const RunContext& context,
              const Publish& publish) const override {
    const Query asked = query_of(question);
    const RunContext quiet{context.threads, context.stop, {}};
    const bool coarse = asked.draws > 2 * kCoarseDraws;
    const bool pictured =
        asked.dimension == 3 && asked.n[0] <= static_cast<double>(question.here<Picture>().shown);
    const std::vector<Array> arrays = pictured ? drawn_sphere(asked) : std::vector<Array>{};
    const std::size_t levels = coarse ? 3 : 1;
    Query few = asked;
    few.draws = kCoarseDraws;
    const Frame first = coarse ? experiments::query(few, quiet).means : Frame();
    if (coarse) publish({1, levels, json_of(few, first, nullptr, pictured), arrays});
    Frame theory = studies::query_theory(asked, quiet);
    if (coarse) publish({2, levels, json_of(few, first, &theory, pictured), arrays});
    Frame frame = experiments::query(asked, context).means;
    Result result{levels, levels, json_of(asked, frame, &theory, pictured), arrays};
    result.study = study_of(*this, question, {std::move(frame), std::move(theory)});
    publish(std::move(result));
  }

 private:
  /// Without theory, which takes longer than the first draws, there is no regime.
  static Json json_of(const Query& query, const Frame& frame, const Frame* theory, bool pictured) {
    Json sphere;
    if (pictured) {
      sphere = {{"n", query.n[0]},
                {"unit", experiments::name_of(query.unit)},
                {"temperatures", query.temperatures},
                {"query", {1.0, 0.0, 0.0}}};
    }
    return {{"draws", query.draws},
            {"regime",
             theory != nullptr ? Json(studies::query_regimes(frame, *theory)) : Json::array()},
            {"query", dewpoint::to_json(frame)},
            {"theory", theory != nullptr ? dewpoint::to_json(*theory) : Json()},
            {"sphere", sphere}};
  }

  static Query query_of(const Question& question) {
    return experiments::query_of(question.asked(), question.seed());
  }
};

}  // namespace

std::unique_ptr<Room> make_query_room() { return std::make_unique<QueryRoom>(); }

}  // namespace dewpoint::server
