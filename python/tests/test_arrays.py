"""Arrays pass in both directions without a copy, and bad ones are named.

SPDX-License-Identifier: Apache-2.0
"""

import gc
import math
import resource

import numpy
import pytest

import dewpoint as dp


def scores(shape=(5, 40), dtype=float):
    return numpy.random.default_rng(1).normal(size=shape).astype(dtype)


def reference_dew(row):
    """Bisection on the definition; 200 halvings end at the last bit."""
    gaps = numpy.delete(row.max() - row, row.argmax())
    low, high = 0.0, 1.0
    while numpy.exp(-high * gaps).sum() > 1.0:
        high *= 2.0
    for _ in range(200):
        middle = (low + high) / 2.0
        low, high = (middle, high) if numpy.exp(-middle * gaps).sum() > 1.0 else (low, middle)
    return (low + high) / 2.0


# ---- in -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "int32", "uint64"])
def test_an_array_is_seen_where_it_is(dtype):
    given = numpy.arange(12).reshape(3, 4).astype(dtype)
    seen = dp.as_array(given)
    assert seen.pointer == given.ctypes.data
    assert (seen.shape, seen.strides, seen.dtype) == (given.shape, given.strides, dtype)


def test_rows_may_lie_apart():
    wide = scores((6, 100))
    part = wide[::2, 10:50]
    assert dp.as_array(part).pointer == part.ctypes.data
    assert list(numpy.asarray(dp.dew(part))) == [dp.dew(row) for row in part.copy()]


def test_dlpack_is_read_in_place():
    class OnlyDlpack:
        def __init__(self, array):
            self.array = array

        def __dlpack__(self):
            return self.array.__dlpack__()

        def __dlpack_device__(self):
            return self.array.__dlpack_device__()

    given = scores()
    seen = dp.as_array(OnlyDlpack(given))
    assert seen.pointer == given.ctypes.data
    assert list(numpy.asarray(dp.dew(OnlyDlpack(given)))) == list(numpy.asarray(dp.dew(given)))
    expected = numpy.asarray(seen).copy()
    del given
    gc.collect()
    assert (numpy.asarray(seen) == expected).all()  # the capsule keeps the memory


def test_tensors_of_pytorch():
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    given = torch.randn(4, 30, dtype=torch.float64)
    assert dp.as_array(given).pointer == given.data_ptr()
    half = given.to(torch.bfloat16)
    seen = dp.as_array(half)
    assert (seen.dtype, seen.pointer) == ("bfloat16", half.data_ptr())
    assert list(numpy.asarray(dp.dew(half))) == list(numpy.asarray(dp.dew(half.double().numpy())))
    back = torch.from_dlpack(dp.dew(given))
    assert back.shape == (4,)


def test_arrays_of_jax():
    jax = pytest.importorskip("jax", reason="JAX is not installed")
    given = jax.numpy.asarray(scores(dtype="float32"))
    assert list(numpy.asarray(dp.dew(given))) == list(numpy.asarray(dp.dew(numpy.asarray(given))))


def test_read_only_arrays_can_be_read():
    given = scores()
    given.flags.writeable = False
    assert dp.as_array(given).writable is False
    assert len(dp.dew(given)) == 5


# ---- out ----------------------------------------------------------------------------------------


def test_numpy_shares_the_memory_of_results():
    found = dp.dew(scores())
    assert numpy.asarray(found).ctypes.data == found.pointer
    assert numpy.from_dlpack(found).ctypes.data == found.pointer
    assert memoryview(found).format == "d"


def test_results_outlive_what_they_came_from():
    found = dp.phase.map(n=16, rho=[0.2, 0.5], gamma=[1, 2], eta="none")
    means = numpy.asarray(found.frame["contraction"].mean)
    expected = means.copy()
    del found
    gc.collect()
    assert (means == expected).all()


def resident_bytes():
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * resource.getpagesize()


def test_an_unused_capsule_frees_its_memory():
    given = scores((100_000, 3))
    dp.dew(given).__dlpack__()
    before = resident_bytes()
    for _ in range(100):
        dp.dew(given).__dlpack__()
    # Kept, they would be 100 times 0.8 MB.
    assert resident_bytes() - before < 40e6


