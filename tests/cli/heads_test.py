"""The verb heads on dumps, run as a user would, against dense sums in double."""

import csv
import json
import os
import struct
import unittest

from heads_support import TOLERANCE, HeadsTest

# Four heads share two key heads; the octaves of 200 tokens are no powers of two.
SHAPE = [4, 2, 200, 16]
ALL_ROWS = ["--rows", "512", "--replicates", "20"]


class Dense(HeadsTest):
    def check(self, dump, facts, *options):
        """Whatever the dump says itself or the options say for it is told to the dense sums."""
        dense, = self.ask_numpy([{"file": "dump.npz", "seed": 5, "shape": SHAPE, **dump}],
                                [{"file": "dump.npz", **facts}])
        found = self.succeed_json("heads", "dump.npz", *ALL_ROWS, *options)
        self.assert_dense(found, dense)
        return found

    def test_every_bin_of_causal_heads(self):
        found = self.check({}, {})
        self.assertEqual(found["result"]["variables"]["rows"]["mean"][0][3], [13, 25, 50, 100])
        self.assertIn("scale-assumed", found["notes"][0])

    def test_a_sliding_window(self):
        found = self.check({}, {"window": 50}, "--window", "50")
        self.assertEqual(found["result"]["variables"]["rows"]["mean"][0][0][-1], 175)
        self.assertEqual(found["parameters"]["window"], "50")

    def test_a_soft_cap_and_a_scale(self):
        self.check({}, {"softcap": 5.0, "scale": 0.4}, "--softcap", "5", "--scale", "0.4")

    def test_queries_that_see_every_key(self):
        found = self.check({}, {"causal": False}, "--no-causal")
        self.assertEqual(found["result"]["variables"]["rows"]["mean"][0][0], [None] * 3 + [200])

    def test_learned_sinks(self):
        found = self.check({"sinks": [-2, 0, 2, 6]}, {})
        mass = found["result"]["variables"]["sink_mass"]["mean"][0]
        self.assertLess(mass[0][-1][0], 0.001)
        self.assertGreater(mass[3][-1][0], 0.5)
        warnings = [head["warnings"] for head in found["heads"]]
        self.assertTrue(any(w.startswith("sink-holds-most") for w in warnings[3]))

    def test_the_last_queries_of_a_text(self):
        found = self.check({"queries": 100}, {})
        self.assertEqual(found["result"]["variables"]["rows"]["mean"][0][0][-1], 100)

    def test_a_safetensors_file_that_says_everything_itself(self):
        facts = {"format": "dewpoint-qk", "version": "1", "layout": "HND", "rope": "post",
                 "scale": "0.4", "m_applied": "1.2", "window": "120", "softcap": "3",
                 "model": "toy", "text_sha256": "ab" * 32}
        dump = {"seed": 6, "shape": SHAPE, "sinks": [1, 0, -1, 2]}
        dense, = self.ask_numpy([{"file": "same.npz", **dump},
                                 {"file": "said.safetensors", "facts": facts, **dump}],
                                [{"file": "same.npz", "scale": 0.4, "window": 120, "softcap": 3.0}])
        found = self.succeed_json("heads", "said.safetensors", *ALL_ROWS)
        self.assert_dense(found, dense)
        self.assertEqual(found["notes"], [])
        self.assertEqual(found["parameters"], {
            "layout": "HND", "rope": "post", "scale": "0.4", "m_applied": "1.2", "causal": "true",
            "head_dim": "16", "window": "120", "softcap": "3", "model": "toy", "text_sha256": "ab" * 32})

    def test_multipliers_from_the_same_pass(self):
        facts = [{"file": "dump.npz", "softcap": 4.0, "multiplier": m} for m in (1.0, 0.5, 1.7)]
        dense = self.ask_numpy([{"file": "dump.npz", "seed": 7, "shape": SHAPE}], facts)
        found = self.succeed_json("heads", "dump.npz", *ALL_ROWS, "--softcap", "4", "--beta", "0.5,1.7")
        self.assertEqual(found["result"]["dimensions"]["multiplier"], ["1", "0.5", "1.7"])
        for multiplier, one in enumerate(dense):
            self.assert_dense(found, one, multiplier)


