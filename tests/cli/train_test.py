"""dewpoint train and predict train, run as a user would.

Small settings go through condensation, focus and dilution within 200 steps and a tenth of a second.
"""

import math
import os
import pty
import re
import resource
import shutil
import signal
import sqlite3
import subprocess
import threading
import time
import unittest

from harness import DEWPOINT, ProgramTest

NUMPY_PYTHON = os.environ.get("NUMPY_PYTHON", "")
PATIENCE = 60.0  # seconds; far more than anything here takes on a busy machine

SMALL = ["--m", "32", "--sequences", "2000", "--init", "0.01", "--rate", "2e-3"]
QUICK = [*SMALL, "--steps", "200"]
PLAIN = ["--m", "8", "--sequences", "500", "--steps", "20"]
DIVERGING = ["--m", "32", "--sequences", "2000", "--optimiser", "descent", "--rate", "20",
             "--record-every", "1", "--steps", "200"]


def has_numpy():
    if not NUMPY_PYTHON or not os.path.exists(NUMPY_PYTHON):
        return False
    return subprocess.run([NUMPY_PYTHON, "-c", "import numpy"], capture_output=True).returncode == 0


class TrainTest(ProgramTest):
    def train(self, *arguments):
        return self.succeed_json("train", *arguments)

    def write(self, name, text):
        with open(self.path(name), "w") as file:
            file.write(text)
        return name

    def query(self, study, text, *values):
        connection = sqlite3.connect(self.path(study))
        try:
            return connection.execute(text, values).fetchall()
        finally:
            connection.close()

    def attachments(self, study):
        return dict(self.query(study, "SELECT name, bytes FROM attachment"))

    def tables(self, study):
        """Every table of an export, by what its name adds to that of the study."""
        stem = study.replace(".study", "")
        self.succeed("export", study, "-o", stem + ".csv")
        found = {}
        for name in self.files():
            if name.startswith(stem + "-") and name.endswith(".csv"):
                with open(self.path(name)) as file:
                    found[name[len(stem):]] = file.read()
        self.assertIn("-trajectory.csv", found)
        return found

    def numpy(self, code):
        if not has_numpy():
            self.skipTest("needs NumPy")
        result = subprocess.run([NUMPY_PYTHON, "-c", "import numpy as np\n" + code], text=True,
                                capture_output=True, cwd=self.folder.name)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout


