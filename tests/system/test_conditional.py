"""Conditional requests and 304 (bug cases B01-B31): RFC 9110 §13, RFC 9111 §4.3."""

import unittest

from harness import SystemTest, past, response, validating

STALE = {"Cache-Control": "max-age=0"}
FRESH = {"Cache-Control": "max-age=60"}
THEN = past(3600)


class Revalidation(SystemTest):
    def stored(self, handler, count=1):
        """A path answered by `handler` and asked for `count` times without condition."""
        path = self.path()
        self.origin.on(path, handler)
        for _ in range(count):
            self.assertEqual(self.get(path).status, 200)
        return path

    def test_client_without_condition_gets_200(self):
        """B01"""
        for ask in ({}, {"Cache-Control": "max-stale=6"}):
            with self.subTest(ask=ask):
                path = self.stored(validating('"v1"', b"body", {"Cache-Control": "max-age=0, must-revalidate"}))
                got = self.get(path, ask)
                self.assertEqual((got.status, got.body, got["Content-Length"]), (200, b"body", "4"))
                self.assertEqual(self.origin.asked(path), ["full", "conditional"])
                self.assertEqual((got.why, got.cache.get("fwd"), got.cache.get("fwd-status")), ("revalidated", "stale", "304"))

    def test_changed(self):
        path = self.stored([validating('"v1"', b"old", STALE), validating('"v2"', b"new", FRESH)])
        got = self.get(path)
        self.assertEqual((got.body, got["ETag"], got.why, got.cache.get("fwd-status")),
                         (b"new", '"v2"', "revalidated_changed", "200"))
        self.assertEqual((self.get(path).body, self.origin.hits(path)), (b"new", 2))

    def test_lone_304_is_never_an_entry(self):
        """B02: an origin that answers 304 to what was no condition of ours must not empty the cache."""
        path = self.path()
        self.origin.on(path, [response(304, {**FRESH, "ETag": '"v1"'}), validating('"v1"', b"body", FRESH)])
        self.get(path, {"If-None-Match": '"v1"'})
        got = self.get(path)
        self.assertEqual((got.status, got.body), (200, b"body"))

    def test_stored_404_is_not_kept_alive_by_the_304_of_a_200(self):
        """B05"""
        path = self.path()
        self.origin.on(path, [response(404, {**STALE, "Last-Modified": THEN}, b"none"),
                              lambda e: e.answer(304, STALE) if e.request["If-Modified-Since"] else e.answer(200, STALE, b"now")])
        self.assertEqual(self.get(path).status, 404)
        got = self.get(path)
        self.assertEqual((got.status, got.body), (200, b"now"))

    def test_304_freshens(self):
        """B07: lifetime and Age count from the 304."""
        path = self.stored(validating('"v1"', b"body", STALE, {**FRESH, "Date": past(0)}))
        self.get(path)
        for _ in range(2):
            got = self.get(path)
            self.assertEqual((got.why, got["Cache-Control"]), ("hit_fresh", "max-age=60"))
            self.assertLessEqual(int(got["Age"]), 5)
        self.assertEqual(self.origin.asked(path), ["full", "conditional"])

    def test_fields_of_the_304(self):
        """B09, B12, B20, RFC 9111 §3.2: all fields are taken over, except what describes the stored bytes."""
        path = self.stored(validating(
            '"v1"', b"0123456789", [("Cache-Control", "max-age=0"), ("Foo", "a"), ("Foo", "b"), ("Keep", "1"), ("Keep", "2"),
                                    ("Content-Type", "text/plain")],
            [("Content-Length", "0"), ("Content-Encoding", "gzip"), ("Foo", "c"), ("Foo", "d"), ("New", "n"),
             ("Cache-Control", "max-age=60")]))
        for _ in range(3):
            got = self.get(path)
            self.assertEqual((got.status, got.body, got["Content-Length"]), (200, b"0123456789", "10"))
            self.assertEqual((got["Foo"], got["Keep"], got["New"], got["Content-Encoding"], got["Content-Type"]),
                             ("c, d", "1, 2", "n", None, "text/plain"))
        self.assertEqual(self.origin.hits(path), 2)

    def test_weak_304_does_not_relabel(self):
        """B12"""
        path = self.path()
        self.origin.on(path, [response(200, {**STALE, "ETag": '"foo"'}, b"1234"),
                              response(304, {**STALE, "ETag": 'W/"foo"', "Content-Encoding": "gzip"})])
        self.get(path)
        got = self.get(path, {"Accept-Encoding": "gzip"})
        self.assertEqual((got.status, got.body, got["Content-Encoding"]), (200, b"1234", None))

    def test_no_cache_is_stored_and_always_asked_about(self):
        """B29, RFC 9111 §5.2.2.4"""
        path = self.stored(validating('"v1"', b"body", {"Cache-Control": "no-cache"}), 3)
        self.assertEqual(self.origin.asked(path), ["full", "conditional", "conditional"])

    def test_what_the_origin_is_asked(self):
        """B31, rails-and-go §5: exactly the stored tag and the stored date, where the client has no other tag."""
        for case, etag, modified in (("both", '"v1"', THEN), ("weak tag", 'W/"v1"', None), ("date only", None, THEN),
                                     ("odd tag", '"a, b"', None), ("empty tag", '""', None), ("no tag", "v1", None)):
            for ask in ({}, {"If-None-Match": etag or '"x"'}, {"If-None-Match": "*"}, {"If-None-Match": '"c9", *'},
                        {"If-Modified-Since": past(10)}, {"If-None-Match": "v2", "If-Modified-Since": past(10)}):
                with self.subTest(case, ask=ask):
                    path = self.stored(validating(etag, b"body", STALE, last_modified=modified))
                    self.get(path, ask)
                    second = self.origin.seen(path)[1]
                    self.assertEqual(second.fields.all("If-None-Match"), [etag] if etag else [])
                    self.assertEqual(second.fields.all("If-Modified-Since"), [modified] if modified else [])

    def test_error_instead_of_an_answer(self):
        """A 5xx to the validation is passed on; the entry survives it."""
        path = self.path()
        good = validating('"v1"', b"body", STALE)
        self.origin.on(path, [good, response(500, {"Cache-Control": "no-store"}, b"oops"), good])
        self.assertEqual([self.get(path).status for _ in range(3)], [200, 500, 200])
        self.assertEqual(self.origin.asked(path), ["full", "conditional", "conditional"])


