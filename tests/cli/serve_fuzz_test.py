"""Random and hostile requests: only 4xx, or 503, and never a crash.

DEWPOINT_FUZZ says how many, DEWPOINT_TEST_SEED which.
"""

import json
import os
import random
import socket
import unittest

from serve_support import ServeTest

COUNT = int(os.environ.get("DEWPOINT_FUZZ", "400"))
SEED = int(os.environ.get("DEWPOINT_TEST_SEED", "1"))

WORDS = ["", "client", "question", "n", "d", "rho", "gamma", "t", "law", "pi", "input", "file",
         "text", "set", "seed", "gaussian", "sphere:d=5", "vmf:d=1,kappa=-1", "../../etc/passwd",
         "/dev/zero", "/dev/stdin", "0:1:100000", "1e300", "-1e300", "nan", "inf", "1,1", ",", "::",
         "0:0:2", "\0", "\n", "'; rm -rf /", "%s%n", "é", "\ud83d", "a" * 5000, "{", "simplex",
         "phase.study", "x.npz", "experiment = \"phase\"", "[grid]\nn = [1]", "outputs"]
NUMBERS = [0, -1, 1, 0.5, 3, 17, 1e9, 2 ** 53, 2 ** 63, 2 ** 64 - 1, -2 ** 63, 1e-300, 1e300, 5e-324]
# No question of these is large by accident: what is accepted is cancelled by the next of its client.
TAME = {"n": 16, "d": 8, "draws": 4, "steps": 5, "sequences": 10, "m": 2, "replicas": 1}


class Fuzz(ServeTest):
    def value(self, depth=0):
        kind = self.random.randrange(8 if depth < 3 else 6)
        if kind == 0:
            return None
        if kind == 1:
            return self.random.random() < 0.5
        if kind in (2, 3):
            return self.random.choice(NUMBERS)
        if kind in (4, 5):
            return self.random.choice(WORDS)
        if kind == 6:
            return [self.value(depth + 1) for _ in range(self.random.randrange(4))]
        return {self.random.choice(WORDS): self.value(depth + 1)
                for _ in range(self.random.randrange(4))}

    def question(self, fields):
        asked = {name: value for name, value in TAME.items() if name in fields}
        for name in self.random.sample(fields, min(len(fields), self.random.randrange(1, 4))):
            asked[name] = self.value()
        if self.random.random() < 0.1:
            asked[self.random.choice(WORDS)] = self.value()
        return asked

    def damaged(self, text):
        data = bytearray(text)
        for _ in range(self.random.randrange(1, 6)):
            if data:
                data[self.random.randrange(len(data))] = self.random.randrange(256)
        return bytes(data)

    def body(self, path, fields):
        choice = self.random.random()
        if choice < 0.1:
            return bytes(self.random.randrange(256) for _ in range(self.random.randrange(200)))
        if choice < 0.2:
            return json.dumps(self.value()).encode("utf-8", "surrogatepass")
        if path.startswith("/api/studies") or path.endswith("save"):
            whole = {"client": "fuzz-tab", **{name: self.value() for name in
                                              self.random.sample(["text", "source", "file", "set",
                                                                  "replace"], 2)}}
        else:
            whole = {"client": f"fuzz-{self.random.randrange(3):04d}",
                     "question": self.question(fields)}
        text = json.dumps(whole).encode("utf-8", "surrogatepass")
        return self.damaged(text) if choice < 0.4 else text

    def asked(self, path, data):
        try:
            return self.server.post(path, data)
        except OSError as error:
            self.fail(f"{error!r} of {path} {data!r}; exit status {self.server.process.poll()}")

    def check(self, answer, asked):
        self.assertIn(answer.status, (200, 202, 400, 403, 404, 405, 409, 413, 414, 415, 503),
                      (asked, answer.body[:300]))
        if answer.status >= 400:
            found = answer.json()
            self.assertIsInstance(found["error"], str)
            self.assertNotIn("\n", found["error"], asked)
        self.assertIsNone(self.server.process.poll(), asked)

    def test_bodies(self):
        self.random = random.Random(SEED)
        print(f"\n{COUNT} requests, seed {SEED}")
        rooms = {one["room"]: [field["name"] for field in one["fields"]]
                 for one in self.server.get("/api/rooms").json()["rooms"]}
        paths = [f"/api/{room}" for room in rooms] + [
            "/api/studies/run", "/api/studies/resume", "/api/studies/cancel", "/api/jobs/1-a/save"]
        counts = {}
        for _ in range(COUNT):
            path = self.random.choice(paths)
            data = self.body(path, rooms.get(path.rsplit("/", 1)[1], []))
            answer = self.asked(path, data)
            counts[answer.status] = counts.get(answer.status, 0) + 1
            self.check(answer, (path, data))
        print(f"statuses {dict(sorted(counts.items()))}")
        self.assertEqual(self.server.get("/api/about").status, 200)

    def test_addresses(self):
        self.random = random.Random(SEED + 1)
        routes = ["/api/studies/summary?file=", "/api/studies/frame?file=a.study&frame=",
                  "/api/studies/figures?file=", "/api/studies/text?file=",
                  "/api/studies/template?experiment=", "/api/jobs/", "/api/runs/", "/api/", "/"]
        for _ in range(COUNT // 2):
            tail = "".join(self.random.choice("abz./%20e2f\\?&=#;:*+~-_") for _ in
                           range(self.random.randrange(60)))
            path = self.random.choice(routes) + tail
            self.check(self.server.get(path), path)

    def test_raw_bytes(self):
        self.random = random.Random(SEED + 2)
        good = (f"POST /api/phase HTTP/1.1\r\nHost: 127.0.0.1:{self.server.port}\r\n"
                f"Authorization: Bearer {self.server.token}\r\n"
                "Content-Type: application/json\r\nContent-Length: 19\r\n\r\n"
                '{"client": "fuzz1"}').encode()
        hostile = [b"\r\n\r\n", b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"\0" * 100,
                   b"GET / HTTP/1.1\r\n" + b"A: b\r\n" * 2000 + b"\r\n",
                   b"GET / HTTP/1.1\r\nHost: " + b"h" * 20000 + b"\r\n\r\n",
                   b"POST /api/phase HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
                   b"POST /api/phase HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n\r\n",
                   b"POST /api/phase HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
                   b"POST /api/phase HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"
                   b"FFFFFFFFFFFFFFFF\r\n"]
        for k in range(max(len(hostile), COUNT // 4)):
            data = hostile[k] if k < len(hostile) else self.damaged(good)
            with self.server.raw() as peer:
                try:
                    peer.sendall(data)
                    peer.shutdown(socket.SHUT_WR)
                    while peer.recv(65536):
                        pass
                except OSError:
                    pass  # sent away
            self.assertIsNone(self.server.process.poll(), data[:200])
        self.assertEqual(self.server.get("/api/about").status, 200)


if __name__ == "__main__":
    unittest.main()
