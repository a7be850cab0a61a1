"""Every function gives what its verb prints, takes its parameters and names what is wrong.

SPDX-License-Identifier: Apache-2.0
"""

import inspect
import json
import math
import re
import shlex
import subprocess

import numpy
import pytest

import dewpoint as dp
from as_json import as_json
from dewpoint import verbs

CALLS = {
    "phase point": lambda: dp.phase.point(n=64, rho=0.3, gamma=2.5, replicas=2),
    "phase point, beta": lambda: dp.phase.point(n=64, beta=3.0, mask="causal", eta="none"),
    "phase map": lambda: dp.phase.map(n=[32, 48], rho=[0.1, 1 / 3], gamma="1:4:4"),
    "phase depth": lambda: dp.phase.depth(n=32, gamma=numpy.array([1.6, 2.4]), layers=3),
    "phase depth, exact": lambda: dp.phase.depth(exact=True, n=1e9, gamma=2.4, layers=3),
    "condense": lambda: dp.condense(n=[1e2, 1e30], t=[0.5, 2], draws=100, signal=[0.9, 1.2]),
    "query point": lambda: dp.query(n=[1e3, 1e15], theta=1, draws=100),
    "query heat": lambda: dp.query.heat(n=1000, draws=10, beta=[5, 20]),
    "query output": lambda: dp.query.output(n=1000, beta=[5, 20], draws=20,
                                            value_scale=[1, 2, 3, 4, 5]),
    "dew": lambda: dp.dew.laws(law=["sphere:d=5", "gaussian"], n="1e2:1e6:3:log", draws=50),
    "train": lambda: dp.train(m=16, sequences=200, steps=50, pi=[0.6, 0.3, 0.1], lambda_=0.7),
    "train, seeds": lambda: dp.train(m=16, sequences=200, steps=50, seeds=2),
    "scale explain": lambda: dp.scale.explain("deepseek-v3", engine=["hf", "vllm"],
                                              n=[4096, 32768]),
    "scale explain, presets": lambda: dp.scale.explain(presets=True),
    "verify, list": lambda: dp.verify(list=True),
    "verify": lambda: dp.verify(only=["cas.theorem-2.1"]),
    "verify errata": lambda: dp.verify.errata(only="erratum.1"),
    "predict layer": lambda: dp.predict.layer(n=1e6, rho=0.5, gamma=2.2),
    "predict variant": lambda: dp.predict.variant(n=131072, rho=0.5, gamma=2, window=4096,
                                                  off_by_one=True),
    "predict bounds": lambda: dp.predict.bounds(n=4096, d=128, rho1=0.4, rho2=0.6, gamma=1),
    "predict phases": lambda: dp.predict.phases(n=[1e3, 1e12], tau=0.7, rho_rest=0.1,
                                                rho_cluster=0.7),
    "predict critical": lambda: dp.predict.critical(n=1024, d=64, rho=0.5),
    "predict depth": lambda: dp.predict.depth(n=1e6, rho=0.5, gamma=2.4, layers=10),
    "predict scaling": lambda: dp.predict.scaling(n=[65536, 1e9]),
    "predict condense": lambda: dp.predict.condense(n=1e6, t=1.5, signal=0.9),
    "predict query": lambda: dp.predict.query(d=5, n=1e6, theta=1),
    "predict softmax": lambda: dp.predict.softmax(law="vmf:d=5,kappa=5,angle=0.5", n=1e6,
                                                  beta=[10, 100]),
    "predict dew": lambda: dp.predict.dew(law="sphere:d=64", n=[1e3, 1e9]),
    "predict heat": lambda: dp.predict.heat(beta=[10, 100]),
    "predict train": lambda: dp.predict.train(pi=[0.6, 0.2, 0.2], asymmetry=0.01),
}


def without_times(content):
    """`verify` says how long each row took."""
    if content.get("experiment", "").startswith("verify"):
        for row in content["rows"]:
            del row["seconds"]
    return content


def timeless(text):
    return re.sub(r"\d+\.\d s$", "", text, flags=re.MULTILINE)