class Running(TrainTest):
    def test_text_tells_the_stages_the_cycles_and_the_end(self):
        text = self.succeed("train", *QUICK)
        for word in ("pi = (0.75, 0.19, 0.05, 0.01)", "2000 sequences of 19 tokens", "m = 32",
                     "2304 weights", "Adam", "rate 0.002", "200 steps", "condensation", "focus",
                     "peak", "half-dilution", "new direction", "of 3 cycles", "a rise of 0.1",
                     "embeddings retract: token 1", "at step 200", "best predictor"):
            self.assertIn(word, text)
        self.assertNotIn("nan", text)

    def test_what_is_not_seen_is_said(self):
        text = self.succeed("train", *PLAIN)
        self.assertIn("not seen", text)
        self.assertIn("0 of 3 cycles", text)
        self.assertIn("no embedding retracts", text)
        found = self.train(*PLAIN)
        self.assertEqual([found["stages"][name] for name in
                          ("condensation", "focus", "peak", "half_dilution", "new_direction")],
                         [None] * 5)
        self.assertEqual(found["completed_cycles"], 0)

    def test_json_carries_question_stages_and_end(self):
        found = self.train(*QUICK, "--seed", "7")
        self.assertEqual((found["experiment"], found["seed"]), ("train", 7))
        parameters = found["parameters"]
        for name, value in (("chain", "lambda"), ("pi", "0.75,0.19,0.05,0.01"), ("m", "32"),
                            ("optimiser", "adam"), ("data", "sampled"), ("s", "19"),
                            ("rate", "0.002"), ("until", "200"), ("batch", "0")):
            self.assertEqual(parameters[name], value, name)
        self.assertEqual(found["thresholds"]["rise"], 0.1)
        stages = found["stages"]
        times = [stages[name] for name in ("condensation", "focus", "peak", "half_dilution",
                                           "new_direction")]
        self.assertEqual(times, sorted(times))
        self.assertGreater(stages["peak_value"], 0.8)
        self.assertEqual([cycle["token"] for cycle in found["cycles"]], [0, 1, 2])
        self.assertEqual(found["cycles"][0]["peak"], stages["peak"])
        self.assertEqual(found["end"]["time"], 200)
        self.assertEqual(len(found["end"]["group_loss"]), 4)
        self.assertTrue(140 < found["rows"] < 2000)
        self.assertEqual({one["token"] for one in found["retractions"]} - {1, 2, 3}, set())

    def test_threads_change_nothing(self):
        for more in ([], ["--batch", "64"], ["--seeds", "3"]):
            one = self.succeed("train", *QUICK, *more, "--json", "--threads", "1")
            two = self.succeed("train", *QUICK, *more, "--json", "--threads", "2")
            self.assertEqual(one, two)

    def test_data_are_what_their_names_say(self):
        self.assertEqual(self.train(*PLAIN, "--data", "exact")["rows"], 5320)
        self.assertEqual(self.train(*PLAIN, "--data", "population")["rows"], 0)
        self.assertEqual(self.train(*PLAIN, "--data", "exact", "--s", "1")["rows"], 4)

    def test_a_flow_keeps_what_it_must(self):
        found = self.train("--optimiser", "flow", "--m", "8", "--time", "12")
        flow = found["flow"]
        self.assertLess(flow["conserved_drift"], 1e-8)
        self.assertGreater(flow["gradients"], flow["steps"])
        self.assertAlmostEqual(flow["condensed"], found["stages"]["condensation"], delta=0.25)
        self.assertEqual(found["end"]["time"], 12)
        self.assertIn("conserved matrices", self.succeed("train", "--optimiser", "flow", "--m", "4",
                                                         "--time", "2"))

    def test_an_interval_of_a_tenth_ends(self):
        subprocess.run([DEWPOINT, "train", "--optimiser", "flow", "--m", "4", "--time", "5",
                        "--record-every", "0.1", "-o", "tenth.study"], cwd=self.folder.name,
                       capture_output=True, check=True, timeout=PATIENCE)
        rows = self.query("tenth.study", "SELECT count(*) FROM point WHERE frame = 'trajectory' "
                                         "AND variable = 'loss'")
        self.assertEqual(rows, [(51,)])

    def test_seeds_are_a_table_with_means(self):
        text = self.succeed("train", *QUICK, "--seeds", "3")
        self.assertEqual(len(re.findall(r"^\s+[012]\s", text, re.M)), 3)
        self.assertIn("mean", text)
        self.assertIn("±", text)
        found = self.train(*QUICK, "--seeds", "3", "-o", "seeds.study")
        self.assertEqual([run["run"] for run in found["runs"]], [0, 1, 2])
        losses = [run["final_loss"] for run in found["runs"]]
        self.assertEqual(len(set(losses)), 3)
        mean = found["means"]["final_loss"]
        self.assertAlmostEqual(mean["mean"], sum(losses) / 3, 12)
        spread = math.sqrt(sum((x - mean["mean"]) ** 2 for x in losses) / 6)
        self.assertAlmostEqual(mean["standard_error"], spread, 12)
        self.assertEqual(mean["runs"], 3)
        alone = self.train(*QUICK)
        self.assertEqual(alone["end"]["loss"], losses[0])
        self.assertEqual(alone["stages"]["peak"], found["runs"][0]["peak"])
        self.assertIn("peak", self.succeed("show", "seeds.study"))

    def test_means_are_over_the_runs_that_show_a_stage(self):
        found = self.train(*PLAIN, "--seeds", "2")
        self.assertEqual(found["means"]["peak"]["runs"], 0)
        self.assertIsNone(found["means"]["peak"]["mean"])
        self.assertIn("not seen", self.succeed("train", *PLAIN, "--seeds", "2"))


