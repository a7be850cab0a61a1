"""Studies as a user meets them: run, continue, list, show, export, merge, figure."""

import csv
import json
import os
import re
import shutil
import sqlite3
import subprocess
import unittest

from harness import DEWPOINT, ProgramTest

NUMPY_PYTHON = os.environ.get("NUMPY_PYTHON", "")

SMALL = """
title = "A small study"
experiment = "phase"
replicas = 3
[parameters]
d = 16
common = "fixed"
eta = "none"
[grid]
n = [32, 64]
rho = [0.25, 0.5]
gamma = { from = 0.5, to = 1.5, count = 3, unit = "critical" }
"""


class StudyTest(ProgramTest):
    def write(self, text, name="small.toml"):
        with open(self.path(name), "w") as file:
            file.write(text)
        return name

    def read(self, name):
        with open(self.path(name), "rb") as file:
            return file.read()

    def csv_of(self, study):
        self.succeed("export", study, "-o", "out.csv")
        return self.read("out.csv")


class Running(StudyTest):
    def test_a_study_is_computed_once(self):
        self.write(SMALL)
        first = self.succeed_json("run", "small.toml")
        self.assertEqual((first["planned"], first["finished"], first["computed"]), (12, 12, 12))
        self.assertEqual(first["replicas"], 36)
        before = self.csv_of("small.study")
        again = self.succeed_json("run", "small.toml")
        self.assertEqual((again["computed"], again["reused"], again["replicas"]), (0, 12, 0))
        self.assertEqual(self.csv_of("small.study"), before)
        self.assertEqual([f for f in self.files() if f.startswith("small.study")], ["small.study"])

    def test_threads_change_nothing_and_more_replicas_are_added(self):
        self.write(SMALL)
        self.succeed("run", "small.toml", "--threads", "1", "-o", "one.study")
        self.succeed("run", "small.toml", "--threads", "3", "-o", "three.study")
        self.assertEqual(self.csv_of("one.study"), self.csv_of("three.study"))
        more = self.succeed_json("run", "small.toml", "-S", "replicas=5", "-o", "one.study")
        self.assertEqual(more["replicas"], 24)
        self.succeed("run", "small.toml", "-S", "replicas=5", "-o", "five.study")
        self.assertEqual(self.csv_of("one.study"), self.csv_of("five.study"))

    def test_a_larger_grid_keeps_what_it_shares(self):
        self.write(SMALL)
        self.succeed("run", "small.toml")
        more = self.succeed_json("run", "small.toml", "-S", "grid.rho=[0.25,0.5,0.75]")
        self.assertEqual((more["planned"], more["computed"], more["reused"]), (18, 6, 12))

    def test_cells_are_those_of_phase_map(self):
        self.write(SMALL.replace(', unit = "critical"', ""))
        self.succeed("run", "small.toml")
        rows = list(csv.DictReader(self.csv_of("small.study").decode().splitlines()))
        found = self.succeed_json("phase", "map", "--n", "32,64", "--d", "16", "--rho", "0.25,0.5",
                                  "--gamma", "0.5:1.5:3", "--replicas", "3", "--common", "fixed",
                                  "--eta", "none", "--no-figure", "-o", "map.study")
        means = found["result"]["variables"]["contraction"]["mean"]
        flat = json.loads("[" + re.sub(r"[\[\]]", "", json.dumps(means)) + "]")
        self.assertEqual([float(row["contraction"]) for row in rows], flat)

    def test_a_target_error_is_met_cell_by_cell(self):
        self.write(SMALL.replace("replicas = 3", "target = { error = 0.004, most = 256 }"))
        self.succeed("run", "small.toml")
        rows = list(csv.DictReader(self.csv_of("small.study").decode().splitlines()))
        counts = {int(row["samples"]) for row in rows}
        self.assertGreater(len(counts), 1, counts)
        for row in rows:
            self.assertTrue(float(row["contraction_se"]) <= 0.004 or int(row["samples"]) == 256)

    def test_refinement_puts_cells_where_the_order_parameter_changes(self):
        self.write(SMALL + '[refine]\nobservable = "contraction"\nlevels = 2\nalong = ["gamma"]\n'
                           "share = 0.5\n")
        found = self.succeed_json("run", "small.toml")
        self.assertGreater(found["planned"], 12)
        again = self.succeed_json("run", "small.toml")
        self.assertEqual((again["planned"], again["computed"]), (found["planned"], 0))

    def test_a_dry_run_computes_nothing_and_estimates(self):
        self.write(SMALL)
        found = self.succeed_json("run", "small.toml", "--dry-run")
        self.assertEqual((found["cells"], found["missing"], found["replicas"]), (12, 12, 36))
        self.assertGreater(found["work_seconds"], 0)
        self.assertNotIn("small.study", self.files())

    def test_the_effective_text_runs_the_same_study(self):
        self.write(SMALL)
        self.succeed("run", "small.toml")
        self.write(self.succeed("show", "small.study", "--text"), "again.toml")
        again = self.succeed_json("run", "again.toml", "-o", "small.study")
        self.assertEqual((again["computed"], again["reused"]), (0, 12))

    def test_every_template_runs(self):
        for name in ("phase", "depth", "lengths", "variants", "condense", "query", "output", "heat", "harmonics", "dew",
                     "limit", "train"):
            with self.subTest(name):
                self.write(self.succeed("run", "--template", name), name + ".toml")
                self.assertGreater(self.succeed_json("run", name + ".toml")["finished"], 0)


