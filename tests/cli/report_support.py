"""Reads a page that the program wrote, without a browser: the data are JSON inside it."""

import base64
import csv
import json
import math
import re
import struct


def page_data(file):
    with open(file, encoding="utf-8") as page:
        elements = re.findall(r'<script[^>]*\sid="?dewpoint-data"?[^>]*>(.*?)</script>', page.read(),
                              re.DOTALL)
    if len(elements) != 1:
        raise AssertionError(f"{file}: {len(elements)} elements of data")
    return json.loads(elements[0])


def numbers(packed):
    """A row of numbers as floats: null is NaN, "inf" an infinity, many are the bytes of doubles."""
    if isinstance(packed, dict):
        raw = base64.b64decode(packed["float64"])
        return list(struct.unpack(f"<{len(raw) // 8}d", raw))
    return [math.nan if cell is None else float(cell) for cell in packed]


def points_of(figure):
    """{(panel, series): [(x, y), ...]} of lines, {(panel, ""): [(x, y, value), ...]} of heat maps."""
    points = {}
    for panel in figure["panels"]:
        if figure["kind"] == "lines":
            for series in panel["series"]:
                x, y = numbers(series["x"]), numbers(series["y"])
                if x:  # else an entry of the legend only
                    points.setdefault((panel["title"], series["label"]), []).extend(zip(x, y))
            continue
        x, y, z = (numbers(panel[name]) for name in "xyz")
        borrowed = set(panel["borrowed"])
        cells = [(x[k // len(y)], y[k % len(y)], value) for k, value in enumerate(z)
                 if k not in borrowed]
        points.setdefault((panel["title"], ""), []).extend(cells)
    return points


def points_of_csv(file):
    """The same from a figure's CSV; curves of heat maps are left out."""
    points = {}
    with open(file, encoding="utf-8", newline="") as table:
        for row in csv.DictReader(table):
            def number(name):
                return float(row[name]) if row[name] else math.nan
            if "series" in row:
                points.setdefault((row["panel"], row["series"]), []).append(
                    (number("x"), number("y")))
            elif not row["curve"]:
                points.setdefault((row["panel"], ""), []).append(
                    (number("x"), number("y"), number("value")))
    return points


def same(left, right):
    """Equal to the last bit, and NaN where the other is."""
    return repr(sorted(left.items())) == repr(sorted(right.items()))
