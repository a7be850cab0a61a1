// Numbers and names as text that other programs read.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <string_view>

namespace dewpoint::exports {

/// The fewest digits that give the number back: "0.1", "512", "1e-300", "inf", "-inf", "nan". A
/// negative zero is "-0.0": whoever takes "-0" for an integer loses its sign.
[[nodiscard]] std::string number_text(double value);

/// `text` as well-formed UTF-8 without NUL, which ends a text in C: what is not has become U+FFFD.
[[nodiscard]] std::string clean_text(std::string_view text);

/// `name` as one part of the name of a file: letters, digits, "_+.-" and everything beyond ASCII
/// stay, the rest becomes '_', as does a name of nothing.
[[nodiscard]] std::string file_part(std::string_view name);

/// `name` as netCDF allows it: as file_part, but it begins with a letter or '_', and has at most
/// kLongestNetcdfName bytes.
[[nodiscard]] std::string netcdf_name(std::string_view name);
inline constexpr std::size_t kLongestNetcdfName = 200;  // NC_MAX_NAME is 256; "_samples_99" fits

/// Names that must differ: the first to claim a name gets it, the next get name_2, name_3, ...
class Names {
 public:
  std::string claim(const std::string& wanted);

 private:
  std::set<std::string> taken_;
};

}  // namespace dewpoint::exports