class Ranks(StudyTest):
    """mpirun on this machine, with more ranks than cores."""

    ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}

    def run_on_ranks(self, ranks, *arguments):
        mpirun = shutil.which("mpirun")
        if mpirun is None:
            self.skipTest("there is no mpirun")
        return subprocess.run([mpirun, "-n", str(ranks), "--oversubscribe", DEWPOINT, "run",
                               *arguments], cwd=self.folder.name, text=True, capture_output=True,
                              timeout=300, env={**os.environ, **self.ROOT})

    def expect_same_bytes(self, file):
        self.succeed("run", file, "-o", "local.study")
        result = self.run_on_ranks(3, file, "-o", "ranks.study")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("3 rank(s)", self.succeed("show", "ranks.study"))
        self.assertEqual(self.csv_of("ranks.study"), self.csv_of("local.study"))

    def test_three_ranks_write_the_same_bytes(self):
        self.expect_same_bytes(self.write(SMALL))

    def test_one_huge_point_is_divided_over_ranks(self):
        self.expect_same_bytes(self.write("""
experiment = "phase"
replicas = 2
[parameters]
n = 300000
d = 8
rows = 16
gamma = 2.0
common = "fixed"
[grid]
rho = [0.5]
"""))

    def test_a_bad_file_ends_all_ranks(self):
        self.write(SMALL.replace("gamma =", "gama ="))
        result = self.run_on_ranks(2, "small.toml")
        self.assertEqual(result.returncode, 2)
        self.assertEqual(result.stderr.count("did you mean 'gamma'?"), 1)


