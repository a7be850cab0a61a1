// What stands in an SVG that gnuplot wrote, and what drawing it complained of.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "dewpoint/core/error.hpp"
#include "store/scratch_folder.hpp"

namespace dewpoint::test {

inline std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++found;
  }
  return found;
}

inline bool has_python() { return std::system("python3 -c 'import xml.etree' 2>/dev/null") == 0; }

/// The texts of an SVG, one per line, as an XML parser sees them; what is wrong if it is not XML.
inline std::string texts_of(const std::filesystem::path& svg, const ScratchFolder& folder) {
  write_bytes(folder / "texts.py",
              "import sys, xml.etree.ElementTree as tree\n"
              "for e in tree.parse(sys.argv[1]).iter('{http://www.w3.org/2000/svg}text'):\n"
              "    sys.stdout.buffer.write((''.join(e.itertext()) + '\\n').encode())\n");
  const std::string command =
      fmt::format("python3 '{}' '{}' > '{}' 2>&1", (folder / "texts.py").string(), svg.string(),
                  (folder / "texts").string());
  EXPECT_EQ(std::system(command.c_str()), 0);
  return read_bytes(folder / "texts");
}

/// The code of the error that an action ends with; Code::stopped when it ends well.
template <class Action>
Code code_of(Action action) {
  try {
    action();
  } catch (const Error& error) {
    return error.code();
  }
  return Code::stopped;
}

struct Pixel {
  double x;
  double y;  // from the top
};

/// gnuplot's svg terminal counts in hundredths of a pixel; a place is rounded once.
inline constexpr double kPixelRounding = 0.01;

/// As gnuplot writes a colour: "rgb(  0, 114, 178)".
inline std::string rgb_text(unsigned colour) {
  return fmt::format("rgb({:3}, {:3}, {:3})", colour >> 16, (colour >> 8) & 0xff, colour & 0xff);
}

/// Centres of the discs of a colour, in the order drawn.
inline std::vector<Pixel> discs_of(const std::string& svg, unsigned colour) {
  std::vector<Pixel> found;
  std::istringstream lines(svg);
  for (std::string line; std::getline(lines, line);) {
    if (line.find("#gpPt6'") == std::string::npos) continue;
    if (line.find("color='" + rgb_text(colour)) == std::string::npos) continue;
    Pixel pixel{};
    char comma = 0;
    std::istringstream(line.substr(line.find("translate(") + 10)) >> pixel.x >> comma >> pixel.y;
    found.push_back(pixel);
  }
  return found;
}

/// The strokes of a colour, each a chain of corners, in the order drawn.
inline std::vector<std::vector<Pixel>> strokes_of(const std::string& svg, unsigned colour) {
  std::vector<std::vector<Pixel>> found;
  const std::string mark = "<path stroke='" + rgb_text(colour) + "'";
  for (std::size_t at = svg.find(mark); at != std::string::npos; at = svg.find(mark, at + 1)) {
    const std::size_t begin = svg.find(" d='", at) + 4;
    std::istringstream corners(svg.substr(begin, svg.find('\'', begin) - begin));
    Pixel pixel{};
    char letter = 0;
    char comma = 0;
    while (corners >> letter >> pixel.x >> comma >> pixel.y) {
      if (letter == 'M') found.emplace_back();
      found.back().push_back(pixel);
    }
  }
  return found;
}

/// Where a text stands, every time it is drawn.
inline std::vector<Pixel> places_of(const std::string& svg, const std::string& text) {
  std::vector<Pixel> found;
  const std::string mark = "<text>" + text + "</text>";
  for (std::size_t at = svg.find(mark); at != std::string::npos; at = svg.find(mark, at + 1)) {
    Pixel pixel{};
    char comma = 0;
    const std::size_t begin = svg.rfind("translate(", at) + 10;
    std::istringstream(svg.substr(begin, 40)) >> pixel.x >> comma >> pixel.y;
    found.push_back(pixel);
  }
  return found;
}

}  // namespace dewpoint::test
