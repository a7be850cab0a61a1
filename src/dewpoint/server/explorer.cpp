#include "dewpoint/server/explorer.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <charconv>
#include <cstring>
#include <thread>

#include "dewpoint/core/build_info.hpp"
#include "dewpoint/core/error.hpp"
#include "dewpoint/server/access_rules.hpp"
#include "dewpoint/server/answer_cache.hpp"
#include "dewpoint/server/event_feed.hpp"
#include "dewpoint/server/explorer_page.hpp"
#include "dewpoint/server/http_front.hpp"
#include "dewpoint/server/job_queue.hpp"
#include "dewpoint/server/json_body.hpp"
#include "dewpoint/server/refusal.hpp"
#include "dewpoint/server/room.hpp"
#include "dewpoint/server/router.hpp"
#include "dewpoint/server/study_folder.hpp"
#include "dewpoint/server/study_runs.hpp"
#include "dewpoint/server/study_views.hpp"
#include "dewpoint/store/study.hpp"
#include "dewpoint/studies/experiment.hpp"

namespace dewpoint::server {
namespace {

using httplib::Request;
using httplib::Response;

constexpr std::chrono::milliseconds kFirstAnswer{80};
constexpr const char* kJson = "application/json; charset=utf-8";
constexpr const char* kNothingElse = "default-src 'none'; frame-ancestors 'none'";

// ---- answers ------------------------------------------------------------------------------------

void send(Response& response, const Json& json, int status = 200) {
  response.status = status;
  response.set_content(json.dump(-1, ' ', false, Json::error_handler_t::replace), kJson);
}

void send(Response& response, const std::string& json, int status) {
  response.status = status;
  response.set_content(json, kJson);
}

void send_refusal(Response& response, const Refusal& refusal) {
  Json json = {{"error", refusal.what()},
               {"field", refusal.field().empty() ? Json() : Json(refusal.field())}};
  if (!refusal.command().empty()) json["command"] = refusal.command();
  if (refusal.status() == 503) response.set_header("Retry-After", "1");
  if (refusal.status() == 401) response.set_header("WWW-Authenticate", "Bearer");
  send(response, json, refusal.status());
}

/// A status that the library itself decided on, as one line.
std::string status_text(int status) {
  switch (status) {
    case 400:
      return "request: is not HTTP that can be read";
    case 404:
      return "path: there is nothing here";
    case 414:
      return "address: is too long";
    default:
      return fmt::format("request: was not answered ({})", status);
  }
}

httplib::Headers standing_headers() {
  return {{"X-Content-Type-Options", "nosniff"},
          {"Referrer-Policy", "no-referrer"},
          {"Cross-Origin-Resource-Policy", "same-origin"},
          {"Cache-Control", "no-store"},
          {"Content-Security-Policy", kNothingElse}};
}

std::string required_parameter(const Request& request, const char* name) {
  if (!request.has_param(name)) {
    throw Refusal(400, fmt::format("{}: is missing in the address", name), name);
  }
  return request.get_param_value(name);
}

std::uint64_t sequence_in(const std::string& text) {
  std::uint64_t sequence = 0;
  std::from_chars(text.data(), text.data() + text.size(), sequence);
  return sequence;
}

std::string bytes_of(const std::vector<double>& numbers) {
  static_assert(std::endian::native == std::endian::little);
  std::string bytes(numbers.size() * sizeof(double), '\0');
  std::memcpy(bytes.data(), numbers.data(), bytes.size());
  return bytes;
}

/// Without SO_REUSEPORT, which the library sets and with which a second server would take half of
/// our connections.
void keep_port_alone(socket_t socket) {
  const int yes = 1;
  setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
}

AccessRules rules_of(const ExplorerOptions& options) {
  const AccessRules rules{options.host, options.port, options.token};
  if (!options.token.empty()) require_token(options.token);
  if (!is_loopback(options.host) && options.token.empty()) {
    throw Error(Code::bad_value,
                fmt::format("host: '{}' is beyond this machine and needs a token", options.host));
  }
  return rules;
}

int threads_of(int wanted) {
  return wanted > 0 ? wanted : std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

QueueLimits limits_of(int threads) {
  QueueLimits limits;
  limits.workers = static_cast<std::size_t>(threads);
  return limits;
}

}  // namespace

class Explorer::Parts {
 public:
  explicit Parts(const ExplorerOptions& options)
      : rules_(rules_of(options)),
        threads_(threads_of(options.threads)),
        folder_(options.folder),
        rooms_(make_rooms(folder_)),
        cache_(kCacheBytes),
        queue_(limits_of(threads_)),
        runs_(folder_, std::max(1, threads_ - 1)) {
    add_routes();
    set_up_front();
  }

