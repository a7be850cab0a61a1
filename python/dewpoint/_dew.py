"""Dew points: of scores at hand, of laws of scores, and of a head with all estimators.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

from typing import Any

from . import _core, verbs
from ._call import Progress, ask
from .results import Result


class Dew:
    """`dp.dew(scores)`; beside it `participation`, `accumulation`, `head` and `laws`."""

    @staticmethod
    def __call__(scores: Any, *, threads: int = 0, out: Any = None) -> Any:
        r"""The dew point of every row of scores: the inverse temperature :math:`\beta` where the
        best key holds as much weight as all others together,

        .. math:: \sum_{j \ne \max} e^{-\beta (s_{\max} - s_j)} = 1.

        `scores` is a vector (the answer is a number) or a matrix, a row per query (an Array, or
        `out`). Infinite where the maximum is tied, NaN for fewer than three keys. float64 and
        float32 are read where they are; other types are converted.

        >>> from array import array
        >>> import math, dewpoint as dp
        >>> beta = dp.dew(array("d", [1.0, 0.0, 0.0, 0.0]))  # equal gaps: log(n - 1)
        >>> math.isclose(beta, math.log(3))
        True
        """
        return _core.dew(scores, threads, out)

    @staticmethod
    def participation(scores: Any, *, threads: int = 0) -> float:
        r"""The inverse temperature where the mean over rows of :math:`\sum_j w_j^2` is 1/2.

        >>> from array import array
        >>> import dewpoint as dp
        >>> round(dp.dew.participation(array("d", [1.0, 0.0, 0.0, 0.0])), 6)
        1.866264
        """
        return _core.participation(scores, threads)

    @staticmethod
    def accumulation(scores: Any, *, threads: int = 0) -> float:
        r"""The median over rows of :math:`\sup_t \log N(t)/t`, with N(t) keys less than t below the
        best [Karakida and Hayase, arXiv:2605.12697].

        >>> from array import array
        >>> import math, dewpoint as dp
        >>> math.isclose(dp.dew.accumulation(array("d", [1.0, 0.0, 0.0, 0.0])), math.log(4))
        True
        """
        return _core.accumulation(scores, threads)

    @staticmethod
    def head(scores: Any, *, keep_column: str | None = None, endpoint: float | None = None,
             tail: int = 50, halvings: int = 6, least_keys: int = 100, replicates: int = 400,
             seed: int = 1, threads: int = 0, progress: Progress = None) -> Result:
        """Every estimator of the dew point and of its growth with n, with error bars, from one
        matrix of scores: `dewpoint dew --scores`. Shorter lengths are random hands of the keys.

        >>> import random
        >>> from array import array
        >>> import dewpoint as dp
        >>> draw = random.Random(1).gauss
        >>> scores = memoryview(array("d", [draw(0, 1) for _ in range(50 * 400)])).cast("B").cast("d", (50, 400))
        >>> result = dp.dew.head(scores, replicates=40)
        >>> result["columns"], len(result["lengths"])
        (400, 3)
        """
        values = dict(locals())
        values.pop("scores")
        values.pop("progress")
        options = [one for one in verbs.OPTIONS["dew"] if one.name in values]
        return ask("dew", options, values, progress, scores=scores)

    laws = staticmethod(verbs.dew)


dew = Dew()
