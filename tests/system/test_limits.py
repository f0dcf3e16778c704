"""Bounds and deadlines (catalogue S059, S060, S180-S183, S290, S291): each ends in a status or a close, for that client only."""

import resource
import threading
import time
import unittest

from harness import Client, Etagere, Origin, SystemTest, WireError, lines, many, request, response, wait_until

FRESH = {"Cache-Control": "max-age=60"}


class Sizes(SystemTest):
    CONFIG = """
version: 1
listeners:
  ingress: { address: "127.0.0.1:0" }
  small: { address: "127.0.0.1:0", limits: { body: 1KiB, headers: 10, header_bytes: 2KiB, target: 100B } }
  admin: { address: "127.0.0.1:0", role: admin }
upstreams:
  app: { endpoints: ["@ORIGIN@"] }
routes:
  - { name: all, match: { path: "/**" }, upstream: app }
"""

    def refused_by(self, listener, raw, status):
        path = self.path()
        client = Client(self.etagere.listeners[listener])
        self.addCleanup(client.close)
        client.send(raw.replace(b"@P@", path.encode()) + request("GET", path))
        got = client.read()
        self.assertEqual((got.status, got["Connection"]), (status, "close"))
        self.assertTrue(client.closed())
        self.assertEqual([r for r in self.origin.seen(path) if r.complete], [])

    def test_heads(self):
        """S059, S060"""
        get = lambda *more: lines("GET @P@ HTTP/1.1", "Host: a", *more)
        for case, listener, raw, status in (
            ("S059 100 kB section", "ingress", get(*(f"X-{i}: {'v' * 1000}" for i in range(99))), 431),
            ("S059 3000 fields", "ingress", get(*["A: b"] * 3000), 431),
            ("S059 one 64 kB field", "ingress", get("X-A: " + "v" * 65536), 431),
            ("S059 one field without end", "ingress", get()[:-2] + b"X-A: " + b"v" * 200_000, 431),
            ("S059 name without end", "ingress", get()[:-2] + b"v" * 200_000, 431),
            ("S060 64 kB target", "ingress", lines("GET @P@?" + "q" * 65536 + " HTTP/1.1", "Host: a"), 414),
            ("S060 target without end", "ingress", b"GET @P@?" + b"q" * 200_000, 414),
            ("S060 method without end", "ingress", b"G" * 200_000, 431),
            ("small: 11 fields", "small", get(*["A: b"] * 10), 431),
            ("small: 3 kB", "small", get("X-A: " + "v" * 3000), 431),
            ("small: target", "small", lines("GET @P@" + "q" * 200 + " HTTP/1.1", "Host: a"), 414),
        ):
            with self.subTest(case):
                self.refused_by(listener, raw, status)

    def test_bodies(self):
        for case, raw in (
            ("length", request("POST", "@P@", {"Content-Length": "1025"}, b"x" * 1025)),
            ("length, not sent", request("POST", "@P@", {"Content-Length": str(10 ** 12)})),
            ("chunked", request("POST", "@P@", {"Transfer-Encoding": "chunked"}, b"400\r\n" + b"x" * 1024 + b"\r\n1\r\nx\r\n0\r\n\r\n")),
            ("one huge chunk", request("POST", "@P@", {"Transfer-Encoding": "chunked"}, b"fffffffff\r\n" + b"x" * 2000)),
        ):
            with self.subTest(case):
                self.refused_by("small", raw, 413)

    def test_just_inside(self):
        path = self.path()
        self.origin.on(path, response(200, (), b"ok"))
        with Client(self.etagere.listeners["small"]) as client:
            self.assertEqual(client.ask("POST", path, (), b"x" * 1024).status, 200)
            self.assertEqual(client.ask("GET", path + "?" + "q" * 80).status, 200)
            self.assertEqual(client.ask("GET", path, [("A", "b")] * 9).status, 200)


class Deadlines(SystemTest):
    CONFIG = """
version: 1
listeners:
  ingress: { address: "127.0.0.1:0" }
  hasty: { address: "127.0.0.1:0", limits: { header_timeout: 300ms, body_timeout: 300ms, idle_timeout: 300ms,
                                             write_timeout: 300ms } }
  admin: { address: "127.0.0.1:0", role: admin }
upstreams:
  app: { endpoints: ["@ORIGIN@"] }
stores:
  default: { memory: { size: 64MiB, max_object: 32MiB } }
routes:
  - { name: all, match: { path: "/**" }, upstream: app }
"""

    def hasty(self, **more):
        client = Client(self.etagere.listeners["hasty"], **more)
        self.addCleanup(client.close)
        return client

    def cut(self, client, allowed):
        """The connection ends; before that comes nothing or one of `allowed`."""
        try:
            got = client.read()
            self.assertIn(got.status, allowed)
        except WireError:
            self.assertEqual(client.reader.buffer, b"")
        self.assertTrue(client.closed())

    def test_head_that_does_not_end(self):
        """S180: a deadline for the whole head, not for each byte."""
        client = self.hasty()
        stop = threading.Event()

        def drip():
            for byte in b"GET / HTTP/1.1\r\nHost: a\r\nX-A: " + b"v" * 1000:
                if not client.send(bytes([byte])) or stop.wait(0.03):
                    return
        thread = threading.Thread(target=drip)
        start = time.monotonic()
        thread.start()
        self.cut(client, {408})
        self.assertLess(time.monotonic() - start, 5)
        stop.set()
        thread.join()

    def test_many_slow_heads_hurt_nobody(self):
        """S180, scaled"""
        slow = [self.hasty() for _ in range(200)]
        for client in slow:
            client.send(b"GET / HTTP/1.1\r\nHost: a\r\nX-")
        path = self.path()
        self.origin.on(path, response(200, FRESH, b"ok"))
        for _ in range(50):
            self.assertEqual(self.get(path).status, 200)
        for client in slow:
            self.cut(client, {408})

    def test_silent_connection(self):
        """S183"""
        client = self.hasty()
        self.cut(client, set())
        client = self.hasty()
        path = self.path()
        self.origin.on(path, response(200, (), b"ok"))
        self.assertEqual(client.ask("GET", path).status, 200)
        self.cut(client, set())

    def test_body_that_stops(self):
        path = self.path()
        self.origin.on(path, response(200, (), b"ok"))
        client = self.hasty()
        client.send(request("POST", path, {"Content-Length": "10"}, b"abc"))
        self.cut(client, {408})
        self.origin.wait_for(lambda o: o.in_flight == 0, "the upload to be given up")
        self.assertEqual([r for r in self.origin.seen(path) if r.complete], [])

    def test_client_that_does_not_read(self):
        """S182: a hit, too, is cut when nobody takes it."""
        path = self.path()
        self.origin.on(path, response(200, FRESH, b"x" * (16 << 20)))
        self.get(path)
        before = self.etagere.resident_bytes()
        clients = [self.hasty(receive_buffer=4096) for _ in range(20)]
        for client in clients:
            client.send(request("GET", path))
        wait_until(lambda: self.etagere.metric("etagere_connections", listener="hasty") == 0,
                   "the clients that do not read to be cut")
        self.assertLess(self.etagere.grown_since(before), 20 << 20)


