// Score laws by name: what is read, what is refused and in which words.
//
// SPDX-License-Identifier: Apache-2.0
#include "dewpoint/scores/law_names.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "dewpoint/core/error.hpp"
#include "dewpoint/scores/gaussian_law.hpp"

namespace dewpoint::scores {
namespace {

// Property (1).
TEST(ScoreLawNames, AreReadBack) {
  for (const std::string name :
       {"gaussian:sigma=1", "gaussian:sigma=0.30000000000000004", "sphere:d=5",
        "vmf:d=5,kappa=5,angle=0.3",
        "vmf:d=9,kappa=0,angle=0,share=0.98+kappa=60,angle=0,share=0.02",
        "subsphere:dim=2,ambient=16,angle=0.5,noise=0", "gaussian-keys:d=64,scaled=1",
        "gaussian-keys:d=3,scaled=0", "simplex:rho=0.5", "clustered:inner=0.8,outer=0.2,size=16"})
    EXPECT_EQ(score_law(name)->name(), name);
}

TEST(ScoreLawNames, TakeStandardValues) {
  EXPECT_EQ(score_law("gaussian")->name(), "gaussian:sigma=1");
  EXPECT_EQ(score_law("gaussian:")->name(), "gaussian:sigma=1");
  EXPECT_EQ(score_law("gaussian-keys:d=4")->name(), "gaussian-keys:d=4,scaled=1");
  EXPECT_EQ(score_law("clustered:size=4")->name(), "clustered:inner=0.8,outer=0.2,size=4");
  EXPECT_EQ(score_law("vmf:d=9,kappa=1e+1,share=0.5+kappa=2e-1,share=0.5")->name(),
            "vmf:d=9,kappa=10,angle=0,share=0.5+kappa=0.2,angle=0,share=0.5");
}

// A usage is what a user types, with the dots to fill in; with numbers in their place it is read.
TEST(ScoreLawNames, AreListedWithTheirUsage) {
  for (const LawForm& form : score_law_names()) {
    std::string text = form.usage();
    for (std::size_t at = text.find("..."); at != std::string::npos; at = text.find("..."))
      text.replace(at, 3, text.find("ambient=") < at ? "9" : "3");
    EXPECT_TRUE(score_law(text)->name().starts_with(form.name)) << text;
    EXPECT_FALSE(form.about.empty());
    EXPECT_EQ(form.mixes(), form.name == "vmf");
  }
}

std::string refusal(const std::string& name) {
  try {
    (void)score_law(name);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::bad_value);
    const std::string what = error.what(), start = "law '" + name + "': ";
    EXPECT_TRUE(what.starts_with(start)) << what;
    EXPECT_EQ(std::count(what.begin(), what.end(), '\n'), 0);
    return what.substr(start.size());
  }
  return "";
}

TEST(ScoreLawNames, RefuseUnknownWords) {
  const std::string names =
      "allowed: gaussian, sphere, vmf, subsphere, gaussian-keys, simplex, clustered";
  EXPECT_EQ(refusal("spere:d=5"), "name 'spere' is unknown; did you mean 'sphere'? " + names);
  EXPECT_EQ(refusal("cauchy"), "name 'cauchy' is unknown; " + names);
  EXPECT_EQ(refusal(""), "name '' is unknown; " + names);
  EXPECT_EQ(refusal("gaussian:sgma=2"),
            "key 'sgma' is unknown; did you mean 'sigma'? allowed: sigma");
  EXPECT_EQ(refusal("sphere:d=5,e=1"), "key 'e' is unknown; allowed: d");
  EXPECT_EQ(refusal("vmf:d=5,kappa=1,share=0.5+d=5,kappa=2,share=0.5"),
            "key 'd' is unknown after '+'; allowed: kappa, angle, share");
}

TEST(ScoreLawNames, RefuseWrongForms) {
  EXPECT_EQ(refusal("sphere"), "key 'd' is missing, as in sphere:d=...");
  EXPECT_EQ(refusal("sphere:5"), "'5' is not key=value, as in sphere:d=...");
  EXPECT_EQ(refusal("sphere:d=5,"), "'' is not key=value, as in sphere:d=...");
  EXPECT_EQ(refusal("sphere:d=5,d=6"), "key 'd' is given twice");
  EXPECT_EQ(refusal("sphere:d=5+d=6"), "'+' is allowed in mixtures only, and sphere is none");
  EXPECT_EQ(refusal("sphere:d=five"), "d: 'five' is not a finite number");
  EXPECT_EQ(refusal("sphere:d="), "d: '' is not a finite number");
  EXPECT_EQ(refusal("gaussian:sigma=nan"), "sigma: 'nan' is not a finite number");
  EXPECT_EQ(refusal("gaussian:sigma=1e999"), "sigma: '1e999' is not a finite number");
  EXPECT_EQ(refusal("gaussian:sigma=inf"), "sigma: 'inf' is not a finite number");
  EXPECT_EQ(refusal("sphere:d=2.5"), "d: 2.5 is not a whole number");
  EXPECT_EQ(refusal("sphere:d=1e12"), "d: 1000000000000 is not a whole number");
}

TEST(ScoreLawNames, RefuseValuesOutsideTheirDomain) {
  EXPECT_EQ(refusal("gaussian:sigma=0"), "sigma: 0 is not a positive number");
  EXPECT_EQ(refusal("gaussian:sigma=-2"), "sigma: -2 is not a positive number");
  EXPECT_EQ(refusal("sphere:d=1"), "d: 1 is not in [2, 512]");
  EXPECT_EQ(refusal("vmf:d=1,kappa=1"), "d: 1 is not in [2, 512]");
  EXPECT_EQ(refusal("vmf:d=5,kappa=-1"), "kappa: -1 is not in [0, 10000]");
  EXPECT_EQ(refusal("vmf:d=5,kappa=1,share=0.4+kappa=2,share=0.4"),
            "share: the sum 0.8 of the shares is not 1");
  EXPECT_EQ(refusal("simplex:rho=1"), "rho: 1 is not in [0, 1)");
  EXPECT_EQ(refusal("simplex:rho=-0.1"), "rho: -0.1 is not in [0, 1)");
  EXPECT_EQ(refusal("clustered:inner=1"), "inner: 1 is not in [-1, 1)");
  EXPECT_EQ(refusal("clustered:inner=0.1,outer=0.2"), "outer: 0.2 is not in [-1, inner = 0.1]");
  EXPECT_EQ(refusal("clustered:size=0"), "size: 0 is not in [1, 1000000]");
  EXPECT_EQ(refusal("subsphere:dim=2,ambient=16,noise=0.03"),
            "noise: 0.03 is not 0, the only value whose scores have a known law");
  EXPECT_EQ(refusal("gaussian-keys:d=64,scaled=2"), "scaled: 2 is not 0 or 1");
  EXPECT_EQ(refusal("gaussian-keys:d=0"), "d: 0 is not in [1, 512]");
}

TEST(RequireCounts, RefusesShortRowsAndTooManyScores) {
  const auto refusal_of = [](double log_scores, std::size_t top) -> std::string {
    try {
      require_counts(log_scores, top);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(refusal_of(std::log(2.0), 2), "");
  EXPECT_EQ(refusal_of(1e5, 4096), "");
  EXPECT_EQ(refusal_of(0.0, 1), "n: 1 is not at least 2");
  EXPECT_EQ(refusal_of(std::nan(""), 1), "n: nan is not at least 2");
  EXPECT_EQ(refusal_of(std::log(10.0), 11), "k: 11 is not in [1, n] with n = 10");
  EXPECT_EQ(refusal_of(std::log(10.0), 0), "k: 0 is not in [1, n] with n = 10");
}

}  // namespace
}  // namespace dewpoint::scores
