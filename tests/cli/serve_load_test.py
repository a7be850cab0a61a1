"""Many clients that move sliders: no error, answers from memory stay quick, memory comes back.

DEWPOINT_CLIENTS and DEWPOINT_SECONDS say how many and how long.
"""

import json
import os
import random
import threading
import time
import unittest

from serve_support import ServeTest

CLIENTS = int(os.environ.get("DEWPOINT_CLIENTS", "8"))
SECONDS = float(os.environ.get("DEWPOINT_SECONDS", "5"))
PAUSE = 0.2  # between two moves of a slider, on average
LEAST_CACHED = 20  # answers, for a quantile to mean something
LONG_RUN = "DEWPOINT_SECONDS" in os.environ  # then the machine is ours, and its tail is judged too

QUESTIONS = (
    [("phase", {"n": n, "d": 16, "rho": "0:0.9:10", "gamma": "0.5:4:8"}) for n in (32, 48, 64, 96)] +
    [("phase-cell", {"n": 64, "d": 16, "rho": k / 10, "gamma": 2, "eta": "none"}) for k in range(8)] +
    [("condense", {"n": "1e6", "t": "0.5,1,1.5", "draws": 200, "seed": k}) for k in range(6)] +
    [("query", {"d": 3, "n": 200, "theta": k + 1, "draws": 300, "shown": 200}) for k in range(6)] +
    [("dew", {"law": ["gaussian"], "n": "1e2:1e6:5:log", "draws": 100, "seed": k}) for k in range(4)] +
    [("cycle", {"m": 16, "sequences": 500, "steps": 200, "seed": 1})])
# Far more than can be answered before the slider moves on.
HEAVY = ("phase", {"n": 512, "d": 64, "eta": "exact", "replicas": 4})


class Client(threading.Thread):
    """One tab: asks, watches for a while, asks again."""

    def __init__(self, server, number, until):
        super().__init__(daemon=True)
        self.server = server
        self.name = f"tab-{number:04d}"
        self.random = random.Random(number)
        self.until = until
        self.cached, self.fresh, self.errors = [], [], []

    def run(self):
        moves = 0
        while time.monotonic() < self.until:
            try:
                self.move(moves)
            except Exception as error:  # noqa: BLE001 - any failure is what this test is about
                self.errors.append(repr(error))
            moves += 1
            time.sleep(self.random.expovariate(1.0 / PAUSE))

    def move(self, moves):
        heavy = self.random.random() < 0.1
        room, question = HEAVY if heavy else self.random.choice(QUESTIONS)
        if heavy:
            question = {**question, "seed": self.random.randrange(1 << 30)}
        body = json.dumps({"client": self.name, "question": question})
        began = time.monotonic()
        answer = self.server.post(f"/api/{room}", body)
        took = time.monotonic() - began
        if answer.status not in (200, 202):
            self.errors.append(f"{answer.status} {answer.body[:200]!r}")
            return
        head = answer.body[:200]
        (self.cached if b'"cached":true' in head else self.fresh).append(took)
        if moves % 4 == 0 and b'"cached":true' not in head:
            self.watch(json.loads(answer.body)["job"])

    def watch(self, job):
        """A stream that is left after a moment, as when a slider moves on."""
        connection = self.server.connect()
        try:
            connection.request("GET", f"/api/jobs/{job}/events", headers=self.server.bearer)
            response = connection.getresponse()
            if response.status == 200:
                response.readline()
            elif response.status not in (404, 503):
                self.errors.append(f"stream {response.status}")
        finally:
            connection.close()


class Load(ServeTest):
    def load(self, seconds, first):
        until = time.monotonic() + seconds
        clients = [Client(self.server, first + k, until) for k in range(CLIENTS)]
        for client in clients:
            client.start()
        for client in clients:
            client.join(seconds + 120)
            self.assertFalse(client.is_alive())
        return clients

    def at_rest(self):
        def resting():
            now = self.server.get("/api/about").json()["now"]
            return now["running"] == now["waiting"] == now["streams"] == 0
        self.server.wait_for(resting, 60)

    def test_many_clients(self):
        # The first round fills the caches of server and allocator; the second must not grow them.
        self.load(max(5.0, SECONDS / 4), 0)
        self.at_rest()
        settled = self.server.resident_bytes()
        clients = self.load(SECONDS, 1000)
        errors = [error for client in clients for error in client.errors]
        cached = sorted(took for client in clients for took in client.cached)
        fresh = sorted(took for client in clients for took in client.fresh)
        self.at_rest()
        limit = 1.1 * settled + (8 << 20)  # ten per cent, and what a small process jitters by
        try:
            self.server.wait_for(lambda: self.server.resident_bytes() <= limit, 60)
        except AssertionError:
            pass  # shown and judged below
        resident = self.server.resident_bytes()

        def quantile(times, share):
            return times[min(len(times) - 1, int(share * len(times)))] if times else float("nan")
        print(f"\n{CLIENTS} clients, {SECONDS:g} s: {len(cached)} cached answers "
              f"(p50 {1e3 * quantile(cached, 0.5):.1f} ms, p95 {1e3 * quantile(cached, 0.95):.1f} ms, "
              f"max {1e3 * quantile(cached, 1.0):.0f} ms), {len(fresh)} fresh "
              f"(p95 {1e3 * quantile(fresh, 0.95):.0f} ms), {len(errors)} errors; "
              f"resident {settled / 2**20:.1f} MiB, then {resident / 2**20:.1f} MiB")
        self.assertEqual(errors[:3], [])
        self.assertGreater(len(cached), LEAST_CACHED)
        self.assertLess(quantile(cached, 0.95 if LONG_RUN else 0.5), 0.1)
        self.assertLessEqual(resident, limit)
        self.assertEqual(self.server.get("/api/about").status, 200)
        self.assertEqual(self.server.close(), (0, ""))


if __name__ == "__main__":
    unittest.main()
