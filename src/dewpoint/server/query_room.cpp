// One query over keys on a sphere: `dewpoint query point`; in three dimensions also one draw of the
// keys themselves.
//
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "dewpoint/core/frame_json.hpp"
#include "dewpoint/core/random.hpp"
#include "dewpoint/experiments/query.hpp"
#include "dewpoint/scores/keys.hpp"
#include "dewpoint/server/refusal.hpp"
#include "dewpoint/server/room.hpp"
#include "dewpoint/studies/query_theory.hpp"

namespace dewpoint::server {
namespace {

using experiments::Query;
using experiments::TemperatureUnit;

constexpr std::size_t kCoarseDraws = 20;

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

class QueryRoom final : public Room {
 public:
  QueryRoom()
      : Room("query", "query point", "One query over keys on a sphere",
             {whole_field("d", 5, 2.0, 512.0, "Dimension of query and keys"),
              list_field("n", "1e3,1e6,1e15", 2.0, 1e300, 6, "Keys"),
              list_field("theta", nullptr, 1e-6, 1e6, 32,
                         "beta/beta*, beta* = (c_d n)^(2/(d-1)); 0.2,1,5 if none is given"),
              list_field("beta", nullptr, 1e-300, 1e300, 32, "Inverse temperature itself"),
              list_field("edge", nullptr, 1e-6, 1e6, 32, "Multiples of beta_edge"),
              live(whole_field("draws", 4000, 2.0, 20000.0, "Sets of keys to average over")),
              live(whole_field("top", nullptr, 1.0, 4096.0, "Nearest keys drawn one by one")),
              seed_field(),
              only_here(whole_field("shown", 1000, 0.0, 4096.0,
                                    "Keys of the picture, in three dimensions"))}) {}

  void check(const Question& question) const override { (void)query_of(question); }

  void answer(const Question& question, const RunContext& context,
              const Publish& publish) const override {
    const Query asked = query_of(question);
    const RunContext quiet{context.threads, context.stop, {}};
    const bool coarse = asked.draws > 2 * kCoarseDraws;
    const bool pictured =
        asked.dimension == 3 && asked.n[0] <= static_cast<double>(question.whole("shown"));
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
    const bool theta = question.given("theta");
    const bool beta = question.given("beta");
    const bool edge = question.given("edge");
    if (static_cast<int>(theta) + static_cast<int>(beta) + static_cast<int>(edge) > 1) {
      const char* field = edge ? "edge" : "beta";
      throw Refusal(400, std::string(field) + ": give one of theta, beta and edge", field);
    }
    Query query;
    query.dimension = static_cast<int>(question.whole("d"));
    query.n = question.list("n");
    query.unit = beta   ? TemperatureUnit::beta
                 : edge ? TemperatureUnit::edge
                        : TemperatureUnit::theta;
    query.temperatures = theta  ? question.list("theta")
                         : beta ? question.list("beta")
                         : edge ? question.list("edge")
                                : std::vector<double>{0.2, 1.0, 5.0};
    query.draws = question.whole("draws");
    if (question.given("top")) query.top = question.whole("top");
    query.seed = question.whole("seed");
    return experiments::resolved(query);
  }
};

}  // namespace

std::unique_ptr<Room> make_query_room() { return std::make_unique<QueryRoom>(); }

}  // namespace dewpoint::server
