"""Every study of examples/ runs, draws its figures and is then found finished."""

import glob
import os
import unittest

from harness import ProgramTest

EXAMPLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "examples")


def long_examples(on_texts):
    """Those that read a text, or the others."""
    files = sorted(glob.glob(os.path.join(EXAMPLES, "long", "*.toml")))
    return [file for file in files if ("\ncorpus = " in open(file).read()) == on_texts]


class Examples(ProgramTest):
    def test_every_example_runs_once(self):
        files = sorted(glob.glob(os.path.join(EXAMPLES, "*.toml")))
        self.assertGreaterEqual(len(files), 15)
        for file in files:
            with self.subTest(os.path.basename(file)):
                first = self.succeed_json("run", file)
                self.assertEqual(first["finished"], first["planned"])
                self.assertGreater(len(first["figures"]), 0)
                for figure in first["figures"]:
                    self.assertGreater(os.path.getsize(self.path(figure)), 2000)
                again = self.succeed_json("run", file)
                self.assertEqual((again["computed"], again["reused"]), (0, first["planned"]))

    def test_long_examples_are_understood(self):
        for file in long_examples(on_texts=False):
            found = self.succeed_json("run", file, "--dry-run")
            self.assertGreater(found["work_seconds"], 60)

    def test_long_examples_on_texts_are_understood(self):
        """One run of theirs takes minutes, so a few steps of it, on a text that is made here."""
        with open(self.path("text.txt"), "w") as text:
            text.write(" ".join(f"word{k * k % 2503}" for k in range(45000)))
        experiments = []
        for file in long_examples(on_texts=True):
            found = self.succeed_json("run", file, "--dry-run", "-S", "parameters.corpus=\"text.txt\"",
                                      "-S", "parameters.vocabulary=1000", "-S", "parameters.steps=2")
            self.assertEqual(found["replicas"], 3 * found["cells"])
            experiments.append(found["experiment"])
        self.assertEqual(experiments, ["train-text"] * 2 + ["train-scaling"] * 2)


if __name__ == "__main__":
    unittest.main()