  int bind() {
    const int port = rules_.port == 0 ? front_.bind_to_any_port(rules_.host)
                     : front_.bind_to_port(rules_.host, rules_.port) ? rules_.port
                                                                     : -1;
    if (port <= 0) {
      throw Error(
          Code::unwritable_file,
          fmt::format("port: {} is not free on {}; --port 0 takes any", rules_.port, rules_.host));
    }
    rules_.port = port;
    return port;
  }

  void listen() { front_.answer(); }
  void stop() { front_.end(); }

 private:
  // ---- the front --------------------------------------------------------------------------------

  void set_up_front() {
    front_.set_socket_options(keep_port_alone);
    front_.set_tcp_nodelay(true);
    front_.set_payload_max_length(kMostBodyBytes);
    front_.set_default_headers(standing_headers());
    front_.set_pre_routing_handler([this](const Request& request, Response& response) {
      return admit(request, response) ? httplib::Server::HandlerResponse::Unhandled
                                      : httplib::Server::HandlerResponse::Handled;
    });
    front_.set_error_handler([](const Request&, Response& response) {
      if (response.body.empty())
        send_refusal(response, {response.status, status_text(response.status)});
    });
    const httplib::Server::Handler answer = [this](const Request& request, Response& response) {
      this->answer(request, response);
    };
    front_.Get("/.*", answer);
    front_.Post("/.*", answer);
    front_.Delete("/.*", answer);
  }

  /// False: answered already, before the body was read.
  bool admit(const Request& request, Response& response) const {
    if (const auto refusal = HttpFront::refusal_of_head(request)) {
      send_refusal(response, *refusal);
      return false;
    }
    const RequestFacts facts{request.method,
                             request.get_header_value("Host"),
                             request.get_header_value("Origin"),
                             request.get_header_value("Authorization"),
                             request.get_header_value("Cookie"),
                             request.get_header_value("Content-Type")};
    const auto denied = denial(rules_, facts);
    const bool token_would_help = !denied || denied->status == 401;
    if (token_would_help && comes_by_link(request)) {
      response.set_header("Set-Cookie", rules_.cookie());
      send_page(response, welcome_page());
      return false;
    }
    if (denied) {
      send_refusal(response, {denied->status, denied->reason});
      if (denied->status == 401 && is_for_a_person(request)) send_page(response, locked_page());
      return false;
    }
    if (request.path.size() > kMostPathBytes) {
      send_refusal(response, {414, status_text(414)});
      return false;
    }
    const bool known = request.method == "GET" || request.method == "HEAD" ||
                       request.method == "POST" || request.method == "DELETE";
    if (!known) {
      response.set_header("Allow", "GET, HEAD, POST, DELETE");
      send_refusal(response, {405, "method: is not for this server"});
    }
    return known;
  }

  static bool is_for_a_person(const Request& request) {
    return request.method == "GET" && request.path == "/";
  }

  /// The link that is printed, with the right token.
  [[nodiscard]] bool comes_by_link(const Request& request) const {
    return !rules_.token.empty() && is_for_a_person(request) && request.has_param("token") &&
           equal_in_constant_time(request.get_param_value("token"), rules_.token);
  }

  void answer(const Request& request, Response& response) const {
    try {
      router_.route(request, response);
    } catch (const Refusal& refusal) {
      send_refusal(response, refusal);
    } catch (const Error& error) {
      send_refusal(response, refusal_of({error.code(), folder_.without_root(error.what())}));
    } catch (const std::exception& error) {
      send_refusal(response, {500, folder_.without_root(error.what())});
    }
  }

