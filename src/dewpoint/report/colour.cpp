#include "dewpoint/report/colour.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <span>

#include "dewpoint/core/error.hpp"

namespace dewpoint::report {
namespace {

// Every fifteenth of the 256 colours.
constexpr std::array<Colour, 18> kViridis = {
    0x440154, 0x481769, 0x472a7a, 0x433d84, 0x3d4e8a, 0x355e8d, 0x2e6d8e, 0x297b8e, 0x23898e,
    0x1f978b, 0x21a585, 0x2eb37c, 0x46c06f, 0x65cb5e, 0x89d548, 0xb0dd2f, 0xd8e219, 0xfde725};

constexpr std::array<Colour, 11> kBlueWhiteRed = {0x053061, 0x2166ac, 0x4393c3, 0x92c5de,
                                                  0xd1e5f0, 0xf7f7f7, 0xfddbc7, 0xf4a582,
                                                  0xd6604d, 0xb2182b, 0x67001f};

constexpr std::array<Colour, 7> kOkabeIto = {0x000000, 0x0072b2, 0xd55e00, 0x009e73,
                                             0xcc79a7, 0xe69f00, 0x56b4e9};
constexpr double kLightestOnPaper = 0.8;  // place on viridis

Colour mixed_channel(Colour a, Colour b, double share, int shift) {
  const auto from = static_cast<double>((a >> shift) & 0xffU);
  const auto to = static_cast<double>((b >> shift) & 0xffU);
  return static_cast<Colour>(std::lround(from + share * (to - from))) << shift;
}

// Linear between equally spaced colours; t is not NaN.
Colour between(std::span<const Colour> colours, double t) {
  const double place = std::clamp(t, 0.0, 1.0) * static_cast<double>(colours.size() - 1);
  const auto below = std::min(static_cast<std::size_t>(place), colours.size() - 2);
  const double share = place - static_cast<double>(below);
  const Colour a = colours[below];
  const Colour b = colours[below + 1];
  return mixed_channel(a, b, share, 16) | mixed_channel(a, b, share, 8) |
         mixed_channel(a, b, share, 0);
}

}  // namespace

Colour viridis(double t) { return std::isnan(t) ? kUnknownColour : between(kViridis, t); }

Colour diverging(double t) {
  return std::isnan(t) ? kUnknownBesideWhite : between(kBlueWhiteRed, t);
}

Colour mapped_colour(ColourMap map, double t) {
  return map == ColourMap::viridis ? viridis(t) : diverging(t);
}

Colour kind_colour(std::size_t index) { return kOkabeIto[index % kOkabeIto.size()]; }

Colour degree_colour(std::size_t index, std::size_t count) {
  DEWPOINT_EXPECTS(index < count);
  if (count == 1) return viridis(0.0);
  return viridis(kLightestOnPaper * static_cast<double>(index) / static_cast<double>(count - 1));
}

Colour pale(Colour colour) {
  Colour mixed = 0;
  for (const unsigned shift : {16U, 8U, 0U}) {
    const Colour part = (colour >> shift) & 0xffU;
    mixed |= ((part + 2U * 0xffU) / 3U) << shift;
  }
  return mixed;
}

}  // namespace dewpoint::report
