"""Reads what write_examples wrote with the tools that people use, and compares every number.

The numbers are those of example_study.hpp, written down a second time. All comparisons are exact,
down to the sign of a zero: an export changes no bit.
"""

import csv
import json
import math
import os
import sqlite3
import struct
import subprocess
import tempfile
import unittest

try:
    import numpy
except ImportError:
    numpy = None
try:
    import pandas
except ImportError:
    pandas = None
try:
    import xarray
    import netCDF4  # xarray needs it to read netCDF-4
except ImportError:
    xarray = None

PYTHON = "of Debian's /usr/bin/python3 is not installed"
nan, inf = math.nan, math.inf

LAWS = ["plain", "a, b", 'say "dew"']
# Over (n, law): n = 128 three times, then n = 512. nan is unknown, as are cells with 0 samples.
CONTRACTION = [0.1, -0.0, nan, 1e-300, nan, nan]
CONTRACTION_SE = [0.01, 0.0, nan, 5e-324, nan, nan]
BETA_DEW = [inf, -inf, 2.0, 1e22, nan, nan]
BETA_DEW_SE = [nan, inf, 1 / 3, nan, nan, nan]
THEORY = [0.125, -1.5, nan, 0.3, nan, 0.7]
SAMPLES = [16, 16, 16, 1, 0, 0]
PLACES = [(n, law) for n in (128.0, 512.0) for law in LAWS]
KNOWN = [0, 1, 2, 3, 5]
# Over (n, law, rank).
WEIGHT = [1.0, 1 / 2, 1 / 3, 1 / 4] + [nan] * 8


def bits(value):
    """Every NaN is the same unknown; all else is told apart by its bits."""
    return "unknown" if math.isnan(value) else struct.pack("<d", value)


def setUpModule():
    global folder
    folder = tempfile.TemporaryDirectory(prefix="dewpoint-test-")
    subprocess.run([os.environ["WRITE_EXAMPLES"], folder.name], check=True)


def tearDownModule():
    folder.cleanup()


def path(name):
    return os.path.join(folder.name, name)


class ExportTest(unittest.TestCase):
    def assert_same(self, found, expected):
        self.assertEqual([bits(float(x)) for x in found], [bits(x) for x in expected])

    def assert_provenance(self, study):
        self.assertEqual(study["experiment"], "phase")
        self.assertEqual(int(study["seed"]), 2**64 - 1)
        self.assertEqual(study["version"], "0.1.0+a1b2c3d4e5")
        self.assertEqual(study["command"], "dewpoint run phase.toml")
        self.assertEqual(study["created"], "2026-01-31T12:00:00Z")
        parameters = study["parameters"]
        if isinstance(parameters, str):
            parameters = json.loads(parameters)
        self.assertEqual(parameters, {"tokens": "equicorrelated", "note": 'a "b", c'})


class CsvTest(ExportTest):
    def rows(self, name):
        with open(path(name), newline="", encoding="utf-8") as file:
            return list(csv.DictReader(file))

    def column(self, rows, name):
        return [float(row[name]) if row[name] else nan for row in rows]

    def test_every_number_of_the_main_table(self):
        rows = self.rows("one.csv")
        self.assertEqual([(float(r["n"]), r["law"]) for r in rows], [PLACES[k] for k in KNOWN])
        for name, values in [("contraction", CONTRACTION), ("contraction_se", CONTRACTION_SE),
                             ("beta_dew", BETA_DEW), ("beta_dew_se", BETA_DEW_SE),
                             ("contraction_theory", THEORY)]:
            self.assert_same(self.column(rows, name), [values[k] for k in KNOWN])
        self.assertEqual([int(r["samples"]) for r in rows], [SAMPLES[k] for k in KNOWN])

    def test_other_dimensions_have_their_own_tables(self):
        rows = self.rows("one-n-law-rank.csv")
        self.assert_same(self.column(rows, "weight"), WEIGHT[:4])
        self.assertEqual([r["rank"] for r in rows], ["1", "2", "1", "2"])
        self.assert_same(self.column(self.rows("one-n.csv"), "top_count"), [3.0, 7.25])
        self.assert_same(self.column(self.rows("one-scalars.csv"), "total"), [42.0])

    def test_several_frames(self):
        with open(path("two-phase.csv"), "rb") as two, open(path("one.csv"), "rb") as one:
            self.assertEqual(two.read(), one.read())
        self.assert_same(self.column(self.rows("two-critical_lines.csv"), "simplex_gamma"),
                         [1.0, 2.0, 4.0])
        self.assertFalse(os.path.exists(path("two.csv")))

    def test_a_file_beside_says_where_the_tables_come_from(self):
        with open(path("two.csv.json"), encoding="utf-8") as file:
            beside = json.load(file)
        self.assert_provenance(beside["study"])
        for name, table in beside["tables"].items():
            with open(path(name), newline="", encoding="utf-8") as file:
                self.assertEqual(next(csv.reader(file)), list(table["columns"]))

    def test_names_that_clash_or_are_not_text(self):
        rows = self.rows("odd.csv")
        self.assertEqual([r["μ"] for r in rows], ["été", "\ufffd", ""] * 2)
        self.assert_same(self.column(rows, "2x"), [0.0, 1.0, 2.0, 3.0, 4.0, 5.0])
        # Its own dimensions are the other way round.
        self.assert_same(self.column(rows, "y"), [0.0, 20.0, 40.0, 10.0, 30.0, 50.0])
        self.assert_same(self.column(self.rows("odd-a_b.csv"), "a/b_2"), [1.0, 2.0])
        self.assertEqual(self.rows("odd-nowhere.csv"), [])