  void add_routes() {
    const auto get = [this](const char* path, RouteHandler handler) {
      router_.add("GET", path, std::move(handler));
    };
    const auto post = [this](const std::string& path, RouteHandler handler) {
      router_.add("POST", path, std::move(handler));
    };
    get("/",
        [](const PathParts&, const Request&, Response& to) { send_page(to, explorer_page()); });
    get("/favicon.ico", [](const PathParts&, const Request&, Response& to) { to.status = 204; });
    get("/api/about",
        [this](const PathParts&, const Request&, Response& to) { send(to, about_json()); });
    get("/api/rooms", [this](const PathParts&, const Request&, Response& to) {
      Json rooms = Json::array();
      for (const auto& room : rooms_) rooms.push_back(room->to_json());
      send(to, Json{{"rooms", rooms}});
    });
    for (const auto& room : rooms_) {
      post("/api/" + room->name(),
           [this, &room](const PathParts&, const Request& from, Response& to) {
             ask(*room, parse_body(from.body), to);
           });
    }
    add_job_routes();
    add_study_routes();
  }

  static void send_page(Response& response, const ServedPage& page) {
    response.headers.erase("Content-Security-Policy");
    response.set_header("Content-Security-Policy", page.policy);
    response.set_content(page.html, "text/html; charset=utf-8");
  }

  [[nodiscard]] Json about_json() const {
    Json experiments = Json::array();
    for (const studies::Experiment* one : studies::experiments()) {
      experiments.push_back(one->name());
    }
    const QueueLimits limits;
    const JobQueue::Counts counts = queue_.counts();
    return {{"version", full_version()},
            {"threads", threads_},
            {"directory", folder_.name()},
            {"token", !rules_.token.empty()},
            {"limits",
             {{"body", kMostBodyBytes},
              {"streams", kMostStreams},
              {"waiting", limits.waiting},
              {"seconds", limits.longest.count() / 1000},
              {"grace", limits.grace.count() / 1000}}},
            {"now",
             {{"waiting", counts.waiting},
              {"running", counts.running},
              {"jobs", counts.kept},
              {"streams", streams_.load()},
              {"cache_bytes", cache_.bytes()},
              {"cache_answers", cache_.size()}}},
            {"experiments", experiments}};
  }

  // ---- rooms ------------------------------------------------------------------------------------

  /// A question that is right; refusals name the field and, where it is only too large, the
  /// command.
  [[nodiscard]] Question checked_question(const Room& room, const Json& body) const {
    static const Json nothing = Json::object();
    const auto found = body.find("question");
    Question question(room.verb(), room.fields(), found == body.end() ? nothing : *found,
                      folder_.prefix());
    try {
      room.check(question);
    } catch (const TooLarge& refusal) {
      throw refusal.with_command(room.command(question));
    } catch (const Error& error) {
      throw refusal_of(error, question.names());
    }
    return question;
  }

  void ask(const Room& room, const Json& body, Response& response) {
    refuse_unknown_fields(body, {"client", "question"});
    const std::string client = body_client(body);
    const Question question = checked_question(room, body);
    const std::string key =
        fmt::format("{}\n{}\n{}", room.name(), question.key(), room.input_state(question));
    const auto job = [&](auto&&... answer) {
      return std::make_shared<Job>(queue_.next_id(), client, room.name(), question.values(),
                                   room.command(question), answer...);
    };
    std::shared_ptr<Job> asked;
    auto answer = cache_.find(key);
    if (answer && answer->is_complete()) {
      asked = job(std::move(answer));
      queue_.keep(asked);
    } else {
      asked = job();
      const std::size_t known = answer ? answer->level : 0;
      if (answer) asked->publish(std::move(answer));
      queue_.submit(asked, work_of(room, question, key, known));
    }
    const JobStatus status = first_answer(*asked);
    send(response, view_text(*asked, status, 0), status.sequence > 0 ? 200 : 202);
  }

  /// `known`: the level that the job begins with.
  [[nodiscard]] JobQueue::Work work_of(const Room& room, const Question& question,
                                       const std::string& key, std::size_t known) {
    return [this, &room, question, key, known](Job& job, const RunContext& context,
                                               const JobQueue::Yield& yield) {
      std::shared_ptr<const SentResult> last;
      try {
        room.answer(question, context, [&](Result&& result) {
          context.throw_if_stopped();
          last = sent(std::move(result));
          const bool is_news = last->level > known;
          if (is_news) job.publish(last);
          if (last->is_complete()) return;
          if (is_news && last->levels > 0) cache_.put(key, last);
          yield();
        });
      } catch (const Error& error) {
        throw Error(error.code(), folder_.without_root(error.what()));
      }
      if (last) cache_.put(key, last);
    };
  }

  static JobStatus first_answer(const Job& job) {
    const auto deadline = Clock::now() + kFirstAnswer;
    JobStatus status = job.status();
    while (status.sequence == 0 && !is_over(status.state) && Clock::now() < deadline) {
      status = job.wait(status.version, deadline);
    }
    return status;
  }