class ClientConditions(SystemTest):
    def test_against_a_fresh_entry(self):
        """B14, B16, RFC 9110 §13.1.2, §13.1.3, §13.2.2"""
        for case, stored, ask, status in (
            ("same", '"v1"', {"If-None-Match": '"v1"'}, 304),
            ("other", '"v1"', {"If-None-Match": '"v2"'}, 200),
            ("B14 weak asks for strong", '"v1"', {"If-None-Match": 'W/"v1"'}, 304),
            ("B14 strong asks for weak", 'W/"v1"', {"If-None-Match": '"v1"'}, 304),
            ("list", '"v1"', {"If-None-Match": '"a", W/"b" ,, "v1"'}, 304),
            ("list over two lines", '"v1"', [("If-None-Match", '"a"'), ("If-None-Match", '"v1"')], 304),
            ("list without it", '"v1"', {"If-None-Match": '"a", "b", "v"'}, 200),
            ("comma inside a tag", '"a,b"', {"If-None-Match": '"a", "b"'}, 200),
            ("comma inside the right tag", '"a,b"', {"If-None-Match": '"x", "a,b"'}, 304),
            ("star", '"v1"', {"If-None-Match": "*"}, 304),
            ("case matters", '"v1"', {"If-None-Match": '"V1"'}, 200),
            ("prefix", '"v1"', {"If-None-Match": '"v"'}, 200),
            ("empty", '"v1"', {"If-None-Match": ""}, 200),
            ("B16 tag beats date: changed", '"v2"', {"If-None-Match": '"v1"', "If-Modified-Since": THEN}, 200),
            ("B16 tag beats date: same", '"v2"', {"If-None-Match": '"v2"', "If-Modified-Since": past(7200)}, 304),
            ("date same", '"v1"', {"If-Modified-Since": THEN}, 304),
            ("date later", '"v1"', {"If-Modified-Since": past(60)}, 304),
            ("date earlier", '"v1"', {"If-Modified-Since": past(7200)}, 200),
            ("no such tag: the suffix is part of it", '"v1"', {"If-None-Match": '"v1-gzip"'}, 200),
            ("date junk", '"v1"', {"If-Modified-Since": "yesterday"}, 200),
            ("date twice", '"v1"', [("If-Modified-Since", past(7200)), ("If-Modified-Since", past(60))], 200),
            ("If-Match passes", '"v1"', {"If-Match": '"v1"'}, 200),
            ("If-Match star", '"v1"', {"If-Match": "*"}, 200),
            ("If-Match fails", '"v1"', {"If-Match": '"v2"'}, 412),
            ("If-Match is strong", 'W/"v1"', {"If-Match": 'W/"v1"'}, 412),
            ("If-Unmodified-Since passes", '"v1"', {"If-Unmodified-Since": past(60)}, 200),
            ("If-Unmodified-Since fails", '"v1"', {"If-Unmodified-Since": past(7200)}, 412),
        ):
            with self.subTest(case):
                path = self.path()
                self.origin.on(path, response(200, {**FRESH, "ETag": stored, "Last-Modified": THEN}, b"body"))
                self.get(path)
                got = self.get(path, ask)
                self.assertEqual(got.status, status)
                if status in (200, 304):
                    self.assertEqual(self.origin.hits(path), 1)
                    self.assertEqual(got.body, b"body" if status == 200 else b"")
                    self.assertEqual(got["ETag"], stored)
                self.assertEqual(self.get(path).body, b"body")

    def test_what_a_304_carries(self):
        """RFC 9110 §15.4.5: what a 200 would have said about caching, the ETag byte for byte; no body, no foreign length."""
        path = self.path()
        fields = {"Cache-Control": "public, max-age=60", "ETag": 'W/"a:b"', "Vary": "Accept", "Content-Location": "/x",
                  "Expires": past(-3600), "Date": past(1), "Content-Type": "text/plain", "Content-Encoding": "br"}
        self.origin.on(path, response(200, fields, b"body"))
        full = self.get(path)
        for got in (self.get(path, {"If-None-Match": full["ETag"]}), self.get(path, {"If-None-Match": "*"})):
            self.assertEqual(got.status, 304)
            for name in ("ETag", "Cache-Control", "Vary", "Content-Location", "Expires", "Date"):
                self.assertEqual(got[name], fields[name])
            self.assertIn(got["Content-Length"], (None, "4"))
            self.assertIn("Age", got.fields)
            self.assertEqual(got.why, "hit_not_modified")

    def test_cold_conditional_clients_fill_the_cache(self):
        """B26, S218, RFC 9111 §4.3.2"""
        path = self.path()
        self.origin.on(path, validating('"v1"', b"body", FRESH))
        self.assertEqual([self.get(path, {"If-None-Match": '"v1"'}).status for _ in range(5)], [304] * 5)
        self.assertEqual(self.get(path).body, b"body")
        self.assertEqual(self.origin.asked(path), ["full"])

    def test_conditions_on_a_miss_never_shape_the_entry(self):
        """S218: neither a 304, a 412 nor a part is stored for somebody else."""
        for name, value in (("If-None-Match", '"v1"'), ("If-Modified-Since", past(0)), ("If-Match", '"other"'),
                            ("If-Unmodified-Since", past(10 ** 8)), ("If-Range", '"v1"')):
            with self.subTest(name):
                path = self.path()

                def handler(exchange, name=name):
                    ask = exchange.request
                    status = {"If-None-Match": 304, "If-Modified-Since": 304, "If-Match": 412, "If-Unmodified-Since": 412,
                              "If-Range": 200}[name] if ask[name] else 200
                    exchange.answer(status, {**FRESH, "ETag": '"v1"', "Last-Modified": THEN},
                                    b"" if status == 304 else b"body" if status == 200 else b"failed")
                self.origin.on(path, handler)
                self.assertIn(self.get(path, {name: value}).status, (200, 304, 412))
                got = self.get(path)
                self.assertEqual((got.status, got.body), (200, b"body"))

    def test_condition_and_revalidation_together(self):
        """The client's condition is answered from what the origin confirmed."""
        path = self.path()
        self.origin.on(path, validating('"v1"', b"body", STALE))
        self.get(path)
        got = self.get(path, {"If-None-Match": '"v1"'})
        self.assertEqual((got.status, got["ETag"]), (304, '"v1"'))
        self.assertEqual(self.get(path, {"If-None-Match": '"old"'}).body, b"body")
        self.assertEqual(self.origin.asked(path), ["full", "conditional", "conditional"])

    def test_only_a_200_turns_into_304(self):
        path = self.path()
        self.origin.on(path, response(404, {**FRESH, "ETag": '"v1"'}, b"none"))
        for _ in range(2):
            self.assertEqual(self.get(path, {"If-None-Match": '"v1"'}).status, 404)

    def test_unsafe_methods_keep_their_conditions(self):
        """RFC 9110 §13: lost-update protection is the origin's business."""
        path = self.path()
        self.origin.on(path, lambda e: e.answer(412 if e.request["If-Match"] == '"v1"' else 200))
        self.assertEqual(self.ask("PUT", path, {"If-Match": '"v1"'}, b"x").status, 412)
        self.ask("PUT", path, {"If-None-Match": "*", "If-Unmodified-Since": THEN}, b"x")
        seen = self.origin.seen(path)[1]
        self.assertEqual((seen["If-None-Match"], seen["If-Unmodified-Since"]), ("*", THEN))


