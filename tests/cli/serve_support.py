"""A real server on a free port, and a client that asks it as a page would."""

import http.client
import json
import os
import re
import signal
import socket
import subprocess
import time

from harness import DEWPOINT, ProgramTest


class Answer:
    def __init__(self, response):
        self.status = response.status
        self.headers = {name.lower(): value for name, value in response.getheaders()}
        self.body = response.read()

    def json(self):
        return json.loads(self.body)


class Server:
    """`dewpoint serve` as a process, asked with the token that it printed; ends with close()."""

    def __init__(self, folder, *arguments, environment=None):
        self.process = subprocess.Popen(
            [DEWPOINT, "serve", "--port", "0", "--dir", folder, *arguments], cwd=folder, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            env={**os.environ, **(environment or {})})
        first = self.process.stdout.readline()
        found = re.search(r"http://[^/]+:(\d+)/(?:\?token=(\S+))?", first)
        if found is None:
            raise AssertionError(f"no address: {first!r} {self.process.communicate()}")
        self.port, self.token = int(found.group(1)), found.group(2)

    @property
    def bearer(self):
        """The header that every request needs."""
        return {"Authorization": f"Bearer {self.token}"} if self.token else {}

    def close(self):
        """Ends it as Ctrl-C would; the exit status and what it said on standard error."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
        _, errors = self.process.communicate(timeout=60)
        return self.process.returncode, errors

    def kill(self):
        self.process.kill()
        self.process.communicate(timeout=60)

    def connect(self, timeout=60):
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)

    def request(self, method, path, body=None, headers=None):
        connection = self.connect()
        try:
            sent = {"Content-Type": "application/json"} if method == "POST" else {}
            sent.update(self.bearer)
            sent.update(headers or {})
            data = body if body is None or isinstance(body, (bytes, str)) else json.dumps(body)
            sent = {name: value for name, value in sent.items() if value is not None}
            connection.request(method, path, data, sent)
            return Answer(connection.getresponse())
        finally:
            connection.close()

    def get(self, path, **options):
        return self.request("GET", path, **options)

    def post(self, path, body, **options):
        return self.request("POST", path, body, **options)

    def ask(self, room, client="test-tab", **question):
        """The view of the job, whatever it is."""
        fields = {name.replace("_", "-"): value for name, value in question.items()}
        return self.post(f"/api/{room}", {"client": client, "question": fields})

    def events(self, path):
        """(event, data) one by one, until the server ends the stream."""
        connection = self.connect()
        try:
            connection.request("GET", path, headers=self.bearer)
            response = connection.getresponse()
            assert response.status == 200, (response.status, response.read())
            name = None
            for line in iter(response.readline, b""):
                line = line.decode().rstrip("\n")
                if line.startswith("event: "):
                    name = line[7:]
                elif line.startswith("data: "):
                    yield name, json.loads(line[6:])
        finally:
            connection.close()

    def complete(self, room, client="test-tab", **question):
        """The last view, by way of the stream."""
        answer = self.ask(room, client, **question)
        assert answer.status in (200, 202), answer.body
        view = answer.json()
        if view["state"] == "done":
            return view
        for name, data in self.events(f"/api/jobs/{view['job']}/events"):
            if name == "result":
                view = data
            if name == "end":
                assert data["state"] == "done", data
                view.update(data)  # the last result may have been told before the end was
        return view

    def wait_for(self, look, seconds=60):
        """Looks until it is true, and returns that."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            found = look()
            if found:
                return found
            time.sleep(0.02)
        raise AssertionError("it never happened")

    def raw(self, timeout=30):
        """A bare connection."""
        return socket.create_connection(("127.0.0.1", self.port), timeout)

    def memory_bytes(self, what):
        """A row of /proc: VmRSS, VmHWM, .."""
        with open(f"/proc/{self.process.pid}/status") as file:
            return int(re.search(rf"{what}:\s+(\d+) kB", file.read()).group(1)) * 1024

    def resident_bytes(self):
        return self.memory_bytes("VmRSS")

    def cpu_seconds(self):
        with open(f"/proc/{self.process.pid}/stat") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class ServeTest(ProgramTest):
    ARGUMENTS = ()

    def setUp(self):
        super().setUp()
        self.server = self.start()

    def start(self):
        server = Server(self.folder.name, *self.ARGUMENTS)
        self.addCleanup(server.kill)
        return server

    def assert_refused(self, answer, status, field="any"):
        self.assertEqual(answer.status, status, answer.body)
        found = answer.json()
        self.assertIsInstance(found["error"], str)
        self.assertNotIn("\n", found["error"])
        if field != "any":
            self.assertEqual(found["field"], field, found)
        return found
