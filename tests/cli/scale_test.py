"""The verb scale, run as a user would: what engines apply to a model, and what keeps its phase."""

import json
import math
import os
import struct
import unittest

from harness import ProgramTest
from heads_support import MODEL, TEXT, TOKENIZER, HeadsTest

GUIDE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "docs", "guide", "scale.md")
ENGINES = ["hf", "vllm", "sglang", "llama.cpp", "megatron", "lmdeploy"]


def yarn(factor):
    return (1 + 0.1 * math.log(factor))**2


class Explain(ProgramTest):
    def explain(self, *arguments):
        return self.succeed_json("scale", "explain", *arguments)

    def part(self, found, coordinates, layers=None):
        parts = [p for p in found["parts"]
                 if p["coordinates"] == coordinates and layers in (None, p["layers"])]
        self.assertEqual(len(parts), 1)
        return parts[0]

    def multipliers(self, part, engine):
        return part["engines"][engine]["multiplier"]

    def warnings(self, found):
        return [warning["id"] for warning in found["warnings"]]

    def write(self, name, **config):
        base = {"model_type": "llama", "hidden_size": 2048, "num_attention_heads": 16,
                "num_hidden_layers": 24, "max_position_embeddings": 32768}
        with open(self.path(name), "w") as file:
            json.dump({**base, **config}, file)

    def test_deepseek_multiplies_all_coordinates(self):
        found = self.explain("deepseek-v3", "--n", "1024,163840")
        for coordinates in ("rotary", "other"):
            part = self.part(found, coordinates)
            self.assertEqual(len(part["layer_numbers"]), 61)
            for m in self.multipliers(part, "hf"):
                self.assertAlmostEqual(m, 1.87385, delta=5e-6)
            self.assertAlmostEqual(part["engines"]["hf"]["base_scale"], 192**-0.5, 12)
        second = self.explain("deepseek-v2", "--n", "1024")
        self.assertAlmostEqual(self.multipliers(self.part(second, "other"), "hf")[0], 1.58963, delta=5e-6)

    def test_laguna_is_twice_as_cold_in_vllm(self):
        found = self.explain("laguna-xs.2", "--n", "4096")
        part = self.part(found, "rotary", "full attention")
        self.assertEqual(self.multipliers(part, "hf"), [1])
        self.assertAlmostEqual(self.multipliers(part, "vllm")[0], 1.41589**2, delta=3e-5)
        self.assertEqual(self.multipliers(self.part(found, "other", "full attention"), "vllm"), [1])
        ids = self.warnings(found)
        for name in ("vllm-drops-attention-factor", "megatron-has-no-attention-factor",
                     "llama-cpp-drops-attention-factor"):
            self.assertIn(name, ids)
        text = self.succeed("scale", "explain", "laguna-xs.2", "--engine", "hf,vllm")
        for word in ("warning vllm-drops-attention-factor: m = 2.005 in vllm, 1 in hf", "attn_factor",
                     "full attention (10 of 40 layers), rotary coordinates", "2.0047", "n=131072"):
            self.assertIn(word, text)

    # Positions 8191, 131071 and 1048575 are the queries that see as many keys.
    def test_llama_4_follows_the_position_where_nothing_turns(self):
        found = self.explain("llama-4-scout", "--n", "8191,8192,131072,1048576", "--deployed", "1048576")
        for engine in ("hf", "vllm", "llama.cpp"):
            for m, known in zip(self.multipliers(self.part(found, "other"), engine),
                                (1, 1.069315, 1.283321, 1.485981)):
                self.assertAlmostEqual(m, known, delta=5e-7)
        self.assertEqual(self.part(found, "rotary")["n"], [8191, 8192])  # chunks of 8192
        self.assertEqual(self.multipliers(self.part(found, "rotary"), "hf"), [1] * 2)

    def test_ministral_3_in_hf_and_in_vllm(self):
        found = self.explain("ministral-3-8b", "--n", "16384,16385,262144")
        for m, known in zip(self.multipliers(self.part(found, "rotary"), "hf"), (1, 1.069315, 1.277259)):
            self.assertAlmostEqual(m, known, delta=5e-7)
        self.assertNotAlmostEqual(self.multipliers(self.part(found, "rotary"), "vllm")[0], 1, delta=0.1)
        self.assertEqual(self.multipliers(self.part(found, "rotary"), "sglang")[0], 1)
        self.assertFalse(self.part(found, "rotary")["engines"]["megatron"]["verified"])

    def test_both_spellings_of_a_configuration_say_the_same(self):
        facts = {"factor": 8.0, "original_max_position_embeddings": 4096}
        self.write("v4.json", rope_theta=500000.0, rope_scaling={"type": "yarn", **facts})
        self.write("v5.json", rope_parameters={"rope_type": "yarn", "rope_theta": 500000.0, **facts})
        old, new = self.explain("v4.json"), self.explain("v5.json")
        self.assertEqual(old["parts"], new["parts"])
        self.assertEqual(self.warnings(old), self.warnings(new))
        for m in self.multipliers(self.part(old, "rotary"), "hf"):
            self.assertAlmostEqual(m, yarn(8), 12)

    def test_an_explicit_factor_is_dropped_by_vllm(self):
        self.write("config.json", rope_parameters={
            "rope_type": "yarn", "factor": 64.0, "original_max_position_embeddings": 4096,
            "attention_factor": 1.0, "rope_theta": 500000.0})
        found = self.explain(self.folder.name, "--engine", "vllm", "--engine", "hf", "--n", "4096")
        part = self.part(found, "rotary")
        self.assertEqual([*part["engines"]], ["vllm", "hf"])
        self.assertAlmostEqual(self.multipliers(part, "vllm")[0], yarn(64), 12)
        self.assertEqual(self.multipliers(part, "hf"), [1])
        self.assertEqual(self.warnings(found)[0], "vllm-drops-attention-factor")

    def test_the_answer_has_the_documented_keys(self):
        found = self.explain("qwen-7b")
        self.assertEqual([*found], ["answer", "version", "config", "model_type", "max_positions", "n", "parts",
                                    "warnings", "notes", "not_verified", "figure"])
        self.assertEqual([*found["parts"][0]],
                         ["layers", "layer_numbers", "coordinates", "n", "softcap", "engines"])
        self.assertEqual([*found["parts"][0]["engines"]], ENGINES)
        for engine in found["parts"][0]["engines"].values():
            self.assertEqual([*engine], ["verified", "base_scale", "formula", "multiplier"])
            if engine["verified"]:
                self.assertEqual(len(engine["multiplier"]), len(found["n"]))
        for warning in found["warnings"]:
            self.assertEqual([*warning], ["id", "engines", "title", "explanation"])

    def test_every_preset_is_listed_and_explained(self):
        names = [preset["name"] for preset in self.explain("--presets")["presets"]]
        self.assertIn("deepseek-v3", names)
        self.assertIn("gpt2", self.succeed("scale", "explain", "--presets"))
        for name in names:
            found = self.explain(name, "--n", "4096")
            self.assertEqual(found["config"], name)
            for part in found["parts"]:
                for engine in part["engines"].values():
                    if engine["verified"]:
                        self.assertTrue(0.1 < engine["multiplier"][0] < 10, (name, engine))

    # megatron has no code for log-n that anybody read: no number is better than Hugging Face's.
    def test_what_was_not_read_in_an_engine_has_no_number(self):
        found = self.explain("qwen-7b", "--n", "32768")
        engines = self.part(found, "rotary")["engines"]
        self.assertEqual(engines["megatron"],
                         {"verified": False, "base_scale": None, "formula": None, "multiplier": None})
        self.assertTrue(engines["lmdeploy"]["verified"])
        self.assertEqual(found["not_verified"], {"megatron": "qwen not read there"})
        text = self.succeed("scale", "explain", "qwen-7b", "--n", "32768")
        row = [line for line in text.split("\n") if line.strip().startswith("megatron")]
        self.assertEqual(row[0].split(), ["megatron", "?", "?", "not", "verified"])
        self.assertIn("not verified megatron: qwen not read there", text)
        self.assertIn("m.svg", self.refuse(2, "scale", "explain", "qwen-7b", "--engine", "megatron",
                                           "-o", "m.svg"))

    def test_an_unknown_architecture_is_not_guessed(self):
        self.write("new.json", model_type="hyperllama")
        for arguments in (["explain", "new.json"], ["explain", "new.json", "--json"]):
            message = self.refuse(2, "scale", *arguments)
            for word in ("new.json", "model_type", "unknown architecture 'hyperllama'", "docs/guide/scale.md"):
                self.assertIn(word, message)
        with open(self.path("new.gguf"), "wb") as out:
            out.write(self.gguf(("general.architecture", "hyperllama"), ("hyperllama.block_count", 4),
                                ("hyperllama.embedding_length", 64), ("hyperllama.context_length", 4096),
                                ("hyperllama.attention.head_count", 8)))
        message = self.refuse(2, "scale", "explain", "new.gguf")
        self.assertIn("general.architecture: unknown architecture 'hyperllama'", message)

    def test_the_architectures_of_the_guide_are_known(self):
        with open(GUIDE) as file:
            listed = file.read().split("Known are, by `model_type`: ")[1].split("\n\n")[0]
        types, architectures = listed.split("GGUF files: ")
        types = types.split(";")[0].replace(" (Grok 2)", "").split(",")
        names = [("m.json", name.strip()) for name in types]
        names += [("m.gguf", name.strip(" .\n")) for name in architectures.split(",")]
        self.assertGreater(len(names), 80)
        for file, name in names:
            self.write("m.json", model_type=name, qk_rope_head_dim=64, qk_nope_head_dim=64)
            with open(self.path("m.gguf"), "wb") as out:
                out.write(self.gguf(("general.architecture", name), (f"{name}.block_count", 4),
                                    (f"{name}.embedding_length", 64), (f"{name}.context_length", 4096),
                                    (f"{name}.attention.head_count", 8)))
            self.assertEqual(self.explain(file, "--engine", "hf", "--n", "64")["model_type"], name)

    # Its sliding layers see 128 keys: no query there sees 4096.
    def test_layers_with_a_window_are_tabulated_up_to_the_window(self):
        found = self.explain("gpt-oss-20b", "--n", "64,4096,131072")
        self.assertEqual(self.part(found, "rotary", "full attention")["n"], [64, 4096, 131072])
        window = self.part(found, "rotary", "sliding window")
        self.assertEqual(window["n"], [64, 128])
        self.assertEqual(len(window["engines"]["hf"]["multiplier"]), 2)
        self.assertEqual(self.part(self.explain("gpt-oss-20b", "--n", "32,64"), "rotary",
                                   "sliding window")["n"], [32, 64])

    # gpt-oss was trained with its extension; Qwen's is added for long texts.
    def test_a_model_trained_with_yarn_is_not_told_to_leave_it(self):
        self.assertNotIn("static-factor-on-short-text", self.warnings(self.explain("gpt-oss-20b")))
        self.assertIn("static-factor-on-short-text", self.warnings(self.explain("qwen2.5-7b-yarn")))

    def test_the_plot_as_a_file(self):
        found = self.explain("qwen-7b", "--n", "1024,32768", "-o", "m.svg")
        self.assertEqual(found["figure"], "m.svg")
        with open(self.path("m.svg")) as file:
            text = file.read()
        self.assertEqual([word for word in ("Logit multiplier of qwen", "visible keys n", "lmdeploy")
                          if word not in text], [])

    def gguf(self, *pairs):
        """A file of metadata without tensors, byte by byte."""
        def text(value):
            return struct.pack("<Q", len(value)) + value.encode()

        body = b""
        for key, value in pairs:
            body += text(key)
            if isinstance(value, str):
                body += struct.pack("<I", 8) + text(value)
            elif isinstance(value, int):
                body += struct.pack("<II", 4, value)
            else:
                body += struct.pack("<If", 6, value)
        return b"GGUF" + struct.pack("<IQQ", 3, 0, len(pairs)) + body

    def test_the_metadata_of_a_gguf_file(self):
        file = self.gguf(("general.architecture", "llama"), ("llama.block_count", 4),
                         ("llama.embedding_length", 64), ("llama.feed_forward_length", 128),
                         ("llama.context_length", 4096), ("llama.attention.head_count", 8),
                         ("llama.rope.scaling.type", "yarn"), ("llama.rope.scaling.factor", 4.0),
                         ("llama.rope.scaling.original_context_length", 1024))
        for name, content in (("m.gguf", file), ("cut.gguf", file[:100])):
            with open(self.path(name), "wb") as out:
                out.write(content)
        found = self.explain("m.gguf", "--engine", "llama.cpp", "--n", "1024")
        self.assertEqual((found["model_type"], found["max_positions"]), ("llama", 4096))
        self.assertAlmostEqual(self.multipliers(self.part(found, "rotary"), "llama.cpp")[0], yarn(4), 6)
        self.assertIn("cut.gguf", self.refuse(2, "scale", "explain", "cut.gguf"))

    def test_bad_input_is_refused(self):
        self.write("negative.json", rope_scaling={"type": "yarn", "factor": -4.0,
                                                  "original_max_position_embeddings": 4096})
        for name, content in (("broken.json", '{"model_type": "llama", '), ("text.json", "no JSON\n")):
            with open(self.path(name), "w") as file:
                file.write(content)
        for arguments, words in [
            ([], ["config", "preset", "--presets"]),
            (["deepsek-v3"], ["'deepsek-v3'", "did you mean 'deepseek-v3'?"]),
            (["absent.json"], ["absent.json", "no such file"]),
            (["broken.json"], ["broken.json"]),
            (["text.json"], ["text.json", "config.json"]),
            (["negative.json"], ["negative.json", "rope_scaling.factor", "-4"]),
            (["gpt2", "--engine", "vlm"], ["engine", "'vlm'", "vllm"]),
            (["gpt2", "--n", "0"], ["n: 0 "]),
            (["gpt2", "--n", "many"], ["n: 'many'"]),
            (["gpt2", "--deployed", "-3"], ["deployed", "-3"]),
            (["gpt2", "-o", "m.txt"], ["m.txt", ".svg"]),
        ]:
            message = self.refuse(2, "scale", "explain", *arguments)
            for word in words:
                self.assertIn(word, message)
        self.assertIn("no/m.svg", self.refuse(1, "scale", "explain", "gpt2", "-o", "no/m.svg"))

    def test_the_examples_work_when_pasted(self):
        example = self.succeed("scale", "explain", "--help").split("Example:")[1].strip().split("\n")[0].split()
        self.assertEqual(example[:3], ["dewpoint", "scale", "explain"])
        self.assertIn("m(n)", self.succeed(*example[1:]))
        for word in ("explain", "fit"):
            self.assertIn(word, self.succeed("scale"))


