"""dewpoint train, run as a user would: stages, chains, refusals, sweeps."""

import math
import re
import subprocess
import unittest

from harness import DEWPOINT
from train_support import PATIENCE, PLAIN, QUICK, SMALL, TrainTest

DIVERGING = ["--m", "32", "--sequences", "2000", "--optimiser", "descent", "--rate", "20",
             "--record-every", "1", "--steps", "200"]


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
        for name, value in (("chain", "lambda"), ("pi", "0.75,0.19,0.05,0.01"), ("m", 32),
                            ("optimiser", "adam"), ("data", "sampled"), ("s", 19),
                            ("rate", 0.002), ("steps", 200), ("batch", 0), ("time", None),
                            ("double", False), ("record-every", 5), ("init", 0.01)):
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

    def test_options_have_second_names(self):
        found = self.train("--width", "8", "--context", "5", "--every", "10", "--sequences", "500",
                           "--steps", "20")["parameters"]
        self.assertEqual([found[name] for name in ("m", "s", "record-every")], [8, 5, 10])

    def test_threads_change_nothing(self):
        for more in ([], ["--batch", "64"], ["--seeds", "3"]):
            one = self.succeed("train", *QUICK, *more, "--json", "--threads", "1")
            two = self.succeed("train", *QUICK, *more, "--json", "--threads", "2")
            self.assertEqual(one, two)

    def test_data_are_what_their_names_say(self):
        plain = ["--m", "8", "--steps", "20"]
        self.assertEqual(self.train(*plain, "--data", "exact")["rows"], 5320)
        self.assertEqual(self.train(*plain, "--data", "population")["rows"], 0)
        self.assertEqual(self.train(*plain, "--data", "exact", "--s", "1")["rows"], 4)

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

    def test_scores_have_a_factor(self):
        plain = self.train(*PLAIN, "-o", "run.study")
        self.assertIsNone(plain["parameters"]["score-scale"])
        one = self.train(*PLAIN, "--score-scale", "1", "-o", "run.study", "--force")
        self.assertEqual(one, plain)
        whole = self.train(*PLAIN, "--score-scale", "3", "-o", "whole.study")
        self.assertEqual(whole["parameters"]["score-scale"], 3)
        self.assertNotEqual(whole["end"]["loss"], plain["end"]["loss"])
        self.train(*PLAIN[:-2], "--steps", "10", "--score-scale", "3", "-o", "half.study")
        self.train("--resume", "half.study", "--steps", "20")
        self.assertEqual(self.attachments("half.study")["state"],
                         self.attachments("whole.study")["state"])
        flow = ["--optimiser", "flow", "--m", "6", "--time", "20", "--init", "0.3"]
        self.assertLess(self.train(*flow, "--score-scale", "3")["flow"]["conserved_drift"], 1e-7)
        self.assertIn("score-scale", self.refuse(2, "train", "--score-scale", "0"))
        self.assertIn("not for a text", self.refuse(2, "train", "--corpus", "x.txt",
                                                    "--score-scale", "2"))

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
            (["--optimiser", "descent", "--beta1", "0.8"], ["beta1", "only adam"]),
            (["--optimiser", "flow", "--double"], ["double", "already"]),
            (["--method", "bdf"], ["method", "flow"]),
            (["--optimiser", "flow", "--sequences", "10"], ["sequences", "sampled"]),
            (["--optimiser", "flow", "--s", "10"], ["s:", "population"]),
            (["--beta1", "0"], ["beta1", "0"]),
            (["--beta1", "1"], ["beta1", "1"]),
            (["--beta2", "-0.5"], ["beta2", "-0.5"]),
            (["--eps", "0"], ["eps", "0"]),
            (["--eps", "1e-40"], ["eps", "1e-40"]),
            (["--steps", "0"], ["steps", "0"]),
            (["--steps", "10.5"], ["steps", "10.5", "whole"]),
            (["--time", "10"], ["time", "10", "steps"]),
            (["--optimiser", "flow", "--steps", "10"], ["steps", "10", "give time"]),
            (["--optimiser", "flow", "--rate", "0.1"], ["rate", "0.1", "give rtol"]),
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

    def test_a_name_of_an_earlier_version_is_read(self):
        self.write("rates.toml", self.STUDY.replace("steps = 150", "steps = 20\nrecord_every = 10"))
        self.assertEqual(self.succeed_json("run", "rates.toml")["finished"], 2)

    def test_the_factor_of_scores_is_an_axis(self):
        self.write("factors.toml", self.STUDY.replace("rate = [1e-4, 2e-3]",
                                                      "score-scale = [1, 3]").replace(
            "init = 0.01\n", "init = 0.01\nrate = 2e-3\n"))
        self.succeed_json("run", "factors.toml", "-S", "replicas=1")
        means = dict(self.query("factors.study", "SELECT place, mean FROM result WHERE variable = "
                                                 "'final_loss'"))
        for factor in ("1", "3"):
            alone = self.train(*SMALL, "--steps", "150", "--score-scale", factor)
            self.assertEqual(means[f"score-scale={factor}"], alone["end"]["loss"])

    def test_a_study_reads_no_chain_from_a_file(self):
        self.write("chain.txt", "0.5 0.5\n0.25 0.75\n")
        self.write("rates.toml", self.STUDY.replace("steps = 150", "chain = \"chain.txt\""))
        self.assertIn("chain.txt", self.refuse(2, "run", "rates.toml"))

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
