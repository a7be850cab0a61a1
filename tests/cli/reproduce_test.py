"""dewpoint reproduce --quick, all of it: minutes, so only `make test-full` runs it."""

import json
import math
import os
import signal
import shutil
import sqlite3
import subprocess
import tempfile
import time
import unittest

from harness import DEWPOINT, ProgramTest
from report_support import page_data, points_of, points_of_csv, same

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
    "fd-layers": ["fd-layer-norms", "fd-layer-focus"],
}
FIGURES = [figure for figures in STUDIES.values() for figure in figures]
CERTIFICATES = ["certificate.json", "certificate.md", "errata.json", "errata.md"]
LONG = ["depth-random-heads-gradient", "depth-random-heads", "fd-eight-layers", "fd-heads",
        "fine-phase-map", "lengths-gamma", "lengths-simplex", "lengths-sphere", "million-tokens",
        "stage-boundaries", "text-tinystories", "text-wikitext", "train-scaling-rates",
        "train-scaling", "variants-heads",
        "variants-kinds", "variants-linear", "variants-masks", "variants-sinks", "variants-widths"]
EXAMPLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "examples", "long")
FLOAT32 = 2.0 ** -24  # its rounding


def files_of(studies):
    figures = [figure for study in studies for figure in STUDIES[study]]
    return sorted([study + ".study" for study in studies] +
                  [figure + ending for figure in figures for ending in (".svg", ".png", ".csv")])


def place(*coordinates):
    """As far as a study writes them into the name of a place."""
    return tuple(float(f"{coordinate:.10g}") for coordinate in coordinates)


def cells(file, frame, variable):
    """Means by place: {(coordinate, ...): mean}."""
    with sqlite3.connect(file) as study:
        rows = study.execute("SELECT place, mean FROM point WHERE frame = ? AND variable = ?",
                             (frame, variable)).fetchall()
    return {place(*(float(part.split("=")[1]) for part in name.split())): mean
            for name, mean in rows}


def meta(file):
    with sqlite3.connect(file) as record:
        return (dict(record.execute("SELECT key, value FROM meta")),
                dict(record.execute("SELECT name, value FROM parameter")))


def times(folder, endings):
    return {name: os.stat(os.path.join(folder, name)).st_mtime_ns for name in os.listdir(folder)
            if name.endswith(endings)}


def interrupted(folder, arguments, when):
    """Runs the program and interrupts it when `when()` is true."""
    process = subprocess.Popen([DEWPOINT, *arguments], cwd=folder, text=True,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    while process.poll() is None and not when():
        time.sleep(0.05)  # between two looks at the folder: a new file is the only sign there is
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=120)
    return process.returncode, out, err


