"""What tests of real heads share: dumps through NumPy, dense sums to compare with, the data."""

import json
import os
import subprocess

from harness import ProgramTest

NUMPY_PYTHON = os.environ.get("NUMPY_PYTHON", "")
HERE = os.path.dirname(os.path.abspath(__file__))
DATA = os.path.normpath(os.path.join(HERE, "..", "..", "..", "shared", "data"))
MODEL = os.path.join(DATA, "stories260K", "stories260K.bin")
TOKENIZER = os.path.join(DATA, "stories260K", "tok512.bin")
TEXT = os.path.join(DATA, "tinystories", "val.txt")

# Scores are float32 products: they round by τ √d ε |q||k|, here 0.25 · 4 · 6e-8 · 50 = 3e-6 for
# the longest queries and keys, and sums over weights are good to 1e-5. A dew point is a gap's
# inverse: it moves by twice that rounding over the gaps that count there, about 0.5, so 1.2e-5,
# and its root is found to 3e-6. Medians move by no more than their rows.
TOLERANCE = 2e-5


class HeadsTest(ProgramTest):
    def ask_numpy(self, write=(), measure=()):
        """Dumps are written into the folder of the test; the dense statistics of others."""
        if not NUMPY_PYTHON:
            self.skipTest("needs an interpreter with NumPy")
        result = subprocess.run([NUMPY_PYTHON, os.path.join(HERE, "dense_heads.py")],
                                cwd=self.folder.name, text=True, check=True, stdout=subprocess.PIPE,
                                input=json.dumps({"write": list(write), "measure": list(measure)}))
        return json.loads(result.stdout)

    def need_data(self, *files):
        for file in files:
            if not os.path.exists(file):
                self.skipTest(f"{os.path.basename(file)} is not beside the project")

    def assert_close(self, one, other, tolerance, where):
        self.assertLessEqual(abs(one - other), tolerance * max(abs(one), abs(other)), where)

    def statistics(self, found, multiplier=0):
        """{(layer, head, n): {variable: mean}} of a JSON answer, at one multiplier."""
        result = found["result"]
        layers, heads, lengths = (result["dimensions"][name] for name in ("layer", "head", "n"))
        cells = {(l, h, n): {} for l in layers for h in heads for n in lengths}
        for name, variable in result["variables"].items():
            for i, layer in enumerate(layers if variable["dimensions"][2:3] == ["n"] else []):
                for k, head in enumerate(heads):
                    for b, n in enumerate(lengths):
                        mean = variable["mean"][i][k][b]
                        cells[layer, head, n][name] = (mean[multiplier] if isinstance(mean, list)
                                                       else mean)
        return cells

    def assert_dense(self, found, dense, multiplier=0):
        """Every bin, head and statistic that the dense sums have."""
        cells = self.statistics(found, multiplier)
        self.assertEqual(found["result"]["dimensions"]["n"], dense["n"])
        self.assertEqual(found["result"]["dimensions"]["head"], list(range(len(dense["heads"]))))
        for head, bins in enumerate(dense["heads"]):
            for n, expected in zip(dense["n"], bins):
                measured = cells[0, head, n]
                if expected is None:
                    self.assertIsNone(measured["entropy"])
                    continue
                for name, value in expected.items():
                    self.assert_close(measured[name], value, TOLERANCE, (head, n, name))
