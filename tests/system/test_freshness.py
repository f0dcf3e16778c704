"""Age, freshness, stale answers and the route's rules about them (bug cases B51-B61): RFC 9111 §4.2, RFC 5861.

Nothing waits for time to pass: the origin sends an Age that makes its answer as old as the case needs it."""

import threading
import unittest

from harness import SystemTest, past, response, validating

OTHER = response(200, {"Cache-Control": "no-store"}, b"other")


class Freshness(SystemTest):
    def reused(self, fields):
        path = self.path()
        self.origin.on(path, [response(200, fields, b"body"), OTHER])
        self.get(path)
        return self.get(path).body == b"body"

    def test_lifetime_against_age(self):
        for case, fields, want in (
            ("younger than max-age", {"Cache-Control": "max-age=60", "Age": "30"}, True),
            ("older than max-age", {"Cache-Control": "max-age=60", "Age": "61"}, False),
            ("s-maxage counts", {"Cache-Control": "max-age=10, s-maxage=60", "Age": "30"}, True),
            ("s-maxage counts, older", {"Cache-Control": "max-age=60, s-maxage=10", "Age": "30"}, False),
            ("max-age beats Expires", {"Cache-Control": "max-age=60", "Expires": past(60), "Date": past(0)}, True),
            ("Expires against Date", {"Expires": past(-60), "Date": past(0), "Age": "30"}, True),
            ("Expires against Date, older", {"Expires": past(-60), "Date": past(0), "Age": "90"}, False),
            ("Date long ago", {"Cache-Control": "max-age=60", "Date": past(90)}, False),
            ("Date in the future", {"Cache-Control": "max-age=60", "Date": past(-7200)}, True),
            ("B58 Expires and Age with a fast Date", {"Date": past(-7200), "Expires": past(-10800), "Age": "3700"}, False),
            ("Age junk", {"Cache-Control": "max-age=60", "Age": "abc"}, True),
            ("Age float", {"Cache-Control": "max-age=60", "Age": "7200.0"}, True),
            ("Age negative", {"Cache-Control": "max-age=60", "Age": "-7200"}, True),
            ("Age huge", {"Cache-Control": "max-age=60", "Age": "9" * 40}, False),
            ("B56 quoted", {"Cache-Control": "max-age='3600'"}, False),
            ("RFC 850 date", {"Expires": "Friday, 01-Jan-99 00:00:00 GMT", "Date": past(0)}, False),
        ):
            with self.subTest(case):
                self.assertEqual(self.reused(fields), want)

    def test_qualified_directives(self):
        """B54: never more permissive than the bare form."""
        for value in ('private=" authorization"', 'private=""', 'private, private="x"', 'no-cache="set-cookie"',
                      'private="a', "private=x", 'no-cache=""', 'no-cache="a'):
            with self.subTest(value):
                path = self.path()
                self.origin.on(path, [response(200, {"Cache-Control": f"{value}, max-age=60", "Set-Cookie": "sid=a", "X": "1"},
                                               b"body"), OTHER])
                self.get(path)
                second = self.get(path)
                if second.body == b"body":                    # the named fields at least are not replayed
                    self.assertIn("=\"", value)
                    self.assertNotIn("Set-Cookie", second.fields)

    def test_age_and_ttl_are_told(self):
        path = self.path()
        self.origin.on(path, response(200, {"Cache-Control": "max-age=60", "Age": "20"}, b"body"))
        self.get(path)
        got = self.get(path)
        age, ttl = int(got["Age"]), int(got.cache["ttl"])
        self.assertTrue(20 <= age <= 30 and 55 <= age + ttl <= 61, (age, ttl))
        self.assertEqual(len(got.fields.all("Age")), 1)

    def test_age_of_the_first_answer(self):
        """RFC 9111 §5.1: what came from the origin now is as old as the origin said."""
        path = self.path()
        self.origin.on(path, response(200, {"Cache-Control": "max-age=60", "Age": "20"}, b"body"))
        self.assertIn(self.get(path)["Age"], ("20", "21", None))
        path = self.path()
        self.origin.on(path, response(200, {"Cache-Control": "max-age=60"}, b"body"))
        self.assertIn(self.get(path)["Age"], ("0", None))

    def test_date_is_added_once(self):
        path = self.path()
        self.origin.on(path, response(200, {"Cache-Control": "max-age=60"}, b"body"))
        dates = {tuple(self.get(path).fields.all("Date")) for _ in range(3)}
        self.assertEqual([len(d) for d in dates], [1])


