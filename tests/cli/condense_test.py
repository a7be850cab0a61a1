"""dewpoint condense and dewpoint predict condense, run as a user would: keys, table, refusals."""

import math
import unittest

from harness import ProgramTest


def load_of(n, t):
    return t * math.sqrt(2 * math.log(n))


class Condense(ProgramTest):
    small = ["condense", "--n", "100,1e6,1e30", "--t", "0.5,1,2", "--draws", "400"]

    def test_reports_measurement_and_theory(self):
        out = self.succeed_json(*self.small, "--signal", "0.9,1.2", "--seed", "7")
        self.assertEqual(out["experiment"], "condense")
        self.assertEqual(out["seed"], 7)
        self.assertEqual(out["parameters"]["n"], [100, 1e6, 1e30])
        self.assertEqual(out["parameters"]["signal"], [0.9, 1.2])
        self.assertIsNone(out["study"])
        result, theory = out["result"], out["theory"]
        self.assertEqual(result["dimensions"]["t"], [0.5, 1, 2])
        for name in ("largest_weight", "log_largest_weight", "participation", "rest_weight", "entropy",
                     "mean_score", "log_partition", "log_partition_deviation", "log_mean_partition",
                     "log_partition_bound", "largest_weight_bound", "retrieval_signal"):
            variable = result["variables"][name]
            self.assertEqual(variable["dimensions"], ["n", "t"], name)
            self.assertEqual(variable["samples"], [[400] * 3] * 3, name)
            self.assertTrue(all(e >= 0 for row in variable["standard_error"] for e in row), name)
        self.assertEqual(result["variables"]["ordered_weight"]["dimensions"], ["n", "t", "rank"])
        for name in ("planted_weight", "log_planted_weight", "median_planted_weight", "largest_noise_weight"):
            self.assertEqual(result["variables"][name]["dimensions"], ["n", "t", "signal"], name)
        for name in ("best_load", "best_typical_load"):
            self.assertEqual(result["variables"][name]["dimensions"], ["n", "signal"], name)
        for name in ("largest_weight", "largest_weight_law", "bare_largest_weight", "limit_largest_weight",
                     "edge_largest_weight", "series_largest_weight", "participation", "entropy",
                     "log_partition", "log_mean_partition", "retrieval_signal", "retrieval_exponent"):
            self.assertIn(name, theory["variables"])
        beta = result["variables"]["inverse_temperature"]["mean"]
        self.assertAlmostEqual(beta[1][2], load_of(1e6, 2), 12)

    # The means of one fixed seed, within 4 of their standard errors.
    def test_measures_what_theory_says(self):
        out = self.succeed_json(*self.small[:-1], "2000")
        result, theory = out["result"]["variables"], out["theory"]["variables"]
        for name in ("largest_weight", "participation", "entropy", "log_partition"):
            for i in range(3):
                for k in range(3):
                    exact = theory[name]["mean"][i][k]
                    if exact is None:
                        self.assertEqual(name, "largest_weight")
                        self.assertEqual(i, 0)  # N = 100 is below the quadrature
                        continue
                    if i == 2 and k == 0:
                        continue  # rare draws carry the mean at N = 1e30, t = 0.5
                    self.assertLess(abs(result[name]["mean"][i][k] - exact),
                                    4 * result[name]["standard_error"][i][k], (name, i, k))
        # Eq (118) of CAS is many standard errors away at every load.
        for i in range(1, 3):
            for k in range(3):
                wrong = theory["series_largest_weight"]["mean"][i][k]
                self.assertGreater(abs(result["largest_weight"]["mean"][i][k] - wrong),
                                   10 * result["largest_weight"]["standard_error"][i][k])

    def test_prints_a_block_for_each_n_and_a_line_for_each_load(self):
        text = self.succeed(*self.small, "--planted", "3,5.5")
        for word in ("N = 100 ", "N = 1e+06", "N = 1e+30", "beta_c = 5.25652", "b_N = 4.75342", "E w_max", "exact",
                     "PD(t_e)", "(118)", "does not hold", "E Σw²", "E log Z", "s_half", "m = 5.5", "Next:",
                     "largest noise weight", "best t of the grid"):
            self.assertIn(word, text)
        lines = [line.split() for line in text.split("\n")]
        self.assertEqual(sum(line[:1] == ["0.5"] for line in lines), 3 * (3 + 2))

    def test_threads_do_not_change_a_byte(self):
        arguments = [*self.small, "--signal", "1", "--json"]
        self.assertEqual(self.succeed(*arguments, "--threads", "1"), self.succeed(*arguments, "--threads", "2"))

    def test_draws_as_many_scores_as_asked(self):
        fixed = self.succeed_json(*self.small, "--top", "16")
        self.assertEqual(fixed["result"]["variables"]["top_count"]["mean"], [16, 16, 16])
        self.assertEqual((fixed["parameters"]["top"], fixed["parameters"]["bound"]), (16, None))
        fine = self.succeed_json(*self.small, "--bound", "1e-4")["result"]["variables"]
        self.assertEqual(fine["top_count"]["mean"][0], 100)  # all of them
        self.assertGreater(fine["top_count"]["mean"][1], 64)

    # Without 1/sqrt(d) scores are sqrt(d) larger and beta_c as much smaller: the same weights.
    def test_a_random_query_with_and_without_its_factor(self):
        options = [*self.small, "--keys-dimension", "16"]
        scaled = self.succeed_json(*options)["result"]["variables"]
        plain = self.succeed_json(*options, "--unscaled")
        self.assertTrue(plain["parameters"]["unscaled"])
        plain = plain["result"]["variables"]
        for i in range(3):
            for k in range(3):
                self.assertAlmostEqual(plain["inverse_temperature"]["mean"][i][k],
                                       scaled["inverse_temperature"]["mean"][i][k] / 4, 12)
                self.assertAlmostEqual(plain["largest_weight"]["mean"][i][k],
                                       scaled["largest_weight"]["mean"][i][k], 9)
        self.assertIn("R^16", self.succeed(*options))

    def test_keeps_a_study(self):
        out = self.succeed_json(*self.small, "-o", "c.study")
        self.assertEqual(out["study"], "c.study")
        self.assertEqual(self.files(), ["c.study"])
        self.assertIn("c.study", self.succeed(*self.small, "-o", "c.study"))

    def test_the_example_works_when_pasted(self):
        example = self.succeed("condense", "--help").split("Example:")[1].strip().split("\n")[0].split()
        self.assertEqual(example[:2], ["dewpoint", "condense"])
        self.assertIn("N = 1e+30", self.succeed(*example[1:]))

    def test_refusals_name_the_option_the_value_and_what_is_allowed(self):
        for arguments, words in [
            (["--n", "1"], ["n: 1 ", "[2, 1e300]"]),
            (["--n", "1e301"], ["n: 1e301", "[2, 1e300]"]),
            (["--n", ","], ["n: ','", "numbers"]),
            (["--t", "0"], ["t: 0 ", "(0, 1000]"]),
            (["--t", "2,1"], ["t: '2,1'", "increase"]),
            (["--t", "0:1"], ["t: '0:1'", "first:last:count"]),
            (["--sigma", "0"], ["sigma: 0 ", "[1e-50, 1e50]"]),
            (["--sigma", "-1"], ["sigma: -1 ", "[1e-50, 1e50]"]),
            (["--sigma", "nan"], ["sigma: 'nan'", "[1e-50, 1e50]"]),
            (["--draws", "1"], ["draws: 1 ", "[2, 1e7]"]),
            (["--draws", "2.5"], ["draws: 2.5 ", "whole"]),
            (["--top", "0"], ["top: 0 ", "[1, 1e6]"]),
            (["--n", "100", "--top", "101"], ["top: 101 ", "[1, 100]"]),
            (["--bound", "0"], ["bound: 0 ", "(0, 1]"]),
            (["--bound", "1e-12"], ["bound: 1e-12", "4096", "--top"]),
            (["--top", "8", "--bound", "0.1"], ["bound: 0.1 is given beside top"]),
            (["--signal", "inf"], ["signal: 'inf'", "numbers"]),
            (["--signal", "1e7"], ["signal: 1e7 ", "[-1e6, 1e6]"]),
            (["--planted", "nan"], ["planted: 'nan'", "numbers"]),
            (["--planted", "1e200"], ["planted: 1e200", "[-1e100, 1e100]"]),
            (["--signal", "1", "--planted", "1"], ["planted: 1 is given beside signal"]),
            (["--beta", "1", "--t", "1"], ["beta: 1 is given beside t"]),
            (["--beta", "1", "--n", "1e3,1e6"], ["beta: several n", "one n"]),
            (["--keys-dimension", "0"], ["keys-dimension: 0 ", "[1, 1e6]"]),
            (["--unscaled"], ["unscaled", "without keys-dimension"]),
        ]:
            message = self.refuse(2, "condense", *arguments)
            for word in words:
                self.assertIn(word, message)
        self.assertIn("no/such.study", self.refuse(1, "condense", "-o", "no/such.study"))
        self.assertEqual(self.files(), [])