@unittest.skipUnless(pandas, "pandas " + PYTHON)
class PandasTest(ExportTest):
    def test_a_table_is_read_without_options(self):
        table = pandas.read_csv(path("one.csv"))
        self.assertEqual(table["n"].dtype, "int64")
        self.assertEqual(table["samples"].dtype, "int64")
        self.assertEqual(table["contraction"].dtype, "float64")
        self.assertEqual(table["law"].tolist(), [LAWS[k % 3] for k in KNOWN])
        self.assertTrue(math.isinf(table["beta_dew"][0]) and table["beta_dew"][1] == -inf)

    # Without this option pandas reads faster and may miss the last bit.
    def test_every_bit_comes_back_with_the_option_round_trip(self):
        table = pandas.read_csv(path("one.csv"), float_precision="round_trip")
        for name, values in [("contraction", CONTRACTION), ("contraction_se", CONTRACTION_SE),
                             ("beta_dew", BETA_DEW), ("beta_dew_se", BETA_DEW_SE),
                             ("contraction_theory", THEORY)]:
            self.assert_same(table[name], [values[k] for k in KNOWN])

    def test_tables_join_by_their_axes(self):
        joined = pandas.read_csv(path("one-n-law-rank.csv")).merge(
            pandas.read_csv(path("one.csv")), on=["n", "law"])
        self.assertEqual(joined["contraction"].tolist(), [0.1, 0.1, 0.0, 0.0])

    def test_json_lines_flatten(self):
        with open(path("one.jsonl"), encoding="utf-8") as file:
            next(file)
            table = pandas.json_normalize([json.loads(line) for line in file])
        self.assertEqual(table["contraction.mean"][0], 0.1)
        self.assertEqual(table["weight.samples"].dropna().tolist(), [1, 2, 3, 4])


class SqliteTest(ExportTest):
    @unittest.skipUnless(os.path.exists("/usr/bin/sqlite3"), "the program sqlite3 is not installed")
    def test_the_program_imports_a_table(self):
        script = ".mode csv\n.import '%s' phase\nSELECT law, contraction FROM phase WHERE n = '128';"
        result = subprocess.run(["/usr/bin/sqlite3", ":memory:"], input=script % path("one.csv"),
                                capture_output=True, text=True, check=True)
        self.assertEqual(list(csv.reader(result.stdout.splitlines())),
                         [["plain", "0.1"], ["a, b", "-0.0"], ['say "dew"', ""]])

    def test_json_functions_read_the_lines(self):
        database = sqlite3.connect(":memory:")
        database.execute("CREATE TABLE line (text)")
        with open(path("two.jsonl"), encoding="utf-8") as file:
            database.executemany("INSERT INTO line VALUES (?)", ((line,) for line in file))
        found = database.execute(
            "SELECT json_extract(text, '$.simplex_gamma') FROM line "
            "WHERE json_extract(text, '$.frame') = 'critical_lines' ORDER BY rowid").fetchall()
        self.assertEqual(found, [(1,), (2,), (4,)])


