// A cell of the phase diagram, opened: `dewpoint phase point`, with the tokens it is made of.
//
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "dewpoint/core/frame_json.hpp"
#include "dewpoint/experiments/explicit_layer.hpp"
#include "dewpoint/experiments/phase_question.hpp"
#include "dewpoint/experiments/phase_replica.hpp"
#include "dewpoint/server/layer_fields.hpp"
#include "dewpoint/server/room.hpp"
#include "dewpoint/studies/phase_theory.hpp"

namespace dewpoint::server {
namespace {

using experiments::PhasePoint;

constexpr std::size_t kMostPicturedTokens = 1024;

/// The rows of cloud 0 with their lengths.
Matrix<double> tokens_of(const PhasePoint& point) {
  const TokenCloud cloud = tokens::make_cloud(point.cloud, point.seed, 0);
  Matrix<double> rows(cloud.size(), cloud.dimension());
  for (std::size_t i = 0; i < rows.rows(); ++i) {
    for (std::size_t k = 0; k < rows.cols(); ++k) {
      rows(i, k) = cloud.norms[i] * cloud.directions(i, k);
    }
  }
  return rows;
}

Array cosines(const char* name, const Matrix<double>& rows, std::size_t shown) {
  const auto product = [&](std::size_t i, std::size_t j) {
    double sum = 0.0;
    for (std::size_t k = 0; k < rows.cols(); ++k) sum += rows(i, k) * rows(j, k);
    return sum;
  };
  Array array{name, {shown, shown}, std::vector<double>(shown * shown)};
  for (std::size_t i = 0; i < shown; ++i) {
    for (std::size_t j = 0; j < shown; ++j) {
      array.numbers[i * shown + j] = product(i, j) / std::sqrt(product(i, i) * product(j, j));
    }
  }
  return array;
}

std::vector<Array> pictures(const PhasePoint& point, std::size_t wanted) {
  const std::size_t shown = std::min(wanted, point.cloud.n);
  if (shown == 0 || point.cloud.n > kMostPicturedTokens) return {};
  const experiments::ExplicitLayer layer =
      experiments::explicit_layer(tokens_of(point), point.inverse_temperature, point.residual);
  Array weights{"weights", {shown, shown}, std::vector<double>(shown * shown)};
  for (std::size_t i = 0; i < shown; ++i) {
    for (std::size_t j = 0; j < shown; ++j) weights.numbers[i * shown + j] = layer.weights(i, j);
  }
  return {cosines("gram", layer.directions, shown), std::move(weights),
          cosines("outputs", layer.outputs, shown)};
}

using CellQuestion = experiments::Replicated<experiments::PhaseQuestion>;

struct Pictures {
  std::size_t shown = 64;
};

template <class Visitor>
void describe(Visitor& visit, Pictures& q) {
  visit("shown", q.shown, question::in(0.0, 256.0), "tokens of the pictures");
}

/// With the Jacobian norm, as the verb.
RoomFields cell_fields() {
  return {live_layer(experiments::of_verb(question::fields_of<CellQuestion>()), tokens::law_names(),
                     {{"n", 4096.0}, {"replicas", 64.0}}),
          question::fields_of<Pictures>()};
}

class PhaseCellRoom final : public Room {
 public:
  PhaseCellRoom()
      : Room("phase-cell", "phase point", "One layer at one rho and gamma", cell_fields()) {}

  std::string command(const Question& question) const override {
    return effective_command(question, question.asked().first<experiments::PhaseQuestion>().layer);
  }

  void check(const Question& question) const override {
    const PhasePoint point = point_of(question);
    require_live_work(
        experiments::phase_point_work(point) * static_cast<double>(point.replication.replicas),
        "n");
  }

  void answer(const Question& question, const RunContext& context,
              const Publish& publish) const override {
    const PhasePoint point = point_of(question);
    const Frame frame = experiments::phase_point(point, context);
    Json observables = Json::object();
    for (const Variable& v : frame.variables()) {
      observables[v.name] = dewpoint::to_json(v.cells[0]);
    }
    publish({1,
             1,
             {{"observables", observables},
              {"theory", studies::simplex_json(point)},
              {"parameters",
               {{"n", point.cloud.n}, {"d", point.cloud.d}, {"beta", point.inverse_temperature}}}},
             pictures(point, question.here<Pictures>().shown)});
  }

 private:
  static PhasePoint point_of(const Question& question) {
    const auto asked = question.asked().first<CellQuestion>();
    PhasePoint point = phase_point_of(completed(asked.question), question.seed());
    point.replication = replication_of(asked.replication);
    return experiments::resolved(point);
  }
};

}  // namespace

std::unique_ptr<Room> make_phase_cell_room() { return std::make_unique<PhaseCellRoom>(); }

}  // namespace dewpoint::server
