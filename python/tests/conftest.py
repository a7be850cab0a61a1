"""What the tests share: the program beside the package, and both in one command.

SPDX-License-Identifier: Apache-2.0
"""

import importlib.metadata
import json
import os
import subprocess
import sys

import pytest


def pytest_report_header():
    versions = [f"Python {sys.version.split()[0]}"]
    for name in ("numpy", "pandas", "xarray", "torch", "transformers", "jax"):
        try:
            versions.append(f"{name} {importlib.metadata.version(name)}")
        except importlib.metadata.PackageNotFoundError:
            versions.append(f"no {name}")
    return ", ".join(versions)


@pytest.fixture(scope="session")
def program():
    """Runs the program `dewpoint` with words and returns its JSON."""
    path = os.environ.get("DEWPOINT")
    if not path:
        pytest.skip("DEWPOINT does not name the program dewpoint")

    def run(*words):
        found = subprocess.run([path, *words, "--json"], capture_output=True, text=True, check=True)
        return json.loads(found.stdout)

    run.path = path
    return run