  // ---- jobs -------------------------------------------------------------------------------------

  [[nodiscard]] std::shared_ptr<Job> job_named(const std::string& id) const {
    auto job = queue_.find(id);
    if (job == nullptr) throw Refusal(404, "job: is not known, or forgotten; ask again", "job");
    job->touch();
    return job;
  }

  void add_job_routes() {
    router_.add("GET", "/api/jobs/*",
                [this](const PathParts& wild, const Request& from, Response& to) {
                  const auto job = job_named(wild[0]);
                  const std::uint64_t after =
                      from.has_param("after") ? sequence_in(from.get_param_value("after")) : 0;
                  send(to, view_text(*job, job->status(), after), 200);
                });
    router_.add("DELETE", "/api/jobs/*",
                [this](const PathParts& wild, const Request&, Response& to) {
                  const auto job = job_named(wild[0]);
                  job->cancel("asked for");
                  send(to, Json{{"job", job->id()}, {"state", name_of(job->status().state)}});
                });
    router_.add("GET", "/api/jobs/*/events",
                [this](const PathParts& wild, const Request& from, Response& to) {
                  const std::string after = from.has_param("after")
                                                ? from.get_param_value("after")
                                                : from.get_header_value("Last-Event-ID");
                  stream(to, [&] {
                    return std::make_shared<JobFeed>(job_named(wild[0]), sequence_in(after));
                  });
                });
    router_.add("GET", "/api/jobs/*/arrays/*",
                [this](const PathParts& wild, const Request&, Response& to) {
                  send_array(*job_named(wild[0]), wild[1], to);
                });
    router_.add("POST", "/api/jobs/*/save",
                [this](const PathParts& wild, const Request& from, Response& to) {
                  save(*job_named(wild[0]), parse_body(from.body), to);
                });
  }

  static void send_array(const Job& job, const std::string& name, Response& response) {
    const JobStatus status = job.status();
    const auto* arrays = status.result ? &status.result->arrays : nullptr;
    for (std::size_t k = 0; arrays != nullptr && k < arrays->size(); ++k) {
      const Array& array = (*arrays)[k];
      if (array.name != name) continue;
      response.set_header("X-Dewpoint-Type", "float64");
      response.set_header("X-Dewpoint-Shape", fmt::format("{}", fmt::join(array.shape, ",")));
      response.set_content(bytes_of(array.numbers), "application/octet-stream");
      return;
    }
    throw Refusal(404, fmt::format("array: the job has no '{}'", name.substr(0, 60)), "array");
  }

  /// Over a study of the same experiment, and over nothing else: here nobody can say --force.
  static void write_kept(const std::filesystem::path& path, const std::string& file,
                         const store::StudyRecord& study) {
    if (!std::filesystem::exists(path) || store::study_kind(study.experiment).is_ours(path)) {
      return store::write_study(path, study);
    }
    throw Refusal(400,
                  fmt::format("file: '{}' is not a study of '{}', and stays; choose another name",
                              file, study.experiment),
                  "file");
  }

  void save(const Job& job, const Json& body, Response& response) const {
    refuse_unknown_fields(body, {"client", "file", "replace"});
    (void)body_client(body);
    const std::string file = body_text(body, "file", 255);
    const auto path = folder_.writable(file, ".study");
    const JobStatus status = job.status();
    if (status.state != JobState::done) throw Refusal(409, "job: is not done", "job");
    if (!status.result->study) throw Refusal(409, "job: has nothing that can be kept", "job");
    const bool replace = body_flag(body, "replace");
    if (std::filesystem::exists(path) && !replace) {
      throw Refusal(409, fmt::format("file: '{}' is there already; replace it?", file), "file");
    }
    store::StudyRecord study = *status.result->study;
    study.command = job.command() + " -o " + shell_word(folder_.prefix() + file);
    write_kept(path, file, study);
    send(response, Json{{"file", file}, {"command", study.command}});
  }

  // ---- streams ----------------------------------------------------------------------------------

