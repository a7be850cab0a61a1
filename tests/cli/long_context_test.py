"""Contexts that no n x n matrix fits: 131,072 tokens, sampled queries, under 1 GiB.

Tokens take 64 MiB in double; queries, keys, values, outputs and their copies in single precision
another 8 of that size at most, and a strip of scores 64 MiB per thread: O(n d) in all.
"""

import os
import subprocess
import unittest

from harness import DEWPOINT, ProgramTest


class LongContext(ProgramTest):
    def peak_bytes(self, *options):
        command = [DEWPOINT, "phase", "point", "--n", "131072", "--d", "64", "--rho", "0.5",
                   "--gamma", "2", "--json", "--threads", "2", *options]
        child = subprocess.Popen(command, cwd=self.folder.name, stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        self.assertEqual(child.returncode, 0)
        return usage.ru_maxrss * 1024

    def test_all_keys_stay_under_one_gibibyte(self):
        self.assertLess(self.peak_bytes("--rows", "4096"), 1 << 30)

    def test_masks_and_kinds_stay_under_one_gibibyte(self):
        for form in (["--mask", "window:1024"], ["--mask", "dilated:1024:8"],
                     ["--mask", "global:1024:64", "--attention", "sink:8"],
                     ["--mask", "causal", "--attention", "off-by-one"],
                     ["--attention", "top:64"],
                     ["--mask", "causal", "--attention", "linear"],
                     ["--projections", "orthogonal:4", "--rope", "10000"]):
            with self.subTest(form=form):
                self.assertLess(self.peak_bytes("--rows", "512", "--eta", "none", *form), 1 << 30)


if __name__ == "__main__":
    unittest.main()
