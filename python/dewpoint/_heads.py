"""Heads of real models: diffuse, critical or condensed?

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import os
from typing import Any, Mapping, Sequence

from . import _core, verbs
from ._call import Path, Progress, Values, ask
from .results import Result


def _named(argument: str, given: Any) -> dict[str, Any]:
    """Arrays by their names in a dump: one layer, or several by number or in order."""
    if isinstance(given, Mapping):
        return {f"layers.{layer}.{argument}": array for layer, array in given.items()}
    if isinstance(given, (list, tuple)):
        return {f"layers.{layer}.{argument}": array for layer, array in enumerate(given)}
    return {argument: given}


class Heads:
    """`dp.heads(q, k)` or `dp.heads("dump.safetensors")`; beside it `sweep`."""

    @staticmethod
    def __call__(q: Any, k: Any = None, *, sink: Any = None, dtype: str | None = None,
                 positions: str | None = None, m_applied: float | None = None,
                 layout: str | None = None, scale: float | None = None, causal: bool = True,
                 window: int | None = None, softcap: float | None = None,
                 beta: Values | None = None, schedule: Sequence[str] | None = None,
                 train_length: int | None = None, rows: int = 512, replicates: int = 400,
                 output: Path | None = None, seed: int = 1, threads: int = 0,
                 progress: Progress = None, **model: Any) -> Result:
        r"""The phase of every head: where :math:`\tau m \langle q, k\rangle` stands beside the dew
        point of its rows, how that grows with the visible keys, and which multiplier keeps it.

        `q` [H, n, d] and `k` [Hk, n, d] are arrays after the rotation, of one layer or of several
        (a list, or a dictionary by layer number); H is a multiple of Hk. float32, float16, bfloat16
        and float64 are read where they are; `dtype="bf16"` says that uint16 numbers are bfloat16.
        `scale` is :math:`\tau`, :math:`1/\sqrt d` where it is not given. `layout` names the axes:
        HND, NHD, BHND or BNHD.

        `q` may also be the name of a dump or a checkpoint; then `model` takes the other options of
        `dewpoint heads`: text, ids, tokenizer, length, sequences, rope, perplexity, dump.

        >>> import random
        >>> from array import array
        >>> import dewpoint as dp
        >>> draw = random.Random(1).gauss
        >>> def cloud():
        ...     numbers = array("f", [draw(0, 1) for _ in range(1 * 160 * 8)])
        ...     return memoryview(numbers).cast("B").cast("f", (1, 160, 8))
        >>> result = dp.heads(cloud(), cloud(), rows=32, replicates=40)
        >>> [head["verdicts"]["1"]["phase"] for head in result["heads"]]
        ['diffuse']
        """
        values = {"layout": layout, "scale": scale, "no_causal": not causal, "window": window,
                  "softcap": softcap, "beta": beta, "schedule": schedule,
                  "train_length": train_length, "rows": rows, "replicates": replicates,
                  "output": output, "seed": seed, "threads": threads, **model}
        known = {option.name for option in verbs.OPTIONS["heads"]}
        for name in model:
            if name not in known:
                raise TypeError(f"{name}: heads() has no such argument")
        if isinstance(q, (str, os.PathLike)):
            values["input"] = os.fspath(q)
            options = [one for one in verbs.OPTIONS["heads"] if one.name in values]
            return ask("heads", options, values, progress)
        if k is None:
            raise TypeError("k: is needed beside an array q")
        arrays = {**_named("q", q), **_named("k", k)}
        if sink is not None:
            arrays.update(_named("sink", sink))
        facts = {"dtype": dtype, "positions": positions, "m_applied": m_applied}
        metadata = {name: str(value) for name, value in facts.items() if value is not None}
        options = [one for one in verbs.OPTIONS["heads"] if one.name in values]
        return ask("heads", options, values, progress, put=_core.ask_heads, arrays=arrays,
                   metadata=metadata)

    sweep = staticmethod(verbs.heads_sweep)


heads = Heads()
