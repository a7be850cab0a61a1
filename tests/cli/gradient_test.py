"""Jacobian norms, masks and many layers, run as a user would and checked against NumPy."""

import json
import os
import sqlite3
import subprocess
import unittest

from harness import ProgramTest

NUMPY_PYTHON = os.environ.get("NUMPY_PYTHON", "")

# Tokens of many lengths in a file; then, for a mask, the Jacobian by complex step and three layers.
ORACLE = """
import json
import numpy as np

n, d, beta, alpha = 14, 5, 3.0, 0.4
rng = np.random.default_rng(7)
x = rng.standard_normal((n, d)) + rng.standard_normal(d)
np.save("tokens.npy", x)

def layer(x, mask):
    y = x / np.sqrt((x * x).sum(axis=1, keepdims=True))
    a = np.exp(beta * (y @ y.T - 1)) * mask
    return (a / a.sum(axis=1, keepdims=True)) @ y + alpha * x

def norm(mask):
    total = 0.0
    for k in range(n * d):
        step = np.zeros(n * d, dtype=complex)
        step[k] = 1e-30j
        total += np.sum((layer(x + step.reshape(n, d), mask).imag / 1e-30) ** 2)
    return total / (n * d)

def gap(x):
    y = x / np.linalg.norm(x, axis=1, keepdims=True)
    return np.mean((1 - y @ y.T)[np.triu_indices(n, 1)])

i, j = np.indices((n, n))
masks = {"none": i >= 0, "causal": j <= i, "window:4": (j <= i) & (j > i - 4)}
answers = {}
for name, mask in masks.items():
    gaps, z = [gap(x)], x
    for _ in range(3):
        z = layer(z, mask)
        gaps.append(gap(z))
    answers[name] = {"norm": norm(mask), "gaps": gaps}
json.dump(answers, open("answers.json", "w"))
"""


def has_numpy():
    if not NUMPY_PYTHON or not os.path.exists(NUMPY_PYTHON):
        return False
    return subprocess.run([NUMPY_PYTHON, "-c", "import numpy"], capture_output=True).returncode == 0


@unittest.skipUnless(has_numpy(), "the system's Python has no NumPy")
class AgainstNumPy(ProgramTest):
    def setUp(self):
        super().setUp()
        subprocess.run([NUMPY_PYTHON, "-c", ORACLE], cwd=self.folder.name, check=True)
        with open(self.path("answers.json")) as file:
            self.answers = json.load(file)

    # float32 products: a dozen roundings of 1.2e-7 and those of an exponent of size 3
    def test_the_jacobian_norm_is_that_of_the_complex_step(self):
        for mask, answer in self.answers.items():
            out = self.succeed_json("phase", "point", "--tokens", "tokens.npy", "--beta", "3",
                                    "--norm", "gauss", "--alpha", "0.4", "--mask", mask,
                                    "--eta", "exact")
            norm = out["observables"]["jacobian_norm"]["mean"]
            self.assertLess(abs(norm / answer["norm"] - 1), 3e-6, mask)

    def test_sampled_norms_state_their_error(self):
        for method in ("mixed", "hutchinson"):
            out = self.succeed_json("phase", "point", "--tokens", "tokens.npy", "--beta", "3",
                                    "--norm", "gauss", "--alpha", "0.4", "--eta", method)
            norm = out["observables"]["jacobian_norm"]
            self.assertGreater(norm["standard_error"], 0)
            error = abs(norm["mean"] - self.answers["none"]["norm"])
            self.assertLess(error, 8 * norm["standard_error"] + 1e-6, method)  # few probes: wide tails

    def test_three_layers_have_the_gaps_of_numpy(self):
        gamma = 3 / 2.6390573296152584  # 3 / log 14
        for mask, answer in self.answers.items():
            out = self.succeed_json("phase", "depth", "--tokens", "tokens.npy", "--gamma", repr(gamma),
                                    "--norm", "gauss", "--alpha", "0.4", "--layers", "3",
                                    "--mask", mask)
            frame = out["frames"]["phase_depth"]["variables"]
            for layer, gap in enumerate(answer["gaps"]):
                self.assertLess(abs(10 ** frame["log10_gap"]["mean"][0][layer] / gap - 1), 1e-11)


