// The bytes of the text formats, and what happens when a file cannot be written. That other
// people's tools read all formats is shown by exports_test.py.
//
// SPDX-License-Identifier: Apache-2.0
#include "dewpoint/exports/export.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <string>

#include "checkpoint/foreign_files.hpp"
#include "dewpoint/core/error.hpp"
#include "exports/example_study.hpp"
#include "store/scratch_folder.hpp"

namespace dewpoint::exports {
namespace {

namespace fs = std::filesystem;
using test::outcome;
using test::Outcome;
using test::read_bytes;
using test::ScratchFolder;
using test::study_of;
using test::write_bytes;
using Strings = std::vector<std::string>;

constexpr const char* kEndings[] = {".csv", ".jsonl", ".npz", ".nc"};

Strings written(const ScratchFolder& folder, const std::string& name,
                const store::StudyRecord& study, const Options& options = {}) {
  const fs::path target = folder / name;
  Strings names;
  for (const fs::path& file : write(study, target, format_of(target), options)) {
    names.push_back(file.filename().string());
  }
  return names;
}

TEST(FormatOf, IsTheExtension) {
  EXPECT_EQ(format_of("a.b/map.csv"), Format::csv);
  EXPECT_EQ(format_of("map.jsonl"), Format::jsonl);
  EXPECT_EQ(format_of("map.npz"), Format::npz);
  EXPECT_EQ(format_of("map.nc"), Format::netcdf);
  const Outcome refused = outcome([] { static_cast<void>(format_of("map.xlsx")); });
  EXPECT_EQ(refused.code, Code::bad_value);
  EXPECT_EQ(refused.message,
            "'map.xlsx': found extension '.xlsx', allowed: .csv, .jsonl, .npz, .nc");
}

TEST(FormatNamed, KnowsTheFour) {
  EXPECT_EQ(format_named("csv"), Format::csv);
  EXPECT_EQ(format_named("jsonl"), Format::jsonl);
  EXPECT_EQ(format_named("npz"), Format::npz);
  EXPECT_EQ(format_named("netcdf"), Format::netcdf);
  const Outcome refused = outcome([] { static_cast<void>(format_named("hdf5")); });
  EXPECT_EQ(refused.code, Code::bad_value);
  EXPECT_EQ(refused.message, "format: found 'hdf5', allowed: csv, jsonl, npz, netcdf");
}

TEST(CsvExport, IsOneTableForEachSetOfDimensions) {
  const ScratchFolder folder;
  EXPECT_EQ(
      written(folder, "map.csv", study_of({test::phase_frame()})),
      (Strings{"map.csv", "map-n.csv", "map-n-law-rank.csv", "map-scalars.csv", "map.csv.json"}));
  EXPECT_EQ(read_bytes(folder / "map.csv"),
            "n,law,contraction,contraction_se,beta_dew,beta_dew_se,contraction_theory,samples\n"
            "128,plain,0.1,0.01,inf,,0.125,16\n"
            "128,\"a, b\",-0.0,0,-inf,inf,-1.5,16\n"
            "128,\"say \"\"dew\"\"\",,,2,0.3333333333333333,,16\n"
            "512,plain,1e-300,5e-324,1e+22,,0.3,1\n"
            "512,\"say \"\"dew\"\"\",,,,,0.7,0\n");
  EXPECT_EQ(read_bytes(folder / "map-n.csv"),
            "n,top_count,top_count_se,samples\n128,3,0.5,16\n512,7.25,0.25,8\n");
  EXPECT_EQ(read_bytes(folder / "map-scalars.csv"), "total,total_se,samples\n42,,1\n");
}

TEST(CsvExport, CountsSamplesByVariableWhereTheyDiffer) {
  const ScratchFolder folder;
  Frame frame("point");
  frame.add_variable("x").cells = {{1.0, 0.5, 4}};
  frame.add_variable("y").cells = {{2.0, 0.25, 8}};
  written(folder, "point.csv", study_of({frame}));
  EXPECT_EQ(read_bytes(folder / "point.csv"),
            "x,x_se,x_samples,y,y_se,y_samples\n1,0.5,4,2,0.25,8\n");
}

TEST(CsvExport, OfSeveralFramesNamesThem) {
  const ScratchFolder folder;
  EXPECT_EQ(written(folder, "map.csv", study_of({test::critical_frame(), test::odd_frame()})),
            (Strings{"map-critical_lines.csv", "map-odd_frame.csv", "map-odd_frame-a_b.csv",
                     "map-odd_frame-nowhere.csv", "map.csv.json"}));
}

TEST(CsvExport, OfAStudyThatHasOnlyBegunHasItsColumns) {
  const ScratchFolder folder;
  Frame frame("phase");
  frame.add_dimension("n", {128.0, 512.0});
  frame.add_variable("contraction", {"n"});
  frame.add_variable("contraction_theory", {"n"});
  written(folder, "map.csv", study_of({frame}));
  EXPECT_EQ(read_bytes(folder / "map.csv"),
            "n,contraction,contraction_se,contraction_theory,samples\n");
}

TEST(CsvExport, DependsOnNothingButTheNumbers) {
  const ScratchFolder folder;
  store::StudyRecord study = study_of({test::phase_frame()});
  written(folder, "a.csv", study);
  study.created = "2027-01-31T12:00:00Z";
  study.version = "0.2.0";
  study.command = "another";
  written(folder, "b.csv", study);
  EXPECT_EQ(read_bytes(folder / "a.csv"), read_bytes(folder / "b.csv"));
  EXPECT_NE(read_bytes(folder / "a.csv.json"), read_bytes(folder / "b.csv.json"));
}

TEST(JsonLinesExport, IsAHeadAndOneObjectPerRow) {
  const ScratchFolder folder;
  Frame frame("phase");
  frame.add_labelled_dimension("law", {"plain", "say \"dew\""});
  frame.add_variable("x", {"law"}).cells = {{test::kInfinity, test::kUnknown, 4},
                                            {-0.0, test::kInfinity, 2}};
  frame.add_variable("x_theory", {"law"}).cells = {{0.1, 0.0, 0}, {-test::kInfinity, 0.0, 0}};
  EXPECT_EQ(written(folder, "map.jsonl", study_of({frame})), Strings{"map.jsonl"});
  EXPECT_EQ(read_bytes(folder / "map.jsonl"),
            R"({"study":{"experiment":"phase","seed":18446744073709551615,)"
            R"("version":"0.1.0+a1b2c3d4e5","command":"dewpoint run phase.toml",)"
            R"("created":"2026-01-31T12:00:00Z",)"
            R"("parameters":{"tokens":"equicorrelated","note":"a \"b\", c"}}})"
            "\n"
            R"({"frame":"phase","law":"plain","x":{"mean":null,"se":null,"samples":4},)"
            R"("x_theory":0.1,"infinite":{"x":1}})"
            "\n"
            R"({"frame":"phase","law":"say \"dew\"","x":{"mean":-0.0,"se":null,"samples":2},)"
            R"("x_theory":null,"infinite":{"x.se":1,"x_theory":-1}})"
            "\n");
}