class JsonLinesTest(ExportTest):
    def lines(self, name):
        def refuse(constant):
            self.fail("%s is not JSON" % constant)

        with open(path(name), encoding="utf-8") as file:
            return [json.loads(line, parse_constant=refuse) for line in file]

    def number(self, row, name, field):
        key = name if field in ("mean", None) else name + "." + field
        if key in row.get("infinite", {}):
            return row["infinite"][key] * inf
        value = row[name] if field is None else row[name][field]
        return nan if value is None else value

    def test_every_number(self):
        head, *rows = self.lines("one.jsonl")
        self.assert_provenance(head["study"])
        cells = [row for row in rows if "contraction" in row]
        self.assertEqual([(r["n"], r["law"]) for r in cells], [PLACES[k] for k in KNOWN])
        for name, field, values in [("contraction", "mean", CONTRACTION),
                                    ("contraction", "se", CONTRACTION_SE),
                                    ("beta_dew", "mean", BETA_DEW), ("beta_dew", "se", BETA_DEW_SE),
                                    ("contraction_theory", None, THEORY)]:
            self.assert_same([self.number(row, name, field) for row in cells],
                             [values[k] for k in KNOWN])
        self.assertEqual([r["beta_dew"]["samples"] for r in cells], [SAMPLES[k] for k in KNOWN])
        self.assert_same([r["weight"]["mean"] for r in rows if "weight" in r], WEIGHT[:4])
        self.assertEqual(rows[-1]["total"], {"mean": 42, "se": None, "samples": 1})

    def test_every_row_names_its_frame(self):
        rows = self.lines("two.jsonl")[1:]
        self.assertEqual([row["frame"] for row in rows], ["phase"] * 12 + ["critical_lines"] * 3)


@unittest.skipUnless(numpy, "numpy " + PYTHON)
class NumPyTest(ExportTest):
    def load(self, name):
        archive = numpy.load(path(name), allow_pickle=False)
        self.addCleanup(archive.close)
        return archive

    def assert_array(self, array, shape, values):
        self.assertEqual((array.dtype, array.shape), (numpy.dtype("<f8"), shape))
        self.assertTrue(array.flags.c_contiguous)
        self.assert_same(array.ravel(), values)

    def test_every_array(self):
        file = self.load("one.npz")
        self.assert_array(file["n"], (2,), [128.0, 512.0])
        self.assertEqual((file["law"].dtype.str, file["law"].tolist()), ("<U9", LAWS))
        for name, values in [("contraction", CONTRACTION), ("contraction_se", CONTRACTION_SE),
                             ("beta_dew", BETA_DEW), ("beta_dew_se", BETA_DEW_SE),
                             ("contraction_theory", THEORY)]:
            self.assert_array(file[name], (2, 3), values)
        self.assertEqual(file["contraction_samples"].dtype, numpy.dtype("<i8"))
        self.assertEqual(file["contraction_samples"].ravel().tolist(), SAMPLES)
        self.assert_array(file["weight"], (2, 3, 2), WEIGHT)
        self.assert_array(file["total"], (), [42.0])
        self.assertNotIn("contraction_theory_se", file.files)

    def test_metadata_say_which_dimensions(self):
        metadata = json.loads(str(self.load("one.npz")["dewpoint_metadata"]))
        self.assert_provenance(metadata["study"])
        variables = metadata["frames"][0]["variables"]
        self.assertEqual(variables["weight"],
                         {"dimensions": ["n", "law", "rank"], "role": "measured",
                          "standard_error": "weight_se", "samples": "weight_samples"})
        self.assertEqual(variables["contraction_theory"],
                         {"dimensions": ["n", "law"], "role": "predicted"})

    def test_several_frames(self):
        file = self.load("two.npz")
        self.assert_array(file["critical_lines/simplex_gamma"], (3,), [1.0, 2.0, 4.0])
        self.assert_array(file["phase/contraction"], (2, 3), CONTRACTION)
        for frame in json.loads(str(file["dewpoint_metadata"]))["frames"]:
            for name, variable in frame["variables"].items():
                shape = tuple(len(file[dimension]) for dimension in variable["dimensions"])
                self.assertEqual(file[name].shape, shape)

    def test_names_that_clash_or_are_not_text(self):
        file = self.load("odd.npz")
        self.assertEqual(file["μ"].tolist(), ["été", "\ufffd", ""])
        self.assert_array(file["a_b"], (2,), [1.0, 2.0])
        self.assert_array(file["a_b_2"], (2,), [1.0, 2.0])
        self.assert_array(file["y"], (3, 2), [0.0, 10.0, 20.0, 30.0, 40.0, 50.0])
        self.assert_array(file["nowhere"], (0,), [])