class Refusals(StudyTest):
    def test_mistakes_in_the_file_are_named(self):
        for change, words in (
                (("gamma =", "gama ="), ["small.toml", "gama", "gamma"]),
                (("replicas = 3", "replicas = 0"), ["small.toml", "replicas", "0"]),
                (('experiment = "phase"', 'experiment = "phse"'), ["phse", "phase"]),
                (("n = [32, 64]", "n = [64, 32]"), ["n", "64", "32"]),
                (("rho = [0.25, 0.5]", "rho = [0.25, 1.5]"), ["rho", "1.5"]),
                (("[grid]", "[gird]"), ["gird", "grid"])):
            with self.subTest(change):
                self.write(SMALL.replace(*change))
                line = self.refuse(2, "run", "small.toml")
                for word in words:
                    self.assertIn(word, line)
        self.assertEqual(self.files(), ["small.toml"])

    def test_overrides_are_checked_too(self):
        self.write(SMALL)
        self.assertIn("replcas", self.refuse(2, "run", "small.toml", "-S", "replcas=3"))
        self.assertIn("replicas", self.refuse(2, "run", "small.toml", "-S", "replicas"))

    def test_files_that_are_not_there_or_not_studies(self):
        self.assertIn("none.toml", self.refuse(2, "run", "none.toml"))
        self.write("not a study", "x.study")
        for verb in (["show", "x.study"], ["export", "x.study", "-o", "x.csv"],
                     ["figure", "x.study"]):
            self.assertIn("x.study", self.refuse(2, *verb))
        self.write(SMALL)
        self.assertIn("x.study", self.refuse(2, "run", "small.toml", "-o", "x.study"))
        self.assertEqual(self.read("x.study"), b"not a study")
        self.assertIn("x.txt", self.refuse(2, "export", "x.study", "-o", "x.txt"))

    def test_a_study_of_another_experiment_is_not_overwritten(self):
        self.write(SMALL)
        self.succeed("run", "small.toml")
        before = self.csv_of("small.study")
        self.write(self.succeed("run", "--template", "limit"), "limit.toml")
        line = self.refuse(2, "run", "limit.toml", "-o", "small.study")
        self.assertIn("phase", line)
        self.assertEqual(self.csv_of("small.study"), before)


