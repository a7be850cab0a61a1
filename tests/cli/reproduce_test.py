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
