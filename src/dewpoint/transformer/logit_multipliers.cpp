#include "dewpoint/transformer/logit_multipliers.hpp"

#include "dewpoint/scaling/schedule.hpp"

namespace dewpoint::transformer {

template <class Real>
LogitMultipliers<Real>::LogitMultipliers(const Shape& shape, std::size_t longest) {
  if (shape.scaling.empty()) return;
  const scaling::Schedule law = scaling::named_schedule(shape.scaling, 0.0);
  set_once_ = law.static_factor;
  of_count_.reserve(longest);
  for (std::size_t n = 1; n <= longest; ++n) {
    of_count_.push_back(static_cast<Real>(scaling::multiplier(law, static_cast<double>(n))));
  }
}

template class LogitMultipliers<float>;
template class LogitMultipliers<double>;

}  // namespace dewpoint::transformer
