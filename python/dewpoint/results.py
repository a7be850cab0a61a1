"""What functions return: numbers with their errors, over named dimensions.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Iterator, Mapping, NamedTuple, Union

from . import _core
from ._core import Array

if TYPE_CHECKING:
    import numpy
    import pandas
    import xarray

#: Along a dimension: numbers, or names.
Coordinates = Union[Array, "list[str]"]


class Estimate(NamedTuple):
    """A mean, its standard error (NaN: unknown) and the number of samples behind it.

    >>> print(Estimate(0.50102, 0.0045, 16))
    0.5010 ± 0.0045
    >>> float(Estimate(0.50102, 0.0045, 16))
    0.50102
    """

    mean: float
    standard_error: float
    samples: int

    def __float__(self) -> float:
        return float(self.mean)

    def __str__(self) -> str:
        if isinstance(self.mean, str):  # "inf", where ties make a scale infinite
            return self.mean
        return _core.estimate_text(self.mean, self.standard_error, self.samples)


class Variable(NamedTuple):
    """Means, errors and samples over the same dimensions; `numpy.asarray(variable.mean)` copies
    nothing."""

    name: str
    dimensions: tuple[str, ...]
    mean: Array
    standard_error: Array
    samples: Array

    def numpy(self) -> numpy.ndarray:
        """The means, in place."""
        import numpy

        return numpy.asarray(self.mean)

    def estimate(self) -> Estimate:
        """The one number of a variable over no dimensions."""
        if self.dimensions:
            raise ValueError(f"{self.name}: is over {', '.join(self.dimensions)}")
        means, errors, samples = memoryview(self.mean), memoryview(self.standard_error), memoryview(self.samples)
        return Estimate(means[()], errors[()], samples[()])

    def __repr__(self) -> str:
        if not self.dimensions:
            return f"{self.name} = {self.estimate()}"
        return f"{self.name}({', '.join(self.dimensions)})"


class Frame(Mapping[str, Variable]):
    """Named variables over named dimensions: a grid, a trajectory, a table of heads.

    `frame["contraction"].mean` is an array in C order of its dimensions.
    """

    def __init__(self, name: str, dimensions: dict[str, Coordinates],
                 variables: dict[str, Variable]) -> None:
        self.name = name
        self.dimensions = dimensions
        self.variables = variables

    def __getitem__(self, name: str) -> Variable:
        return self.variables[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.variables)

    def __len__(self) -> int:
        return len(self.variables)

    def __repr__(self) -> str:
        extents = ", ".join(f"{name}: {len(along)}" for name, along in self.dimensions.items())
        return f"Frame {self.name} ({extents}) with {', '.join(self.variables)}"

    def table(self) -> dict[str, numpy.ndarray]:
        """A column per dimension and three per variable (x, x_se, x_samples), a line per cell.

        The cells are those of the variables with most dimensions; the others are repeated.
        """
        import numpy

        widest = max(self.variables.values(), key=lambda one: len(one.dimensions)).dimensions
        extents = [len(self.dimensions[name]) for name in widest]
        columns: dict[str, numpy.ndarray] = {}
        for axis, name in enumerate(widest):
            shape = [1] * len(widest)
            shape[axis] = extents[axis]
            along = numpy.asarray(self.dimensions[name]).reshape(shape)
            columns[name] = numpy.broadcast_to(along, extents).reshape(-1)
        for one in self.variables.values():
            if not set(one.dimensions) <= set(widest):
                continue
            shape = [len(self.dimensions[name]) if name in one.dimensions else 1 for name in widest]
            for suffix, values in (("", one.mean), ("_se", one.standard_error),
                                   ("_samples", one.samples)):
                cells = numpy.asarray(values).reshape(shape)
                columns[one.name + suffix] = numpy.broadcast_to(cells, extents).reshape(-1)
        return columns

    def to_pandas(self) -> pandas.DataFrame:
        """table() as a DataFrame, with the dimensions as its index."""
        import pandas

        frame = pandas.DataFrame(self.table())
        index = [name for name in self.dimensions if name in frame.columns]
        return frame.set_index(index) if index else frame

    def to_xarray(self) -> xarray.Dataset:
        """Variables x, x_se and x_samples with their coordinates, as in an exported netCDF."""
        import numpy
        import xarray

        data = {}
        for one in self.variables.values():
            for suffix, values in (("", one.mean), ("_se", one.standard_error),
                                   ("_samples", one.samples)):
                data[one.name + suffix] = (one.dimensions, numpy.asarray(values))
        coordinates = {name: numpy.asarray(along) for name, along in self.dimensions.items()}
        return xarray.Dataset(data, coordinates, attrs={"name": self.name})


def _frames_within(content: Any) -> Iterator[Frame]:
    if isinstance(content, Frame):
        yield content
    elif isinstance(content, dict):
        for value in content.values():
            yield from _frames_within(value)
    elif isinstance(content, list):
        for value in content:
            yield from _frames_within(value)


class Result(Mapping[str, Any]):
    """The answer of a verb: what `--json` prints, with frames and estimates as objects.

    `result["theory"]` or `result.theory`; names of observables and of variables of the first frame
    work too. `print(result)` shows what the command line shows, and `result.command` is that
    command.
    """

    def __init__(self, command: str, content: dict[str, Any], text: str,
                 frames: list[Frame]) -> None:
        self.command = command
        self.content = content
        self.text = text
        self.frames = list(_frames_within(content)) + frames

    @property
    def frame(self) -> Frame:
        """The first frame: what was measured."""
        if not self.frames:
            raise ValueError(f"'{self.command}' has no frame")
        return self.frames[0]

    def _find(self, name: str) -> Any:
        if name in self.content:
            return self.content[name]
        observables = self.content.get("observables", {})
        if name in observables:
            return observables[name]
        for frame in self.frames:
            if frame.name == name:
                return frame
        if self.frames and name in self.frames[0]:
            variable = self.frames[0][name]
            return variable if variable.dimensions else variable.estimate()
        raise KeyError(name)

    def __getitem__(self, name: str) -> Any:
        return self._find(name)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name in ("content", "frames", "command", "text"):
            raise AttributeError(name)
        try:
            return self._find(name)
        except KeyError:
            raise AttributeError(f"'{self.command}' has no '{name}'") from None

    def __iter__(self) -> Iterator[str]:
        return iter(self.content)

    def __len__(self) -> int:
        return len(self.content)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self.content]

    def __repr__(self) -> str:
        return self.text.rstrip("\n")

    def table(self) -> dict[str, numpy.ndarray]:
        """Of the first frame; see Frame.table."""
        return self.frame.table()

    def to_pandas(self) -> pandas.DataFrame:
        """Of the first frame; see Frame.to_pandas."""
        return self.frame.to_pandas()

    def to_xarray(self) -> xarray.Dataset:
        """Of the first frame, with the command as an attribute; see Frame.to_xarray."""
        return self.frame.to_xarray().assign_attrs(command=self.command)


class Study(Mapping[str, Frame]):
    """A study file: its frames by name, and where they came from."""

    def __init__(self, path: str, record: dict[str, Any]) -> None:
        self.path = path
        self.experiment: str = record["experiment"]
        self.seed: int = record["seed"]
        self.version: str = record["version"]
        self.command: str = record["command"]
        self.created: str = record["created"]
        self.parameters: dict[str, str] = record["parameters"]
        self.frames: dict[str, Frame] = record["frames"]
        self.attachments: dict[str, bytes] = record["attachments"]

    def __getitem__(self, name: str) -> Frame:
        return self.frames[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.frames)

    def __len__(self) -> int:
        return len(self.frames)

    def __repr__(self) -> str:
        lines = [f"Study {self.path}: {self.experiment}, seed {self.seed}, version {self.version}",
                 f"  {self.command}"]
        return "\n".join(lines + [f"  {frame!r}" for frame in self.frames.values()])

    @property
    def frame(self) -> Frame:
        """The first frame: what was measured."""
        return next(iter(self.frames.values()))

    def to_pandas(self, frame: str | None = None) -> pandas.DataFrame:
        """Of this frame, or of the first."""
        return (self.frame if frame is None else self[frame]).to_pandas()

    def to_xarray(self, frame: str | None = None) -> xarray.Dataset:
        """Of this frame, or of the first, with the study's parameters as attributes."""
        data = (self.frame if frame is None else self[frame]).to_xarray()
        return data.assign_attrs(self.parameters, experiment=self.experiment, seed=self.seed,
                                 version=self.version, command=self.command)


def open_study(path: str | os.PathLike[str]) -> Study:
    """Reads a study, finished or still running.

    >>> import dewpoint as dp, tempfile, os
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = os.path.join(folder, "map.study")
    ...     _ = dp.phase.map(n=32, rho="0.2,0.5", gamma="1,2", output=file, no_figure=True)
    ...     study = dp.open_study(file)
    >>> study.experiment, list(study)
    ('phase', ['phase'])
    """
    name = os.fspath(path)
    return Study(name, _core.read_study(name))
