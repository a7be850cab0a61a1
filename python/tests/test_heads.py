"""Heads from arrays: what a dump of the same numbers gives.

SPDX-License-Identifier: Apache-2.0
"""

import pathlib

import numpy
import pytest

import dewpoint as dp
from as_json import as_json

OPTIONS = dict(rows=64, replicates=40, beta=[0.5, 2.0], schedule=["log-n"], train_length=32)
WORDS = ["--rows", "64", "--replicates", "40", "--beta", "0.5,2.0", "--schedule", "log-n",
         "--train-length", "32"]


def draw(*shape):
    return numpy.random.default_rng(sum(shape)).normal(size=shape)


def numbers(result):
    """All numbers of a result, whatever its input was called."""
    return {name: numpy.asarray(one.mean).tobytes() for name, one in result.frame.items()}


@pytest.fixture
def layer():
    return draw(4, 128, 8).astype("float32"), draw(2, 128, 8).astype("float32")


def test_arrays_give_what_a_dump_gives(layer, program, tmp_path):
    q, k = layer
    numpy.savez(tmp_path / "dump.npz", q=q, k=k)
    found = dp.heads(q, k, **OPTIONS)
    stored = dp.heads(tmp_path / "dump.npz", **OPTIONS)
    assert numbers(found) == numbers(stored)
    printed = program("heads", str(tmp_path / "dump.npz"), *WORDS)
    assert as_json(found["heads"]) == printed["heads"]
    assert len(found["heads"]) == 4


def test_several_layers(layer):
    q, k = layer
    both = dp.heads([q, 2 * q], [k, k], rows=32, replicates=40)
    named = dp.heads({0: q, 1: 2 * q}, {0: k, 1: k}, rows=32, replicates=40)
    assert numbers(both) == numbers(named)
    assert len(both["heads"]) == 8


@pytest.mark.parametrize("dtype", ["float16", "float64"])
def test_types_are_taken_as_they_are(layer, dtype):
    q, k = (array.astype(dtype) for array in layer)
    assert numbers(dp.heads(q, k, rows=32, replicates=40)) == numbers(
        dp.heads(q.astype("float32"), k.astype("float32"), rows=32, replicates=40))


def test_bfloat16_as_whole_numbers(layer):
    def halves(array):  # the upper halves of float32 are bfloat16, rounded towards zero
        return numpy.ascontiguousarray(array.view("uint16")[..., 1::2])

    def widened(array):
        return (halves(array).astype("uint32") << 16).view("float32")

    q, k = layer
    found = dp.heads(halves(q), halves(k), dtype="bf16", rows=32, replicates=40)
    assert numbers(found) == numbers(dp.heads(widened(q), widened(k), rows=32, replicates=40))


def test_layouts(layer):
    q, k = layer
    turned = [numpy.ascontiguousarray(array.transpose(1, 0, 2)) for array in layer]
    assert numbers(dp.heads(*turned, layout="NHD", rows=32, replicates=40)) == numbers(
        dp.heads(q, k, rows=32, replicates=40))


def test_a_study_of_heads_can_be_fitted(layer, tmp_path):
    q, k = layer
    file = tmp_path / "heads.study"
    dp.heads(3 * q, k, rows=64, replicates=40, output=file)
    fit = dp.scale.fit(file, train_length=64, target=[128])
    assert fit["train_length"] == 64 and fit["targets"] == [128.0]


def test_a_model_by_its_name(program):
    data = pathlib.Path(__file__).parents[3] / "shared" / "data"
    model, text = data / "stories260K" / "stories260K.bin", data / "tinystories" / "val.txt"
    if not (model.exists() and text.exists()):
        pytest.skip("stories260K and tinystories are not in ../shared/data beside the project")
    found = dp.heads(model, text=text, length=256, rows=32, replicates=40)
    printed = program("heads", str(model), "--text", str(text), "--length", "256", "--rows", "32",
                      "--replicates", "40")
    assert as_json(found["heads"]) == printed["heads"]


@pytest.mark.parametrize("call, kind, words", [
    (lambda q, k: dp.heads(q), TypeError, "k: is needed beside an array q"),
    (lambda q, k: dp.heads(q, [k]), ValueError, "arrays"),
    (lambda q, k: dp.heads(q, k[:, :, :4].copy()), ValueError, "k"),
    (lambda q, k: dp.heads(q, k[:, :, ::2]), ValueError, "k: its numbers do not follow"),
    (lambda q, k: dp.heads(q[0, 0], k), ValueError, "q"),
    (lambda q, k: dp.heads(q.astype(complex), k), TypeError, "q: numbers of format 'Zd'"),
    (lambda q, k: dp.heads(numpy.where(q > 2, numpy.nan, q), k), ValueError, "q"),
    (lambda q, k: dp.heads(q, k, scale=-1.0), ValueError, "scale: -1 is not a number above 0"),
    (lambda q, k: dp.heads(q, k, layout="DNH"), ValueError, "layout: found 'DNH'"),
    (lambda q, k: dp.heads(q, k, text="story.txt"), ValueError, "text: has no effect on a dump"),
    (lambda q, k: dp.heads(q, k, txt="story.txt"), TypeError, "txt: heads() has no such argument"),
])
def test_what_is_wrong_is_named(layer, call, kind, words):
    with pytest.raises(kind) as caught:
        call(*layer)
    message = str(caught.value)
    assert words in message and "\n" not in message, message
