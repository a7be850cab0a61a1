"""How long a first result takes while a heavy question computes: after a change of rooms, and in
another tab; and how long the threads go on when a job is cancelled.

A real `dewpoint serve --threads 2`, asked as the page asks. The heavy tab asks a map of 1024 tokens
with its Jacobian norms and opens a cell and its layers; that is three clients with a stream each.
"change": as soon as the map has a result the tab leaves the room as a page does (streams closed, jobs
deleted; `--silently`: streams closed only, as when the network breaks) and asks what another room
opens with. "tab": another tab asks the same while the heavy one computes on. "alone": nobody else.
"cancel": from DELETE to the moment at which no job computes, for a heavy question of every room, as
soon as it computes and after a second. Every question is new to the server; numbers are medians and the
largest of the repetitions.

    DEWPOINT=build/dev/src/cli/dewpoint python3 benchmarks/server/rooms_in_turn_bench.py
"""

import os
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "tests", "cli"))
from first_result_bench import OPENING  # noqa: E402
from serve_support import Server  # noqa: E402

REPETITIONS = int(os.environ.get("REPETITIONS", "5"))
ROOMS = ("phase", "condense", "dew", "cycle")
HEAVY = {
    "phase": {"n": 1024, "d": 128, "eta": "exact"},
    "phase-cell": {"n": 4096, "d": 128, "eta": "exact", "replicas": 8},
    "phase-depth": {"n": 1024, "layers": 64},
}
PARTS = {"phase": "", "phase-cell": "-cell", "phase-depth": "-depth"}
ALL_HEAVY = {
    **HEAVY,
    "phase-cell": {"n": 4096, "d": 256, "eta": "exact"},
    "condense": {"n": "1e2,1e6,1e30,1e300", "draws": 20000},
    "query": {"d": 3, "n": "1000,1e6,1e15", "draws": 20000},
    "dew": {"draws": 4000, "top": 4096},
    "cycle": {"steps": 20000, "m": 512},
}


class HeavyTab:
    """Asks what is heavy, and follows every job with a stream."""

    count = 0

    def __init__(self, server):
        HeavyTab.count += 1
        self.server, self.client, self.jobs, self.streams = server, f"heavy-{self.count}", [], []
        for room, question in HEAVY.items():
            view = server.ask(room, self.client + PARTS[room], **question, seed=self.count).json()
            self.jobs.append(view["job"])
            connection = server.connect(timeout=300)
            connection.request("GET", f"/api/jobs/{view['job']}/events", headers=server.bearer)
            self.streams.append((connection, connection.getresponse()))
            if room == "phase":
                while view["result"] is None:
                    view = server.get(f"/api/jobs/{view['job']}").json()
                    time.sleep(0.02)

    def leave(self, silently):
        for connection, response in self.streams:
            response.close()
            connection.close()
        if not silently:
            for job in self.jobs:
                self.server.request("DELETE", f"/api/jobs/{job}")


def computing(server):
    return server.get("/api/about").json()["now"]["running"]


def wait_for_rest(server):
    while computing(server) > 0:
        time.sleep(0.005)


seeds = iter(range(1, 1000000))


def opening(room):
    common, moved = OPENING[room]
    k = next(seeds)
    return {**common, **moved(k % 20), "seed": k}


def timed(server, room, client):
    began = time.perf_counter()
    view = server.ask(room, client, **opening(room)).json()
    if view["result"] is None:
        stream = server.events(f"/api/jobs/{view['job']}/events")
        next(data for name, data in stream if name == "result" and data["result"] is not None)
        stream.close()
    took = time.perf_counter() - began
    server.request("DELETE", f"/api/jobs/{view['job']}")
    return took


def row(room, times):
    times = sorted(times)
    print(f"{room:12} {1e3 * times[len(times) // 2]:8.0f} {1e3 * times[-1]:8.0f}", flush=True)


def main():
    silently = "--silently" in sys.argv
    wanted = [word for word in sys.argv[1:] if not word.startswith("-")]
    with tempfile.TemporaryDirectory(prefix="dewpoint-bench-") as folder:
        server = Server(folder, "--threads", "2")
        try:
            print(f"ms, {REPETITIONS} repetitions" + (", leaving silently" if silently else ""))
            for situation in wanted or ("alone", "change", "tab", "cancel"):
                print(f"{situation:12} {'median':>8} {'largest':>8}")
                if situation == "cancel":
                    cancel(server)
                    continue
                for room in ROOMS:
                    times = []
                    for _ in range(REPETITIONS):
                        tab = HeavyTab(server) if situation != "alone" else None
                        if situation == "change":
                            tab.leave(silently)
                        client = tab.client if situation == "change" else "other-tab"
                        times.append(timed(server, room, client))
                        if situation == "tab":
                            tab.leave(False)
                        wait_for_rest(server)
                    row(room, times)
        finally:
            server.kill()


def cancel(server):
    for room, question in ALL_HEAVY.items():
        times = []
        for after in REPETITIONS * (0.1, 1.0):
            view = server.ask(room, "bench-tab", **question, seed=next(seeds)).json()
            server.wait_for(lambda: computing(server) > 0 or
                            server.get(f"/api/jobs/{view['job']}").json()["state"] == "done")
            time.sleep(after)
            began = time.perf_counter()
            server.request("DELETE", f"/api/jobs/{view['job']}")
            wait_for_rest(server)
            times.append(time.perf_counter() - began)
        row(room, times)


if __name__ == "__main__":
    main()
