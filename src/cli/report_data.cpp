#include "cli/report_data.hpp"

#include <fmt/format.h>

#include <thread>
#include <variant>

#include "cli/study_record.hpp"
#include "dewpoint/core/blas.hpp"
#include "dewpoint/core/build_info.hpp"
#include "dewpoint/core/kernels.hpp"
#include "dewpoint/report/figure_json.hpp"

namespace dewpoint::cli {
namespace {

using Json = nlohmann::ordered_json;

// 64 bits of a seed do not fit into a number of JavaScript.
std::string seed_text(std::uint64_t seed) { return std::to_string(seed); }

Json origin(const store::StudyRecord& study, const std::filesystem::path& file) {
  Json parameters = Json::array();
  for (const auto& [name, value] : study.parameters) {
    parameters.push_back(Json::array({name, value}));
  }
  return {{"study", file.filename().string()}, {"command", study.command},
          {"experiment", study.experiment},    {"parameters", parameters},
          {"seed", seed_text(study.seed)},     {"version", study.version},
          {"created", study.created}};
}

}  // namespace

Json figure_entry(const FigureText& text, const report::Figure& figure,
                  const store::StudyRecord& study, const std::filesystem::path& file) {
  const std::string caption = std::visit([](const auto& any) { return any.caption; }, figure);
  return {{"id", text.id},
          {"group", text.group},
          {"title", text.title},
          {"see", text.see},
          {"paper", text.paper},
          {"claims", text.claims},
          {"verdicts", text.verdicts},
          {"caption", caption},
          {"origin", origin(study, file)},
          {"figure", report::to_json(figure)}};
}

Json certificate_entry(const Examination& examination, const std::vector<Examined>& rows) {
  Json list = Json::array();
  for (const Examined& row : rows) list.push_back(as_json(row));
  return {{"effort", effort_name(examination)},
          {"seed", seed_text(examination.seed)},
          {"version", full_version()},
          {"rows", list}};
}

std::pair<std::string, std::string> version_line() {
  return {"Dewpoint",
          fmt::format("{} ({}), built with {}", full_version(), commit_date(), compiler())};
}

std::pair<std::string, std::string> machine_line() {
  return {"Machine",
          fmt::format("{}, {} core(s), SIMD {}, {}", processor_name(),
                      std::thread::hardware_concurrency(), simd_target(), blas_description())};
}

Json page_data(const ReportPage& page) {
  Json not_run = Json::array();
  for (const NotRun& study : page.not_run) {
    not_run.push_back({{"name", study.name}, {"title", study.title}, {"command", study.command}});
  }
  Json footer = Json::array();
  for (const auto& [label, value] : page.footer) {
    footer.push_back({{"label", label}, {"value", value}});
  }
  return {{"title", page.title},     {"intro", page.intro},
          {"figures", page.figures}, {"certificate", page.certificate},
          {"errata", page.errata},   {"not_run", not_run},
          {"footer", footer}};
}

}  // namespace dewpoint::cli
