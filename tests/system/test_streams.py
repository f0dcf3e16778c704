"""Bodies that flow (bug cases B104, B108, B110; catalogue S128, S293, S294): unbuffered streams, back-pressure, flat memory."""

import threading
import unittest

from harness import SystemTest, request

MIB = 1 << 20
HEAD = b"HTTP/1.1 200 OK\r\n"


class Streams(SystemTest):
    CONFIG = """
version: 1
listeners:
  ingress: { address: "127.0.0.1:0" }
  admin: { address: "127.0.0.1:0", role: admin }
upstreams:
  app: { endpoints: ["@ORIGIN@"], timeouts: { idle: 500ms } }
routes:
  - { name: stream, match: { path: "/stream/**" }, upstream: app, stream: true }
  - { name: all, match: { path: "/**" }, upstream: app }
"""

    def events(self, path, head, parts):
        """An origin that sends `parts` one by one, each only after the client has got the one before."""
        turns = [threading.Event() for _ in parts]
        for turn in turns:
            self.addCleanup(turn.set)

        def handler(exchange):
            # It closes afterwards, and says so: a POST on a connection that dies is not repeated.
            exchange.send(HEAD + b"Connection: close\r\n" + head + b"\r\n")
            for turn, part in zip(turns, parts):
                exchange.wait(turn)
                exchange.send(part)
            exchange.close()
        self.origin.on(path, handler)
        return turns

    def test_server_sent_events_are_not_held(self):
        """B104: the head at once, each event at once, no tag, nothing stored."""
        for framing in (b"", b"Transfer-Encoding: chunked\r\n"):
            with self.subTest(framing):
                path, data = self.path(), [b"data: 1\n\n", b"data: 2\n\n", b"data: 3\n\n"]
                wire = [b"%x\r\n%s\r\n" % (len(d), d) for d in data] + [b"0\r\n\r\n"] if framing else data
                turns = self.events(path, b"Content-Type: text/event-stream\r\nCache-Control: no-cache\r\n" + framing, wire)
                client = self.client()
                client.send(request("GET", path))
                got = client.read_final_head()
                self.assertEqual((got.status, got["ETag"]), (200, None))
                is_chunked = got["Transfer-Encoding"] == "chunked"
                for turn, event in zip(turns, data):
                    turn.set()
                    if is_chunked:
                        self.assertEqual(client.reader.until(b"\r\n", "chunk size"), b"%x\r\n" % len(event))
                    self.assertEqual(client.reader.exactly(len(event), "event"), event)
                    if is_chunked:
                        client.reader.exactly(2, "chunk end")
                if framing:
                    turns[-1].set()
                self.assertEqual(client.reader.to_eof() if not is_chunked else client.reader.exactly(5, "end"),
                                 b"" if not is_chunked else b"0\r\n\r\n")
                client.close()
                before = self.origin.hits(path)
                second = self.client()
                second.send(request("GET", path))
                second.read_final_head()
                self.assertEqual(self.origin.hits(path), before + 1)

    def test_unknown_length_is_passed_on_as_it_comes(self):
        """A body that is still arriving is not held back for its tag for long."""
        path = self.path()
        turns = self.events(path, b"Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n",
                            [b"3\r\nabc\r\n", b"3\r\ndef\r\n0\r\n\r\n"])
        client = self.client()
        client.send(request("GET", path))
        turns[0].set()
        got = client.read_final_head()
        self.assertEqual((got.status, client.reader.until(b"abc", "first part")[-3:]), (200, b"abc"))
        turns[1].set()
        self.assertTrue(client.reader.until(b"0\r\n\r\n", "the rest").endswith(b"def\r\n0\r\n\r\n"))

    def test_stream_route_may_pause(self):
        """`stream: true`: the upstream's idle deadline does not apply, and nothing is held."""
        path = "/stream" + self.path()
        turns = self.events(path, b"Content-Type: application/json\r\nContent-Length: 6\r\nCache-Control: max-age=60\r\n",
                            [b"abc", b"def"])
        client = self.client()
        client.send(request("GET", path))
        got = client.read_final_head()
        self.assertEqual(got["ETag"], None)
        turns[0].set()
        self.assertEqual(client.reader.exactly(3, "first part"), b"abc")
        threading.Event().wait(0.7)                          # longer than `idle`: the one thing that is about time here
        turns[1].set()
        self.assertEqual(client.reader.exactly(3, "second part"), b"def")
        self.assertNotEqual(self.origin.hits(path), 0)

    def test_client_that_leaves_ends_the_stream_at_the_origin(self):
        path, gone = self.path(), threading.Event()

        def handler(exchange):
            exchange.send(HEAD + b"Content-Type: text/event-stream\r\n\r\n")
            while exchange.send(b"data: x\n\n" * 100):
                if gone.wait(0.002):
                    threading.Event().wait(0.002)
            exchange.close()
        self.origin.on(path, handler)
        client = self.client()
        client.send(request("GET", path))
        client.read_final_head()
        client.reset()
        gone.set()
        self.origin.wait_for(lambda o: o.in_flight == 0, "the origin to be let go")

    def test_upload_is_passed_on_as_it_comes(self):
        path, first = self.path(), threading.Event()

        def handler(exchange):
            if exchange.reader.until(b"abc", "first part"):
                first.set()
            exchange.reader.until(b"def", "second part")
            exchange.answer(200, {"Connection": "close"}, b"ok")
            exchange.close()
        self.origin.on(path, handler, early=True)
        client = self.client()
        client.send(request("POST", path, {"Transfer-Encoding": "chunked"}, b"3\r\nabc\r\n"))
        self.assertTrue(first.wait(10), "the first part of the upload is held back")
        client.send(b"3\r\ndef\r\n0\r\n\r\n")
        self.assertEqual(client.read().body, b"ok")

    def test_answer_before_the_upload_ends(self):
        """The origin refuses early; the client hears of it, and the rest of its body is not taken for a request."""
        path, hidden = self.path(), self.hidden()
        self.origin.on(path, lambda e: (e.answer(413, {"Connection": "close"}, b"too big"), e.close()), early=True)
        client = self.client()
        client.send(request("POST", path, {"Content-Length": str(10 + len(hidden))}, b"0123456789"))
        self.origin.wait_hits(path, 1)
        client.send(hidden)
        self.assertEqual(client.read().status, 413)


