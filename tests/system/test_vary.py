"""Vary and the variants of a key (security catalogue S199-S203, bug cases B35-B48): RFC 9111 §4.1."""

import gzip
import unittest

from harness import Memcached, SystemTest, response, validating, wait_until

FRESH = {"Cache-Control": "max-age=60"}


class Variants(SystemTest):
    def varying(self, vary, echo):
        """A path whose body names the values of the fields `echo`; `vary` is a list of Vary lines."""
        path = self.path()
        self.origin.on(path, lambda e: e.answer(
            200, [("Cache-Control", "max-age=60"), *(("Vary", v) for v in vary)],
            ";".join(repr(e.request.fields.all(name)) for name in echo).encode()))
        return path

    def test_each_value_has_its_own(self):
        """S199, S203, B35"""
        for name in ("Service", "User-Agent", "X-A", "Accept", "Origin"):
            with self.subTest(name):
                path = self.varying([name], [name])
                for _ in range(2):
                    for value in ("a", "b", "A", "a, b"):
                        self.assertEqual(self.get(path, {name: value}).body.decode(), repr([value]))
                self.assertEqual(self.origin.hits(path), 4)

    def test_absent_and_empty_differ(self):
        """S199"""
        path = self.varying(["X-A"], ["X-A"])
        for _ in range(2):
            self.assertEqual(self.get(path).body, b"[]")
            self.assertEqual(self.get(path, {"X-A": ""}).body, b"['']")
        self.assertEqual(self.origin.hits(path), 2)

    def test_several_lines_and_names_count(self):
        """B39 (nginx ticket 1423), S199"""
        for vary in (["X-A", "X-B"], ["X-A, X-B"], ["x-a ,,X-b "]):
            with self.subTest(vary):
                path = self.varying(vary, ["X-A", "X-B"])
                for a, b in (("1", "1"), ("2", "1"), ("1", "2"), ("2", "2"), ("1", "1")):
                    self.assertEqual(self.get(path, {"X-A": a, "X-B": b}).body.decode(), f"['{a}'];['{b}']")
                self.assertEqual(self.origin.hits(path), 4)

    def test_selecting_values_cannot_be_confused(self):
        path = self.varying(["X-A, X-B"], ["X-A", "X-B"])
        for a, b in (("1", "23"), ("12", "3"), ("1;2", "3"), ("1", "2;3"), ("", "1"), ("1", "")):
            self.assertEqual(self.get(path, {"X-A": a, "X-B": b}).body.decode(), f"['{a}'];['{b}']")

    def test_lines_are_combined_before_comparing(self):
        """B36 (haproxy#987), RFC 9110 §5.3"""
        path = self.path()
        self.origin.on(path, lambda e: e.answer(200, {**FRESH, "Vary": "Accept-Encoding", "Content-Encoding":
                                                      "br" if "br" in (e.request["Accept-Encoding"] or "") else "gzip"}, b"x"))
        self.assertEqual(self.get(path, [("Accept-Encoding", "gzip"), ("Accept-Encoding", "br")])["Content-Encoding"], "br")
        self.assertEqual(self.get(path, {"Accept-Encoding": "gzip"})["Content-Encoding"], "gzip")

    def test_star_is_never_reused(self):
        """S200, B35, B42"""
        for vary in (["*"], [" *"], [", *"], ["Foo, *"], ["*, *"], ["X-A", "*"], ["*", "X-A"], ["X-A, *, X-B"]):
            with self.subTest(vary):
                path = self.varying(vary, ["X-A"])
                self.get(path)
                self.get(path)
                self.assertEqual(self.origin.hits(path), 2)

    def test_malformed_lines_do_no_harm(self):
        """B42 (varnish #1275, #763)"""
        for vary in ("foo bar", ": foo", ",", "", "f\xe9", "a" * 5000, ",".join(f"x{i}" for i in range(500)), '"foo"'):
            with self.subTest(vary[:20]):
                path = self.varying([vary], ["foo"])
                for value in ("1", "2", "1"):
                    self.assertEqual(self.get(path, {"foo": value}).status, 200)

    def test_name_in_any_case(self):
        path = self.varying(["ACCEPT-language"], ["Accept-Language"])
        self.assertEqual(self.get(path, {"accept-LANGUAGE": "de"}).body, b"['de']")
        self.assertEqual(self.get(path, {"Accept-Language": "fr"}).body, b"['fr']")

    def test_same_meaning_is_one_variant(self):
        for name, first, same, other in (
            ("Accept-Encoding", "gzip, br", "br,gzip", "gzip"),
            ("Accept-Encoding", "GZIP", "gzip", "identity"),
            ("Accept-Language", "en, de", "en,de", "de, en"),
        ):
            with self.subTest(name, first=first):
                path = self.path()
                self.origin.on(path, response(200, {**FRESH, "Vary": name}, b"x"))
                self.get(path, {name: first})
                self.get(path, {name: same})
                self.assertEqual(self.origin.hits(path), 1)
        path = self.path()
        self.origin.on(path, response(200, {**FRESH, "Vary": "Accept-Encoding"}, b"x"))
        for value, hits in (("gzip", 1), ("gzip;q=0", 2), ("gzip;q=0.5", None), ("identity", None)):
            self.get(path, {"Accept-Encoding": value})
            if hits:
                self.assertEqual(self.origin.hits(path), hits)

    def test_variants_are_bounded(self):
        """S203: no client can grow a key without end."""
        path = self.varying(["User-Agent"], ["User-Agent"])
        for number in range(100):
            self.get(path, {"User-Agent": f"agent-{number}"})
        self.get(path, {"User-Agent": "agent-99"})
        self.assertEqual(self.origin.hits(path), 100)                 # the newest is there
        self.get(path, {"User-Agent": "agent-0"})
        self.assertEqual(self.origin.hits(path), 101)                 # the oldest is gone

    def test_variants_revalidate_apart(self):
        path = self.path()
        self.origin.on(path, lambda e: validating(
            f'"{e.request["X-A"]}"', (e.request["X-A"] or "").encode(), {"Cache-Control": "max-age=0", "Vary": "X-A"})(e))
        for value in ("a", "b", "a", "b"):
            self.assertEqual(self.get(path, {"X-A": value}).body, value.encode())
        self.assertEqual(self.origin.asked(path), ["full", "full", "conditional", "conditional"])

    def test_vary_survives_a_304_without_one(self):
        """rails-and-go §4: Rails leaves it out."""
        path = self.path()
        self.origin.on(path, lambda e: validating(
            f'"{e.request["X-A"]}"', (e.request["X-A"] or "").encode(),
            {"Cache-Control": "max-age=0", "Vary": "X-A"}, {"Cache-Control": "max-age=60"})(e))
        self.get(path, {"X-A": "a"})
        self.assertEqual(self.get(path, {"X-A": "a"})["Vary"], "X-A")
        self.assertEqual(self.get(path, {"X-A": "b"}).body, b"b")
        self.assertEqual(self.get(path, {"X-A": "a"}).body, b"a")

    def test_coded_bytes_only_for_those_who_ask(self):
        """B46: an origin that compresses without saying Vary."""
        path = self.path()

        def handler(exchange):
            asked = "gzip" in (exchange.request["Accept-Encoding"] or "")
            exchange.answer(200, {**FRESH, **({"Content-Encoding": "gzip"} if asked else {})},
                            gzip.compress(b"plain", mtime=0) if asked else b"plain")
        self.origin.on(path, handler)
        self.assertEqual(self.get(path, {"Accept-Encoding": "gzip"})["Content-Encoding"], "gzip")
        for ask in ({}, {"Accept-Encoding": "identity"}, {"Accept-Encoding": "br"}):
            with self.subTest(ask=ask):
                got = self.get(path, ask)
                self.assertEqual((got["Content-Encoding"], got.body), (None, b"plain"))

    def test_underscore_twin_does_not_poison(self):
        """B48"""
        path = self.path()
        self.origin.on(path, lambda e: e.answer(200, FRESH, str(e.request["X_Forwarded_Host"]).encode()))
        self.get(path, {"X_Forwarded_Host": "evil.test"})
        self.assertEqual(self.get(path).body, b"None")

    def test_a_credential_selects(self):
        """S203: Vary on what gives access."""
        for name in ("Cookie", "Authorization", "X-Api-Key", "X-Session-Token"):
            with self.subTest(name):
                path = self.path()
                self.origin.on(path, lambda e, name=name: e.answer(
                    200, {"Cache-Control": "public, max-age=60", "Vary": name}, repr(e.request[name]).encode()))
                for _ in range(2):
                    for value in ("one", "two", None):
                        got = self.get(path, {name: value} if value else {})
                        self.assertEqual(got.body.decode(), repr(value))
                self.assertEqual(self.origin.hits(path), 3)

    def test_twenty_variants_of_one_url(self):
        path = self.varying(["X-A, X-B", "Accept"], ["X-A", "Accept"])
        for _ in range(2):
            for number in range(20):
                got = self.get(path, {"X-A": str(number), "Accept": "text/html, */*;q=0.8"})
                self.assertEqual(got.body.decode(), f"['{number}'];['text/html, */*;q=0.8']")
        self.assertEqual(self.origin.hits(path), 20)

    def test_vary_on_many_fields(self):
        names = [f"X-Field-{number}" for number in range(40)]
        path = self.varying([", ".join(names[:20]), *names[20:]], names)
        for _ in range(2):
            for odd in (0, 19, 20, 39):
                fields = {name: "b" if at == odd else "a" for at, name in enumerate(names)}
                self.assertEqual(self.get(path, fields).body.decode(), ";".join(repr([fields[n]]) for n in names))
        self.assertEqual(self.origin.hits(path), 4)


