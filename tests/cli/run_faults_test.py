"""dewpoint run under kill -9, signals and a second run: nothing finished is lost or done twice.

A study of 300 cells is computed once without disturbance and once with kills at random moments,
each followed by the same command again, on the threads of one process and on two MPI ranks. The
exports must be the same bytes, and the file must not hold a replica twice. DEWPOINT_KILLS says how
many kills (20), DEWPOINT_TEST_SEED repeats their moments.
"""

import os
import random
import re
import shutil
import signal
import sqlite3
import subprocess
import tempfile
import time
import unittest

from harness import DEWPOINT, ProgramTest

KILLS = int(os.environ.get("DEWPOINT_KILLS", "20"))
SEED = int(os.environ.get("DEWPOINT_TEST_SEED", "20260101"))
MPIRUN = shutil.which("mpirun")
EARLIEST = 0.05  # seconds after the start: before the first commit, often before the file
PATIENCE = 60.0  # seconds; far more than anything here takes on a busy machine

# About 20 ms of work per cell, 3 s in all on two threads.
STUDY = """
title = "Killed and continued"
experiment = "phase"
seed = 7
replicas = 96
[parameters]
tokens = "equicorrelated"
d = 16
common = "fixed"
eta = "none"
[grid]
n = [64, 128, 256]
rho = { from = 0.0, to = 0.8, count = 20 }
gamma = { from = 0.5, to = 1.5, count = 5, unit = "critical" }
"""
CELLS = 300
REPLICAS = 96


def session_members(session):
    """Processes of a session that are alive, whatever group they put themselves into."""
    members = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/stat") as file:
                fields = file.read().rpartition(")")[2].split()
        except OSError:
            continue  # has just ended
        state, its_session = fields[0], int(fields[3])
        if its_session == session and state != "Z":
            members.append(int(name))
    return members


def kill_session(process):
    """kill -9 for a process that leads its session and for everything it started.

    Until it has been waited for, nobody else can have its number.
    """
    if process.returncode is not None:
        return
    deadline = time.monotonic() + PATIENCE
    while members := session_members(process.pid):
        if time.monotonic() > deadline:
            raise AssertionError(f"processes {members} survive kill -9")
        for member in members:
            try:
                os.kill(member, signal.SIGKILL)
            except ProcessLookupError:
                pass
        time.sleep(0.002)
    process.wait()


def sorted_rows(text):
    head, *rows = text.splitlines(keepends=True)
    return head + b"".join(sorted(rows))


class FaultTest(ProgramTest):
    def setUp(self):
        super().setUp()
        with open(self.path("killed.toml"), "w") as file:
            file.write(STUDY)
        self.random = random.Random(f"{SEED} {self.id()}")
        print(f"seed {SEED}, {KILLS} kills", flush=True)

    def start(self, *arguments, before=(), environment=None):
        process = subprocess.Popen(
            [*before, DEWPOINT, "run", "killed.toml", *arguments], cwd=self.folder.name,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env={**os.environ, **(environment or {})}, start_new_session=True)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.stdout.close)
        self.addCleanup(kill_session, process)
        return process

    def finish(self, process):
        out, err = process.communicate(timeout=20 * PATIENCE)
        self.assertEqual(process.returncode, 0, err)
        return out

    def csv(self, study):
        self.succeed("export", study, "-o", study + ".csv")
        with open(self.path(study + ".csv"), "rb") as file:
            return sorted_rows(file.read())

    def query_live(self, study, text):
        """Rows of a study that somebody writes."""
        connection = sqlite3.connect(f"file:{self.path(study)}?mode=ro", uri=True)
        try:
            return connection.execute(text).fetchall()
        finally:
            connection.close()

    def query(self, study, text):
        """Rows of a copy with its log, so that looking at a killed study does not mend it."""
        with tempfile.TemporaryDirectory(dir=self.folder.name) as copies:
            for ending in ("", "-wal"):
                if os.path.exists(self.path(study + ending)):
                    shutil.copy(self.path(study + ending), copies)
            connection = sqlite3.connect(os.path.join(copies, study))
            try:
                return connection.execute(text).fetchall()
            finally:
                connection.close()

    def committed(self, study, query=None):
        """Replicas by cell; nothing before the file has its tables."""
        query = query or self.query
        if not os.path.exists(self.path(study)):
            return {}
        if not query(study, "SELECT 1 FROM sqlite_master WHERE name = 'cell'"):
            return {}
        return dict(query(study, "SELECT key, replicas FROM cell WHERE replicas > 0"))

    def wait_for_commit(self, study, process):
        deadline = time.monotonic() + PATIENCE
        while not self.committed(study, self.query_live):
            self.assertIsNone(process.poll(), "ended before its first commit")
            self.assertLess(time.monotonic(), deadline, "no commit")
            time.sleep(0.01)

    def assert_each_replica_once(self, study):
        """The commits of a cell join without gap and without overlap to what the cell has."""
        reached = {}
        for cell, first, last in self.query(
                study, "SELECT cell, from_replica, to_replica FROM effort "
                       "ORDER BY cell, from_replica, to_replica"):
            self.assertEqual(first, reached.get(cell, 0), f"cell {cell}")
            self.assertGreater(last, first, f"cell {cell}")
            reached[cell] = last
        self.assertEqual(reached, dict(self.query(study, "SELECT id, replicas FROM cell")))
        self.assertEqual(set(reached.values()), {REPLICAS})
        self.assertEqual(len(reached), CELLS)

    def assert_nothing_beside(self, study):
        self.assertEqual([name for name in self.files() if name.startswith(study + "-")], [])


