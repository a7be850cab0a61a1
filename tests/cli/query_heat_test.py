"""dewpoint query heat, query harmonics and query output, run as a user would."""

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
            out = self.succeed_json("query", "harmonics", "--degree", str(degree), "--beta",
                                    str(beta), "--residual", str(residual), "--particles", "600")
            record = out["harmonics"][0]
            self.assertAlmostEqual(record["growth"][0], printed, delta=5e-7)
            self.assertAlmostEqual(record["growth"][0], record["predicted"], delta=5e-7)
        self.assertGreater(abs(record["growth"][0] - record["deconvolution"]), 0.1)

    def test_every_step_grows_alike(self):
        out = self.succeed_json("query", "harmonics", "--degree", "1,2", "--beta", "20,50",
                                "--particles", "300", "--steps", "3")
        self.assertEqual(out["parameters"],
                         {"beta": [20, 50], "degree": [1, 2], "residual": 0, "sphere": False,
                          "particles": 300, "steps": 3})
        self.assertEqual([(one["beta"], one["degree"]) for one in out["harmonics"]],
                         [(20, 1), (20, 2), (50, 1), (50, 2)])
        for record in out["harmonics"]:
            self.assertEqual(len(record["growth"]), 3)
            for factor in record["growth"]:
                self.assertAlmostEqual(factor, record["predicted"], delta=5e-7)

    def test_the_sphere_has_its_own_growth(self):
        out = self.succeed_json("query", "harmonics", "--degree", "2", "--beta", "20", "--sphere",
                                "--particles", "2000")
        record = out["harmonics"][0]
        self.assertTrue(out["parameters"]["sphere"])
        self.assertAlmostEqual(record["predicted"], 1.2707895, delta=5e-7)
        self.assertAlmostEqual(record["growth"][0], record["predicted"], delta=3e-5)

    def test_text_names_what_is_shown(self):
        text = self.succeed("query", "harmonics", "--degree", "1", "--beta", "20", "--particles",
                            "100")
        for word in ("growth", "G_ℓ", "backward heat", "circle", "1.0500000"):
            self.assertIn(word, text)


class Drift(ProgramTest):
    def test_drift_and_gap_are_those_of_infinitely_many_keys(self):
        out = self.succeed_json("query", "heat", "--n", "2e4", "--draws", "30", "--beta", "10,40")
        self.assertEqual(out["parameters"],
                         {"d": 5, "kappa": 5, "angle": 1, "n": 20000, "heat": None,
                          "beta": [10, 40], "draws": 30})
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
        self.assertEqual(out["parameters"]["heat"], [0.1, 0.3, 1, 3])
        self.assertIsNone(out["parameters"]["beta"])
        # d = 5: the law is the cube.
        self.assertAlmostEqual(out["drift"][3]["predicted_noise_to_signal"], 27)

    def test_multiples_of_the_threshold_are_temperatures(self):
        base = ["query", "heat", "--n", "2e3", "--draws", "20"]
        heat = self.succeed_json(*base, "--heat", "0.5")["drift"][0]
        self.assertEqual(heat, self.succeed_json(*base, "--beta", str(heat["beta"]))["drift"][0])
        self.assertAlmostEqual(heat["beta_over_beta_heat"], 0.5)

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

    def test_multiples_of_the_edge_are_temperatures(self):
        base = ["query", "output", "--keys", "gaussian-keys:d=3", "--n", "1e3", "--draws", "10"]
        out = self.succeed_json(*base, "--edge", "0.5,2")
        # The tabulated hazard of Gaussian scores at 1/n is 3.367.
        self.assertAlmostEqual(out["outputs"][0]["beta"], 0.5 * 3.367, delta=5e-4)
        self.assertAlmostEqual(out["outputs"][1]["beta"], 2 * 3.367, delta=2e-3)
        self.assertEqual(out["parameters"],
                         {"keys": "gaussian-keys:d=3", "n": 1000, "beta": None, "edge": [0.5, 2],
                          "draws": 10, "values": "identity"})

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
            (["heat", "--angle", "4"], ["angle: 4 is not a number in (0, 3.14159"]),
            (["heat", "--n", "1"], ["n", "1", "[2"]),
            (["heat", "--draws", "1"], ["draws", "1", "[2"]),
            (["heat", "--beta", "0,1"], ["beta", "0", "(0"]),
            (["heat", "--beta", "x"], ["beta", "x"]),
            (["heat", "--heat", "1", "--beta", "1"], ["beta: 1 is given beside heat"]),
            (["heat", "--heat", "1e30"], ["heat", "1e+30", "1e11"]),
            (["harmonics", "--degree", "0"], ["degree: 0 is not a whole number in [1, 64]"]),
            (["harmonics", "--degree", "65"], ["degree: 65 is not a whole number in [1, 64]"]),
            (["harmonics", "--residual", "1"], ["residual: 1 is not a number in [0, 1)"]),
            (["harmonics", "--degree", "2", "--beta", "1e6"], ["particles", "3000", "8004"]),
            (["harmonics", "--particles", "15"], ["particles", "15", "[16, 1e5]"]),
            (["harmonics", "--steps", "1001"], ["steps", "1001", "[1, 1000]"]),
            (["output", "--keys", "cube:d=3"], ["cube"]),
            (["output", "--keys", "sphere:d=1"], ["d", "1"]),
            (["output", "--n", "1.5"], ["n", "1.5", "whole"]),
            (["output", "--beta", "-1"], ["beta: -1 is not a number of at least 0"]),
            (["output", "--beta", "1", "--edge", "1"], ["edge: 1 is given beside beta"]),
            (["output", "--keys", "subsphere:dim=2,ambient=6,noise=0.1", "--edge", "1"],
             ["edge: 1 is not known for keys subsphere"]),
            (["output", "--draws", "1"], ["draws", "1"]),
            (["output", "--value-scale", "1,2"], ["value-scale", "2", "5"]),
            (["output", "--values", "v.npy"], ["values", "2 columns", "5"]),
            (["output", "--values", "none.npy"], ["none.npy"]),
            (["output", "--values", "v.npy", "--rotation", "1"], ["values", "rotation"]),
            (["output", "--rotation", "inf"], ["rotation", "inf", "a number"]),
        ]:
            message = self.refuse(2, "query", *arguments)
            for word in words:
                self.assertIn(word, message)
        self.assertEqual(self.files(), ["v.npy"])


if __name__ == "__main__":
    unittest.main()