class NormalisedAccept(SystemTest):
    CONFIG = """
version: 1
listeners:
  ingress: { address: "127.0.0.1:0" }
  admin: { address: "127.0.0.1:0", role: admin }
upstreams:
  app: { endpoints: ["@ORIGIN@"] }
routes:
  - { name: all, match: { path: "/**" }, upstream: app, cache: { vary: { normalize: [Accept], max_variants: 3 } } }
"""

    def test_same_meaning_is_one_variant(self):
        """RFC 9110 §12.5.1; the order of equal weights stays, for Rails goes by it."""
        path = self.path()
        self.origin.on(path, lambda e: e.answer(200, {**FRESH, "Vary": "Accept"}, str(e.request["Accept"]).encode()))
        first = "application/json, text/html;level=1;q=0.5"
        self.get(path, {"Accept": first})
        for same in ("Application/JSON,text/HTML ; Level=1 ; Q=0.50", "text/html;level=1;q=0.500, application/json;q=1"):
            self.assertEqual(self.get(path, {"Accept": same}).body.decode(), first)
        for other in ("application/json, text/html;level=2;q=0.5", "text/html;level=1, application/json"):
            self.assertEqual(self.get(path, {"Accept": other}).body.decode(), other)

    def test_others_are_compared_as_text(self):
        """`normalize` names the fields; the defaults are not added."""
        path = self.path()
        self.origin.on(path, response(200, {**FRESH, "Vary": "Accept-Language"}, b"x"))
        for hits, value in ((1, "en, de"), (2, "de, en")):
            self.get(path, {"Accept-Language": value})
            self.assertEqual(self.origin.hits(path), hits)

    def test_max_variants_is_the_routes(self):
        path = self.path()
        self.origin.on(path, lambda e: e.answer(200, {**FRESH, "Vary": "X-A"}, str(e.request["X-A"]).encode()))
        for value in "abcd":
            self.get(path, {"X-A": value})
        for hits, value in ((4, "d"), (4, "c"), (4, "b"), (5, "a")):
            self.assertEqual(self.get(path, {"X-A": value}).body.decode(), value)
            self.assertEqual(self.origin.hits(path), hits)