class Chains(TrainTest):
    LAW = (0.75, 0.19, 0.05, 0.01)

    def matrix(self, order=(0, 1, 2, 3)):
        return [[0.8 * (i == j) + 0.2 * self.LAW[j] for j in order] for i in order]

    def text_of(self, matrix):
        return "".join(" ".join(repr(p) for p in row) + "\n" for row in matrix)

    def test_a_matrix_from_text_or_numpy_is_the_chain_it_is(self):
        self.write("chain.txt", self.text_of(self.matrix()))
        named = self.train(*PLAIN)
        from_text = self.train(*PLAIN, "--chain", "chain.txt")
        self.assertAlmostEqual(from_text["end"]["loss"], named["end"]["loss"], 9)
        self.assertEqual(from_text["parameters"]["chain"], "chain.txt")
        self.numpy(f"np.save('chain.npy', np.array({self.matrix()}))")
        from_numpy = self.train(*PLAIN, "--chain", "chain.npy")
        for key in ("rows", "stages", "cycles", "end"):
            self.assertEqual(from_numpy[key], from_text[key])

    def test_tokens_are_put_in_order(self):
        self.write("mixed.txt", self.text_of(self.matrix((2, 0, 3, 1))))
        found = [float(p) for p in self.train(*PLAIN, "--chain", "mixed.txt")["parameters"]["pi"]
                 .split(",")]
        for p, expected in zip(found, self.LAW):
            self.assertAlmostEqual(p, expected, 14)

    def test_every_named_chain_trains(self):
        rows = {name: self.train(*PLAIN, "--chain", name)["end"]["loss"]
                for name in ("lambda", "metropolis", "birth-death", "cycle")}
        self.assertEqual(len(set(rows.values())), 4)

    def test_chains_that_are_none_are_refused(self):
        for name, text, words in (
                ("sums.txt", "0.5 0.5\n0.5 0.6\n", ["1.1"]),
                ("negative.txt", "1.5 -0.5\n0.5 0.5\n", ["-0.5"]),
                ("reducible.txt", "0.5 0.5 0 0\n0.5 0.5 0 0\n0 0 0.5 0.5\n0 0 0.5 0.5\n", []),
                ("absorbing.txt", "1 0\n0.5 0.5\n", []),
                ("periodic.txt", "0 1\n1 0\n", []),
                ("oblong.txt", "0.5 0.5\n", []),
                ("single.txt", "1\n", []),
                ("words.txt", "half half\nhalf half\n", []),
                ("nan.txt", "nan 0.5\n0.5 0.5\n", []),
                ("empty.txt", "", [])):
            with self.subTest(name):
                self.write(name, text)
                for verb in (["train", *PLAIN], ["predict", "train"]):
                    line = self.refuse(2, *verb, "--chain", name)
                    for word in [name, *words]:
                        self.assertIn(word, line)
        for name in ("no-such-file.txt", "ring", self.folder.name):
            self.assertIn(name, self.refuse(2, "train", *PLAIN, "--chain", name))


