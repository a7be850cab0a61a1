"""The verb dew, run as a user would: laws of scores, and the scores of a head from files."""

import math
import os
import random
import subprocess
import unittest

from harness import ProgramTest

NUMPY_PYTHON = os.environ.get("NUMPY_PYTHON", "")


class Laws(ProgramTest):
    def test_the_three_laws_grow_as_they_should(self):
        found = self.succeed_json("dew", "--law", "simplex:rho=0.5", "--law", "gaussian:sigma=1",
                                  "--law", "sphere:d=3", "--n", "1e2:1e14:7:log", "--draws", "60",
                                  "--top", "64")
        laws = [law["growth"]["beta_pr"]["law"] for law in found["laws"]]
        self.assertEqual(laws, ["log n", "sqrt(log n)", "n^(1/a)"])
        self.assertEqual(found["parameters"],
                         {"law": ["simplex:rho=0.5", "gaussian:sigma=1", "sphere:d=3"],
                          "n": [1e2, 1e4, 1e6, 1e8, 1e10, 1e12, 1e14], "draws": 60, "top": 64})

    def test_three_laws_unless_said_otherwise(self):
        found = self.succeed_json("dew", "--n", "10,99.6", "--draws", "2")
        self.assertEqual([law["law"] for law in found["laws"]],
                         ["gaussian:sigma=1", "sphere:d=5", "simplex:rho=0.5"])
        self.assertEqual(found["laws"][0]["result"]["dimensions"]["n"], [10, 100])

    def test_the_simplex_is_exact(self):
        law = self.succeed_json("dew", "--law", "simplex:rho=0.5", "--n", "100,1e6", "--draws",
                                "4")["laws"][0]
        dew = law["result"]["variables"]["beta_dew_median"]
        for n, beta in zip((100, 1e6), dew["mean"]):
            self.assertAlmostEqual(beta / (2 * math.log(n - 1)), 1, delta=1e-12)
        self.assertEqual(dew["standard_error"], [0, 0])
        self.assertEqual(law["beta_edge"], [None, None])

    def test_the_edge_of_gaussian_scores_is_the_tabulated_one(self):
        law = self.succeed_json("dew", "--law", "gaussian:sigma=1", "--n", "1e3,1e6,1e15",
                                "--draws", "20", "--top", "32")["laws"][0]
        for edge, known in zip(law["beta_edge"], (3.367, 4.948, 8.064)):
            self.assertAlmostEqual(edge, known, delta=5e-4)

    def test_threads_change_nothing(self):
        command = ["dew", "--law", "sphere:d=5", "--n", "1e3,1e9", "--draws", "20", "--json"]
        self.assertEqual(self.succeed(*command, "--threads", "1"),
                         self.succeed(*command, "--threads", "2"))

    def test_text_has_a_table_and_a_verdict(self):
        text = self.succeed("dew", "--law", "simplex:rho=0", "--n", "1e2:1e6:3:log", "--draws", "2")
        self.assertIn("β_dew", text)
        self.assertIn("growth", text)

    def test_bad_values_are_refused(self):
        self.assertIn("n", self.refuse(2, "dew", "--n", "2", "--law", "sphere:d=3"))
        self.assertIn("1e2:1e3", self.refuse(2, "dew", "--n", "1e2:1e3", "--law", "sphere:d=3"))
        self.assertIn("draws", self.refuse(2, "dew", "--draws", "1"))
        self.assertIn("d", self.refuse(2, "dew", "--law", "sphere:d=1"))
        self.assertIn("there twice", self.refuse(2, "dew", "--law", "gaussian", "--law",
                                                 "gaussian:sigma=1"))
        self.assertEqual(self.refuse(2, "dew", "--top", "2"),
                         "top: 2 is not a whole number in [3, 1e8]")
        self.assertEqual(self.refuse(2, "dew", "--n", "100", "--tail", "8"),
                         "tail: is given without the scores of a head")


