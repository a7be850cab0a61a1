"""dewpoint phase point and dewpoint phase map, run as a user would."""

import json
import os
import resource
import signal
import sqlite3
import subprocess
import time
import unittest

from harness import DEWPOINT, ProgramTest

NUMPY_PYTHON = os.environ.get("NUMPY_PYTHON", "")


def has_numpy():
    if not NUMPY_PYTHON or not os.path.exists(NUMPY_PYTHON):
        return False
    return subprocess.run([NUMPY_PYTHON, "-c", "import numpy"], capture_output=True).returncode == 0


class Point(ProgramTest):
    def test_prints_every_observable_with_its_error(self):
        text = self.succeed("phase", "point", "--n", "128", "--replicas", "4")
        for word in ("contraction", "entropy", "participation", "self mass", "±"):
            self.assertIn(word, text)

    def test_json_carries_parameters_seed_version_and_errors(self):
        out = self.succeed_json("phase", "point", "--n", "128", "--d", "32", "--rho", "0.4",
                                "--gamma", "1.5", "--replicas", "4", "--seed", "9")
        self.assertEqual(out["seed"], 9)
        self.assertEqual(out["parameters"]["n"], 128)
        self.assertAlmostEqual(out["theory"]["critical_gamma"], 1 / 0.6)
        contraction = out["observables"]["contraction"]
        self.assertEqual(contraction["samples"], 4)
        self.assertGreater(contraction["standard_error"], 0)

    def test_every_form_of_a_layer_runs_and_is_recorded(self):
        for form in (["--mask", "dilated:9:3"], ["--mask", "global:9:3"], ["--attention", "sink:5"],
                     ["--mask", "window:40", "--attention", "off-by-one"],
                     ["--attention", "top:7"], ["--mask", "causal", "--attention", "linear"],
                     ["--attention", "features:32"], ["--projections", "orthogonal:4"],
                     ["--rope", "10000"]):
            out = self.succeed_json("phase", "point", "--n", "96", "--d", "16", "--replicas", "2",
                                    *form)
            self.assertEqual(set(out["observables"]) - {"norm_sampling_error"}, {
                "contraction", "smallest_cosine", "mean_cosine", "largest_cosine", "entropy",
                "largest_weight", "participation", "self_mass", "cluster_mass", "rest_mass",
                "jacobian_norm"}, form)
            for name, value in zip(form[::2], form[1::2]):
                self.assertEqual(str(out["parameters"][name[2:]]).removesuffix(".0"), value)
            self.assertIsNone(out["theory"])

    def test_contradictory_forms_are_refused_in_one_line(self):
        base = ["phase", "point", "--n", "64", "--d", "16"]
        for form, said in (
                (["--mask", "window:0"], "mask: window:0 leaves every query"),
                (["--mask", "none,causal"], "mask: 'none,causal' is not"),
                (["--mask", "dilated:4:0"], "mask: dilated:4:0 needs"),
                (["--attention", "top:65"], "attention: top:65 keeps more keys than a query sees"),
                (["--mask", "window:4", "--attention", "top:5"], "4 of 64 tokens under mask window:4"),
                (["--mask", "window:4", "--attention", "linear"], "needs the mask none or causal"),
                (["--attention", "sink:inf"], "attention: sink:inf has no finite logit"),
                (["--projections", "orthogonal:3"], "projections: 3 heads do not divide"),
                (["--projections", "orthogonal:16", "--rope", "1e4"], "rope: 1 coordinates"),
                (["--rope", "-3"], "rope: -3 is not"),
                (["--attention", "sink:1", "--eta", "exact"], "eta: exact is known for plain"),
                (["--tokens", "clustered", "--rho", "0.1", "--mask", "causal"], "cluster mass")):
            self.assertIn(said, self.refuse(2, *base, *form))
            self.assertIn(said, self.refuse(2, "phase", "map", *base[2:], *form, "-o", "x.study"))
        self.assertFalse(os.path.exists(os.path.join(self.folder.name, "x.study")))

    def test_one_random_cloud_has_no_error_bar(self):
        out = self.succeed_json("phase", "point", "--n", "64")
        self.assertIsNone(out["observables"]["contraction"]["standard_error"])

    def test_threads_do_not_change_a_byte(self):
        arguments = ["phase", "point", "--n", "1500", "--replicas", "3"]
        one = self.succeed_json(*arguments, "--threads", "1")
        two = self.succeed_json(*arguments, "--threads", "2")
        self.assertEqual(one, two)

    def test_every_law_of_tokens_runs(self):
        for law in ("equicorrelated", "simplex", "two-level", "clustered", "sphere", "half-sphere"):
            out = self.succeed_json("phase", "point", "--tokens", law, "--n", "64")
            self.assertGreater(out["observables"]["contraction"]["mean"], 0, law)

    def test_temperature_by_beta_gamma_or_law(self):
        base = ["phase", "point", "--n", "64", "--d", "8"]
        beta = 1.5 * 4.1588830833596715  # 1.5 log 64
        by_gamma = self.succeed_json(*base, "--gamma", "1.5")
        by_beta = self.succeed_json(*base, "--beta", repr(beta))
        by_law = self.succeed_json(*base, "--law", "log", "--strength", "1.5")
        self.assertEqual(by_gamma["observables"], by_law["observables"])
        self.assertEqual(by_beta["inverse_temperature"], beta)
        self.assertAlmostEqual(by_gamma["inverse_temperature"], beta, 12)
        by_c = self.succeed_json(*base, "--c", "0.75")  # rho is 0.5
        self.assertEqual(by_gamma["observables"], by_c["observables"])
        for question, asked in ((by_gamma, {"gamma": 1.5}), (by_beta, {"beta": beta}), (by_c, {"c": 0.75}),
                                (by_law, {"law": "log", "strength": 1.5})):
            said = {name: question["parameters"][name] for name in ("gamma", "c", "beta", "law", "strength")}
            self.assertEqual({name: value for name, value in said.items() if value is not None}, asked)
        self.refuse(2, *base, "--gamma", "1", "--beta", "2")
        self.refuse(2, *base, "--strength", "2")

    def test_parameters_are_those_of_the_question(self):
        out = self.succeed_json("phase", "point", "--tokens", "clustered", "--n", "64", "--alpha", "0.5")
        parameters = out["parameters"]
        self.assertEqual((parameters["cluster-size"], parameters["rho-inner"], parameters["d"]), (16, 0.8, 64))
        self.assertEqual((parameters["eta"], parameters["gamma"], parameters["replicas"]), ("auto", 1, 1))
        self.assertEqual((parameters["attention"], parameters["target-error"]), (None, None))

    def test_what_has_no_effect_is_refused(self):
        for words, said in ((["--tokens", "sphere", "--rho", "0.2"], "rho: is given, but tokens 'sphere' have none"),
                            (["--cluster-size", "8"], "cluster-size: is given, but tokens 'equicorrelated'"),
                            (["--eta", "exact", "--eta-error", "0.1"], "eta-error: is given, but eta exact"),
                            (["--eta", "none", "--norm", "gauss"], "norm: is given, but nothing looks")):
            self.assertIn(said, self.refuse(2, "phase", "point", "--n", "32", *words))
            self.assertIn(said, self.refuse(2, "phase", "depth", "--n", "32", *words))
        self.assertIn("probes: is given", self.refuse(2, "phase", "depth", "--n", "32", "--probes", "8"))

    def test_refusals_name_the_field_the_value_and_what_is_allowed(self):
        base = ["phase", "point"]
        for arguments, words in [
            (["--rho", "1"], ["rho", "1", "[0, 1)"]),
            (["--rho", "-0.1"], ["rho", "-0.1", "[0, 1)"]),
            (["--rho", "abc"], ["rho", "abc"]),
            (["--n", "1"], ["n", "1", "2"]),
            (["--n", "-5"], ["n", "-5"]),
            (["--gamma", "-1"], ["gamma", "-1", "[0, 1e6]"]),
            (["--gamma", "inf"], ["gamma", "inf", "[0, 1e6]"]),
            (["--tokens", "cube"], ["tokens", "cube", "equicorrelated", "half-sphere"]),
            (["--norm", "l1"], ["norm", "l1", "gauss/d"]),
            (["--law", "cubic"], ["law", "cubic", "sqrt-log"]),
            (["--replicas", "0"], ["replicas", "0"]),
            (["--threads", "-1"], ["threads", "-1"]),
            (["--no-such-option"], ["no-such-option"]),
        ]:
            message = self.refuse(2, *base, *arguments)
            for word in words:
                self.assertIn(word, message)
        self.assertEqual(self.files(), [])