// Property (2).
TEST(Export, GivesTheSameBytesAgain) {
  const ScratchFolder folder;
  const auto study = study_of({test::phase_frame(), test::critical_frame(), test::odd_frame()});
  for (const std::string ending : kEndings) {
    const Strings first = written(folder, "map" + ending, study);
    Strings bytes;
    for (const std::string& name : first) bytes.push_back(read_bytes(folder / name));
    EXPECT_EQ(written(folder, "map" + ending, study), first);
    for (std::size_t k = 0; k < first.size(); ++k) {
      EXPECT_FALSE(bytes[k].empty()) << first[k];
      EXPECT_EQ(read_bytes(folder / first[k]), bytes[k]) << first[k];
    }
  }
}

TEST(Export, OfOneFrameIsThatOfAStudyWithThisFrame) {
  const ScratchFolder folder;
  const auto study = study_of({test::phase_frame(), test::critical_frame()});
  for (const std::string ending : kEndings) {
    written(folder, "a" + ending, study, {.frame = "critical_lines"});
    written(folder, "b" + ending, study_of({test::critical_frame()}));
    EXPECT_EQ(read_bytes(folder / ("a" + ending)), read_bytes(folder / ("b" + ending)));
  }
}

TEST(Export, NamesTheFramesThereAre) {
  const ScratchFolder folder;
  const auto study = study_of({test::phase_frame(), test::critical_frame()});
  const Outcome refused = outcome([&] { written(folder, "a.csv", study, {.frame = "x"}); });
  EXPECT_EQ(refused.code, Code::bad_value);
  EXPECT_EQ(refused.message,
            "the study has no frame named 'x', allowed: 'phase', 'critical_lines'");
  EXPECT_EQ(outcome([&] { written(folder, "a.csv", study_of({})); }).code, Code::bad_value);
  EXPECT_EQ(folder.names(), Strings{});
}