class Refusals(TrainTest):
    def test_refusals_name_the_field_the_value_and_what_is_allowed(self):
        for arguments, words in [
            (["--pi", "0.5,0.4"], ["pi", "0.9", "1"]),
            (["--pi", "0.5,0.5,0"], ["pi", "0", "above 0"]),
            (["--pi", "0.5,0.75,-0.25"], ["pi", "-0.25"]),
            (["--pi", "1"], ["pi", "1", "2 to 255"]),
            (["--pi", "0.5,x"], ["pi"]),
            (["--lambda", "0"], ["lambda", "0"]),
            (["--lambda", "1"], ["lambda", "1"]),
            (["--lambda", "-0.1"], ["lambda", "-0.1"]),
            (["--lambda", "nan"], ["lambda", "nan"]),
            (["--m", "0"], ["m", "0", "[1, 8192]"]),
            (["--m", "2.5"], ["m", "2.5", "whole"]),
            (["--s", "0"], ["s", "0", "[1, 10000]"]),
            (["--sequences", "0"], ["sequences", "0", "[1, "]),
            (["--batch", "-1"], ["batch", "-1"]),
            (["--batch", "501", "--sequences", "500"], ["batch", "501", "[0, 500]"]),
            (["--batch", "16", "--data", "exact"], ["batch", "16", "sampled"]),
            (["--batch", "16", "--optimiser", "flow", "--data", "sampled"], ["batch", "flow"]),
            (["--init", "-1"], ["init", "-1"]),
            (["--rate", "0"], ["rate", "0", "above 0"]),
            (["--rate", "inf"], ["rate", "inf"]),
            (["--beta1", "0"], ["beta1", "0"]),
            (["--beta1", "1"], ["beta1", "1"]),
            (["--beta2", "-0.5"], ["beta2", "-0.5"]),
            (["--eps", "0"], ["eps", "0"]),
            (["--eps", "1e-40"], ["eps", "1e-40"]),
            (["--steps", "0"], ["steps", "0"]),
            (["--steps", "10.5"], ["steps", "10.5", "whole"]),
            (["--time", "10"], ["time", "--steps"]),
            (["--optimiser", "flow", "--steps", "10"], ["steps", "--time"]),
            (["--optimiser", "flow", "--rate", "0.1"], ["rate", "--rtol"]),
            (["--optimiser", "flow", "--rtol", "1"], ["rtol", "1", "[1e-14, 0.01]"]),
            (["--rtol", "1e-6"], ["rtol", "flow"]),
            (["--record-every", "0"], ["record-every", "0"]),
            (["--record-every", "2.5"], ["record-every", "2.5", "whole"]),
            (["--rise", "0"], ["rise"]),
            (["--rise", "1.5"], ["rise"]),
            (["--optimiser", "sgd"], ["optimiser", "sgd"]),
            (["--data", "some"], ["data", "some"]),
            (["--seeds", "0"], ["seeds", "0", "[1, "]),
            (["--seeds", "2", "--figures", "f"], ["seeds", "--figures"]),
            (["--moments", "soon", "-o", "x.study"], ["moments", "soon"]),
            (["--moments", "4000", "-o", "x.study"], ["moments", "4000", "[0, 3000]"]),
            (["--moments", "1.5", "-o", "x.study"], ["moments", "1.5", "whole"]),
            (["--no-such-option"], ["no-such-option"]),
        ]:
            with self.subTest(arguments):
                message = self.refuse(2, "train", *arguments)
                for word in words:
                    self.assertIn(word, message)
        self.assertEqual(self.files(), [])

    def test_a_place_that_cannot_be_written_is_named_before_the_work(self):
        line = self.refuse(1, "train", *QUICK, "-o", "nowhere/run.study")
        self.assertIn("nowhere", line)

    def test_a_rate_that_diverges_is_said_and_the_last_good_state_is_kept(self):
        line = self.refuse(2, "train", *DIVERGING, "-o", "far.study")
        self.assertRegex(line, r"rate: 20 diverges, at step \d+ .*last good record is that of step "
                               r"\d+; try a smaller rate")
        at = int(re.search(r"that of step (\d+)", line).group(1))
        losses = self.query("far.study", "SELECT place, mean FROM point WHERE variable = 'loss' "
                                         "AND frame = 'trajectory'")
        self.assertEqual(losses[-1][0], f"time={at}")
        self.assertTrue(all(math.isfinite(loss) for _, loss in losses))
        kept = self.attachments("far.study")
        self.assertIn(f"{at}/W0.npy", kept)
        self.assertNotIn("state", kept)
        self.assertIn("trajectory", self.succeed("show", "far.study"))
        line = self.refuse(2, "train", "--resume", "far.study")
        self.assertIn("far.study", line)

    def test_one_seed_that_diverges_ends_them_all(self):
        self.assertIn("rate: 20", self.refuse(2, "train", *DIVERGING, "--seeds", "2"))


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

    def wait_for_work(self, process, seconds=0.2):
        """Until it has used this much time of a processor: start-up is long over."""
        deadline = time.monotonic() + PATIENCE
        while True:
            self.assertIsNone(process.poll(), "has ended by itself")
            with open(f"/proc/{process.pid}/stat") as file:
                ticks = int(file.read().rpartition(")")[2].split()[11])
            if ticks / os.sysconf("SC_CLK_TCK") > seconds:
                return
            self.assertLess(time.monotonic(), deadline, "does not work")
            time.sleep(0.01)

    def interrupt(self, number, *arguments):
        process = self.start(*self.LONG, "--steps", "2000000", *arguments)
        self.wait_for_work(process)
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
        """The third cycle ends just before the run does, so that it is trained almost twice."""
        late = ["--m", "64", "--sequences", "2000", "--rate", "1.5e-5", "--steps", "26000",
                "--record-every", "50"]
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        self.succeed("train", *late)
        alone = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
        process = self.start(*late, "-o", "late.study")
        self.wait_for_work(process, 1.3 * alone)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=PATIENCE)
        self.assertEqual(process.returncode, 130, err)
        self.assertIn("state", self.attachments("late.study"))