class Everything(ProgramTest):
    """One folder for all tests, made by a run that was interrupted and continued."""

    @classmethod
    def setUpClass(cls):
        cls.shared = tempfile.TemporaryDirectory(prefix="dewpoint-test-")
        cls.addClassCleanup(cls.shared.cleanup)
        cls.folder_of_all = os.path.realpath(cls.shared.name) + "/out/deep"
        arguments = ["reproduce", "--quick", "-o", "out/deep"]
        second = cls.folder_of_all + "/cas-three-phases.study"
        cls.stopped = interrupted(cls.shared.name, arguments, lambda: os.path.exists(second))
        cls.left = times(cls.folder_of_all, "")
        rows = cls.folder_of_all + "/certificate.part.json"
        cls.stopped_again = interrupted(cls.shared.name, arguments, lambda: os.path.exists(rows))
        cls.left_again = times(cls.folder_of_all, "")
        cls.result = subprocess.run([DEWPOINT, *arguments], cwd=cls.shared.name, text=True,
                                    capture_output=True, timeout=1200)

    def file(self, name):
        return os.path.join(self.folder_of_all, name)

    def assert_close(self, file, names, variables, tolerance):
        """What was measured lies on the exact curve."""
        for variable in variables:
            exact, measured = (cells(self.file(file), name, variable) for name in names)
            shared = [at for at in measured if None not in (measured[at], exact[at])]
            self.assertGreater(len(shared), 10)
            for at in shared:
                self.assertLessEqual(abs(measured[at] - exact[at]), tolerance, (variable, at))

    def test_writes_everything_and_names_it(self):
        self.assertEqual(self.result.returncode, 0, self.result.stderr)
        expected = sorted(files_of(STUDIES) + CERTIFICATES + ["report.html"])
        self.assertEqual(sorted(os.listdir(self.folder_of_all)), expected)
        for name in expected:
            self.assertGreater(os.path.getsize(self.file(name)), 200, name)
        lines = self.result.stdout.strip().split("\n")
        self.assertEqual(lines[-1], "report  " + self.file("report.html"))
        self.assertLess(len(lines), 25)
        for study, figures in STUDIES.items():
            self.assertIn(f"study   {self.file(study)}.study ({', '.join(figures)})", lines)
        for name in ("certificate", "errata"):
            (line,) = [line for line in lines if line.startswith(name + ": ")]
            self.assertIn(", 0 fail", line)

    def test_an_interrupt_keeps_what_is_finished_and_the_same_command_goes_on(self):
        for status, out, err in (self.stopped, self.stopped_again):
            self.assertEqual(status, 130, err)
            self.assertEqual(out, "")
            self.assertIn("the same command continues: dewpoint reproduce --quick -o out/deep", err)
            self.assertIn("kept in " + self.folder_of_all, err)
        studies = [name for name in self.left if name.endswith(".study")]
        self.assertGreaterEqual(len(studies), 2)
        self.assertLess(len(studies), len(STUDIES))
        now = times(self.folder_of_all, "")
        for name in studies:
            self.assertEqual(self.left[name], now[name], name)
        for name in (study + ".study" for study in STUDIES):  # then the certificate began
            self.assertEqual(self.left_again[name], now[name], name)
        self.assertNotIn("report.html", self.left_again)

    def test_progress_is_one_line_for_the_whole(self):
        for _, _, err in (self.stopped, self.stopped_again):
            for line in err.strip().split("\n"):
                self.assertRegex(line, r"^(reproduce: +\d+ %, .* left \(.+\)|dewpoint: .*)$")
        self.assertRegex(self.result.stderr + "\n", r"^(reproduce: +\d+ %, .* left \(.+\)\n)*\n?$")

    def test_a_study_says_with_what_effort_and_how_it_was_made(self):
        for study in STUDIES:
            head, parameters = meta(self.file(study + ".study"))
            self.assertEqual(head["command"], "dewpoint reproduce --quick --only " + study)
            self.assertEqual(parameters["effort"], "quick")
            self.assertTrue(head["experiment"] and head["version"] and head["created"])

    def test_the_page_shows_every_figure_with_the_numbers_of_its_table(self):
        page = page_data(self.file("report.html"))
        self.assertEqual([figure["id"] for figure in page["figures"]], FIGURES)
        origins = {figure: study for study, figures in STUDIES.items() for figure in figures}
        for figure in page["figures"]:
            name = figure["id"]
            self.assertEqual(figure["origin"]["study"], origins[name] + ".study")
            self.assertEqual(figure["origin"]["command"], meta(
                self.file(figure["origin"]["study"]))[0]["command"])
            self.assertTrue(figure["group"] and figure["title"] and figure["see"], name)
            shown = points_of(figure["figure"])
            self.assertGreater(sum(len(points) for points in shown.values()), 10, name)
            self.assertTrue(same(shown, points_of_csv(self.file(name + ".csv"))), name)

    def test_the_page_shows_the_map_as_the_study_has_it(self):
        page = page_data(self.file("report.html"))
        for name, variable in (("cas-figure-1", "contraction"), ("cas-figure-2", "jacobian_norm")):
            (figure,) = [figure for figure in page["figures"] if figure["id"] == name]
            stored = cells(self.file("cas-figures-1-2.study"), "phase", variable)
            for (title, _), points in points_of(figure["figure"]).items():
                d = float(title.split("d = ")[1])
                for rho, gamma, value in points:
                    self.assertEqual(stored[place(512, d, rho, gamma)], value)

    def test_the_page_and_the_folder_have_the_same_certificate(self):
        page = page_data(self.file("report.html"))
        for name, verb in (("certificate", ["verify"]), ("errata", ["verify", "errata"])):
            with open(self.file(name + ".json"), encoding="utf-8") as file:
                written = json.load(file)
            self.assertEqual(page[name]["rows"], written["rows"])
            self.assertEqual((page[name]["effort"], page[name]["seed"]), ("quick", "1"))
            self.assertEqual((written["effort"], written["seed"]), ("quick", 1))
            listed = self.succeed_json(*verb, "--list")["rows"]
            self.assertEqual([row["id"] for row in written["rows"]], [row["id"] for row in listed])
            with open(self.file(name + ".md"), encoding="utf-8") as file:
                table = [line for line in file if line.startswith("|")]
            self.assertEqual(len(table), 2 + len(listed))
        ids = {row["id"] for row in page["certificate"]["rows"] + page["errata"]["rows"]}
        for figure in page["figures"]:
            self.assertLessEqual(set(figure["claims"]), ids, figure["id"])

    def test_the_page_says_what_was_not_run_and_who_made_it(self):
        page = page_data(self.file("report.html"))
        self.assertEqual([study["name"] for study in page["not_run"]], LONG)
        for study in page["not_run"]:
            self.assertEqual(study["command"], "dewpoint reproduce --quick --only " + study["name"])
            self.assertTrue(study["title"])
        footer = {line["label"]: line["value"] for line in page["footer"]}
        self.assertEqual(footer["Seed"], "1")
        self.assertEqual(footer["Effort"], "quick")
        self.assertEqual(footer["Command"], "dewpoint reproduce --quick -o out/deep")
        self.assertIn("core(s)", footer["Machine"])

    def test_points_lie_on_curves(self):
        # A cosine is a sum of d products in float32, off by d roundings at worst, and log odds are β
        # times the difference of two. A mass moves by at most a quarter of what its log odds do; λ
        # and η as functions of the weight a on the token itself have slopes up to 2/ρ = 4 and 2.
        self.assert_close("cas-three-phases.study", ("three_phases", "three_phases_measured"),
                          ("self_mass", "cluster_mass", "rest_mass"),
                          2 * 1009 * FLOAT32 * 4 * math.log(1000) / 4)
        self.assert_close("cas-scaling-collapse.study",
                          ("scaling_collapse", "scaling_collapse_measured"),
                          ("contraction", "jacobian_norm"),
                          2 * 512 * FLOAT32 * (6 + math.log(512)) / 0.5)
        # Layers iterate in double and η is taken in float32, of scores up to β = 4 log 256.
        self.assert_close("cas-depth.study", ("depth_theory", "phase_depth"),
                          ("contraction", "jacobian_norm"),
                          2 * 256 * FLOAT32 * 4 * math.log(256) / 2)

    def test_scores_follow_their_laws(self):
        # The simplex has dew points log(n - 1)/(1 - rho), and nothing is random.
        dew = cells(self.file("dew-points.study"), "dew simplex ρ = 0.5: log n", "beta_dew_median")
        for (n,), beta in dew.items():
            self.assertAlmostEqual(beta / (2 * math.log(n - 1)), 1.0, delta=1e-11)
        # Convergence to the limit law: the last local power is near its limit, which it approaches
        # as n^(-2/(d-1)): 1e-6 at d = 5 and n = 1e12.
        distance = cells(self.file("sl-critical-weights.study"), "convergence", "distance")
        power = math.log10(distance[(5.0, 1e12)] / distance[(5.0, 1e11)])
        self.assertAlmostEqual(power, -0.5, delta=1e-5)
        # A harmonic on the circle at beta = 50, degree 5.
        growth = cells(self.file("sl-backward-heat.study"), "harmonics", "growth")
        self.assertAlmostEqual(growth[(2.0, 5.0, 50.0)], 1.392437, delta=5e-7)

    # ---- with a copy of the folder --------------------------------------------------------------

    def copied(self):
        return shutil.copytree(self.folder_of_all, self.path("copy"))

    def test_run_again_it_measures_nothing(self):
        folder = os.path.realpath(self.copied())
        before = times(folder, (".study", ".json", ".md"))
        out = self.succeed_json("reproduce", "--quick", "-o", "copy")
        self.assertEqual(times(folder, (".study", ".json", ".md")), before)
        def names(stems, *endings):
            return [os.path.join(folder, stem + ending) for stem in stems for ending in endings]
        self.assertEqual(out["studies"], names(STUDIES, ".study"))
        self.assertEqual(out["figures"], names(FIGURES, ".svg", ".png"))
        self.assertEqual(out["data"], names(FIGURES, ".csv"))
        self.assertEqual(out["report"], os.path.join(folder, "report.html"))
        self.assertEqual(out["certificate"]["fails"], 0)
        self.assertEqual(out["certificate"]["rows"],
                         len(self.succeed_json("verify", "--list")["rows"]))

    def test_a_row_that_fails_is_shown_and_is_exit_1(self):
        folder = self.copied()
        file = os.path.join(folder, "certificate.json")
        with open(file, encoding="utf-8") as written:
            certificate = json.load(written)
        row = next(row for row in certificate["rows"] if not row["as_printed"])
        row["comparisons"][0]["measured"]["mean"] += 1e6
        row["verdict"] = "fails"
        with open(file, "w", encoding="utf-8") as changed:
            json.dump(certificate, changed)
        result = self.run_program("reproduce", "--quick", "-o", "copy")
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertIn(", 1 fail\n", result.stdout)
        self.assertIn("\n" + row["id"] + " ", result.stdout)
        self.assertEqual(result.stdout.count(row["command"]), 1)

    def test_a_certificate_is_not_believed_where_its_numbers_deny_its_verdict(self):
        folder = self.copied()
        file = os.path.join(folder, "certificate.json")
        with open(file, encoding="utf-8") as written:
            certificate = json.load(written)
        kept = [row["seconds"] for row in certificate["rows"]]
        # A fast row that is examined again; all others keep their seconds.
        names = [row["id"] for row in certificate["rows"]]
        changed = names.index("cas.lemma-b.7")
        certificate["rows"][changed]["comparisons"][0]["measured"]["mean"] += 1e6
        with open(file, "w", encoding="utf-8") as damaged:
            json.dump(certificate, damaged)
        self.succeed("reproduce", "--quick", "-o", "copy")
        with open(file, encoding="utf-8") as written:
            rows = json.load(written)["rows"]
        self.assertEqual([row["id"] for row in rows], names)
        self.assertTrue(all(c["holds"] for c in rows[changed]["comparisons"]))
        now = [row["seconds"] for row in rows]
        del kept[changed], now[changed]
        self.assertEqual(now, kept)

    def test_a_damaged_study_is_measured_again_and_no_other(self):
        folder = self.copied()
        before = times(folder, ".study")
        file = os.path.join(folder, "sl-values.study")
        original = cells(file, "value_ellipse", "first")
        with open(file, "r+b") as study:
            study.truncate(5000)
        self.succeed("reproduce", "--quick", "-o", "copy")
        after = times(folder, ".study")
        self.assertEqual([name for name in before if before[name] != after[name]],
                         ["sl-values.study"])
        self.assertEqual(cells(file, "value_ellipse", "first"), original)

    def test_a_long_study_that_somebody_ran_is_on_the_page(self):
        folder = self.copied()
        self.succeed("run", os.path.join(EXAMPLES, "stage-boundaries.toml"), "-S", "replicas=1",
                     "-S", "parameters.steps=300", "-S", "grid.lambda=[0.7,0.75,0.8,0.85,0.9]", "-S",
                     "grid.rate=[1e-4,2e-4,3e-4,4e-4,5e-4]", "-o", "copy/stage-boundaries.study")
        self.succeed("reproduce", "--quick", "-o", "copy")
        page = page_data(os.path.join(folder, "report.html"))
        long_figures = [figure for figure in page["figures"] if figure["group"] == "Long studies"]
        self.assertEqual([figure["id"] for figure in long_figures],
                         ["stage-boundaries-peak", "stage-boundaries-dilution"])
        self.assertTrue(long_figures[0]["origin"]["command"].startswith("dewpoint run "))
        self.assertEqual([study["name"] for study in page["not_run"]],
                         [name for name in LONG if name != "stage-boundaries"])
        stored = cells(os.path.join(folder, "stage-boundaries.study"), "train", "peak")
        shown = points_of(long_figures[0]["figure"])[("", "")]
        self.assertEqual(len(shown), len(stored))
        for rate, persistence, peak in shown:
            self.assertEqual(peak, stored[place(persistence, rate)])


