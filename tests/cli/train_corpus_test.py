"""dewpoint train --corpus, run as a user would: small texts that are made here, and WikiText."""

import json
import os
import random
import signal
import struct
import subprocess
import unittest

from harness import DEWPOINT
from heads_support import DATA
from train_support import PATIENCE, TrainTest

WIKITEXT = os.path.join(DATA, "wikitext-2", "valid.txt")

SMALL = ["--vocabulary", "40", "--context", "8", "--batch", "16", "--width", "16", "--rate", "3e-3"]
QUICK = [*SMALL, "--steps", "60", "--every", "10", "--validate-every", "30"]


def but(options, name, value):
    """The same options with another value of one of them."""
    place = options.index(name) + 1
    return [*options[:place], value, *options[place + 1:]]


HALF = but(QUICK, "--steps", "30")


def made_text(words=6000, seed=1):
    """Sixty words, each half as often as one of half its rank, in sentences."""
    draw = random.Random(seed)
    names = [f"{a}{b}" for a in ("ba", "ko", "ri", "tum") for b in
             ("ten", "lor", "mis", "dan", "vek", "sol", "pir", "gun", "hal", "zet", "quo", "wim",
              "fex", "jor", "nud")]
    weights = [1 / (1 + k) for k in range(len(names))]
    text = draw.choices(names, weights, k=words)
    return " ".join(word + ("." if k % 9 == 8 else "") for k, word in enumerate(text)) + "\n"


class TextTest(TrainTest):
    def setUp(self):
        super().setUp()
        self.write("text.txt", made_text())

    def text(self, *arguments):
        return self.succeed_json("train", "--corpus", "text.txt", *arguments)


