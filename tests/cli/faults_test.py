"""Every allocation, write, fsync and rename of run, merge, export and report fails, one at a time.

faults.c, preloaded into the program, makes one call fail. Whatever fails: the exit status is not 0
where something is missing, standard error has one line, no cell that was finished before is lost,
files appear whole or not at all, and the same command without the fault gives what it should.
DEWPOINT_FAULTS is the most faults of one kind in one command (20); where there are more calls, the
faults are spread over them, moved by DEWPOINT_TEST_SEED.
"""

import os
import random
import re
import shutil
import sqlite3
import unittest

from harness import ProgramTest

LIBRARY = os.environ["DEWPOINT_FAULT_LIBRARY"]
MOST = int(os.environ.get("DEWPOINT_FAULTS", "20"))
SEED = int(os.environ.get("DEWPOINT_TEST_SEED", "20260101"))
KINDS = ("alloc", "write", "fsync", "rename")
PROGRESS = re.compile(r"\w+: +\d+ %")

STUDY = """
experiment = "harmonics"
[grid]
degree = [1, 2]
beta = [1.0, 2.0, 4.0]
"""
HALF = ("-S", "grid.beta=[1.0,2.0]")


class Faults(ProgramTest):
    def setUp(self):
        super().setUp()
        with open(self.path("a.toml"), "w") as file:
            file.write(STUDY)
        self.succeed("run", "a.toml", *HALF, "-o", "half.study")
        self.succeed("run", "a.toml", "-o", "whole.study")
        self.chance = random.Random(f"{SEED} {self.id()}")

    def read(self, name):
        with open(self.path(name), "rb") as file:
            return file.read()

    def content(self, name):
        """A report says when it was made."""
        return re.sub(rb"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", b"now", self.read(name))

    def with_fault(self, kind, number, *arguments):
        return self.run_program(*arguments, environment={
            "LD_PRELOAD": LIBRARY, "DEWPOINT_FAULT": f"{kind}:{number}",
            "DEWPOINT_FAULT_COUNT": self.path("count")})

    def numbers(self, kind, arguments):
        """Which calls fail: all, or so many spread over them."""
        result = self.with_fault(kind, 0, *arguments)
        self.assertEqual(result.returncode, 0, result.stderr)
        calls = int(self.read("count"))
        os.remove(self.path("count"))
        if calls <= MOST:
            chosen = list(range(1, calls + 1))
        else:
            shift = self.chance.random()
            chosen = [1 + int((i + shift) * calls / MOST) for i in range(MOST)]
        print(f"seed {SEED}: {arguments[0]}: {len(chosen)} of {calls} calls ({kind})", flush=True)
        return chosen

    def each_fault(self, arguments, prepare, check, kinds=KINDS):
        """`prepare` before every run, `check(result)` after it."""
        for kind in kinds:
            prepare()
            for number in self.numbers(kind, arguments):
                with self.subTest(kind=kind, number=number):
                    prepare()
                    result = self.with_fault(kind, number, *arguments)
                    # A cell that is too large for the memory is the user's to change.
                    too_large = "needs more memory than there is" in result.stderr
                    self.assertIn(result.returncode, (0, 2 if too_large else 1), result.stderr)
                    if result.returncode != 0:
                        lines = [line for line in result.stderr.strip().split("\n")
                                 if not PROGRESS.match(line)]
                        self.assertEqual(len(lines), 1, result.stderr)
                        self.assertTrue(lines[0].startswith("dewpoint: "), result.stderr)
                    if os.path.exists(self.path("count")):
                        os.remove(self.path("count"))
                    check(result)

    def cells(self, study):
        """Moments by the key of their cell, as SQLite sees them."""
        connection = sqlite3.connect(self.path(study))
        try:
            rows = connection.execute(
                "SELECT c.key, m.variable, m.position, m.samples, m.mean, m.squared_deviations"
                " FROM cell c JOIN moment m ON m.cell = c.id").fetchall()
        finally:
            connection.close()
        return set(rows)

    def expect_targets(self, result, targets):
        """Whole, or, where the program says so, absent; and nothing beside them."""
        for target, expected in targets.items():
            if os.path.exists(self.path(target)):
                self.assertEqual(self.content(target), expected, result.stderr)
            else:
                self.assertNotEqual(result.returncode, 0, f"{target} is missing")
        self.assertEqual([name for name in self.files() if ".tmp" in name], [])

    def remove(self, names):
        for name in names:
            if os.path.exists(self.path(name)):
                os.remove(self.path(name))

    def test_run(self):
        command = ("run", "a.toml", "-o", "a.study", "--threads", "1")
        finished, whole = self.cells("half.study"), self.cells("whole.study")

        def prepare():
            self.remove(["a.study-wal", "a.study-shm", "a.study-lock"])
            shutil.copy(self.path("half.study"), self.path("a.study"))

        def check(result):
            self.assertLessEqual(finished, self.cells("a.study"))
            if result.returncode == 0:
                self.assertEqual(self.cells("a.study"), whole)
            self.succeed(*command)
            self.assertEqual(self.cells("a.study"), whole)
            self.assertEqual([name for name in self.files() if name.startswith("a.study-")], [])

        self.each_fault(command, prepare, check)

    def test_merge(self):
        targets = ["m.study"]
        whole = self.cells("whole.study")

        def check(result):
            if os.path.exists(self.path("m.study")):
                self.assertEqual(self.cells("m.study"), whole)
            else:
                self.assertNotEqual(result.returncode, 0)
            self.assertEqual([name for name in self.files() if name.startswith("m.study.")], [])

        self.each_fault(("merge", "half.study", "whole.study", "-o", "m.study"),
                        lambda: self.remove(targets), check)

    def outputs(self, arguments, targets, kinds=KINDS):
        self.succeed(*arguments)
        expected = {target: self.content(target) for target in targets}
        self.each_fault(arguments, lambda: self.remove(targets),
                        lambda result: self.expect_targets(result, expected), kinds)

    def test_export(self):
        self.outputs(("export", "whole.study", "-o", "x.csv", "-o", "x.jsonl", "-o", "x.npz"),
                     ["x.csv", "x.csv.json", "x.jsonl", "x.npz"])

    def test_export_to_netcdf(self):
        """Not without memory: HDF5 aborts the process then."""
        self.outputs(("export", "whole.study", "-o", "x.nc"), ["x.nc"], KINDS[1:])

    def test_report(self):
        self.outputs(("report", "whole.study", "-o", "x.html"), ["x.html"])

    def test_no_locks(self):
        result = self.with_fault("lock", 1, "run", "a.toml", "-o", "l.study")
        self.assertEqual(result.returncode, 1)
        self.assertIn("l.study': it cannot be locked (No locks available)", result.stderr)
        self.assertNotIn("another process", result.stderr)


if __name__ == "__main__":
    unittest.main()