class Dumps(HeadsTest):
    def setUp(self):
        super().setUp()
        self.ask_numpy([{"file": "dump.npz", "seed": 1, "shape": SHAPE}])

    def test_a_multiplier_is_as_good_as_longer_queries(self):
        self.ask_numpy([{"file": "cold.npz", "seed": 1, "shape": SHAPE, "factor": 3.0}])
        warm = self.statistics(self.succeed_json("heads", "dump.npz", *ALL_ROWS, "--beta", "3"), 1)
        cold = self.statistics(self.succeed_json("heads", "cold.npz", *ALL_ROWS))
        for place, cell in warm.items():
            for name in ("entropy", "participation", "largest_weight", "first_mass",
                         "score_variance_without_sink", "phase", "phase_without_sink"):
                # Each within its own tolerance; queries are rounded once more.
                self.assert_close(cell[name], cold[place][name], 2 * TOLERANCE, (place, name))

    def test_a_schedule_is_its_multiplier_at_every_length(self):
        found = self.succeed_json("heads", "dump.npz", *ALL_ROWS, "--schedule", "constant:1.5",
                                  "--schedule", "log-n", "--train-length", "50", "--beta", "1.5")
        names = found["result"]["dimensions"]["multiplier"]
        self.assertEqual(names, ["1", "1.5", "constant:1.5", "log-n"])
        self.assertEqual(self.statistics(found, 1), self.statistics(found, 2))
        plain, grown = self.statistics(found, 0), self.statistics(found, 3)
        for place, cell in plain.items():
            if place[2] <= 50:
                self.assertEqual(cell, grown[place])
            else:
                self.assertLess(cell["phase"], grown[place]["phase"])

    # Printed, kept, shown, exported: the same words.
    def test_verdicts_and_their_reasons_are_kept(self):
        found = self.succeed_json("heads", "dump.npz", *ALL_ROWS, "-o", "kept.study")
        head = found["heads"][2]["verdicts_without_sink"]["1"]
        sentence = f"layer 0 head 2 × 1, without sinks: {head['phase']}, {head['reason']}"
        shown = json.loads(self.succeed("show", "kept.study", "--json"))["frames"][0]
        self.assertEqual(shown["variables"], found["result"]["variables"])
        row = shown["dimensions"]["reason"].index(sentence)
        self.assertEqual(shown["variables"]["reason_probability"]["mean"][row], head["probability"])
        self.assertEqual(shown["variables"]["verdict_probability_without_sink"]["mean"][0][2], [head["probability"]])
        phases = ["diffuse", "critical", "condensed"]
        phase = shown["variables"]["verdict_without_sink"]["mean"][0][2][0]
        self.assertEqual("cannot tell" if phase is None else phases[int(phase)], head["phase"])
        self.assertIn(sentence, self.succeed("show", "kept.study", "--observable", "reason_probability"))
        self.succeed("export", "kept.study", "-o", "kept.csv")
        with open(self.path("kept-reason.csv"), newline="") as file:
            rows = list(csv.DictReader(file))
        self.assertIn((sentence, head["probability"]),
                      [(row["reason"], float(row["reason_probability"])) for row in rows])

    def test_one_is_measured_once(self):
        found = self.succeed_json("heads", "dump.npz", *ALL_ROWS, "--beta", "0.5,1", "--schedule",
                                  "yarn", "--schedule", "yarn")
        self.assertEqual(found["result"]["dimensions"]["multiplier"], ["1", "0.5", "yarn"])

    def test_containers_and_layouts_hold_the_same_numbers(self):
        same = {"seed": 1, "shape": SHAPE, "short": True}
        os.mkdir(self.path("folder"))
        self.ask_numpy([{"file": "stored.npz", **same}, {"file": "deflated.npz", "deflated": True, **same},
                        {"file": "bf16.safetensors", "bf16": True, **same}, {"file": "folder", **same},
                        {"file": "bnhd.npz", "layout": "BNHD", **same}])
        expected = self.succeed_json("heads", "stored.npz", *ALL_ROWS)["result"]
        for file in ("deflated.npz", "bf16.safetensors", "folder"):
            self.assertEqual(self.succeed_json("heads", file, *ALL_ROWS)["result"], expected, file)
        found = self.succeed_json("heads", "bnhd.npz", *ALL_ROWS, "--layout", "BNHD")
        self.assertEqual(found["result"], expected)
        self.assertEqual(found["parameters"]["layout"], "BNHD")

    def test_threads_do_not_change_a_byte(self):
        command = ["heads", "dump.npz", "--beta", "2", "--json"]
        self.assertEqual(self.succeed(*command, "--threads", "1"), self.succeed(*command, "--threads", "2"))

    def test_heads_are_judged(self):
        hot = self.succeed("heads", "dump.npz", "--beta", "30")
        for word in ("dump.npz: 4 heads", "scale       0.25", "diffuse (100 %)", "warning scale-assumed"):
            self.assertIn(word, hot)
        lines = [line.split() for line in hot.split("\n")]
        self.assertIn(["logits", "×", "1", "4", "diffuse"], lines)
        self.assertIn(["logits", "×", "30", "4", "condensed"], lines)
        for head in self.succeed_json("heads", "dump.npz", "--beta", "30")["heads"]:
            self.assertEqual(head["verdicts"]["1"]["phase"], "diffuse")
            self.assertEqual(head["verdicts_without_sink"]["30"]["phase"], "condensed")
            self.assertGreater(head["verdicts"]["30"]["probability"], 0.99)

    def test_a_misspelt_fact_is_noticed(self):
        self.ask_numpy([{"file": "misspelt.npz", "seed": 1, "shape": SHAPE,
                         "facts": {"format": "dewpoint-qk", "softcp": "3"}}])
        notes = self.succeed_json("heads", "misspelt.npz", *ALL_ROWS)["notes"]
        self.assertTrue(any("'softcp'" in note and "'softcap'" in note for note in notes), notes)

    def test_the_map_is_drawn_on_request(self):
        plain, drawn = (self.succeed("heads", "dump.npz", *ALL_ROWS, *more) for more in ([], ["--map"]))
        self.assertNotIn("┤", plain)
        self.assertIn("┤", drawn)

    def test_the_answer_has_every_documented_variable(self):
        found = self.succeed_json("heads", "dump.npz", "-o", "dump.study")
        self.assertEqual([*found], ["experiment", "version", "seed", "input", "parameters", "notes", "heads",
                                    "result", "loss", "study"])
        self.assertEqual((found["study"], found["loss"]), ("dump.study", None))
        self.assertEqual([*found["heads"][0]], ["layer", "head", "verdicts", "verdicts_without_sink",
                                                "growth_along_rows", "growth_thinned", "warnings"])
        variables = found["result"]["variables"]
        over = ["layer", "head", "n", "multiplier"]
        for name in ("entropy", "effective_keys", "effective_share", "participation", "largest_weight",
                     "mean_score", "score_variance", "largest_score", "phase"):
            self.assertEqual(variables[name]["dimensions"], over, name)
            self.assertEqual(variables[name + "_without_sink"]["dimensions"], over, name)
        for name in ("first_mass", "sink_mass"):
            self.assertEqual(variables[name]["dimensions"], over, name)
        for name in ("rows", "keys", "dew_point", "dew_point_lower", "dew_point_upper", "dew_point_mean",
                     "tied_share", "participation_point", "accumulation", "own_key_wins", "key_mean",
                     "key_variance", "dew_point_gaussian", "dew_point_fitted"):
            self.assertEqual(variables[name]["dimensions"], over[:3], name)
        for name in ("slope_along_rows", "law_thinned", "edge_shape", "edge_beta"):
            self.assertEqual(variables[name]["dimensions"], over[:2], name)

    def test_the_study_is_shown_exported_drawn_and_reported(self):
        found = self.succeed_json("heads", "dump.npz", "--beta", "2", "-o", "h.study")
        shown = self.succeed("show", "h.study")
        self.assertIn("layer (1), head (4), n (4), multiplier (2)", shown)
        self.assertIn("input = dump.npz", shown)
        self.succeed("export", "h.study", "-o", "h.csv")
        with open(self.path("h.csv"), newline="") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual(len(rows), 4 * 4 * 2)
        entropy = found["result"]["variables"]["entropy"]["mean"]
        last = rows[-1]
        self.assertEqual((last["head"], last["n"], last["multiplier"]), ("3", "200", "2"))
        self.assertEqual(float(last["entropy"]), entropy[0][3][3][1])
        self.assertTrue(os.path.exists(self.path("h-layer-head-n.csv")))  # dew points
        self.succeed("figure", "h.study", "-o", "phase.svg")
        self.succeed("figure", "h.study", "--observable", "dew_point", "-o", "dew.svg")
        for file, words in (("phase.svg", ["logits × 2", "layer", "head"]),
                            ("dew.svg", ["dew point", "visible keys n", "layer 0", "Gaussian scores"])):
            with open(self.path(file)) as svg:
                text = svg.read()
            self.assertEqual([word for word in words if word not in text], [], file)
        self.succeed("report", "h.study", "-o", "h.html")
        with open(self.path("h.html")) as page:
            self.assertTrue("Gaussian scores of the same variance" in page.read())


