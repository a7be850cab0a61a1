#!/usr/bin/env python3
"""The docs test can fail: every rule of run_commands.py on small pages made for it.

SPDX-License-Identifier: Apache-2.0
"""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SCRIPT = Path(__file__).with_name("run_commands.py")
FENCE = "```"


class RunCommands(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.root = Path(self.folder.name) / "project"
        self.root.mkdir()
        program = self.root / "bin" / "dewpoint"
        program.parent.mkdir()
        program.write_text('#!/bin/sh\necho "dewpoint was asked: $*"\nexit "${1:-0}"\n')
        program.chmod(0o755)
        self.program = program
        (self.root / "Makefile").write_text("run: x\ntest:\nvalue := 3\n")

    def check(self, page, *arguments):
        (self.root / "README.md").write_text(page)
        arguments = arguments or ("--dewpoint", str(self.program))
        return subprocess.run([sys.executable, str(SCRIPT), "--root", str(self.root), *arguments],
                              capture_output=True, text=True)

    def commands(self, *lines, above="", language="sh", arguments=()):
        page = "\n".join(["# Page", above, FENCE + language, *lines, FENCE, ""])
        return self.check(page, "--dewpoint", str(self.program), *arguments)

    def test_a_command_that_succeeds_passes(self):
        result = self.commands("dewpoint 0", "", "# a remark", "true # another")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("2 commands run", result.stdout)

    def test_a_command_that_fails_is_named_with_line_and_output(self):
        result = self.commands("true", "dewpoint 3")
        self.assertEqual(result.returncode, 1)
        self.assertIn("README.md:5: dewpoint 3", result.stderr)
        self.assertIn("exit status 3, expected 0", result.stderr)
        self.assertIn("dewpoint was asked: 3", result.stderr)

    def test_an_expected_failure_must_happen_as_announced(self):
        self.assertEqual(self.commands("dewpoint 2", above="<!-- fails: 2 -->").returncode, 0)
        self.assertEqual(self.commands("dewpoint 0", above="<!-- fails: 2 -->").returncode, 1)
        self.assertEqual(self.commands("dewpoint 1", above="<!-- fails: 2 -->").returncode, 1)

    def test_a_block_may_be_a_file_that_later_commands_read(self):
        page = "\n".join(["<!-- file: note.toml -->", FENCE + "toml", "x = 1", "y = 2", FENCE,
                          FENCE + "sh", "grep -x 'y = 2' note.toml", FENCE])
        result = self.check(page)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(self.check(page.replace("y = 2\n", "y = 3\n")).returncode, 1)

    def test_examples_are_at_hand(self):
        (self.root / "examples").mkdir()
        (self.root / "examples" / "a.toml").write_text("x = 1\n")
        self.assertEqual(self.commands("test -f examples/a.toml").returncode, 0)
        self.assertEqual(self.commands("test -f examples/b.toml").returncode, 1)

    def test_slow_blocks_run_only_when_asked(self):
        page = "\n".join([FENCE + "sh", "true", FENCE, "<!-- slow -->", FENCE + "sh", "dewpoint 4",
                          FENCE])
        self.assertEqual(self.check(page).returncode, 0)
        slow = self.check(page, "--dewpoint", str(self.program), "--slow")
        self.assertEqual(slow.returncode, 1)

    def test_a_block_not_run_is_listed_with_its_reason(self):
        page = "\n".join([FENCE + "sh", "true", FENCE, "<!-- not run: needs a cluster -->",
                          FENCE + "sh", "false", FENCE])
        result = self.check(page)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("README.md:5 (1 commands): needs a cluster", result.stdout)

    def test_a_block_that_needs_data_runs_only_where_they_are(self):
        page = "\n".join(["<!-- data: stories -->", FENCE + "sh", "cat stories/one.txt", FENCE,
                          FENCE + "sh", "true", FENCE])
        result = self.check(page)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("stories not in ../shared/data", result.stdout)
        stories = self.root.parent / "shared" / "data" / "stories"
        stories.mkdir(parents=True)
        self.assertEqual(self.check(page).returncode, 1)  # the text is not there
        (stories / "one.txt").write_text("once\n")
        result = self.check(page)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("2 commands run", result.stdout)

    def test_an_unknown_directive_is_refused(self):
        self.assertEqual(self.commands("true", above="<!-- slwo -->").returncode, 1)
        self.assertEqual(self.commands("true", above="<!-- not run: -->").returncode, 1)

    def test_make_lines_must_name_targets(self):
        self.assertEqual(self.commands("true", "make run", "N=1 make test X=2 -j2").returncode, 0)
        result = self.commands("true", "make value")
        self.assertEqual(result.returncode, 1)
        self.assertIn("no target value", result.stderr)

    def test_commands_of_a_page_share_a_folder_and_lines_join(self):
        result = self.commands("echo a \\", "  b > file", "grep -q 'a b' file")
        self.assertEqual(result.returncode, 0, result.stderr)

    def test_console_blocks_run_only_what_follows_the_prompt(self):
        result = self.commands("$ dewpoint 0", "false", language="console")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("1 commands run", result.stdout)

    def test_a_command_that_hangs_is_ended(self):
        result = self.commands("sleep 60", arguments=("--timeout", "0.2"))
        self.assertEqual(result.returncode, 1)
        self.assertIn("took longer", result.stderr)

    def test_pages_that_run_nothing_or_use_another_mark_are_refused(self):
        self.assertEqual(self.check("no commands here\n").returncode, 1)
        self.assertEqual(self.commands("true", language="bash").returncode, 1)
        self.assertEqual(self.check(FENCE + "sh\ntrue\n").returncode, 1)

    def test_links_lead_to_files_and_headings(self):
        (self.root / "docs").mkdir()
        (self.root / "docs" / "a.md").write_text("# One, two\n")
        good = "[a](docs/a.md) [b](docs/a.md#one-two) [c](https://example.org/x) `[d](none.md)`\n"
        self.assertEqual(self.check(good, "--links").returncode, 0)
        for bad in ["[a](docs/b.md)", "[a](docs/a.md#three)", "![f](docs/f.png)", "![two\nlines](docs/f.png)",
                    "[a]: docs/b.md", '<img alt="x" src="docs/f.png">']:
            result = self.check("x\n" + bad + "\n", "--links")
            self.assertEqual(result.returncode, 1, bad)
            self.assertIn("README.md:2:", result.stderr)


if __name__ == "__main__":
    unittest.main()
