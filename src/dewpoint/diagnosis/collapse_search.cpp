#include "dewpoint/diagnosis/collapse_search.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "dewpoint/core/error.hpp"

namespace dewpoint::diagnosis {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Cells of the scan along each coordinate: as wide as the steps of a descent, roughly.
constexpr std::array<std::size_t, 3> kScan = {15, 24, 24};

double scan_step(std::size_t k) {
  return (Search::high(k) - Search::low(k)) / static_cast<double>(kScan[k]);
}

bool lower(const Found& a, const Found& b) { return a.quality < b.quality; }

/// Up to `most` of the lowest whose distance from each lower one exceeds `distance` somewhere.
std::vector<Found> distinct(std::vector<Found> all, const Place& distance, std::size_t most) {
  std::stable_sort(all.begin(), all.end(), lower);
  std::vector<Found> kept;
  for (const Found& found : all) {
    const auto near = [&](const Found& other) {
      for (std::size_t k = 0; k < distance.size(); ++k)
        if (std::abs(found.place[k] - other.place[k]) > distance[k]) return false;
      return true;
    };
    if (kept.size() == most || std::isinf(found.quality)) break;
    if (std::none_of(kept.begin(), kept.end(), near)) kept.push_back(found);
  }
  return kept;
}

}  // namespace

Search::Search(std::span<const SizeCurve> curves, const CollapseOptions& options)
    : curves_(curves),
      held_{options.critical, options.width_exponent, options.height_exponent},
      lever_(std::log(curves.back().size / curves.front().size)),
      origin_(kInfinity) {
  double most = -kInfinity;
  for (const SizeCurve& curve : curves) {
    origin_ = std::min(origin_, curve.x.front());
    most = std::max(most, curve.x.back());
  }
  range_ = most - origin_;
  for (std::size_t k = 0; k < held_.size(); ++k)
    if (!held_[k]) free_.push_back(k);
}

double Search::value_of(std::size_t k, double coordinate) const {
  if (held_[k]) return *held_[k];
  return k == 0 ? origin_ + range_ * coordinate : coordinate / lever_;
}

CollapseScales Search::scales_of(const Place& place) const {
  return {value_of(0, place[0]), value_of(1, place[1]), value_of(2, place[2])};
}

Found Search::descend_along(std::span<const SizeCurve> curves, const Place& base,
                            const std::vector<std::size_t>& along, const Descent& descent) const {
  Place place = base;
  const auto landscape = [&](const std::vector<double>& coordinates) {
    for (std::size_t i = 0; i < along.size(); ++i) {
      if (coordinates[i] < low(along[i]) || coordinates[i] > high(along[i])) return kInfinity;
      place[along[i]] = coordinates[i];
    }
    return collapse_quality(curves, scales_of(place)).mean;
  };
  std::vector<double> start, steps;
  for (const std::size_t k : along) {
    start.push_back(base[k]);
    steps.push_back(base[k] + kCollapseSteps[k] > high(k) ? -kCollapseSteps[k] : kCollapseSteps[k]);
  }
  const Lowest lowest = descend(landscape, start, steps, descent);
  for (std::size_t i = 0; i < along.size(); ++i) place[along[i]] = lowest.place[i];
  return {place, lowest.value};
}

/// S in the middle of every cell of a grid over the free coordinates.
std::vector<Found> Search::scan() const {
  std::vector<Found> all = {{{}, kInfinity}};
  for (const std::size_t k : free_) {
    std::vector<Found> wider;
    for (Found found : all)
      for (std::size_t i = 0; i < kScan[k]; ++i) {
        found.place[k] = low(k) + (static_cast<double>(i) + 0.5) * scan_step(k);
        wider.push_back(found);
      }
    all = std::move(wider);
  }
  for (Found& found : all) found.quality = collapse_quality(curves_, scales_of(found.place)).mean;
  return all;
}

std::vector<Found> Search::minima(const RunContext& context) const {
  const Place neighbourhood = {1.5 * scan_step(0), 1.5 * scan_step(1), 1.5 * scan_step(2)};
  const std::vector<Found> starts = distinct(scan(), neighbourhood, kStarts);
  if (starts.empty())
    throw Error(Code::bad_value,
                fmt::format("collapse: for no exponents {:.0f} % of the points lie within the "
                            "rescaled range of another size; give the sizes a common range of x",
                            100.0 * kLeastCompared));
  std::vector<Found> ends(starts.size());
  parallel_for(starts.size(), {context.threads, context.stop, {}}, [&](std::size_t i) {
    ends[i] = descend_along(curves_, starts[i].place, free_, {});
  });
  ends = distinct(std::move(ends), kCollapseSteps, kStarts);
  std::erase_if(ends, [&, least = ends.front().quality](const Found& end) {
    return end.quality > least + 1.0;
  });
  return ends;
}

}  // namespace dewpoint::diagnosis
