#include "dewpoint/report/study_frames.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "dewpoint/core/error.hpp"

namespace dewpoint::report {
namespace {

// Cells over (n, gamma) count 0, 1, 2, ... with errors a tenth of that.
Frame small_frame() {
  Frame frame("small");
  frame.add_dimension("n", {8, 16});
  frame.add_dimension("gamma", {0.5, 1.0, 2.0});
  double value = 0;
  for (auto& cell : frame.add_variable("mass", {"n", "gamma"}).cells) {
    cell = {value, value / 10, 4};
    ++value;
  }
  frame.add_variable("limit", {"gamma"}).cells = {{5, 0, 1}, {6, 0, 1}, {7, 0, 1}};
  return frame;
}

template <class Action>
std::string refusal_of(Action action) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::bad_value);
    return error.what();
  }
  return "";
}

TEST(RowOf, IsTheVariableAtAFixedOuterPosition) {
  const Row row = row_of(small_frame(), "mass", "n", 1, "gamma");
  EXPECT_EQ(row.x, (std::vector{0.5, 1.0, 2.0}));
  EXPECT_EQ(row.mean, (std::vector{3.0, 4.0, 5.0}));
  EXPECT_EQ(row.error, (std::vector{0.3, 0.4, 0.5}));
  EXPECT_EQ(row_of(small_frame(), "limit", "gamma").mean, (std::vector{5.0, 6.0, 7.0}));
}

TEST(KnownErrors, AreEmptyWhereNoneIsKnown) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<Estimate> some{{1, 0.5, 4}, {2, nan, 1}};
  const std::vector<Estimate> none{{1, nan, 1}, {2, nan, 1}};
  const std::vector<double> errors = known_errors(some);
  ASSERT_EQ(errors.size(), 2U);
  EXPECT_EQ(errors[0], 0.5);
  EXPECT_TRUE(std::isnan(errors[1]));
  EXPECT_TRUE(known_errors(none).empty());
}

TEST(RowOf, NamesWhatIsNotOfItsForm) {
  EXPECT_EQ(refusal_of([] { static_cast<void>(row_of(small_frame(), "limit", "n", 0, "gamma")); }),
            "variable 'limit' of frame 'small' must be over n, gamma");
  EXPECT_EQ(refusal_of([] { static_cast<void>(row_of(small_frame(), "other", "gamma")); }),
            "no variable named 'other'");
}

TEST(Increasing, RefusesWhatDoesNotIncrease) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const std::vector<double>& values : {std::vector<double>{}, std::vector{1.0, 1.0},
                                            std::vector{2.0, 1.0}, std::vector{1.0, nan}}) {
    Frame frame("f");
    frame.add_dimension("n", values);
    EXPECT_EQ(refusal_of([&] { static_cast<void>(increasing(frame, "n")); }),
              "dimension 'n' of frame 'f' must increase");
  }
}

TEST(AllCoordinates, AreThoseOfAllFramesOnce) {
  const Frame first = small_frame();
  Frame second("second");
  second.add_dimension("n", {4, 16, 32});
  EXPECT_EQ(all_coordinates({&first, nullptr, &second}, "n"), (std::vector<double>{4, 8, 16, 32}));
}

TEST(CaptionOf, NamesWhatTheFigureDoesNotShow) {
  store::StudyRecord study;
  study.parameters = {{"n", "8,16"}, {"alpha", "0"}};
  study.seed = 17;
  study.version = "0.1.0";
  Frame frame = small_frame();
  EXPECT_EQ(caption_of(study, {"n"}, nullptr), "alpha = 0\u00a0· seed 17\u00a0· Dewpoint 0.1.0");
  EXPECT_EQ(
      caption_of(study, {}, &frame.variable("mass")),
      "n = 8,16\u00a0· alpha = 0\u00a0· 4 samples per cell\u00a0· seed 17\u00a0· Dewpoint 0.1.0");
  frame.variable("mass").cells[1].samples = 2;
  EXPECT_EQ(samples_of(frame.variable("mass")), "2 to 4 samples per cell");
  for (Estimate& cell : frame.variable("mass").cells) cell.samples = 1;
  EXPECT_EQ(samples_of(frame.variable("mass")), "1 sample per cell");
}

}  // namespace
}  // namespace dewpoint::report
