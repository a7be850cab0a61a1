#include "dewpoint/diagnosis/nelder_mead.hpp"

#include <algorithm>
#include <cmath>

#include "dewpoint/core/error.hpp"

namespace dewpoint::diagnosis {
namespace {

constexpr double kReflect = 1.0;
constexpr double kExpand = 2.0;
constexpr double kContract = 0.5;
constexpr double kShrink = 0.5;

class Simplex {
 public:
  Simplex(const Landscape& landscape, const Lowest& first, const std::vector<double>& steps)
      : landscape_(landscape), steps_(steps), corners_{first} {
    for (std::size_t k = 0; k < steps.size(); ++k) {
      std::vector<double> place = first.place;
      place[k] += steps[k];
      corners_.push_back({place, landscape(place)});
    }
    sort();
  }

  [[nodiscard]] const Lowest& best() const { return corners_.front(); }

  /// The farthest corner from the best one, in units of the steps.
  [[nodiscard]] double extent() const {
    double most = 0.0;
    for (const Lowest& corner : corners_)
      for (std::size_t k = 0; k < steps_.size(); ++k)
        most = std::max(most, std::abs((corner.place[k] - best().place[k]) / steps_[k]));
    return most;
  }

  void move() {
    const Lowest& worst = corners_.back();
    const double second_worst = corners_[corners_.size() - 2].value;
    const Lowest mirrored = beyond_centre(kReflect);
    if (mirrored.value < best().value) {
      const Lowest further = beyond_centre(kExpand);
      replace_worst(further.value < mirrored.value ? further : mirrored);
    } else if (mirrored.value < second_worst) {
      replace_worst(mirrored);
    } else {
      const bool outside = mirrored.value < worst.value;
      const Lowest nearer = beyond_centre(outside ? kContract : -kContract);
      if (nearer.value < std::min(mirrored.value, worst.value)) {
        replace_worst(nearer);
      } else {
        shrink();
      }
    }
  }

 private:
  /// The centre of all corners but the worst, plus `share` of the way from the worst to it.
  [[nodiscard]] Lowest beyond_centre(double share) const {
    const std::size_t count = steps_.size();
    std::vector<double> place(count);
    for (std::size_t k = 0; k < count; ++k) {
      double centre = 0.0;
      for (std::size_t corner = 0; corner < count; ++corner)
        centre += corners_[corner].place[k] / static_cast<double>(count);
      place[k] = centre + share * (centre - corners_.back().place[k]);
    }
    const double value = landscape_(place);
    return {std::move(place), value};
  }

  void replace_worst(Lowest corner) {
    corners_.back() = std::move(corner);
    sort();
  }

  void shrink() {
    for (std::size_t corner = 1; corner < corners_.size(); ++corner) {
      std::vector<double>& place = corners_[corner].place;
      for (std::size_t k = 0; k < place.size(); ++k)
        place[k] = best().place[k] + kShrink * (place[k] - best().place[k]);
      corners_[corner].value = landscape_(place);
    }
    sort();
  }

  void sort() {
    std::stable_sort(corners_.begin(), corners_.end(),
                     [](const Lowest& x, const Lowest& y) { return x.value < y.value; });
  }

  const Landscape& landscape_;
  const std::vector<double>& steps_;
  std::vector<Lowest> corners_;  // from the lowest to the highest
};

Lowest walk(const Landscape& landscape, const Lowest& first, const std::vector<double>& steps,
            const Descent& descent) {
  Simplex simplex(landscape, first, steps);
  for (std::size_t move = 0; move < descent.moves && simplex.extent() > descent.tolerance; ++move)
    simplex.move();
  return simplex.best();
}

}  // namespace

Lowest descend(const Landscape& landscape, const std::vector<double>& start,
               const std::vector<double>& steps, const Descent& descent) {
  DEWPOINT_EXPECTS(start.size() == steps.size());
  Lowest lowest{start, landscape(start)};
  if (start.empty()) return lowest;
  std::vector<double> reach = steps;
  for (std::size_t restart = 0; restart <= descent.restarts; ++restart) {
    const double before = lowest.value;
    lowest = walk(landscape, lowest, reach, descent);
    if (restart > 0 && !(before - lowest.value > descent.gain * std::abs(before))) break;
    for (double& step : reach) step *= -kShrink;
  }
  return lowest;
}

}  // namespace dewpoint::diagnosis