class TokensFromFile(ProgramTest):
    def numpy(self, code):
        if not has_numpy():
            self.skipTest("no Python with NumPy to write the file")
        subprocess.run([NUMPY_PYTHON, "-c", "import numpy as np\n" + code], check=True,
                       cwd=self.folder.name)

    def test_reads_what_numpy_wrote_and_agrees_with_numpy(self):
        self.numpy("""
rng = np.random.default_rng(1)
x = rng.standard_normal((200, 16)) + 1.0
np.save('tokens.npy', x.astype(np.float32))
x = x.astype(np.float32).astype(np.float64)
y = x / np.linalg.norm(x, axis=1, keepdims=True)
g = y @ y.T
a = np.exp(8.0 * (g - 1)); a /= a.sum(1, keepdims=True)
m = a @ y; m /= np.linalg.norm(m, axis=1, keepdims=True)
i = np.triu_indices(200, 1)
print(repr(np.mean((1 - (m @ m.T)[i]) / (1 - g[i]))), file=open('expected', 'w'))
""")
        with open(self.path("expected")) as file:
            expected = float(file.read().replace("np.float64(", "").replace(")", ""))
        out = self.succeed_json("phase", "point", "--tokens", "tokens.npy", "--beta", "8")
        measured = out["observables"]["contraction"]
        self.assertEqual((out["parameters"]["n"], out["parameters"]["rho"]), (200, None))
        for idle in ("--rho", "--n", "--d", "--cluster-size"):
            said = self.refuse(2, "phase", "point", "--tokens", "tokens.npy", "--beta", "8", idle, "0.5")
            self.assertIn(f"{idle[2:]}: ", said)
        text = self.succeed("phase", "depth", "--tokens", "tokens.npy", "--layers", "1", "--gamma", "1")
        self.assertTrue(text.startswith("tokens.npy tokens, n = 200, d = 16; alpha"), text[:60])
        self.assertEqual(measured["standard_error"], 0)
        # float32 products: tens of units in the last place, 1.2e-7 each
        self.assertAlmostEqual(measured["mean"] / expected, 1, delta=1e-5)

    def test_refuses_missing_and_malformed_files(self):
        self.assertIn("absent.npy", self.refuse(2, "phase", "point", "--tokens", "absent.npy"))
        with open(self.path("bad.npy"), "wb") as file:
            file.write(b"not numpy")
        self.assertIn("bad.npy", self.refuse(2, "phase", "point", "--tokens", "bad.npy"))

    def test_refuses_tokens_without_a_direction(self):
        self.numpy("x = np.ones((4, 3)); x[2] = 0; np.save('zero.npy', x)")
        self.assertIn("row 2", self.refuse(2, "phase", "point", "--tokens", "zero.npy"))


