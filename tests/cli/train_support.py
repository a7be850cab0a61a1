"""Small training runs: through condensation, focus and dilution in 200 steps, a tenth of a second.
"""

import os
import sqlite3
import subprocess

from harness import ProgramTest

NUMPY_PYTHON = os.environ.get("NUMPY_PYTHON", "")
PATIENCE = 60.0  # seconds; far more than anything here takes on a busy machine

SMALL = ["--m", "32", "--sequences", "2000", "--init", "0.01", "--rate", "2e-3"]
QUICK = [*SMALL, "--steps", "200"]
PLAIN = ["--m", "8", "--sequences", "500", "--steps", "20"]


def has_numpy():
    if not NUMPY_PYTHON or not os.path.exists(NUMPY_PYTHON):
        return False
    return subprocess.run([NUMPY_PYTHON, "-c", "import numpy"], capture_output=True).returncode == 0


class TrainTest(ProgramTest):
    def train(self, *arguments):
        return self.succeed_json("train", *arguments)

    def write(self, name, text):
        with open(self.path(name), "w") as file:
            file.write(text)
        return name

    def query(self, study, text, *values):
        connection = sqlite3.connect(self.path(study))
        try:
            return connection.execute(text, values).fetchall()
        finally:
            connection.close()

    def attachments(self, study):
        return dict(self.query(study, "SELECT name, bytes FROM attachment"))

    def tables(self, study):
        """Every table of an export, by what its name adds to that of the study."""
        stem = study.replace(".study", "")
        self.succeed("export", study, "-o", stem + ".csv")
        found = {}
        for name in self.files():
            if name.startswith(stem + "-") and name.endswith(".csv"):
                with open(self.path(name)) as file:
                    found[name[len(stem):]] = file.read()
        self.assertIn("-trajectory.csv", found)
        return found

    def numpy(self, code):
        if not has_numpy():
            self.skipTest("needs NumPy")
        result = subprocess.run([NUMPY_PYTHON, "-c", "import numpy as np\n" + code], text=True,
                                capture_output=True, cwd=self.folder.name)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout
