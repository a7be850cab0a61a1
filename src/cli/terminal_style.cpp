#include "cli/terminal_style.hpp"

#include <unistd.h>

#include <cstdlib>
#include <sstream>

#include "cli/console.hpp"

namespace dewpoint::cli {

report::TerminalStyle terminal_style() {
  report::TerminalStyle style;
  const bool terminal = isatty(STDOUT_FILENO) == 1;
  if (terminal) style.width = terminal_size().columns;
  style.colours = report::terminal_colours(terminal, std::getenv("NO_COLOR"),
                                           std::getenv("COLORTERM"), std::getenv("TERM"));
  return style;
}

std::string indented(const std::string& paragraph, std::size_t margin, std::size_t width) {
  std::string text, line(margin, ' ');
  std::istringstream words(paragraph);
  for (std::string word; words >> word;) {
    const bool begins = line.size() == margin;
    if (!begins && line.size() + 1 + word.size() > width) {
      text += line + "\n";
      line.assign(margin, ' ');
    }
    if (line.size() > margin) line += ' ';
    line += word;
  }
  return text + line;
}

}  // namespace dewpoint::cli
