"""What dewpoint train leaves behind: studies, resumed and interrupted runs, figures, screens."""

import os
import pty
import re
import resource
import shutil
import signal
import subprocess
import threading
import time
import unittest

from harness import DEWPOINT
from train_support import PATIENCE, PLAIN, QUICK, SMALL, TrainTest


class Studies(TrainTest):
    def setUp(self):
        super().setUp()
        self.found = self.train(*QUICK, "-o", "run.study")

    def test_sqlite_reads_it(self):
        self.assertEqual(self.query("run.study", "pragma integrity_check"), [("ok",)])
        losses = dict(self.query("run.study", "SELECT place, mean FROM point "
                                              "WHERE frame = 'trajectory' AND variable = 'loss'"))
        self.assertEqual(len(losses), 41)
        self.assertEqual(losses["time=200"], self.found["end"]["loss"])
        frames = [name for (name,) in self.query("run.study", "SELECT name FROM frame ORDER BY id")]
        self.assertEqual(frames, ["trajectory", "condensation", "stages", "cycles", "retraction",
                                  "data"])
        rows = self.query("run.study", "SELECT first, second, mean FROM plane WHERE frame = 'data' "
                                       "AND variable = 'transition'")
        self.assertEqual(len(rows), 16)

    def test_show_and_export_read_it(self):
        text = self.succeed("show", "run.study")
        for word in ("made by  train", "rate = 0.002", "trajectory", "condensation", "cycles"):
            self.assertIn(word, text)
        tables = self.tables("run.study")
        self.assertEqual(len(tables["-trajectory.csv"].splitlines()), 42)
        self.assertEqual(len(tables["-data-token-next.csv"].splitlines()), 17)

    def test_numpy_reads_the_weights(self):
        names = [f"{int(time)}/W0.npy" for time in
                 (0, self.found["stages"]["condensation"], self.found["stages"]["peak"], 200)]
        kept = self.attachments("run.study")
        for name in names:
            self.assertIn(name, kept)
        norms = [mean for (mean,) in self.query(
            "run.study", "SELECT mean FROM point WHERE variable = 'embedding_norm' AND place LIKE "
                         "'time=200 %' ORDER BY place")]
        self.assertEqual(len(norms), 4)
        self.numpy(f"""
import io, sqlite3
kept = dict(sqlite3.connect("run.study").execute("SELECT name, bytes FROM attachment"))
shapes = dict(W0=(4, 32), W1=(32, 4), WQ=(32, 32), WK=(32, 32))
read = lambda name: np.load(io.BytesIO(kept[name]), allow_pickle=False)
for name in {names}:
    for matrix, shape in shapes.items():
        weights = read(name.replace("W0", matrix))
        assert weights.shape == shape, (name, weights.shape)
        assert weights.dtype == np.dtype("<f8"), weights.dtype
start = read("0/WQ.npy")
assert abs(start.std() / 0.01 - 1) < 5.6 / np.sqrt(2 * start.size), start.std()
assert np.allclose(np.linalg.norm(read("200/W0.npy"), axis=1), {norms}, rtol=1e-14, atol=0)
""")

    def test_moments_are_kept_where_they_are_asked_for(self):
        self.train(*QUICK, "--moments", "7,150", "-o", "asked.study")
        kept = self.attachments("asked.study")
        self.assertEqual({name for name in kept if name.endswith("W0.npy")},
                         {"7/W0.npy", "150/W0.npy", "200/W0.npy"})
        self.assertEqual(kept["state"], self.attachments("run.study")["state"])
        self.train(*QUICK, "--moments", "none", "-o", "none.study")
        self.assertEqual({name for name in self.attachments("none.study") if "/" in name},
                         {"200/W0.npy", "200/W1.npy", "200/WQ.npy", "200/WK.npy"})

    def test_writing_a_study_changes_no_number(self):
        alone = self.train(*QUICK)
        del self.found["study"]
        self.assertEqual(alone, self.found)

    @unittest.skipUnless(shutil.which("gnuplot"), "needs gnuplot")
    def test_figures_are_drawn_in_two_formats(self):
        found = self.train(*QUICK, "--figures", "panels/of/run")
        self.assertEqual(len(found["figures"]) % 2, 0)
        self.assertIn("panels/of/run/training.png", found["figures"])
        for name in found["figures"]:
            with open(self.path(name), "rb") as file:
                start = file.read(400)
            if name.endswith(".png"):
                self.assertEqual(start[:8], b"\x89PNG\r\n\x1a\n", name)
            else:
                self.assertIn(b"<svg", start, name)

    def test_figures_without_gnuplot_say_so_and_the_study_is_kept(self):
        result = self.run_program("train", *PLAIN, "--figures", "f", "-o", "kept.study",
                                  environment={"PATH": "/nowhere"})
        self.assertEqual(result.returncode, 1)
        self.assertIn("gnuplot", result.stderr)
        self.assertIn("state", self.attachments("kept.study"))