class StaleAnswers(SystemTest):
    def test_stale_if_error(self):
        """B61, RFC 5861 §4"""
        for case, control, age, broken, want in (
            ("inside the window", "max-age=1, stale-if-error=30", 10, response(503), 200),
            ("500 too", "max-age=1, stale-if-error=30", 10, response(500), 200),
            ("beyond the window", "max-age=1, stale-if-error=3", 60, response(503), 503),
            ("no window", "max-age=1", 10, response(503), 503),
            ("404 is no error", "max-age=1, stale-if-error=30", 10, response(404), 404),
            ("must-revalidate", "max-age=1, stale-if-error=30, must-revalidate", 10, response(503), 503),
            ("proxy-revalidate", "max-age=1, stale-if-error=30, proxy-revalidate", 10, response(503), 503),
            ("no-cache", "max-age=1, stale-if-error=30, no-cache", 10, response(503), 503),
            ("s-maxage", "s-maxage=1, stale-if-error=30", 10, response(503), 503),
            ("unreachable, inside", "max-age=1, stale-if-error=30", 10, lambda e: e.close(), 200),
            ("unreachable, must-revalidate", "max-age=1, must-revalidate", 10, lambda e: e.close(), 504),
        ):
            for validator in ({}, {"ETag": '"v1"'}):
                with self.subTest(case, validator=validator):
                    path = self.path()
                    self.origin.on(path, [response(200, {"Cache-Control": control, "Age": str(age), **validator}, b"old"), broken])
                    self.get(path)
                    got = self.get(path)
                    # Without a validator nothing stale need be kept, so its must-revalidate may be forgotten with it.
                    self.assertIn(got.status, {want} if validator or want != 504 else {502, 504})
                    if want == 200:
                        self.assertEqual((got.body, got.why), (b"old", "hit_stale_error"))
                        self.assertLess(int(got.cache["ttl"]), 0)
                        self.assertGreaterEqual(int(got["Age"]), age)

    def test_stale_while_revalidate(self):
        """RFC 5861 §3: at once the old answer, one refresh behind it, then the new one."""
        path, hold = self.path(), threading.Event()
        self.addCleanup(hold.set)
        self.origin.on(path, [
            response(200, {"Cache-Control": "max-age=1, stale-while-revalidate=60", "Age": "10", "ETag": '"v1"'}, b"old"),
            lambda e: (e.wait(hold), e.answer(200, {"Cache-Control": "max-age=60", "ETag": '"v2"'}, b"new"))])
        self.get(path)
        for _ in range(3):
            got = self.get(path)
            self.assertEqual((got.body, got.why), (b"old", "hit_stale_revalidating"))
        self.origin.wait_hits(path, 2)
        hold.set()
        while self.get(path).body == b"old":                  # until the refresh is in place
            self.origin.wait_for(lambda o: o.in_flight == 0)
        got = self.get(path)
        self.assertEqual((got.body, got.why), (b"new", "hit_fresh"))
        self.assertEqual(self.origin.asked(path), ["full", "conditional"])

    def test_stale_while_revalidate_is_over(self):
        path = self.path()
        self.origin.on(path, [response(200, {"Cache-Control": "max-age=1, stale-while-revalidate=5", "Age": "10"}, b"old"),
                              response(200, {"Cache-Control": "max-age=60"}, b"new")])
        self.get(path)
        self.assertEqual(self.get(path).body, b"new")


