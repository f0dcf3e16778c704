"""What may be stored and for whom (security catalogue S190-S232): RFC 9111 §3, keys, poisoning, deception."""

import unittest

from harness import SystemTest, WireError, chunked, past, request, response

FRESH = {"Cache-Control": "max-age=60"}


class Storable(SystemTest):
    def reused(self, fields, status=200, method="GET", ask=(), body=b"body", again=()):
        """True when a second, equal request is answered without the origin (which would say 'other')."""
        path = self.path()
        self.origin.on(path, [response(status, fields, body), response(200, {"Cache-Control": "no-store"}, b"other")])
        first = self.ask(method, path, ask)
        self.assertEqual(first.status, status)
        second = self.get(path, again or ask)
        self.assertEqual(second.body == b"other", self.origin.hits(path) == 2)
        return self.origin.hits(path) == 1

    def check(self, want, table):
        for case, *arguments in table:
            with self.subTest(case):
                self.assertEqual(self.reused(*arguments), want)

    def test_stored(self):
        self.check(True, (
            ("max-age", FRESH),
            ("s-maxage beats max-age=0", {"Cache-Control": "max-age=0, s-maxage=60"}),
            ("Expires", {"Expires": past(-3600), "Date": past(0)}),
            ("two lines", [("Cache-Control", "public"), ("Cache-Control", "max-age=60")]),
            ("odd spacing and case", {"Cache-Control": " ,, PUBLIC ,Max-Age=60,"}),
            ("unknown directives", {"Cache-Control": 'frob, x="no-store", max-age=60'}),
            ("204", FRESH, 204, "GET", (), b""), ("301", FRESH, 301), ("404", FRESH, 404), ("410", FRESH, 410),
            ("308", FRESH, 308), ("203", FRESH, 203),
            ("S208 Authorization with public", {"Cache-Control": "public, max-age=60"}, 200, "GET", {"Authorization": "Basic eA=="}),
            ("S208 Authorization with s-maxage", {"Cache-Control": "s-maxage=60"}, 200, "GET", {"Authorization": "Basic eA=="}),
        ))

    def test_forbidden_in_every_spelling(self):
        """S204, RFC 9111 §5.2"""
        self.check(False, [(f"S204 {value}", {"Cache-Control": value}) for value in (
            "no-store", "NO-STORE", "no-store, max-age=60", "max-age=60,no-store", "max-age=60 , no-store ,",
            "private, max-age=60", "PRIVATE, s-maxage=60", "public, private, max-age=60", "no-cache", "no-cache, max-age=60",
            "No-Cache,max-age=60", "max-age=60, no-store=1", 'max-age=60, ext="a, b", no-store', "max-age=60\t,\tno-store")])
        self.check(False, (
            ("S204 second line", [("Cache-Control", "max-age=60"), ("Cache-Control", "no-store")]),
            ("S204 first line", [("Cache-Control", "no-store"), ("Cache-Control", "max-age=60")]),
            ("S204 second line private", [("Cache-Control", "max-age=60"), ("cache-control", "private")]),
        ))

    def test_lifetimes_that_are_none(self):
        """S205, S206"""
        self.check(False, (
            *((f"S205 {value}", {"Cache-Control": value}) for value in (
                "max-age=0", "max-age=-1", "max-age=abc", "max-age=", "max-age", "max-age=6 0", "s-maxage=0, max-age=60",
                "max-age=60, max-age=0", "max-age=0, max-age=60", "max-age=1.5e3", "s-maxage=junk, max-age=60")),
            *((f"S206 Expires {value!r}", {"Expires": value, "Date": past(0)}) for value in (
                "0", "-1", past(3600), "junk", "", "Thu, 01 Jan 1970 00:00:00 GMT", "Mon, 32 Jan 2999 00:00:00 GMT",
                past(-3600).replace("GMT", "PST"))),
            ("S206 two Expires, one past", [("Expires", past(-3600)), ("Expires", past(3600)), ("Date", past(0))]),
            ("S206 max-age=0 beats Expires", {"Cache-Control": "max-age=0", "Expires": past(-3600)}),
            ("S206 Date of 1970", {"Cache-Control": "max-age=60", "Date": past(10 ** 9)}),
            ("neither lifetime nor validator", {}),
            ("only a validator", {"ETag": '"x"'}),
            ("only Last-Modified, no heuristics", {"Last-Modified": past(10 ** 7)}),
        ))

    def test_lifetimes_without_overflow(self):
        """S205, B56"""
        self.check(True, [(f"S205 {value}", {"Cache-Control": f"max-age={value}"}) for value in (
            "2147483647", "2147483648", "4294967296", "99999999999", str(2 ** 63), str(2 ** 70), "9" * 60, "003600")])

    def test_not_shared(self):
        self.check(False, (
            ("S208 Authorization", FRESH, 200, "GET", {"Authorization": "Basic eA=="}),
            ("S208 Authorization, next without", FRESH, 200, "GET", {"Authorization": "Basic eA=="}, b"body", {"X-A": "b"}),
            ("S211 400", {}, 400), ("S211 431", {}, 431), ("S211 405", {}, 405), ("S211 501", {}, 501), ("S211 406", {}, 406),
            ("S211 403", {}, 403), ("S211 429", {}, 429), ("S211 413", {}, 413), ("S211 500", {}, 500), ("S211 404", {}, 404),
            ("303 without lifetime", {}, 303),
            ("S214 POST", FRESH, 200, "POST"), ("S214 OPTIONS", FRESH, 200, "OPTIONS"), ("S214 FOO", FRESH, 200, "FOO"),
            ("S216 unasked 206", {**FRESH, "Content-Range": "bytes 0-3/10"}, 206),
            ("X-Accel-Redirect", {**FRESH, "X-Accel-Redirect": "/files/a"}, 200, "GET", (), b""),
            ("X-Sendfile", {**FRESH, "X-Sendfile": "/files/a"}, 200, "GET", (), b""),
            ("event stream", {**FRESH, "Content-Type": "text/event-stream"}),
        ))

    def test_deception(self):
        """S210: a path that looks static changes nothing."""
        for suffix in ("/x.css", "/x.js", "/x.png", "/x.jpg", "/x.ico", "/x.svg", "/x.woff2", ";x.css", "%2fx.css", "%0ax.css",
                       "?x.css", "%23.css", "/static/x.css", "/..%2fx.css"):
            for control in ("private, max-age=60", "no-store"):
                with self.subTest(suffix, control=control):
                    path = self.path() + suffix
                    self.origin.on(path.split("?")[0], response(200, {"Cache-Control": control}, b"secret"))
                    self.get(path, {"Cookie": "sid=victim"})
                    self.get(path)
                    self.assertEqual(self.origin.hits(path.split("?")[0]), 2)

    def test_post_answer_does_not_answer_get(self):
        """S214: and a stored GET does not answer another method."""
        path = self.path()
        self.origin.on(path, response(200, FRESH, b"stored"))
        self.get(path)
        for method in ("POST", "OPTIONS", "FOO", "PUT"):
            self.origin.on(path, response(200, FRESH, method.encode()))
            self.assertEqual(self.ask(method, path, (), b"" if method in ("POST", "PUT") else None).body, method.encode())

    def test_set_cookie(self):
        """S209, B51 (CVE-2012-2671): a session is never handed to a stranger."""
        for case, control in (("max-age", "public, max-age=60"), ("none", None), ("validator only", "public")):
            with self.subTest(case):
                path, sid = self.path(), iter(range(100))
                fields = {"ETag": '"v1"', **({"Cache-Control": control} if control else {})}

                def handler(exchange, fields=fields, sid=sid):
                    status = 304 if exchange.request["If-None-Match"] == '"v1"' else 200
                    exchange.answer(status, {**fields, "Set-Cookie": f"sid={next(sid)}"}, b"" if status == 304 else b"page")
                self.origin.on(path, handler)
                cookies = [value for _ in range(4) for value in self.get(path).fields.all("Set-Cookie")]
                self.assertEqual(len(cookies), len(set(cookies)))
                if control == "public, max-age=60":
                    self.assertLessEqual(len(cookies), self.origin.hits(path))

    def test_range_requests(self):
        """S216: a part is never served for the whole."""
        path = self.path()

        def handler(exchange):
            if exchange.request["Range"]:
                exchange.answer(206, {**FRESH, "Content-Range": "bytes 0-3/10", "ETag": '"v1"'}, b"0123")
            else:
                exchange.answer(200, {**FRESH, "ETag": '"v1"'}, b"0123456789")
        self.origin.on(path, handler)
        first = self.get(path, {"Range": "bytes=0-3"})
        self.assertIn((first.status, first.body), ((206, b"0123"), (200, b"0123456789")))
        whole = self.get(path)
        self.assertEqual((whole.status, whole.body), (200, b"0123456789"))
        part = self.get(path, {"Range": "bytes=0-3"})
        self.assertIn((part.status, part.body), ((206, b"0123"), (200, b"0123456789")))
        self.assertEqual(self.get(path).body, b"0123456789")

    def test_fat_get(self):
        """S195: a body on GET is not part of the key, so it may not shape what others get."""
        path = self.path()
        self.origin.on(path, lambda e: e.answer(200, FRESH, b"for:" + e.request.body))
        self.ask("GET", path, (), b"evil")
        self.assertEqual(self.get(path).body, b"for:")


