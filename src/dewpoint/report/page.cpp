#include "dewpoint/report/page.hpp"

#include <algorithm>
#include <cmath>

#include "dewpoint/core/error.hpp"
#include "dewpoint/report/gnuplot.hpp"

namespace dewpoint::report {
namespace {

constexpr double kTitleRoom = 34;    // figure title
constexpr double kTitleLine = 20;    // each line of it after the first
constexpr double kLegendRoom = 22;   // one line of the legend
constexpr double kCaptionRoom = 14;  // one line of the caption

std::size_t characters(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U;  // not inside a UTF-8 character
  }));
}

std::vector<std::string> wrapped(const std::string& text, double width, double size) {
  std::vector<std::string> lines;
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    const std::string word = text.substr(begin, end - begin);
    const bool fits = !lines.empty() && text_width(lines.back() + ' ' + word, size) <= width;
    if (fits) {
      lines.back() += ' ' + word;
    } else {
      lines.push_back(word);
    }
    begin = end + 1;
  }
  return lines;
}

// A sample and its label.
double entry_width(const std::string& label) {
  return kSampleWidth + 8 + text_width(label, kSmallSize);
}

// Of the longest entry, which stands on a line of its own if it must.
double legend_width(const std::vector<std::string>& labels) {
  double widest = 0.0;
  for (const auto& label : labels) widest = std::max(widest, entry_width(label));
  return widest;
}

// Places the entries in lines from `top` down and returns the bottom of the last line.
double place_legend(Page& page, const std::vector<std::string>& labels, double top, double right) {
  if (labels.empty()) return top;
  double left = page.left;
  double bottom = top - kLegendRoom;
  for (const auto& label : labels) {
    const double width = entry_width(label);
    if (left > page.left && left + width > right) {
      left = page.left;
      bottom -= kLegendRoom;
    }
    page.legend.push_back({left, bottom + kLegendRoom / 2});
    left += width + 22;
  }
  return bottom;
}

void place_panels(Page& page, const PagePlan& plan, double top) {
  for (std::size_t k = 0; k < plan.panels; ++k) {
    const std::size_t whole_rows = k / page.columns;
    const auto column = static_cast<double>(k % page.columns);
    const auto row = static_cast<double>(whole_rows);
    page.panels.push_back(
        {plan.left + column * (plan.panel_width + plan.gap),
         top - (row + 1) * (plan.panel_room + plan.panel_height) - row * plan.below,
         plan.panel_width, plan.panel_height});
  }
}

// Heights come from the top down, with the top at 0; then everything moves up by the height.
void move_up(Page& page, double distance) {
  for (auto& panel : page.panels) panel.bottom += distance;
  for (auto& place : page.legend) place.middle += distance;
  page.caption_top += distance;
}

}  // namespace

// DejaVu Sans is the widest of the usual fonts.
double text_width(std::string_view text, double size) {
  return 0.58 * size * static_cast<double>(characters(text));
}

double tic_step(double span) {
  const double rough = span / 5.0;
  const double power = std::pow(10.0, std::floor(std::log10(rough)));
  for (const double digit : {1.0, 2.0, 5.0}) {
    if (digit * power >= rough * 0.999) return digit * power;
  }
  return 10.0 * power;
}

Page lay_out(const PagePlan& plan) {
  DEWPOINT_EXPECTS(plan.panels > 0);
  Page page;
  page.left = plan.left;
  page.columns = std::clamp<std::size_t>(plan.columns, 1, plan.panels);
  const double panels =
      static_cast<double>(page.columns) * (plan.panel_width + plan.gap) - plan.gap + plan.right;
  page.width = plan.left + std::max(panels, legend_width(plan.legend) + kMargin);
  const double right = page.width - kMargin;
  page.title = wrapped(plan.title, right - page.left, kTitleSize);
  const double lines = static_cast<double>(page.title.size());
  place_panels(page, plan,
               -kMargin / 2 - (lines == 0 ? 0.0 : kTitleRoom + (lines - 1) * kTitleLine));

  const double below_panels = page.panels.back().bottom - plan.below - 4;
  page.caption_top = place_legend(page, plan.legend, below_panels, right) - 4;
  page.caption = wrapped(plan.caption, right - page.left, kCaptionSize);
  page.height =
      -page.caption_top + kCaptionRoom * static_cast<double>(page.caption.size()) + kMargin;
  move_up(page, page.height);
  return page;
}

void add_text(Script& script, const std::string& content, const Text& style) {
  if (content.empty()) return;
  script.line("set label {} at {},{} {} noenhanced font '{},{}' textcolor rgb '{}'",
              quoted_text(content), style.x, style.y, style.align, kFont, style.size, style.colour);
}

void set_place(Script& script, const Page& page, const Box& box) {
  script.line("set lmargin at screen {}", box.left / page.width);
  script.line("set rmargin at screen {}", (box.left + box.width) / page.width);
  script.line("set bmargin at screen {}", box.bottom / page.height);
  script.line("set tmargin at screen {}", (box.bottom + box.height) / page.height);
}

void set_tics(Script& script, const char* axis, const std::vector<Tic>& tics, bool numbered) {
  std::string list;
  for (const auto& tic : tics) {
    const std::string label = numbered ? quoted_text(tic.label) : "''";
    list += fmt::format("{}{} {} {}", list.empty() ? "" : ", ", label, tic.place,
                        tic.label.empty() ? 1 : 0);
  }
  script.line("set {}tics ({}) nomirror out scale 0.4,0.25 font '{},{}' textcolor rgb '{}'", axis,
              list, kFont, kSmallSize, kInk);
}

void begin_page(Script& script, const Page& page) {
  set_place(script, page, {0, 0, page.width, page.height});
  script.line("set xrange [0:{}]; set yrange [0:{}]", page.width, page.height);
  script.line("unset border; unset tics; unset key");
  for (std::size_t i = 0; i < page.title.size(); ++i) {
    const double y = page.height - kMargin - 10 - kTitleLine * static_cast<double>(i);
    add_text(script, page.title[i], {page.left, y, "left", kTitleSize});
  }
}

void end_page(Script& script, const Page& page) {
  for (std::size_t i = 0; i < page.caption.size(); ++i) {
    const double y = page.caption_top - kCaptionRoom * (static_cast<double>(i) + 0.5);
    add_text(script, page.caption[i], {page.left, y, "left", kCaptionSize, kGrey});
  }
  script.line("plot -1 notitle");
  script.line("unset label; unset arrow; unset object");
}

}  // namespace dewpoint::report