class Heads(ProgramTest):
    def write(self, name, rows):
        with open(self.path(name), "w") as file:
            for row in rows:
                file.write(" ".join(repr(x) for x in row) + "\n")

    def test_a_head_with_equal_gaps_is_exact(self):
        n = 512
        self.write("simplex.txt", [[1.0 if i == j else 0.3 for j in range(n)] for i in range(16)])
        head = self.succeed_json("dew", "--scores", "simplex.txt", "--keep-column", "self",
                                 "--least-keys", "60")
        for length in head["lengths"]:
            beta = length["beta_dew_median"]["mean"]
            self.assertAlmostEqual(beta * 0.7 / math.log(length["n"] - 1), 1, delta=1e-12)
        self.assertIn("equal", head["edge"]["refusal"])

    def test_a_head_of_uniform_gaps_grows_with_its_keys(self):
        draw = random.Random(5)
        self.write("line.txt", [[1 - 2 * draw.random() for _ in range(800)] for _ in range(64)])
        head = self.succeed_json("dew", "--scores", "line.txt", "--endpoint", "1")
        slope, exponent = head["slope"], head["endpoint"]["exponent"]
        self.assertLess(abs(slope["mean"] - 1), 5.6 * slope["standard_error"])
        self.assertLess(abs(exponent["mean"] - 1), 5.6 * exponent["standard_error"])
        self.assertEqual(head["growth"]["beta_pr"]["law"], "n^(1/a)")
        text = self.succeed("dew", "--scores", "line.txt")
        self.assertIn("β_edge", text)

    def test_ties_are_infinite(self):
        self.write("tied.txt", [[1.0, 1.0, 0.0, 0.5]] * 3)
        head = self.succeed_json("dew", "--scores", "tied.txt")
        self.assertEqual(head["lengths"][-1]["beta_dew_median"]["mean"], "inf")
        self.assertEqual(head["lengths"][-1]["tied_share"], 1)
        self.assertIn("never condense", self.succeed("dew", "--scores", "tied.txt"))

    def test_what_is_no_score_is_refused_with_its_place(self):
        with open(self.path("bad.txt"), "w") as file:
            file.write("1 2 3\n4 nan 6\n")
        message = self.refuse(2, "dew", "--scores", "bad.txt")
        self.assertIn("bad.txt", message)
        self.assertIn("nan", message)
        self.assertIn("absent.npy", self.refuse(2, "dew", "--scores", "absent.npy"))
        self.write("good.txt", [[1.0, 2.0, 4.0]])
        self.assertIn("keep-column", self.refuse(2, "dew", "--scores", "good.txt",
                                                 "--keep-column", "7"))
        for option, value in (("law", "gaussian"), ("draws", "50")):
            self.assertEqual(self.refuse(2, "dew", "--scores", "good.txt", f"--{option}", value),
                             f"{option}: is given beside the scores of a head")
        self.assertEqual(self.refuse(2, "dew", "--scores", "good.txt", "--tail", "3"),
                         "tail: 3 is not a whole number in [4, 1e6]")
        self.assertEqual(self.refuse(2, "dew", "--scores", "good.txt", "--scale", "2"),
                         "scale: 2 is given without queries")

    @unittest.skipUnless(NUMPY_PYTHON, "needs NumPy")
    def test_queries_and_keys_give_their_scores(self):
        script = ("import numpy as np\nr = np.random.default_rng(3)\n"
                  "q = r.standard_normal((12, 16)); k = r.standard_normal((300, 16))\n"
                  "np.save('q.npy', q); np.save('k.npy', k); np.save('s.npy', 0.25 * q @ k.T)\n")
        subprocess.run([NUMPY_PYTHON, "-c", script], cwd=self.folder.name, check=True)
        product = self.succeed_json("dew", "--queries", "q.npy", "--keys", "k.npy", "--scale", "0.25")
        self.assertEqual(product["parameters"],
                         {"scores": None, "queries": "q.npy", "keys": "k.npy", "scale": 0.25,
                          "keep-column": None, "endpoint": None, "tail": 50, "halvings": 6,
                          "least-keys": 100, "replicates": 400})
        plain = self.succeed_json("dew", "--queries", "q.npy", "--keys", "k.npy")
        self.assertEqual(plain["parameters"]["scale"], 1)
        scores = self.succeed_json("dew", "--scores", "s.npy")
        for one, other in zip(product["lengths"], scores["lengths"]):
            self.assertAlmostEqual(one["beta_pr"]["mean"], other["beta_pr"]["mean"], delta=1e-9)


if __name__ == "__main__":
    unittest.main()
