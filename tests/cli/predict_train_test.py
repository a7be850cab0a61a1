"""dewpoint predict train: numbers of the theory, to the digits that are known."""

import math
import unittest

from harness import ProgramTest


class Predictions(ProgramTest):
    def predict(self, *arguments):
        return self.succeed_json("predict", "train", *arguments)

    def test_critical_points_of_the_standard_chain(self):
        found = self.predict()
        self.assertEqual(found["parameters"]["pi"], [0.75, 0.19, 0.05, 0.01])
        points = {name: row["value"] for name, row in found["critical_points"].items()}
        self.assertAlmostEqual(points["origin_rate"], 0.4595012949, 10)
        self.assertAlmostEqual(points["amplitude"], 2.030793253403, 12)
        self.assertAlmostEqual(points["attention_rate"], 0.127655522290, 12)
        self.assertAlmostEqual(points["amplitude_rate"], 2 * 0.127655522290, 11)
        self.assertAlmostEqual(points["plateau_loss"], 0.727138799173, 12)
        self.assertAlmostEqual(points["best_loss"], 0.302842199608, 12)
        self.assertAlmostEqual(found["critical_points"]["attention_rate"]["printed"],
                               0.223875241615, 12)
        outer = [group["value"] for group in found["spectra"]["outer"]][:3]
        for value, expected in zip(outer, (-0.900952710879, -0.217676727705, -0.044300848720)):
            self.assertAlmostEqual(value, expected, 12)
        self.assertEqual(sum(group["multiplicity"] for group in found["spectra"]["origin"]),
                         2 * 4 * 256 + 2 * 256 * 256)
        self.assertNotIn("excursion", found)

    def test_other_chains_have_their_own_growth(self):
        for name, rate in (("metropolis", 0.130018306818), ("birth-death", 0.135556007429),
                           ("cycle", 0.138480241652)):
            points = self.predict("--chain", name)["critical_points"]
            self.assertAlmostEqual(points["attention_rate"]["value"], rate, 12)

    # Heteroclinic limits are known to about 1e-7.
    def test_focus_of_two_groups(self):
        found = self.predict("--pi", "0.6,0.2,0.2", "--lambda", "0.8")
        orbit = {name: row["value"] for name, row in found["excursion"].items()}
        for name, value in (("peak_attention", 0.60757779), ("peak_amplitude", 0.20321626),
                            ("turn_after_peak", 3.3299529), ("end_amplitude", 1.4117883),
                            ("end_top", 1.8089024), ("end_low", -0.88278159),
                            ("end_output_gap", 1.7351475), ("end_attention_top", 0.99931091),
                            ("end_attention_low", 0.049775156), ("end_growth", 0.016132639),
                            ("end_loss", 0.59129049)):
            self.assertAlmostEqual(orbit[name], value, delta=5e-7, msg=name)

    def test_asymmetry_of_the_rare_tokens(self):
        found = self.predict("--pi", "0.6,0.2,0.2", "--asymmetry", "0.01")["asymmetry"]
        self.assertAlmostEqual(found["transverse_slope"]["value"], 0.6385552189, 9)
        self.assertAlmostEqual(found["transverse_rate"]["value"], 0.006385552189, 11)
        self.assertAlmostEqual(found["mismatch"]["value"], -0.5509251087, 9)
        self.assertAlmostEqual(found["output_slope"]["value"], -3.0360372167, 8)

    def test_times_grow_with_the_logarithm_of_the_start(self):
        at = [self.predict("--init", size)["times"] for size in ("1e-3", "1e-6")]
        for name in ("origin_time", "attention_time"):
            self.assertAlmostEqual(at[1][name]["value"], 2 * at[0][name]["value"], 9)
        self.assertAlmostEqual(at[0]["origin_time"]["value"], math.log(1e3) / 0.4595012949, 7)

    def test_text_names_what_it_predicts(self):
        text = self.succeed("predict", "train", "--pi", "0.6,0.2,0.2", "--asymmetry", "0.01",
                            "--init", "1e-3")
        for word in ("kappa_1", "1.16288359099", "J_out", "J_att", "A_21", "Lemma C.17", "T_p"):
            self.assertIn(word, text)

    def test_refusals(self):
        for arguments, words in ((["--m", "0"], ["m", "0"]),
                                 (["--init", "2"], ["init", "2", "(0, 1)"]),
                                 (["--pi", "0.5,0.4"], ["pi", "0.9"]),
                                 (["--lambda", "1"], ["lambda", "1"]),
                                 (["--asymmetry", "0.01"], ["asymmetry", "three tokens"]),
                                 (["--pi", "0.6,0.2,0.2", "--asymmetry", "0.3"],
                                  ["asymmetry", "0.3", "(0, 0.2)"])):
            with self.subTest(arguments):
                line = self.refuse(2, "predict", "train", *arguments)
                for word in words:
                    self.assertIn(word, line)


if __name__ == "__main__":
    unittest.main()