class Live(TrainTest):
    def test_without_a_terminal_it_says_so_and_goes_on(self):
        result = self.run_program("train", *PLAIN, "--live")
        self.assertEqual(result.returncode, 0)
        self.assertIn("--live needs a terminal", result.stderr)
        self.assertIn("at step 20", result.stdout)

    def test_on_a_terminal_it_draws_loss_and_attention(self):
        ours, theirs = pty.openpty()
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


class Predictions(TrainTest):
    def predict(self, *arguments):
        return self.succeed_json("predict", "train", *arguments)

    def test_critical_points_of_the_standard_chain(self):
        found = self.predict()
        self.assertEqual(found["parameters"]["pi"], [0.75, 0.19, 0.05, 0.01])
        points = {name: row["value"] for name, row in found["critical_points"].items()}
        self.assertAlmostEqual(points["origin_rate"], 0.4595012949, 10)
        self.assertAlmostEqual(points["amplitude"], 2.030793253403, 12)
        self.assertAlmostEqual(points["attention_rate"], 0.127655522290, 12)
        self.assertAlmostEqual(points["amplitude_rate"], 2 * 0.127655522290, 11)
        self.assertAlmostEqual(points["plateau_loss"], 0.727138799173, 12)
        self.assertAlmostEqual(points["best_loss"], 0.302842199608, 12)
        self.assertAlmostEqual(found["critical_points"]["attention_rate"]["printed"],
                               0.223875241615, 12)
        outer = [group["value"] for group in found["spectra"]["outer"]][:3]
        for value, expected in zip(outer, (-0.900952710879, -0.217676727705, -0.044300848720)):
            self.assertAlmostEqual(value, expected, 12)
        self.assertEqual(sum(group["multiplicity"] for group in found["spectra"]["origin"]),
                         2 * 4 * 256 + 2 * 256 * 256)
        self.assertNotIn("excursion", found)

    def test_other_chains_have_their_own_growth(self):
        for name, rate in (("metropolis", 0.130018306818), ("birth-death", 0.135556007429),
                           ("cycle", 0.138480241652)):
            points = self.predict("--chain", name)["critical_points"]
            self.assertAlmostEqual(points["attention_rate"]["value"], rate, 12)

    # Heteroclinic limits are known to about 1e-7.
    def test_focus_of_two_groups(self):
        found = self.predict("--pi", "0.6,0.2,0.2", "--lambda", "0.8")
        orbit = {name: row["value"] for name, row in found["excursion"].items()}
        for name, value in (("peak_attention", 0.60757779), ("peak_amplitude", 0.20321626),
                            ("turn_after_peak", 3.3299529), ("end_amplitude", 1.4117883),
                            ("end_top", 1.8089024), ("end_low", -0.88278159),
                            ("end_output_gap", 1.7351475), ("end_attention_top", 0.99931091),
                            ("end_attention_low", 0.049775156), ("end_growth", 0.016132639),
                            ("end_loss", 0.59129049)):
            self.assertAlmostEqual(orbit[name], value, delta=5e-7, msg=name)

    def test_asymmetry_of_the_rare_tokens(self):
        found = self.predict("--pi", "0.6,0.2,0.2", "--asymmetry", "0.01")["asymmetry"]
        self.assertAlmostEqual(found["transverse_slope"]["value"], 0.6385552189, 9)
        self.assertAlmostEqual(found["transverse_rate"]["value"], 0.006385552189, 11)
        self.assertAlmostEqual(found["mismatch"]["value"], -0.5509251087, 9)
        self.assertAlmostEqual(found["output_slope"]["value"], -3.0360372167, 8)

    def test_times_grow_with_the_logarithm_of_the_start(self):
        at = [self.predict("--init", size)["times"] for size in ("1e-3", "1e-6")]
        for name in ("origin_time", "attention_time"):
            self.assertAlmostEqual(at[1][name]["value"], 2 * at[0][name]["value"], 9)
        self.assertAlmostEqual(at[0]["origin_time"]["value"], math.log(1e3) / 0.4595012949, 7)

    def test_text_names_what_it_predicts(self):
        text = self.succeed("predict", "train", "--pi", "0.6,0.2,0.2", "--asymmetry", "0.01",
                            "--init", "1e-3")
        for word in ("kappa_1", "1.16288359099", "J_out", "J_att", "A_21", "Lemma C.17", "T_p"):
            self.assertIn(word, text)

    def test_refusals(self):
        for arguments, words in ((["--m", "0"], ["m", "0"]),
                                 (["--init", "2"], ["init", "2", "(0, 1)"]),
                                 (["--pi", "0.5,0.4"], ["pi", "0.9"]),
                                 (["--lambda", "1"], ["lambda", "1"]),
                                 (["--asymmetry", "0.01"], ["asymmetry", "three tokens"]),
                                 (["--pi", "0.6,0.2,0.2", "--asymmetry", "0.3"],
                                  ["asymmetry", "0.3", "(0, 0.2)"])):
            with self.subTest(arguments):
                line = self.refuse(2, "predict", "train", *arguments)
                for word in words:
                    self.assertIn(word, line)


