"""Dewpoint: an instrument for the phase transitions of softmax attention.

>>> import dewpoint as dp
>>> dp.dew([0.0, 1.0, 2.0, 4.0])  # the inverse temperature at which one key holds half the weight
Traceback (most recent call last):
    ...
TypeError: scores: a list is no array; allowed: what has the buffer protocol or __dlpack__, such as a NumPy array or a tensor
>>> from array import array
>>> round(dp.dew(array("d", [0.0, 1.0, 2.0, 4.0])), 6)
0.382245

Every verb of the command line is a function with the same parameters, defaults and numbers:

    dp.phase.point, .map, .depth     one layer, or many, on a cloud of tokens
    dp.condense                      softmax over up to 1e300 Gaussian scores
    dp.query, .heat, .output         one query over n keys
    dp.query.harmonics               particles that all attend to each other
    dp.dew, .laws, .head             where attention condenses
    dp.train                         training on a chain or a text
    dp.heads, .sweep                 heads of real models, from arrays, a dump or a checkpoint
    dp.scale.explain, .fit           what engines do to the logits, and what keeps the phase
    dp.predict.*                     the theory
    dp.verify, .errata               every statement that is checked
    dp.open_study                    what any of them, or `dewpoint run`, has kept

SPDX-License-Identifier: Apache-2.0
"""

from . import phase, predict, scale
from ._core import Array, __version__, as_array
from ._dew import dew
from ._groups import query, verify
from ._heads import heads
from .results import Estimate, Frame, Result, Study, Variable, open_study
from .verbs import condense, train

__all__ = [
    "Array", "Estimate", "Frame", "Result", "Study", "Variable", "__version__", "as_array",
    "condense", "dew", "heads", "open_study", "phase", "predict", "query", "scale", "train",
    "verify",
]
