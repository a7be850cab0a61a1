"""From a Python call to the words of a verb, and from its answer to a Result.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import math
import operator
import os
import re
import shlex
import sys
import time
from typing import Any, Callable, Mapping, NamedTuple, Sequence, Union

from . import _core
from .results import Result

#: A list of numbers: 0.5, [0.1, 0.2], an array, or as on the command line "0:0.95:20".
Values = Union[str, float, Sequence[float]]
#: The name of a file.
Path = Union[str, "os.PathLike[str]"]
#: True for a line on standard error, or a function of the share that is done and of what is done.
Progress = Union[bool, None, Callable[[float, str], Any]]


class Option(NamedTuple):
    """A parameter of a verb."""

    name: str  # in Python
    word: str  # on the command line: "--rho-inner"; "" for an argument without a name
    kind: str  # "whole", "number", "text" or "flag"
    default: Any
    several: bool = False
    commas: bool = False
    silent: bool = False  # None must be said, because the verb has a default of its own


class ProgressLine:
    """Rewrites one line on standard error; silent for the first second."""

    def __init__(self) -> None:
        self._start = time.monotonic()
        self._shown = False

    def __call__(self, share: float, label: str) -> None:
        if time.monotonic() - self._start < 1.0:
            return
        self._shown = True
        print(f"\r{label}: {100 * share:3.0f} %", end="", file=sys.stderr, flush=True)

    def close(self) -> None:
        if self._shown:
            print(file=sys.stderr)


# ---- values as words ----------------------------------------------------------------------------


def _whole(name: str, value: Any) -> str:
    if name == "seed" and value == "random":
        return value
    if isinstance(value, bool):
        raise TypeError(f"{name}: {value!r} is no whole number")
    try:
        return str(operator.index(value))
    except TypeError:
        pass
    number = float(_number(name, value))
    if number != math.floor(number):
        raise ValueError(f"{name}: {value!r} is no whole number")
    return str(int(number))


def _number(name: str, value: Any) -> str:
    if isinstance(value, (str, bytes, bool)) or value is None:
        raise TypeError(f"{name}: {value!r} is no number")
    try:
        number = float(value)
    except (TypeError, ValueError) as error:
        raise TypeError(f"{name}: {value!r} is no number") from error
    if not math.isfinite(number):
        raise ValueError(f"{name}: {number} is not finite")
    text = repr(number)
    return text[:-2] if text.endswith(".0") else text


def _text(name: str, value: Any) -> str:
    if isinstance(value, (str, os.PathLike)):
        return os.fspath(value)
    if isinstance(value, (bytes, bool, dict)) or value is None:
        raise TypeError(f"{name}: {value!r} is neither a text nor numbers")
    if hasattr(value, "__len__") and not hasattr(value, "__float__") or hasattr(value, "tolist"):
        items = value.tolist() if hasattr(value, "tolist") else list(value)
        if isinstance(items, list):
            return ",".join(_number(name, item) for item in items)
    return _number(name, value)


_WRITERS = {"whole": _whole, "number": _number, "text": _text}


def _words_of(option: Option, value: Any) -> list[str]:
    if option.kind == "flag":
        if not isinstance(value, bool):
            raise TypeError(f"{option.name}: {value!r} is neither True nor False")
        return [option.word]
    write = _WRITERS[option.kind]
    single = isinstance(value, (str, os.PathLike)) or not hasattr(value, "__len__")
    if not option.several or single:
        texts = [write(option.name, value)]
    else:
        texts = [write(option.name, item) for item in value]
    if option.commas:
        texts = [",".join(texts)]
    return [word for text in texts for word in _pair(option.word, text)]


def _pair(word: str, text: str) -> list[str]:
    if not word:
        return [text]
    return [f"{word}={text}"] if text.startswith("-") else [word, text]


def _is_default(option: Option, value: Any) -> bool:
    return value is None or (type(value) is type(option.default) and value == option.default)


def words_of(verb: str, options: Sequence[Option], values: Mapping[str, Any]) -> list[str]:
    """The command line without `dewpoint`; what is as by default is left out."""
    words = verb.split()
    for option in options:
        value = values[option.name]
        if value is None and option.silent:
            words += [option.word, ""]
        if not _is_default(option, value):
            words += _words_of(option, value)
    return words


# ---- asking -------------------------------------------------------------------------------------

_OPTION = re.compile(r"^(?:--)?([a-z][a-z0-9-]*)(?=[: ])|(?<![\w-])--([a-z][a-z0-9-]*)")


def _in_python(message: str, options: Sequence[Option]) -> str:
    """Parameters by their names here: rho_inner, not --rho-inner."""
    names = {option.word[2:]: option.name for option in options if option.word}

    def renamed(match: re.Match[str]) -> str:
        word = match.group(1) or match.group(2)
        return names.get(word, match.group(0))

    return _OPTION.sub(renamed, message)


def listener_of(progress: Progress) -> Any:
    if progress is None or progress is False:
        return None
    if progress is True:
        return ProgressLine()
    if not callable(progress):
        raise TypeError(f"progress: {progress!r} is neither True, False nor a function")
    return progress


def ask(verb: str, options: Sequence[Option], values: Mapping[str, Any], progress: Progress,
        put: Callable[..., Any] = _core.ask, **arrays: Any) -> Result:
    """The verb's answer; `put` asks, with arrays in the place of files."""
    words = words_of(verb, options, values)
    listener = listener_of(progress)
    try:
        content, text, frames = put(words, progress=listener, **arrays)
    except ValueError as error:
        raise ValueError(_in_python(str(error), options)) from None
    finally:
        if isinstance(listener, ProgressLine):
            listener.close()
    return Result("dewpoint " + shlex.join(words), content, text, frames)


def call(verb: str, options: Sequence[Option], values: Mapping[str, Any]) -> Result:
    """What the functions of verbs.py do. `tokens` may be an array."""
    values = dict(values)
    progress = values.pop("progress")
    tokens = values.get("tokens")
    if tokens is None or isinstance(tokens, (str, os.PathLike)):
        return ask(verb, options, values, progress)
    values["tokens"] = "array"
    return ask(verb, options, values, progress, tokens=tokens)