class Reading(StudyTest):
    def setUp(self):
        super().setUp()
        self.write(SMALL)
        self.succeed("run", "small.toml")

    def test_runs_lists_it(self):
        row = self.succeed_json("runs")["studies"][0]
        self.assertEqual((row["study"], row["experiment"], row["state"], row["planned"]),
                         ("small.study", "phase", "finished", 12))
        self.assertIn("12/12", self.succeed("runs"))

    def test_runs_names_a_damaged_file_and_lists_the_others(self):
        self.write("garbage", "bad.study")
        result = self.run_program("runs")
        self.assertEqual(result.returncode, 2)
        self.assertIn("bad.study", result.stderr)
        self.assertIn("small.study", result.stdout)

    def test_show_selects(self):
        text = self.succeed("show", "small.study", "--observable", "entropy", "--at", "n=64")
        self.assertEqual(len(re.findall(r"^\s*64\s", text, re.M)), 6)
        self.assertIn("A small study", text)
        self.assertIn("n is nowhere '65'", self.refuse(2, "show", "small.study", "--at", "n=65"))
        self.assertIn("entropi", self.refuse(2, "show", "small.study", "--observable", "entropi"))

    def test_sqlite_reads_it(self):
        with sqlite3.connect(self.path("small.study")) as database:
            rows = database.execute("SELECT place, mean, standard_error FROM result "
                                    "WHERE variable = 'contraction'").fetchall()
        self.assertEqual(len(rows), 12)
        self.assertTrue(all(0 < mean < 1 and error > 0 for _, mean, error in rows))

    def test_pandas_and_xarray_read_the_exports(self):
        self.succeed("export", "small.study", "-o", "x.csv", "-o", "x.nc", "-o", "x.npz", "-o",
                     "x.jsonl")
        probe = subprocess.run([NUMPY_PYTHON, "-c", "import pandas, xarray, netCDF4"],
                               capture_output=True, text=True)
        if probe.returncode != 0:
            self.skipTest("pandas, xarray or netCDF4 is missing: " + probe.stderr.strip()[-80:])
        script = """
import numpy, pandas, xarray
table = pandas.read_csv("x.csv", float_precision="round_trip").set_index(["n", "rho", "c"])
data = xarray.open_dataset("x.nc")
assert data.contraction.dims == ("n", "rho", "c"), data.contraction.dims
for place, row in table.iterrows():
    at = dict(zip(("n", "rho", "c"), place))
    assert float(data.contraction.sel(at)) == row.contraction
    assert float(data.contraction_se.sel(at)) == row.contraction_se
arrays = numpy.load("x.npz")
assert numpy.array_equal(arrays["contraction"], data.contraction.values)
print(len(table))
"""
        result = subprocess.run([NUMPY_PYTHON, "-c", script], cwd=self.folder.name, text=True,
                                capture_output=True)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stdout.strip(), "12")

    def test_merge_joins_two_halves(self):
        whole = self.csv_of("small.study")
        self.succeed("run", "small.toml", "-S", "grid.n=[32]", "-o", "a.study")
        self.succeed("run", "small.toml", "-S", "grid.n=[64]", "-o", "b.study")
        found = self.succeed_json("merge", "a.study", "b.study", "-o", "ab.study")
        self.assertEqual((found["planned"], found["measured"]), (12, 12))
        self.assertEqual(self.csv_of("ab.study"), whole)

    def test_figures_in_three_formats_and_in_the_terminal(self):
        self.succeed("figure", "small.study", "--kind", "heatmap", "-o", "h.png")
        self.succeed("figure", "small.study", "--kind", "curve", "-o", "c.svg")
        self.succeed("figure", "small.study", "--kind", "curve", "-o", "c.pdf", "--data")
        self.assertEqual(self.read("h.png")[:8], b"\x89PNG\r\n\x1a\n")
        self.assertIn(b"<svg", self.read("c.svg")[:400])
        self.assertEqual(self.read("c.pdf")[:5], b"%PDF-")
        self.assertIn("c.csv", self.files())
        self.assertGreater(len(self.succeed("figure", "small.study").splitlines()), 8)
        self.assertIn("pie", self.refuse(2, "figure", "small.study", "--kind", "pie", "-o", "x.png"))

    # Two sizes that hardly differ, and the least of each curve, say nothing of where they cross.
    def test_a_collapse_that_the_data_do_not_determine_has_no_numbers(self):
        self.succeed("run", "small.toml", "-S", "grid.n=[16,20]", "-S", "grid.gamma=[0.1,0.2,0.3,0.4,0.5]",
                     "-S", "grid.rho=[0.5]", "-S", "replicas=2", "-S", "parameters.d=4",
                     "-S", "parameters.common='random'", "-o", "vague.study")
        said = self.succeed("figure", "vague.study", "--kind", "collapse")
        self.assertIn("critical not determined by these data: any value fits about as well; more "
                      "sizes, a wider range of x or smaller errors are needed\n", said)
        self.assertIn("exponent not determined by these data", said)
        self.assertNotIn("inf", said)
        self.assertIn("(γ − x_c)", said)
        self.succeed("figure", "vague.study", "--kind", "collapse", "-o", "vague.svg")
        drawn = self.read("vague.svg").decode()
        self.assertIn("not determined by these data", drawn)
        self.assertIn("(γ − x_c) · (log n)^a", drawn)

    def test_a_collapse_that_they_determine_has_them_with_their_errors(self):
        self.succeed("run", "small.toml", "-S", "grid.n=[16,64,256]", "-S", "grid.rho=[0.5]",
                     "-S", "parameters.tokens='simplex'", "-S", "parameters.d=0",
                     "-S", "grid.gamma={ from = 0.5, to = 4.0, count = 30 }", "-o", "sharp.study")
        said = self.succeed("figure", "sharp.study", "--kind", "collapse")
        self.assertRegex(said, r"critical [0-9.]+ ± [0-9.]+ \(quality within 1")
        self.assertNotIn("not determined", said)

    def test_a_study_of_phase_map_is_read_by_the_same_verbs(self):
        self.succeed("phase", "map", "--n", "32", "--d", "8", "--rho", "0.25,0.5", "--gamma",
                     "1,2,3", "--replicas", "2", "--no-figure", "-o", "map.study")
        self.assertIn("contraction", self.succeed("show", "map.study"))
        self.succeed("export", "map.study", "-o", "map.csv", "-o", "map.nc")
        self.succeed("figure", "map.study", "-o", "map.png")


if __name__ == "__main__":
    unittest.main()
