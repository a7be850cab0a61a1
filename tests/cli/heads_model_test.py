"""The verbs heads and checkpoint on a real model, the stories260K of llama2.c, and on models of ours."""

import json
import math
import os
import random
import struct
import unittest

from heads_support import DATA, MODEL, TEXT, TOKENIZER, TOLERANCE, HeadsTest

READ = ["--text", TEXT, "--tokenizer", TOKENIZER]
SHORT = ["--length", "64", "--replicates", "20"]


class Model(HeadsTest):
    def setUp(self):
        super().setUp()
        self.need_data(MODEL, TOKENIZER, TEXT)

    def heads(self, *arguments, model=MODEL):
        return self.succeed_json("heads", model, *READ, *SHORT, *arguments)

    def assert_same(self, one, other, tolerance):
        one, other = self.statistics(one), self.statistics(other)
        self.assertEqual([*one], [*other])
        for place, cell in one.items():
            for name in ("entropy", "participation", "largest_weight", "first_mass", "dew_point",
                         "phase_without_sink"):
                self.assert_close(cell[name], other[place][name], tolerance, (place, name))

    def test_it_tells_the_known_story(self):
        with open(os.path.join(DATA, "stories260K", "greedy_200.expected.txt")) as file:
            expected = file.read()
        self.assertEqual(self.succeed("checkpoint", "generate", MODEL, "--tokenizer", TOKENIZER), expected)

    # The rows of queries and keys are permuted on the way, so that sums round otherwise: 1e-6 of a
    # score per layer, scores up to 20 and gaps of a tenth of that, five layers one behind the other.
    def test_an_exported_copy_has_the_same_heads(self):
        self.succeed("checkpoint", "export", MODEL, "-o", "copy")
        self.assertEqual(sorted(os.listdir(self.path("copy"))), ["config.json", "model.safetensors"])
        self.assert_same(self.heads(), self.heads(model="copy"), 1e-4)
        explained = self.succeed_json("scale", "explain", "copy", "--n", "512")
        self.assertEqual(explained["max_positions"], 512)

    def test_a_dump_of_its_heads_has_the_same_statistics(self):
        run = self.heads("--dump", "heads.safetensors")
        dumped = self.succeed_json("heads", "heads.safetensors", *SHORT[2:])
        self.assertEqual(len(dumped["heads"]), 40)
        self.assertEqual(dumped["notes"], [])
        self.assertEqual(dumped["parameters"]["model"], "llama")
        self.assert_same(run, dumped, TOLERANCE)

    def test_the_loss_by_position(self):
        found = self.heads("--perplexity", "--beta", "0.25", "--sequences", "4", "-o", "p.study")
        loss = found["loss"]["variables"]
        self.assertEqual(found["loss"]["dimensions"]["multiplier"], ["1", "0.25"])
        plain, hot = loss["loss"]["mean"][0][0]
        self.assertLess(plain, 0.5 * math.log(512))  # far below a guess
        self.assertGreater(hot, plain + 0.1)
        self.assertEqual(loss["loss_change"]["mean"][0][0][0], 0)
        self.assertEqual(loss["loss_by_n"]["samples"][0][0][0][-1], 4)
        self.assertEqual(found["parameters"]["sequences"], "4")
        self.assertIn("loss", self.succeed("show", "p.study"))

    def test_the_text_has_a_table_of_heads_and_one_of_losses(self):
        text = self.succeed("heads", MODEL, *READ, *SHORT, "--perplexity", "--map")
        for word in ("stories260K.bin: 40 heads", "model_type  llama", "loss × 1", "phase τ = β / β_dew"):
            self.assertIn(word, text)

    def test_token_ids_instead_of_a_text(self):
        with open(self.path("ids.txt"), "w") as file:
            file.write("\n".join(str(1 + k % 500) for k in range(64)))
        found = self.succeed_json("heads", MODEL, "--ids", "ids.txt", "--replicates", "20")
        self.assertEqual(found["parameters"]["length"], "64")
        self.assertEqual(found["result"]["dimensions"]["n"], [16, 32, 64])

    # One text has one beginning; windows behind it begin with the model's first token all the same.
    def test_a_long_text_is_cut_into_windows_anywhere(self):
        words = "Once upon a time there was a little girl who liked to run in the park with her red ball. "
        with open(self.path("long.txt"), "w") as file:
            file.write(words * 40)
        found = self.succeed_json("heads", MODEL, "--text", "long.txt", "--tokenizer", TOKENIZER, *SHORT,
                                  "--sequences", "3", "--perplexity")
        self.assertEqual(found["parameters"]["sequences"], "3")
        self.assertEqual(found["parameters"]["windows"], "anywhere, behind token 1")
        self.assertEqual(found["loss"]["variables"]["loss"]["samples"][0][0], [3])
        stories = self.heads("--sequences", "2")
        self.assertEqual(stories["parameters"]["windows"], "at beginnings of texts")
        text = self.succeed("heads", MODEL, "--text", "long.txt", "--tokenizer", TOKENIZER, *SHORT,
                            "--sequences", "2", "-o", "l.study")
        self.assertIn("windows     anywhere, behind token 1\n", text)
        self.assertIn("windows = anywhere, behind token 1", self.succeed("show", "l.study"))

    def test_a_novel_is_cut_into_windows_anywhere(self):
        novel = os.path.join(DATA, "long-texts", "war_and_peace.txt")
        self.need_data(novel)
        found = self.succeed_json("heads", MODEL, "--text", novel, "--tokenizer", TOKENIZER, "--length", "128",
                                  "--replicates", "20", "--sequences", "2")
        self.assertEqual(found["parameters"]["windows"], "anywhere, behind token 1")

    def test_rotations(self):
        own = self.heads()["result"]
        self.assertEqual(self.heads("--rope", "yarn")["result"], own)  # nothing to stretch so far
        for rope in ("ntk:4", "yarn:4"):
            found = self.heads("--rope", rope)
            self.assertEqual(found["parameters"]["rope"], rope)
            self.assertNotEqual(found["result"], own, rope)

    def test_threads_do_not_change_a_byte(self):
        command = ["heads", MODEL, *READ, *SHORT, "--sequences", "2", "--json"]
        self.assertEqual(self.succeed(*command, "--threads", "1"), self.succeed(*command, "--threads", "2"))

    def test_a_sweep_with_its_figure(self):
        found = self.succeed_json("heads", "sweep", MODEL, *READ, "--lengths", "128,256", "--sequences", "2",
                                  "--head-sequences", "1", "--multipliers", "0.8,1,1.2", "--rope", "own,ntk:2",
                                  "-o", "s.study", "--figure", "s.svg")
        self.assertEqual([*found], ["experiment", "version", "seed", "checkpoint", "train_length", "windows", "study",
                                    "loss", "iso_phase", "schedules"])
        self.assertEqual(found["train_length"], 512)
        self.assertEqual(found["loss"]["dimensions"]["multiplier"], [0.8, 1, 1.2])
        self.assertEqual(found["loss"]["dimensions"]["rope"], ["own", "ntk:2"])
        change = found["loss"]["variables"]["loss_change"]["mean"]
        self.assertEqual([row[1] for rows in change for row in rows], [0] * 4)
        self.assertGreater(change[1][1][0], change[1][1][1] - 0.05)
        factors = found["iso_phase"]["variables"]["iso_phase"]["mean"]
        self.assertTrue(all(0.5 < factor < 2 for row in factors for factor in row), factors)
        self.assertGreater(factors[1][1], factors[1][0])  # stretching raises dew points
        self.assertEqual(found["schedules"]["dimensions"]["schedule"], ["yarn", "log-n"])
        with open(self.path("s.svg")) as file:
            text = file.read()
        self.assertEqual([word for word in ("n = 256", "ntk:2", "keeps the phase of training",
                                            "multiplier of the logits") if word not in text], [])
        self.succeed("figure", "s.study", "-o", "again.svg")

    def test_refusals(self):
        with open(self.path("ids.txt"), "w") as file:
            file.write("1 2 512")
        with open(self.path("few.txt"), "w") as file:
            file.write("Once upon a time")
        with open(MODEL, "rb") as whole, open(self.path("cut.bin"), "wb") as cut:
            cut.write(whole.read(100000))
        for arguments, words in [
            (["absent.bin", *READ], ["absent.bin", "no such file"]),
            (["cut.bin", *READ], ["cut.bin"]),
            ([MODEL], ["text", "--text", "--ids"]),
            ([MODEL, "--text", "few.txt", "--ids", "ids.txt"], ["ids: ids.txt is given beside text"]),
            ([MODEL, "--ids", "ids.txt"], ["ids.txt", "512", "0 to 511"]),
            ([MODEL, "--text", "few.txt", "--tokenizer", TOKENIZER, "--length", "64"], ["text", "64 tokens"]),
            ([MODEL, "--text", "few.txt", "--tokenizer", TOKENIZER], ["stories260K.bin", "16"]),
            ([MODEL, "--text", "absent.txt", "--tokenizer", TOKENIZER], ["absent.txt"]),
            ([MODEL, "--text", "few.txt", "--tokenizer", "absent.bin"], ["absent.bin"]),
            ([MODEL, *READ, "--rope", "yran"], ["rope: 'yran'", "did you mean 'yarn'?"]),
            ([MODEL, *READ, "--rope", "ntk:0.5"], ["rope", "'ntk:0.5'"]),
            ([MODEL, *READ, "--layout", "HND"], ["layout", "checkpoint"]),
            ([MODEL, *READ, "--window", "64"], ["window", "checkpoint"]),
            ([MODEL, *READ, "--length", "-1"], ["length", "-1"]),
            (["sweep", "few.txt", *READ], ["few.txt", "no checkpoint"]),
            (["sweep", MODEL, *READ, "--multipliers", "0,1"], ["multipliers: 0 "]),
            (["sweep", MODEL, *READ, "--figure", "s.txt"], ["s.txt", ".svg"]),
            (["sweep", MODEL, *READ, "--rope", "own,nkt"], ["'nkt'", "'ntk'"]),
        ]:
            message = self.refuse(2, "heads", *arguments)
            for word in words:
                self.assertIn(word, message, arguments)

    def test_the_tokenizer_of_another_model(self):
        """The model with its last tokens cut off, whose tokenizer then knows more than it."""
        self.succeed("checkpoint", "export", MODEL, "-o", "copy")
        with open(self.path("few.txt"), "w") as file:
            file.write("Once upon a time there was a girl. " * 20)
        ids = self.succeed_json("checkpoint", "generate", MODEL, "--tokenizer", TOKENIZER, "--steps", "1",
                                "--prompt", "Once upon a time there was a girl.")["tokens"]
        cut_vocabulary(self.path("copy"), max(ids))
        message = self.refuse(2, "heads", "copy", "--text", "few.txt", "--tokenizer", TOKENIZER,
                              "--length", "64")
        for word in ("tokenizer", str(max(ids)), "tokenizer of this model?"):
            self.assertIn(word, message)