class InMemcached(SystemTest):
    """The same variants, where others can read what is kept."""

    CONFIG = """
version: 1
listeners:
  ingress: { address: "127.0.0.1:0" }
  admin: { address: "127.0.0.1:0", role: admin }
upstreams:
  app: { endpoints: ["@ORIGIN@"] }
stores:
  default: { memory: { size: 0 }, memcached: { servers: "@MEMCACHED@", timeout: 2s } }
routes:
  - { name: all, match: { path: "/**" }, upstream: app, cache: { vary: { max_variants: 3 } } }
"""

    @classmethod
    def prepare(cls):
        cls.memcached = Memcached()
        cls.addClassCleanup(cls.memcached.close)
        cls.VALUES = {"MEMCACHED": f"127.0.0.1:{cls.memcached.port}"}

    def keep(self, path, fields):
        self.get(path, fields)
        wait_until(lambda: self.get(path, fields).why == "hit_fresh", f"{path} to be kept")

    def test_credentials_are_not_readable(self):
        self.memcached.flush()
        secrets = {"Cookie": "sid=s3cret-cookie", "Authorization": "Bearer s3cret-token", "X-Api-Key": "s3cret-key",
                   "X-Shop-Access-Token": "s3cret-access"}
        path = self.path()
        self.origin.on(path, response(200, {"Cache-Control": "public, max-age=60", "Vary": ", ".join([*secrets, "X-Open"])},
                                      b"kept"))
        self.keep(path, {**secrets, "X-Open": "readable"})
        stored = b"".join(data for _, data in self.memcached.records(lambda found: len(found) >= 2).values())
        self.assertIn(b"readable", stored)
        self.assertNotIn(b"s3cret", stored)
        for name in secrets:
            hits = self.origin.hits(path)
            self.get(path, {**secrets, "X-Open": "readable", name: "another"})
            self.assertEqual(self.origin.hits(path), hits + 1, name)

    def test_variants_are_bounded(self):
        path = self.path()
        self.origin.on(path, lambda e: e.answer(200, {**FRESH, "Vary": "X-A"}, str(e.request["X-A"]).encode()))
        for value in "abcd":
            self.keep(path, {"X-A": value})
        hits = self.origin.hits(path)
        for value in "dcb":
            got = self.get(path, {"X-A": value})
            self.assertEqual((got.body.decode(), got.why), (value, "hit_fresh"))
        self.assertEqual(self.origin.hits(path), hits)
        self.assertEqual(self.get(path, {"X-A": "a"}).body, b"a")
        self.assertEqual(self.origin.hits(path), hits + 1)


if __name__ == "__main__":
    unittest.main()