class SlowBodies(SystemTest):
    """S181: one byte now and then keeps every pause short, but not the rate up. (The rate is judged after 5 s.)"""

    CONFIG = SystemTest.CONFIG.replace('"127.0.0.1:0" }', '"127.0.0.1:0", limits: { min_body_rate: 1000B/s } }', 1)

    def test_slow_body(self):
        path = self.path()
        self.origin.on(path, response(200, (), b"ok"))
        client = self.client(timeout=15)
        client.send(request("POST", path, {"Content-Length": "100000"}))
        stop = threading.Event()

        def drip():
            while client.send(b"x") and not stop.wait(0.1):
                pass
        thread = threading.Thread(target=drip)
        start = time.monotonic()
        thread.start()
        try:
            self.assertEqual(client.read().status, 408)
        except WireError:
            pass
        self.assertLess(time.monotonic() - start, 12)
        stop.set()
        thread.join()
        self.origin.wait_for(lambda o: o.in_flight == 0, "the upload to be given up")


class Connections(SystemTest):
    CONFIG = """
version: 1
listeners:
  ingress: { address: "127.0.0.1:0", limits: { max_connections: 20 } }
  admin: { address: "127.0.0.1:0", role: admin }
upstreams:
  app: { endpoints: ["@ORIGIN@"], pool: { max_connections: 4, queue: 4, queue_timeout: 300ms } }
routes:
  - { name: all, match: { path: "/**" }, upstream: app }
"""

    def test_full_listener(self):
        """S291: those beyond the bound wait or are refused; admin answers; room that is made is used."""
        path = self.path()
        self.origin.on(path, response(200, FRESH, b"ok"))
        inside = [self.client() for _ in range(20)]
        for client in inside:
            self.assertEqual(client.ask("GET", path).status, 200)
        for _ in range(10):
            try:
                self.client(timeout=0.2).ask("GET", path)
            except (WireError, TimeoutError, OSError):
                pass
        with Client(self.etagere.admin) as admin:
            self.assertEqual(admin.ask("GET", "/livez").status, 200)
        for client in inside:
            self.assertEqual(client.ask("GET", path).status, 200)
            client.close()

        def served():
            try:
                with self.etagere.client(timeout=1) as client:
                    return client.ask("GET", path).status == 200
            except (WireError, TimeoutError, OSError):
                return False
        wait_until(served, "a new client to be served")

    def test_upstream_queue(self):
        """More requests than connections wait, a bounded number and a bounded time; the rest is told 503."""
        path, go = self.path(), threading.Event()
        self.addCleanup(go.set)
        self.origin.on(path, lambda e: (e.wait(go), e.answer(200, {"Cache-Control": "no-store"}, b"ok")))
        results = []

        def ask(number):
            got = self.get(f"{path}?{number}").status
            with self.origin.lock:
                results.append(got)
                if len(results) == 10:                        # all but those that the origin holds
                    go.set()
        many(14, ask)
        self.assertEqual(results, [503] * 10 + [200] * 4)
        self.assertEqual(self.origin.most_in_flight, 4)


class FileDescriptors(unittest.TestCase):
    def test_none_left(self):
        """S290: accepting pauses without a busy loop, and goes on when descriptors are back."""
        origin = Origin()
        self.addCleanup(origin.stop)
        origin.default = lambda e: e.answer(200, FRESH, b"ok")
        etagere = Etagere(SystemTest.CONFIG, values={"ORIGIN": origin.url},
                          preexec=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64)))
        try:
            with etagere.client() as client:
                self.assertEqual(client.ask("GET", "/").status, 200)
            crowd = []
            for _ in range(200):
                try:
                    crowd.append(Client(etagere.address, timeout=5))
                except OSError:
                    break
            before = etagere.cpu_seconds()
            threading.Event().wait(1)
            self.assertLess(etagere.cpu_seconds() - before, 0.4)          # of one second
            for client in crowd:
                client.close()

            def served():
                try:
                    with etagere.client(timeout=1) as client:
                        return client.ask("GET", "/").status == 200
                except (WireError, TimeoutError, OSError):
                    return False
            wait_until(served, "a client to be served after descriptors are back")
        finally:
            etagere.stop()


if __name__ == "__main__":
    unittest.main()