class TrainedHere(HeadsTest):
    """A folder as training writes it: one layer, one head, no value matrix, no residual."""

    TOKENS, WIDTH, LENGTH = 12, 4, 64
    LAYER = "model.layers.0.self_attn."

    def setUp(self):
        super().setUp()
        draw = random.Random(1)
        self.ids = [draw.randrange(self.TOKENS) for _ in range(self.LENGTH)]
        with open(self.path("ids.txt"), "w") as file:
            file.write("\n".join(map(str, self.ids)))
        self.tensors = {name: [[single(draw.gauss(0, 1)) for _ in range(self.WIDTH)] for _ in range(rows)]
                        for name, rows in [("model.embed_tokens.weight", self.TOKENS),
                                           (self.LAYER + "q_proj.weight", self.WIDTH),
                                           (self.LAYER + "k_proj.weight", self.WIDTH),
                                           ("lm_head.weight", self.TOKENS)]}
        for causal, name in [(False, "full"), (True, "causal")]:
            write_model(self.path(name), self.tensors, {
                "model_type": "dewpoint", "vocab_size": self.TOKENS, "hidden_size": self.WIDTH,
                "num_hidden_layers": 1, "num_attention_heads": 1, "max_position_embeddings": self.LENGTH,
                "residual": False, "value_matrix": False, "causal": causal, "pre_norm": False})

    def entropies(self, causal):
        """Of softmax(Q Kᵀ), query by query; scores are not divided by anything."""
        rows = [self.tensors["model.embed_tokens.weight"][token] for token in self.ids]
        queries, keys = ([[inner(weights, row) for weights in self.tensors[self.LAYER + part]]
                          for row in rows] for part in ("q_proj.weight", "k_proj.weight"))
        found = []
        for i, query in enumerate(queries):
            scores = [inner(query, key) for key in (keys[:i + 1] if causal else keys)]
            total = math.log(sum(math.exp(score - max(scores)) for score in scores)) + max(scores)
            found.append(sum(math.exp(score - total) * (total - score) for score in scores))
        return found

    # Scores round by √d ε |q||k| < 2 · 6e-8 · 40 = 5e-6, in both directions; an entropy of order 1 moves by
    # that times the spread of its scores, a few, and a mean over queries by less: TOLERANCE. Every query
    # sees all keys, so all of them are in the last octave.
    def test_full_attention(self):
        found = self.succeed_json("heads", "full", "--ids", "ids.txt", "--replicates", "20")
        self.assertEqual(found["parameters"]["model_type"], "dewpoint")
        cells = self.statistics(found)
        self.assertIsNone(cells[0, 0, 32]["entropy"])
        expected = self.entropies(causal=False)
        self.assert_close(cells[0, 0, 64]["entropy"], sum(expected) / len(expected), TOLERANCE, "full")

    def test_a_causal_mask(self):
        found = self.succeed_json("heads", "causal", "--ids", "ids.txt", "--replicates", "20", "--perplexity")
        cells = self.statistics(found)
        expected = self.entropies(causal=True)
        for n in (16, 32, 64):  # queries that see more than n/2 and up to n keys
            octave = expected[n // 2:n]
            self.assert_close(cells[0, 0, n]["entropy"], sum(octave) / len(octave), TOLERANCE, n)
        self.assertEqual(found["loss"]["variables"]["loss"]["samples"], [[[1]]])

    def test_a_dump_of_it_has_the_same_statistics(self):
        run = self.succeed_json("heads", "full", "--ids", "ids.txt", "--replicates", "20",
                                "--dump", "heads.safetensors")
        dumped = self.succeed_json("heads", "heads.safetensors", "--replicates", "20")
        self.assertEqual(dumped["parameters"]["causal"], "false")
        self.assertEqual(dumped["parameters"]["scale"], "1")
        self.assertEqual(self.statistics(run), self.statistics(dumped))

    def test_refusals(self):
        for arguments, words in [
            (["heads", "full", "--ids", "ids.txt", "--perplexity"], ["causal: found false", "next tokens"]),
            (["heads", "sweep", "full", "--ids", "ids.txt", "--rope", "own"], ["causal: found false"]),
            (["heads", "causal", "--ids", "ids.txt", "--rope", "yarn"], ["rope", "none"]),
            (["scale", "explain", "causal"], ["config.json", "'dewpoint'", "engines"]),
        ]:
            message = self.refuse(2, *arguments)
            for word in words:
                self.assertIn(word, message, arguments)


def single(number):
    """As float32 has it."""
    return struct.unpack("<f", struct.pack("<f", number))[0]


def inner(one, other):
    return sum(a * b for a, b in zip(one, other))


def write_model(folder, tensors, config):
    """A folder with config.json and matrices as float32."""
    os.mkdir(folder)
    header, data = {}, b""
    for name, rows in tensors.items():
        numbers = [number for row in rows for number in row]
        header[name] = {"dtype": "F32", "shape": [len(rows), len(rows[0])],
                        "data_offsets": [len(data), len(data) + 4 * len(numbers)]}
        data += struct.pack(f"<{len(numbers)}f", *numbers)
    text = json.dumps(header).encode()
    with open(os.path.join(folder, "config.json"), "w") as file:
        json.dump(config, file)
    with open(os.path.join(folder, "model.safetensors"), "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + data)


def cut_vocabulary(folder, tokens):
    """Fewer rows of embeddings in an exported model, and as many in its configuration."""
    with open(os.path.join(folder, "config.json")) as file:
        config = json.load(file)
    with open(os.path.join(folder, "model.safetensors"), "rb") as file:
        length, = struct.unpack("<Q", file.read(8))
        header, data = json.loads(file.read(length)), file.read()
    config["vocab_size"], kept = tokens, b""
    facts = header.pop("__metadata__", {})
    for name, tensor in sorted(header.items(), key=lambda one: one[1]["data_offsets"]):
        begin, end = tensor["data_offsets"]
        if tensor["shape"][0] == 512:
            end = begin + (end - begin) // 512 * tokens
            tensor["shape"][0] = tokens
        tensor["data_offsets"] = [len(kept), len(kept) + end - begin]
        kept += data[begin:end]
    text = json.dumps({"__metadata__": facts, **header}).encode()
    with open(os.path.join(folder, "config.json"), "w") as file:
        json.dump(config, file)
    with open(os.path.join(folder, "model.safetensors"), "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + kept)


if __name__ == "__main__":
    unittest.main()
