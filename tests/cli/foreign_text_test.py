"""Studies come from others: what their texts could do to a terminal is shown, not done."""

import sqlite3
import unittest

from harness import ProgramTest

EVIL = "a\x1b[2J\x1b]0;owned\x07\nstudy    forged\u202e\x9b2J"
SHOWN = "a\\x1b[2J\\x1b]0;owned\\x07\\x0astudy    forged\\u202e\\x9b2J"

SWEEP = """
experiment = "phase"
replicas = 1
[parameters]
eta = "none"
[grid]
n = [16, 32]
gamma = [0.5, 1.0, 1.5, 2.0]
tokens = ["equicorrelated", "simplex"]
"""


class ForeignText(ProgramTest):
    def setUp(self):
        super().setUp()
        with open(self.path("s.toml"), "w", encoding="utf-8") as file:
            file.write(SWEEP)
        self.succeed("run", "s.toml", "-o", "sweep.study")
        self.succeed("condense", "--n", "1e2,1e3", "--t", "0.5,1,2", "--draws", "4", "-o", "result.study")

    def change(self, study, *statements):
        """As a stranger's file could be: of a version that had no hashes, which is believed."""
        with sqlite3.connect(self.path(study)) as base:
            base.execute("PRAGMA user_version = 3")
            for statement in statements:
                base.execute(statement, (EVIL,) if "?" in statement else ())

    def assert_harmless(self, *command, status=0, shown=True, forged=False):
        result = self.run_program(*command)
        self.assertEqual(result.returncode, status, result.stderr)
        said = result.stdout + result.stderr
        for letter in said:
            harmless = letter == "\n" or (ord(letter) >= 0x20 and not 0x7f <= ord(letter) < 0xa0)
            self.assertTrue(harmless and letter != "\u202e", (command, said))
        self.assertEqual("\nstudy    forged" in said, forged)
        if shown:
            self.assertIn(SHOWN, said)
        return said

    def test_names_titles_parameters_and_labels_of_a_sweep(self):
        self.change("sweep.study",
                    "UPDATE meta SET value = ? WHERE key IN ('experiment', 'title', 'version', 'command')",
                    "UPDATE parameter SET value = ?",
                    "UPDATE sweep_coordinate SET label = ? WHERE label = 'simplex'",
                    "UPDATE session SET processor = ?")
        self.assert_harmless("show", "sweep.study", "--rows", "0")
        self.assert_harmless("runs")
        self.assert_harmless("figure", "sweep.study", "--kind", "curve", "--at", "n=16")
        # Both numbers of the studies are as they were.
        found = self.succeed_json("show", "sweep.study")
        self.assertEqual(found["experiment"], EVIL)

    def test_names_of_frames_axes_and_variables_of_a_result(self):
        self.change("result.study",
                    "UPDATE frame SET name = ? WHERE name = 'condense'",
                    "UPDATE variable SET name = ? WHERE frame = 1 AND position = 0",
                    "UPDATE dimension SET name = ? WHERE frame = 1 AND position = 0")
        self.assert_harmless("show", "result.study")
        self.assert_harmless("figure", "result.study", "--kind", "curve", shown=False)

    def test_the_text_of_a_study_file(self):
        self.change("sweep.study", "UPDATE meta SET value = ? WHERE key = 'text'")
        # Its lines are its own.
        said = self.assert_harmless("show", "sweep.study", "--text", shown=False, forged=True)
        self.assertIn("\\x1b[2J", said)

    def test_refusals(self):
        self.change("sweep.study", "UPDATE sweep_variable SET name = ? WHERE id = 1")
        self.assert_harmless("show", "sweep.study", "--observable", "nothing", status=2)
        self.change("sweep.study", "UPDATE meta SET value = ? WHERE key = 'experiment'")
        self.assert_harmless("run", "s.toml", "-o", "sweep.study", status=2)
        self.assert_harmless("merge", "sweep.study", "result.study", "-o", "x.study", status=2,
                             shown=False)


if __name__ == "__main__":
    unittest.main()