class Resuming(TrainTest):
    def expect_same(self, a, b):
        self.assertEqual(self.tables(a), self.tables(b))
        self.assertEqual(self.attachments(a), self.attachments(b))

    def test_a_resumed_run_is_the_uninterrupted_one(self):
        for more in ([], ["--double"], ["--batch", "64"], ["--optimiser", "descent"]):
            with self.subTest(more):
                self.succeed("train", *SMALL, *more, "--steps", "200", "-o", "straight.study")
                self.succeed("train", *SMALL, *more, "--steps", "100", "-o", "half.study")
                text = self.succeed("train", "--resume", "half.study", "--steps", "200", "-o",
                                    "whole.study")
                self.assertIn("at step 200", text)
                self.expect_same("straight.study", "whole.study")
        self.assertEqual(len(self.tables("half.study")["-trajectory.csv"].splitlines()), 22)

    def test_a_chain_of_a_file_and_an_odd_law_come_back_bit_by_bit(self):
        self.write("chain.txt", "0.7 0.2 0.1\n0.3 0.6 0.1\n0.35 0.15 0.5\n")
        for more in (["--chain", "chain.txt"], ["--pi", "0.7,0.2,0.1"], ["--chain", "cycle"]):
            with self.subTest(more):
                self.succeed("train", *SMALL, *more, "--steps", "60", "-o", "straight.study")
                self.succeed("train", *SMALL, *more, "--steps", "30", "-o", "half.study")
                self.succeed("train", "--resume", "half.study", "--steps", "60")
                self.expect_same("straight.study", "half.study")

    def test_a_flow_goes_on_within_its_tolerances(self):
        flow = ["--optimiser", "flow", "--m", "8"]
        straight = self.train(*flow, "--time", "12")
        self.train(*flow, "--time", "5", "-o", "flow.study")
        whole = self.train("--resume", "flow.study", "--time", "12")
        self.assertAlmostEqual(whole["end"]["loss"], straight["end"]["loss"], 7)
        self.assertEqual(whole["stages"]["condensation"], straight["stages"]["condensation"])

    def test_what_cannot_be_resumed_is_named(self):
        self.succeed("train", *PLAIN, "-o", "run.study")
        self.succeed("train", *PLAIN, "--seeds", "2", "-o", "seeds.study")
        self.succeed("dew", "--n", "100", "--draws", "2", "-o", "dew.study")
        self.write("text.study", "not a study")
        for arguments, words in (
                (["none.study"], ["none.study"]),
                (["text.study"], ["text.study"]),
                (["dew.study"], ["dew.study", "dew"]),
                (["seeds.study"], ["seeds.study"]),
                (["run.study", "--m", "16"], ["run.study", "--m"]),
                (["run.study", "--seed", "3"], ["run.study", "--seed"]),
                (["run.study", "--time", "40"], ["time"]),
                (["run.study", "--steps", "10"], ["steps", "10", "20"])):
            with self.subTest(arguments):
                line = self.refuse(2, "train", "--resume", *arguments)
                for word in words:
                    self.assertIn(word, line)


