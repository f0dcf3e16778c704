"""Origins that break HTTP (security catalogue S120-S128, bug cases B18, B66, B71, B108, B117)."""

import threading
import unittest

from harness import Origin, SystemTest, WireError, chunked, lines, request, response

OK = b"HTTP/1.1 200 OK\r\n"


class BadHeads(SystemTest):
    CONFIG = """
version: 1
listeners:
  ingress: { address: "127.0.0.1:0" }
  admin: { address: "127.0.0.1:0", role: admin }
upstreams:
  app: { endpoints: ["@ORIGIN@"], timeouts: { first_byte: 500ms, idle: 500ms } }
routes:
  - { name: all, match: { path: "/**" }, upstream: app }
"""

    def answers(self, raw, keep=False):
        """What the client gets (None when cut) for an origin that sends `raw`; the connection must not be reused."""
        path, after = self.path(), self.path()
        self.origin.on(path, lambda e: (e.send(raw), None if keep else e.close()))
        self.origin.on(after, response(200, (), after.encode()))
        client = self.client()
        client.send(request("GET", path))
        try:
            got = client.read()
        except WireError:
            got = None
        self.assertEqual(self.get(after).body, after.encode())
        return got, path, after

    def test_502(self):
        big = b"X-Big: " + b"a" * 300_000 + b"\r\n"
        for case, raw in (
            ("S120 two lengths", OK + b"Content-Length: 3\r\nContent-Length: 4\r\n\r\nabcd"),
            *((f"S120 B117 length {value!r}", OK + b"Content-Length: " + value + b"\r\n\r\nabcde")
              for value in (b"5x", b"bogus", b"5, 6", b"-1", b"+5", b"0x5", b"5 5", b"18446744073709551621", b"")),
            ("S121 unknown coding", OK + b"Transfer-Encoding: xchunked\r\n\r\nabc"),
            ("S121 gzip, chunked", OK + b"Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n"),
            ("S121 chunked twice", OK + b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
            ("S121 HTTP/1.0 with chunked", b"HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
            ("S126 not HTTP", b"SSH-2.0-OpenSSH_9.2\r\n"),
            ("S126 garbage", bytes(range(256))),
            ("S126 status 1000", b"HTTP/1.1 1000 A\r\nContent-Length: 0\r\n\r\n"),
            ("S126 status 99", b"HTTP/1.1 99 A\r\nContent-Length: 0\r\n\r\n"),
            ("S126 status 000", b"HTTP/1.1 000 A\r\nContent-Length: 0\r\n\r\n"),
            ("S126 status -200", b"HTTP/1.1 -200 A\r\nContent-Length: 0\r\n\r\n"),
            ("S126 status 2x0", b"HTTP/1.1 2x0 A\r\nContent-Length: 0\r\n\r\n"),
            ("S126 HTTP/9.9", b"HTTP/9.9 200 A\r\nContent-Length: 0\r\n\r\n"),
            ("S126 HTTP/2.0", b"HTTP/2.0 200 A\r\nContent-Length: 0\r\n\r\n"),
            ("S126 status line only", b"HTTP/1.1 200 OK\r\n"),
            ("S126 nothing", b""),
            ("S126 cut inside a field", OK + b"Content-Le"),
            ("S127 300 kB of fields", OK + big + b"Content-Length: 0\r\n\r\n"),
            ("S127 10 000 fields", OK + b"A: b\r\n" * 10_000 + b"Content-Length: 0\r\n\r\n"),
        ):
            with self.subTest(case):
                got, path, _ = self.answers(raw)
                self.assertEqual(got.status if got else None, 502)
                self.assertEqual(self.get(path).status, 502)             # nothing of it was stored

    def test_cleaned_or_502(self):
        """S125, S223: what could split a response for somebody else never leaves."""
        for case, line in (
            ("space before the colon", b"X-A : b"),
            ("folded", b"X-A: b\r\n Set-Cookie: c=d"),
            ("bare CR", b"X-A: b\rSet-Cookie: c=d"),
            ("bare LF", b"X-A: b\nSet-Cookie: c=d"),
            ("NUL", b"X-A: b\0c"),
            ("no colon", b"X-A"),
            ("empty name", b": b"),
        ):
            for again in range(2):
                with self.subTest(case, again=again):
                    got, _, _ = self.answers(OK + line + b"\r\nCache-Control: max-age=60\r\nContent-Length: 2\r\n\r\nok")
                    self.assertIsNotNone(got)                # the client's reader refuses every one of these lines
                    self.assertIn(got.status, (200, 502))

    def test_equal_lengths(self):
        """B117: `5, 5` may be taken for 5."""
        for raw in (b"Content-Length: 5, 5\r\n", b"Content-Length: 5\r\nContent-Length: 5\r\n"):
            got, _, _ = self.answers(OK + raw + b"\r\nabcde")
            self.assertIn((got.status, got.body), ((200, b"abcde"), (502, got.body)))

    def test_length_and_coding(self):
        """S121: the coding wins or 502; the connection is not used again."""
        path = self.path()
        self.origin.on(path, OK + b"Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabcde\r\n0\r\n\r\n")
        got = self.get(path)
        self.assertIn(got.status, (200, 502))
        if got.status == 200:
            self.assertEqual(got.body, b"abcde")
        after = self.path()
        self.get(after)
        self.assertNotEqual(self.origin.seen(path)[0].connection, self.origin.seen(after)[0].connection)

    def test_no_answer_at_all(self):
        """S296: 504, not a wait without end."""
        hold = threading.Event()
        self.addCleanup(hold.set)
        path = self.path()
        self.origin.on(path, lambda e: (e.wait(hold), e.close()))
        self.assertEqual(self.get(path).status, 504)

    def test_stall_inside_the_body(self):
        hold = threading.Event()
        self.addCleanup(hold.set)
        path = self.path()
        self.origin.on(path, lambda e: (e.send(OK + b"Cache-Control: max-age=60\r\nContent-Length: 10\r\n\r\nabcde"),
                                        e.wait(hold), e.close()))
        with self.assertRaises(WireError):
            self.get(path)
        self.origin.on(path, response(200, (), b"whole"))
        self.assertEqual(self.get(path).body, b"whole")

    def test_nobody_listens(self):
        """S295"""
        self.origin.close_connections()
        port, lonely = self.origin.address[1], Origin()
        lonely.stop()
        self.assertNotEqual(port, lonely.address[1])
        config = self.CONFIG.replace("@ORIGIN@", lonely.url)
        self.assertTrue(self.etagere.reload(config))
        self.assertEqual(self.get(self.path()).status, 502)
        self.assertTrue(self.etagere.reload(self.CONFIG))


class LeftOverBytes(SystemTest):
    CONFIG = SystemTest.CONFIG + "workers: 1\n"

    def test_bytes_after_the_body(self):
        """S123: response queue poisoning."""
        poison = response(200, {"Cache-Control": "max-age=60"}, b"poison")
        for case, raw in (("length", response(200, (), b"right") + poison),
                          ("chunked", response(200, {"Transfer-Encoding": "chunked"}, chunked(b"right")) + poison),
                          ("one byte", response(200, (), b"right") + b"\n"),
                          ("204", response(204) + poison),
                          ("304-like empty", response(200, {"Content-Length": "0"}) + poison)):
            with self.subTest(case):
                path = self.path()
                self.origin.on(path, raw)
                first = self.get(path)
                self.assertIn(first.body, (b"right", b""))
                for _ in range(3):
                    after = self.path()
                    self.origin.on(after, response(200, (), after.encode()))
                    self.assertEqual(self.get(after).body, after.encode())

    def test_unsolicited_response_on_an_idle_connection(self):
        """S123"""
        path, sent, go = self.path(), threading.Event(), threading.Event()

        def handler(exchange):
            exchange.answer(200, {"Cache-Control": "no-store"}, b"right")
            exchange.wait(go)
            exchange.answer(200, {"Cache-Control": "max-age=60"}, b"poison")
            sent.set()
        self.origin.on(path, handler)
        self.assertEqual(self.get(path).body, b"right")
        go.set()
        sent.wait(10)
        for _ in range(3):
            after = self.path()
            self.origin.on(after, response(200, (), after.encode()))
            self.assertEqual(self.get(after).body, after.encode())

    def test_head_with_a_body(self):
        """An origin that sends a body to HEAD: its bytes are nobody's response."""
        path = self.path()
        self.origin.on(path, response(200, {"Cache-Control": "no-store"}, b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\npoison"))
        client = self.client()
        self.assertEqual(client.ask("HEAD", path).status, 200)
        after = self.path()
        self.origin.on(after, response(200, (), after.encode()))
        self.assertEqual(client.ask("GET", after).body, after.encode())

    def test_304_with_a_chunked_body(self):
        """B18 b: no hang, and the bytes after it are not the next answer."""
        path = self.path()
        self.origin.on(path, [
            response(200, {"ETag": '"v1"', "Cache-Control": "max-age=0"}, b"kept"),
            lines("HTTP/1.1 304 Not Modified", 'ETag: "v1"', "Transfer-Encoding: chunked") + b"0\r\n\r\n"])
        self.assertEqual(self.get(path).body, b"kept")
        self.assertEqual(self.get(path).body, b"kept")
        after = self.path()
        self.origin.on(after, response(200, (), after.encode()))
        self.assertEqual(self.get(after).body, after.encode())

    def test_304_and_204_keep_the_client_connection_in_step(self):
        """B18 a"""
        path, empty = self.path(), self.path()
        self.origin.on(path, response(200, {"ETag": '"v1"', "Cache-Control": "max-age=60"}, b"kept"))
        self.origin.on(empty, response(204))
        client = self.client()
        client.ask("GET", path)
        self.assertEqual(client.ask("GET", path, {"If-None-Match": '"v1"'}).status, 304)
        self.assertEqual(client.ask("GET", path).body, b"kept")
        self.assertEqual(client.ask("GET", empty).status, 204)
        self.assertEqual(client.ask("HEAD", path)["Content-Length"], "4")
        self.assertEqual(client.ask("GET", path).body, b"kept")

    def test_trailers_have_no_effect(self):
        """B108, RFC 9110 §6.5.1"""
        path = self.path()
        trailers = [("Connection", "close"), ("Content-Length", "5"), ("Upgrade", "x"), ("Transfer-Encoding", "chunked"),
                    ("Set-Cookie", "a=b"), ("Cache-Control", "no-store")]
        self.origin.on(path, response(200, {"Transfer-Encoding": "chunked", "Cache-Control": "max-age=60"},
                                      chunked(b"body", trailers=trailers)))
        client = self.client()
        for why in (None, "hit_fresh"):
            got = client.ask("GET", path)
            self.assertEqual(got.body, b"body")
            for name, _ in trailers:
                self.assertNotIn(name, got.trailers)
            for name in ("Upgrade", "Set-Cookie"):
                self.assertNotIn(name, got.fields)
            self.assertEqual(got["Cache-Control"], "max-age=60")
            if why:
                self.assertEqual(got.why, why)


class OldOrigins(SystemTest):
    """What looks odd but is HTTP."""

    def test_body_until_close(self):
        for version in ("HTTP/1.0", "HTTP/1.1"):
            with self.subTest(version):
                path = self.path()
                self.origin.on(path, lambda e, v=version: (e.send(f"{v} 200 OK\r\n\r\nuntil close".encode()), e.close()))
                self.assertEqual(self.get(path).body, b"until close")

    def test_one_byte_a_segment(self):
        path = self.path()
        raw = response(200, {"Transfer-Encoding": "chunked", "Cache-Control": "max-age=60"}, chunked(b"abc", b"d"))
        self.origin.on(path, lambda e: e.send(raw, bytewise=True))
        for _ in range(2):
            self.assertEqual(self.get(path).body, b"abcd")
        self.assertEqual(self.origin.hits(path), 1)

    def test_empty_reason_and_spaces(self):
        path = self.path()
        self.origin.on(path, b"HTTP/1.1 200 \r\nContent-Length:2\r\nX-A:   b \t\r\n\r\nok")
        got = self.get(path)
        self.assertEqual((got.status, got.body, got["X-A"]), (200, b"ok", "b"))

    def test_unknown_statuses_pass(self):
        for status in (299, 418, 451, 499, 599):
            with self.subTest(status):
                path = self.path()
                self.origin.on(path, response(status, (), b"x"))
                self.assertEqual(self.get(path).status, status)


if __name__ == "__main__":
    unittest.main()