class Depth(ProgramTest):
    small = ["phase", "depth", "--n", "48", "--d", "8", "--gamma", "1.5,3", "--layers", "4"]

    def test_prints_a_table_for_every_gamma(self):
        text = self.succeed(*self.small)
        self.assertEqual(text.count("gamma = "), 2)
        for word in ("log10 gap", "eff. rank", "λ", "η"):
            self.assertIn(word, text)

    def test_a_study_holds_measurement_and_theory_and_has_a_figure(self):
        self.succeed(*self.small, "--singular-values", "2", "-o", "d.study")
        self.assertEqual(self.files(), ["d.png", "d.study", "d.svg"])
        with sqlite3.connect(self.path("d.study")) as study:
            names = {row[0] for row in study.execute("SELECT name FROM frame")}
            variables = {row[0] for row in study.execute("SELECT name FROM variable")}
        self.assertEqual(names, {"phase_depth", "depth_theory"})
        self.assertLessEqual({"contraction", "jacobian_norm", "end_to_end_norm", "singular_value"},
                             variables)

    def test_threads_do_not_change_a_byte(self):
        more = ["--replicas", "3", "--singular-values", "1"]
        self.assertEqual(self.succeed_json(*self.small, *more, "--threads", "1"),
                         self.succeed_json(*self.small, *more, "--threads", "2"))

    def test_goes_through_layers_of_every_form(self):
        for form in (["--attention", "sink:1", "--mask", "window:9"], ["--attention", "top:5"],
                     ["--attention", "linear", "--mask", "causal"],
                     ["--projections", "orthogonal:2", "--rope", "100"],
                     ["--mask", "global:4:2", "--attention", "off-by-one"]):
            out = self.succeed_json(*self.small, *form, "--singular-values", "1")
            frame = out["frames"]["phase_depth"]["variables"]
            for name in ("mean_cosine", "jacobian_norm", "end_to_end_norm"):
                self.assertNotIn(None, frame[name]["mean"][0][1:], form)
            self.assertNotIn("depth_theory", out["frames"])

    def test_random_heads_have_their_theory_beside_them(self):
        out = self.succeed_json(*self.small, "--tokens", "sphere", "--projections", "orthogonal:1")
        theory = out["frames"]["depth_theory"]["variables"]
        self.assertEqual(theory["mean_cosine"]["mean"][0][0], 0)
        self.assertNotIn(None, theory["jacobian_norm"]["mean"][1][1:])

    # Gaps below rounding are no numbers; what is beside them is.
    def test_says_where_rounding_hides_the_gaps(self):
        weak = ["phase", "depth", "--tokens", "sphere", "--n", "48", "--d", "8", "--gamma", "0.1",
                "--layers", "8", "--projections", "orthogonal:1"]
        self.assertIn("rounding hides their gap", self.succeed(*weak))
        frame = self.succeed_json(*weak)["frames"]["phase_depth"]["variables"]
        self.assertIsNone(frame["log10_gap"]["mean"][0][8])
        self.assertIsNone(frame["contraction"]["mean"][0][8])
        self.assertEqual(frame["unresolved_pairs"]["mean"][0][8], 48 * 47 / 2)
        self.assertIsNotNone(frame["jacobian_norm"]["mean"][0][8])

    # A simplex follows its recursion; 1 − ρ from float64 tokens, three times its error per layer.
    def test_a_simplex_follows_the_exact_recursion(self):
        arguments = ["--n", "24", "--rho", "0.4", "--gamma", "1.5,2.5", "--layers", "5",
                     "--alpha", "0.2"]
        measured = self.succeed_json("phase", "depth", "--tokens", "simplex", *arguments)
        exact = self.succeed_json("phase", "depth", "--exact", *arguments)
        a = measured["frames"]["phase_depth"]["variables"]["log10_gap"]["mean"]
        b = exact["result"]["variables"]["log10_gap"]["mean"]
        for row, other in zip(a, b):
            for x, y in zip(row, other):
                self.assertLess(abs(x - y), 1e-11)

    def test_exact_recursions_reach_any_length(self):
        out = self.succeed_json("phase", "depth", "--exact", "--tokens", "two-level", "--n", "1e300",
                                "--cluster-size", "1e210", "--rho", "0.1", "--rho-inner", "0.7",
                                "--gamma", "1.5", "--layers", "3")
        inner = out["result"]["variables"]["log10_inner_gap"]["mean"][0]
        self.assertLess(inner[3], -3000)
        cosine = out["result"]["variables"]["mean_cosine"]["mean"][0]
        self.assertAlmostEqual(cosine[3], 1 / 7, 12)


