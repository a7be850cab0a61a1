"""Studies that are damaged, locked, changed or gone: nothing finished is lost, nothing wrong is shown."""

import fcntl
import os
import random
import sqlite3
import subprocess
import time
import unittest

from harness import DEWPOINT, ProgramTest

SEED = int(os.environ.get("DEWPOINT_TEST_SEED", "20260101"))
FLIPS = 200
PATIENCE = 60.0  # seconds; far more than anything here takes on a busy machine

SMALL = """
experiment = "phase"
replicas = 3
[parameters]
d = 16
gamma = 1.0
common = "fixed"
eta = "none"
[grid]
n = [32, 64]
rho = [0.25, 0.5, 0.75]
"""


class DamageTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.write("small.toml", SMALL)

    def write(self, name, text):
        with open(self.path(name), "w") as file:
            file.write(text)

    def read(self, name):
        with open(self.path(name), "rb") as file:
            return file.read()

    def csv_of(self, study):
        self.succeed("export", study, "-o", "out.csv")
        return self.read("out.csv")

    def change(self, study, sql):
        with sqlite3.connect(self.path(study)) as database:
            database.execute(sql)
        database.close()


class OtherObservables(DamageTest):
    """A parameter that changes what is measured must not cost what is finished."""

    def setUp(self):
        super().setUp()
        self.succeed("run", "small.toml")
        self.before = self.read("small.study")

    def test_a_run_refuses_and_changes_nothing(self):
        for dry in ((), ("--dry-run",)):
            line = self.refuse(2, "run", "small.toml", "-S", "parameters.eta=exact", *dry)
            for word in ("small.study", "6 finished", "jacobian_norm", "-o", "--replace"):
                self.assertIn(word, line)
        self.assertEqual(self.read("small.study"), self.before)

    def test_replace_deletes_them(self):
        self.succeed("run", "small.toml", "-S", "parameters.eta=exact", "-o", "fresh.study")
        found = self.succeed_json("run", "small.toml", "-S", "parameters.eta=exact", "--replace")
        self.assertEqual((found["finished"], found["computed"], found["reused"]), (6, 6, 0))
        self.assertEqual(self.csv_of("small.study"), self.csv_of("fresh.study"))

    def test_replace_deletes_nothing_that_fits(self):
        found = self.succeed_json("run", "small.toml", "--replace")
        self.assertEqual((found["computed"], found["reused"]), (0, 6))


