"""dewpoint query heat and dewpoint query output, run as a user would."""

import math
import struct
import unittest

from harness import ProgramTest


def within(estimate, value, slack=0.0, sigmas=5.6):
    return abs(estimate["mean"] - value) <= sigmas * estimate["standard_error"] + slack


def npy(rows):
    """A .npy file of doubles, format 1.0."""
    header = "{'descr': '<f8', 'fortran_order': False, 'shape': (%d, %d), }" % (
        len(rows), len(rows[0]))
    header += " " * (118 - len(header) - 1) + "\n"
    numbers = [x for row in rows for x in row]
    return (b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode()
            + struct.pack("<%dd" % len(numbers), *numbers))


class Harmonics(ProgramTest):
    def test_growth_is_the_closed_form_to_six_digits(self):
        for beta, degree, residual, printed in [(20, 3, 0.5, 1.180979), (50, 5, 0.9, 1.038888),
                                                (8, 2, 0.3, 1.280902), (50, 5, 0, 1.392437)]:
            out = self.succeed_json("query", "heat", "--harmonics", str(degree), "--beta",
                                    str(beta), "--residual", str(residual), "--particles", "600")
            record = out["harmonics"][0]
            self.assertAlmostEqual(record["growth"][0], printed, delta=5e-7)
            self.assertAlmostEqual(record["growth"][0], record["predicted"], delta=5e-7)
        self.assertGreater(abs(record["growth"][0] - record["deconvolution"]), 0.1)

    def test_every_step_grows_alike(self):
        out = self.succeed_json("query", "heat", "--harmonics", "1,2", "--beta", "20,50",
                                "--particles", "300", "--steps", "3")
        self.assertEqual(len(out["harmonics"]), 4)
        for record in out["harmonics"]:
            self.assertEqual(len(record["growth"]), 3)
            for factor in record["growth"]:
                self.assertAlmostEqual(factor, record["predicted"], delta=5e-7)

    def test_the_sphere_has_its_own_growth(self):
        out = self.succeed_json("query", "heat", "--harmonics", "2", "--beta", "20", "--sphere",
                                "--particles", "2000")
        record = out["harmonics"][0]
        self.assertEqual(out["parameters"]["manifold"], "sphere")
        self.assertAlmostEqual(record["predicted"], 1.2707895, delta=5e-7)
        self.assertAlmostEqual(record["growth"][0], record["predicted"], delta=3e-5)

    def test_text_names_what_is_shown(self):
        text = self.succeed("query", "heat", "--harmonics", "1", "--beta", "20", "--particles",
                            "100")
        for word in ("growth", "G_ℓ", "backward heat", "circle", "1.0500000"):
            self.assertIn(word, text)


class Drift(ProgramTest):
    def test_drift_and_gap_are_those_of_infinitely_many_keys(self):
        out = self.succeed_json("query", "heat", "--n", "2e4", "--draws", "30", "--beta", "10,40")
        self.assertEqual(out["parameters"]["n"], 20000)
        for record in out["drift"]:
            # The bias is a share 1/n_eff < 0.02 of the drift.
            self.assertTrue(within(record["drift"], record["predicted_drift"],
                                   0.02 * record["predicted_drift"]), record)
            self.assertTrue(within(record["gap"], record["predicted_gap"],
                                   0.02 * record["predicted_gap"]), record)
            self.assertEqual(record["drift"]["samples"], 30)

    def test_default_temperatures_surround_the_second_threshold(self):
        out = self.succeed_json("query", "heat", "--n", "2e3", "--draws", "20")
        ratios = [record["beta_over_beta_heat"] for record in out["drift"]]
        for ratio, expected in zip(ratios, (0.1, 0.3, 1, 3)):
            self.assertAlmostEqual(ratio, expected)
        noise = [record["noise_to_signal"]["mean"] for record in out["drift"]]
        self.assertEqual(noise, sorted(noise))
        self.assertLess(noise[0], 0.1)
        self.assertGreater(noise[3], 5)
        # d = 5: the law is the cube.
        self.assertAlmostEqual(out["drift"][3]["predicted_noise_to_signal"], 27)

    def test_threads_do_not_change_a_byte(self):
        arguments = ["query", "heat", "--n", "3000", "--draws", "6", "--beta", "10"]
        self.assertEqual(self.succeed(*arguments, "--json", "--threads", "1"),
                         self.succeed(*arguments, "--json", "--threads", "2"))

    def test_the_seed_does(self):
        arguments = ["query", "heat", "--n", "3000", "--draws", "6", "--beta", "10"]
        self.assertNotEqual(self.succeed(*arguments, "--seed", "1"),
                            self.succeed(*arguments, "--seed", "2"))