@unittest.skipUnless(xarray, "xarray with netCDF4 " + PYTHON)
class XarrayTest(ExportTest):
    def open(self, name, **options):
        dataset = xarray.open_dataset(path(name), **options)
        self.addCleanup(dataset.close)
        return dataset

    def assert_array(self, array, dimensions, values):
        self.assertEqual(array.dims, dimensions)
        self.assertEqual(array.dtype, "float64")
        self.assert_same(array.values.ravel(), values)

    def test_every_variable(self):
        data = self.open("one.nc")
        self.assertEqual(set(data.coords), {"n", "law", "rank"})
        self.assertEqual(data["law"].values.tolist(), LAWS)
        for name, values in [("contraction", CONTRACTION), ("contraction_se", CONTRACTION_SE),
                             ("beta_dew", BETA_DEW), ("beta_dew_se", BETA_DEW_SE),
                             ("contraction_theory", THEORY)]:
            self.assert_array(data[name], ("n", "law"), values)
        self.assertEqual(data["contraction_samples"].dtype, "int64")
        self.assertEqual(data["contraction_samples"].values.ravel().tolist(), SAMPLES)
        self.assert_array(data["weight"], ("n", "law", "rank"), WEIGHT)
        self.assert_array(data["total"], (), [42.0])

    def test_points_are_found_by_their_coordinates(self):
        data = self.open("one.nc")
        self.assertEqual(float(data["contraction"].sel(n=128, law="plain")), 0.1)
        self.assertEqual(float(data["weight"].sel(n=128, law="a, b", rank=2)), 0.25)
        self.assertEqual(float(data["top_count"].sel(n=400, method="nearest")), 7.25)

    def test_attributes(self):
        data = self.open("one.nc")
        self.assert_provenance(data.attrs)
        self.assertEqual(data.attrs["frame"], "phase")
        self.assertEqual(data["beta_dew"].attrs["ancillary_variables"],
                         "beta_dew_se beta_dew_samples")
        self.assertEqual(data["beta_dew_se"].attrs["long_name"], "standard error of dew point β_dew")
        self.assertTrue(math.isnan(data["beta_dew"].encoding["_FillValue"]))
        self.assertNotIn("_FillValue", data["n"].encoding)

    def test_several_frames_are_groups(self):
        self.assert_array(self.open("two.nc", group="phase")["contraction"], ("n", "law"),
                          CONTRACTION)
        self.assert_array(self.open("two.nc", group="critical_lines")["simplex_gamma"], ("rho",),
                          [1.0, 2.0, 4.0])
        self.assert_provenance(self.open("two.nc").attrs)

    def test_names_that_clash_or_that_netcdf_does_not_allow(self):
        data = self.open("odd.nc")
        self.assertEqual(data["μ"].values.tolist(), ["été", "\ufffd", ""])
        self.assert_array(data["a_b"], ("a_b",), [1.0, 2.0])
        self.assert_array(data["a_b_2"], ("a_b",), [1.0, 2.0])
        self.assert_array(data["_2x"], ("a_b", "μ"), [0.0, 1.0, 2.0, 3.0, 4.0, 5.0])
        self.assert_array(data["y"], ("μ", "a_b"), [0.0, 10.0, 20.0, 30.0, 40.0, 50.0])
        self.assertEqual(data["none"].shape, (0,))
        self.assertEqual(data["_2x"].attrs["long_name"], "2x")

    # Readers of the same file must agree: the NumPy export through another library and format.
    @unittest.skipUnless(numpy, "numpy " + PYTHON)
    def test_netcdf_and_npz_hold_the_same(self):
        data = self.open("one.nc")
        with numpy.load(path("one.npz")) as file:
            for name in set(file.files) - {"dewpoint_metadata", "law"}:
                numpy.testing.assert_array_equal(data[name].values, file[name], name)


if __name__ == "__main__":
    unittest.main()
