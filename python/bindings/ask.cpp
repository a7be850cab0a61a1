// The verb runs on a thread of its own, without Python's lock. The thread that asked waits, and
// between two looks at the work lets Python see to signals and tells the user how far it is: so
// Ctrl-C ends the work, and a callback runs where the user expects it.
//
// SPDX-License-Identifier: Apache-2.0
#include "ask.hpp"

#include <fmt/format.h>
#include <pybind11/stl.h>

#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "array.hpp"
#include "cli/console.hpp"
#include "cli/program.hpp"
#include "dewpoint/core/error.hpp"
#include "frames.hpp"

namespace dewpoint::python {
namespace {

using cli::Answer;
using cli::Given;
using cli::Words;

constexpr std::chrono::milliseconds kLook{50};

/// One verb at work.
class Work {
 public:
  Work(Words words, Given given)
      : thread_([this, words = std::move(words), given = std::move(given)] { run(words, given); }) {
  }

  /// Waits for the end, at most until the next look; true when it is over.
  bool wait() {
    const py::gil_scoped_release unlocked;
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, kLook, [&] { return over_; });
  }

  struct News {
    std::string label;
    double done, total;
  };
  /// The latest, once.
  std::optional<News> progress() {
    const std::lock_guard lock(mutex_);
    return std::exchange(progress_, std::nullopt);
  }
  std::vector<std::string> notes() {
    const std::lock_guard lock(mutex_);
    return std::exchange(notes_, {});
  }

  /// Waits for the end, having asked for it.
  void stop() {
    const py::gil_scoped_release unlocked;
    stop_.request_stop();
    thread_.join();
  }

  /// Throws what the work threw. Domain: it is over.
  const Answer& answer() {
    if (error_) std::rethrow_exception(error_);
    return answer_;
  }

 private:
  void run(const Words& words, const Given& given) {
    const cli::Listener listener(
        stop_.get_token(),
        [this](const std::string& label, double done, double total) {
          const std::lock_guard lock(mutex_);
          progress_ = News{label, done, total};
        },
        [this](const std::string& note) {
          const std::lock_guard lock(mutex_);
          notes_.push_back(note);
        });
    try {
      answer_ = cli::ask_program(words, given);
    } catch (...) {
      error_ = std::current_exception();
    }
    const std::lock_guard lock(mutex_);
    over_ = true;
    changed_.notify_all();
  }

  std::stop_source stop_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool over_ = false;
  std::optional<News> progress_;
  std::vector<std::string> notes_;
  Answer answer_;
  std::exception_ptr error_;
  std::jthread thread_;  // the last: it uses all others
};

// What a run that was interrupted has to say, such as where it can be gone on with.
[[noreturn]] void throw_interrupted(Work& work) {
  try {
    (void)work.answer();
  } catch (const Error& error) {
    if (error.code() == Code::stopped && std::string(error.what()) != kStoppedOnRequest) {
      PyErr_Clear();
      PyErr_SetString(PyExc_KeyboardInterrupt, error.what());
    }
  }
  throw py::error_already_set();
}

void look_at_signals(Work& work) {
  if (PyErr_CheckSignals() == 0) return;
  PyObject *type = nullptr, *value = nullptr, *trace = nullptr;
  PyErr_Fetch(&type, &value, &trace);
  work.stop();
  PyErr_Restore(type, value, trace);
  throw_interrupted(work);
}

void tell_progress(Work& work, const py::object& progress) {
  const auto news = work.progress();
  if (!news || progress.is_none() || !(news->total > 0.0)) return;
  try {
    progress(news->done / news->total, news->label);
  } catch (...) {
    work.stop();
    throw;
  }
}

void tell_notes(Work& work) {
  for (const std::string& note : work.notes()) {
    if (PyErr_WarnEx(PyExc_UserWarning, note.c_str(), 1) == 0) continue;
    PyObject *type = nullptr, *value = nullptr, *trace = nullptr;
    PyErr_Fetch(&type, &value, &trace);
    work.stop();
    PyErr_Restore(type, value, trace);
    throw py::error_already_set();
  }
}

py::tuple ask(Words words, const py::object& progress, Given given) {
  Work work(std::move(words), std::move(given));
  for (bool over = false; !over;) {
    over = work.wait();
    look_at_signals(work);
    tell_progress(work, progress);
    tell_notes(work);
  }
  const Answer& answer = work.answer();
  py::list frames;
  for (const Frame& frame : answer.frames) frames.append(to_python(frame));
  return py::make_tuple(to_python(answer.json), answer.text, frames);
}

// ---- arrays in the place of files ---------------------------------------------------------------

std::shared_ptr<const Matrix<double>> matrix_given(const py::object& object, const char* argument) {
  if (object.is_none()) return nullptr;
  return std::make_shared<Matrix<double>>(matrix_of(array_of(object, argument, {2})));
}

/// The tensors of heads by their names in a dump, in place; the arrays outlive the call.
std::shared_ptr<const checkpoint::DumpPieces> heads_given(
    const std::vector<std::pair<std::string, Array>>& tensors,
    const std::map<std::string, std::string>& metadata) {
  if (tensors.empty()) return nullptr;
  auto pieces = std::make_shared<checkpoint::DumpPieces>();
  for (const auto& [name, array] : tensors) {
    pieces->pieces.push_back({name, "arrays", tensor_of(array, name)});
  }
  pieces->metadata = metadata;
  return pieces;
}

Array head_array(const py::object& object, const std::string& argument) {
  Array array = array_of(object, argument.c_str());
  if (array.contiguous()) return array;
  throw py::value_error(fmt::format(
      "{}: its numbers do not follow each other in memory; pass a contiguous array", argument));
}

}  // namespace

void bind_ask(py::module_& module) {
  module.def(
      "ask",
      [](Words words, const py::object& progress, const py::object& scores,
         const py::object& tokens) {
        return ask(std::move(words), progress,
                   {nullptr, matrix_given(scores, "scores"), matrix_given(tokens, "tokens")});
      },
      py::arg("words"), py::arg("progress") = py::none(), py::arg("scores") = py::none(),
      py::arg("tokens") = py::none(),
      "A verb and its options, as behind `dewpoint`: (content, text, frames).");
  module.def(
      "ask_heads",
      [](Words words, const py::object& progress, const py::dict& arrays,
         const std::map<std::string, std::string>& metadata) {
        std::vector<std::pair<std::string, Array>> tensors;
        for (const auto& [name, object] : arrays) {
          const auto text = name.cast<std::string>();
          tensors.emplace_back(text, head_array(py::reinterpret_borrow<py::object>(object), text));
        }
        return ask(std::move(words), progress, {heads_given(tensors, metadata), nullptr, nullptr});
      },
      py::arg("words"), py::arg("progress"), py::arg("arrays"), py::arg("metadata"),
      "The verb `heads` on arrays in the place of a dump.");
  module.def(
      "run_program", [](Words words) { return cli::run_program(std::move(words)); },
      py::arg("words"), py::call_guard<py::gil_scoped_release>(),
      "The command line itself; the exit status.");
}

}  // namespace dewpoint::python
