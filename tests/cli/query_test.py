"""dewpoint query point, run as a user would."""

import math
import sqlite3
import unittest

from harness import ProgramTest


class Point(ProgramTest):
    def point(self, *arguments):
        return self.succeed_json("query", "point", "--draws", "400", *arguments)

    def test_prints_measurement_and_theory_of_every_regime(self):
        text = self.succeed("query", "point", "--d", "3", "--n", "1e5", "--theta", "0.01,1,50",
                            "--draws", "300")
        for word in ("subcritical", "critical", "condensed", "β* = 50000", "1/t_n", "n_eff",
                     "measured", "exact", "n -> ∞", "Gaussian", "Σ w²", "skewness", "virial", "±"):
            self.assertIn(word, text)

    def test_json_carries_parameters_errors_and_predictions(self):
        out = self.point("--d", "5", "--n", "1e3,1e15", "--theta", "0.2,5", "--seed", "7")
        self.assertEqual(out["seed"], 7)
        self.assertEqual(out["parameters"],
                         {"d": 5, "n": [1e3, 1e15], "theta": [0.2, 5], "beta": None, "edge": None,
                          "draws": 400, "top": None, "bound": None, "ranks": 8})
        self.assertEqual(out["regime"], [["subcritical", "critical"]] * 2)
        result, theory = out["result"]["variables"], out["theory"]["variables"]
        self.assertAlmostEqual(result["beta_star"]["mean"][0], math.sqrt(750), 9)
        for name, exact in (("participation", "exact_participation"),
                            ("scaled_bias", "exact_bias"), ("scaled_scatter", "exact_scatter"),
                            ("entropy", "exact_entropy")):
            for i in range(2):
                for t in range(2):
                    z = ((result[name]["mean"][i][t] - theory[exact]["mean"][i][t])
                         / result[name]["standard_error"][i][t])
                    self.assertLess(abs(z), 5.6, (name, i, t))
        self.assertEqual(len(result["weight"]["mean"][0][0]), 8)
        # The two values that are printed in the table of exact means at n = 1e15.
        self.assertAlmostEqual(theory["exact_participation"]["mean"][1][0], 0.00498593, 7)
        self.assertAlmostEqual(theory["exact_largest_weight"]["mean"][1][1], 0.758999, 5)

    def test_theory_is_null_where_it_has_nothing_to_say(self):
        theory = self.point("--d", "3", "--n", "1e4", "--theta", "0.01,1")["theory"]["variables"]
        gaussian = theory["gaussian_radial_variance"]["mean"][0]
        self.assertAlmostEqual(gaussian[0], 1 / (2 * 50.0), 4)
        self.assertIsNone(gaussian[1])
        self.assertEqual(theory["condensed_remainder"]["mean"], [[None, None]])

    def test_the_condensed_remainder_is_near_the_exact_one(self):
        theory = self.point("--d", "5", "--n", "1e6", "--theta", "100")["theory"]["variables"]
        self.assertAlmostEqual(theory["condensed_remainder"]["mean"][0][0], 0.01229, 5)
        self.assertAlmostEqual(theory["exact_remainder"]["mean"][0][0], 0.01229, 5)

    def test_temperature_by_theta_beta_or_edge(self):
        by_theta = self.point("--d", "3", "--n", "1e4", "--theta", "2")
        by_beta = self.point("--d", "3", "--n", "1e4", "--beta", "10000")
        by_edge = self.point("--d", "3", "--n", "1e4", "--edge", "2")
        for out in (by_beta, by_edge):
            for name in ("participation", "bias"):
                self.assertAlmostEqual(out["result"]["variables"][name]["mean"][0][0],
                                       by_theta["result"]["variables"][name]["mean"][0][0], 9)
        self.assertEqual(by_edge["parameters"]["edge"], [2])
        self.assertIsNone(by_edge["parameters"]["theta"])
        self.assertIsNone(by_edge["parameters"]["beta"])

    def test_keys_are_a_whole_number(self):
        out = self.point("--n", "10.5,99.6", "--theta", "1")
        self.assertEqual(out["result"]["dimensions"]["n"], [11, 100])

    def test_as_many_weights_as_asked(self):
        out = self.point("--n", "1e6", "--theta", "1", "--ranks", "70")["result"]["variables"]
        self.assertEqual(len(out["weight"]["mean"][0][0]), 70)
        self.assertEqual(out["top_count"]["mean"], [70])

    def test_threads_do_not_change_a_byte(self):
        arguments = ["query", "point", "--n", "1e4,1e9", "--theta", "0.3,1", "--draws", "100",
                     "--json", "--threads"]
        self.assertEqual(self.succeed(*arguments, "1"), self.succeed(*arguments, "2"))

    def test_kept_draws_are_in_the_json_and_in_the_study(self):
        out = self.point("--n", "1e4", "--theta", "1", "--keep-draws", "-o", "query.study")
        draws = out["draws"]["variables"]["largest_weight"]["mean"][0][0]
        self.assertEqual(len(draws), 400)
        self.assertAlmostEqual(sum(draws) / 400,
                               out["result"]["variables"]["weight"]["mean"][0][0][0], 12)
        self.assertEqual(out["study"], "query.study")
        self.assertEqual(self.files(), ["query.study"])
        with sqlite3.connect(self.path("query.study")) as study:
            self.assertEqual(study.execute("pragma integrity_check").fetchone(), ("ok",))

    def test_a_bound_chooses_how_many_keys_are_drawn(self):
        top = {bound: self.point("--n", "1e6", "--theta", "0.2", "--bound", bound)
               ["result"]["variables"]["top_count"]["mean"][0] for bound in ("1e-2", "1e-3")}
        self.assertLess(top["1e-2"], top["1e-3"])

    def test_refusals_name_the_field_the_value_and_what_is_allowed(self):
        for arguments, words in [
            (["--d", "1"], ["d: 1 is not a whole number in [2, 512]"]),
            (["--d", "513"], ["d: 513 is not a whole number in [2, 512]"]),
            (["--d", "2.5"], ["d: 2.5 is not a whole number"]),
            (["--n", "1"], ["n: 1 is not a number in [2, 1e300]"]),
            (["--n", "1e301"], ["n: 1e301 is not a number in [2, 1e300]"]),
            (["--n", "1e3,abc"], ["n", "abc"]),
            (["--d", "2", "--n", "1e200"], ["n", "1e+200", "[2, "]),
            (["--n", "10", "--top", "11"], ["top: 11 ", "n = 10"]),
            (["--n", "10", "--top", "7"], ["top: 7 ", "from 8, as many as ranks"]),
            (["--top", "0"], ["top: 0 is not a whole number in [1, 1e6]"]),
            (["--theta", "0,1"], ["theta: 0 is not a number above 0"]),
            (["--theta", "-1"], ["theta: -1 is not a number above 0"]),
            (["--theta", "1", "--beta", "2"], ["beta: 2 is given beside theta"]),
            (["--edge", "1", "--beta", "2"], ["beta: 2 is given beside edge"]),
            (["--beta", "0"], ["beta: 0 is not a number in (0, 1e299]"]),
            (["--edge", "0"], ["edge: 0 is not a number above 0"]),
            (["--draws", "1"], ["draws: 1 is not a whole number in [2, 1e8]"]),
            (["--bound", "0"], ["bound: 0 is not a number above 0"]),
            (["--ranks", "0"], ["ranks: 0 is not a whole number in [1, 4096]"]),
            (["--n", "1e6", "--theta", "0.01", "--bound", "1e-9"], ["bound", "1e-09", "4096"]),
            (["--top", "8", "--bound", "1e-3"], ["bound: 0.001 is given beside top"]),
            (["--no-such-option"], ["no-such-option"]),
        ]:
            message = self.refuse(2, "query", "point", *arguments)
            for word in words:
                self.assertIn(word, message, arguments)

    def test_the_example_of_the_help_works(self):
        text = self.succeed("query", "point", "--help")
        example = text.strip().split("\n")[-1].split()
        self.assertEqual(example[0], "dewpoint")
        self.assertIn("n = 1e+15", self.succeed(*example[1:], "--draws", "50"))


if __name__ == "__main__":
    unittest.main()