class Running(TextTest):
    def test_the_table_tells_losses_focus_and_retraction(self):
        text = self.succeed("train", "--corpus", "text.txt", *QUICK)
        for word in ("text.txt", "V = 40", "words, plain", "1L1H", "m = 16", "weights",
                     "contexts of 8 tokens, 16 at a time", "rate 0.003", "60 steps",
                     "training loss", "validation loss", "unigram entropy", "focus", "dilution",
                     "self share", "rank one", "retract", "tokens per second"):
            self.assertIn(word, text)
        self.assertNotIn("nan", text)

    def test_json_carries_the_question_and_what_was_found(self):
        found = self.text(*QUICK, "--seed", "7")
        self.assertEqual((found["experiment"], found["seed"]), ("train text", 7))
        for name, value in (("corpus", "text.txt"), ("tokenizer", "words"), ("vocabulary", 40),
                            ("s", 8), ("batch", 16), ("m", 16), ("layers", 1), ("heads", 1),
                            ("residual", False), ("branch", 1), ("value", "none"),
                            ("norm", "none"), ("loss", "last"), ("start", 1), ("rate", 0.003),
                            ("beta1", 0.9), ("eps", 1e-8), ("steps", 60), ("record-every", 10),
                            ("validate-every", 30), ("scaling", None), ("probe", None)):
            self.assertEqual(found["parameters"][name], value, name)
        corpus, end = found["corpus"], found["end"]
        self.assertEqual((corpus["style"], corpus["vocabulary"]), ("plain", 40))
        # Marks are words of their own: nine words and one mark, of which a tenth validates.
        total = corpus["training_tokens"] + corpus["validation_tokens"]
        self.assertEqual(total, 6000 + 6000 // 9)
        self.assertAlmostEqual(corpus["validation_tokens"] / total, 0.1, delta=0.01)
        self.assertEqual(end["step"], 60)
        self.assertLess(end["loss"], 3.69)  # ln 40 is what guessing costs
        self.assertLess(end["validation_loss"], 3.69)
        self.assertEqual(len(found["probe"]), 6)
        self.assertTrue(0 < found["focus"]["peak"] <= 1)
        # Sixty steps on made-up words are too few for more than an even share: no focus, no step.
        self.assertIsNone(found["focus"]["step"])
        self.assertIsNone(found["focus"]["dilution_step"])

    def test_threads_change_nothing(self):
        for more in ([], ["--layers", "2", "--heads", "2", "--residual", "--value", "matrix",
                          "--causal", "--norm", "pre", "--loss", "all"]):
            one = self.succeed("train", "--corpus", "text.txt", *QUICK, *more, "--json", "--threads",
                               "1")
            two = self.succeed("train", "--corpus", "text.txt", *QUICK, *more, "--json", "--threads",
                               "2")
            self.assertEqual(one, two)

    def test_the_words_none_and_matrix_may_be_left_out(self):
        """--value is --value matrix, and --pre-norm is --norm pre."""
        words = self.text(*QUICK, "--value", "matrix", "--norm", "pre")
        self.assertEqual(self.text(*QUICK, "--value", "--pre-norm"), words)
        self.assertEqual((words["parameters"]["value"], words["parameters"]["norm"]),
                         ("matrix", "pre"))
        self.assertEqual(self.text(*QUICK, "--value", "none", "--norm", "none"), self.text(*QUICK))
        self.assertIn("value", self.refuse(2, "train", "--corpus", "text.txt", "--value", "yes"))

    def test_every_part_of_a_model_changes_the_result(self):
        losses = [self.text(*QUICK, *more)["end"]["loss"] for more in (
            [], ["--layers", "2"], ["--heads", "4"], ["--residual"],
            ["--residual", "--branch", "0.5"], ["--value", "matrix"], ["--causal"],
            ["--norm", "pre"],
            ["--start", "3"], ["--causal", "--loss", "all"], ["--seed", "2"])]
        self.assertEqual(len(set(losses)), len(losses), losses)

    def test_a_probe_and_a_sentence_of_one_s_own(self):
        found = self.text(*QUICK, "--probe", "baten,balor,kopir,baquo", "--sentence",
                          "baten balor kopir baten.", "-o", "run.study", "--figures", "figures")
        self.assertEqual(found["probe"], ["baten", "balor", "kopir", "baquo"])
        places = self.query("run.study", "SELECT DISTINCT place FROM point WHERE variable = "
                                         "'self_attention' AND place LIKE 'step=60 %'")
        self.assertEqual(len(places), 5)
        self.assertEqual([os.path.basename(name) for name in found["figures"] if
                          name.endswith(".svg")],
                         ["text-run.svg", "text-attention.svg", "text-norms.svg",
                          "text-sentence.svg"])
        with open(self.path("figures/text-attention.svg")) as file:
            drawn = file.read()
        for word in ("query “kopir”", "query “baquo”", "“baten”"):
            self.assertIn(word, drawn)
        self.assertNotIn("query “balor”", drawn)

    def test_a_comma_can_be_followed(self):
        self.write("text.txt", made_text().replace(".", ","))
        found = self.text(*QUICK, "--probe", "baten,\\,,kopir,baquo", "-o", "run.study")
        self.assertEqual(found["probe"], ["baten", ",", "kopir", "baquo"])
        self.succeed("train", "--resume", "run.study", "--steps", "70")

    def test_byte_pairs_are_learned(self):
        found = self.text(*but(QUICK, "--vocabulary", "300"), "--tokenizer", "bpe", "--model",
                          "model")
        self.assertEqual(found["corpus"]["style"], "bpe")
        self.assertEqual(found["corpus"]["vocabulary"], 300)
        for name in ("config.json", "model.safetensors", "vocab.json", "merges.txt"):
            self.assertIn(name, os.listdir(self.path("model")))

    def test_figures_are_made_from_the_study(self):
        self.text(*QUICK, "-o", "run.study")
        self.succeed("figure", "run.study", "-o", "run.svg")
        with open(self.path("run.svg")) as file:
            drawn = file.read()
        for word in ("validation", "law of the tokens alone", "embedding norms", "rank-one share"):
            self.assertIn(word, drawn)
        for observable in ("attention", "norms", "self_attention"):
            self.succeed("figure", "run.study", "--observable", observable, "-o",
                         observable + ".svg")
        self.assertIn("focus", self.succeed("show", "run.study"))


class Models(TextTest):
    def test_a_trained_model_is_one_for_heads(self):
        self.text(*QUICK, "--layers", "2", "--heads", "2", "--causal", "--residual", "--model",
                  "model")
        found = self.succeed_json("heads", "model", "--text", "text.txt", "--length", "32",
                                  "--replicates", "20")
        self.assertEqual(len(found["heads"]), 4)

    def test_the_checkpoint_is_read_by_others(self):
        self.text(*QUICK, "--checkpoint", "state.safetensors")
        with open(self.path("state.safetensors"), "rb") as file:
            length, = struct.unpack("<Q", file.read(8))
            header = json.loads(file.read(length))
        self.assertEqual(header["W0"]["shape"], [40, 16])
        self.assertEqual(header["W1"]["shape"], [16, 40])
        self.assertEqual(header["layers.0.WQ"]["dtype"], "F32")
        self.assertEqual(header["__metadata__"]["step"], "60")


class Resuming(TextTest):
    def state_of(self, study):
        return self.attachments(study)["state.safetensors"]

    def test_a_resumed_run_is_the_uninterrupted_one(self):
        whole = self.text(*QUICK, "-o", "whole.study")
        self.text(*HALF, "-o", "half.study")
        resumed = self.succeed_json("train", "--resume", "half.study", "--steps", "60")
        self.assertEqual(self.state_of("half.study"), self.state_of("whole.study"))
        self.assertEqual({**resumed, "study": ""}, {**whole, "study": ""})

    def test_a_checkpoint_is_gone_on_from_with_the_same_options(self):
        self.text(*QUICK, "--checkpoint", "whole.safetensors")
        self.text(*HALF, "--checkpoint", "half.safetensors")
        self.text(*QUICK, "--resume", "half.safetensors")
        for name in ("whole", "half"):
            self.assertTrue(os.path.exists(self.path(f"{name}.safetensors.looks")))
        with open(self.path("whole.safetensors"), "rb") as one, \
                open(self.path("half.safetensors"), "rb") as other:
            self.assertEqual(one.read(), other.read())

    def test_a_law_of_the_logits_is_kept_and_gone_on_with(self):
        causal = ["--causal", "--loss", "all"]
        plain = self.text(*QUICK, *causal)
        self.assertIsNone(plain["parameters"]["scaling"])
        same = self.text(*QUICK, *causal, "--scaling", "constant")
        self.assertEqual({**same, "study": ""}, {**plain, "study": ""})
        # A law that is 1 up to the length of training changes nothing.
        self.assertEqual(self.text(*QUICK, *causal, "--scaling", "log-n")["end"], plain["end"])
        scaled = self.text(*QUICK, *causal, "--scaling", "ssmax", "-o", "whole.study")
        self.assertEqual(scaled["parameters"]["scaling"], "ssmax:n0=8")
        self.assertNotEqual(scaled["end"]["loss"], plain["end"]["loss"])
        self.text(*HALF, *causal, "--scaling", "ssmax", "-o", "half.study")
        self.succeed_json("train", "--resume", "half.study", "--steps", "60")
        self.assertEqual(self.state_of("half.study"), self.state_of("whole.study"))
        self.assertIn(b'\\"scaling\\":\\"ssmax:n0=8\\"', self.state_of("whole.study"))

    def test_looks_after_the_state_are_not_taken(self):
        """As a kill between the two files would leave them."""
        self.text(*HALF, "--checkpoint", "half.safetensors")
        self.text(*QUICK, "--checkpoint", "whole.safetensors")
        os.replace(self.path("whole.safetensors.looks"), self.path("half.safetensors.looks"))
        self.text(*QUICK, "--resume", "half.safetensors")
        with open(self.path("whole.safetensors"), "rb") as one, \
                open(self.path("half.safetensors"), "rb") as other:
            self.assertEqual(one.read(), other.read())

    def test_what_cannot_be_gone_on_with_is_named(self):
        self.text(*QUICK, "-o", "run.study", "--checkpoint", "run.safetensors")
        self.write("other.txt", made_text(seed=2))
        again = ["--corpus", "text.txt", *QUICK, "--resume", "run.safetensors"]
        for arguments, words in [
            (["--resume", "run.study", "--width", "32"], ["run.study", "--m"]),
            (["--resume", "run.study", "--layers", "2"], ["run.study", "--layers"]),
            (["--resume", "run.study", "--seed", "2"], ["run.study", "--seed"]),
            (["--resume", "run.study", "--optimiser", "flow"], ["optimiser", "chain"]),
            (["--resume", "run.study", "--steps", "20"], ["steps", "20", "60"]),
            (["--resume", "run.study", "--corpus", "other.txt"], ["run.study", "corpus"]),
            (["--resume", "run.safetensors"], ["run.safetensors", "--corpus"]),
            ([*again, "--layers", "2"], ["run.safetensors", "layers", "1", "2"]),
            (but(again, "--context", "9"), ["run.safetensors", "context", "8", "9"]),
            ([*again, "--seed", "2"], ["run.safetensors", "seed", "1", "2"]),
            ([*again, "--causal"], ["run.safetensors", "causal"]),
            ([*again, "--causal", "--scaling", "ssmax"], ["run.safetensors", "causal"]),
            (["--resume", "run.study", "--scaling", "ssmax"], ["run.study", "--scaling"]),
        ]:
            with self.subTest(arguments):
                line = self.refuse(2, "train", *arguments)
                for word in words:
                    self.assertIn(word, line)

    def test_an_interrupted_run_is_kept(self):
        process = subprocess.Popen(
            [DEWPOINT, "train", "--corpus", "text.txt", *SMALL, "--steps", "1000000", "--every",
             "100", "-o", "long.study"], cwd=self.folder.name, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True)
        process.stderr.readline()  # a line of progress: it is under way
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=PATIENCE)
        self.assertEqual((process.returncode, out), (130, ""))
        self.assertRegex(err, r"interrupted at step \d+; go on with: dewpoint train --resume "
                              r"long.study")
        done = int(err.split("interrupted at step ")[1].split(";")[0])
        found = self.succeed_json("train", "--resume", "long.study", "--steps", str(done + 10))
        self.assertEqual(found["end"]["step"], done + 10)