class Keys(SystemTest):
    @classmethod
    def prepare(cls):
        cls.origin.default = lambda e: e.answer(200, FRESH, f"{e.request['Host']} {e.request.target}".encode())

    def test_hosts_are_apart(self):
        """S190, S191 (CVE-2026-2836): the reflected Host of one request never reaches another's client."""
        path = self.path()
        for host in ("shop.test", "other.test", "shop.test:1337", "shop.test.", "shop.test:80", "127.0.0.1"):
            for _ in range(2):
                body = self.get(path, {"Host": host}).body.decode()
                self.assertEqual(body.replace(":80 ", " "), f"{host.removesuffix(':80')} {path}")

    def test_upper_case_host(self):
        """S191"""
        path = self.path()
        self.get(path, {"Host": "SHOP.TEST"})
        self.assertEqual(self.get(path).body.decode(), f"shop.test {path}")

    def test_absolute_form_shares_the_key(self):
        path = self.path()
        self.get(path)
        with self.etagere.client() as client:
            client.send(request("GET", f"http://shop.test{path}", {"Host": "evil.test"}))
            self.assertEqual(client.read().body.decode(), f"shop.test {path}")
        with self.etagere.client() as client:
            client.send(request("GET", f"http://evil.test{path}"))
            self.assertEqual(client.read().body.decode(), f"evil.test {path}")
        self.assertEqual(self.get(path).body.decode(), f"shop.test {path}")

    def test_targets_are_apart(self):
        """S196: what the origin may tell apart the key tells apart."""
        p = self.path()
        targets = [p + tail for tail in (
            "", "/", "//", "/a/../y", "/y", "//y", "/./y", "/y;v", "/y;w", "/y%2f", "/y%2F", "/y/", "/y%00", "/y%0a", "/y%0A",
            "/y%3f", "/y%23", "/y%5c", "/Y", "/%79", "/y.", "/y%20", "/y+", "?", "?a", "?a=", "?a=1", "?a=1&b=2", "?b=2&a=1",
            "?a=1&a=2", "?a=2&a=1", "??", "?a=%31", "?A=1", "?a=1;b=2")]
        for _ in range(2):
            for target in targets:
                self.assertEqual(self.get(target).body.decode(), f"shop.test {target}")
        seen = [r.target for r in self.origin.requests if r.target.startswith(p)]
        self.assertEqual(sorted(seen), sorted(targets))          # forwarded unchanged, each once

    def test_backslash_is_refused_or_apart(self):
        p = self.path()
        for target in (p + "/a/y", p + "\\a\\y", p + "/a/y"):
            got = self.get(target)
            self.assertIn((got.status, got.body), ((200, f"shop.test {target}".encode()), (400, got.body)))

    def test_forwarding_fields_cannot_poison(self):
        """S192"""
        for name in ("X-Forwarded-Host", "X-Forwarded-Proto", "X-Forwarded-Port", "X-Forwarded-Prefix",
                     "X-Forwarded-Server", "X-Forwarded-Scheme", "X-Host", "Forwarded", "X-Original-URL", "X-Rewrite-URL"):
            with self.subTest(name):
                path = self.path()
                self.origin.on(path, lambda e, n=name: e.answer(200, FRESH, (e.request[n] or "").encode()))
                self.get(path, {name: "host=evil.test"} if name == "Forwarded" else {name: "evil.test"})
                if name not in ("X-Host", "X-Forwarded-Scheme"):     # not ours to know; the route can key on them
                    self.assertNotIn(b"evil", self.get(path).body)

    def test_expect_and_upgrade_do_not_poison(self):
        path = self.path()
        self.origin.on(path, lambda e: e.answer(200, FRESH, repr(e.request["Upgrade"]).encode()))
        self.get(path, {"Connection": "upgrade", "Upgrade": "evil"})
        self.assertEqual(self.get(path).body, b"None")


