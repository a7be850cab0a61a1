#include "dewpoint/report/page.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>

#include "dewpoint/core/error.hpp"
#include "dewpoint/report/gnuplot.hpp"
#include "dewpoint/store/pending_file.hpp"

namespace dewpoint::report {
namespace {

namespace fs = std::filesystem;

constexpr double kTitleRoom = 34;    // figure title
constexpr double kLegendRoom = 22;   // one line of the legend
constexpr double kCaptionRoom = 14;  // one line of the caption
constexpr int kPngScale = 2;

// --------------------------------------------------------------------------------- the layout

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

// Places the entries in lines from `top` down and returns the bottom of the last line.
double place_legend(Page& page, const std::vector<std::string>& labels, double top, double right) {
  if (labels.empty()) return top;
  double left = page.left;
  double bottom = top - kLegendRoom;
  for (const auto& label : labels) {
    const double width = kSampleWidth + 8 + text_width(label, kSmallSize);
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
        {plan.left + column * (kPanelWidth + plan.gap),
         top - (row + 1) * (plan.panel_room + kPanelHeight) - row * (kTicRoom + kLabelRoom),
         kPanelWidth, kPanelHeight});
  }
}

// Heights come from the top down, with the top at 0; then everything moves up by the height.
void move_up(Page& page, double distance) {
  for (auto& panel : page.panels) panel.bottom += distance;
  for (auto& place : page.legend) place.middle += distance;
  page.caption_top += distance;
}

// ---------------------------------------------------------------------------------- the files

// `points` is the size of a point of text: SVG takes the sizes for pixels, Cairo for 1/72 inch with
// 96 pixels to the inch.
std::string terminal(const std::string& name, const Page& page, int scale, double points) {
  return fmt::format("{} size {},{} font '{},{}' fontscale {} linewidth {}", name,
                     std::lround(page.width) * scale, std::lround(page.height) * scale, kFont,
                     kSmallSize, scale * points, scale);
}

void add_file(Script& script, const std::string& terminal, const fs::path& output,
              const std::function<void(Script&)>& add_drawing) {
  script.line("set terminal {} noenhanced background '#ffffff'", terminal);
  script.line("set output {}", quoted_path(output));
  script.line("set multiplot");
  add_drawing(script);
  script.line("unset multiplot; unset output");
}

// Gnuplot does not notice a full disk; a file without its end does.
void expect_ending(const fs::path& file, std::string_view ending, const fs::path& target) {
  std::ifstream in(file, std::ios::binary);
  const std::string bytes(std::istreambuf_iterator<char>(in), {});
  const std::size_t last = bytes.find_last_not_of('\n');
  const std::string_view content(bytes.data(), last == std::string::npos ? 0 : last + 1);
  if (!content.ends_with(ending)) store::throw_unwritable(target, "gnuplot could not finish it");
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
  page.title = plan.title;
  page.left = plan.left;
  page.columns = std::clamp<std::size_t>(plan.columns, 1, plan.panels);
  page.width = plan.left + static_cast<double>(page.columns) * (kPanelWidth + plan.gap) - plan.gap +
               plan.right;
  place_panels(page, plan, -kMargin / 2 - (plan.title.empty() ? 0.0 : kTitleRoom));

  const double right = page.width - kMargin;
  const double below_panels = page.panels.back().bottom - kTicRoom - kLabelRoom - 4;
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

void begin_page(Script& script, const Page& page) {
  set_place(script, page, {0, 0, page.width, page.height});
  script.line("set xrange [0:{}]; set yrange [0:{}]", page.width, page.height);
  script.line("unset border; unset tics; unset key");
  add_text(script, page.title, {page.left, page.height - kMargin - 10, "left", kTitleSize});
}

void end_page(Script& script, const Page& page) {
  for (std::size_t i = 0; i < page.caption.size(); ++i) {
    const double y = page.caption_top - kCaptionRoom * (static_cast<double>(i) + 0.5);
    add_text(script, page.caption[i], {page.left, y, "left", kCaptionSize, kGrey});
  }
  script.line("plot -1 notitle");
  script.line("unset label; unset arrow; unset object");
}

void write_figure(const fs::path& stem, const Page& page, const Script& data,
                  const std::function<void(Script&)>& add_drawing) {
  const fs::path svg_name = fs::path(stem) += ".svg";
  const fs::path png_name = fs::path(stem) += ".png";
  store::PendingFile svg(svg_name);
  store::PendingFile png(png_name);

  Script script;
  script.line("set encoding utf8");
  script.line("{}", data.text());
  add_file(script, terminal("svg name 'dewpoint'", page, 1, 1.0), svg.path(), add_drawing);
  add_file(script,
           terminal(fmt::format("pngcairo pointscale {}", kPngScale), page, kPngScale, 72.0 / 96.0),
           png.path(), add_drawing);

  const std::string complaint = run_gnuplot(script.text());
  if (!complaint.empty()) store::throw_unwritable(svg_name, complaint);
  expect_ending(svg.path(), "</svg>", svg_name);
  expect_ending(png.path(), "IEND\xAE\x42\x60\x82", png_name);
  svg.commit();
  png.commit();
}

}  // namespace dewpoint::report