class PredictCondense(ProgramTest):
    def ask(self, *arguments):
        return self.succeed_json("predict", "condense", *arguments)

    # Constants and E w_max of the Poisson-Dirichlet law, to the digits printed.
    def test_reproduces_the_printed_tables(self):
        for n, freezing, edge, expansion in [
                ("1e3", 3.716922, 3.090232, 3.116470), ("1e6", 5.256522, 4.753424, 4.766006),
                ("1e300", 37.169222, 37.047096, 37.047228)]:
            found = self.ask("--n", n, "--t", "1")["constants"]
            for key, value in [("freezing_beta", freezing), ("edge_score", edge), ("edge_score_expansion", expansion)]:
                self.assertAlmostEqual(found[key]["value"], value, delta=5.01e-7)
        for t, weight, participation, entropy, series in [
                ("1.05", .13049175, .047619, 20.924284, .574498), ("1.5", .48030844, .333333, 2.554818, .664966),
                ("2", .62650760, .5, 1.386294, .729488), ("20", .96515115, .95, .085394, .966257)]:
            found = self.ask("--n", "1e6", "--t", t)["quantities"]
            self.assertAlmostEqual(found["largest_weight"]["limit"], weight, delta=5.01e-9)
            self.assertAlmostEqual(found["participation"]["limit"], participation, delta=5.01e-7)
            self.assertAlmostEqual(found["entropy"]["limit"], entropy, delta=5.01e-7)
            self.assertAlmostEqual(found["largest_weight_series"]["published"], series, delta=5.01e-7)

    # Printed to three decimals at t_e; the law of the free energy to two.
    def test_finite_n_is_nearer_at_the_edge_load(self):
        for n, edge, energy in [("1e4", .681, 33.72), ("1e6", .666, 51.74), ("1e30", .637, 271.23)]:
            found = self.ask("--n", n, "--t", "2")["quantities"]
            weight = found["largest_weight"]
            self.assertAlmostEqual(weight["law"], edge, delta=5.01e-4)
            self.assertLess(abs(weight["law"] - weight["exact"]), abs(weight["limit"] - weight["exact"]) / 3)
            self.assertAlmostEqual(found["log_partition"]["law"], energy, delta=5.01e-3)

    def test_below_freezing_the_prefactor_counts(self):
        found = self.ask("--n", "1e30", "--t", "0.5")["quantities"]["largest_weight"]
        self.assertAlmostEqual(math.log10(found["published"]), -7.5, 12)
        self.assertLess(abs(found["law"] / found["exact"] - 1), 0.1)
        self.assertGreater(found["published"] / found["exact"], 3)
        self.assertEqual(found["limit"], 0)

    def test_says_what_is_found_and_where(self):
        weak = self.ask("--n", "1e6", "--t", "1.5", "--signal", "0.9")["retrieval"]
        self.assertEqual(weak["retrieval_signal"]["value"], 1)
        self.assertAlmostEqual(weak["exponent"]["value"], 2 * 1.5 * (0.9 - 1), 12)
        self.assertIsNone(weak["least_load"]["value"])
        self.assertEqual(weak["best_load"]["value"], 0.9)
        strong = self.ask("--n", "1e6", "--t", "0.5", "--signal", "1.25")["retrieval"]
        self.assertAlmostEqual(strong["retrieval_signal"]["value"], 1.25, 12)
        self.assertAlmostEqual(strong["least_load"]["value"], 0.5, 12)
        self.assertNotIn("best_load", self.ask("--n", "1e6", "--t", "0.5")["retrieval"])

    def test_beta_and_planted_are_other_names(self):
        beta, score = repr(load_of(1e6, 1.5) / 2), repr(2 * load_of(1e6, 0.9))
        one = self.ask("--n", "1e6", "--t", "1.5", "--signal", "0.9", "--sigma", "2")
        two = self.ask("--n", "1e6", "--beta", beta, "--planted", score, "--sigma", "2")
        self.assertAlmostEqual(two["parameters"]["t"], 1.5, 12)
        self.assertAlmostEqual(two["parameters"]["signal"], 0.9, 12)
        self.assertAlmostEqual(one["quantities"]["log_partition"]["exact"],
                               two["quantities"]["log_partition"]["exact"], 9)

    def test_the_example_works_when_pasted(self):
        example = self.succeed("predict", "condense", "--help").split("Example:")[1].strip().split("\n")[0].split()
        self.assertEqual(example[:3], ["dewpoint", "predict", "condense"])
        text = self.succeed(*example[1:])
        for word in ("beta_c", "b_N", "t_e", "E w_max", "does not hold", "E log Z", "s_c", "best t"):
            self.assertIn(word, text)
        self.assertEqual(self.succeed_json(*example[1:])["prediction"], "condense")

    def test_refusals_name_the_option_the_value_and_what_is_allowed(self):
        for arguments, words in [
            (["--n", "1", "--t", "1"], ["n: 1 ", "[2, 1e300]"]),
            (["--n", "100"], ["--t or --beta"]),
            (["--n", "100", "--t", "0"], ["t: 0 ", "(0, 1000]"]),
            (["--n", "100", "--beta", "-1"], ["beta: -1 ", "above 0"]),
            (["--n", "100", "--beta", "1e6"], ["beta: 1000000 ", "1000 beta_c"]),
            (["--n", "100", "--t", "1", "--beta", "1"], ["beta: 1 is given beside t"]),
            (["--n", "100", "--t", "1", "--sigma", "0"], ["sigma: 0 ", "[1e-50, 1e50]"]),
            (["--n", "100", "--t", "1", "--signal", "-1"], ["signal: -1 ", "[0, 1e6]"]),
            (["--n", "100", "--t", "1", "--planted", "inf"], ["planted: 'inf'", "at least 0"]),
            (["--n", "100", "--t", "1", "--planted", "1e9"], ["planted: 1000000000 ", "signal up to 1e6"]),
            (["--t", "1"], ["--n"]),
        ]:
            message = self.refuse(2, "predict", "condense", *arguments)
            for word in words:
                self.assertIn(word, message)


if __name__ == "__main__":
    unittest.main()
