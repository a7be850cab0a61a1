"""What a newcomer meets: the guide, help, version, doctor, manual, completions, reproduce."""

import json
import os
import shutil
import subprocess
import unittest

from harness import ProgramTest

VERBS = [["phase", "point"], ["phase", "map"], ["phase", "depth"], ["reproduce"], ["verify"],
         ["predict", "layer"], ["predict", "variant"], ["predict", "bounds"], ["predict", "phases"],
         ["predict", "critical"], ["predict", "depth"], ["predict", "scaling"], ["predict", "condense"], ["predict", "query"],
         ["predict", "softmax"], ["predict", "dew"], ["predict", "heat"], ["predict", "train"],
         ["condense"], ["train"],
         ["query", "point"], ["query", "heat"], ["query", "output"], ["dew"], ["run"], ["runs"],
         ["show"], ["export"], ["merge"], ["figure"], ["report"], ["doctor"], ["manual"]]


class FrontDoor(ProgramTest):
    def test_alone_it_prints_a_guide_whose_commands_exist(self):
        guide = self.succeed()
        self.assertLess(guide.count("\n"), 20)
        for line in guide.split("\n"):
            words = line.split()
            if words[:1] == ["dewpoint"] and words[1] not in ("VERB",):
                verb = [word for word in words[1:3] if word in ("phase", "point", "map", "depth", "reproduce", "doctor")]
                self.succeed(*verb, "--help")

    def test_every_verb_has_help_with_an_example_that_parses(self):
        for verb in VERBS:
            text = self.succeed(*verb, "--help")
            self.assertIn("Example:", text)
            example = text.split("Example:")[1].strip().split("\n")[0].split()
            self.assertEqual(example[:1 + len(verb)], ["dewpoint", *verb])

    def test_examples_work_when_pasted(self):
        for verb in VERBS:
            if verb == ["reproduce"]:
                continue  # long: reproduce_test.py
            text = self.succeed(*verb, "--help")
            example = text.split("Example:")[1].strip().split("\n")[0]
            path = os.path.dirname(os.environ["DEWPOINT"]) + os.pathsep + os.environ["PATH"]
            result = subprocess.run(["bash", "-c", example], cwd=self.folder.name, text=True,
                                    capture_output=True, env={**os.environ, "PATH": path})
            self.assertEqual(result.returncode, 0, example + "\n" + result.stderr)

    def test_version_names_commit_simd_blas_and_mpi(self):
        text = self.succeed("--version")
        for word in ("dewpoint 0.", "commit", "SIMD", "BLAS  OpenBLAS", "MPI"):
            self.assertIn(word, text)

    def test_the_version_is_an_object_too(self):
        found = self.succeed_json("--version")
        self.assertEqual(list(found), ["version", "commit", "simd", "blas", "mpi"])
        self.assertIn(f"dewpoint {found['version']} (commit {found['commit']})", self.succeed("--version"))
        self.assertEqual(found["simd"], self.succeed_json("doctor")["simd"])

    # harness.py looks at both outputs.
    def test_with_json_a_failure_is_an_object(self):
        for words in (["melt"], ["phase", "point", "--gama", "1"], ["phase", "point", "--seed", "abc"],
                      ["phase", "point", "--n", "1"], ["show", "no-such.study"], ["shwo", "--help"],
                      ["condense", "-o", "no/such/folder/x.study"]):
            status = self.run_program(*words).returncode
            self.assertIn(status, (1, 2))
            self.assertEqual(self.refuse(status, *words, "--json"), self.refuse(status, *words))

    def test_doctor_reports_what_is_missing(self):
        found = self.succeed_json("doctor")
        self.assertTrue(found["simd"])
        self.assertIn(found["simd"], found["simd_available"])
        text = self.succeed("doctor", environment={"PATH": "/nowhere"})
        self.assertIn("gnuplot-nox", text)

    def test_unknown_verbs_are_refused(self):
        self.assertIn("melt", self.refuse(2, "melt"))
        self.assertIn("mop", self.refuse(2, "phase", "mop"))

    def test_a_number_that_is_none_gets_one_short_line(self):
        point, whole = ["phase", "point"], "is not a whole number"
        for text in ("abc", "-1", "1.5", "18446744073709551616", "1e20"):
            told = self.refuse(2, *point, "--seed", text).replace("'", "")
            self.assertEqual(told, f"seed: {text} {whole} in [0, 2^64)")
        self.assertEqual(self.refuse(2, *point, "--threads", "abc"), f"threads: 'abc' {whole} in [0, 4096]")
        self.assertEqual(self.refuse(2, *point, "--threads", "4097"), f"threads: 4097 {whole} in [0, 4096]")
        self.assertEqual(self.refuse(2, *point, "--n", "abc"), f"n: 'abc' {whole} in [2, 1e12]")
        self.assertEqual(self.refuse(2, *point, "--tokens", "clustered", "--cluster-size", "-3"),
                         f"cluster-size: -3 {whole} in [1, 1e12]")
        self.assertEqual(self.refuse(2, "heads", "--rows", "1"), f"rows: 1 {whole} in [16, 1e7]")
        self.assertEqual(self.refuse(2, "train", "--steps", "abc"), f"steps: 'abc' {whole} in [1, 1e12]")
        self.assertEqual(self.refuse(2, "phase", "depth", "--n", "abc"), f"n: 'abc' {whole} in [2, 1e12]")
        self.assertEqual(self.refuse(2, "predict", "layer", "--n", "abc", "--rho", "0.5"),
                         "n: 'abc' is not a number in [2, 1e300]")
        for text in ("abc", "-1", "1e20"):
            told = self.refuse(2, "heads", "x.npz", "--seed", text).replace("'", "")
            self.assertEqual(told, f"seed: {text} {whole} in [0, 2^64)")

    def examples(self):
        """Of every described verb: its words, and its options by name."""
        for verb in json.loads(self.succeed("manual", "json")):
            words = verb["example"].split("\n")[-1].split(" && ")[-1].split()[1:]
            if verb["verb"] == "train":
                words = ["train"]  # that of the example is on a text
            if words[:len(verb["verb"].split())] == verb["verb"].split():
                yield verb["verb"].split(), words, verb["options"]

    # Both ends of every range: what lies outside is refused by name, with the range.
    def test_every_range_is_refused_at_both_ends(self):
        count = 0
        for verb, example, options in self.examples():
            for option in options:
                name, limits = "--" + option["name"], option["range"]
                if limits is None or option["positional"]:
                    continue
                words = list(example)
                if name in words:
                    del words[words.index(name):words.index(name) + 2]
                for end, beyond in (("least", -1), ("most", 1)):
                    at = limits[end]
                    if at is None or abs(at) >= 1e300:
                        continue
                    value = at + beyond * (abs(at) if at else 1)
                    told = self.refuse(2, *words, f"{name}={value:g}")
                    if told.startswith(f"{option['name']}: is given "):
                        continue  # it means nothing beside the example
                    self.assertRegex(told, f"^{option['name']}: .* is not a (whole )?number ", (verb, name))
                    count += 1
        self.assertGreater(count, 100)

    def test_an_option_that_is_given_twice_is_refused(self):
        told = self.refuse(2, "predict", "layer", "--n", "9", "--n", "9", "--rho", "0.5", "--gamma", "2")
        self.assertIn("--n", told)

    def test_options_have_types(self):
        verbs = {verb["verb"]: {one["name"]: one for one in verb["options"]}
                 for verb in json.loads(self.succeed("manual", "json"))}
        rho = verbs["predict layer"]["rho"]
        self.assertEqual((rho["kind"], rho["required"], rho["default"]), ("number", True, None))
        self.assertEqual(rho["range"], {"least": 0, "most": 1, "above": False, "below": True})
        n = verbs["predict scaling"]["n"]
        self.assertEqual((n["kind"], n["list"], n["default"]), ("number", True, "256,65536,1048576,1e9"))
        self.assertEqual(verbs["predict heat"]["harmonics"]["kind"], "whole")
        seed = verbs["heads"]["seed"]
        self.assertEqual((seed["kind"], seed["default"]), ("seed", 1))
        study = verbs["show"]["study"]
        self.assertEqual((study["kind"], study["positional"], study["required"]), ("file", True, True))
        self.assertIn("curve", verbs["figure"]["kind"]["words"])
        self.assertIn("gpt2", verbs["scale explain"]["config"]["suggestions"])
        self.assertEqual(verbs["heads sweep"]["rope"]["default"], ["own", "ntk", "yarn-bare"])
        self.assertIs(verbs["figure"]["data"]["default"], False)

    def test_every_verb_takes_counts_as_2e1(self):
        counts = [(verb["verb"].split(), option["name"])
                  for verb in json.loads(self.succeed("manual", "json"))
                  for option in verb["options"] if option["kind"] == "whole"]
        self.assertGreater(len(counts), 50)
        for verb, name in counts:  # what is refused is not the count
            result = self.run_program(*verb, f"--{name}", "2e1", "--no-such-option")
            self.assertEqual(result.returncode, 2)
            self.assertRegex(result.stderr, "--no-such-option|is required", f"{verb} --{name} 2e1")
        small = ["--d", "8", "--eta", "none"]
        self.assertEqual(self.succeed_json("phase", "point", "--n", "1e2", *small)["observables"],
                         self.succeed_json("phase", "point", "--n", "100", *small)["observables"])
        self.assertEqual(self.succeed_json("phase", "point", "--n", "010", *small)["parameters"]["n"], 10)
        self.assertEqual(self.succeed_json("phase", "point", "--n", "10", "--seed", "18446744073709551615",
                                           *small)["seed"], 2**64 - 1)

    def test_a_mistyped_word_gets_the_nearest_and_its_help(self):
        for words, told in (
                (["phase", "point", "--gama", "1"],
                 "no option --gama; did you mean --gamma? See dewpoint phase point --help"),
                (["condense", "--drws=3", "--t", "1"],
                 "no option --drws; did you mean --draws? See dewpoint condense --help"),
                (["phase", "map", "--zzzzzz"], "no option --zzzzzz; see dewpoint phase map --help"),
                (["--versio"], "no option --versio; did you mean --version? See dewpoint --help"),
                (["shwo", "x"], "'shwo' is no verb of dewpoint; did you mean show? See dewpoint --help"),
                (["phase", "pont"],
                 "'pont' is no verb of dewpoint phase; did you mean point? See dewpoint phase --help"),
                (["phase", "point", "extra"],
                 "'extra' is a word too many; see dewpoint phase point --help"),
                (["predict", "layer", "--n", "1e3"],
                 "--rho is required; see dewpoint predict layer --help")):
            self.assertEqual(self.refuse(2, *words), told)

    # The parser answers --help before it looks at words that it does not know.
    def test_unknown_verbs_have_no_help(self):
        for words in (["melt"], ["phase", "mop"], ["heads", "nosuch"], ["verify", "nosuch"]):
            for flag in ("--help", "-h"):
                self.assertIn(f"'{words[-1]}' is no verb", self.refuse(2, *words, flag))
        self.assertIn("'shwo' is no verb of dewpoint; did you mean show? See dewpoint --help",
                      self.refuse(2, "shwo", "--help"))
        self.assertIn("'melt' is no verb", self.refuse(2, "melt", "--version"))
        for words in (["heads", "sweep"], ["show", "no-such.study"], ["heads", self.folder.name]):
            self.assertIn("Usage:", self.succeed(*words, "--help"))

    def test_a_wrong_path_and_an_empty_file_are_called_so(self):
        for name in ("x.study", "x.toml", "x.json", "x.npy", "x.txt"):
            with open(self.path("empty-" + name), "w", encoding="utf-8"):
                pass
        for words, name in ((["show"], "x.study"), (["figure"], "x.study"), (["run"], "x.toml"),
                            (["export", "-o", "y.csv"], "x.study"), (["merge", "-o", "y.study"], "x.study"),
                            (["heads"], "x.npy"), (["heads"], "x.json"), (["dew", "--scores"], "x.txt"),
                            (["dew", "--scores"], "x.npy"), (["phase", "point", "--tokens"], "x.npy"),
                            (["train", "--corpus"], "x.txt"), (["scale", "explain"], "x.json")):
            with self.subTest(words=words, name=name):
                self.assertIn("no such file", self.refuse(2, *words, name).lower())
                told = self.refuse(2, *words, "empty-" + name)
                self.assertIn("empty-" + name, told)
                self.assertRegex(told, "is empty")

    def test_what_cannot_be_printed_is_a_failure(self):
        self.succeed("condense", "--n", "1e2,1e3", "--t", "1,2", "--draws", "4", "-o", "x.study")
        for words in ([], ["--help"], ["--version"], ["phase", "map", "--help"], ["manual", "man"],
                      ["manual", "json"], ["doctor", "--json"], ["show", "x.study"],
                      ["show", "x.study", "--json"], ["runs"], ["runs", "--json"],
                      ["figure", "x.study"], ["run", "--template", "phase"],
                      ["predict", "train"], ["predict", "train", "--json"], ["verify", "--list"],
                      ["condense", "--n", "1e2", "--t", "1", "--draws", "4", "--json"]):
            with self.subTest(words=words), open("/dev/full", "w", encoding="utf-8") as full:
                result = subprocess.run([os.environ["DEWPOINT"], *words], cwd=self.folder.name,
                                        stdout=full, stderr=subprocess.PIPE, text=True, check=False)
                self.assertEqual(result.returncode, 1)
                self.assertEqual(result.stderr, "dewpoint: cannot write to standard output: "
                                                "the disk is full or went away\n")

    # Where something failed before, that is what the status says.
    def test_a_refusal_without_standard_output_is_still_a_refusal(self):
        with open("/dev/full", "w", encoding="utf-8") as full:
            result = subprocess.run([os.environ["DEWPOINT"], "melt"], stdout=full,
                                    stderr=subprocess.PIPE, text=True, check=False)
        self.assertEqual(result.returncode, 2)
        self.assertEqual(result.stderr.count("\n"), 1)

    def test_a_group_of_verbs_alone_shows_its_help(self):
        self.assertIn("point", self.succeed("phase"))

    def test_reproduce_asks_for_its_places_before_the_work(self):
        with open(self.path("file"), "w"):
            pass
        self.assertIn("file", self.refuse(2, "reproduce", "-o", "file"))
        os.makedirs(self.path("out/cas-end-to-end.study"))  # the last of its files
        self.assertIn("cas-end-to-end.study", self.refuse(2, "reproduce", "-o", "out", "--force"))
        self.assertEqual(os.listdir(self.path("out")), ["cas-end-to-end.study"])

    def test_the_manual_page_is_well_formed(self):
        page = self.succeed("manual", "man")
        for verb in VERBS:
            self.assertIn("dewpoint " + " ".join(verb), page.replace("\\-", "-"))
        if shutil.which("mandoc") is None:
            self.skipTest("mandoc is not installed")
        lint = subprocess.run(["mandoc", "-T", "lint", "-W", "warning"], input=page, text=True,
                              capture_output=True)
        self.assertEqual(lint.stdout.strip(), "")

    def complete(self, *words):
        """What bash offers for the last of the words."""
        with open(self.path("completion.bash"), "w") as file:
            file.write(self.succeed("manual", "bash"))
        code = ("source completion.bash; COMP_WORDS=({}); COMP_CWORD={}; _dewpoint; "
                "printf '%s\\n' \"${{COMPREPLY[@]}}\"").format(
                    " ".join("'%s'" % word for word in words), len(words) - 1)
        result = subprocess.run(["bash", "-c", code], cwd=self.folder.name, text=True,
                                capture_output=True, check=True)
        self.assertEqual(result.stderr, "")
        return result.stdout.split()

    def test_bash_completes_verbs_and_options(self):
        self.assertIn("phase", self.complete("dewpoint", ""))
        self.assertEqual(self.complete("dewpoint", "phase", "m"), ["map"])
        self.assertIn("--gamma", self.complete("dewpoint", "phase", "map", "--g"))
        self.assertIn("--json", self.complete("dewpoint", "doctor", ""))

    def test_bash_completes_behind_an_argument(self):
        self.assertEqual(self.complete("dewpoint", "show", "x.study", "--obs"), ["--observable"])
        self.assertEqual(self.complete("dewpoint", "scale", "explain", "gpt2", "--eng"), ["--engine"])
        self.assertEqual(self.complete("dewpoint", "predict", "layer", "--n", "9", "--rho", "-0.5", "--gam"),
                         ["--gamma"])
        # An argument is no verb, even where it is called like one.
        self.assertEqual(self.complete("dewpoint", "show", "run", "--templ"), [])

    def test_bash_completes_values(self):
        self.assertIn("deepseek-v3", self.complete("dewpoint", "scale", "explain", "deep"))
        self.assertIn("curve", self.complete("dewpoint", "figure", "x.study", "--kind", ""))
        self.assertEqual(self.complete("dewpoint", "run", "--template", "pha"), ["phase"])
        self.assertEqual(self.complete("dewpoint", "run", "--template", "=", "pha"), ["phase"])
        self.assertIn("phase", self.complete("dewpoint", "run", "--template", "="))
        self.assertEqual(self.complete("dewpoint", "scale", "explain", "gpt2", "--engine", "hf,vl"), ["hf,vllm"])
        self.assertEqual(self.complete("dewpoint", "predict", "dew", "--law", "gaussian-"), ["gaussian-keys"])
        self.assertEqual(self.complete("dewpoint", "predict", "layer", "--n", ""), [])
        self.assertEqual(self.complete("dewpoint", "manual", "fi"), ["fish"])

    def test_bash_completes_files(self):
        for name in ("one.study", "two words.study"):
            with open(self.path(name), "w"):
                pass
        os.mkdir(self.path("folder"))
        self.assertEqual(self.complete("dewpoint", "show", "one"), ["one.study"])
        self.assertEqual(self.complete("dewpoint", "merge", "one.study", "-o", "fol"), ["folder"])
        self.assertEqual(self.complete("dewpoint", "show", "two"), ["two", "words.study"])  # one line
        self.assertEqual(self.complete("dewpoint", "reproduce", "-o", ""), ["folder"])

    def test_zsh_and_fish_completions_name_every_verb(self):
        for shell in ("zsh", "fish"):
            script = self.succeed("manual", shell)
            for word in ("phase", "map", "reproduce", "doctor", "gamma"):
                self.assertIn(word, script)
            if shutil.which(shell):
                subprocess.run([shell, "-n"], input=script, text=True, check=True)


if __name__ == "__main__":
    unittest.main()