class Killed(FaultTest):
    def reference(self, options):
        """The undisturbed run: seconds to its first commit, and from there to its end."""
        started = time.monotonic()
        process = self.start("-o", "reference.study", **options)
        self.wait_for_commit("reference.study", process)
        committed = time.monotonic()
        self.finish(process)
        self.assert_each_replica_once("reference.study")
        return committed - started, time.monotonic() - committed

    def moment(self, setup, work):
        """One kill in four while the run sets itself up; the others later, more of them early.

        A quarter of the whole at most, so that one study survives many kills before its end.
        """
        if self.random.random() < 0.25:
            return EARLIEST + (setup - EARLIEST) * self.random.random()
        latest = max(2 * EARLIEST, work / 4)
        return setup + EARLIEST * (latest / EARLIEST) ** self.random.random()

    def kill_once(self, moment, options):
        """Whether the run was still going on."""
        process = self.start("-o", "killed.study", **options)
        try:
            process.wait(timeout=moment)
        except subprocess.TimeoutExpired:
            kill_session(process)
            return True
        self.finish(process)
        return False

    def survive(self, **options):
        """Kills until all are used; where a study is finished before that, the next one begins."""
        setup, work = self.reference(options)
        reference = self.csv("reference.study")
        kills = rounds = advances = 0
        while kills < KILLS:
            rounds += 1
            known = {}
            while kills < KILLS and self.kill_once(self.moment(setup, work), options):
                kills += 1
                now = self.committed("killed.study")
                for cell, replicas in known.items():
                    self.assertGreaterEqual(now.get(cell, 0), replicas, f"lost of cell {cell}")
                advances += now != known
                known = now
            self.finish(self.start("-o", "killed.study", **options))
            self.assertEqual(self.csv("killed.study"), reference)
            self.assert_each_replica_once("killed.study")
            self.assert_nothing_beside("killed.study")
            os.remove(self.path("killed.study"))
        print(f"{kills} kills, {rounds} studies; {advances} killed runs had committed something; "
              f"first commit after {setup:.2f} s, all after {setup + work:.2f} s", flush=True)
        self.assertGreater(advances, kills // 10)

    def test_threads_survive_kill_9(self):
        self.survive()

    @unittest.skipUnless(MPIRUN, "mpirun is not installed")
    def test_ranks_survive_kill_9(self):
        local = self.start("-o", "local.study")
        self.finish(local)
        # Everything that Open MPI leaves behind when it is killed lies in the test's folder.
        folder = self.folder.name
        self.survive(before=[MPIRUN, "-n", "2", "--oversubscribe"], environment={
            "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
            "TMPDIR": folder, "OMPI_MCA_btl_vader_backing_directory": folder})
        self.assertEqual(self.csv("reference.study"), self.csv("local.study"))


class Signalled(FaultTest):
    def stop_with(self, number, status):
        process = self.start("-o", "stopped.study")
        self.wait_for_commit("stopped.study", process)
        process.send_signal(number)
        out, err = process.communicate(timeout=PATIENCE)
        self.assertEqual(process.returncode, status, err)
        self.assertEqual(out, "")
        command = re.search(r"continues: dewpoint (.*)", err)
        self.assertIsNotNone(command, err)
        self.assert_nothing_beside("stopped.study")
        kept = self.committed("stopped.study")
        self.assertLess(sum(kept.values()), CELLS * REPLICAS)
        again = self.succeed_json(*command[1].split())
        self.assertEqual(again["replicas"], CELLS * REPLICAS - sum(kept.values()))
        self.assert_each_replica_once("stopped.study")
        outcomes = self.query("stopped.study", "SELECT outcome FROM session ORDER BY id")
        self.assertEqual(outcomes, [("stopped",), ("finished",)])

    def test_ctrl_c_keeps_what_is_finished_and_says_how_to_go_on(self):
        self.stop_with(signal.SIGINT, 130)

    def test_sigterm_does_the_same(self):
        self.stop_with(signal.SIGTERM, 143)

    def test_a_terminal_that_closes_does_the_same(self):
        self.stop_with(signal.SIGHUP, 129)

    def test_under_nohup_it_outlives_the_terminal(self):
        process = self.start("-o", "deaf.study", before=["nohup"])
        self.wait_for_commit("deaf.study", process)
        process.send_signal(signal.SIGHUP)
        self.finish(process)
        self.assert_each_replica_once("deaf.study")


class Twice(FaultTest):
    def test_a_second_run_at_the_same_time_is_refused_and_a_later_one_finds_everything(self):
        first = self.start("-o", "one.study")
        self.wait_for_commit("one.study", first)
        message = self.refuse(1, "run", "killed.toml", "-o", "one.study")
        self.assertIn("one.study", message)
        self.assertIn("another process", message)
        self.finish(first)
        self.assert_each_replica_once("one.study")
        again = self.succeed_json("run", "killed.toml", "-o", "one.study")
        self.assertEqual((again["computed"], again["reused"], again["replicas"]), (0, CELLS, 0))
        self.assert_each_replica_once("one.study")

    def test_a_killed_run_does_not_lock_its_study(self):
        first = self.start("-o", "one.study")
        self.wait_for_commit("one.study", first)
        kill_session(first)
        kept = self.committed("one.study")
        again = self.succeed_json("run", "killed.toml", "-o", "one.study")
        self.assertEqual(again["replicas"], CELLS * REPLICAS - sum(kept.values()))


if __name__ == "__main__":
    unittest.main()