class HeadRequests(SystemTest):
    def test_head_then_get(self):
        """S213, B70: HEAD is asked as GET, so that the next GET is served, and carries the GET's length and no body."""
        path = self.path()
        self.origin.on(path, lambda e: e.answer(200, {**FRESH, "ETag": '"v1"', "Content-Length": "4"},
                                                b"" if e.request.method == "HEAD" else b"body"))
        client = self.client()
        head = client.ask("HEAD", path)
        self.assertEqual((head.status, head["Content-Length"], head.body), (200, "4", b""))
        got = client.ask("GET", path)
        self.assertEqual((got.status, got.body), (200, b"body"))
        again = client.ask("HEAD", path)
        self.assertEqual((again["Content-Length"], again["ETag"], again.why), ("4", '"v1"', "hit_fresh"))
        self.assertEqual(client.ask("HEAD", path, {"If-None-Match": '"v1"'}).status, 304)

    def test_head_of_an_uncacheable_answer(self):
        path = self.path()
        self.origin.on(path, lambda e: e.answer(200, {"Cache-Control": "no-store", "Content-Length": "4"},
                                                b"" if e.request.method == "HEAD" else b"body"))
        client = self.client()
        for _ in range(2):
            self.assertEqual(client.ask("HEAD", path).status, 200)
            self.assertEqual(client.ask("GET", path).body, b"body")

    def test_head_of_a_chunked_answer(self):
        path = self.path()
        self.origin.on(path, lambda e: e.send(response(200, {**FRESH, "Transfer-Encoding": "chunked"},
                                                       b"" if e.request.method == "HEAD" else chunked(b"bo", b"dy"))))
        client = self.client()
        self.assertEqual(client.ask("HEAD", path).status, 200)
        self.assertEqual(client.ask("GET", path).body, b"body")


