#include "dewpoint/server/study_runs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "dewpoint/server/question.hpp"
#include "dewpoint/server/refusal.hpp"
#include "dewpoint/store/sweep_file.hpp"
#include "dewpoint/studies/local_workers.hpp"
#include "dewpoint/studies/recorded_run.hpp"

namespace dewpoint::server {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::milliseconds kTellEvery{250};
constexpr std::size_t kMostOverrides = 64;

const char* name_of(RunState state) {
  switch (state) {
    case RunState::waiting:
      return "waiting";
    case RunState::running:
      return "running";
    case RunState::finished:
      return "finished";
    case RunState::stopped:
      return "stopped";
    case RunState::failed:
      return "failed";
  }
  return "";
}

std::vector<std::string> overrides_of(const Json& body) {
  const auto found = body.find("set");
  if (found == body.end() || found->is_null()) return {};
  const bool texts =
      found->is_array() && found->size() <= kMostOverrides &&
      std::all_of(found->begin(), found->end(), [](const Json& one) { return one.is_string(); });
  if (!texts) throw Refusal(400, "set: is not a short array of key=value", "set");
  return found->get<std::vector<std::string>>();
}

void refuse_file(const std::string& name, const std::string& word) {
  std::error_code ignored;
  const bool named = word.find('/') != std::string::npos || fs::exists(word, ignored);
  if (!named) return;
  throw Refusal(
      400,
      fmt::format("text: parameter {} names the file '{}'; files are for the command line", name,
                  word.substr(0, 80)),
      "text");
}

std::string text_of(const fs::path& file) {
  std::ifstream stream(file);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

studies::StudyText parsed(const std::string& text, const std::string& name,
                          const std::vector<std::string>& overrides) {
  if (text.size() > studies::kMostFileBytes) {
    throw Refusal(
        400, fmt::format("text: {} bytes are more than {}", text.size(), studies::kMostFileBytes),
        "text");
  }
  try {
    studies::StudyText study = studies::parse_study_text(text, name, overrides);
    require_contained(study);
    return study;
  } catch (const Error& error) {
    throw Refusal(400, error.what(), "text");
  }
}

}  // namespace

void require_contained(const studies::StudyText& study) {
  if (!study.exports.empty() || !study.figures.empty()) {
    throw Refusal(400,
                  "text: exports and figures are not made here; leave out outputs.exports and "
                  "outputs.figures, or use the command line",
                  "text");
  }
  for (const auto& [name, value] : study.fixed) refuse_file(name, studies::value_text(value));
  for (const studies::GridAxis& axis : study.grid) {
    for (const std::string& word : axis.words) refuse_file(axis.name, word);
  }
}

bool is_over(RunState state) { return state != RunState::waiting && state != RunState::running; }

// ---- one run ------------------------------------------------------------------------------------

RunStatus StudyRun::status() const {
  const std::lock_guard lock(mutex_);
  return status_;
}

RunStatus StudyRun::wait(std::uint64_t version, Clock::time_point deadline) const {
  std::unique_lock lock(mutex_);
  changed_.wait_until(lock, deadline, [&] { return status_.version != version; });
  return status_;
}

RunStatus StudyRun::wait_for_work(Clock::time_point deadline) const {
  std::unique_lock lock(mutex_);
  changed_.wait_until(lock, deadline,
                      [&] { return is_over(status_.state) || status_.progress.planned > 0; });
  return status_;
}

Json StudyRun::to_json() const {
  const RunStatus now = status();
  const double work = now.progress.work_done + now.progress.work_left;
  const bool complete = now.state == RunState::finished;
  return {{"run", id_},
          {"file", file_},
          {"experiment", study_.experiment},
          {"state", name_of(now.state)},
          {"finished", now.progress.finished},
          {"planned", now.progress.planned},
          {"progress", complete     ? 1.0
                       : work > 0.0 ? now.progress.work_done / work
                                    : 0.0},
          {"work_seconds", now.work_seconds},
          {"error", now.error.empty() ? Json() : Json(now.error)},
          {"command", command_}};
}

void StudyRun::cancel() {
  {
    const std::lock_guard lock(mutex_);
    if (status_.state == RunState::waiting) {
      status_.state = RunState::stopped;
      ++status_.version;
      changed_.notify_all();
    }
  }
  stop_.request_stop();
}

bool StudyRun::begin() {
  const std::lock_guard lock(mutex_);
  if (status_.state != RunState::waiting) return false;
  status_.state = RunState::running;
  ++status_.version;
  changed_.notify_all();
  return true;
}

void StudyRun::set_progress(const studies::RunProgress& progress) {
  const std::lock_guard lock(mutex_);
  status_.progress = progress;
  const auto now = Clock::now();
  if (now - told_ < kTellEvery) return;
  told_ = now;
  ++status_.version;
  changed_.notify_all();
}

void StudyRun::end(const studies::RunOutcome& outcome) {
  const std::lock_guard lock(mutex_);
  status_.state = outcome.stopped ? RunState::stopped : RunState::finished;
  status_.progress.finished = outcome.finished;
  status_.progress.planned = outcome.planned;
  status_.work_seconds = outcome.seconds;
  ++status_.version;
  changed_.notify_all();
}

void StudyRun::fail(const std::string& error) {
  const std::lock_guard lock(mutex_);
  status_.state = RunState::failed;
  status_.error = one_line(error);
  ++status_.version;
  changed_.notify_all();
}

// ---- all of them --------------------------------------------------------------------------------

StudyRuns::StudyRuns(const StudyFolder& folder, int threads)
    : folder_(folder),
      threads_(threads),
      worker_([this](const std::stop_token& over) { work(over); }) {}

StudyRuns::~StudyRuns() {
  worker_.request_stop();
  const std::lock_guard lock(mutex_);
  for (const auto& run : runs_) run->cancel();
}

std::shared_ptr<StudyRun> StudyRuns::put(studies::StudyText study, const std::string& file,
                                         const std::string& command) {
  std::shared_ptr<StudyRun> run;
  {
    const std::lock_guard lock(mutex_);
    const auto same_file = [&](const auto& one) {
      return one->file() == file && !is_over(one->status().state);
    };
    if (std::any_of(runs_.begin(), runs_.end(), same_file)) {
      throw Refusal(409, fmt::format("file: '{}' runs already", file), "file");
    }
    const auto waiting = std::count_if(runs_.begin(), runs_.end(), [](const auto& one) {
      return one->status().state == RunState::waiting;
    });
    if (waiting >= static_cast<std::ptrdiff_t>(kMostWaiting)) {
      throw Refusal(503, fmt::format("{} studies wait already; try again", waiting));
    }
    run = std::make_shared<StudyRun>(fmt::format("r{}", ++count_), file, std::move(study), command);
    runs_.push_back(run);
    const auto old = std::find_if(runs_.begin(), runs_.end(),
                                  [](const auto& one) { return is_over(one->status().state); });
    if (runs_.size() > kMostKept && old != runs_.end()) runs_.erase(old);
  }
  changed_.notify_all();
  return run;
}

std::shared_ptr<StudyRun> StudyRuns::start(const Json& body) {
  refuse_unknown_fields(body, {"client", "text", "source", "file", "set"});
  (void)body_client(body);
  if (body.contains("text") == body.contains("source")) {
    throw Refusal(400, "text: give text or source, one of them", "text");
  }
  const bool stored = body.contains("source");
  const std::string source = stored ? body_text(body, "source", 255) : "text";
  const std::string text = stored ? text_of(folder_.existing(source, {".toml"}))
                                  : body_text(body, "text", studies::kMostFileBytes);
  const std::vector<std::string> overrides = overrides_of(body);
  studies::StudyText study = parsed(text, source, overrides);
  std::string standard = study.study;
  if (standard.empty()) {
    standard = stored ? fs::path(source).replace_extension(".study").generic_string()
                      : study.experiment + ".study";
  }
  const std::string file = body_text(body, "file", 255, standard);
  study.study = folder_.writable(file, ".study").string();
  std::string command = "dewpoint run " + (stored ? shell_word(folder_.prefix() + source)
                                                  : std::string("study.toml"));
  for (const std::string& one : overrides) command += " -S " + shell_word(one);
  command += " -o " + shell_word(folder_.prefix() + file);
  return put(std::move(study), file, command);
}

std::shared_ptr<StudyRun> StudyRuns::resume(const Json& body) {
  refuse_unknown_fields(body, {"client", "file"});
  (void)body_client(body);
  const std::string file = body_text(body, "file", 255);
  const fs::path path = folder_.existing(file, {".study"});
  store::StudySummary summary;
  try {
    summary = store::summarise(path);
  } catch (const Error& error) {
    throw Refusal(400, fmt::format("file: '{}' is not a study that can be read", file), "file");
  }
  if (!summary.sweep) {
    throw Refusal(409, fmt::format("file: '{}' is a finished result, not a run", file), "file");
  }
  if (summary.running && active(file) == nullptr) {
    throw Refusal(409, fmt::format("file: '{}' is being run by another program", file), "file");
  }
  studies::StudyText study = parsed(summary.text, file, {});
  study.study = path.string();
  return put(std::move(study), file, summary.command);
}

std::shared_ptr<StudyRun> StudyRuns::cancel(const Json& body) {
  refuse_unknown_fields(body, {"client", "file"});
  (void)body_client(body);
  const std::string file = body_text(body, "file", 255);
  const auto run = active(file);
  if (run == nullptr) {
    throw Refusal(409, fmt::format("file: '{}' is not run by this server", file.substr(0, 80)),
                  "file");
  }
  run->cancel();
  return run;
}

std::shared_ptr<StudyRun> StudyRuns::find(const std::string& id) const {
  const std::lock_guard lock(mutex_);
  const auto found =
      std::find_if(runs_.begin(), runs_.end(), [&](const auto& run) { return run->id() == id; });
  return found == runs_.end() ? nullptr : *found;
}

std::shared_ptr<StudyRun> StudyRuns::active(const std::string& file) const {
  const std::lock_guard lock(mutex_);
  const auto found = std::find_if(runs_.begin(), runs_.end(), [&](const auto& run) {
    return run->file() == file && !is_over(run->status().state);
  });
  return found == runs_.end() ? nullptr : *found;
}

Json StudyRuns::to_json() const {
  const std::lock_guard lock(mutex_);
  Json runs = Json::array();
  for (auto run = runs_.rbegin(); run != runs_.rend(); ++run) runs.push_back((*run)->to_json());
  return {{"runs", runs}};
}

void StudyRuns::work(const std::stop_token& over) {
  const auto waits = [](const auto& run) { return run->status().state == RunState::waiting; };
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, over, [&] { return std::any_of(runs_.begin(), runs_.end(), waits); });
    if (over.stop_requested()) return;
    const std::shared_ptr<StudyRun> next = *std::find_if(runs_.begin(), runs_.end(), waits);
    lock.unlock();
    if (next->begin()) run(*next);
    lock.lock();
  }
}

void StudyRuns::run(StudyRun& run) const {
  try {
    const studies::Experiment& experiment = studies::experiment_named(run.study().experiment);
    const auto workers = studies::local_workers(experiment, run.study().seed, threads_);
    studies::RunOptions options;
    options.stop = run.stop_token();
    options.progress = [&run](const studies::RunProgress& now) { run.set_progress(now); };
    run.end(studies::run_recorded(run.study(), *workers, run.command(), options));
  } catch (const std::exception& error) {
    const auto* known = dynamic_cast<const Error*>(&error);
    if (known != nullptr && known->code() == Code::stopped) {
      run.end({.stopped = true});
    } else {
      run.fail(folder_.without_root(error.what()));
    }
  }
}

}  // namespace dewpoint::server
