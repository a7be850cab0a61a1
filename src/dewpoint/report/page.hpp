// What all figures share: the page and the script that fills it.
//
// A page is laid out from the top down: title, rows of panels, legend, caption. Lengths are pixels
// of the SVG; y points up, as in gnuplot. A figure asks for a page with a PagePlan, draws the texts
// around its panels between begin_page() and end_page(), then each panel in its Box. What becomes
// of it is in sheet.hpp.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dewpoint/report/axis.hpp"

namespace dewpoint::report {

inline constexpr double kPanelWidth = 268;
inline constexpr double kPanelHeight = 248;
inline constexpr double kLeft = 58;       // y label and its numbers
inline constexpr double kGap = 18;        // between columns
inline constexpr double kPanelRoom = 26;  // panel title
inline constexpr double kBareRoom = 10;   // above a panel without a title
inline constexpr double kTicRoom = 22;    // numbers of the x axis
inline constexpr double kLabelRoom = 24;  // x label
inline constexpr double kMargin = 12;     // above, below, and right of the texts
inline constexpr double kSampleWidth = 38;

inline constexpr double kTitleSize = 15;
inline constexpr double kTextSize = 13;
inline constexpr double kSmallSize = 11;
inline constexpr double kCaptionSize = 10;

inline constexpr const char* kInk = "#262626";
inline constexpr const char* kGrey = "#6b6b6b";
// Generic in CSS and in fontconfig alike; a named font would be missing somewhere.
inline constexpr const char* kFont = "sans-serif";

struct Box {
  double left;
  double bottom;
  double width;
  double height;
};

struct LegendPlace {
  double left;    // of the sample, kSampleWidth wide; the label follows
  double middle;  // height
};

struct PagePlan {
  std::string title;                // above everything, on lines as wide as the page; empty takes
                                    // no room
  std::string caption;              // small, below everything
  std::vector<std::string> legend;  // labels of its entries
  std::size_t panels = 1;
  std::size_t columns = 4;               // panels side by side before a new row begins
  double left = kLeft;                   // left of the panels
  double gap = kGap;                     // between two columns
  double right = kMargin;                // right of the panels
  double panel_room = kPanelRoom;        // above each panel
  double below = kTicRoom + kLabelRoom;  // below each panel
  double panel_width = kPanelWidth;
  double panel_height = kPanelHeight;
};

struct Page {
  double width = 0;
  double height = 0;
  std::size_t columns = 1;
  std::vector<Box> panels;
  std::vector<LegendPlace> legend;
  std::vector<std::string> title;    // its lines
  std::vector<std::string> caption;  // its lines
  double caption_top = 0;
  double left = 0;  // of title, legend and caption

  [[nodiscard]] bool begins_row(std::size_t panel) const { return panel % columns == 0; }
  [[nodiscard]] bool ends_column(std::size_t panel) const {
    return panel + columns >= panels.size();
  }
};

[[nodiscard]] Page lay_out(const PagePlan& plan);

/// Width of a text in pixels, guessed on the wide side.
[[nodiscard]] double text_width(std::string_view text, double size);

/// The smallest of 1, 2, 5 times a power of ten that divides a span > 0 into at most five (and at
/// least two): tidy numbers, none of them crowded.
[[nodiscard]] double tic_step(double span);

class Script {
 public:
  template <class... Values>
  void line(fmt::format_string<Values...> format, Values&&... values) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Values>(values)...);
    text_ += '\n';
  }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string text_;
};

struct Text {
  double x;
  double y;
  const char* align;  // left, center, right, or "center rotate"
  double size;
  const char* colour = kInk;
};

/// A text at pixels of the page; an empty one draws nothing.
void add_text(Script& script, const std::string& content, const Text& style);

/// The next plot fills this box.
void set_place(Script& script, const Page& page, const Box& box);

/// The tics of an axis ("x", "y" or "y2") at places, with their numbers or without.
void set_tics(Script& script, const char* axis, const std::vector<Tic>& tics, bool numbered);

/// Everything that is not inside a panel is drawn first, on a plot as large as the page, in pixels:
/// the title now, whatever the figure adds, and last the caption.
void begin_page(Script& script, const Page& page);
void end_page(Script& script, const Page& page);

}  // namespace dewpoint::report
