"""What is not ours is not replaced: every verb that writes, every file that it writes."""

import json
import os
import shutil
import sqlite3
import unittest
import zlib

from harness import ProgramTest

STUDY = """
experiment = "phase"
replicas = 1
[parameters]
eta = "none"
d = 4
[grid]
n = [16, 32]
gamma = [0.5, 1.0, 1.5, 2.0]
[outputs]
study = "run.study"
exports = ["run.csv"]
figures = [{ file = "run.svg", kind = "curve", observable = "contraction" }]
"""

# Many words, so that hardly two keys of a head tie.
CORPUS = " ".join(f"w{number * number % 1009}" for number in range(4000)) + "\n"

TRAIN_TEXT = ["train", "--corpus", "corpus.txt", "--vocabulary", "400", "--causal", "--steps", "2"]
MAP = ["phase", "map", "--n", "16", "--d", "4", "--rho", "0,0.5", "--gamma", "1,2", "--eta", "none"]
CONDENSE = ["condense", "--n", "1e2", "--t", "1", "--draws", "10"]

# A verb, and the files that it writes; what stands in PREPARED is there before.
FILES = {
    "phase map": (MAP + ["-o", "x.study"], ["x.study", "x.svg", "x.png"]),
    "phase depth": (["phase", "depth", "--n", "8", "--d", "4", "--layers", "2", "-o", "x.study"],
                    ["x.study", "x.svg", "x.png"]),
    "condense": (CONDENSE + ["-o", "x.study"], ["x.study"]),
    "query point": (["query", "point", "--n", "100", "--draws", "10", "-o", "x.study"], ["x.study"]),
    "dew": (["dew", "--law", "gaussian", "--n", "1e2,1e3", "--draws", "10", "-o", "x.study"],
            ["x.study"]),
    "train": (["train", "--steps", "3", "-o", "x.study"], ["x.study"]),
    "train --seeds": (["train", "--steps", "3", "--seeds", "2", "-o", "x.study"], ["x.study"]),
    "train --corpus": (TRAIN_TEXT + ["-o", "x.study", "--checkpoint", "c.safetensors"],
                       ["x.study", "c.safetensors", "c.safetensors.looks"]),
    "heads": (["heads", "model", "--text", "corpus.txt", "--length", "32", "-o", "x.study",
               "--dump", "d.safetensors"], ["x.study", "d.safetensors"]),
    "heads sweep": (["heads", "sweep", "model", "--text", "corpus.txt", "--lengths", "32",
                     "--rope", "own", "--sequences", "2", "--head-sequences", "1",
                     "--multipliers", "0.9,1.1", "-o", "x.study", "--figure", "x.svg",
                     "--figure", "x.pdf"], ["x.study", "x.svg", "x.pdf"]),
    "scale explain": (["scale", "explain", "deepseek-v3", "-o", "x.svg"], ["x.svg"]),
    "run": (["run", "study.toml"],
            ["run.study", "run.csv", "run.csv.json", "run.svg"]),
    "export": (["export", "phase.study", "-o", "x.csv", "-o", "x.jsonl", "-o", "x.npz", "-o", "x.nc"],
               ["x.csv", "x.csv.json", "x.jsonl", "x.npz", "x.nc"]),
    "merge": (["merge", "phase.study", "phase.study", "-o", "x.study"], ["x.study"]),
    "figure": (["figure", "phase.study", "--kind", "curve", "--data", "-o", "x.svg", "-o", "y.png",
                "-o", "z.pdf"],
               ["x.svg", "x.csv", "x.gp", "y.png", "z.pdf"]),
    "report": (["report", "phase.study", "-o", "x.html"], ["x.html"]),
}

# A verb, and the folder that it writes as a whole.
FOLDERS = {
    "train --figures": (["train", "--steps", "3", "--figures", "f"], "f"),
    "train --corpus --figures": (TRAIN_TEXT + ["--figures", "f"], "f"),
    "train --model": (TRAIN_TEXT + ["--model", "f"], "f"),
    "checkpoint export": (["checkpoint", "export", "model", "-o", "f"], "f"),
    "reproduce": (["reproduce", "--quick", "--only", "sl-values", "--no-verify", "-o", "f"],
                  "f"),
}