class Refusals(TextTest):
    def test_refusals_name_the_field_the_value_and_what_is_allowed(self):
        self.write("empty.txt", "")
        self.write("short.txt", "one two three")
        with open(self.path("latin.txt"), "wb") as file:
            file.write(b"first line\nna\xefve second\n" * 3)
        text = ["--corpus", "text.txt"]
        for arguments, words in [
            (["--corpus", "empty.txt"], ["empty.txt"]),
            (["--corpus", "absent.txt"], ["absent.txt"]),
            (["--corpus", "short.txt", "--vocabulary", "3"], ["short.txt"]),
            (["--corpus", "latin.txt"], ["latin.txt", "13", "line 2", "column 3"]),
            ([*text, "--vocabulary", "5000"], ["vocabulary", "5000", "62"]),
            ([*text, "--vocabulary", "1"], ["vocabulary", "1"]),
            ([*text, "--vocabulary", "2.5"], ["vocabulary", "2.5", "whole"]),
            ([*text, *SMALL, "--heads", "3"], ["heads", "3", "16"]),
            ([*text, *SMALL, "--heads", "0"], ["heads", "0"]),
            ([*text, *SMALL, "--layers", "100"], ["layers", "100", "64"]),
            ([*text, *SMALL, "--loss", "all"], ["loss", "all", "causal"]),
            ([*text, *SMALL, "--loss", "some"], ["loss", "some"]),
            ([*text, *SMALL, "--branch", "0.5"], ["branch", "0.5", "residual"]),
            ([*text, *SMALL, "--scaling", "ssmax"], ["scaling", "ssmax", "causal"]),
            ([*text, *SMALL, "--causal", "--scaling", "sssmax"], ["scaling", "sssmax", "ssmax"]),
            ([*text, *SMALL, "--causal", "--scaling", "power"], ["scaling", "power", "d="]),
            ([*text, *SMALL, "--causal", "--scaling", "ssmax:n0=1"], ["scaling", "n0", "1"]),
            ([*text, *SMALL, "--causal", "--scaling", "ssmax", "--model", "folder"],
             ["model", "ssmax:n0=8", "--checkpoint"]),
            (["--scaling", "ssmax"], ["scaling", "--corpus"]),
            ([*text, *SMALL, "--start", "0"], ["start", "0", "above 0"]),
            ([*text, *SMALL, "--start", "nan"], ["start", "nan"]),
            ([*text, *but(SMALL, "--rate", "-1")], ["rate", "-1"]),
            ([*text, *SMALL, "--steps", "0"], ["steps", "0"]),
            ([*text, *SMALL, "--every", "0"], ["record-every", "0"]),
            ([*text, "--context", "100000", "--batch", "100000"], ["batch", "100000"]),
            ([*text, *but(SMALL, "--context", "5000")], ["5001"]),
            ([*text, *SMALL, "--probe", "baten"], ["probe", "1"]),
            ([*text, *SMALL, "--probe", "baten,nosuch"], ["nosuch"]),
            ([*text, *SMALL, "--probe", "baten,,balor"], ["probe", "\\,"]),
            ([*text, *SMALL, "--tokenizer", "absent.model"], ["absent.model"]),
            ([*text, "--chain", "cycle"], ["chain", "not for a text"]),
            ([*text, "--optimiser", "flow"], ["optimiser", "not for a text"]),
            ([*text, "--seeds", "3"], ["seeds", "not for a text"]),
            ([*text, "--pi", "0.5,0.5"], ["pi", "not for a text"]),
            (["--layers", "2"], ["layers", "--corpus"]),
            (["--tokenizer", "bpe"], ["tokenizer", "--corpus"]),
            (["--checkpoint", "x.safetensors"], ["checkpoint", "--corpus"]),
        ]:
            with self.subTest(arguments):
                line = self.refuse(2, "train", *arguments)
                for word in words:
                    self.assertIn(word, line)
        self.assertEqual(self.files(), ["empty.txt", "latin.txt", "short.txt", "text.txt"])

    def test_a_place_that_cannot_be_written_is_named_before_the_work(self):
        for option in ("-o", "--checkpoint"):
            self.assertIn("nowhere", self.refuse(1, "train", "--corpus", "text.txt", *QUICK, option,
                                                 "nowhere/run"))

    def test_a_rate_that_diverges_is_said_and_what_was_seen_is_kept(self):
        line = self.refuse(2, "train", "--corpus", "text.txt", *but(SMALL, "--rate", "1e4"), "--steps",
                           "200", "--every", "1", "-o", "far.study")
        self.assertRegex(line, r"rate: 10000 diverges, at step \d+ .*try a smaller rate")
        losses = self.query("far.study", "SELECT mean FROM point WHERE variable = 'loss'")
        self.assertGreaterEqual(len(losses), 1)
        self.assertNotIn("state.safetensors", self.attachments("far.study"))
        self.assertIn("diverged", self.refuse(2, "train", "--resume", "far.study"))


