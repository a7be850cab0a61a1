#include "dewpoint/training/recorder.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include "dewpoint/training/stages.hpp"
#include "support/matrices.hpp"
#include "training/standard_chain.hpp"

namespace dewpoint::training {
namespace {

constexpr std::size_t kTokens = 4, kWidth = 9;

Parameters<double> random_parameters(const std::string& name) {
  Parameters<double> parameters;
  parameters.embedding = dewpoint::test::normal_matrix(kTokens, kWidth, name + "/W0");
  parameters.unembedding = dewpoint::test::normal_matrix(kWidth, kTokens, name + "/W1");
  parameters.query = dewpoint::test::normal_matrix(kWidth, kWidth, name + "/WQ");
  parameters.key = dewpoint::test::normal_matrix(kWidth, kWidth, name + "/WK");
  return parameters;
}

std::vector<Record> three_records() {
  const Chain chain = test::standard_chain();
  const auto loss = population_loss(chain, {});
  std::vector<Record> records;
  for (const double time : {0.0, 5.0, 20.0}) {
    records.push_back(record_of(time, random_parameters("Frames/" + std::to_string(time)), *loss,
                                chain.stationary));
  }
  return records;
}

double value(const Frame& frame, const char* name, const std::vector<std::size_t>& position) {
  const Variable& variable = frame.variable(name);
  return variable.cells.at(frame.cell_index(variable, position)).mean;
}

TEST(TrajectoryFrame, HoldsEveryFieldAtItsPlace) {
  const std::vector<Record> records = three_records();
  const Frame frame = trajectory_frame(records);
  EXPECT_EQ(frame.name(), "trajectory");
  EXPECT_EQ(frame.dimension("time").coordinates, (std::vector<double>{0.0, 5.0, 20.0}));
  for (std::size_t t = 0; t < 3; ++t) {
    const Record& r = records[t];
    EXPECT_EQ(value(frame, "loss", {t}), r.loss);
    EXPECT_EQ(value(frame, "embedding_rank_one", {t}), r.embedding_rank_one);
    EXPECT_EQ(value(frame, "unembedding_rank_one", {t}), r.unembedding_rank_one);
    EXPECT_EQ(value(frame, "embedding_size", {t}), r.embedding_size);
    EXPECT_EQ(value(frame, "unembedding_size", {t}), r.unembedding_size);
    EXPECT_EQ(value(frame, "query_size", {t}), r.query_size);
    EXPECT_EQ(value(frame, "key_size", {t}), r.key_size);
    for (std::size_t k = 0; k < kTokens; ++k) {
      EXPECT_EQ(value(frame, "group_loss", {t, k}), r.group_loss[k]);
      EXPECT_EQ(value(frame, "entropy", {t, k}), r.entropy[k]);
      EXPECT_EQ(value(frame, "weighted_entropy", {t, k}), r.weighted_entropy[k]);
      EXPECT_EQ(value(frame, "embedding_norm", {t, k}), r.embedding_norm[k]);
      EXPECT_EQ(value(frame, "parallel", {t, k}), r.parallel[k]);
      EXPECT_EQ(value(frame, "perpendicular", {t, k}), r.perpendicular[k]);
      EXPECT_EQ(value(frame, "embedding_singular_values", {t, k}), r.embedding_singular_values[k]);
      EXPECT_EQ(value(frame, "unembedding_singular_values", {t, k}),
                r.unembedding_singular_values[k]);
      for (std::size_t j = 0; j < kTokens; ++j) {
        EXPECT_EQ(value(frame, "attention", {t, k, j}), r.attention(k, j));
        EXPECT_EQ(value(frame, "weighted_attention", {t, k, j}), r.weighted_attention(k, j));
      }
    }
  }
}

TEST(TrajectoryFrame, HoldsPathsAndFocus) {
  const std::vector<Record> records = three_records();
  const Frame frame = trajectory_frame(records);
  const EmbeddingPaths paths = embedding_paths(records);
  for (std::size_t t = 0; t < 3; ++t) {
    for (std::size_t k = 0; k < kTokens; ++k) {
      for (std::size_t c = 0; c < 2; ++c) {
        EXPECT_EQ(value(frame, "path", {t, k, c}), paths.coordinates[2 * (t * kTokens + k) + c]);
      }
    }
    for (std::size_t k = 0; k + 1 < kTokens; ++k) {
      EXPECT_EQ(value(frame, "focus", {t, k}), focus_share(records[t].attention, k, 0.5));
    }
  }
  EXPECT_EQ(value(frame, "path_explained", {0}), paths.explained[0]);
  EXPECT_EQ(value(frame, "path_explained", {1}), paths.explained[1]);
}

TEST(TrajectoryFrame, LeavesCellsEmptyWhereThereIsNoNumber) {
  std::vector<Record> records = three_records();
  records[1].group_loss[2] = std::numeric_limits<double>::quiet_NaN();
  records[2].conserved_drift = 1e-9;
  const Frame frame = trajectory_frame(records);
  EXPECT_EQ(frame.variable("group_loss").cells[kTokens + 2].samples, 0U);
  EXPECT_EQ(frame.variable("group_loss").cells[kTokens + 1].samples, 1U);
  EXPECT_EQ(frame.variable("group_loss").cells[kTokens + 1].standard_error, 0.0);
  EXPECT_EQ(frame.variable("conserved_drift").cells[0].samples, 0U);
  EXPECT_EQ(frame.variable("conserved_drift").cells[2].mean, 1e-9);
}

TEST(CondensationFrame, HoldsCosinesByMomentAndMatrix) {
  const std::vector<Condensation> moments = {condensation_of(0.0, random_parameters("first")),
                                             condensation_of(40.0, random_parameters("second"))};
  const Frame frame = condensation_frame(moments);
  EXPECT_EQ(frame.name(), "condensation");
  EXPECT_EQ(frame.dimension("moment").coordinates, (std::vector<double>{0.0, 40.0}));
  EXPECT_EQ(frame.dimension("matrix").labels, (std::vector<std::string>{"W0", "W1", "WQ", "WK"}));
  for (std::size_t t = 0; t < 2; ++t) {
    for (std::size_t b = 0; b < 4; ++b) {
      const Condensation::Block& block = moments[t].blocks[b];
      EXPECT_EQ(value(frame, "mean_cosine", {t, b}), block.mean_modulus);
      EXPECT_EQ(value(frame, "rank_one", {t, b}), block.rank_one);
      for (std::size_t i = 0; i < kWidth; ++i) {
        EXPECT_EQ(value(frame, "cosine", {t, b, i, kWidth - 1}), block.cosines(i, kWidth - 1));
      }
    }
  }
}

}  // namespace
}  // namespace dewpoint::training