class FlatMemory(SystemTest):
    SIZE = 200 * MIB

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.block = bytes(range(256)) * (MIB // 256)

    def grows_less_than(self, before, mebibytes):
        grown = self.etagere.grown_since(before) // MIB
        self.assertLess(grown, mebibytes, f"{grown} MiB more resident")

    def test_download(self):
        """S232: too large to be kept, whether it says so or not."""
        for framing in ("length", "chunked"):
            with self.subTest(framing):
                path = self.path()

                def handler(exchange, framing=framing):
                    exchange.send(HEAD + b"Cache-Control: max-age=60\r\n" + (
                        b"Content-Length: %d\r\n\r\n" % self.SIZE if framing == "length" else
                        b"Transfer-Encoding: chunked\r\n\r\n"))
                    for _ in range(self.SIZE // MIB):
                        if not exchange.send(self.block if framing == "length" else b"%x\r\n%s\r\n" % (MIB, self.block)):
                            return
                    if framing == "chunked":
                        exchange.send(b"0\r\n\r\n")
                self.origin.on(path, handler)
                self.get(self.path())
                before = self.etagere.resident_bytes()
                client = self.client()
                client.send(request("GET", path))
                got = client.read_final_head()
                self.assertEqual(got.status, 200)
                if framing == "length":
                    for _ in range(self.SIZE // MIB):
                        self.assertEqual(client.reader.exactly(MIB, "body"), self.block)
                else:
                    self.assertEqual(sum(map(len, client.reader.chunks("body"))), self.SIZE)
                self.grows_less_than(before, 32)

    def test_upload(self):
        path, size = self.path(), [0]

        def handler(exchange):
            length = int(exchange.request["Content-Length"])
            while size[0] < length:
                data = exchange.reader.exactly(min(MIB, length - size[0]), "upload")
                if data != self.block:
                    exchange.origin.violations.append("upload changed on the way")
                size[0] += len(data)
            exchange.answer(200, (), b"ok")
        self.origin.on(path, handler, early=True)
        before = self.etagere.resident_bytes()
        client = self.client(timeout=30)
        client.send(request("POST", path, {"Content-Length": str(self.SIZE)}))
        for _ in range(self.SIZE // MIB):
            client.send(self.block)
        self.assertEqual((client.read().body, size[0]), (b"ok", self.SIZE))
        self.grows_less_than(before, 32)

    def test_slow_clients_hold_the_origin_back(self):
        """S128, S294: what a client does not take is not fetched."""
        path, sent = self.path(), [0]

        def handler(exchange):
            exchange.send(HEAD + b"Cache-Control: no-store\r\nContent-Length: %d\r\n\r\n" % self.SIZE)
            while sent[0] < 20 * self.SIZE and exchange.send(self.block):
                sent[0] += MIB
            exchange.close()
        self.origin.on(path, handler)
        before = self.etagere.resident_bytes()
        clients = [self.client(receive_buffer=4096) for _ in range(8)]
        for client in clients:
            client.send(request("GET", path))
            self.assertEqual(client.read_final_head().status, 200)
        threading.Event().wait(0.5)                          # time in which an unbounded proxy would have read it all
        self.assertLess(sent[0], len(clients) * 24 * MIB)
        self.grows_less_than(before, 32)
        for client in clients:
            client.reset()
        self.origin.wait_for(lambda o: o.in_flight == 0, "the origin to be let go")

    def test_slow_origin_holds_the_client_back(self):
        """S293"""
        path, go = self.path(), threading.Event()
        self.addCleanup(go.set)
        self.origin.on(path, lambda e: (e.wait(go), e.close()), early=True)
        before = self.etagere.resident_bytes()
        client = self.client()
        client.send(request("POST", path, {"Content-Length": str(self.SIZE)}, b"x"))
        self.origin.wait_hits(path, 1)
        client.sock.settimeout(0.5)
        taken = 0
        try:
            while taken < self.SIZE:
                taken += client.sock.send(self.block)
        except TimeoutError:
            pass
        self.assertLess(taken, 40 * MIB)
        self.grows_less_than(before, 32)


if __name__ == "__main__":
    unittest.main()
