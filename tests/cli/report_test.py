"""dewpoint report: the page of any studies, whose numbers are the studies'."""

import math
import os
import sqlite3
import unittest

from heads_support import HeadsTest
from report_support import numbers, page_data, points_of

STUDY = """
title = "Three loads"
experiment = "condense"
replicas = 2

[parameters]
draws = 16

[grid]
n = [1e3, 1e6]
t = [0.5, 1.0, 1.5, 2.0, 2.5]
"""


def nearest(values, wanted):
    """Position of a coordinate, which a place of the study names with twelve digits."""
    return min(range(len(values)), key=lambda k: abs(values[k] - wanted))


def means(file, frame, variable):
    """{place: mean} as the file has them."""
    with sqlite3.connect(file) as study:
        rows = study.execute("SELECT place, mean FROM point WHERE frame = ? AND variable = ?",
                             (frame, variable)).fetchall()
    return {tuple(float(part.split("=")[1]) for part in place.split()): mean
            for place, mean in rows}


class Report(HeadsTest):
    def make_map(self, name="map.study", *more):
        self.succeed("phase", "map", "--n", "32", "--d", "8", "--rho", "0:0.8:5", "--gamma",
                     "1:4:6", "--replicas", "2", "-o", name, *more)

    def make_training(self):
        self.succeed("train", "--steps", "200", "-o", "train.study")

    def make_sweep(self):
        with open(self.path("loads.toml"), "w") as file:
            file.write(STUDY)
        self.succeed("run", "loads.toml")

    def page(self, *arguments):
        self.succeed("report", *arguments, "-o", "x.html")
        return page_data(self.path("x.html"))

    def test_a_map_shows_its_quantities_as_the_study_has_them(self):
        self.make_map()
        figures = {figure["id"]: figure for figure in self.page("map.study")["figures"]}
        for variable in ("contraction", "entropy", "jacobian_norm"):
            figure = figures["map-" + variable]
            self.assertEqual(figure["figure"]["kind"], "heatmap")
            (panel,) = figure["figure"]["panels"]
            x, y, z = (numbers(panel[name]) for name in "xyz")
            stored = means(self.path("map.study"), "phase", variable)
            self.assertEqual(len(stored), 30)
            for (_, _, rho, gamma), mean in stored.items():
                self.assertEqual(z[nearest(x, rho) * len(y) + nearest(y, gamma)], mean)

    def test_every_figure_says_where_it_comes_from(self):
        self.make_map("map.study", "--seed", "18446744073709551615")
        page = self.page("map.study")
        origin = page["figures"][0]["origin"]
        self.assertEqual(origin["study"], "map.study")
        self.assertEqual(origin["experiment"], "phase")
        self.assertEqual(origin["seed"], "18446744073709551615")
        self.assertTrue(origin["command"].startswith("dewpoint phase map --n 32"))
        self.assertIn(["eta", "auto"], origin["parameters"])
        self.assertTrue(origin["version"] and origin["created"])
        self.assertIn("seed 18446744073709551615", page["figures"][0]["caption"])
        self.assertIsNone(page["certificate"])
        self.assertIn({"label": "Command", "value": "dewpoint report map.study -o x.html"},
                      page["footer"])

    def test_a_training_run_has_all_its_figures(self):
        self.make_training()
        page = self.page("train.study", "--title", "One run")
        self.assertEqual(page["title"], "One run")
        ids = [figure["id"] for figure in page["figures"]]
        self.assertIn("train-training", ids)
        self.assertIn("train-training-paths", ids)
        self.assertGreaterEqual(len(ids), 6)
        losses = points_of(page["figures"][ids.index("train-training-losses")]["figure"])
        stored = means(self.path("train.study"), "trajectory", "loss")
        shown = [curve for curve in losses.values() if [y for _, y in curve] == list(stored.values())]
        self.assertEqual(len(shown), 1)

    def test_a_sweep_has_one_figure_per_observable(self):
        self.make_sweep()
        page = self.page("loads.study")
        self.assertEqual(page["title"], "Three loads")
        self.assertEqual(page["figures"][0]["group"], "Three loads")
        figures = {figure["id"]: figure["figure"] for figure in page["figures"]}
        self.assertGreater(len(figures), 1)
        curves = points_of(figures["loads-largest_weight"])
        stored = means(self.path("loads.study"), "condense", "largest_weight")
        shown = sorted(y for name, curve in curves.items() for _, y in curve if not math.isnan(y))
        for mean in stored.values():
            self.assertIn(mean, shown)

    # As show has them, under the map of phases and under no other figure.
    def test_verdicts_on_heads_are_on_the_page_with_their_reasons(self):
        self.ask_numpy([{"file": "dump.npz", "seed": 1, "shape": [4, 2, 200, 16]}])
        found = self.succeed_json("heads", "dump.npz", "--replicates", "20", "--beta", "30", "-o", "heads.study")
        verdicts = {figure["id"]: figure["verdicts"] for figure in self.page("heads.study")["figures"]}
        shown = verdicts.pop("heads-phase")
        self.assertEqual(len(shown), 16)  # heads, multipliers, with sinks and without
        for number, head in enumerate(found["heads"]):
            for multiplier, verdict in head["verdicts_without_sink"].items():
                self.assertIn(f"layer 0 head {number} × {multiplier}, without sinks: {verdict['phase']}, "
                              f"{verdict['reason']} ({100 * verdict['probability']:.0f} %)", shown)
        self.assertGreater(len(verdicts), 2)
        self.assertEqual(set(map(tuple, verdicts.values())), {()})

    def test_several_studies_keep_apart_even_with_one_name(self):
        self.make_map()
        os.mkdir(self.path("other"))
        self.make_map("other/map.study", "--seed", "2")
        out = self.succeed_json("report", "map.study", "other/map.study", "-o", "x.html")
        self.assertEqual(out["report"], os.path.realpath(self.path("x.html")))
        page = page_data(self.path("x.html"))
        ids = [figure["id"] for figure in page["figures"]]
        first = ids[:len(ids) // 2]
        self.assertEqual((first[0], first[-1]), ("map-contraction", "map-jacobian_norm"))
        self.assertEqual(ids, first + [name + "-2" for name in first])
        self.assertEqual(sorted(out["figures"]), sorted(ids))
        self.assertEqual([figure["origin"]["seed"] for figure in page["figures"]],
                         ["1"] * len(first) + ["2"] * len(first))

    def test_no_text_can_leave_its_element(self):
        self.make_map()
        evil = "</script><script>alert(1)</script><!-- \u2028 &"
        page = self.page("map.study", "--title", evil)
        self.assertEqual(page["title"], evil)
        with open(self.path("x.html"), encoding="utf-8") as file:
            self.assertNotIn("<script>alert(1)", file.read())

    def test_bad_input_is_refused_in_one_line_and_writes_nothing(self):
        self.make_map()
        with open(self.path("text.study"), "w") as file:
            file.write("no study")
        with open(self.path("half.study"), "wb") as half, open(self.path("map.study"), "rb") as whole:
            half.write(whole.read()[:5000])
        before = self.files()
        for name in ("text.study", "half.study", "missing.study", "."):
            self.assertIn(name, self.refuse(2, "report", "map.study", name, "-o", "x.html"))
        self.assertIn("nowhere", self.refuse(1, "report", "map.study", "-o", "nowhere/x.html"))
        self.refuse(2, "report", "map.study")
        self.refuse(2, "report", "-o", "x.html")
        self.assertEqual(self.files(), before)

    def test_a_study_without_an_axis_is_refused(self):
        with open(self.path("point.toml"), "w") as file:
            file.write('experiment = "phase"\n[parameters]\nn = 16\nd = 4\nrho = 0.5\ngamma = 2\n')
        self.succeed("run", "point.toml")
        self.assertIn("point.study", self.refuse(2, "report", "point.study", "-o", "x.html"))
        self.assertFalse(os.path.exists(self.path("x.html")))

    def test_an_unfinished_sweep_says_so(self):
        self.make_sweep()
        with sqlite3.connect(self.path("loads.study")) as study:
            study.execute("PRAGMA user_version = 3")  # a version without hashes
            for table in ("moment", "prediction", "effort"):
                study.execute(f"DELETE FROM {table} WHERE cell = (SELECT min(id) FROM cell)")
            study.execute("UPDATE cell SET replicas = 0 WHERE id = (SELECT min(id) FROM cell)")
        page = self.page("loads.study")
        self.assertIn("9 of 10 cells", page["figures"][0]["see"])


if __name__ == "__main__":
    unittest.main()
