// Every room against the functions of the library that its verb calls.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <set>

#include "dewpoint/checkpoint/head_dump_writer.hpp"
#include "dewpoint/core/error.hpp"
#include "dewpoint/core/frame_json.hpp"
#include "dewpoint/core/random.hpp"
#include "dewpoint/diagnosis/head_diagnosis.hpp"
#include "dewpoint/diagnosis/head_survey.hpp"
#include "dewpoint/experiments/condense.hpp"
#include "dewpoint/experiments/dew.hpp"
#include "dewpoint/experiments/phase.hpp"
#include "dewpoint/experiments/phase_depth.hpp"
#include "dewpoint/experiments/query.hpp"
#include "dewpoint/experiments/train_question.hpp"
#include "dewpoint/scores/law_names.hpp"
#include "dewpoint/server/refusal.hpp"
#include "dewpoint/server/room.hpp"
#include "dewpoint/server/study_folder.hpp"
#include "dewpoint/studies/condense_theory.hpp"
#include "dewpoint/studies/query_theory.hpp"
#include "dewpoint/studies/recorded_run.hpp"

namespace dewpoint::server {
namespace {

std::vector<Result> answers(const Room& room, const Json& asked) {
  const Question question(room.verb(), room.fields(), asked);
  room.check(question);
  std::vector<Result> results;
  room.answer(question, {1, {}, {}}, [&](Result&& one) { results.push_back(std::move(one)); });
  return results;
}

/// To the last digit, and unknown numbers alike.
bool is_same(const Json& one, const Json& other) { return one.dump() == other.dump(); }

int refusal_status(const Room& room, const Json& asked) {
  try {
    const Question question(room.verb(), room.fields(), asked);
    room.check(question);
  } catch (const Refusal& refusal) {
    return refusal.status();
  } catch (const Error&) {
    return 400;
  }
  return 200;
}

TEST(PhaseRoom, GrowsToTheMapOfTheLibraryBitForBit) {
  const auto room = make_phase_room();
  const auto results = answers(*room, {{"n", 48},
                                       {"d", 16},
                                       {"rho", "0:0.9:10"},
                                       {"gamma", "0.25:4:16"},
                                       {"replicas", 2},
                                       {"seed", 7}});
  ASSERT_EQ(results.size(), 3u);
  studies::StudyText map;
  map.experiment = "phase";
  map.seed = 7;
  map.precision.replicas = 2;
  map.grid = {{"n", {48.0}}, {"d", {16.0}}, {"rho", {}}, {"gamma", {}}};
  for (int k = 0; k < 10; ++k) map.grid[2].values.push_back(k * (0.9 / 9.0));
  for (int k = 1; k <= 16; ++k) map.grid[3].values.push_back(0.25 * k);
  const Frame whole = studies::run_in_memory(map, 1, "").frames.at(0);
  EXPECT_TRUE(is_same(results[2].json["map"], to_json(whole)));
  EXPECT_TRUE(results[1].json["map"]["variables"].contains("critical_gamma_at_finite_d"));
  EXPECT_FALSE(results[0].json["map"]["variables"].contains("critical_gamma_at_finite_d"));
  // The coarse map is every fourth rho and eighth gamma of it.
  const Json& coarse = results[0].json["map"]["variables"]["contraction"]["mean"][0][0];
  const Json& fine = results[2].json["map"]["variables"]["contraction"]["mean"][0][0];
  ASSERT_EQ(coarse.size(), 3u);
  for (std::size_t r = 0; r < 3; ++r) {
    for (std::size_t g = 0; g < 2; ++g) EXPECT_EQ(coarse[r][g], fine[4 * r][8 * g]);
  }
  ASSERT_TRUE(results[2].study);
  EXPECT_EQ(results[2].study->experiment, "phase map");
  EXPECT_FALSE(results[1].study);
}

TEST(PhaseRoom, RefusesWhatIsTooLargeOrDoesNotFitTogether) {
  const auto room = make_phase_room();
  EXPECT_EQ(refusal_status(*room, {{"n", 2048}, {"d", 1024}, {"replicas", 64}}), 400);
  EXPECT_EQ(refusal_status(*room, {{"n", 100}, {"tokens", "two-level"}}), 400);  // 16 divides not
  EXPECT_EQ(refusal_status(*room, Json::object()), 200);
}

/// The questions that somebody asks who chooses one word of one menu and nothing else.
std::vector<Json> single_choices(const Room& room) {
  std::vector<Json> questions;
  for (const question::Field& field : room.fields().question) {
    for (const std::string& word : field.words) questions.push_back({{field.name, word}});
  }
  return questions;
}

TEST(PhaseRooms, TakeEveryChoiceOfEveryMenu) {
  for (const auto& room : {make_phase_room(), make_phase_cell_room(), make_phase_depth_room()}) {
    std::set<std::string> menus;
    for (const Json& asked : single_choices(*room)) {
      menus.insert(asked.begin().key());
      EXPECT_EQ(refusal_status(*room, asked), 200) << room->name() << asked;
    }
    EXPECT_EQ(menus, (std::set<std::string>{"tokens", "norm", "common", "eta"})) << room->name();
  }
}

// A map of clusters ends at their own correlation.
TEST(PhaseRooms, AnswerOnEveryLawOfTokens) {
  for (const auto& room : {make_phase_room(), make_phase_cell_room(), make_phase_depth_room()}) {
    for (Json asked : single_choices(*room)) {
      if (!asked.contains("tokens")) continue;
      asked["n"] = 32;
      if (room->name() == "phase") asked["gamma"] = "1,2";
      if (room->name() == "phase-depth") asked["layers"] = 2;
      const auto results = answers(*room, asked);
      ASSERT_FALSE(results.empty()) << room->name() << asked;
      if (room->name() != "phase") continue;
      const Json& rhos = results.back().json["map"]["dimensions"]["rho"];
      const bool clusters = asked["tokens"] == "two-level" || asked["tokens"] == "clustered";
      EXPECT_EQ(rhos.size(), clusters ? 17U : 20U) << asked;
      EXPECT_LE(rhos.back().get<double>(), clusters ? 0.8 : 0.95);
    }
  }
}

TEST(PhaseRoom, StopsInTheMiddle) {
  const auto room = make_phase_room();
  const Question question(room->verb(), room->fields(), Json::object());
  std::stop_source stop;
  std::size_t levels = 0;
  const auto stop_after_first = [&](Result&&) {
    ++levels;
    stop.request_stop();
  };
  try {
    room->answer(question, {1, stop.get_token(), {}}, stop_after_first);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::stopped);
  }
  EXPECT_EQ(levels, 1u);
}

TEST(PhaseCellRoom, HasTheNumbersOfThePointAndItsPictures) {
  const auto room = make_phase_cell_room();
  const auto results =
      answers(*room, {{"n", 32}, {"d", 8}, {"rho", 0.5}, {"gamma", 2}, {"seed", 3}, {"shown", 5}});
  ASSERT_EQ(results.size(), 1u);
  experiments::PhasePoint point;
  point.cloud.n = 32;
  point.cloud.d = 8;
  point.cloud.rho = 0.5;
  point.inverse_temperature = 2.0 * std::log(32.0);
  point.seed = 3;
  const Frame frame = experiments::phase_point(point);
  for (const Variable& variable : frame.variables()) {
    EXPECT_TRUE(is_same(results[0].json["observables"][variable.name], to_json(variable.cells[0])));
  }
  ASSERT_EQ(results[0].arrays.size(), 3u);
  EXPECT_EQ(results[0].arrays[0].name, "gram");
  for (std::size_t k = 0; k < 5; ++k) {
    EXPECT_NEAR(results[0].arrays[0].numbers[6 * k], 1.0, 1e-14);  // a cosine with itself
  }
  double sum = 0.0;
  for (std::size_t k = 0; k < 5; ++k) sum += results[0].arrays[1].numbers[k];
  EXPECT_GT(sum, 0.0);
  EXPECT_LT(sum, 1.0);
}

TEST(PhaseDepthRoom, HasTheFrameOfTheLibrary) {
  const auto room = make_phase_depth_room();
  const auto results =
      answers(*room, {{"n", 32}, {"d", 16}, {"layers", 4}, {"gamma", "1,2"}, {"seed", 5}});
  ASSERT_EQ(results.size(), 2u);
  experiments::PhaseDepth depth;
  depth.cloud.n = 32;
  depth.cloud.d = 16;
  depth.gamma = {1.0, 2.0};
  depth.layers = 4;
  depth.norm = {};
  depth.seed = 5;
  EXPECT_TRUE(is_same(results[1].json["depth"], to_json(experiments::phase_depth(depth))));
  EXPECT_EQ(results[0].json["depth"]["dimensions"]["gamma"], Json({2.0}));
}

TEST(CondenseRoom, HasTheFramesOfTheLibrary) {
  const auto room = make_condense_room();
  const auto results = answers(
      *room, {{"n", "1e3,1e30"}, {"t", {0.5, 1.5}}, {"signal", 0.9}, {"draws", 150}, {"seed", 2}});
  ASSERT_EQ(results.size(), 3u);
  experiments::Condense question;
  question.n = {1e3, 1e30};
  question.loads = {0.5, 1.5};
  question.signals = {0.9};
  question.draws = 150;
  question.seed = 2;
  EXPECT_TRUE(is_same(results[2].json["condense"], to_json(experiments::condense(question))));
  EXPECT_TRUE(is_same(results[2].json["theory"], to_json(studies::condense_theory(question, {}))));
  EXPECT_EQ(results[0].json["draws"], 50);
  EXPECT_EQ(refusal_status(*room, {{"signal", 1}, {"planted", 2}}), 400);
}

TEST(QueryRoom, HasTheFramesOfTheLibraryAndASphere) {
  const auto room = make_query_room();
  const auto results =
      answers(*room, {{"d", 3}, {"n", 200}, {"theta", "0.5,2"}, {"draws", 250}, {"seed", 2}});
  ASSERT_EQ(results.size(), 3u);
  EXPECT_TRUE(results[0].json["theory"].is_null());
  experiments::Query question;
  question.dimension = 3;
  question.n = {200.0};
  question.temperatures = {0.5, 2.0};
  question.draws = 250;
  question.seed = 2;
  question = experiments::resolved(question);
  EXPECT_TRUE(is_same(results[2].json["query"], to_json(experiments::query(question).means)));
  EXPECT_TRUE(is_same(results[2].json["theory"], to_json(studies::query_theory(question, {}))));
  ASSERT_EQ(results[2].arrays.size(), 2u);
  const Array& weights = results[2].arrays[1];
  EXPECT_EQ(weights.shape, (std::vector<std::size_t>{2, 200}));
  for (std::size_t row = 0; row < 2; ++row) {
    double sum = 0.0;
    for (std::size_t k = 0; k < 200; ++k) sum += weights.numbers[200 * row + k];
    EXPECT_NEAR(sum, 1.0, 200 * 2.3e-16);
  }
  EXPECT_TRUE(answers(*room, {{"d", 3}, {"n", 5000}, {"draws", 50}})[0].arrays.empty());
  EXPECT_EQ(refusal_status(*room, {{"theta", 1}, {"beta", 2}}), 400);
  EXPECT_EQ(refusal_status(*room, {{"beta", 0}}), 400);
}

// The grid of theta is the default only where no temperature is given.
TEST(QueryRoom, TakesATemperatureInEveryUnit) {
  const auto room = make_query_room();
  for (const char* unit : {"theta", "beta", "edge"}) {
    const auto results = answers(*room, {{"n", 16}, {"draws", 4}, {unit, "1,3"}});
    EXPECT_EQ(results.back().json["query"]["dimensions"][unit], Json({1.0, 3.0})) << unit;
  }
  const auto silent = answers(*room, {{"n", 16}, {"draws", 4}});
  EXPECT_EQ(silent.back().json["query"]["dimensions"]["theta"], Json({0.2, 1.0, 5.0}));
}

TEST(QueryRoom, AnswersSoManyCellsAtOnce) {
  const auto room = make_query_room();
  const Json many = {{"n", "1e2:1e9:8:log"}, {"theta", "1:25:25"}};
  EXPECT_THROW(room->check(Question(room->verb(), room->fields(), many)), TooLarge);
}

TEST(QueryRoom, TheoryDeclinesWhereItsFormulasEnd) {
  const auto room = make_query_room();
  for (const double beta : {1e12, 1e13, 1e299}) {
    const auto results = answers(*room, {{"n", 16}, {"d", 8}, {"draws", 4}, {"beta", beta}});
    const Json& theory = results.back().json["theory"]["variables"];
    EXPECT_TRUE(std::isnan(theory["gaussian_bias"]["mean"][0][0].get<double>())) << beta;
  }
}

TEST(DewRoom, HasTheCurvesOfTheLibrary) {
  const auto room = make_dew_room();
  const auto results =
      answers(*room, {{"law", {"gaussian", "simplex"}}, {"n", "1e2:1e6:5:log"}, {"draws", 120}});
  ASSERT_EQ(results.size(), 3u);
  EXPECT_EQ(results[0].json["laws"][0]["curve"]["dimensions"]["n"], Json({1e2, 1e6}));
  const experiments::DewCurve question{{1e2, 1e3, 1e4, 1e5, 1e6}, 120, 256, 1};
  const auto law = scores::score_law("gaussian");
  EXPECT_TRUE(is_same(results[2].json["laws"][0]["curve"],
                      to_json(experiments::dew_curve(*law, question))));
  EXPECT_EQ(results[2].json["laws"][0]["beta_edge"].size(), 5u);
  EXPECT_TRUE(results[2].json["laws"][1]["beta_edge"][0].is_null());
  EXPECT_EQ(refusal_status(*room, {{"law", {"../../etc/passwd"}}}), 400);
  EXPECT_EQ(refusal_status(*room, {{"law", Json::array()}}), 400);
  EXPECT_EQ(refusal_status(*room, {{"law", {"gaussian", "gaussian:sigma=1"}}}), 400);
}

// One description: what nobody says is the verb's default.
TEST(DewRoom, StandsForItsVerb) {
  const auto room = make_dew_room();
  const auto command = [&](const Json& asked) {
    return Question(room->verb(), room->fields(), asked).command();
  };
  EXPECT_EQ(command(Json::object()), "dewpoint dew");
  EXPECT_EQ(command({{"law", {"simplex", "sphere:d=3"}}, {"n", "1e2,1e4"}, {"top", 64}}),
            "dewpoint dew --law simplex --law sphere:d=3 --n 1e2,1e4 --top 64");
  const Json many = {{"law", {"gaussian", "simplex", "sphere:d=3", "sphere:d=4"}},
                     {"n", "1e2:1e9:49:log"}};
  EXPECT_THROW(room->check(Question(room->verb(), room->fields(), many)), TooLarge);
}

TEST(CycleRoom, TrainsAsTheVerb) {
  const auto room = make_cycle_room();
  const auto results =
      answers(*room, {{"m", 8}, {"sequences", 500}, {"steps", 60}, {"record-every", 10}});
  ASSERT_GE(results.size(), 2u);
  const Json& last = results.back().json;
  EXPECT_EQ(last["complete"], true);
  experiments::TrainQuestion asked;
  asked.m = 8;
  asked.sequences = 500;
  asked.steps = 60;
  asked.record_every = 10.0;
  const auto question = experiments::training_of(asked, 1);
  experiments::TrainingRun run(question.run, 0, {});
  run.advance({});
  const Json& loss = last["frames"]["trajectory"]["variables"]["loss"]["mean"];
  ASSERT_EQ(loss.size(), run.records().size());
  for (std::size_t k = 0; k < loss.size(); ++k) EXPECT_EQ(loss[k], run.records()[k].loss);
  EXPECT_TRUE(last["frames"].contains("stages"));
  EXPECT_EQ(refusal_status(*room, {{"pi", "0.5,0.2"}}), 400);
  EXPECT_EQ(refusal_status(*room, {{"optimiser", "flow"}, {"steps", 100}}), 400);
  EXPECT_EQ(refusal_status(*room, {{"steps", 20000}, {"record-every", 1}}), 400);
}

TEST(CycleRoom, HasTheFactorOfTheScores) {
  const auto room = make_cycle_room();
  const auto loss = [&](const Json& factor) {
    Json asked = {{"m", 8}, {"sequences", 500}, {"steps", 60}, {"record-every", 10}};
    asked.update(factor);
    return answers(*room, asked).back().json["frames"]["trajectory"]["variables"]["loss"]["mean"];
  };
  EXPECT_EQ(loss({{"score-scale", 1}}), loss(Json::object()));
  EXPECT_NE(loss({{"score-scale", 3}}), loss(Json::object()));
  EXPECT_EQ(refusal_status(*room, {{"score-scale", 0}}), 400);
}

TEST(CycleRoom, ADivergingRunSaysWhy) {
  const auto room = make_cycle_room();
  EXPECT_THROW((void)answers(*room, {{"optimiser", "descent"},
                                     {"rate", 10},
                                     {"m", 8},
                                     {"init", 5},
                                     {"sequences", 100},
                                     {"steps", 500}}),
               Error);
}

class HeadsRoom : public testing::Test {
 protected:
  HeadsRoom()
      : path(std::filesystem::temp_directory_path() /
             ("dewpoint-heads-" + std::to_string(getpid()))) {
    std::filesystem::create_directories(path);
  }
  ~HeadsRoom() override { std::filesystem::remove_all(path); }