TEST(Export, RefusesADimensionTwiceInEveryFormat) {
  const ScratchFolder folder;
  Frame frame("square");
  frame.add_dimension("n", {1.0, 2.0});
  frame.add_variable("overlap", {"n", "n"});
  for (const std::string ending : kEndings) {
    const auto refused = outcome([&] { written(folder, "a" + ending, study_of({frame})); });
    EXPECT_EQ(refused.code, Code::bad_value) << ending;
    EXPECT_EQ(refused.message, "variable 'overlap' has dimension 'n' twice, allowed: each once");
  }
}

TEST(Export, SaysWhyItCannotWrite) {
  const ScratchFolder folder;
  for (const std::string ending : kEndings) {
    const fs::path target = folder / "absent" / ("map" + ending);
    const Outcome refused =
        outcome([&] { write(study_of({test::critical_frame()}), target, format_of(target)); });
    EXPECT_EQ(refused.code, Code::unwritable_file);
    EXPECT_EQ(refused.message, "cannot write '" + target.string() + "': No such file or directory");
  }
}

// netCDF takes a letter with its accent and the letter followed by the accent for one name.
TEST(Export, SaysWhatNetcdfSays) {
  const ScratchFolder folder;
  Frame frame("accents");
  frame.add_variable("\xc3\xa9");
  frame.add_variable("e\xcc\x81");
  const Outcome refused = outcome([&] { written(folder, "a.nc", study_of({frame})); });
  EXPECT_EQ(refused.code, Code::unwritable_file);
  EXPECT_EQ(refused.message, "cannot write '" + (folder / "a.nc").string() +
                                 "': NetCDF: String match to name in use");
  EXPECT_EQ(folder.names(), Strings{});
}

// Files may not grow beyond `bytes` while this lives, as on a disk that is full.
class FullDisk {
 public:
  explicit FullDisk(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit small{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &small);
  }
  FullDisk(const FullDisk&) = delete;
  FullDisk& operator=(const FullDisk&) = delete;
  ~FullDisk() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }

 private:
  void (*handler_)(int);
  rlimit before_{};
};

// Property (1). 300 bytes hold the main table but not what stands beside it.
TEST(Export, LeavesTheOldFilesWhereTheDiskIsFull) {
  const auto study = study_of({test::phase_frame()});
  for (const std::string ending : kEndings) {
    const ScratchFolder folder;
    const Strings names = written(folder, "map" + ending, study);
    for (const std::string& name : names) write_bytes(folder / name, "old");
    const Strings before = folder.names();
    const Outcome refused = outcome([&] {
      const FullDisk full(300);
      written(folder, "map" + ending, study, {.frame = {}, .force = true});
    });
    EXPECT_EQ(refused.code, Code::unwritable_file) << ending;
    EXPECT_EQ(refused.message,
              "cannot write '" + (folder / names.back()).string() + "': File too large");
    EXPECT_EQ(folder.names(), before);
    for (const std::string& name : names) EXPECT_EQ(read_bytes(folder / name), "old") << name;
  }
}

}  // namespace
}  // namespace dewpoint::exports
