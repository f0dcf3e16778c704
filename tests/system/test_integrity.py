"""What is replayed is what was stored (bug cases B66-B76, B101): status, fields and bytes, however it is asked for."""

import threading
import unittest

from harness import SystemTest, chunked, many, request, response

FRESH = {"Cache-Control": "max-age=60"}


class Replay(SystemTest):
    def test_chunked_body_comes_back_with_a_length(self):
        """B71: no stored Transfer-Encoding, no Connection-bound field."""
        path = self.path()
        self.origin.on(path, response(200, {**FRESH, "Transfer-Encoding": "chunked", "Connection": "X-Hop", "X-Hop": "1",
                                            "Keep-Alive": "timeout=5", "Content-Type": "application/json"},
                                      chunked(b'{"a":', b"1}")))
        for _ in range(3):
            got = self.get(path)
            self.assertEqual((got.body, got["Content-Type"]), (b'{"a":1}', "application/json"))
            self.assertNotIn("X-Hop", got.fields)
        self.assertEqual((got["Content-Length"], got["Transfer-Encoding"], self.origin.hits(path)), ("7", None, 1))

    def test_everything_else_is_kept(self):
        fields = [("Cache-Control", "max-age=60"), ("Content-Type", "text/x; a=\"b, c\""), ("Content-Language", "de"),
                  ("Link", "</a>; rel=x"), ("Link", "</b>; rel=y"), ("X-Empty", ""), ("X-High", "caf\xe9"),
                  ("Last-Modified", "Mon, 01 Jan 2024 00:00:00 GMT"), ("ETag", '"v1"'), ("Content-Encoding", "br"),
                  ("Access-Control-Allow-Origin", "*"), ("X-Same", "1"), ("x-same", "2")]
        for status in (200, 203, 301, 404, 410):
            with self.subTest(status):
                path = self.path()
                self.origin.on(path, response(status, fields, bytes(range(256))))
                first, second = self.get(path), self.get(path)
                self.assertEqual((second.status, second.body, second.why), (status, bytes(range(256)), "hit_fresh"))
                for name in {name.lower() for name, _ in fields}:
                    self.assertEqual(second.fields.all(name), first.fields.all(name), name)
                    self.assertEqual(second.fields.all(name), [v for n, v in fields if n.lower() == name], name)

    def test_hits_do_not_change_the_entry(self):
        """B101"""
        path = self.path()
        self.origin.on(path, response(200, {**FRESH, "ETag": '"v1"', "Vary": "X-A", "X-B": "c"}, b"0123456789"))
        client = self.client()
        asks = [("GET", {}), ("HEAD", {}), ("GET", {"If-None-Match": '"v1"'}), ("GET", {"Range": "bytes=2-4"}),
                ("GET", {"If-None-Match": '"other"'}), ("GET", {"If-Match": '"other"'}), ("GET", {"Connection": "X-B"}),
                ("GET", {"Cache-Control": "no-cache"})]
        first = client.ask("GET", path)
        for method, fields in asks:
            client.ask(method, path, fields)
            again = client.ask("GET", path)
            self.assertEqual((again.status, again.body, again["ETag"], again["Vary"], again["X-B"], again["Date"]),
                             (200, b"0123456789", '"v1"', "X-A", "c", first["Date"]))

    def test_range_of_a_404(self):
        """B76"""
        path = self.path()
        self.origin.on(path, response(404, FRESH, b"not here"))
        for _ in range(2):
            got = self.get(path, {"Range": "bytes=0-3"})
            self.assertEqual((got.status, got.body), (404, b"not here"))

    def test_empty_body(self):
        path = self.path()
        self.origin.on(path, response(200, FRESH, b""))
        for _ in range(2):
            got = self.get(path)
            self.assertEqual((got.status, got.body, got["Content-Length"]), (200, b"", "0"))
        self.assertEqual(self.origin.hits(path), 1)

    def test_body_until_close_is_stored_whole(self):
        path = self.path()
        self.origin.on(path, lambda e: (e.send(b"HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\n\r\nall of it"), e.close()))
        for _ in range(2):
            self.assertEqual(self.get(path).body, b"all of it")

    def test_sizes_around_buffers(self):
        for size in (1, 4095, 4096, 4097, 16383, 16384, 16385, 65535, 65536, 65537, 1_000_003, 4 << 20):
            for framing in ("length", "chunked"):
                with self.subTest(size, framing=framing):
                    path, body = self.path(), (b"%d:" % size * (size // 2 + 1))[:size]
                    raw = (response(200, FRESH, body) if framing == "length" else
                           response(200, {**FRESH, "Transfer-Encoding": "chunked"}, chunked(body[:size // 3], body[size // 3:])
                                    if size > 2 else chunked(body)))
                    self.origin.on(path, raw)
                    for _ in range(2):
                        self.assertEqual(self.get(path).body, body)
                    self.assertEqual(self.origin.hits(path), 1)

    def test_client_that_leaves_does_not_spoil_the_entry(self):
        path, go, body = self.path(), threading.Event(), b"x" * 1_000_000
        self.addCleanup(go.set)
        self.origin.on(path, lambda e: (e.send(b"HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nContent-Length: 1000000\r\n\r\n"
                                               + body[:500_000]), e.wait(go), e.send(body[500_000:])))
        client = self.client()
        client.send(request("GET", path))
        client.read_final_head()
        client.reset()
        go.set()
        for _ in range(2):
            self.assertEqual(self.get(path).body, body)

    def test_concurrent_hits(self):
        paths = [self.path() for _ in range(8)]
        for path in paths:
            self.origin.on(path, response(200, FRESH, path.encode() * 1000))
            self.get(path)

        def run(index):
            with self.etagere.client() as client:
                for step in range(40):
                    path = paths[(index + step) % len(paths)]
                    if client.ask("GET", path).body != path.encode() * 1000:
                        return path
            return None
        self.assertEqual([wrong for wrong in many(8, run) if wrong], [])

    def test_new_body_replaces_the_old_while_it_is_read(self):
        """A reader pins what it reads: replacing, evicting and invalidating do not tear it."""
        path = self.path()
        self.origin.on(path, response(200, FRESH, b"a" * 3_000_000))
        self.get(path)
        slow = self.client(receive_buffer=4096)
        slow.send(request("GET", path))
        slow.read_final_head()
        self.origin.on(path, response(200, (), b"done"))
        self.ask("POST", path, (), b"x")
        self.origin.on(path, response(200, FRESH, b"b" * 3_000_000))
        self.assertEqual(self.get(path).body, b"b" * 3_000_000)
        self.assertEqual(slow.reader.exactly(3_000_000, "the old body"), b"a" * 3_000_000)


class Eviction(SystemTest):
    """The memory store stays inside its budget, and what was thrown out is asked for again."""

    CONFIG = SystemTest.CONFIG.replace("size: 64MiB, max_object: 4MiB", "size: 4MiB, max_object: 1MiB")

    def test_budget(self):
        paths = [self.path() for _ in range(60)]
        for path in paths:
            self.origin.on(path, response(200, FRESH, path.encode().ljust(200_000, b".")))
            self.get(path)
        stored = self.etagere.metric("etagere_store_bytes")
        self.assertLessEqual(stored, 4 * 1024 * 1024)
        self.assertGreater(stored, 2 * 1024 * 1024)
        for path in paths:
            self.assertEqual(self.get(path).body, path.encode().ljust(200_000, b"."))

    def test_larger_than_max_object(self):
        path = self.path()
        self.origin.on(path, response(200, FRESH, b"x" * (1024 * 1024 + 1)))
        for _ in range(2):
            self.assertEqual(len(self.get(path).body), 1024 * 1024 + 1)
        self.assertEqual((self.origin.hits(path), self.get(path).why), (2, "nostore_too_large"))

    def test_unknown_length_larger_than_max_object(self):
        path = self.path()
        self.origin.on(path, response(200, {**FRESH, "Transfer-Encoding": "chunked"}, chunked(*[b"x" * 100_000] * 15)))
        for _ in range(2):
            self.assertEqual(len(self.get(path).body), 1_500_000)
        self.assertEqual(self.origin.hits(path), 2)


if __name__ == "__main__":
    unittest.main()
