#include "dewpoint/training/stages.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <numeric>
#include <string>
#include <utility>

namespace dewpoint::training {
namespace {

// ---- cycles -----------------------------------------------------------------------------------

/// s_k over the recorded times.
std::vector<double> focus_series(std::span<const Record> records, std::size_t k,
                                 double least_mass) {
  std::vector<double> series;
  for (const Record& record : records) {
    series.push_back(focus_share(record.attention, k, least_mass));
  }
  return series;
}

/// Places in the series.
struct Excursion {
  std::size_t rise, peak;
  std::optional<std::size_t> half;
};

/// From the first place at or after `from` that is above `level`, until the fall below `fall` times
/// its running maximum.
std::optional<Excursion> first_excursion(const std::vector<double>& series, std::size_t from,
                                         double level, double fall) {
  std::size_t rise = from;
  while (rise < series.size() && !(series[rise] > level)) ++rise;
  if (rise == series.size()) return {};
  Excursion found{rise, rise, {}};
  for (std::size_t i = rise; i < series.size(); ++i) {
    if (series[i] < fall * series[found.peak]) {
      found.half = i;
      break;
    }
    if (series[i] > series[found.peak]) found.peak = i;
  }
  return found;
}

/// The first place from which on the series is above `level` until the peak.
std::size_t start_before(const std::vector<double>& series, std::size_t peak, double level) {
  std::size_t start = peak;
  while (start > 0 && series[start - 1] > level) --start;
  return start;
}

Cycle find_cycle(std::span<const Record> records, std::size_t token, double not_before,
                 const StageThresholds& thresholds) {
  const std::vector<double> series = focus_series(records, token, thresholds.least_mass);
  const auto among = static_cast<double>(records[0].attention.rows() - token);
  Cycle cycle;
  cycle.token = token;
  cycle.base = 1.0 / among;
  cycle.peak_value = *std::max_element(series.begin(), series.end());
  const auto level = [&](double share) { return cycle.base + share * (1.0 - cycle.base); };
  const auto first = std::partition_point(records.begin(), records.end(),
                                          [&](const Record& r) { return r.time < not_before; });
  const auto from = static_cast<std::size_t>(first - records.begin());
  const auto found = first_excursion(series, from, level(thresholds.rise), thresholds.fall);
  if (!found) return cycle;
  cycle.peak = records[found->peak].time;
  cycle.peak_value = series[found->peak];
  cycle.start = records[found->rise].time;
  if (found->half) {
    cycle.start = records[start_before(series, found->peak, level(thresholds.start))].time;
    cycle.half = records[*found->half].time;
  }
  return cycle;
}

std::vector<Cycle> find_cycles(std::span<const Record> records, const StageThresholds& thresholds) {
  std::vector<Cycle> cycles;
  double not_before = -std::numeric_limits<double>::infinity();
  for (std::size_t k = 0; k + 1 < records[0].attention.rows(); ++k) {
    cycles.push_back(find_cycle(records, k, not_before, thresholds));
    if (cycles.back().half) not_before = std::max(not_before, *cycles.back().start);
  }
  return cycles;
}

// ---- directions and norms -----------------------------------------------------------------------

std::optional<double> condensation_time(std::span<const Record> records, double rank_one) {
  const auto found = std::find_if(records.begin(), records.end(), [&](const Record& record) {
    return record.embedding_rank_one >= rank_one;
  });
  if (found == records.end()) return {};
  return found->time;
}

/// Tokens other than 0 that now lie across it, more than they did at the peak.
std::vector<std::size_t> tokens_across(const Record& now, const Record& peak,
                                       const StageThresholds& thresholds) {
  std::vector<std::size_t> tokens;
  for (std::size_t k = 1; k < now.perpendicular.size(); ++k) {
    const double across = now.perpendicular[k];
    if (across / now.embedding_norm[k] >= thresholds.across &&
        across >= thresholds.growth * peak.perpendicular[k]) {
      tokens.push_back(k);
    }
  }
  return tokens;
}

void find_new_direction(std::span<const Record> records, Stages& stages) {
  if (stages.cycles.empty() || !stages.cycles[0].peak) return;
  const double peak = *stages.cycles[0].peak;
  const auto at_peak = std::partition_point(records.begin(), records.end(),
                                            [&](const Record& r) { return r.time < peak; });
  for (auto now = at_peak; now != records.end(); ++now) {
    stages.new_tokens = tokens_across(*now, *at_peak, stages.thresholds);
    if (stages.new_tokens.empty()) continue;
    stages.new_direction = now->time;
    return;
  }
}

std::vector<Retraction> find_retractions(std::span<const Record> records, std::size_t token,
                                         double share) {
  std::vector<double> times, norms;
  for (const Record& record : records) {
    times.push_back(record.time);
    norms.push_back(record.embedding_norm[token]);
  }
  return retractions_of(times, norms, share);
}

// ---- frames -------------------------------------------------------------------------------------

Estimate cell_of(std::optional<double> value) {
  return value ? Estimate{*value, 0.0, 1} : Estimate{};
}

Frame stage_frame(const Stages& stages) {
  const StageThresholds& used = stages.thresholds;
  const Cycle first = stages.cycles.empty() ? Cycle{} : stages.cycles[0];
  struct Row {
    const char* label;
    std::optional<double> time;
    double threshold;
  };
  const Row rows[] = {{"condensation", stages.condensation, used.rank_one},
                      {"focus", first.start, used.start},
                      {"peak", first.peak, used.rise},
                      {"half-dilution", first.half, used.fall},
                      {"new direction", stages.new_direction, used.across}};
  Frame frame("stages");
  std::vector<std::string> labels;
  for (const Row& row : rows) labels.emplace_back(row.label);
  frame.add_labelled_dimension("stage", std::move(labels));
  frame.add_variable("time", {"stage"});
  frame.add_variable("threshold", {"stage"});
  for (std::size_t i = 0; i < std::size(rows); ++i) {
    frame.variable("time").cells[i] = cell_of(rows[i].time);
    frame.variable("threshold").cells[i] = cell_of(rows[i].threshold);
  }
  return frame;
}

std::vector<double> numbered(std::size_t count) {
  std::vector<double> result(count);
  std::iota(result.begin(), result.end(), 0.0);
  return result;
}

Frame cycle_frame(const Stages& stages) {
  Frame frame("cycles");
  frame.add_dimension("cycle", numbered(stages.cycles.size()));
  for (const char* name : {"start", "peak", "half", "peak_value", "base"}) {
    frame.add_variable(name, {"cycle"});
  }
  for (std::size_t k = 0; k < stages.cycles.size(); ++k) {
    const Cycle& cycle = stages.cycles[k];
    frame.variable("start").cells[k] = cell_of(cycle.start);
    frame.variable("peak").cells[k] = cell_of(cycle.peak);
    frame.variable("half").cells[k] = cell_of(cycle.half);
    frame.variable("peak_value").cells[k] = cell_of(cycle.peak_value);
    frame.variable("base").cells[k] = cell_of(cycle.base);
  }
  const auto completed = static_cast<double>(stages.completed_cycles());
  frame.add_variable("completed").cells[0] = cell_of(completed);
  frame.add_variable("rise").cells[0] = cell_of(stages.thresholds.rise);
  return frame;
}

Frame retraction_frame(const Stages& stages) {
  Frame frame("retraction");
  frame.add_dimension("token", numbered(stages.retractions.size()));
  for (const char* name : {"from", "until", "depth"}) frame.add_variable(name, {"token"});
  for (std::size_t k = 0; k < stages.retractions.size(); ++k) {
    const auto& all = stages.retractions[k];
    const auto deepest = std::ranges::max_element(all, {}, &Retraction::depth);
    if (deepest == all.end()) continue;
    frame.variable("from").cells[k] = cell_of(deepest->from);
    frame.variable("until").cells[k] = cell_of(deepest->until);
    frame.variable("depth").cells[k] = cell_of(deepest->depth());
  }
  return frame;
}

}  // namespace

std::size_t Stages::completed_cycles() const {
  return static_cast<std::size_t>(
      std::ranges::count_if(cycles, [](const Cycle& c) { return c.half.has_value(); }));
}

double focus_share(MatrixView<const double> attention, std::size_t k, double least_mass) {
  const std::size_t tokens = attention.rows();
  DEWPOINT_EXPECTS(k + 1 < tokens);
  const double base = 1.0 / static_cast<double>(tokens - k);
  double share = 0.0, mass = 0.0;
  for (std::size_t q = k + 1; q < tokens; ++q) {
    const auto rest = attention.row(q).subspan(k);
    const double total = std::accumulate(rest.begin(), rest.end(), 0.0);
    share += total > 0.0 ? rest[0] / total : base;
    mass += total;
  }
  const auto queries = static_cast<double>(tokens - k - 1);
  return mass / queries >= least_mass ? share / queries : base;
}

// A zig-zag: down when more than `share` below the maximum, up again when more than `share` above
// the minimum, which closes a retraction. One that is still open at the end counts.
std::vector<Retraction> retractions_of(std::span<const double> times, std::span<const double> norms,
                                       double share) {
  DEWPOINT_EXPECTS(times.size() == norms.size());
  std::vector<Retraction> found;
  bool falling = false;
  std::size_t top = 0;
  for (std::size_t i = 0; i < norms.size(); ++i) {
    if (!falling) {
      if (norms[i] > norms[top]) top = i;
      if (norms[i] < norms[top] * (1.0 - share)) {
        found.push_back({times[top], times[i], norms[top], norms[i]});
        falling = true;
      }
    } else if (norms[i] < found.back().smallest) {
      found.back().smallest = norms[i];
      found.back().until = times[i];
    } else if (norms[i] > found.back().smallest * (1.0 + share)) {
      falling = false;
      top = i;
    }
  }
  return found;
}

Stages find_stages(std::span<const Record> records, const StageThresholds& thresholds) {
  Stages stages;
  stages.thresholds = thresholds;
  if (records.empty()) return stages;
  stages.condensation = condensation_time(records, thresholds.rank_one);
  stages.cycles = find_cycles(records, thresholds);
  find_new_direction(records, stages);
  for (std::size_t token = 0; token < records[0].embedding_norm.size(); ++token) {
    stages.retractions.push_back(find_retractions(records, token, thresholds.retraction));
  }
  return stages;
}

std::vector<Frame> stage_frames(const Stages& stages) {
  std::vector<Frame> frames;
  frames.push_back(stage_frame(stages));
  frames.push_back(cycle_frame(stages));
  frames.push_back(retraction_frame(stages));
  return frames;
}

}  // namespace dewpoint::training