# ---- dew points ---------------------------------------------------------------------------------


def test_dew_points_are_those_of_the_definition():
    given = scores()
    # kDewPointError = 1e-13 of the library; the bisection's sum of 39 terms has 39 roundings of
    # 1.1e-16, and the root is no worse conditioned than that (dew_point.hpp).
    for row, beta in zip(given, numpy.asarray(dp.dew(given))):
        assert math.isclose(beta, reference_dew(row), rel_tol=1e-13 + 40 * 1.2e-16)
        assert dp.dew(row) == beta


@pytest.mark.parametrize("dtype", ["float32", "float16", "int64"])
def test_other_types_are_taken_as_exact(dtype):
    given = (10 * scores()).astype(dtype)
    wide = given.astype("float64")
    for narrow, exact in zip(numpy.asarray(dp.dew(given)), numpy.asarray(dp.dew(wide))):
        assert math.isclose(narrow, exact, rel_tol=2e-13)  # twice kDewPointError


def test_special_rows():
    assert dp.dew(numpy.array([1.0, 1.0, 0.0])) == math.inf
    assert math.isnan(dp.dew(numpy.array([1.0, 0.0])))


def test_room_for_the_results_may_be_given():
    given, room = scores(), numpy.zeros(5)
    assert dp.dew(given, out=room) is room
    assert list(room) == list(numpy.asarray(dp.dew(given)))


# ---- what is refused ----------------------------------------------------------------------------


@pytest.mark.parametrize("bad, kind, words", [
    ([1.0, 2.0, 3.0], TypeError, "scores: a list is no array"),
    ("scores.npy", TypeError, "scores: a str is no array"),
    (numpy.zeros((2, 2, 2)), ValueError, "scores: shape [2, 2, 2] has 3 axes; allowed: 1 or 2"),
    (numpy.zeros(0), ValueError, "scores: shape [0] holds no number"),
    (numpy.zeros((3, 0)), ValueError, "scores: shape [3, 0] holds no number"),
    (numpy.zeros(4, complex), TypeError, "scores: numbers of format 'Zd'"),
    (numpy.zeros(4, ">f8"), TypeError, "scores: numbers of format '>d'"),
    (numpy.array(["a", "b", "c"]), TypeError, "scores: numbers of format"),
    (numpy.arange(10.0)[::2], ValueError, "scores: its numbers do not follow each other"),
    (numpy.asfortranarray(numpy.ones((3, 4))), ValueError, "scores: its numbers do not follow"),
    (numpy.arange(10.0)[::-1], ValueError, "scores: its numbers do not follow each other"),
    (numpy.array([1.0, math.nan, 0.0]), ValueError, "scores"),
    (numpy.array([1.0, math.inf, 0.0]), ValueError, "scores"),
    (numpy.array([[1.0, 2.0]]), ValueError, "scores: 2 keys per query are below 3"),
])
def test_bad_arrays_are_named(bad, kind, words):
    with pytest.raises(kind) as caught:
        dp.dew(bad)
    assert str(caught.value).startswith(words)


@pytest.mark.parametrize("bad, kind, words", [
    (numpy.zeros(4), ValueError, "out: 4 numbers for 5 rows of scores"),
    (numpy.zeros(5, "float32"), TypeError, "out: allowed: float64"),
    (numpy.zeros(10)[::2], ValueError, "out: its numbers do not follow each other"),
])
def test_bad_room_is_named(bad, kind, words):
    with pytest.raises(kind) as caught:
        dp.dew(scores(), out=bad)
    assert str(caught.value).startswith(words)


def test_read_only_room_is_refused():
    room = numpy.zeros(5)
    room.flags.writeable = False
    with pytest.raises(ValueError, match="out: is read-only"):
        dp.dew(scores(), out=room)


def test_a_tensor_of_another_device_is_refused():
    class Elsewhere:
        def __dlpack__(self):
            raise AssertionError("never asked")

        def __dlpack_device__(self):
            return (2, 0)

    with pytest.raises(ValueError, match=r"scores: lives on a device .* pass scores.cpu\(\)"):
        dp.dew(Elsewhere())
