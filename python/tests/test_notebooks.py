"""The scripts of examples/notebooks run from beginning to end.

SPDX-License-Identifier: Apache-2.0
"""

import pathlib
import subprocess
import sys

import pytest

FOLDER = pathlib.Path(__file__).parents[2] / "examples" / "notebooks"
NEEDS = {"condensation": ["pandas"], "study_in_xarray": ["xarray"]}


@pytest.mark.parametrize("name", sorted(file.stem for file in FOLDER.glob("*.py")))
def test_a_notebook_runs(name, tmp_path):
    for module in NEEDS.get(name, []):
        pytest.importorskip(module, reason=f"{module} is not installed")
    found = subprocess.run([sys.executable, str(FOLDER / f"{name}.py")], cwd=tmp_path,
                           capture_output=True, text=True)
    assert found.returncode == 0, found.stderr
    assert found.stdout
    assert (FOLDER / f"{name}.py").read_text().startswith("# %% [markdown]\n# # ")


def test_there_are_notebooks():
    assert len(list(FOLDER.glob("*.py"))) == 6
