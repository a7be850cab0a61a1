#include "dewpoint/report/colour.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

namespace dewpoint::report {
namespace {

// Every fifteenth of the 256 colours.
constexpr std::array<Colour, 18> kViridis = {
    0x440154, 0x481769, 0x472a7a, 0x433d84, 0x3d4e8a, 0x355e8d, 0x2e6d8e, 0x297b8e, 0x23898e,
    0x1f978b, 0x21a585, 0x2eb37c, 0x46c06f, 0x65cb5e, 0x89d548, 0xb0dd2f, 0xd8e219, 0xfde725};

Colour mixed_channel(Colour a, Colour b, double share, int shift) {
  const auto from = static_cast<double>((a >> shift) & 0xffU);
  const auto to = static_cast<double>((b >> shift) & 0xffU);
  return static_cast<Colour>(std::lround(from + share * (to - from))) << shift;
}

}  // namespace

Colour viridis(double t) {
  if (std::isnan(t)) return kUnknownColour;
  const double place = std::clamp(t, 0.0, 1.0) * (kViridis.size() - 1);
  const auto below = std::min(static_cast<std::size_t>(place), kViridis.size() - 2);
  const double share = place - static_cast<double>(below);
  const Colour a = kViridis[below];
  const Colour b = kViridis[below + 1];
  return mixed_channel(a, b, share, 16) | mixed_channel(a, b, share, 8) |
         mixed_channel(a, b, share, 0);
}

}  // namespace dewpoint::report