class Parts(ProgramTest):
    def test_only_makes_one_study_and_shows_what_else_is_there(self):
        self.succeed("reproduce", "--quick", "-o", "one", "--only", "sl-values")
        self.assertEqual(sorted(os.listdir(self.path("one"))),
                         sorted(files_of(["sl-values"]) + ["report.html"]))
        page = page_data(self.path("one/report.html"))
        self.assertEqual([figure["id"] for figure in page["figures"]], ["sl-values"])
        self.assertIsNone(page["certificate"])
        self.assertEqual([study["name"] for study in page["not_run"]],
                         [name for name in STUDIES if name != "sl-values"] + LONG)
        before = times(self.path("one"), ".study")
        self.succeed("reproduce", "--quick", "-o", "one", "--only", "cas-three-phases")
        page = page_data(self.path("one/report.html"))
        self.assertEqual([figure["id"] for figure in page["figures"]],
                         ["cas-three-phases", "sl-values"])
        self.assertEqual(times(self.path("one"), "values.study"), before)

    def test_another_seed_or_effort_or_the_wish_measures_again(self):
        arguments = ["reproduce", "-o", "one", "--only", "sl-values"]
        file = self.path("one/sl-values.study")
        def run(*more):
            self.succeed(*arguments, *more)
            return os.stat(file).st_mtime_ns, cells(file, "value_ellipse", "first")
        first = run("--quick")
        self.assertEqual(run("--quick"), first)
        fresh = run("--quick", "--fresh")
        self.assertNotEqual(fresh[0], first[0])
        self.assertEqual(fresh[1], first[1])
        self.assertNotEqual(run("--quick", "--seed", "2")[0], fresh[0])
        self.assertEqual(meta(file)[0]["command"],
                         "dewpoint reproduce --quick --only sl-values --seed 2")

    def test_without_gnuplot_everything_else_is_made(self):
        result = self.run_program("reproduce", "--quick", "-o", "bare", "--only", "sl-values",
                                  "--only", "cas-three-phases", environment={"PATH": "/nowhere"})
        self.assertEqual(result.returncode, 1)
        self.assertEqual(result.stderr.count("gnuplot-nox"), 1)
        self.assertEqual(sorted(os.listdir(self.path("bare"))),
                         ["cas-three-phases.csv", "cas-three-phases.study", "report.html",
                          "sl-values.csv", "sl-values.study"])
        page = page_data(self.path("bare/report.html"))
        self.assertEqual(len(page["figures"]), 2)
        self.assertIn("report  ", result.stdout)

    def test_a_long_study_can_be_stopped_and_is_then_not_shown(self):
        file = self.path("out/stage-boundaries.study")
        started = time.monotonic()
        status, _, err = interrupted(
            self.folder.name, ["reproduce", "--quick", "-o", "out", "--only", "stage-boundaries"],
            lambda: os.path.exists(file) and time.monotonic() - started > 5)
        self.assertEqual(status, 130, err)
        self.assertIn("the same command continues", err)
        with sqlite3.connect(file) as study:
            self.assertEqual(study.execute("SELECT outcome FROM session").fetchall(),
                             [("stopped",)])
        self.succeed("reproduce", "--quick", "-o", "out", "--only", "sl-values")
        page = page_data(self.path("out/report.html"))
        self.assertIn("stage-boundaries", [study["name"] for study in page["not_run"]])

    def test_what_cannot_be_is_refused(self):
        message = self.refuse(2, "reproduce", "--only", "sl-value")
        self.assertIn("'sl-value' is no study", message)
        self.assertIn("sl-values", message)
        self.refuse(2, "reproduce", "--quick", "--full")
        self.assertEqual(self.files(), [])


if __name__ == "__main__":
    unittest.main()
