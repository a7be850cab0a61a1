"""Every study of examples/ runs, draws its figures and is then found finished."""

import glob
import os
import unittest

from harness import ProgramTest

EXAMPLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "examples")


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
        for file in sorted(glob.glob(os.path.join(EXAMPLES, "long", "*.toml"))):
            found = self.succeed_json("run", file, "--dry-run")
            self.assertGreater(found["work_seconds"], 60)


if __name__ == "__main__":
    unittest.main()
