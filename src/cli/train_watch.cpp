#include "cli/train_watch.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <variant>

#include "cli/console.hpp"

namespace dewpoint::cli {
namespace {

using TrainClock = std::chrono::steady_clock;
constexpr std::chrono::seconds kKeptEvery{30};
constexpr std::chrono::milliseconds kDrawnEvery{100};

}  // namespace

void Keeper::keep() {
  write_();
  last_ = TrainClock::now();
}

void Keeper::keep_sometimes() {
  if (TrainClock::now() - last_ > kKeptEvery) keep();
}

LiveView::LiveView(bool wanted) : on_(wanted && isatty(STDOUT_FILENO) == 1) {
  if (wanted && !on_) tell("dewpoint: --live needs a terminal; going on without");
}

void LiveView::show(const std::function<std::string()>& draw) {
  if (!on_ || TrainClock::now() - last_ < kDrawnEvery) return;
  last_ = TrainClock::now();
  fmt::print("\033[H\033[2J{}", draw());
  std::fflush(stdout);
}

std::vector<std::string> draw_figures(const std::vector<report::TrainingFigure>& figures,
                                      const store::StudyRecord& study, const OutputFile& folder) {
  std::vector<std::string> files;
  for (const report::TrainingFigure& figure : figures) {
    const std::filesystem::path stem = folder.path / figure.name;
    report::Figure drawn = figure.figure_of(study);
    report::set_title(drawn, figure.title);
    std::visit([&](const auto& any) { draw(any, folder.beside(stem)); }, drawn);
    files.push_back(stem.string() + ".png");
    files.push_back(stem.string() + ".svg");
  }
  return files;
}

}  // namespace dewpoint::cli
