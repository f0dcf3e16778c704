"""Expect, interim responses, Upgrade, hop-by-hop fields and retries (security catalogue S090-S111)."""

import threading
import unittest

from harness import Client, SystemTest, WireError, chunked, lines, request, response

EXPECT = {"Expect": "100-continue"}


class Expectations(SystemTest):
    CONFIG = """
version: 1
listeners:
  ingress: { address: "127.0.0.1:0" }
  impatient: { address: "127.0.0.1:0", limits: { body_timeout: 300ms } }
  admin: { address: "127.0.0.1:0", role: admin }
upstreams:
  app: { endpoints: ["@ORIGIN@"] }
routes:
  - { name: all, match: { path: "/**" }, upstream: app }
"""

    def test_continue_then_body(self):
        """S090, RFC 9110 §10.1.1"""
        for case, framing, body in (("length", {"Content-Length": "5"}, b"abcde"),
                                    ("chunked", {"Transfer-Encoding": "chunked"}, chunked(b"abcde"))):
            with self.subTest(case):
                path = self.path()
                self.origin.on(path, response(200, (), b"ok"))
                client = self.client()
                client.send(request("POST", path, {**framing, **EXPECT}))
                self.assertEqual(client.read_head().status, 100)
                client.send(body)
                got = client.read()
                self.assertEqual((got.status, got.interim), (200, []))
                self.assertEqual(self.origin.seen(path)[0].body, b"abcde")

    def test_body_sent_without_waiting(self):
        path = self.path()
        self.origin.on(path, response(200, (), b"ok"))
        got = self.ask("POST", path, {**EXPECT, "Content-Length": "5"}, b"abcde")
        self.assertEqual((got.status, self.origin.seen(path)[0].body), (200, b"abcde"))
        self.assertLessEqual(len(got.interim), 1)

    def test_refused_before_the_body(self):
        """The origin's final answer arrives although the body was never sent; the connection is not reused for it."""
        path = self.path()
        self.origin.on(path, lambda e: (e.answer(413, {"Connection": "close"}, b"too big"), e.close()), early=True)
        client = self.client()
        client.send(request("POST", path, {**EXPECT, "Content-Length": "5"}))
        got = client.read_head()
        if got.status == 100:
            client.send(b"abcde")
            got = client.read_head()
        self.assertEqual(got.status, 413)

    def test_no_interim_for_http_1_0(self):
        """S097: Expect of a 1.0 client is ignored, and it gets no 1xx at all."""
        path = self.path()
        self.origin.on(path, lambda e: e.send(b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" + response(200, (), b"ok")))
        got = self.ask("POST", path, {**EXPECT, "Content-Length": "5"}, b"abcde", version="HTTP/1.0")
        self.assertEqual((got.status, got.interim), (200, []))

    def test_expectations_nobody_knows(self):
        """S093: 417, or ignored; never two readings of the body."""
        for value in ("foo", "y 100-continue", "100-continue, foo", "100-continue;q=1", ""):
            with self.subTest(value):
                path, hidden = self.path(), self.hidden()
                self.origin.on(path, response(200, (), b"ok"))
                client = self.client()
                client.send(request("POST", path, {"Expect": value, "Content-Length": str(len(hidden))}, hidden))
                got = client.read()
                self.assertIn(got.status, (200, 417))
                if got.status == 200:
                    self.assertEqual(self.origin.seen(path)[0].body, hidden)
                else:
                    self.assertTrue(client.closed())

    def test_body_that_never_comes(self):
        """S095: cut by the body deadline; nothing is held at the origin."""
        path = self.path()
        self.origin.on(path, response(200, (), b"ok"))
        with Client(self.etagere.listeners["impatient"]) as client:
            client.send(request("POST", path, {**EXPECT, "Content-Length": "5"}))
            try:
                self.assertEqual(client.read().status, 408)
            except WireError:
                pass
            self.assertTrue(client.closed())
        self.origin.wait_for(lambda o: o.in_flight == 0, "the upload to be given up")
        self.assertEqual([r for r in self.origin.seen(path) if r.complete], [])


class InterimResponses(SystemTest):
    def test_early_hints_at_once(self):
        """S096, B119, RFC 9110 §15.2: a 103 is passed on before the final response exists, and is not part of it."""
        path, hold = self.path(), threading.Event()
        self.origin.on(path, lambda e: (e.send(b"HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\n"), e.wait(hold),
                                        e.answer(200, {"Cache-Control": "max-age=60"}, b"final")))
        client = self.client()
        client.send(request("GET", path))
        early = client.read_head()
        self.assertEqual((early.status, early["Link"]), (103, "</a.css>"))
        hold.set()
        got = client.read()
        self.assertEqual((got.status, got.body, got["Link"], got.interim), (200, b"final", None, []))
        again = client.ask("GET", path)
        self.assertEqual((again.why, again.body, again["Link"], again.interim), ("hit_fresh", b"final", None, []))

    def test_several_before_the_final_one(self):
        """S096"""
        path = self.path()
        self.origin.on(path, b"HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"
                             b"HTTP/1.1 103 Early Hints\r\nLink: </b>\r\n\r\n" + response(200, (), b"final"))
        got = self.get(path)
        self.assertEqual((got.status, got.body), (200, b"final"))
        self.assertEqual([r["Link"] for r in got.interim if r.status == 103], ["</a>", "</b>"])

    def test_continue_that_was_not_asked_for(self):
        path = self.path()
        self.origin.on(path, b"HTTP/1.1 100 Continue\r\n\r\n" + response(200, (), b"final"))
        self.assertEqual(self.get(path).body, b"final")

    def test_interim_without_end(self):
        """S098: bounded; the final response or 502."""
        path = self.path()
        self.origin.on(path, b"HTTP/1.1 102 Processing\r\n\r\n" * 5000 + response(200, (), b"final"))
        self.assertIn(self.get(path).status, (200, 502))

    def test_no_interim_for_http_1_0(self):
        """S097"""
        path = self.path()
        self.origin.on(path, b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" + response(200, (), b"final"))
        got = self.ask("GET", path, version="HTTP/1.0")
        self.assertEqual((got.status, got.interim), (200, []))


UPGRADE = {"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
           "Sec-WebSocket-Version": "13"}


class Upgrades(SystemTest):
    def switching(self, then):
        def handler(exchange):
            exchange.send(lines("HTTP/1.1 101 Switching Protocols", "Connection: Upgrade", "Upgrade: websocket"))
            then(exchange)
            exchange.close()
        return handler

    def test_websocket(self):
        """S102: after the 101 both directions are bytes, and either end's close reaches the other."""
        path = self.path()

        def echo(exchange):
            while exchange.reader.buffer or exchange.reader.fill():
                exchange.send(exchange.reader.take(65536))
        self.origin.on(path, self.switching(echo))
        client = self.client()
        client.send(request("GET", path, UPGRADE))
        got = client.read()
        self.assertEqual((got.status, got["Upgrade"].lower(), got["Connection"].lower()), (101, "websocket", "upgrade"))
        seen = self.origin.seen(path)[0]
        self.assertEqual((seen["Upgrade"], seen["Sec-WebSocket-Key"]), ("websocket", UPGRADE["Sec-WebSocket-Key"]))
        for data in (b"\x81\x05hello", b"GET /x HTTP/1.1\r\n\r\n", bytes(range(256)) * 1000):
            client.send(data)
            self.assertEqual(client.reader.exactly(len(data), "echo"), data)
        client.close()
        self.origin.wait_for(lambda o: o.in_flight == 0, "the tunnel to be closed at the origin's end")

    def test_websocket_closed_by_the_origin(self):
        """S102"""
        path = self.path()
        self.origin.on(path, self.switching(lambda e: e.send(b"bye")))
        client = self.client()
        client.send(request("GET", path, UPGRADE))
        self.assertEqual(client.read().status, 101)
        self.assertEqual(client.reader.to_eof(), b"bye")

    def test_bytes_right_behind_the_101(self):
        path = self.path()
        self.origin.on(path, lambda e: (e.send(lines("HTTP/1.1 101 Switching Protocols", "Connection: Upgrade",
                                                     "Upgrade: websocket") + b"\x81\x01a"), e.close()))
        client = self.client()
        client.send(request("GET", path, UPGRADE))
        self.assertEqual(client.read().status, 101)
        self.assertEqual(client.reader.to_eof(), b"\x81\x01a")

    def test_refused_upgrade_leaves_http(self):
        """S099 (CVE-2026-2833): nothing behind the request reaches the origin before a 101."""
        path, second = self.path(), self.path()
        for each in (path, second):
            self.origin.on(each, response(200, (), each.encode()))
        client = self.client()
        client.send(request("GET", path, UPGRADE) + request("GET", second))
        self.assertEqual(client.read().body, path.encode())
        self.assertEqual(client.read().body, second.encode())
        self.assertEqual(len(self.origin.seen(second)), 1)

    def test_upgrade_with_a_body(self):
        """CVE-2026-58055 (nghttpx): one reading of the body."""
        path, hidden = self.path(), self.hidden()
        self.origin.on(path, response(200, (), b"ok"))
        client = self.client()
        client.send(request("POST", path, {**UPGRADE, "Content-Length": str(len(hidden))}, hidden))
        got = client.read()
        self.assertIn(got.status, (200, 400))
        if got.status == 200:
            self.assertEqual(self.origin.seen(path)[0].body, hidden)

    def test_h2c_is_stripped(self):
        """S101"""
        path = self.path()
        self.origin.on(path, response(200, (), b"ok"))
        self.get(path, {"Connection": "Upgrade, HTTP2-Settings", "Upgrade": "h2c", "HTTP2-Settings": "AAMAAABkAAQCAAAAAAIAAAAA"})
        [seen] = self.origin.seen(path)
        for name in ("Upgrade", "HTTP2-Settings", "Connection"):
            self.assertNotIn("h2c", seen[name] or "")
            self.assertNotIn("HTTP2", (seen[name] or "").upper())

    def test_upgrade_without_connection_is_dropped(self):
        path = self.path()
        self.origin.on(path, response(200, (), b"ok"))
        self.get(path, {"Upgrade": "websocket"})
        self.assertNotIn("Upgrade", self.origin.seen(path)[0].fields)

    def test_101_that_nobody_asked_for(self):
        """S103"""
        path = self.path()
        self.origin.on(path, lambda e: (e.send(lines("HTTP/1.1 101 Switching Protocols", "Connection: Upgrade",
                                                     "Upgrade: websocket")), e.close()))
        self.assertEqual(self.get(path).status, 502)


class HopByHop(SystemTest):
    HOP = {"Connection": "X-Hop, keep-alive", "X-Hop": "1", "Keep-Alive": "timeout=5", "Proxy-Connection": "keep-alive",
           "TE": "trailers", "Proxy-Authorization": "Basic eA=="}

    def test_removed_from_requests(self):
        """S104, RFC 9110 §7.6.1"""
        path = self.path()
        self.origin.on(path, response(200, (), b"ok"))
        self.get(path, {**self.HOP, "X-End": "2"})
        [seen] = self.origin.seen(path)
        for name in ("X-Hop", "Keep-Alive", "Proxy-Connection", "TE", "Proxy-Authorization"):
            self.assertNotIn(name, seen.fields)
        self.assertEqual(seen["X-End"], "2")

    def test_removed_from_responses(self):
        """S104, S221, B71: from the first answer and from the stored one"""
        path = self.path()
        self.origin.on(path, response(200, {"Connection": "X-Hop, Keep-Alive", "X-Hop": "1", "Keep-Alive": "timeout=5",
                                            "Proxy-Connection": "keep-alive", "X-End": "2", "Cache-Control": "max-age=60",
                                            "Proxy-Authenticate": "Basic", "Transfer-Encoding": "chunked"},
                                      chunked(b"body")))
        for _ in range(2):
            got = self.get(path)
            self.assertEqual((got.body, got["X-End"]), (b"body", "2"))
            for name in ("X-Hop", "Keep-Alive", "Proxy-Connection"):
                self.assertNotIn(name, got.fields)
        self.assertEqual((got.why, got["Content-Length"], got["Transfer-Encoding"]), ("hit_fresh", "4", None))

    def test_naming_end_to_end_fields_in_connection(self):
        """S106: what the proxy and the origin need survives."""
        path = self.path()
        self.origin.on(path, response(200, (), b"ok"))
        self.get(path, {"Connection": "X-Forwarded-For, X-Forwarded-Proto, X-Forwarded-Host, Via, X-Request-Id, Host, "
                                      "Content-Length, close"})
        [seen] = self.origin.seen(path)
        self.assertEqual((seen["Host"], seen["X-Forwarded-For"], seen["X-Forwarded-Proto"]),
                         ("shop.test", "127.0.0.1", "http"))
        self.assertIn("etagere", seen["Via"])

    def test_connection_names_from_the_origin(self):
        """S106: an origin cannot make us drop what frames or judges its answer."""
        path = self.path()
        self.origin.on(path, response(200, {"Connection": "Cache-Control, Content-Length, Via, Date",
                                            "Cache-Control": "no-store"}, b"body"))
        for _ in range(2):
            self.assertEqual(self.get(path).body, b"body")
        self.assertEqual(self.origin.hits(path), 2)

    def test_http_1_0_client(self):
        """S108"""
        path = self.path()
        self.origin.on(path, response(200, {"Transfer-Encoding": "chunked"}, chunked(b"abc", b"def")))
        client = self.client()
        client.send(lines(f"GET {path} HTTP/1.0"))
        got = client.read()
        self.assertEqual((got.body, got["Transfer-Encoding"]), (b"abcdef", None))
        self.assertTrue(client.closed())

    def test_http_1_0_keep_alive(self):
        path = self.path()
        self.origin.on(path, response(200, {"Cache-Control": "max-age=60"}, b"abc"))
        client = self.client()
        for _ in range(2):
            client.send(lines(f"GET {path} HTTP/1.0", "Connection: keep-alive"))
            got = client.read()
            self.assertEqual((got.body, (got["Connection"] or "").lower()), (b"abc", "keep-alive"))

    def test_connection_close_is_obeyed(self):
        path = self.path()
        self.origin.on(path, response(200, (), b"abc"))
        client = self.client()
        client.send(request("GET", path, {"Connection": "close"}) + request("GET", path))
        got = client.read()
        self.assertEqual(got["Connection"], "close")
        self.assertTrue(client.closed())
        self.assertEqual(self.origin.hits(path), 1)


class Retries(SystemTest):
    CONFIG = """
version: 1
listeners:
  ingress: { address: "127.0.0.1:0" }
  admin: { address: "127.0.0.1:0", role: admin }
workers: 1
upstreams:
  app: { endpoints: ["@ORIGIN@"], pool: { idle_timeout: 60s } }
routes:
  - { name: all, match: { path: "/**" }, upstream: app }
"""

    def warm(self):
        """Leaves one idle connection in the pool."""
        path = self.path()
        self.origin.on(path, response(200, {"Cache-Control": "no-store"}, b"ok"))
        self.assertEqual(self.get(path).status, 200)

    def test_post_that_the_origin_read_is_never_repeated(self):
        """S109, RFC 9110 §9.2.2"""
        for end in ("close", "reset"):
            with self.subTest(end):
                self.warm()
                path = self.path()
                self.origin.on(path, lambda e, end=end: getattr(e, end)())
                self.assertEqual(self.ask("POST", path, (), b"order").status, 502)
                self.assertEqual(self.origin.hits(path), 1)

    def test_get_is_tried_twice_at_most(self):
        """S110"""
        self.warm()
        path = self.path()
        self.origin.on(path, lambda e: e.close())
        self.assertEqual(self.get(path).status, 502)
        self.assertLessEqual(self.origin.hits(path), 2)

    def test_answer_that_began_is_not_repeated(self):
        path = self.path()
        self.origin.on(path, lambda e: (e.send(b"HTTP/1.1 200 OK\r\nContent-Len"), e.close()))
        self.assertEqual(self.get(path).status, 502)
        self.assertLessEqual(self.origin.hits(path), 2)

    def test_idle_connection_closed_by_the_origin(self):
        """S111, B110: a GET never notices; a POST is executed at most once."""
        for method, body, allowed in (("GET", None, {200}), ("POST", b"order", {200, 502}), ("DELETE", None, {200})):
            for _ in range(5):
                with self.subTest(method):
                    self.warm()
                    path = self.path()
                    self.origin.on(path, response(200, (), b"ok"))
                    self.origin.close_connections()
                    self.assertIn(self.ask(method, path, (), body).status, allowed)
                    self.assertLessEqual(self.origin.hits(path), 1)


if __name__ == "__main__":
    unittest.main()
