"""A context that no n x n matrix fits: 131,072 tokens, 4,096 sampled queries, under 1 GiB."""

import os
import subprocess
import unittest

from harness import DEWPOINT, ProgramTest


class LongContext(ProgramTest):
    def test_stays_under_one_gibibyte(self):
        command = [DEWPOINT, "phase", "point", "--n", "131072", "--d", "64", "--rho", "0.5",
                   "--gamma", "2", "--rows", "4096", "--json"]
        child = subprocess.Popen(command, cwd=self.folder.name, stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        self.assertEqual(child.returncode, 0)
        self.assertLess(usage.ru_maxrss * 1024, 1 << 30)


if __name__ == "__main__":
    unittest.main()