class Fit(HeadsTest):
    """Heads as trained, and with queries that are shorter by 1.5: their dew points are as much larger."""

    def setUp(self):
        super().setUp()
        shape = {"seed": 9, "shape": [6, 3, 256, 16]}
        self.ask_numpy([{"file": "trained.npz", **shape}, {"file": "deployed.npz", "factor": 1 / 1.5, **shape}])
        for name in ("trained", "deployed"):
            self.succeed("heads", f"{name}.npz", "--rows", "256", "--replicates", "100", "-o", f"{name}.study")

    def fit(self, *arguments):
        return self.succeed_json("scale", "fit", "deployed.study", "--trained", "trained.study",
                                 "--train-length", "256", *arguments)

    # Both runs have the same rows, so that only rounding is left of the difference: 2e-5 a dew point.
    def test_the_factor_of_every_head_and_of_all(self):
        found = self.fit("--target", "256")
        for factor in (found["global"][0], found["layers"][0]["factors"][0],
                       *(head["factors"][0] for head in found["heads"])):
            self.assertAlmostEqual(factor["multiplier"] / 1.5, 1, delta=4e-5)
            self.assertTrue(factor["lower"] < 1.5 < factor["upper"], factor)
            self.assertFalse(factor["extrapolated"])
        self.assertEqual(len(found["heads"]), 6)
        with_sink = self.fit("--target", "256", "--with-sink")["global"][0]
        self.assertAlmostEqual(with_sink["multiplier"] / 1.5, 1, delta=4e-5)

    def test_the_same_run_twice_needs_nothing(self):
        found = self.succeed_json("scale", "fit", "trained.study", "--train-length", "256", "--target", "256")
        self.assertEqual(found["global"][0]["multiplier"], 1)

    def test_settings_for_every_engine_give_the_factor_back(self):
        found = self.fit("--target", "256,512")
        m = found["global"][1]["multiplier"]
        exports = {one["target"]: one for one in found["exports"]}
        self.assertEqual([*exports], ENGINES)
        hf = json.loads(exports["hf"]["text"])["rope_parameters"]
        self.assertEqual((hf["rope_type"], hf["factor"]), ("yarn", 2))
        self.assertAlmostEqual(hf["attention_factor"]**2 / m, 1, delta=4e-6)  # six decimals
        vllm = json.loads(exports["vllm"]["text"].split("'")[1])["rope_parameters"]
        self.assertAlmostEqual(vllm["attn_factor"]**2 * yarn(2) / m, 1, delta=4e-6)
        cpp = exports["llama.cpp"]
        self.assertAlmostEqual(float(cpp["text"].split("float:")[1])**2 * yarn(2) / m, 1, delta=4e-6)
        self.assertTrue(any("--yarn-attn-factor" in warning for warning in cpp["warnings"]))

    # Within one run dew points grow with n, which is a schedule over positions.
    def test_a_schedule_through_two_lengths_is_also_given_in_the_keys_of_llama_4(self):
        found = self.succeed_json("scale", "fit", "trained.study", "--train-length", "64", "--target",
                                  "128,256")
        self.assertEqual(found["fitted_range"], [64, 256])
        self.assertGreater(found["fitted_slope"]["mean"], 0)
        keys = found["exports"][-1]
        self.assertEqual(keys["target"], "keys of Llama 4")
        said = json.loads(keys["text"])
        self.assertEqual(said["floor_scale"], 64)
        self.assertAlmostEqual(said["attn_scale"], found["fitted_slope"]["mean"], delta=1e-5)

    def test_what_was_not_measured_is_marked(self):
        found = self.fit("--target", "256,512")
        self.assertEqual([factor["extrapolated"] for factor in found["global"]], [False, True])
        self.assertTrue(found["warnings"][-1].startswith("extrapolated"))
        for export in found["exports"]:
            self.assertTrue(any(w.startswith("extrapolated") for w in export["warnings"]), export["target"])
        text = self.succeed("scale", "fit", "deployed.study", "--trained", "trained.study", "--train-length",
                            "256", "--target", "512", "--heads")
        self.assertGreater(text.count("] extrapolated"), 6)
        for word in ("by layer", "by head", "known schedules", "--hf-overrides", "llama.cpp:"):
            self.assertIn(word, text)

    def test_schedules_are_sorted_by_their_misfit(self):
        found = self.fit("--target", "128,256")
        misfits = [one["root_mean_square"] for one in found["schedules"]]
        self.assertEqual(misfits, sorted(misfits))
        names = [one["name"] for one in found["schedules"]]
        for name in ("constant", "yarn", "log-n", "llama-4"):
            self.assertIn(name, names)
        swan = [one for one in found["schedules"] if one["name"] == "swan"]
        self.assertTrue(all(not one["confirmed"] for one in swan))

    def config(self, name, **keys):
        with open(self.path(name), "w") as file:
            json.dump({"model_type": "llama", "hidden_size": 96, "num_attention_heads": 6,
                       "num_key_value_heads": 3, "num_hidden_layers": 2, "max_position_embeddings": 256,
                       "rope_theta": 500000.0, **keys}, file)
        return name

    # The dump has one layer, which may be one of two.
    def test_the_settings_start_from_a_configuration(self):
        found = self.fit("--target", "512", "--config", self.config("own.json"))
        hf = json.loads(found["exports"][0]["text"])["rope_parameters"]
        self.assertEqual(hf["rope_theta"], 500000)
        self.assertIsNone(found["no_exports"])

    def test_the_configuration_of_another_model_is_refused(self):
        arguments = ["scale", "fit", "deployed.study", "--trained", "trained.study", "--train-length", "256",
                     "--target", "512", "--config"]
        message = self.refuse(2, *arguments, "llama-3.1-8b")
        for word in ("llama-3.1-8b", "deployed.study", "heads 32 and 6", "head_dim 128 and 16"):
            self.assertIn(word, message)
        other = self.config("other.json", head_dim=32)
        self.assertIn("head_dim 32 and 16", self.refuse(2, *arguments, other))

    def test_two_studies_of_different_models_are_refused(self):
        self.ask_numpy([{"file": "small.npz", "seed": 3, "shape": [4, 2, 256, 8]}])
        self.succeed("heads", "small.npz", "--rows", "64", "--replicates", "20", "-o", "small.study")
        message = self.refuse(2, "scale", "fit", "deployed.study", "--trained", "small.study", "--train-length",
                              "256", "--target", "256")
        for word in ("small.study", "deployed.study", "heads 4 and 6", "head_dim 8 and 16"):
            self.assertIn(word, message)

    # docs/guide/heads.md: the best log m was a seventh to two fifths of the one that keeps the phase.
    def test_it_says_what_is_known_of_the_size(self):
        found = self.fit("--target", "256")
        for word in ("one model", "a seventh to two fifths", "m = 1.06 to 1.176"):  # 1.5^(1/7), 1.5^(2/5)
            self.assertIn(word, found["note"])
        text = self.succeed("scale", "fit", "deployed.study", "--trained", "trained.study", "--train-length",
                            "256", "--target", "256")
        self.assertIn(found["note"], text)

    # Llama 4's schedule is 1.069 at n0 already: the change from there on is 1.161/1.069 at 4 n0.
    def test_a_formula_gives_the_number_beside_it(self):
        found = self.succeed_json("scale", "fit", "trained.study", "--train-length", "64", "--target", "256")
        row, = (one for one in found["schedules"] if one["name"] == "llama-4")
        self.assertEqual(row["formula"], "(1 + 0.1 log(1 + floor(n/64)))/1.06931")
        self.assertAlmostEqual(row["multipliers"][0], (1 + 0.1 * math.log(5)) / (1 + 0.1 * math.log(2)), 12)
        text = self.succeed("scale", "fit", "trained.study", "--train-length", "64", "--target", "256")
        self.assertIn("(1 + 0.1 log(1 + floor(n/64)))/1.06931", text)
        yarn_row, = (one for one in found["schedules"] if one["name"] == "yarn")
        self.assertEqual(yarn_row["formula"], "(1 + 0.1 log(n/64))², 1 below 64")

    def test_bad_input_is_refused(self):
        self.succeed("dew", "--law", "gaussian:sigma=1", "--n", "100,1000", "--draws", "4", "-o", "dew.study")
        good = ["--train-length", "256", "--target", "256"]
        for arguments, words in [
            (["absent.study", *good], ["absent.study"]),
            (["trained.npz", *good], ["trained.npz", "study"]),
            (["dew.study", *good], ["dew.study", "no heads", "'dew'"]),
            (["trained.study", "--trained", "dew.study", *good], ["dew.study", "no heads"]),
            (["trained.study", "--target", "256"], ["train-length"]),
            (["trained.study", "--train-length", "1", "--target", "256"], ["train-length: 1 "]),
            (["trained.study", "--train-length", "-3", "--target", "256"], ["train-length", "-3"]),
            (["trained.study", "--train-length", "4", "--target", "256"], ["train-length", "4 keys"]),
            (["trained.study", "--train-length", "256", "--target", "0"], ["target: 0 "]),
            (["trained.study", "--config", "none", *good], ["'none'"]),
        ]:
            message = self.refuse(2, "scale", "fit", *arguments)
            for word in words:
                self.assertIn(word, message)


