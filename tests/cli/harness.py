"""Runs the built program in a folder of its own, as a user would."""

import json
import os
import subprocess
import tempfile
import unittest

DEWPOINT = os.environ["DEWPOINT"]


class ProgramTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="dewpoint-test-")
        self.addCleanup(self.folder.cleanup)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def files(self):
        return sorted(os.listdir(self.folder.name))

    def run_program(self, *arguments, environment=None, **options):
        return subprocess.run([DEWPOINT, *arguments], cwd=self.folder.name, text=True,
                              capture_output=True, timeout=600,
                              env={**os.environ, **(environment or {})}, **options)

    def succeed(self, *arguments, **options):
        result = self.run_program(*arguments, **options)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout

    def succeed_json(self, *arguments, **options):
        return json.loads(self.succeed(*arguments, "--json", **options))

    def refuse(self, status, *arguments, **options):
        """The one line on standard error; nothing on standard output, with --json the same as an object."""
        result = self.run_program(*arguments, **options)
        self.assertEqual(result.returncode, status, result.stderr)
        lines = result.stderr.strip().split("\n")
        self.assertEqual(len(lines), 1, result.stderr)
        self.assertTrue(lines[0].startswith("dewpoint: "), lines[0])
        message = lines[0][len("dewpoint: "):]
        if "--json" in arguments:
            self.assertEqual(json.loads(result.stdout), {"error": {"message": message, "status": status}})
        else:
            self.assertEqual(result.stdout, "")
        return message