class Refusals(HeadsTest):
    def setUp(self):
        super().setUp()
        small = {"seed": 1, "shape": [1, 1, 40, 4]}
        self.ask_numpy([{"file": "good.npz", **small}, {"file": "nokeys.npz", "leave_out": ["k"], **small},
                        {"file": "nan.npz", "spoil": "nan", **small},
                        {"file": "inf.safetensors", "spoil": "inf", **small},
                        {"file": "good.safetensors", **small},
                        {"file": "short.npz", "seed": 1, "shape": [1, 1, 12, 4]}])

    def test_files_that_are_no_dumps(self):
        for name, cut in (("good.npz", 300), ("good.safetensors", 400)):
            with open(self.path(name), "rb") as file:
                data = file.read()
            with open(self.path("cut-" + name), "wb") as file:
                file.write(data[:cut])
        with open(self.path("good.npz"), "rb") as file:
            data = bytearray(file.read())
        data[200] ^= 0xFF  # among the numbers of q, which have a checksum
        with open(self.path("corrupt.npz"), "wb") as file:
            file.write(data)
        header = json.dumps({"q": {"dtype": "F32", "shape": [1 << 40], "data_offsets": [0, 1 << 42]}}).encode()
        with open(self.path("huge.safetensors"), "wb") as file:
            file.write(struct.pack("<Q", len(header)) + header)
        for file, words in [
            ("absent.npz", ["absent.npz", "no such file"]),
            ("nokeys.npz", ["nokeys.npz", "k: ", "no such tensor"]),
            ("nan.npz", ["nan.npz", "nan", "layer 0"]),
            ("inf.safetensors", ["inf.safetensors", "inf"]),
            ("cut-good.npz", ["cut-good.npz", "ZIP"]),
            ("cut-good.safetensors", ["cut-good.safetensors", "data_offsets"]),
            ("corrupt.npz", ["corrupt.npz"]),
            ("huge.safetensors", ["huge.safetensors"]),
            ("short.npz", ["short.npz", "12 keys", "16"]),
        ]:
            message = self.refuse(2, "heads", file)
            for word in words:
                self.assertIn(word, message)

    def test_options_that_are_wrong(self):
        for arguments, words in [
            ([], ["input", "dump", "checkpoint"]),
            (["good.npz", "--layout", "DHN"], ["layout", "'DHN'", "HND"]),
            (["good.npz", "--layout", "BNHD"], ["BNHD"]),
            (["good.npz", "--beta", "0"], ["beta: 0 "]),
            (["good.npz", "--beta", "two"], ["beta", "'two'"]),
            (["good.npz", "--schedule", "yran"], ["schedule", "'yran'", "yarn"]),
            (["good.npz", "--schedule", "power:e=3"], ["power"]),
            (["good.npz", "--scale", "0"], ["scale: 0", "above 0"]),
            (["good.npz", "--softcap", "-1"], ["softcap: -1", "at least 0"]),
            (["good.npz", "--window", "-3"], ["window", "-3"]),
            (["good.npz", "--window", "8"], ["good.npz", "8 keys", "16"]),
            (["good.npz", "--rows", "3"], ["rows", "3"]),
            (["good.npz", "--text", "t.txt"], ["text", "dump"]),
            (["good.npz", "--ids", "t.txt"], ["ids", "dump"]),
            (["good.npz", "--tokenizer", "t.bin"], ["tokenizer", "dump"]),
            (["good.npz", "--length", "64"], ["length", "dump"]),
            (["good.npz", "--rope", "ntk"], ["rope", "dump"]),
            (["good.npz", "--perplexity"], ["perplexity", "dump"]),
            (["good.npz", "--dump", "x.safetensors"], ["dump"]),
        ]:
            message = self.refuse(2, "heads", *arguments)
            for word in words:
                self.assertIn(word, message, arguments)
        self.assertIn("no/such.study", self.refuse(1, "heads", "good.npz", "-o", "no/such.study"))


if __name__ == "__main__":
    unittest.main()
