#!/usr/bin/env python3
"""What Python costs: a dew point of 1000 scores in all, a call of a verb, Ctrl-C, and a phase map
against the program.

    PYTHONPATH=build/bench/python python_bench.py PROGRAM

The answers are compared first. Times are minima of repeated runs; spreads are the quartiles. The
program's own time includes the start of a process, and it writes nothing, as the package.

SPDX-License-Identifier: Apache-2.0
"""

import json
import os
import signal
import statistics
import subprocess
import sys
import threading
import time
from array import array

import numpy

import dewpoint as dp

MAP = dict(n=512, d=64, rho="0:0.95:10", gamma="0.5:8:16", replicas=2)
WORDS = ["phase", "map", "--n", "512", "--d", "64", "--rho", "0:0.95:10", "--gamma", "0.5:8:16",
         "--replicas", "2", "--output", "", "--json"]


def seconds(work):
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def run_program(program):
    return subprocess.run([program, *WORDS], capture_output=True, check=True).stdout


def check(program):
    printed = json.loads(run_program(program))["result"]["variables"]
    for name, variable in dp.phase.map(**MAP).frame.items():
        assert variable.numpy().tolist() == printed[name]["mean"], name
    scores = numpy.random.default_rng(1).normal(size=1000)
    gaps = numpy.delete(scores.max() - scores, scores.argmax())
    # The library promises 1e-13; 999 roundings of the sum below, each 1.1e-16.
    assert abs(numpy.exp(-dp.dew(scores) * gaps).sum() - 1.0) < 1e-12


def dew_of_vector():
    for name, scores in (("NumPy", numpy.random.default_rng(1).normal(size=1000)),
                         ("array", array("d", numpy.random.default_rng(1).normal(size=1000)))):
        times = [seconds(lambda: dp.dew(scores)) for _ in range(2000)]
        quartiles = statistics.quantiles(times, n=4)
        print(f"dp.dew of 1000 float64 ({name}): {1e6 * min(times):.1f} µs, quartiles "
              f"{1e6 * quartiles[0]:.1f} to {1e6 * quartiles[2]:.1f} µs")


def phase_map(program):
    ours, theirs = [], []
    for _ in range(15):  # in turn, so that both see the same weather
        ours.append(seconds(lambda: dp.phase.map(**MAP)))
        theirs.append(seconds(lambda: run_program(program)))
    print(f"dp.phase.map {min(ours):.3f} s, program {min(theirs):.3f} s, ratio "
          f"{min(ours) / min(theirs):.3f}; medians {statistics.median(ours):.3f} and "
          f"{statistics.median(theirs):.3f} s")


def call_of_a_verb():
    times = [seconds(lambda: dp.predict.layer(n=1e6, rho=0.5, gamma=2)) for _ in range(200)]
    print(f"dp.predict.layer: {1e3 * min(times):.2f} ms, median {1e3 * statistics.median(times):.2f}")


def interrupted(work):
    """Seconds from the signal to the exception."""
    sent = []

    def send():
        sent.append(time.perf_counter())
        os.kill(os.getpid(), signal.SIGINT)

    threading.Timer(1.0, send).start()
    try:
        work()
    except KeyboardInterrupt:
        return time.perf_counter() - sent[0]
    raise AssertionError("it ended before the signal")


def ctrl_c():
    works = {"condense": lambda: dp.condense(draws=1e7), "query": lambda: dp.query(draws=1e8),
             "phase.point": lambda: dp.phase.point(n=16384, d=64, replicas=100),
             "train": lambda: dp.train(steps=10**7, record_every=1000)}
    for name, work in works.items():
        print(f"Ctrl-C in dp.{name}: {1e3 * interrupted(work):.0f} ms")


def main():
    program = sys.argv[1]
    print(f"dewpoint {dp.__version__}, NumPy {numpy.__version__}, Python {sys.version.split()[0]}")
    check(program)
    dew_of_vector()
    call_of_a_verb()
    ctrl_c()
    phase_map(program)


if __name__ == "__main__":
    main()