class Map(ProgramTest):
    small = ["phase", "map", "--n", "64", "--d", "4,16", "--rho", "0,0.5", "--gamma", "0.5:2:4"]

    def test_writes_a_study_and_its_figures(self):
        out = self.succeed(*self.small, "--replicas", "3", "-o", "m.study")
        self.assertEqual(self.files(), ["m-eta.png", "m-eta.svg", "m.png", "m.study", "m.svg"])
        self.assertEqual(sorted(line.split()[1] for line in out.split("\n")[1:] if line), self.files())
        for stem, quantity in [("m", "contraction"), ("m-eta", "Jacobian norm")]:
            with open(self.path(stem + ".png"), "rb") as png, open(self.path(stem + ".svg")) as svg:
                self.assertEqual(png.read(8), b"\x89PNG\r\n\x1a\n")
                text = svg.read()
                self.assertIn("d = 16", text)
                self.assertIn(quantity, text)

    def test_draws_the_jacobian_norm_only_where_it_was_measured(self):
        out = self.succeed_json(*self.small, "--eta", "none", "-o", "m.study")
        self.assertEqual(out["figures"], ["m.svg", "m.png"])
        self.assertEqual(self.files(), ["m.png", "m.study", "m.svg"])
        out = self.succeed_json(*self.small, "-o", "m.study", "--replace")
        self.assertEqual(out["figures"], ["m.svg", "m.png", "m-eta.svg", "m-eta.png"])

    def test_the_study_holds_what_json_says(self):
        out = self.succeed_json(*self.small, "--replicas", "2", "-o", "m.study", "--no-figure")
        self.assertEqual(self.files(), ["m.study"])
        means = out["result"]["variables"]["contraction"]["mean"]
        flat = [x for d in means[0] for rho in d for x in rho]
        rows = sqlite3.connect(self.path("m.study")).execute(
            "SELECT m.mean FROM moment m JOIN sweep_place p ON p.cell = m.cell"
            " JOIN sweep_variable v ON v.id = m.variable"
            " WHERE v.name = 'contraction' ORDER BY p.place").fetchall()
        self.assertEqual([row[0] for row in rows], flat)
        self.assertEqual(len(flat), 16)

    def test_threads_do_not_change_a_byte(self):
        one = self.succeed_json(*self.small, "--threads", "1", "-o", "a.study", "--no-figure")
        two = self.succeed_json(*self.small, "--threads", "2", "-o", "b.study", "--no-figure")
        self.assertEqual(one["result"], two["result"])

    def test_meets_a_target_error(self):
        out = self.succeed_json("phase", "map", "--n", "64", "--rho", "0.5", "--gamma", "1,2",
                                "--target-error", "0.02", "-o", "t.study", "--no-figure")
        errors = out["result"]["variables"]["contraction"]["standard_error"][0][0][0]
        self.assertLessEqual(max(errors), 0.02)

    def test_draws_without_gnuplot_say_so_and_keep_the_study(self):
        result = self.run_program(*self.small, "-o", "m.study", environment={"PATH": "/nowhere"})
        self.assertEqual(result.returncode, 0)
        self.assertIn("gnuplot", result.stderr)
        self.assertEqual(self.files(), ["m.study"])

    def test_a_map_of_clusters_ends_at_their_own_correlation(self):
        result = self.run_program("phase", "map", "--tokens", "clustered", "--n", "32", "--d", "8", "--gamma", "1",
                                  "--eta", "none", "-o", "", "--json")
        self.assertEqual(result.returncode, 0)
        self.assertIn("rho: 3 above rho-inner = 0.8", result.stderr)
        rhos = json.loads(result.stdout)["result"]["dimensions"]["rho"]
        self.assertEqual((len(rhos), round(rhos[-1], 12)), (17, 0.8))

    def test_refusals_leave_no_file(self):
        for arguments, words in [
            (["--rho", "0,1"], ["rho", "1", "[0, 1)"]),
            (["--gamma", "1,0.5"], ["gamma", "1,0.5", "increase"]),
            (["--gamma", "0:1"], ["gamma", "0:1", "first:last:count"]),
            (["--gamma", "0,x"], ["gamma", "0,x"]),
            (["--n", "1.5"], ["n", "1.5", "whole"]),
            (["--tokens", "sphere"], ["tokens", "sphere", "phase point"]),
            (["--tokens", "simplex", "--n", "64", "--d", "8"], ["d", "8", "64"]),
        ]:
            message = self.refuse(2, "phase", "map", *arguments, "-o", "m.study")
            for word in words:
                self.assertIn(word, message)
        self.assertEqual(self.files(), [])

    def test_asks_for_the_folder_before_the_work(self):
        message = self.refuse(1, "phase", "map", "--replicas", "100000", "-o", "no/such/m.study")
        self.assertIn("no/such/m.study", message)

    def test_a_full_disk_costs_nothing_but_the_study(self):
        self.succeed(*self.small, "-o", "m.study", "--no-figure")
        with open(self.path("m.study"), "rb") as file:
            precious = file.read()

        def no_room():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))

        message = self.refuse(1, *self.small, "-o", "m.study", preexec_fn=no_room)
        self.assertIn("m.study", message)
        self.assertEqual(self.files(), ["m.study"])
        with open(self.path("m.study"), "rb") as file:
            self.assertEqual(file.read(), precious)

    def test_an_interrupt_stops_cleanly(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            child = subprocess.Popen([DEWPOINT, "phase", "map", "--replicas", "10000", "-o", "m.study"],
                                     cwd=self.folder.name, stdout=subprocess.PIPE,
                                     stderr=subprocess.PIPE, text=True)
            child.stderr.readline()  # the announced cost
            while not os.path.exists(self.path("m.study")):  # it is planned: the work has begun
                self.assertIsNone(child.poll())
                time.sleep(0.02)
            child.send_signal(number)
            _, error = child.communicate(timeout=60)
            self.assertEqual(child.returncode, 128 + number)
            self.assertIn("interrupted", error)
            self.assertIn("the same command continues: dewpoint phase map", error)
            self.assertEqual(self.files(), ["m.study"])
            os.remove(self.path("m.study"))

    def test_a_larger_map_finds_the_cells_that_are_there(self):
        whole = self.succeed_json(*self.small, "-o", "whole.study", "--no-figure")
        self.succeed(*self.small[:6], "--rho", "0.5", "--gamma", "1,2", "-o", "m.study", "--no-figure")
        out = self.succeed_json(*self.small, "-o", "m.study", "--no-figure")
        self.assertEqual(out["result"], whole["result"])
        with sqlite3.connect(self.path("m.study")) as study:
            (efforts,) = study.execute("SELECT count(DISTINCT cell) FROM effort").fetchone()
        self.assertEqual(efforts, 16)

    def test_cells_of_other_observables_are_deleted_only_when_told(self):
        self.succeed(*self.small, "--eta", "none", "-o", "m.study", "--no-figure")
        self.assertIn("--replace deletes them", self.refuse(2, *self.small, "-o", "m.study"))
        out = self.succeed_json(*self.small, "-o", "m.study", "--no-figure", "--replace")
        self.assertIn("jacobian_norm", out["result"]["variables"])

    def test_predicts_both_critical_lines(self):
        variables = self.succeed_json(*self.small, "-o", "")["result"]["variables"]
        self.assertEqual(variables["critical_gamma"]["mean"][0][1][1], [2.0] * 4)
        finite = variables["critical_gamma_at_finite_d"]["mean"][0]
        for d, rho in ((0, 0), (1, 0), (1, 1)):
            self.assertGreater(finite[d][rho][0], 0.9)
            self.assertEqual(len(set(finite[d][rho])), 1)
        masked = self.succeed_json(*self.small, "--mask", "causal", "--eta", "none", "-o", "")
        lines = masked["result"]["variables"]["critical_gamma_at_finite_d"]["mean"]
        self.assertEqual(lines[0][0][0], [None] * 4)


if __name__ == "__main__":
    unittest.main()
