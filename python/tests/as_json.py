"""Results as `--json` prints them.

SPDX-License-Identifier: Apache-2.0
"""

import math

import numpy

import dewpoint as dp


def nested(array, shape):
    values = numpy.asarray(array).tolist()
    return values if shape else numpy.asarray(array)[()].item()


def as_json(value):
    """Content as `--json` prints it: frames spelled out, null for what JSON cannot hold."""
    if isinstance(value, dp.Frame):
        return as_json({
            "name": value.name,
            "dimensions": {name: list(along) if isinstance(along, list)
                           else numpy.asarray(along).tolist()
                           for name, along in value.dimensions.items()},
            "variables": {one.name: {"dimensions": list(one.dimensions),
                                     "mean": nested(one.mean, one.dimensions),
                                     "standard_error": nested(one.standard_error, one.dimensions),
                                     "samples": nested(one.samples, one.dimensions)}
                          for one in value.values()}})
    if isinstance(value, dp.Estimate):
        return as_json(value._asdict())
    if isinstance(value, dict):
        return {name: as_json(one) for name, one in value.items()}
    if isinstance(value, list):
        return [as_json(one) for one in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