# Verbs that compute, draw or say and write nothing.
WRITE_NOTHING = {"phase point", "query output", "query heat", "query harmonics", "scale fit", "runs", "show",
                 "verify", "verify errata", "doctor", "manual", "serve", "checkpoint generate"}


def database(file):
    with sqlite3.connect(file) as base:
        base.execute("CREATE TABLE mine (work TEXT)")


def text(file):
    with open(file, "w", encoding="utf-8") as out:
        out.write("hours of my work\n")


def picture(file):
    with open(file, "wb") as out:
        out.write(b"\x89PNG\r\n\x1a\n" + bytes(range(200)))


FOREIGN = {"text": text, "database": database, "picture": picture}


def content(file):
    with open(file, "rb") as found:
        return found.read()


class OutputsTest(ProgramTest):
    @classmethod
    def setUpClass(cls):
        cls.prepared = None

    def setUp(self):
        super().setUp()
        if OutputsTest.prepared is None:
            OutputsTest.prepared = self.prepare()
        for name, kept in OutputsTest.prepared.items():
            target = self.path(name)
            os.makedirs(os.path.dirname(target), exist_ok=True)
            with open(target, "wb") as out:
                out.write(kept)

    def prepare(self):
        """Inputs of the verbs, as {name: bytes}."""
        for name, written in (("study.toml", STUDY), ("corpus.txt", CORPUS)):
            with open(self.path(name), "w", encoding="utf-8") as out:
                out.write(written)
        self.succeed("run", "study.toml", "-o", "phase.study", "-S", "outputs.exports=[]",
                     "-S", "outputs.figures=[]")
        self.succeed(*TRAIN_TEXT, "--model", "model")
        kept = {}
        for folder, _, files in os.walk(self.folder.name):
            for file in files:
                path = os.path.join(folder, file)
                kept[os.path.relpath(path, self.folder.name)] = content(path)
        return kept

    def clear(self, names):
        for name in names:
            if os.path.lexists(self.path(name)):
                os.remove(self.path(name))

    def expect_refused(self, command, name):
        found = self.path(name)
        before, beside = content(found), self.files()
        said = self.refuse(2, *command)
        self.assertIn(f"'{name}'", said)
        self.assertIn("--force", said)
        self.assertEqual(content(found), before)
        self.assertEqual(self.files(), beside)

    def test_a_file_of_somebody_else_stays_until_forced(self):
        for verb, (command, names) in FILES.items():
            for name in names:
                for kind, place in FOREIGN.items():
                    with self.subTest(verb=verb, file=name, foreign=kind):
                        self.clear(names)
                        place(self.path(name))
                        self.expect_refused(command, name)
                with self.subTest(verb=verb, file=name, forced=True):
                    before = content(self.path(name))
                    self.succeed(*command, "--force")
                    self.assertNotEqual(content(self.path(name)), before)

    def test_a_link_to_a_file_of_somebody_else_is_refused(self):
        for verb, (command, names) in FILES.items():
            with self.subTest(verb=verb):
                self.clear(names)
                text(self.path("mine.txt"))
                os.symlink("mine.txt", self.path(names[0]))
                self.expect_refused(command, names[0])

    def test_a_command_that_is_run_again_replaces_its_own_files(self):
        for verb, (command, names) in FILES.items():
            with self.subTest(verb=verb):
                self.clear(names)
                self.succeed(*command)
                for name in names:
                    self.assertTrue(os.path.exists(self.path(name)), name)
                self.succeed(*command)

    def test_an_empty_file_is_nobodys_work(self):
        open(self.path("x.study"), "wb").close()
        self.succeed(*CONDENSE, "-o", "x.study")
        self.assertTrue(content(self.path("x.study")).startswith(b"SQLite format 3"))

    def test_a_folder_of_somebody_else_stays_until_forced(self):
        for verb, (command, folder) in FOLDERS.items():
            with self.subTest(verb=verb):
                shutil.rmtree(self.path(folder), ignore_errors=True)
                os.mkdir(self.path(folder))
                text(self.path(os.path.join(folder, "notes.txt")))
                said = self.refuse(2, *command)
                self.assertIn(f"'{folder}'", said)
                self.assertIn("--force", said)
                self.assertEqual(os.listdir(self.path(folder)), ["notes.txt"])
                self.succeed(*command, "--force")
                self.assertEqual(content(self.path(os.path.join(folder, "notes.txt"))),
                                 b"hours of my work\n")
                self.succeed(*command)  # now it holds what is ours

    def test_a_file_of_somebody_else_in_our_own_folder_stays(self):
        command, folder = FOLDERS["train --figures"]
        self.succeed(*command)
        theirs = self.path(os.path.join(folder, "training-embeddings.svg"))
        text(theirs)
        before = sorted(os.listdir(self.path(folder)))
        self.assertIn("training-embeddings.svg", self.refuse(2, *command))
        self.assertEqual(content(theirs), b"hours of my work\n")
        self.assertEqual(sorted(os.listdir(self.path(folder))), before)

    # Of two studies each is the work of hours.
    def test_a_study_of_another_experiment_stays_until_forced(self):
        self.succeed(*CONDENSE, "-o", "x.study")
        for verb, (command, names) in FILES.items():
            study = names[0]
            if not study.endswith(".study") or verb == "condense":
                continue
            with self.subTest(verb=verb):
                self.clear(names)
                self.succeed(*CONDENSE, "-o", study)
                self.expect_refused(command, study)
                self.succeed(*command, "--force")
                self.assertNotIn("made by  condense", self.succeed("show", study))

    def test_a_name_that_promises_something_else_is_refused(self):
        for name, remedy in (("x.png", "dewpoint figure x.study -o x.png"),
                             ("x.csv", "dewpoint export x.study -o x.csv"),
                             ("x.json", "dewpoint export x.study"), ("x.toml", "write x.study"),
                             ("x.html", "dewpoint report x.study -o x.html")):
            for verb, (command, names) in FILES.items():
                if names[0] != "x.study":
                    continue
                with self.subTest(verb=verb, name=name):
                    said = self.refuse(2, *[name if word == "x.study" else word for word in command])
                    self.assertIn(f"'{name}'", said)
                    self.assertIn(remedy, said)
                    self.assertFalse(os.path.exists(self.path(name)))

    def test_a_device_is_no_file(self):
        self.assertIn("no ordinary file", self.refuse(2, *CONDENSE, "-o", "/dev/null", "--force"))
        self.assertFalse(os.path.isfile("/dev/null"))

    # The mark is a chunk of its own, with its length and its sum; the picture is as gnuplot drew it.
    def test_a_marked_picture_is_whole(self):
        self.succeed("figure", "phase.study", "--kind", "curve", "-o", "x.png")
        left, chunks = content(self.path("x.png"))[8:], []
        while left:
            length = int.from_bytes(left[:4], "big")
            chunk, total, left = left[4:8 + length], left[8 + length:12 + length], left[12 + length:]
            self.assertEqual(zlib.crc32(chunk), int.from_bytes(total, "big"), chunk[:4])
            chunks.append(chunk)
        self.assertEqual((chunks[0][:4], chunks[-1]), (b"IHDR", b"IEND"))
        self.assertIn(b"tEXtSoftware\0Dewpoint", chunks)

    # A verb that writes and is in no list above would be tested by nothing.
    def test_no_verb_is_forgotten(self):
        known = {verb.split(" --")[0] for verb in {*FILES, *FOLDERS}} | WRITE_NOTHING
        for entry in json.loads(self.succeed("manual", "json")):
            verb = entry["verb"]
            if verb in ("phase", "query", "scale") or verb.startswith("predict"):
                continue
            self.assertIn(verb, known)
            options = {option["name"] for option in entry["options"]}
            self.assertEqual("force" in options, verb not in WRITE_NOTHING, verb)


if __name__ == "__main__":
    unittest.main()