class Sweeps(TrainTest):
    STUDY = """
title = "Rates of training"
experiment = "train"
replicas = 2
[parameters]
sequences = 2000
m = 32
init = 0.01
steps = 150
[grid]
rate = [1e-4, 2e-3]
"""

    def test_a_sweep_averages_stages_over_runs(self):
        self.write("rates.toml", self.STUDY)
        found = self.succeed_json("run", "rates.toml")
        self.assertEqual((found["finished"], found["replicas"]), (2, 4))
        text = self.succeed("show", "rates.study", "--observable", "peak")
        self.assertIn("Rates of training", text)
        self.assertIn("peak", text)
        rows = dict(self.query("rates.study", "SELECT place, replicas FROM result "
                                              "WHERE variable = 'peak'"))
        self.assertEqual(rows, {"rate=0.0001": 0, "rate=0.002": 2})
        runs = self.train(*SMALL, "--steps", "150", "--seeds", "2")["runs"]
        ((mean,),) = self.query("rates.study", "SELECT mean FROM result WHERE variable = 'peak' "
                                               "AND place = 'rate=0.002'")
        self.assertEqual(mean, sum(run["peak"] for run in runs) / 2)

    def test_mistakes_in_the_file_are_named(self):
        for change, words in ((("steps = 150", "steps = 150\ntime = 3"), ["time"]),
                              (("steps = 150", "pi = \"0.5,0.4\""), ["pi", "0.9"]),
                              (("steps = 150", "rise = 2.0"), ["rise", "2"]),
                              (("steps = 150", "chain = \"ring\""), ["chain", "ring"])):
            with self.subTest(change):
                self.write("rates.toml", self.STUDY.replace(*change))
                line = self.refuse(2, "run", "rates.toml")
                for word in words:
                    self.assertIn(word, line)


if __name__ == "__main__":
    unittest.main()