class Refusals(ProgramTest):
    def test_bad_values_are_named(self):
        for arguments, words in [
            (["phase", "depth", "--layers", "0"], ["layers", "0", "1"]),
            (["phase", "depth", "--alpha", "-1"], ["alpha", "-1", "[0, 1e6]"]),
            (["phase", "point", "--alpha", "-0.5"], ["alpha", "-0.5", "[0, 1e6]"]),
            (["phase", "map", "--alpha", "-0.5"], ["alpha", "-0.5", "[0, 1e6]"]),
            (["phase", "point", "--mask", "window:0"], ["mask", "window:0", "visible key"]),
            (["phase", "depth", "--mask", "window:0"], ["mask", "window:0", "visible key"]),
            (["phase", "point", "--mask", "diagonal"], ["mask", "diagonal", "causal"]),
            (["phase", "point", "--mask", "causal", "--tokens", "clustered"], ["mask", "clustered"]),
            (["phase", "point", "--eta", "maybe"], ["eta", "maybe", "hutchinson"]),
            (["phase", "point", "--eta-error", "0"], ["eta-error", "0"]),
            (["phase", "point", "--eta", "hutchinson", "--eta-probes", "1"], ["eta-probes", "1"]),
            (["phase", "point", "--eta", "hutchinson", "--rows", "64"], ["hutchinson", "rows"]),
            (["phase", "depth", "--n", "1e300"], ["n", "1e300", "whole"]),
            (["phase", "depth", "--n", "10.5"], ["n", "10.5", "whole"]),
            (["phase", "depth", "--exact", "--n", "1e301"], ["n", "1e301", "1e300"]),
            (["phase", "depth", "--exact", "--tokens", "sphere"], ["tokens", "sphere", "simplex"]),
            (["phase", "depth", "--exact", "--rescale"], ["rescale", "--exact"]),
            (["phase", "depth", "--exact", "-o", "x.study"], ["output", "--exact"]),
            (["phase", "depth", "--exact", "--replicas", "4"], ["replicas", "--exact"]),
            (["phase", "depth", "--exact", "--d", "0.5"], ["d: 0.5", "[1, 1e300]"]),
            (["phase", "depth", "--exact", "--cluster-size", "4"], ["cluster-size", "two-level"]),
            (["phase", "depth", "--exact", "--layers", "0"], ["layers", "0"]),
            (["phase", "depth", "--exact", "--alpha", "-2"], ["alpha", "-2"]),
            (["phase", "depth", "--gamma", "-1"], ["gamma", "-1"]),
            (["phase", "depth", "--n", "4", "--d", "2", "--singular-values", "8"],
             ["singular-values", "8"]),
            (["phase", "depth", "--d", "8", "--projections", "orthogonal:3"],
             ["projections", "3 heads", "8"]),
            (["phase", "depth", "--projections", "orthogonal:1", "--eta", "exact"],
             ["eta", "exact", "hutchinson"]),
            (["phase", "depth", "--n", "48", "--attention", "top:99"], ["attention", "top:99", "48"]),
            (["phase", "depth", "--attention", "linear", "--mask", "window:4"],
             ["linear", "window:4", "causal"]),
            (["phase", "depth", "--exact", "--projections", "orthogonal:1"],
             ["exact", "plain softmax"]),
        ]:
            message = self.refuse(2, *arguments)
            for word in words:
                self.assertIn(word, message, arguments)


if __name__ == "__main__":
    unittest.main()