class Signals(TrainTest):
    LONG = ["--m", "64", "--sequences", "2000", "--record-every", "500", "--moments", "none"]

    def start(self, *arguments):
        process = subprocess.Popen([DEWPOINT, "train", *arguments], cwd=self.folder.name, text=True,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def wait_for_work(self, process, seconds):
        """Until it has used this much time of a processor; whether it is still at work."""
        deadline = time.monotonic() + PATIENCE
        while process.poll() is None:
            with open(f"/proc/{process.pid}/stat") as file:
                ticks = int(file.read().rpartition(")")[2].split()[11])
            if ticks / os.sysconf("SC_CLK_TCK") > seconds:
                return True
            self.assertLess(time.monotonic(), deadline, "does not work")
            time.sleep(0.01)
        return False

    def interrupt(self, number, *arguments):
        process = self.start(*self.LONG, "--steps", "2000000", *arguments)
        self.assertTrue(self.wait_for_work(process, 0.2), "has ended by itself")
        process.send_signal(number)
        out, err = process.communicate(timeout=PATIENCE)
        self.assertEqual(process.returncode, 128 + number, err)
        self.assertEqual(out, "")
        return err

    def test_an_interrupted_run_is_gone_on_with(self):
        err = self.interrupt(signal.SIGINT, "-o", "long.study")
        found = re.search(r"interrupted at (\d+); go on with: dewpoint train --resume long.study",
                          err)
        self.assertTrue(found, err)
        end = str(500 * (int(found.group(1)) // 500 + 2))
        self.assertEqual(self.files(), ["long.study"])
        self.succeed("train", "--resume", "long.study", "--steps", end, "--moments", "none")
        self.succeed("train", *self.LONG, "--steps", end, "-o", "straight.study")
        self.assertEqual(self.tables("long.study"), self.tables("straight.study"))
        self.assertEqual(self.attachments("long.study"), self.attachments("straight.study"))

    def test_without_a_file_it_says_that_nothing_is_left(self):
        err = self.interrupt(signal.SIGTERM)
        self.assertIn("nothing was written", err)
        self.assertEqual(self.files(), [])

    def test_many_runs_end_at_once(self):
        err = self.interrupt(signal.SIGINT, "--seeds", "4", "-o", "seeds.study")
        self.assertEqual(err.count("dewpoint: "), 1, err)
        self.assertEqual(self.files(), [])

    def test_a_run_is_kept_also_while_weights_at_its_stages_are_collected(self):
        # The third cycle ends just before the run does, so that it is trained almost twice. On a
        # busy machine the signal may come earlier or too late; the file is there all the same.
        late = ["--m", "64", "--sequences", "2000", "--rate", "1.5e-5", "--steps", "26000",
                "--record-every", "50"]
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        self.succeed("train", *late)
        alone = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
        process = self.start(*late, "-o", "late.study")
        if self.wait_for_work(process, 1.3 * alone):
            process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=PATIENCE)
        self.assertIn(process.returncode, (0, 130), err)
        self.assertEqual(self.files(), ["late.study"])
        self.assertIn("state", self.attachments("late.study"))


class Live(TrainTest):
    def test_without_a_terminal_it_says_so_and_goes_on(self):
        result = self.run_program("train", *PLAIN, "--live")
        self.assertEqual(result.returncode, 0)
        self.assertIn("--live needs a terminal", result.stderr)
        self.assertIn("at step 20", result.stdout)

    def test_on_a_terminal_it_draws_loss_and_attention(self):
        try:
            ours, theirs = pty.openpty()
        except OSError as error:  # a container or chroot without /dev/pts
            self.skipTest(f"this system gives no terminal: {error}")
        shown = []

        def read():
            while True:
                try:
                    piece = os.read(ours, 65536)
                except OSError:  # the other side is closed
                    return
                if not piece:
                    return
                shown.append(piece)

        process = subprocess.Popen([DEWPOINT, "train", *SMALL, "--steps", "3000", "--live"],
                                   cwd=self.folder.name, stdin=subprocess.DEVNULL, stdout=theirs,
                                   stderr=subprocess.PIPE, text=True)
        os.close(theirs)
        self.addCleanup(process.kill)
        reader = threading.Thread(target=read)
        reader.start()
        _, err = process.communicate(timeout=PATIENCE)
        reader.join(PATIENCE)
        os.close(ours)
        self.assertEqual(process.returncode, 0, err)
        text = b"".join(shown).decode()
        views, end = text.split("\033[H\033[2J")[1:], "at step 3000"
        self.assertGreater(len(views), 0)
        self.assertIn(end, views[-1])
        for word in ("loss", "attention", "focus"):
            self.assertIn(word, views[0])


if __name__ == "__main__":
    unittest.main()