class FitOfAModel(HeadsTest):
    """Stories260K, whose rotation is stretched in several ways."""

    def study(self, rope, length="64"):
        self.need_data(MODEL, TOKENIZER, TEXT)
        name = rope.replace(":", "-") + ".study"
        self.succeed("heads", MODEL, "--text", TEXT, "--tokenizer", TOKENIZER, "--length", length, "--rope", rope,
                     "--replicates", "20", "-o", name)
        return name

    def fit(self, study, target="64"):
        return self.succeed_json("scale", "fit", study, "--train-length", "64", "--target", target)

    def test_the_m_of_another_rotation_is_not_put_into_yarns_settings(self):
        for rope in ("ntk:4", "linear:2", "dynamic:2"):
            study = self.study(rope)
            found = self.fit(study)
            self.assertEqual(found["exports"], [], rope)
            self.assertIsNotNone(found["global"][0])  # m itself is told
            for word in (f"--rope {rope}", "YaRN", "yarn-bare"):
                self.assertIn(word, found["no_exports"])
            text = self.succeed("scale", "fit", study, "--train-length", "64", "--target", "64")
            self.assertIn("no settings for engines:", text)
            for word in ("--hf-overrides", "attention_factor", "--yarn-attn-factor"):
                self.assertNotIn(word, text)

    def test_what_settings_need(self):
        bare = self.fit(self.study("yarn-bare:2", "128"), "128")
        self.assertEqual(len(bare["exports"]), len(ENGINES) + 1)
        self.assertIn("multiplied already", self.fit(self.study("yarn:2"))["no_exports"])
        own = self.study("own", "128")
        self.assertIsNone(self.fit(own)["no_exports"])
        self.assertIn("own rotation", self.fit(own, "128")["no_exports"])
        self.assertIn("no head has a dew point at 4096 keys", self.fit(own, "4096")["no_exports"])

    def test_the_configuration_of_another_model_is_refused(self):
        message = self.refuse(2, "scale", "fit", self.study("own"), "--train-length", "64", "--target", "64",
                              "--config", "qwen3-8b")
        for word in ("qwen3-8b", "own.study", "model_type qwen3 and llama", "layers 36 and 5", "heads 32 and 8",
                     "head_dim 128 and 8"):
            self.assertIn(word, message)


if __name__ == "__main__":
    unittest.main()