  /// One layer of two heads, 96 tokens long.
  void write_dump(const char* name) const {
    checkpoint::DumpPlan plan;
    plan.layers = 1;
    plan.shape = {0, 2, 2, 96, 96, 8};
    checkpoint::DumpFacts facts;
    facts.scale = 0.5;
    checkpoint::HeadDumpWriter writer(path / name, plan, facts);
    for (std::size_t head = 0; head < 2; ++head) {
      Matrix<float> queries(96, 8), keys(96, 8);
      const Stream random(1, "test/dump", head);
      for (std::size_t k = 0; k < 96 * 8; ++k) {
        queries.data()[k] = static_cast<float>(random.normal(2 * k));
        keys.data()[k] = static_cast<float>(random.normal(2 * k + 1));
      }
      writer.write(0, head, queries, keys);
    }
    writer.finish();
  }

  std::filesystem::path path;
};

TEST_F(HeadsRoom, NeedsAFileOfTheFolder) {
  const StudyFolder folder(path);
  const auto room = make_heads_room(folder);
  EXPECT_EQ(refusal_status(*room, Json::object()), 400);
  EXPECT_EQ(refusal_status(*room, {{"input", "../x.npz"}}), 404);
  EXPECT_EQ(refusal_status(*room, {{"input", "x.npz"}, {"layer", 1}}), 400);
  EXPECT_EQ(refusal_status(*room, {{"input", "x.npz"}, {"head", 1}}), 400);
}

TEST_F(HeadsRoom, HasTheSurveyOfTheLibrary) {
  write_dump("heads.safetensors");
  const StudyFolder folder(path);
  const auto room = make_heads_room(folder);
  const Json asked = {{"input", "heads.safetensors"},
                      {"beta", "0.5,2"},
                      {"schedule", {"log-n"}},
                      {"train-length", 32},
                      {"rows", 16},
                      {"replicates", 20},
                      {"no-causal", true},
                      {"scale", 0.25},
                      {"seed", 3}};
  const auto results = answers(*room, asked);
  ASSERT_EQ(results.size(), 2u);

  diagnosis::SurveyQuestion question;
  question.betas.text = "0.5,2";
  question.schedules = {"log-n"};
  question.train_length = 32;
  question.rows = 16;
  question.replicates = 20;
  question.seed = 3;
  checkpoint::DumpOptions said;
  said.scale = 0.25;
  said.causal = false;
  const auto dump = checkpoint::HeadDump::open(path / "heads.safetensors", said);
  const auto survey = diagnosis::head_survey(question, 96, 96, "dump");
  const auto heads = diagnosis::survey_dump(dump, survey, {1, {}, {}});
  const Frame frame = diagnosis::frame_of_heads(heads, survey.options).renamed("heads");
  EXPECT_TRUE(is_same(results[1].json["frame"], to_json(frame)));
  ASSERT_TRUE(results[1].study);

  Json one = asked;
  one.update({{"layer", 0}, {"head", 1}});
  const auto opened = answers(*room, one);
  ASSERT_EQ(opened.size(), 1u);
  EXPECT_TRUE(is_same(opened[0].json["verdicts"][0], results[1].json["verdicts"][1]));
  EXPECT_EQ(Question(room->verb(), room->fields(), one, "dumps/").command(),
            "dewpoint heads dumps/heads.safetensors --beta 0.5,2 --schedule log-n --train-length "
            "32 --rows 16 --replicates 20 --scale 0.25 --no-causal --seed 3");
}

TEST(Rooms, EveryDefaultQuestionCanBeAskedAndSaysItsCommand) {
  const StudyFolder folder(std::filesystem::temp_directory_path());
  for (const auto& room : make_rooms(folder)) {
    const Question question(room->verb(), room->fields(), Json::object());
    EXPECT_TRUE(question.command().starts_with("dewpoint " + room->verb())) << room->name();
    EXPECT_EQ(room->to_json()["fields"].size(), room->fields().all().size());
    if (room->name() == "heads") continue;  // which needs a file
    EXPECT_NO_THROW(room->check(question)) << room->name();
  }
}

}  // namespace
}  // namespace dewpoint::server