@pytest.mark.parametrize("name", CALLS)
def test_a_function_gives_what_its_verb_prints(name, program, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = CALLS[name]()
    words = shlex.split(result.command)[1:]
    assert without_times(as_json(result.content)) == without_times(program(*words))
    assert list(tmp_path.iterdir()) == []  # nothing is written unasked
    plain = subprocess.run([program.path, *words], capture_output=True, text=True, check=True)
    assert timeless(result.text) == timeless(plain.stdout)


def test_every_verb_is_tried():
    tried = {name.split(",")[0] for name in CALLS}
    # Those that need a model, studies or arrays are tried in test_heads.py.
    assert tried == set(verbs.OPTIONS) - {"heads", "heads sweep", "scale fit"}


def test_functions_have_the_parameters_of_their_verbs(program):
    """Names, defaults and which must be given, against what the program says of itself."""
    printed = subprocess.run([program.path, "manual", "json"], capture_output=True, text=True,
                             check=True).stdout
    described = {one["verb"]: one for one in json.loads(printed)}
    for verb in verbs.OPTIONS:
        function = getattr(verbs, verb.replace(" ", "_"))
        parameters = inspect.signature(function).parameters
        assert parameters["progress"].default is None
        assert len(parameters) == 1 + len(described[verb]["options"])
        for option in described[verb]["options"]:
            name = option["name"].replace("-", "_").replace("lambda", "lambda_")
            default = parameters[name].default
            assert (default is inspect.Parameter.empty) == option["required"], (verb, name)
            if isinstance(default, str):
                assert default == option["default"]
            elif default not in (None, False, inspect.Parameter.empty):
                assert default == float(option["default"]), (verb, name)


def test_version_is_that_of_the_program(program):
    printed = subprocess.run([program.path, "--version"], capture_output=True, text=True,
                             check=True).stdout
    assert printed.startswith(f"dewpoint {dp.__version__} ")


def test_the_package_is_the_program_too(program):
    import sys
    words = ["predict", "layer", "--n", "1e6", "--rho", "0.5", "--gamma", "2.2"]
    ours = subprocess.run([sys.executable, "-m", "dewpoint", *words], capture_output=True)
    theirs = subprocess.run([program.path, *words], capture_output=True)
    assert (ours.returncode, ours.stdout) == (0, theirs.stdout)
    wrong = subprocess.run([sys.executable, "-m", "dewpoint", "phase", "point", "--n", "-3"],
                           capture_output=True)
    assert wrong.returncode == 2


def test_threads_do_not_change_a_byte():
    one, two = (dp.phase.map(n=128, rho=[0.2, 0.5], gamma=[1, 2, 3], threads=threads)
                for threads in (1, 2))
    for name in one.frame:
        assert bytes(one.frame[name].mean) == bytes(two.frame[name].mean)


# ---- arrays in the place of files ---------------------------------------------------------------


def test_tokens_may_be_an_array(program, tmp_path):
    tokens = numpy.random.default_rng(2).normal(size=(40, 8))
    numpy.save(tmp_path / "tokens.npy", tokens)
    found = dp.phase.point(tokens=tokens, gamma=2.0)
    stored = dp.phase.point(tokens=tmp_path / "tokens.npy", gamma=2.0)
    assert as_json(found["observables"]) == as_json(stored["observables"])
    single = dp.phase.point(tokens=tokens.astype("float32"), gamma=2.0)
    # Rounding tokens to float32 moves cosines by some 1e-7, times a slope of order beta = 7.
    assert abs(float(single.contraction) - float(found.contraction)) < 1e-5


def test_scores_of_a_head_may_be_an_array(program, tmp_path):
    scores = numpy.random.default_rng(3).normal(size=(60, 300))
    numpy.save(tmp_path / "scores.npy", scores)
    found = dp.dew.head(scores, replicates=40, endpoint=5.0, keep_column="self")
    printed = program("dew", "--scores", str(tmp_path / "scores.npy"), "--replicates", "40",
                      "--endpoint", "5", "--keep-column", "self")
    ours = as_json(found.content)
    for one in (ours, printed):
        del one["parameters"]["scores"]
    assert ours == printed


# ---- what is refused ----------------------------------------------------------------------------


@pytest.mark.parametrize("call, kind, words", [
    (lambda: dp.phase.point(n="many"), TypeError, "n: 'many' is no number"),
    (lambda: dp.phase.point(n=2.5), ValueError, "n: 2.5 is no whole number"),
    (lambda: dp.phase.point(n=True), TypeError, "n: True is no whole number"),
    (lambda: dp.phase.point(n=-3), ValueError, "n: "),
    (lambda: dp.phase.point(rho=math.nan), ValueError, "rho: nan is not finite"),
    (lambda: dp.phase.point(rho=1.5), ValueError, "rho: 1.5 is not a number in [0, 1)"),
    (lambda: dp.phase.point(tokens="two-level", rho=0.9), ValueError, "rho_inner: 0.8 is below"),
    (lambda: dp.phase.point(tokens="simplx"), ValueError, "tokens: 'simplx' is not a token law"),
    (lambda: dp.phase.point(beta=1.0, law="log"), ValueError, "beta: 1 is given beside law"),
    (lambda: dp.phase.point(tokens=numpy.zeros(5)), ValueError, "tokens: shape [5] has 1 axes"),
    (lambda: dp.phase.map(rho=[0.5, "x"]), TypeError, "rho: 'x' is no number"),
    (lambda: dp.phase.map(rho=[]), ValueError, "rho: "),
    (lambda: dp.phase.map(no_figure=1), TypeError, "no_figure: 1 is neither True nor False"),
    (lambda: dp.phase.point(nn=3), TypeError, "phase_point() got an unexpected keyword"),
    (lambda: dp.predict.layer(rho=0.5, gamma=1), TypeError, "predict_layer() missing"),
    (lambda: dp.open_study("missing.study"), FileNotFoundError, "missing.study"),
    (lambda: dp.dew.head(numpy.zeros((2, 2, 2))), ValueError, "scores: shape [2, 2, 2]"),
    (lambda: dp.train(steps=0), ValueError, "steps: "),
    (lambda: dp.query(theta=1, beta=1), ValueError, "beta: 1 is given beside theta"),
    (lambda: dp.scale.explain("no-such-model"), ValueError, "preset 'no-such-model' is not known"),
], ids=str)
def test_what_is_wrong_is_named(call, kind, words):
    with pytest.raises(kind) as caught:
        call()
    message = str(caught.value)
    assert words in message and "\n" not in message, message
