"""No program of the build looks for libraries in the current folder or in the build tree."""

import os
import pathlib
import subprocess
import tempfile
import unittest

DEWPOINT = os.environ["DEWPOINT"]
BUILD = pathlib.Path(os.environ["DEWPOINT_BUILD"])


def programs():
    """Every program and shared library of the build, but not what CMake tried the compiler with."""
    for path in BUILD.rglob("*"):
        if "CMakeFiles" not in path.parts and path.is_file() and not path.is_symlink():
            with open(path, "rb") as file:
                if file.read(4) == b"\x7fELF":
                    yield path


class RunPathTest(unittest.TestCase):
    def test_no_program_names_a_run_path(self):
        looked_at = []
        for path in programs():
            section = subprocess.run(["readelf", "-d", path], capture_output=True, text=True, check=True)
            with self.subTest(path=path):
                self.assertNotRegex(section.stdout, r"\((RPATH|RUNPATH)\)")
            looked_at.append(path.name)
        self.assertIn("dewpoint", looked_at)
        self.assertIn("core_test", looked_at)
        if os.environ.get("DEWPOINT_WITH_PYTHON") == "1":
            self.assertTrue([name for name in looked_at if name.startswith("_core.")], looked_at)

    def test_a_library_in_the_current_folder_is_not_loaded(self):
        needed = subprocess.run(["ldd", DEWPOINT], capture_output=True, text=True, check=True).stdout
        names = [line.split()[0] for line in needed.splitlines() if "=> /" in line]
        self.assertIn("libzip.so.4", names)
        with tempfile.TemporaryDirectory(prefix="dewpoint-test-") as folder:
            for name in names:
                pathlib.Path(folder, name).write_bytes(b"no library")
            run = subprocess.run([DEWPOINT, "--version"], cwd=folder, capture_output=True, text=True)
            self.assertEqual(run.returncode, 0, run.stderr)


if __name__ == "__main__":
    unittest.main()