class OriginDown(SystemTest):
    CONFIG = SystemTest.CONFIG + """
defaults: { cache: { stale: { if_error: 1h, while_revalidate: 0s } } }
"""

    def test_stale_is_not_served_where_the_origin_forbids_it(self):
        """S229, B61, RFC 9111 §4.2.4 and §5.2.2.2: 504 when it cannot be asked."""
        for control in ("must-revalidate", "proxy-revalidate", "no-cache", "s-maxage=0"):
            for end in ("close", "reset"):
                with self.subTest(control, end=end):
                    path = self.path()
                    self.origin.on(path, [response(200, {"Cache-Control": f"max-age=0, {control}", "ETag": '"v1"'}, b"old"),
                                          lambda e, end=end: getattr(e, end)()])
                    self.assertEqual(self.get(path).status, 200)
                    self.assertEqual(self.get(path).status, 504)

    def test_stale_is_served_where_the_route_allows_it(self):
        path = self.path()
        self.origin.on(path, [response(200, {"Cache-Control": "max-age=0", "ETag": '"v1"'}, b"old"), lambda e: e.close()])
        self.get(path)
        got = self.get(path)
        self.assertEqual((got.status, got.body, got.why), (200, b"old", "hit_stale_error"))


class Incomplete(SystemTest):
    def test_cut_answers_are_never_stored(self):
        """S220, B66, RFC 9111 §3.3; the client can tell, too."""
        head = b"HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\n"
        for case, raw in (
            ("length", head + b"Content-Length: 10\r\n\r\nabcde"),
            ("no last chunk", head + b"Transfer-Encoding: chunked\r\n\r\n5\r\nabcde\r\n"),
            ("cut inside a chunk", head + b"Transfer-Encoding: chunked\r\n\r\n5\r\nabc"),
            ("cut before the end", head + b"Transfer-Encoding: chunked\r\n\r\n5\r\nabcde\r\n0\r\n"),
            ("bad chunk size", head + b"Transfer-Encoding: chunked\r\n\r\n5\r\nabcde\r\nxyz\r\n"),
            ("bad chunk end", head + b"Transfer-Encoding: chunked\r\n\r\n5\r\nabcdeXX0\r\n\r\n"),
            ("overlong chunk size", head + b"Transfer-Encoding: chunked\r\n\r\n5\r\nabcde\r\n11111111111111111\r\n"),
        ):
            for end in ("close", "reset"):
                with self.subTest(case, end=end):
                    path = self.path()
                    self.origin.on(path, [lambda e, raw=raw, end=end: (e.send(raw), getattr(e, end)()),
                                          response(200, FRESH, b"whole")])
                    try:
                        got = self.get(path)
                        self.assertEqual(got.status, 502)
                    except WireError:
                        pass
                    self.assertEqual(self.get(path).body, b"whole")
                    self.assertEqual(self.origin.hits(path), 2)


if __name__ == "__main__":
    unittest.main()
