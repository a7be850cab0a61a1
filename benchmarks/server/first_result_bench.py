"""How long the explorer takes to show something: from a question to its first result.

A real `dewpoint serve`, asked as the page asks: a question that nobody asked before, sent to
/api/<room>, and where that answer has no result yet, the first one of the job's stream. Questions are
those the rooms open with, each with another place of a slider; the job goes on until its tab asks
the next one, which cancels it, as when a slider moves. The first question of a room is not counted.

Checked before anything is timed: a question of every room, to its end, has the numbers that its
command prints.

    DEWPOINT=build/bench/src/cli/dewpoint python3 benchmarks/server/first_result_bench.py
"""

import json
import os
import shlex
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "tests", "cli"))
from serve_support import DEWPOINT, Server  # noqa: E402

QUESTIONS = 20
DEMAND = 0.1  # seconds, of the median

# What a room opens with, and the slider that moves.
OPENING = {
    "phase": ({}, lambda k: {"alpha": 0.01 * k}),
    "phase-cell": ({"eta": "none"}, lambda k: {"rho": 0.3 + 0.01 * k}),
    "phase-depth": ({"eta": "none"}, lambda k: {"rho": 0.3 + 0.01 * k}),
    "condense": ({}, lambda k: {"sigma": 1.0 + 0.01 * k}),
    "query": ({"d": 3, "n": "1000,1e6,1e15"}, lambda k: {"theta": f"0.1:{10 + k}:9:log"}),
    "dew": ({}, lambda k: {"seed": k + 1}),
    "cycle": ({"optimiser": "flow", "time": 150, "record-every": 0.5}, lambda k: {"lambda": 0.7 + 0.01 * k}),
}

# Small enough to be computed to the end: the question, and where the result and what its command prints
# have the same numbers.
CHECKS = {
    "phase": ({"n": 32, "d": 8, "rho": "0,0.5", "gamma": "1,2"},
              lambda result: result["map"], lambda printed: printed["result"]),
    "phase-cell": ({"n": 32, "d": 8, "eta": "none"},
                   lambda result: result["observables"], lambda printed: printed["observables"]),
    "phase-depth": ({"n": 32, "layers": 3, "eta": "none"},
                    lambda result: result["depth"], lambda printed: printed["frames"]["phase_depth"]),
    "condense": ({"n": "1e6", "t": "0.5,2", "draws": 50},
                 lambda result: result["condense"], lambda printed: printed["result"]),
    "query": ({"d": 3, "n": "1e6", "theta": "1", "draws": 50},
              lambda result: result["query"], lambda printed: printed["result"]),
    "dew": ({"law": ["gaussian"], "n": "1e2:1e4:3:log", "draws": 50},
            lambda result: result["laws"][0]["curve"], lambda printed: printed["laws"][0]["result"]),
    "cycle": ({"optimiser": "flow", "time": 5, "m": 4},
              lambda result: result["frames"]["trajectory"]["variables"]["loss"]["mean"][-1],
              lambda printed: printed["end"]["loss"]),
}


def check(server, room, folder):
    question, ours, theirs = CHECKS[room]
    view = server.complete(room, **question)
    more = ["--no-figure", "-o", "map.study"] if room == "phase" else []
    run = subprocess.run([DEWPOINT, *shlex.split(view["command"])[1:], "--json", *more], cwd=folder,
                         capture_output=True, check=True)
    if ours(view["result"]) != theirs(json.loads(run.stdout)):
        sys.exit(f"{room}: the room and its command disagree; nothing is timed")


def first_result(server, room, question):
    began = time.perf_counter()
    view = server.ask(room, **question).json()
    if view["cached"]:
        sys.exit(f"{room}: {question} was answered from memory")
    if view["result"] is None:
        stream = server.events(f"/api/jobs/{view['job']}/events")
        next(data for name, data in stream if name == "result" and data["result"] is not None)
        took = time.perf_counter() - began
        stream.close()
        return took
    return time.perf_counter() - began


def main():
    with tempfile.TemporaryDirectory(prefix="dewpoint-bench-") as folder:
        server = Server(folder)
        try:
            for room in OPENING:
                check(server, room, folder)
            print(f"First result of a new question, ms over {QUESTIONS} questions per room")
            print(f"{'room':12} {'least':>7} {'median':>7} {'p95':>7}")
            slow = []
            for room, (common, moved) in OPENING.items():
                times = [first_result(server, room, {**common, **moved(k)})
                         for k in range(QUESTIONS + 1)]
                times = sorted(times[1:])
                median, high = times[QUESTIONS // 2], times[int(0.95 * QUESTIONS)]
                print(f"{room:12} {1e3 * times[0]:7.1f} {1e3 * median:7.1f} {1e3 * high:7.1f}")
                if median > DEMAND:
                    slow.append(room)
        finally:
            server.kill()
    if slow:
        sys.exit(f"above {1e3 * DEMAND:g} ms: {', '.join(slow)}")


if __name__ == "__main__":
    main()