class OwnTags(SystemTest):
    """An ETag of our own where the origin sends none: it saves bytes."""

    def test_etag_is_made(self):
        for case, fields in (("fresh", FRESH), ("no lifetime", {}), ("private", {"Cache-Control": "private, max-age=0"}),
                             ("no-store", {"Cache-Control": "no-store"})):
            with self.subTest(case):
                path = self.path()
                self.origin.on(path, response(200, fields, b"body of " + path.encode()))
                got = self.get(path)
                self.assertRegex(got["ETag"], r'\AW/"[!#-~]+"\Z')
                again = self.get(path, {"If-None-Match": got["ETag"]})
                self.assertEqual((again.status, again["ETag"]), (304, got["ETag"]))

    def test_other_bytes_other_tag(self):
        path = self.path()
        self.origin.on(path, [response(200, (), b"one"), response(200, (), b"two"), response(200, (), b"one")])
        tags = [self.get(path)["ETag"] for _ in range(3)]
        self.assertEqual(tags[0], tags[2])
        self.assertNotEqual(tags[0], tags[1])

    def test_where_none_is_made(self):
        for case, raw, method in (("there is one", response(200, {"ETag": '"v1"'}, b"x"), "GET"),
                                  ("error", response(500, (), b"x"), "GET"), ("POST", response(200, (), b"x"), "POST"),
                                  ("stream", response(200, {"Content-Type": "text/event-stream"}, b"x"), "GET"),
                                  ("large", response(200, (), b"x" * (3 << 20)), "GET")):
            with self.subTest(case):
                path = self.path()
                self.origin.on(path, raw)
                got = self.ask(method, path, (), b"" if method == "POST" else None)
                self.assertEqual(got["ETag"], '"v1"' if case == "there is one" else None)


if __name__ == "__main__":
    unittest.main()