class RouteRules(SystemTest):
    CONFIG = """
version: 1
listeners:
  ingress: { address: "127.0.0.1:0" }
  admin: { address: "127.0.0.1:0", role: admin }
upstreams:
  app: { endpoints: ["@ORIGIN@"] }
defaults:
  cache: { stale: { if_error: 1h } }
routes:
  - { name: silent, match: { path: "/silent/**" }, upstream: app, cache: { lifetime: { default: 60s } } }
  - { name: always, match: { path: "/always/**" }, upstream: app, cache: { lifetime: { default: 0s } } }
  - { name: capped, match: { path: "/capped/**" }, upstream: app, cache: { lifetime: { max: 10s } } }
  - { name: forced, match: { path: "/forced/**" }, upstream: app, cache: { lifetime: { default: 60s, override: true } } }
  - { name: negative, match: { path: "/negative/**" }, upstream: app, cache: { negative: { "404": 60s } } }
  - { name: heuristic, match: { path: "/heuristic/**" }, upstream: app, cache: { heuristic: true } }
  - { name: honour, match: { path: "/honour/**" }, upstream: app, cache: { client_directives: honour } }
  - { name: off, match: { path: "/off/**" }, upstream: app, cache: off }
  - { name: grouped, match: { path: "/key/**" }, upstream: app,
      cache: { key: { query: { sort: true, ignore: ["utm_*", fbclid] }, headers: [X-Tenant], cookies: [plan] } } }
  - { name: all, match: { path: "/**" }, upstream: app }
"""

    def hits_of_two(self, prefix, raw, ask=()):
        path = prefix + self.path()
        self.origin.on(path, raw)
        self.get(path)
        self.get(path, ask)
        return self.origin.hits(path)

    def test_rules(self):
        stale = {"Cache-Control": "max-age=60", "Age": "30"}
        for case, prefix, raw, hits in (
            ("silent origin", "/silent", response(200, (), b"x"), 1),
            ("silent origin, but no-store", "/silent", response(200, {"Cache-Control": "no-store"}, b"x"), 2),
            ("silent origin, but private", "/silent", response(200, {"Cache-Control": "private"}, b"x"), 2),
            ("silent origin, max-age=0", "/silent", response(200, {"Cache-Control": "max-age=0"}, b"x"), 2),
            ("silent origin, error", "/silent", response(500, (), b"x"), 2),
            ("cap, younger", "/capped", response(200, {"Cache-Control": "max-age=60", "Age": "5"}, b"x"), 1),
            ("cap, older", "/capped", response(200, stale, b"x"), 2),
            ("override", "/forced", response(200, {"Cache-Control": "max-age=0"}, b"x"), 1),
            ("negative 404", "/negative", response(404, (), b"x"), 1),
            ("negative other", "/negative", response(410, {"Cache-Control": "max-age=0"}, b"x"), 2),
            ("heuristic", "/heuristic", response(200, {"Last-Modified": past(10 ** 6)}, b"x"), 1),
            ("heuristic, recent", "/heuristic", response(200, {"Last-Modified": past(100), "Age": "60"}, b"x"), 2),
            ("no heuristics by default", "", response(200, {"Last-Modified": past(10 ** 6)}, b"x"), 2),
            ("cache off", "/off", response(200, {"Cache-Control": "max-age=60"}, b"x"), 2),
        ):
            with self.subTest(case):
                self.assertEqual(self.hits_of_two(prefix, raw), hits)

    def test_always_asks(self):
        path = "/always" + self.path()
        self.origin.on(path, validating('"v1"', b"body"))
        self.assertEqual([self.get(path).body for _ in range(3)], [b"body"] * 3)
        self.assertEqual(self.origin.asked(path), ["full", "conditional", "conditional"])

    def test_route_grants_stale(self):
        path = self.path()
        self.origin.on(path, [response(200, {"Cache-Control": "max-age=1", "Age": "10"}, b"old"), response(503)])
        self.get(path)
        self.assertEqual(self.get(path).why, "hit_stale_error")

    def test_client_directives(self):
        fresh = response(200, {"Cache-Control": "max-age=60", "Age": "30", "ETag": '"v1"'}, b"x")
        for ask, ignored, honoured in (
            ({"Cache-Control": "no-cache"}, 1, 2), ({"Cache-Control": "max-age=0"}, 1, 2), ({"Pragma": "no-cache"}, 1, 2),
            ({"Cache-Control": "no-store"}, 1, 2), ({"Cache-Control": "max-age=10"}, 1, 2),
            ({"Cache-Control": "max-age=50"}, 1, 1), ({"Cache-Control": "min-fresh=40"}, 1, 2),
            ({"Cache-Control": "min-fresh=10"}, 1, 1), ({"Cache-Control": "only-if-cached"}, 1, 1)):
            with self.subTest(ask=ask):
                self.assertEqual(self.hits_of_two("", fresh, ask), ignored)
                self.assertEqual(self.hits_of_two("/honour", fresh, ask), honoured)

    def test_only_if_cached(self):
        """RFC 9111 §5.2.1.7"""
        path = "/honour" + self.path()
        self.assertEqual(self.get(path, {"Cache-Control": "only-if-cached"}).status, 504)
        self.assertEqual(self.origin.hits(path), 0)

    def test_max_stale(self):
        for ask, why in (("max-stale=60", "hit_stale_revalidating"), ("max-stale", "hit_stale_revalidating"),
                         ("max-stale=2", "revalidated_changed")):
            with self.subTest(ask):
                path = "/honour" + self.path()
                self.origin.on(path, response(200, {"Cache-Control": "max-age=1", "Age": "10", "ETag": '"v1"'}, b"x"))
                self.get(path)
                self.assertEqual(self.get(path, {"Cache-Control": ask}).why, why)

    def test_key_rules(self):
        path = "/key" + self.path()
        self.origin.on(path, lambda e: e.answer(200, {"Cache-Control": "public, max-age=60"}, e.request.target.encode()))
        for target, ask, hits in (
            ("?a=1&b=2", {}, 1), ("?b=2&a=1", {}, 1), ("?b=2&utm_source=x&a=1&fbclid=9", {}, 1), ("?a=1&b=3", {}, 2),
            ("?a=1&b=2", {"X-Tenant": "t1"}, 3), ("?a=1&b=2", {"X-Tenant": "t2"}, 4), ("?a=1&b=2", {"X-Tenant": "t1"}, 4),
            ("?a=1&b=2", {"Cookie": "plan=pro; sid=1"}, 5), ("?a=1&b=2", {"Cookie": "sid=2; plan=pro"}, 5),
            ("?a=1&b=2", {"Cookie": "plan=free"}, 6)):
            with self.subTest(target, ask=ask):
                self.get(path + target, ask)
                self.assertEqual(self.origin.hits(path), hits)
        self.get(path + "?utm_source=x&z=1")
        self.assertEqual(self.origin.seen(path)[-1].target, path + "?utm_source=x&z=1")     # the origin sees it unchanged


if __name__ == "__main__":
    unittest.main()
