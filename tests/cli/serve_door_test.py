"""Who reaches the server before it knows them: floods, idle peers, and the token."""

import gzip
import os
import re
import resource
import select
import stat
import time
import unittest

from serve_support import Server, ServeTest

SENT = 64 << 20  # bytes that one connection tries to leave in the server's memory
MOST_GROWTH = SENT // 4  # of the memory: a server that keeps what it is sent grows by all of it
PIECE = 64 << 10
PATIENCE = 10  # seconds: the server's, for one request
PLACES = 256  # of connections that have not said what they want


class Floods(ServeTest):
    ARGUMENTS = ("--threads", "1")

    def head(self, method, *headers):
        lines = [f"{method} HTTP/1.1", f"Host: 127.0.0.1:{self.server.port}",
                 *(f"{name}: {value}" for name, value in self.server.bearer.items()), *headers]
        return ("\r\n".join(lines) + "\r\n").encode()

    def flood(self, begin, piece=b""):
        """Sends until there is an answer, or SENT bytes are on their way; the answer's status."""
        with self.server.raw() as peer:
            try:
                peer.sendall(begin)
                for _ in range(SENT // len(piece) if piece else 0):
                    if select.select([peer], [], [], 0)[0]:
                        break
                    peer.sendall(piece)
            except OSError:
                pass  # sent away; the answer may be there all the same
            try:
                answer = peer.recv(65536)
            except OSError:
                return None
        found = re.match(rb"HTTP/1.1 (\d+) ", answer)
        return int(found.group(1)) if found else None

    def floods(self):
        json = "Content-Type: application/json"
        chunked = self.head("POST /api/phase", json, "Transfer-Encoding: chunked") + b"\r\n"
        zeros = gzip.compress(b"\0" * SENT)
        packed = self.head("POST /api/phase", json, "Content-Encoding: gzip",
                           f"Content-Length: {len(zeros)}")
        return {
            "a request line": (431, b"GET /", b"a" * PIECE),
            "a header": (431, self.head("GET /api/about") + b"A: ", b"a" * PIECE),
            "many headers": (431, self.head("GET /api/about"), b"A: b\r\n" * (PIECE // 6)),
            "a body in chunks": (411, chunked, b"%x\r\n" % PIECE + b"a" * PIECE + b"\r\n"),
            "a body without length": (400, self.head("POST /api/phase", json) + b"\r\n",
                                      b"a" * PIECE),
            "a packed body": (415, packed + b"\r\n" + zeros, b""),
        }

    def test_no_connection_fills_the_memory(self):
        self.assertEqual(self.server.get("/api/about").status, 200)
        for what, (status, begin, piece) in self.floods().items():
            with self.subTest(what):
                before = self.server.memory_bytes("VmHWM")
                self.assertEqual(self.flood(begin, piece), status)
                grown = self.server.memory_bytes("VmHWM") - before
                self.assertLess(grown, MOST_GROWTH)
        self.assertEqual(self.server.get("/api/about").status, 200)

    def test_little_memory_ends_a_connection_and_not_the_server(self):
        self.assertEqual(self.server.get("/api/about").status, 200)
        pid = self.server.process.pid
        few = self.server.memory_bytes("VmSize") + MOST_GROWTH
        _, hard = resource.prlimit(pid, resource.RLIMIT_AS)
        resource.prlimit(pid, resource.RLIMIT_AS, (few, hard))
        for what, (_, begin, piece) in self.floods().items():
            self.flood(begin, piece)
            self.assertIsNone(self.server.process.poll(), what)
        resource.prlimit(pid, resource.RLIMIT_AS, (hard, hard))
        self.assertEqual(self.server.get("/api/about").status, 200)

    def test_what_a_head_may_not_have(self):
        host = f"Host: 127.0.0.1:{self.server.port}"
        for status, headers in ((400, [host, host]), (400, [host, "Host: evil.example"]),
                                (400, [host, " folded: x"]), (400, [host, "no colon"]),
                                (400, [host, "Content-Length: 1", "Content-Length: 2"]),
                                (400, [host, "Content-Length: -1"]),
                                (413, [host, "Content-Length: 99999999999999999999"]),
                                (403, ["A: b"])):
            with self.subTest(headers):
                text = "\r\n".join(["GET /api/about HTTP/1.1", *headers, "", ""])
                self.assertEqual(self.flood(text.encode()), status)


class IdlePeers(ServeTest):
    ARGUMENTS = ("--threads", "1")

    def closed(self, peers):
        return [peer for peer in peers if select.select([peer], [], [], 0)[0]]

    def test_they_hold_nobody_up(self):
        idle = [self.server.raw() for _ in range(400)]
        self.addCleanup(lambda: [peer.close() for peer in idle])
        began = time.monotonic()
        self.assertEqual(self.server.get("/api/about").status, 200)
        # They are patiently waited for; a server that gives each a thread answers after the last.
        self.assertLess(time.monotonic() - began, PATIENCE)
        # Those beyond the places are sent away, whoever came first, and no others.
        self.server.wait_for(lambda: len(self.closed(idle)) >= len(idle) - PLACES)
        self.assertIn(idle[0], self.closed(idle))
        self.assertNotIn(idle[-1], self.closed(idle))

    def test_slow_peers_are_sent_away_in_the_end(self):
        slow = []
        for _ in range(60):
            peer = self.server.raw()
            peer.sendall(b"POST /api/phase HTTP/1.1\r\nHost: 127")
            slow.append(peer)
        self.assertEqual(self.server.get("/api/about").status, 200)
        self.assertEqual(self.closed(slow), [])  # nobody had to be sent away for it
        for peer in slow:  # a timeout of the socket, three times the server's patience, fails
            try:
                self.assertEqual(peer.recv(4096), b"")
            except ConnectionResetError:
                pass
            peer.close()

    def test_peers_that_stay_after_their_answer_hold_nobody_up(self):
        text = f"GET /api/about HTTP/1.1\r\nHost: 127.0.0.1:{self.server.port}\r\n\r\n".encode()
        peers = [self.server.raw() for _ in range(200)]
        for peer in peers:
            peer.sendall(text)
        for peer in peers:
            self.assertTrue(peer.recv(4096).startswith(b"HTTP/1.1 "))
        self.assertEqual(self.server.get("/api/about").status, 200)
        for peer in peers:
            peer.close()


class Token(ServeTest):
    NOBODY = {"Authorization": None}

    def cookie(self):
        """As the link gives it to a browser: name=token."""
        answer = self.server.get(f"/?token={self.server.token}", headers=self.NOBODY)
        self.assertEqual(answer.status, 200)
        self.assertNotIn(self.server.token.encode(), answer.body)
        pair, *attributes = answer.headers["set-cookie"].split("; ")
        self.assertEqual(sorted(attributes), ["HttpOnly", "Path=/", "SameSite=Strict"])
        return pair

    def asked_with(self, **headers):
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        return self.server.get("/api/about", headers={**self.NOBODY, **sent})

    def test_there_is_one_unless_it_is_declined(self):
        self.assertRegex(self.server.token, r"^[0-9a-f]{32}$")
        self.assertNotEqual(self.start().token, self.server.token)
        for path in ("/api/about", "/api/studies", "/nothing"):
            answer = self.server.get(path, headers=self.NOBODY)
            self.assertIn("open the link", self.assert_refused(answer, 401)["error"])
            self.assertEqual(answer.headers["www-authenticate"], "Bearer")
        self.assertEqual(self.server.get("/api/about").status, 200)
        body = {"client": "test-tab", "text": "x"}
        self.assert_refused(self.server.post("/api/studies/run", body, headers=self.NOBODY), 401)
        self.assertEqual(self.files(), [])

    def test_declined(self):
        self.ARGUMENTS = ("--no-token",)
        server = self.start()
        self.assertIsNone(server.token)
        self.assertEqual(server.get("/api/about").status, 200)

    def test_a_person_without_it_is_told_where_it_is(self):
        for path in ("/", "/?token=wrong-horse-battery"):
            answer = self.server.get(path, headers=self.NOBODY)
            self.assertEqual(answer.status, 401)
            self.assertTrue(answer.headers["content-type"].startswith("text/html"))
            self.assertIn(b"Open the link", answer.body)
            self.assertNotIn("set-cookie", answer.headers)

    def test_the_link_becomes_a_cookie(self):
        cookie = self.cookie()
        self.assertEqual(self.asked_with(Cookie=cookie).status, 200)
        self.assertEqual(self.asked_with(Cookie=f"other=1; {cookie}; more=2").status, 200)
        name, token = cookie.split("=")
        for wrong in (f"{name}=", f"{name}={token}x", f"x{cookie}", f"{name}=1; other={token}"):
            self.assert_refused(self.asked_with(Cookie=wrong), 401)
        # The address is for the page alone: whatever else is asked for would keep it in a history.
        path = f"/api/about?token={self.server.token}"
        self.assert_refused(self.server.get(path, headers=self.NOBODY), 401)

    def test_a_cookie_does_not_help_another_site(self):
        """A page of another port is the same site to a browser, which sends the cookie."""
        sent = {**self.NOBODY, "Cookie": self.cookie(), "Origin": "http://127.0.0.1:1"}
        body = {"client": "test-tab", "question": {"n": 16}}
        self.assert_refused(self.server.post("/api/phase", body, headers=sent), 403)

    def test_it_comes_from_a_file_or_from_the_environment(self):
        with open(self.path("token"), "w") as file:
            file.write("correct-horse-battery\nstaple\n")
        for arguments, environment, token in (
                (("--token-file", "token"), {}, "correct-horse-battery"),
                ((), {"DEWPOINT_TOKEN": "of-the-environment"}, "of-the-environment"),
                (("--token", "of-the-command-line"), {"DEWPOINT_TOKEN": "of-the-environment"},
                 "of-the-command-line")):
            server = Server(self.folder.name, *arguments, environment=environment)
            self.addCleanup(server.kill)
            self.assertEqual(server.token, token)
            self.assertEqual(server.get("/api/about").status, 200)

    def test_tokens_that_are_refused(self):
        def refused(*arguments, **environment):
            return self.refuse(2, "serve", "--port", "0", *arguments, environment=environment)
        self.assertEqual(refused("--token", "short"),
                         "--token: a token of 5 letters; at least 16 are needed")
        self.assertTrue(refused(DEWPOINT_TOKEN="").startswith("DEWPOINT_TOKEN: "))
        self.assertIn("letters, digits", refused("--token", "with spaces and ; in it"))
        self.assertIn("nowhere", refused("--token-file", "nowhere"))
        self.assertIn("is given beside token; allowed: one of them", refused("--no-token", "--token", "correct-horse-battery"))
        self.assertIn("needs a token", refused("--no-token", "--host", "0.0.0.0"))

    def test_a_browser_is_opened_without_telling_other_users(self):
        with open(self.path("xdg-open"), "w") as file:
            file.write(f"#!/bin/sh\nls -l \"$1\" > '{self.folder.name}/mode'\n"
                       f"cp \"$1\" '{self.folder.name}/copy'\n"
                       f"echo \"$@\" > '{self.folder.name}/new'\n"
                       f"mv '{self.folder.name}/new' '{self.folder.name}/arguments'\n")
        os.chmod(file.name, stat.S_IRWXU)
        path = f"{self.folder.name}:{os.environ['PATH']}"
        server = Server(self.folder.name, "--open", environment={"PATH": path})
        self.addCleanup(server.kill)
        server.wait_for(lambda: os.path.exists(self.path("arguments")))
        with open(self.path("arguments")) as file:
            page = file.read().strip()
        self.assertNotIn(server.token, page)
        with open(self.path("mode")) as file:
            self.assertTrue(file.read().startswith("-rw-------"))
        with open(self.path("copy")) as file:
            self.assertIn(f"http://127.0.0.1:{server.port}/?token={server.token}", file.read())
        self.assertEqual(server.close(), (0, ""))
        self.assertFalse(os.path.exists(page))


if __name__ == "__main__":
    unittest.main()