  /// `open` makes the feed once there is a seat for it.
  template <typename Open>
  void stream(Response& response, const Open& open) {
    if (streams_.fetch_add(1) >= kMostStreams) {
      streams_.fetch_sub(1);
      throw Refusal(503, fmt::format("{} streams are open already; poll instead", kMostStreams));
    }
    const std::shared_ptr<void> seat(nullptr, [this](void*) { streams_.fetch_sub(1); });
    const std::shared_ptr<Feed> feed = open();
    response.set_chunked_content_provider(
        "text/event-stream", [feed, seat](std::size_t, httplib::DataSink& sink) {
          const FeedPiece piece = feed->next();
          if (!piece.text.empty() && !sink.write(piece.text.data(), piece.text.size()))
            return false;
          if (piece.last) sink.done();
          return true;
        });
  }

  // ---- studies ----------------------------------------------------------------------------------

  [[nodiscard]] RunOfFile run_of_file() const {
    return [this](const std::string& file) {
      const auto run = runs_.active(file);
      return run == nullptr ? std::string() : run->id();
    };
  }

  [[nodiscard]] std::shared_ptr<StudyRun> run_named(const std::string& id) const {
    auto run = runs_.find(id);
    if (run == nullptr) throw Refusal(404, "run: is not known", "run");
    return run;
  }

  /// A run that fails at once (its text cannot be planned, its file is another study's) is refused.
  static void refuse_failed(const RunStatus& status) {
    if (status.state == RunState::failed) throw Refusal(400, status.error, "text");
  }

  void add_study_routes() {
    const auto get = [this](const char* path, Json (Parts::*view)(const Request&) const) {
      router_.add("GET", path, [this, view](const PathParts&, const Request& from, Response& to) {
        send(to, (this->*view)(from));
      });
    };
    get("/api/studies", &Parts::studies_view);
    get("/api/studies/summary", &Parts::summary_view);
    get("/api/studies/frame", &Parts::frame_view);
    get("/api/studies/figures", &Parts::figures_view);
    get("/api/studies/text", &Parts::text_view);
    get("/api/studies/template", &Parts::template_view);
    get("/api/runs", &Parts::runs_view);
    const auto change = [this](const char* path,
                               std::shared_ptr<StudyRun> (StudyRuns::*act)(const Json&)) {
      router_.add("POST", path, [this, act](const PathParts&, const Request& from, Response& to) {
        const auto run = (runs_.*act)(parse_body(from.body));
        refuse_failed(run->wait_for_work(Clock::now() + kFirstAnswer));
        send(to, run->to_json(), 202);
      });
    };
    change("/api/studies/run", &StudyRuns::start);
    change("/api/studies/resume", &StudyRuns::resume);
    change("/api/studies/cancel", &StudyRuns::cancel);
    router_.add("GET", "/api/runs/*", [this](const PathParts& wild, const Request&, Response& to) {
      send(to, run_named(wild[0])->to_json());
    });
    router_.add("GET", "/api/runs/*/events",
                [this](const PathParts& wild, const Request&, Response& to) {
                  stream(to, [&] { return std::make_shared<RunFeed>(run_named(wild[0])); });
                });
  }

  Json studies_view(const Request&) const { return studies_json(folder_, run_of_file()); }
  Json summary_view(const Request& from) const {
    return summary_json(folder_, required_parameter(from, "file"), run_of_file());
  }
  Json frame_view(const Request& from) const {
    return frame_json(folder_, required_parameter(from, "file"), required_parameter(from, "frame"));
  }
  Json figures_view(const Request& from) const {
    return figures_json(folder_, required_parameter(from, "file"));
  }
  Json text_view(const Request& from) const {
    return text_json(folder_, required_parameter(from, "file"));
  }
  Json template_view(const Request& from) const {
    return template_json(required_parameter(from, "experiment"));
  }
  Json runs_view(const Request&) const { return runs_.to_json(); }

  // The order is that of their ends, backwards: the front's threads use all the others.
  AccessRules rules_;
  const int threads_;
  const StudyFolder folder_;
  const std::vector<std::unique_ptr<Room>> rooms_;
  AnswerCache cache_;
  JobQueue queue_;
  StudyRuns runs_;
  std::atomic<std::size_t> streams_{0};
  Router router_;
  HttpFront front_{kMostStreams + kRequestThreads};
};

Explorer::Explorer(const ExplorerOptions& options) : parts_(std::make_unique<Parts>(options)) {}
Explorer::~Explorer() = default;
int Explorer::bind() { return parts_->bind(); }
void Explorer::listen() { parts_->listen(); }
void Explorer::stop() { parts_->stop(); }

}  // namespace dewpoint::server
