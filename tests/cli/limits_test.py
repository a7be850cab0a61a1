"""Bounded time and memory: large plans, little memory, files that mean harm."""

import os
import resource
import signal
import sqlite3
import subprocess
import time
import unittest
import zipfile

from harness import DEWPOINT, ProgramTest

MIB = 1 << 20


def limited(most):
    return lambda: resource.setrlimit(resource.RLIMIT_AS, (most, most))


class LargePlans(ProgramTest):
    STUDY = """experiment = "condense"
[grid]
n = { from = 1e3, to = 1e12, count = 1000, scale = "log" }
t = { from = 0.1, to = 3, count = 1000 }
"""

    def start(self, *arguments):
        with open(self.path("large.toml"), "w") as file:
            file.write(self.STUDY)
        process = subprocess.Popen([DEWPOINT, "run", "large.toml", *arguments], text=True,
                                   cwd=self.folder.name, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE)
        self.addCleanup(process.kill)
        return process

    @staticmethod
    def catches(process, number):
        """Whether the program has said what it does on this signal."""
        with open(f"/proc/{process.pid}/status") as status:
            mask = next(line for line in status if line.startswith("SigCgt:")).split()[1]
        return int(mask, 16) >> (number - 1) & 1 == 1

    def stop(self, process, number):
        while not self.catches(process, number):
            self.assertIsNone(process.poll())
            time.sleep(0.001)
        process.send_signal(number)
        # Minutes without the request to stop, which is looked at between two cells.
        return process.communicate(timeout=20)

    def test_one_signal_ends_the_planning_of_a_million_cells(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            for arguments in ([], ["--dry-run"]):
                process = self.start(*arguments)
                out, err = self.stop(process, number)
                self.assertEqual(process.returncode, 128 + number, err)
                self.assertEqual(out, "")
                self.assertIn("interrupted", err)

    def test_more_cells_than_allowed_are_counted(self):
        said = self.refuse_study("grid.n=[2,3,4,5,6,7,8,9,10,11,12]",
                                 "grid.signal={from=0,to=1,count=1000}",
                                 "grid.t={from=0.1,to=3,count=1000}")
        self.assertIn("grid: 11000000 cells; allowed: at most 10000000", said)

    def refuse_study(self, *overrides):
        with open(self.path("s.toml"), "w") as file:
            file.write('experiment = "condense"\n')
        settings = [word for override in overrides for word in ("-S", override)]
        return self.refuse(2, "run", "s.toml", *settings)


class LittleMemory(ProgramTest):
    """OpenBLAS asks for its buffers for ever where there are none."""

    COMMANDS = (["--version"], ["phase", "point", "--n", "600"],
                ["phase", "map", "--n", "300", "--rho", "0.5", "--gamma", "1,2", "--no-figure"])
    TWO_THREADS = {**os.environ, "OPENBLAS_NUM_THREADS": "2"}  # a ladder for machines of any size

    def test_at_every_limit_the_program_ends(self):
        seen = set()
        for mebibytes in (40, 60, 100, 150, 200, 250, 300, 350, 400, 500, 700, 1000, 1500, 4000):
            for command in self.COMMANDS:
                result = subprocess.run([DEWPOINT, *command], cwd=self.folder.name, text=True,
                                        capture_output=True, timeout=120,
                                        env=self.TWO_THREADS,
                                        preexec_fn=limited(mebibytes * MIB))
                seen.add(result.returncode)
                if result.returncode == 0:
                    continue
                self.assertIn(result.returncode, (1, 127), (mebibytes, command, result.stderr))
                self.assertEqual(len(result.stderr.strip().split("\n")), 1,
                                 (mebibytes, command, result.stderr))
        self.assertIn(0, seen)
        self.assertIn(1, seen)


class HostileFiles(ProgramTest):
    def test_an_array_that_is_longer_than_its_header_says(self):
        header = b"{'descr': '<f4', 'fortran_order': False, 'shape': (256,), }"
        npy = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + bytes(1024)
        with zipfile.ZipFile(self.path("x.npz"), "w", zipfile.ZIP_DEFLATED) as archive:
            with archive.open("layers.0.q.npy", "w") as member:
                member.write(npy)
                for _ in range(512):
                    member.write(bytes(MIB))
        self.assertLess(os.path.getsize(self.path("x.npz")), MIB)
        with open(self.path("said"), "w") as said:
            child = subprocess.Popen([DEWPOINT, "heads", "x.npz"], cwd=self.folder.name, stderr=said)
            _, status, usage = os.wait4(child.pid, 0)
            child.returncode = os.waitstatus_to_exitcode(status)
        self.assertEqual(child.returncode, 2)
        with open(self.path("said")) as said:
            self.assertIn("member 'layers.0.q': data: found 536871936 bytes, allowed: 1024 bytes",
                          said.read())
        # Half of what the member has, and more than the program needs: it was never unpacked.
        self.assertLess(usage.ru_maxrss * 1024, 256 * MIB)

    def test_a_title_of_twenty_megabytes(self):
        with open(self.path("s.toml"), "w") as file:
            file.write('experiment = "condense"\n[parameters]\ndraws = 2\n[grid]\nt = [0.5, 1]\n'
                       '[outputs]\nstudy = "s.study"\n')
        self.succeed("run", "s.toml")
        with sqlite3.connect(self.path("s.study")) as study:
            study.execute("PRAGMA user_version = 3")  # without hashes, as a stranger may write it
            study.execute("UPDATE meta SET value = ? WHERE key = 'title'", ("x" * 20_000_000,))
        study.close()
        for verb in (["report", "s.study", "-o", "r.html"], ["show", "s.study"]):
            said = self.refuse(2, *verb)
            self.assertIn("title: 20000000 bytes; allowed: at most 4096", said)


if __name__ == "__main__":
    unittest.main()