class Studies(TextTest):
    STUDY = """
title = "Rates on a text"
experiment = "train-text"
replicas = 2
[parameters]
corpus = "text.txt"
vocabulary = 40
s = 8
batch = 16
m = 16
steps = 60
record-every = 10
[grid]
rate = [1e-3, 3e-3]
"""

    def test_a_study_averages_runs(self):
        self.write("rates.toml", self.STUDY)
        found = self.succeed_json("run", "rates.toml")
        self.assertEqual((found["finished"], found["replicas"]), (2, 4))
        rows = dict(self.query("rates.study", "SELECT place, replicas FROM result WHERE variable = "
                                              "'focus_peak'"))
        self.assertEqual(rows, {"rate=0.001": 2, "rate=0.003": 2})

    def test_a_study_of_laws_keeps_what_is_beyond_the_length_of_training(self):
        self.write("laws.toml", """
experiment = "train-scaling"
replicas = 2
[parameters]
corpus = "text.txt"
vocabulary = 40
m = 16
tokens = 128
target = 3.6
steps = 60
record-every = 20
[grid]
s = [8, 16]
scaling = ["constant", "ssmax"]
[[outputs.figures]]
file = "longer.png"
kind = "curve"
observable = "longer_change"
x = "factor"
at = ["evaluation=own"]
""")
        found = self.succeed_json("run", "laws.toml")
        self.assertEqual((found["finished"], found["replicas"]), (4, 8))
        means = dict(self.query("laws.study", "SELECT place, mean FROM result WHERE variable = "
                                              "'longer_loss' AND place LIKE '%scaling=constant%'"))
        self.assertEqual(len(means), 2 * 5 * 4)
        for s in ("8", "16"):  # log n/log s is 1 up to s, and the model was trained without
            at = f"s={s} scaling=constant evaluation={{}} factor={{}}"
            self.assertEqual(means[at.format("log-n", 1)], means[at.format("own", 1)])
            self.assertNotEqual(means[at.format("log-n", 8)], means[at.format("own", 8)])
        ((changes,),) = self.query("laws.study", "SELECT COUNT(*) FROM result WHERE variable = "
                                                 "'longer_change' AND mean = 0")
        self.assertGreaterEqual(changes, 4)
        self.assertGreater(os.path.getsize(self.path("longer.png")), 2000)

    def test_names_of_earlier_versions_are_read_and_their_cells_found(self):
        """The cells of one spelling are those of the other."""
        self.write("rates.toml", self.STUDY.replace("m = 16\n", "").replace(
            "record-every", "record_every") + "width = [8, 16]\n")
        self.assertEqual(self.succeed_json("run", "rates.toml")["computed"], 4)
        self.write("rates.toml", self.STUDY.replace("m = 16\n", "") + "m = [8, 16]\n")
        again = self.succeed_json("run", "rates.toml")
        self.assertEqual((again["computed"], again["reused"]), (0, 4))

    def test_its_first_replica_is_the_verb_s_run(self):
        self.write("rates.toml", self.STUDY)
        self.succeed_json("run", "rates.toml", "-S", "replicas=1")
        alone = self.text(*QUICK)
        for variable, value in (("final_loss", alone["end"]["loss"]),
                                ("validation_loss", alone["end"]["validation_loss"]),
                                ("focus_peak", alone["focus"]["peak"]),
                                ("final_self_share", alone["end"]["self_share"])):
            ((mean,),) = self.query("rates.study", "SELECT mean FROM result WHERE variable = ? AND "
                                                   "place = 'rate=0.003'", variable)
            self.assertEqual(mean, value, variable)

    def test_mistakes_in_the_file_are_named(self):
        for change, words in ((("corpus = \"text.txt\"\n", ""), ["corpus"]),
                              (("text.txt", "absent.txt"), ["absent.txt"]),
                              (("m = 16", "m = 16\nheads = 3"), ["heads", "3"]),
                              (("m = 16", "m = 16\nsentence = \"baten\""), ["sentence", "--corpus"]),
                              (("m = 16", "m = 16\nloss = \"all\""), ["all", "causal"])):
            with self.subTest(change):
                self.write("rates.toml", self.STUDY.replace(*change))
                line = self.refuse(2, "run", "rates.toml")
                for word in words:
                    self.assertIn(word, line)


class WikiText(TextTest):
    def test_thirty_steps(self):
        if not os.path.exists(WIKITEXT):
            self.skipTest("wikitext-2 is not beside the project")
        found = self.succeed_json("train", "--corpus", WIKITEXT, "--vocabulary", "1000", "--steps",
                                  "30", "--every", "10", "--validate-every", "30", "--width", "64")
        corpus = found["corpus"]
        self.assertEqual((corpus["style"], corpus["vocabulary"]), ("spaced", 1000))
        # SOURCES: 217,646 tokens, counting the end of each line.
        self.assertEqual(corpus["training_tokens"] + corpus["validation_tokens"], 217646)
        self.assertIn("the", found["probe"][:3])
        self.assertLess(found["end"]["loss"], 6.908)  # ln 1000


if __name__ == "__main__":
    unittest.main()
