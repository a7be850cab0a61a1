"""dewpoint predict softmax, dew, query and heat: laws of scores, without simulation."""

import math
import unittest

from harness import ProgramTest


class PredictScores(ProgramTest):
    def ask(self, question, *options):
        return self.succeed_json("predict", question, *options)

    def test_softmax_of_gaussian_scores_is_that_of_the_random_energy_model(self):
        load = 1.5
        beta = load * math.sqrt(2 * math.log(1e6))
        row = self.ask("softmax", "--law", "gaussian", "--n", "1e6", "--beta", repr(beta))["table"][0]
        model = self.ask("condense", "--n", "1e6", "--t", repr(load))["quantities"]
        # Two quadratures, of 1e-11 relative each; the weight is right to 1e-6 in the model.
        self.assertAlmostEqual(row["participation"], model["participation"]["exact"], delta=2e-11)
        self.assertAlmostEqual(row["log_partition"], model["log_partition"]["exact"], delta=1e-9)
        self.assertAlmostEqual(row["largest_weight"], model["largest_weight"]["exact"], delta=1e-6)
        self.assertAlmostEqual(row["mean_score"], beta * (1 - row["participation"]), delta=1e-9)

    def test_softmax_over_keys_counts_scores_from_their_supremum(self):
        row = self.ask("softmax", "--law", "sphere:d=3", "--n", "1e4", "--beta", "5000")["table"][0]
        # E w_1 and E sum w^2 at theta = 1, printed to six digits.
        self.assertAlmostEqual(row["largest_weight"], 0.561448, delta=5e-7)
        self.assertAlmostEqual(row["participation"], 0.438525, delta=5e-7)
        self.assertLess(abs(row["normalisation_error"]), 1e-10)
        # 1 - <q, ATT> is 1.4929/5000, printed to five digits.
        self.assertAlmostEqual((1 - row["mean_score"]) * 5000, 1.4929, delta=5e-5)

    def test_dew_has_the_scales_of_every_definition(self):
        row = self.ask("dew", "--law", "sphere:d=9", "--n", "1e6")["table"][0]
        printed = {"beta_star": (38.458, 5e-4), "inverse_typical_gap": (38.155, 5e-4),
                   "beta_annealed": (83.599, 5e-4), "beta_pr": (260.344, 5e-4),
                   "beta_edge": (151.41, 5e-3), "beta_kl": (228.35, 5e-3),
                   "beta_tilted_mean": (151.10, 5e-3)}
        for key, (value, half_digit) in printed.items():
            self.assertAlmostEqual(row[key], value, delta=half_digit, msg=key)
        gaussian = self.ask("dew", "--law", "gaussian:sigma=2", "--n", "1e6")["table"][0]
        self.assertAlmostEqual(2 * gaussian["beta_pr"], 9.568, delta=5e-4)
        self.assertAlmostEqual(2 * gaussian["beta_edge"], 4.948, delta=5e-4)
        self.assertIsNone(gaussian["beta_annealed"])
        self.assertIsNone(gaussian["beta_star"])

    def test_dew_of_the_simplex_is_exact(self):
        row = self.ask("dew", "--law", "simplex:rho=0.5", "--n", "1e6")["table"][0]
        self.assertAlmostEqual(row["beta_dew"], 2 * math.log(999999), delta=1e-12)
        scores = [math.exp(-row["beta_pr"] * 0.5)] * 2
        other, others = scores[0], 999999
        total = 1 + others * other
        self.assertAlmostEqual((1 + others * other * other) / total ** 2, 0.5, delta=1e-12)

    def test_dew_knows_the_intrinsic_dimension_and_the_density(self):
        off = self.ask("dew", "--law", "subsphere:dim=4,ambient=16,angle=0.5", "--n", "1e9")
        on = self.ask("dew", "--law", "sphere:d=5", "--n", "1e9")
        self.assertEqual(off["exponent"], 2.0)
        for key in ("beta_star", "beta_pr", "beta_edge"):
            # Scores are multiplied by cos 0.5; both sides to 1e-9.
            self.assertAlmostEqual(off["table"][0][key] * math.cos(0.5) / on["table"][0][key], 1.0,
                                   delta=4e-9)
        dense = self.ask("dew", "--law", "vmf:d=3,kappa=8,angle=0", "--n", "1e9")["table"][0]
        density = 8 / (1 - math.exp(-16)) * 2  # at the pole of S^2, over the uniform one
        self.assertAlmostEqual(dense["beta_star"] / (density * 1e9 / 2), 1.0, delta=1e-10)

    def test_query_shows_every_regime(self):
        critical = self.ask("query", "--d", "5", "--n", "1e6", "--theta", "1")
        self.assertEqual(critical["regime"], "critical")
        exact = {key: value["exact"] for key, value in critical["quantities"].items()}
        # Printed to six digits.
        self.assertAlmostEqual(exact["largest_weight"], 0.23122, delta=5e-6)
        self.assertAlmostEqual(exact["participation"], 0.114234, delta=5e-7)
        self.assertAlmostEqual(exact["bias"], 2.13258, delta=5e-6)
        self.assertAlmostEqual(exact["scatter"], 0.26736, delta=5e-6)
        self.assertAlmostEqual(critical["quantities"]["participation"]["limit"], 0.114038, delta=5e-7)
        diffuse = self.ask("query", "--d", "3", "--n", "1e5", "--beta", "100")
        self.assertEqual(diffuse["regime"], "subcritical")
        # d = 3: R = beta, so n_eff = n/beta; the variance along is 0.005, printed to four digits.
        self.assertAlmostEqual(diffuse["scales"]["effective_keys"]["value"], 1000, delta=1e-6)
        # d = 3: A = coth(beta) - 1/beta, and the expansion ends there but for e^(-2 beta).
        for key in ("mean_resultant", "mean_resultant_expansion"):
            self.assertAlmostEqual(diffuse["scales"][key]["value"], 0.99, delta=1e-14)
        self.assertAlmostEqual(diffuse["quantities"]["radial_variance"]["gaussian"], 0.005, delta=5e-7)
        cold = self.ask("query", "--d", "5", "--n", "1e6", "--theta", "100")
        self.assertEqual(cold["regime"], "condensed")
        self.assertAlmostEqual(cold["quantities"]["remainder"]["exact"], 0.01229, delta=5e-6)
        self.assertAlmostEqual(cold["quantities"]["remainder"]["condensed"], 0.01229, delta=5e-6)

    def test_heat_has_drift_threshold_and_harmonics(self):
        out = self.ask("heat", "--d", "2", "--n", "1e5", "--beta", "50", "--harmonics", "5")
        harmonic = out["harmonics"][0]
        self.assertAlmostEqual(harmonic["growth"], 1.392437, delta=5e-7)  # printed
        self.assertAlmostEqual(harmonic["deconvolution"], math.exp(0.25), delta=1e-12)
        three = self.ask("heat", "--d", "3", "--kappa", "2", "--angle", "0.7", "--n", "1e5")
        density, gradient = three["density"], three["gradient"]
        self.assertAlmostEqual(gradient, 2 * math.sin(0.7), delta=1e-12)
        self.assertAlmostEqual(three["beta_heat"], math.sqrt(1e5 * density) * gradient, delta=1e-6)

    def test_refusals_name_the_field_and_what_is_allowed(self):
        for arguments, words in (
                (["softmax", "--law", "sphere:d=1", "--n", "10", "--beta", "1"], ["sphere:d=1", "d"]),
                (["softmax", "--law", "sfere:d=3", "--n", "10", "--beta", "1"], ["sfere"]),
                (["softmax", "--law", "simplex:rho=0.5", "--n", "10", "--beta", "1"], ["density"]),
                (["softmax", "--law", "gaussian:sigma=0", "--n", "10", "--beta", "1"], ["sigma", "0"]),
                (["softmax", "--law", "gaussian", "--n", "1", "--beta", "1"], ["n", "1"]),
                (["softmax", "--law", "gaussian", "--n", "10", "--beta", "0"], ["beta", "0"]),
                (["dew", "--law", "sphere:d=5", "--n", "2"], ["n", "2"]),
                (["dew", "--law", "simplex:rho=1"], ["rho", "1"]),
                (["query", "--d", "1", "--n", "10", "--theta", "1"], ["d", "1"]),
                (["query", "--d", "3", "--n", "10", "--theta", "0"], ["theta", "0"]),
                (["query", "--d", "3", "--n", "10"], ["theta"]),
                (["heat", "--kappa", "0"], ["kappa", "0"]),
                (["heat", "--harmonics", "0"], ["harmonics", "0"]),
                (["heat", "--residual", "1"], ["residual", "1"])):
            message = self.refuse(2, "predict", *arguments)
            for word in words:
                self.assertIn(word, message, arguments)


if __name__ == "__main__":
    unittest.main()
