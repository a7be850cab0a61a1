"""Results print with their errors and become tables of other libraries.

SPDX-License-Identifier: Apache-2.0
"""

import subprocess
import sys

import numpy
import pytest

import dewpoint as dp


@pytest.fixture(scope="module")
def map_result():
    return dp.phase.map(n=32, rho=[0.2, 0.5], gamma=[1, 2, 3], replicas=3)


def test_a_point_prints_its_errors():
    result = dp.phase.point(n=64, rho=0.5, gamma=2, replicas=4)
    assert "contraction λ" in repr(result) and "±" in repr(result)
    assert isinstance(result.contraction, dp.Estimate)
    assert result.contraction.samples == 4
    assert str(result.contraction) in str(result)
    assert result.command == "dewpoint phase point --n 64 --gamma 2 --replicas 4"
    with pytest.raises(AttributeError, match="has no 'contracton'"):
        _ = result.contracton
    assert result["parameters"]["n"] == 64 and "theory" in dir(result)


def test_frames_and_variables(map_result):
    frame = map_result.frame
    assert repr(frame).startswith("Frame phase (n: 1, d: 1, rho: 2, gamma: 3) with contraction")
    assert frame["contraction"].dimensions == ("n", "d", "rho", "gamma")
    assert repr(frame["contraction"]) == "contraction(n, d, rho, gamma)"
    assert frame["critical_gamma"].dimensions == ("n", "d", "rho", "gamma")
    with pytest.raises(ValueError, match="contraction: is over n, d, rho, gamma"):
        frame["contraction"].estimate()


def test_a_table_has_a_line_per_cell(map_result):
    table = map_result.table()
    assert list(table)[:6] == ["n", "d", "rho", "gamma", "contraction", "contraction_se"]
    assert list(table["rho"]) == [0.2] * 3 + [0.5] * 3
    assert list(table["gamma"]) == [1, 2, 3] * 2
    means = numpy.asarray(map_result.frame["contraction"].mean)
    assert list(table["contraction"]) == list(means.ravel())


def test_pandas(map_result):
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    frame = map_result.to_pandas()
    assert isinstance(frame, pandas.DataFrame)
    assert frame.index.names == ["n", "d", "rho", "gamma"]
    means = numpy.asarray(map_result.frame["contraction"].mean)
    assert frame.loc[(32, 32 * 2, 0.5, 2), "contraction"] == means[0, 0, 1, 1]


def test_xarray_is_what_an_exported_netcdf_holds(program, tmp_path):
    xarray = pytest.importorskip("xarray", reason="xarray is not installed")
    pytest.importorskip("netCDF4", reason="netCDF4 is not installed")
    file = tmp_path / "map.study"
    dp.phase.map(n=32, rho=[0.2, 0.5], gamma=[1, 2, 3], output=file, no_figure=True)
    subprocess.run([program.path, "export", str(file), "-o", str(tmp_path / "map.nc")], check=True, capture_output=True)
    ours = dp.open_study(file).to_xarray()
    assert ours.attrs["seed"] == 1 and ours.attrs["experiment"] == "phase"
    with xarray.open_dataset(tmp_path / "map.nc") as exported:
        for name in ("contraction", "contraction_se"):
            numpy.testing.assert_array_equal(ours[name].values, exported[name].values)
            assert ours[name].dims == exported[name].dims
        assert (ours["rho"].values == exported["rho"].values).all()


def test_a_study_is_what_the_call_gave(tmp_path):
    file = tmp_path / "condense.study"
    result = dp.condense(n=[1e2, 1e6], t=[0.5, 2], draws=50, output=file)
    study = dp.open_study(file)
    assert (study.experiment, study.seed) == ("condense", 1)
    assert study.command == result.command
    for one in result.frames:
        for name, variable in one.items():
            assert bytes(study[one.name][name].mean) == bytes(variable.mean)
            assert bytes(study[one.name][name].samples) == bytes(variable.samples)
    assert repr(study).startswith(f"Study {file}: condense, seed 1, version {dp.__version__}")


def test_training_returns_its_trajectory():
    result = dp.train(m=16, sequences=200, steps=50)
    trajectory = result.trajectory
    times = numpy.asarray(trajectory.dimensions["time"])
    assert times[0] == 0 and times[-1] == 50
    assert numpy.asarray(trajectory["loss"].mean)[-1] == result["end"]["loss"]


def test_labels_are_names():
    result = dp.train(m=16, sequences=200, steps=50)
    stages = next(frame for frame in result.frames if frame.name == "stages")
    assert "focus" in list(stages.dimensions["stage"])


def test_nothing_heavy_is_imported():
    code = ("import sys, dewpoint; "
            "print([name for name in ('numpy', 'pandas', 'xarray', 'torch') if name in sys.modules])")
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"