class Output(ProgramTest):
    def test_a_rotation_turns_mean_and_covariance(self):
        base = ["query", "output", "--keys", "sphere:d=3", "--n", "2000", "--beta", "10",
                "--draws", "40"]
        plain = self.succeed_json(*base)["outputs"][0]
        turned = self.succeed_json(*base, "--rotation", "0.5")["outputs"][0]
        cosine, sine = math.cos(0.5), math.sin(0.5)
        mean = [entry["mean"] for entry in plain["mean"]]
        self.assertAlmostEqual(turned["mean"][0]["mean"], cosine * mean[0] - sine * mean[1], 12)
        self.assertAlmostEqual(turned["mean"][1]["mean"], sine * mean[0] + cosine * mean[1], 12)
        c = plain["covariance"]["mean"]
        self.assertAlmostEqual(turned["covariance"]["mean"][0][0],
                               cosine**2 * c[0][0] - 2 * cosine * sine * c[0][1]
                               + sine**2 * c[1][1], 10)

    def test_uniform_keys_have_the_predicted_covariance(self):
        out = self.succeed_json("query", "output", "--keys", "sphere:d=5", "--n", "1e4", "--beta",
                                "10", "--draws", "100", "--value-scale", "1,-2,0.5,0,3")
        record = out["outputs"][0]
        self.assertAlmostEqual(record["prediction"]["parallel_variance"], 0.25618556, 6)
        self.assertAlmostEqual(record["prediction"]["tangential_variance"], 0.88220164, 6)
        self.assertLess(record["worst_covariance_z"], 5.6)
        self.assertEqual(record["covariance"]["mean"][3][3], 0)
        self.assertTrue(within(record["mean"][0], record["prediction"]["mean"][0], 1e-3))

    def test_values_come_from_a_file(self):
        with open(self.path("v.npy"), "wb") as file:
            file.write(npy([[2.0, 0.0, 0.0], [0.0, 1.0, 1.0]]))
        base = ["query", "output", "--keys", "vmf:d=3,kappa=2,angle=0.5", "--n", "500", "--beta",
                "5", "--draws", "10"]
        plain = self.succeed_json(*base)["outputs"][0]
        out = self.succeed_json(*base, "--values", "v.npy")
        valued = out["outputs"][0]
        self.assertEqual(out["parameters"]["values"], "v.npy")
        self.assertEqual(len(valued["mean"]), 2)
        self.assertAlmostEqual(valued["mean"][0]["mean"], 2 * plain["mean"][0]["mean"], 12)
        self.assertAlmostEqual(valued["mean"][1]["mean"],
                               plain["mean"][1]["mean"] + plain["mean"][2]["mean"], 12)
        # The drift towards the centre, up to a bias of order Σw² < 0.03.
        self.assertTrue(within(plain["mean"][1], plain["prediction"]["mean"][1], 0.03))

    def test_keys_without_a_theory_have_no_prediction(self):
        out = self.succeed_json("query", "output", "--keys", "gaussian-keys:d=3", "--n", "500",
                                "--beta", "1", "--draws", "10")
        self.assertIsNone(out["outputs"][0]["prediction"])

    def test_threads_do_not_change_a_byte(self):
        arguments = ["query", "output", "--n", "3000", "--draws", "6", "--json"]
        self.assertEqual(self.succeed(*arguments, "--threads", "1"),
                         self.succeed(*arguments, "--threads", "2"))


class Refusals(ProgramTest):
    def test_name_the_field_the_value_and_what_is_allowed(self):
        with open(self.path("v.npy"), "wb") as file:
            file.write(npy([[1.0, 0.0]]))
        for arguments, words in [
            (["heat", "--d", "1"], ["d", "1", "[2, 512]"]),
            (["heat", "--d", "2.5"], ["d", "2.5", "whole"]),
            (["heat", "--kappa", "0"], ["kappa", "0"]),
            (["heat", "--angle", "4"], ["angle", "4", "(0, pi)"]),
            (["heat", "--n", "1"], ["n", "1", "[2"]),
            (["heat", "--draws", "1"], ["draws", "1", "[2"]),
            (["heat", "--beta", "0,1"], ["beta", "0", "(0"]),
            (["heat", "--beta", "x"], ["beta", "x"]),
            (["heat", "--harmonics", "0"], ["harmonics", "0", "[1, 64]"]),
            (["heat", "--harmonics", "2", "--residual", "1"], ["residual", "1", "[0, 1)"]),
            (["heat", "--harmonics", "2", "--beta", "1e6"], ["particles", "3000", "8004"]),
            (["heat", "--harmonics", "2", "--kappa", "3"], ["kappa", "harmonics"]),
            (["heat", "--sphere"], ["sphere", "harmonics"]),
            (["output", "--keys", "cube:d=3"], ["cube"]),
            (["output", "--keys", "sphere:d=1"], ["d", "1"]),
            (["output", "--n", "1.5"], ["n", "1.5", "whole"]),
            (["output", "--beta", "-1"], ["beta", "-1", ">= 0"]),
            (["output", "--draws", "1"], ["draws", "1"]),
            (["output", "--value-scale", "1,2"], ["value-scale", "2", "5"]),
            (["output", "--values", "v.npy"], ["values", "2 columns", "5"]),
            (["output", "--values", "none.npy"], ["none.npy"]),
            (["output", "--values", "v.npy", "--rotation", "1"], ["values", "rotation"]),
            (["output", "--rotation", "inf"], ["rotation", "inf", "finite"]),
        ]:
            message = self.refuse(2, "query", *arguments)
            for word in words:
                self.assertIn(word, message)
        self.assertEqual(self.files(), ["v.npy"])


if __name__ == "__main__":
    unittest.main()