class Flipped(DamageTest):
    def test_a_flipped_bit_is_refused_or_changes_no_export(self):
        """Also of a result that is no sweep; FLIPS flips in all."""
        print(f"seed {SEED}, {FLIPS} flips", flush=True)
        self.succeed("run", "small.toml")
        self.succeed("phase", "map", "--n", "32", "--d", "8", "--rho", "0.25,0.5", "--gamma", "1,2,3",
                     "--replicas", "2", "--no-figure", "-o", "map.study")
        chance = random.Random(SEED)
        for study in ("small.study", "map.study"):
            whole, expected, refused = self.read(study), self.csv_of(study), 0
            for _ in range(FLIPS // 2):
                bit = chance.randrange(8 * len(whole))
                damaged = bytearray(whole)
                damaged[bit // 8] ^= 1 << bit % 8
                with open(self.path("flipped.study"), "wb") as file:
                    file.write(damaged)
                result = self.run_program("export", "flipped.study", "-o", "flipped.csv", "--force")
                where = f"{study}: bit {bit % 8} of byte {bit // 8}: {result.stderr}"
                if result.returncode == 0:
                    self.assertEqual(self.read("flipped.csv"), expected, where)
                    continue
                self.assertEqual(result.returncode, 2, where)
                self.assertEqual(len(result.stderr.strip().split("\n")), 1, where)
                self.assertIn("flipped.study", result.stderr)
                refused += 1
            self.assertGreater(refused, 0)

    def test_a_damaged_cell_is_named_by_all_and_computed_again_by_repair(self):
        self.succeed("run", "small.toml")
        expected = self.csv_of("small.study")
        self.change("small.study", "UPDATE moment SET mean = mean * 1.5 WHERE cell = 4 AND variable = 0")
        for verb in (["show", "small.study"], ["export", "small.study", "-o", "x.csv"],
                     ["merge", "small.study", "-o", "m.study"], ["figure", "small.study"],
                     ["run", "small.toml"], ["run", "small.toml", "-S", "replicas=5"]):
            line = self.refuse(2, *verb)
            for word in ("small.study", "cell 4", '"n":64', '"rho":0.25', "run --repair"):
                self.assertIn(word, line)
        found = self.succeed_json("run", "small.toml", "--repair")
        self.assertEqual((found["finished"], found["computed"], found["reused"]), (6, 1, 5))
        self.assertEqual(self.csv_of("small.study"), expected)


class Locks(DamageTest):
    def test_a_lock_that_is_a_link_costs_nobody_a_file(self):
        self.write("precious", "1234567890\n")
        os.symlink(self.path("precious"), self.path("small.study-lock"))
        self.assertIn("small.study-lock", self.refuse(2, "run", "small.toml"))
        self.assertEqual(self.read("precious"), b"1234567890\n")
        self.assertNotIn("small.study", self.files())


class Begun(DamageTest):
    def test_a_study_that_was_killed_before_its_first_commit_is_run(self):
        """Then it is a database in WAL mode with nothing in it."""
        database = sqlite3.connect(self.path("small.study"))
        database.execute("PRAGMA journal_mode = WAL")
        database.close()
        self.assertGreater(os.path.getsize(self.path("small.study")), 0)
        self.assertIn("6 finished", self.succeed("run", "small.toml"))

    def test_a_study_that_has_just_begun_is_shown(self):
        self.write("new.study", "")
        with open(self.path("new.study-lock"), "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            self.assertIn("none yet: the study has just begun", self.succeed("show", "new.study"))
            self.assertEqual(self.succeed_json("show", "new.study")["frames"], [])
            self.assertIn("running", self.succeed("runs"))
        self.refuse(2, "show", "new.study")


class Gone(DamageTest):
    # Seconds of work, and a commit every fraction of one.
    LONG = SMALL.replace("replicas = 3", "replicas = 1000").replace("[32, 64]", "[128, 256]")

    def start(self):
        self.write("long.toml", self.LONG)
        process = subprocess.Popen([DEWPOINT, "run", "long.toml"], cwd=self.folder.name, text=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.kill)
        deadline = time.monotonic() + PATIENCE
        while not self.committed():
            self.assertIsNone(process.poll(), "ended before its first commit")
            self.assertLess(time.monotonic(), deadline, "no commit")
            time.sleep(0.01)
        return process

    def committed(self):
        if not os.path.exists(self.path("long.study")):
            return 0
        connection = sqlite3.connect(f"file:{self.path('long.study')}?mode=ro", uri=True)
        try:
            return connection.execute("SELECT count(*) FROM cell WHERE replicas > 0").fetchone()[0]
        except sqlite3.Error:
            return 0  # no tables yet
        finally:
            connection.close()

    def end(self, process):
        """The one line beside those on progress."""
        out, err = process.communicate(timeout=PATIENCE)
        self.assertEqual((process.returncode, out), (1, ""), err)
        lines = [line for line in err.split("\n") if line.startswith("dewpoint: ")]
        self.assertEqual(len(lines), 1, err)
        self.assertIn("long.study", lines[0])
        return lines[0]

    def test_a_study_that_is_deleted_is_noticed(self):
        process = self.start()
        os.remove(self.path("long.study"))
        self.assertIn("deleted or replaced", self.end(process))

    def test_a_study_that_is_replaced_is_noticed_and_the_other_left_alone(self):
        process = self.start()
        self.write("other", "somebody else's")
        os.rename(self.path("other"), self.path("long.study"))
        self.assertIn("deleted or replaced", self.end(process))
        self.assertEqual(self.read("long.study"), b"somebody else's")

    def test_a_log_that_is_cut_does_not_end_as_finished(self):
        process = self.start()
        os.truncate(self.path("long.study-wal"), 0)
        self.assertRegex(self.end(process), "not there as they were committed|damaged while")
        self.refuse(2, "show", "long.study")
        result = self.run_program("run", "long.toml", "--repair")
        if result.returncode != 0:  # nearly all of the study was in the log
            self.assertEqual(result.returncode, 2, result.stderr)
            self.assertRegex(result.stderr, "damaged beyond repair: move it away|not a Dewpoint study")
            os.remove(self.path("long.study"))
            self.succeed("run", "long.toml")
        self.succeed("show", "long.study")


if __name__ == "__main__":
    unittest.main()
