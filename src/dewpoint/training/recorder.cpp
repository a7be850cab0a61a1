#include "dewpoint/training/recorder.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "dewpoint/training/stages.hpp"

namespace dewpoint::training {
namespace {

Estimate known(double value) { return std::isnan(value) ? Estimate{} : Estimate{value, 0.0, 1}; }

void put(std::span<const double> values, std::vector<Estimate>::iterator& cell) {
  cell = std::transform(values.begin(), values.end(), cell, known);
}

std::vector<double> numbered(std::size_t count) {
  std::vector<double> result(count);
  std::iota(result.begin(), result.end(), 0.0);
  return result;
}

/// Adds variables that have time as their first dimension, one field of Record each.
class FieldFrame {
 public:
  FieldFrame(Frame& frame, std::span<const Record> records) : frame_(frame), records_(records) {}

  void add(const char* name, double Record::*field) {
    fill(name, {}, [field](const Record& r) { return std::span(&(r.*field), 1); });
  }
  void add(const char* name, std::vector<double> Record::*field, const char* dimension) {
    fill(name, {dimension}, [field](const Record& r) { return std::span(r.*field); });
  }
  void add(const char* name, Matrix<double> Record::*field) {
    fill(name, {"query", "key"},
         [field](const Record& r) { return std::span((r.*field).data(), (r.*field).size()); });
  }

 private:
  template <class Values>
  void fill(const char* name, std::vector<std::string> dimensions, Values values) {
    dimensions.insert(dimensions.begin(), "time");
    auto cell = frame_.add_variable(name, std::move(dimensions)).cells.begin();
    for (const Record& record : records_) put(values(record), cell);
  }

  Frame& frame_;
  std::span<const Record> records_;
};

void add_fields(Frame& frame, std::span<const Record> records) {
  FieldFrame fields(frame, records);
  fields.add("loss", &Record::loss);
  fields.add("group_loss", &Record::group_loss, "token");
  fields.add("attention", &Record::attention);
  fields.add("weighted_attention", &Record::weighted_attention);
  fields.add("entropy", &Record::entropy, "query");
  fields.add("weighted_entropy", &Record::weighted_entropy, "query");
  fields.add("embedding_norm", &Record::embedding_norm, "token");
  fields.add("parallel", &Record::parallel, "token");
  fields.add("perpendicular", &Record::perpendicular, "token");
  fields.add("embedding_singular_values", &Record::embedding_singular_values, "rank");
  fields.add("unembedding_singular_values", &Record::unembedding_singular_values, "rank");
  fields.add("embedding_rank_one", &Record::embedding_rank_one);
  fields.add("unembedding_rank_one", &Record::unembedding_rank_one);
  fields.add("embedding_size", &Record::embedding_size);
  fields.add("unembedding_size", &Record::unembedding_size);
  fields.add("query_size", &Record::query_size);
  fields.add("key_size", &Record::key_size);
  fields.add("conserved_drift", &Record::conserved_drift);
}

void add_focus(Frame& frame, std::span<const Record> records) {
  const double least_mass = StageThresholds{}.least_mass;
  auto cell = frame.add_variable("focus", {"time", "cycle"}).cells.begin();
  for (const Record& record : records) {
    for (std::size_t k = 0; k + 1 < record.attention.rows(); ++k) {
      *cell++ = known(focus_share(record.attention, k, least_mass));
    }
  }
}

void add_paths(Frame& frame, std::span<const Record> records) {
  const EmbeddingPaths paths = embedding_paths(records);
  auto path = frame.add_variable("path", {"time", "token", "component"}).cells.begin();
  put(paths.coordinates, path);
  auto explained = frame.add_variable("path_explained", {"component"}).cells.begin();
  put(paths.explained, explained);
}

}  // namespace

Frame trajectory_frame(std::span<const Record> records) {
  DEWPOINT_EXPECTS(!records.empty());
  const std::size_t tokens = records[0].embedding.rows();
  std::vector<double> times;
  for (const Record& record : records) times.push_back(record.time);
  Frame frame("trajectory");
  frame.add_dimension("time", std::move(times));
  for (const char* name : {"token", "query", "key", "rank"}) {
    frame.add_dimension(name, numbered(tokens));
  }
  frame.add_dimension("component", numbered(2));
  frame.add_dimension("cycle", numbered(tokens - 1));
  add_fields(frame, records);
  add_paths(frame, records);
  add_focus(frame, records);
  return frame;
}

Frame condensation_frame(std::span<const Condensation> moments) {
  DEWPOINT_EXPECTS(!moments.empty());
  std::vector<double> times;
  for (const Condensation& moment : moments) times.push_back(moment.time);
  std::vector<std::string> names;
  for (const auto& block : moments[0].blocks) names.push_back(block.matrix);
  const std::size_t units = moments[0].blocks.at(0).cosines.rows();
  Frame frame("condensation");
  frame.add_dimension("moment", std::move(times));
  frame.add_labelled_dimension("matrix", std::move(names));
  frame.add_dimension("row", numbered(units));
  frame.add_dimension("column", numbered(units));

  std::vector<double> cosines, means, fractions;
  for (const Condensation& moment : moments) {
    for (const Condensation::Block& block : moment.blocks) {
      DEWPOINT_EXPECTS(block.cosines.rows() == units);
      const double* begin = block.cosines.data();
      cosines.insert(cosines.end(), begin, begin + block.cosines.size());
      means.push_back(block.mean_modulus);
      fractions.push_back(block.rank_one);
    }
  }
  const auto add = [&](const char* name, std::vector<std::string> over,
                       std::span<const double> values) {
    auto cell = frame.add_variable(name, std::move(over)).cells.begin();
    put(values, cell);
  };
  add("cosine", {"moment", "matrix", "row", "column"}, cosines);
  add("mean_cosine", {"moment", "matrix"}, means);
  add("rank_one", {"moment", "matrix"}, fractions);
  return frame;
}

}  // namespace dewpoint::training
