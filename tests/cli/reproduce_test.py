"""dewpoint reproduce --quick, all of it: minutes, so only `make test-full` runs it."""

import math
import os
import sqlite3
import unittest

from harness import ProgramTest

STUDIES = {
    "cas-figures-1-2": ["cas-figure-1", "cas-figure-2"],
    "cas-three-phases": ["cas-three-phases"],
    "cas-scaling-collapse": ["cas-scaling-collapse"],
    "cas-depth": ["cas-depth"],
    "cas-depth-gaussian": ["cas-depth-gaussian"],
    "cas-end-to-end": ["cas-end-to-end"],
    "cc-condensation": ["cc-condensation", "cc-collapse", "cc-free-energies"],
    "cc-retrieval": ["cc-retrieval"],
    "sl-critical-weights": ["sl-critical-weights", "sl-convergence"],
    "sl-output": ["sl-output"],
    "sl-values": ["sl-values"],
    "sl-backward-heat": ["sl-backward-heat"],
    "dew-points": ["dew-points"],
    "fd-training": ["fd-training", "fd-training-losses", "fd-training-cosines",
                    "fd-training-paths", "fd-training-attention", "fd-training-attention-maps",
                    "fd-training-embeddings"],
}
FIGURES = [figure for figures in STUDIES.values() for figure in figures]
FLOAT32 = 2.0 ** -24  # its rounding


def cells(file, frame, variable):
    """Means by place: {(coordinate, ...): mean}."""
    with sqlite3.connect(file) as study:
        rows = study.execute("SELECT place, mean FROM point WHERE frame = ? AND variable = ?",
                             (frame, variable)).fetchall()
    return {tuple(float(part.split("=")[1]) for part in place.split()): mean
            for place, mean in rows}


class Reproduce(ProgramTest):
    def assert_close(self, file, names, variables, tolerance):
        """What was measured lies on the exact curve."""
        for variable in variables:
            exact, measured = (cells(file, name, variable) for name in names)
            shared = [place for place in measured if None not in (measured[place], exact[place])]
            self.assertGreater(len(shared), 10)
            for place in shared:
                self.assertLessEqual(abs(measured[place] - exact[place]), tolerance,
                                     (variable, place))

    def test_writes_every_figure_and_study_and_names_them(self):
        out = self.succeed("reproduce", "--quick", "-o", "out/deep")
        folder = os.path.realpath(self.path("out/deep"))
        expected = [study + ".study" for study in STUDIES]
        expected += [figure + ending for figure in FIGURES for ending in (".svg", ".png")]
        self.assertEqual(sorted(os.listdir(folder)), sorted(expected))
        for name in expected:
            self.assertIn(os.path.join(folder, name) + "\n", out)
            self.assertGreater(os.path.getsize(os.path.join(folder, name)), 1000)
        self.assertEqual(out.count("\n"), 4 * len(FIGURES))  # a title and three files each
        for study in STUDIES:
            with sqlite3.connect(os.path.join(folder, study + ".study")) as record:
                meta = dict(record.execute("SELECT key, value FROM meta"))
            self.assertEqual(meta["command"], "dewpoint reproduce --quick -o out/deep")
            self.assertTrue(meta["experiment"] and meta["version"] and meta["created"])
        self.points_lie_on_curves(folder)
        self.scores_follow_their_laws(folder)

    def points_lie_on_curves(self, folder):
        # A cosine is a sum of d products in float32, off by d roundings at worst, and log odds are β
        # times the difference of two. A mass moves by at most a quarter of what its log odds do; λ
        # and η as functions of the weight a on the token itself have slopes up to 2/ρ = 4 and 2.
        self.assert_close(os.path.join(folder, "cas-three-phases.study"),
                          ("three_phases", "three_phases_measured"),
                          ("self_mass", "cluster_mass", "rest_mass"),
                          2 * 1009 * FLOAT32 * 4 * math.log(1000) / 4)
        self.assert_close(os.path.join(folder, "cas-scaling-collapse.study"),
                          ("scaling_collapse", "scaling_collapse_measured"),
                          ("contraction", "jacobian_norm"),
                          2 * 512 * FLOAT32 * (6 + math.log(512)) / 0.5)
        # Layers iterate in double and η is taken in float32, of scores up to β = 4 log 256.
        self.assert_close(os.path.join(folder, "cas-depth.study"), ("depth_theory", "phase_depth"),
                          ("contraction", "jacobian_norm"),
                          2 * 256 * FLOAT32 * 4 * math.log(256) / 2)

    def scores_follow_their_laws(self, folder):
        # The simplex has dew points log(n - 1)/(1 - rho), and nothing is random.
        dew = cells(os.path.join(folder, "dew-points.study"), "dew simplex ρ = 0.5: log n",
                    "beta_dew_median")
        for (n,), beta in dew.items():
            self.assertAlmostEqual(beta / (2 * math.log(n - 1)), 1.0, delta=1e-11)
        # Convergence to the limit law: the last local power is near its limit, which it approaches
        # as n^(-2/(d-1)): 1e-6 at d = 5 and n = 1e12.
        distance = cells(os.path.join(folder, "sl-critical-weights.study"), "convergence", "distance")
        power = math.log10(distance[(5.0, 1e12)] / distance[(5.0, 1e11)])
        self.assertAlmostEqual(power, -0.5, delta=1e-5)
        # A harmonic on the circle at beta = 50, degree 5.
        growth = cells(os.path.join(folder, "sl-backward-heat.study"), "harmonics", "growth")
        self.assertAlmostEqual(growth[(2.0, 5.0, 50.0)], 1.392437, delta=5e-7)

    def test_only_makes_one_study_and_refuses_an_unknown_one(self):
        self.succeed("reproduce", "--quick", "-o", "one", "--only", "sl-values")
        self.assertEqual(sorted(os.listdir(self.path("one"))),
                         ["sl-values.png", "sl-values.study", "sl-values.svg"])
        message = self.refuse(2, "reproduce", "--only", "sl-value")
        self.assertIn("'sl-value' is no study", message)
        self.assertIn("sl-values", message)

    def test_json_lists_everything_and_without_gnuplot_a_study_is_kept(self):
        out = self.succeed_json("reproduce", "--quick", "-o", "out")
        folder = os.path.realpath(self.path("out"))
        self.assertEqual(out["studies"], [os.path.join(folder, name + ".study") for name in STUDIES])
        self.assertEqual(out["figures"], [os.path.join(folder, name + ending) for name in FIGURES
                                          for ending in (".svg", ".png")])
        result = self.run_program("reproduce", "--quick", "-o", "bare",
                                  environment={"PATH": "/nowhere"})
        self.assertEqual(result.returncode, 1)
        self.assertIn("gnuplot", result.stderr)
        self.assertEqual(os.listdir(self.path("bare")), ["cas-figures-1-2.study"])
        maps = [cells(self.path(folder + "/cas-figures-1-2.study"), "phase_map", "contraction")
                for folder in ("out", "bare")]
        self.assertEqual(maps[0], maps[1])


if __name__ == "__main__":
    unittest.main()
